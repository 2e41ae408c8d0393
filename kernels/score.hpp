// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

// Scores of logits, for the kernels that route and that balance. -inf is a logit like any other: its score is 0.
namespace moemesh::kernels::detail {

KOKKOS_INLINE_FUNCTION float sigmoid(float x) {
  const float z = Kokkos::exp(-Kokkos::abs(x));  // never overflows
  return x >= 0 ? 1 / (1 + z) : z / (1 + z);
}

KOKKOS_INLINE_FUNCTION float log_sigmoid(float x) {
  return (x < 0 ? x : 0) - Kokkos::log1p(Kokkos::exp(-Kokkos::abs(x)));
}

}  // namespace moemesh::kernels::detail
