// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "impl/moe/tape.hpp"
#include "kernels/gemm.hpp"

namespace moemesh {

// The rows of one expert, as a group of its own.
struct ExpertRows {
  int64_t expert, first, rows;
  int64_t range[2];
  ExpertRows(int64_t e, const int64_t* offsets)
      : expert(e), first(offsets[e]), rows(offsets[e + 1] - first), range{0, rows} {}
  kernels::Groups group() const { return {1, range}; }
};

// body(rows) for every expert that has some.
template <class Body>
void for_each_expert(const ReceivePlan& plan, const Body& body) {
  for (size_t e = 0; e + 1 < plan.expert_offsets.size(); ++e) {
    const ExpertRows rows(static_cast<int64_t>(e), plan.expert_offsets.data());
    if (rows.rows > 0) body(rows);
  }
}

inline int64_t most_rows(const ReceivePlan& plan) {
  int64_t most = 0;
  for_each_expert(plan, [&](const ExpertRows& rows) { most = std::max(most, rows.rows); });
  return most;
}

}  // namespace moemesh
