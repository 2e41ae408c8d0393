// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm.hpp"

namespace moemesh {

// Neighbouring experts whose products are made together, and their rows, as groups.
class ExpertRows {
 public:
  ExpertRows(int64_t first, int64_t count, const int64_t* offsets) : first_(first), groups_{count, offsets + first} {}
  int64_t first() const { return first_; }  // expert
  int64_t first_row() const { return groups_.offsets[0]; }
  int64_t rows() const { return groups_.offsets[groups_.count] - groups_.offsets[0]; }
  const kernels::Groups& groups() const { return groups_; }

 private:
  int64_t first_;
  kernels::Groups groups_;
};

// body(rows) for the experts, one after the other or all at once as suits the kernels, that have rows. offsets: where each
// expert's rows begin, and the last one's end.
template <class Offsets, class Body>
void for_each_batch(const Offsets& offsets, const Body& body) {
  const int64_t experts = static_cast<int64_t>(offsets.size()) - 1;
  const int64_t batch = kernels::groups_together() ? experts : 1;
  for (int64_t e = 0; e < experts; e += batch) {
    const ExpertRows rows(e, batch, offsets.data());
    if (rows.rows() > 0) body(rows);
  }
}

// Of a batch.
template <class Offsets>
int64_t most_rows(const Offsets& offsets) {
  int64_t most = 0;
  for_each_batch(offsets, [&](const ExpertRows& rows) { most = std::max(most, rows.rows()); });
  return most;
}

}  // namespace moemesh
