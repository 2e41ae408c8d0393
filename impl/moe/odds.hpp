// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <cstdint>

namespace moemesh {

// Of k distinct experts of all, drawn evenly: that some are among `here` of them, and how many are.
struct Odds {
  double copies, rows;
};
inline Odds odds_of(int64_t experts, int64_t here, int64_t k) {
  double none = 1;
  for (int64_t i = 0; i < k && none > 0; ++i)
    none *= static_cast<double>(std::max<int64_t>(0, experts - here - i)) / static_cast<double>(experts - i);
  return {1 - none, static_cast<double>(k) * static_cast<double>(here) / static_cast<double>(experts)};
}

}  // namespace moemesh
