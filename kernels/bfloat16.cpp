// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "kernels/bfloat16.hpp"

#include "kernels/detail.hpp"
#include "kernels/flat.hpp"

namespace moemesh::kernels {

// Reads 4 and writes 2 bytes of an element: the minimum.
void round_to_bfloat16(int64_t n, const float* from, uint16_t* to) {
  detail::for_flat(
      "moemesh::round_to_bfloat16", n, KOKKOS_LAMBDA(int64_t begin, int64_t end, int64_t lane) {
        detail::for_stretches(
            begin, end, lane, [=](auto at) { at.write(at.read(from), to); }, from, to);
      });
}

// Reads 2 and writes 4.
void widen_bfloat16(int64_t n, const uint16_t* from, float* to) {
  detail::for_flat(
      "moemesh::widen_bfloat16", n, KOKKOS_LAMBDA(int64_t begin, int64_t end, int64_t lane) {
        detail::for_stretches(
            begin, end, lane, [=](auto at) { at.write(at.read(from), to); }, from, to);
      });
}

void refresh_masters(int64_t n, const uint16_t* values, float* masters) {
  detail::for_tiles(
      "moemesh::refresh_masters", n, KOKKOS_LAMBDA(int64_t i, int64_t end) {
        for (; i < end; i += detail::kLanes)
          if (to_bfloat16(masters[i]) != values[i]) masters[i] = to_float(values[i]);
      });
}

}  // namespace moemesh::kernels
