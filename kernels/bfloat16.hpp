// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

// The upper half of an fp32. For kernels; nothing outside this folder includes it.
namespace moemesh::kernels {

KOKKOS_INLINE_FUNCTION float to_float(uint16_t value) {
  return Kokkos::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

// To nearest, ties to even; beyond the largest finite one: infinity. NaN stays NaN (quiet), with its sign.
KOKKOS_INLINE_FUNCTION uint16_t to_bfloat16(float value) {
  const uint32_t bits = Kokkos::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<uint16_t>((nan ? bits | 0x00400000U : rounded) >> 16);
}

// Arrays of either type in one template.
KOKKOS_INLINE_FUNCTION float to_float(float value) { return value; }
KOKKOS_INLINE_FUNCTION void store(float value, float* to) { *to = value; }
KOKKOS_INLINE_FUNCTION void store(float value, uint16_t* to) { *to = to_bfloat16(value); }

}  // namespace moemesh::kernels
