// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace moemesh {

// 10^4 times it fits into 64 bits by far.
inline constexpr double most_capacity_factor = 1e12;

// A capacity factor as an integer: four decimals count, so that 1.1 is 11/10 in every language. 0 for what is no
// factor.
inline int64_t ten_thousandths(double factor) {
  if (!(factor >= 0 && factor <= most_capacity_factor)) return 0;
  return std::llround(factor * 1e4);
}

// ceil(n*k*T / (10^4*E)) in integers; at most 2^63-1.
inline int64_t slots_of(int64_t ten_thousandths, int32_t top_k, int64_t tokens, int64_t experts) {
  using Wide = __int128;
  const Wide divisor = Wide{10000} * experts;
  const Wide slots = (Wide{ten_thousandths} * (Wide{top_k} * tokens) + divisor - 1) / divisor;
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  return slots > most ? most : static_cast<int64_t>(slots);
}

}  // namespace moemesh
