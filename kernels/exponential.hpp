// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace moemesh::kernels::detail {

// The nearest number of magnitude <= limit (NaN gives +-limit). In integers, since a choice between floats is a branch
// to the compiler, and a loop with one does not vectorize.
KOKKOS_INLINE_FUNCTION float clamp_magnitude(float x, float limit) {
  const uint32_t bits = Kokkos::bit_cast<uint32_t>(x);
  const int32_t magnitude = static_cast<int32_t>(bits & 0x7FFFFFFFu);
  const int32_t most = Kokkos::bit_cast<int32_t>(limit);
  const int32_t clamped = magnitude < most ? magnitude : most;
  return Kokkos::bit_cast<float>(static_cast<uint32_t>(clamped) | (bits & 0x80000000u));
}

// exp(x) to about one unit in the last place, for x clamped to [-87, 87]; a NaN is lost. The C library's is a call per
// element; this is arithmetic alone, so that loops over it vectorize with any instruction set.
//
// exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2, where Taylor's terms up to r^7 leave an error of 5e-9.
KOKKOS_INLINE_FUNCTION float clamped_exp(float unclamped) {
  constexpr float kRounder = 12582912.0f;         // 1.5 * 2^23: adding it leaves the rounded integer in the low bits
  constexpr float kLn2High = 0.693145751953125f;  // 16 bits: n * kLn2High is exact
  constexpr float kLn2Low = 1.42860682030941723e-6f;
  const float x = clamp_magnitude(unclamped, 87.0f);
  const float shifted = x * 1.44269504088896341f + kRounder;
  const float n = shifted - kRounder;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  const float tail = 1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040))));
  const float exp_r = 1.0f + (r + r * r * (0.5f + r * tail));
  // n moves to the exponent's place; the rounder's own bits leave at the top.
  const uint32_t power = (Kokkos::bit_cast<uint32_t>(shifted) << 23) + 0x3F800000u;
  return exp_r * Kokkos::bit_cast<float>(power);
}

}  // namespace moemesh::kernels::detail
