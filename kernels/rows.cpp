// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/rows.hpp"

#include "kernels/detail.hpp"

namespace moemesh::kernels {

using detail::for_each;
using detail::for_rows;
using detail::kLanes;

namespace {

KOKKOS_INLINE_FUNCTION bool is_masked(const uint8_t* mask, int64_t stride, int64_t token) {
  return mask != nullptr && mask[token * stride] == 0;
}

// One lane's columns of a row.
KOKKOS_INLINE_FUNCTION void set_row(float* to, int64_t width, int64_t lane, float value) {
  for (int64_t c = lane; c < width; c += kLanes) to[c] = value;
}
KOKKOS_INLINE_FUNCTION void copy_row(const float* from, float* to, int64_t width, int64_t lane) {
  for (int64_t c = lane; c < width; c += kLanes) to[c] = from[c];
}
KOKKOS_INLINE_FUNCTION void add_row(const float* from, float* to, int64_t width, int64_t lane) {
  for (int64_t c = lane; c < width; c += kLanes) to[c] += from[c];
}
KOKKOS_INLINE_FUNCTION void copy_or_add_row(bool first, const float* from, float* to, int64_t width, int64_t lane) {
  if (first) {
    copy_row(from, to, width, lane);
  } else {
    add_row(from, to, width, lane);
  }
}

}  // namespace

void segment_pointers(int64_t segments, const int64_t* offsets, char* const* segment_base, int64_t row_bytes,
                      float** pointers) {
  for (int64_t s = 0; s < segments; ++s) {
    char* base = segment_base[s];
    if (base == nullptr) continue;
    float** first = pointers + offsets[s];
    for_each(
        "moemesh::segment_pointers", offsets[s + 1] - offsets[s],
        KOKKOS_LAMBDA(int64_t i) { first[i] = reinterpret_cast<float*>(base + i * row_bytes); });
  }
}

void token_pointers(int64_t n, const int32_t* token, float* base, int64_t ld, float** pointers) {
  for_each(
      "moemesh::token_pointers", n, KOKKOS_LAMBDA(int64_t i) { pointers[i] = base + token[i] * ld; });
}

void copy_rows(int64_t n, int64_t width, const float* const* from, float* const* to) {
  for_rows(
      "moemesh::copy_rows", n, KOKKOS_LAMBDA(int64_t i, int64_t lane) { copy_row(from[i], to[i], width, lane); });
}

void gather_rows(int64_t rows, int64_t width, const float* const* copies, const int32_t* row_copy, float* out) {
  for_rows(
      "moemesh::gather_rows", rows,
      KOKKOS_LAMBDA(int64_t r, int64_t lane) { copy_row(copies[row_copy[r]], out + r * width, width, lane); });
}

void combine_rows(int64_t copies, int64_t width, const int64_t* first_tag, const int64_t* position, const float* rows,
                  float* const* out) {
  for_rows(
      "moemesh::combine_rows", copies, KOKKOS_LAMBDA(int64_t c, int64_t lane) {
        bool first = true;
        for (int64_t i = first_tag[c]; i < first_tag[c + 1]; ++i) {
          if (position[i] < 0) continue;
          copy_or_add_row(first, rows + position[i] * width, out[c], width, lane);
          first = false;
        }
        if (first) set_row(out[c], width, lane, 0);
      });
}

void sum_copies(int64_t tokens, int64_t width, int32_t top_k, const int64_t* copy, const float* const* copies, float* y,
                int64_t ldy) {
  for_rows(
      "moemesh::sum_copies", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        bool first = true;
        for (int64_t a = t * top_k; a < (t + 1) * top_k; ++a) {
          if (copy[a] < 0) continue;
          copy_or_add_row(first, copies[copy[a]], y + t * ldy, width, lane);
          first = false;
        }
        if (first) set_row(y + t * ldy, width, lane, 0);
      });
}

void copy_masked(int64_t tokens, int64_t width, const float* from, int64_t ld_from, const uint8_t* mask,
                 int64_t mask_stride, float* to, int64_t ld_to) {
  for_rows(
      "moemesh::copy_masked", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        if (is_masked(mask, mask_stride, t)) {
          set_row(to + t * ld_to, width, lane, 0);
        } else {
          copy_row(from + t * ld_from, to + t * ld_to, width, lane);
        }
      });
}

void zero_masked(int64_t tokens, int64_t width, const uint8_t* mask, int64_t mask_stride, float* rows, int64_t ld) {
  if (mask == nullptr) return;
  for_rows(
      "moemesh::zero_masked", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        if (is_masked(mask, mask_stride, t)) set_row(rows + t * ld, width, lane, 0);
      });
}

void add_rows(int64_t tokens, int64_t width, const float* from, int64_t ld_from, float* to, int64_t ld_to) {
  for_rows(
      "moemesh::add_rows", tokens,
      KOKKOS_LAMBDA(int64_t t, int64_t lane) { add_row(from + t * ld_from, to + t * ld_to, width, lane); });
}

}  // namespace moemesh::kernels
