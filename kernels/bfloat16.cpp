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

// Reads 6 bytes of an element, and writes 4 of what changes.
void refresh_masters(int64_t n, const uint16_t* values, float* masters) {
  detail::for_flat(
      "moemesh::refresh_masters", n, KOKKOS_LAMBDA(int64_t begin, int64_t end, int64_t lane) {
        detail::for_stretches(
            begin, end, lane,
            [=](auto at) {
              const auto value = at.load(values);
              auto master = at.load(masters);
              bool changed = false;
              for (int32_t i = 0; i < at.size; ++i) {
                if (to_bfloat16(master[i]) == value[i]) continue;
                master[i] = to_float(value[i]);
                changed = true;
              }
              if (changed) at.save(master, masters);
            },
            values, masters);
      });
}

}  // namespace moemesh::kernels
