// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

#include "impl/base/error.hpp"

namespace moemesh {

// Sums and products of described numbers: an error, never a number that has wrapped.

inline int64_t times(int64_t a, int64_t b) {
  int64_t result = 0;
  require(!__builtin_mul_overflow(a, b, &result), MOEMESH_ERROR_INVALID_ARGUMENT,
          "bill: {} times {} is more than 64 bits hold", a, b);
  return result;
}

inline int64_t plus(int64_t a, int64_t b) {
  int64_t result = 0;
  require(!__builtin_add_overflow(a, b, &result), MOEMESH_ERROR_INVALID_ARGUMENT,
          "bill: {} plus {} is more than 64 bits hold", a, b);
  return result;
}

// Expectations.
inline double times(double a, int64_t b) { return a * static_cast<double>(b); }
inline double plus(double a, double b) { return a + b; }

}  // namespace moemesh
