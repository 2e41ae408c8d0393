// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/flat.hpp"

#include "kernels/detail.hpp"

namespace moemesh::kernels {
namespace {

constexpr int64_t kSumLanes = 8;     // of sum_squares' inner loop
constexpr int64_t kSumBlock = 4096;  // of its outer one
constexpr int64_t kPartTile = 128;   // elements that ordered_sum adds up before it writes

// An array of up to 4 dimensions as [e0, e1, e2] rows of e3 elements.
struct Strided {
  int64_t extents[4] = {1, 1, 1, 1};
  int64_t strides[4] = {0, 0, 0, 0};

  KOKKOS_FUNCTION int64_t rows() const { return extents[0] * extents[1] * extents[2]; }
  KOKKOS_FUNCTION int64_t row_offset(int64_t row) const {
    const int64_t i2 = row % extents[2], i1 = row / extents[2] % extents[1], i0 = row / extents[2] / extents[1];
    return i0 * strides[0] + i1 * strides[1] + i2 * strides[2];
  }
};

Strided as_strided(int32_t rank, const int64_t* extents, const int64_t* strides) {
  Strided s;
  for (int32_t d = 0; d < rank; ++d) {
    s.extents[4 - rank + d] = extents[d];
    s.strides[4 - rank + d] = strides[d];
  }
  return s;
}

KOKKOS_INLINE_FUNCTION void add_stretch(int64_t n, int64_t lane, const float* from, int64_t stride, float* to) {
  if (stride == 1) {  // a loop that vectorizes
    for (int64_t i = lane; i < n; i += detail::kLanes) to[i] += from[i];
  } else {
    for (int64_t i = lane; i < n; i += detail::kLanes) to[i] += from[i * stride];
  }
}

KOKKOS_INLINE_FUNCTION double square(float x) { return static_cast<double>(x) * x; }

// Eight sums side by side, then added in pairs: a fixed order that vectorizes.
KOKKOS_INLINE_FUNCTION double block_squares(const float* data, int64_t n) {
  double sum[kSumLanes] = {};
  int64_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    for (int64_t j = 0; j < kSumLanes; ++j) sum[j] += square(data[i + j]);
  }
  for (; i < n; ++i) sum[i % kSumLanes] += square(data[i]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace

void zero(float* data, int64_t n) {
  detail::for_tiles(
      "moemesh::zero", n, KOKKOS_LAMBDA(int64_t i, int64_t end) {
        for (; i < end; i += detail::kLanes) data[i] = 0;
      });
}

void add_strided(int32_t rank, const int64_t* extents, const float* from, const int64_t* strides, float* to) {
  const Strided shape = as_strided(rank, extents, strides);
  const int64_t width = shape.extents[3], stride = shape.strides[3];
  const int64_t pieces = detail::ceil_div(width, detail::kTile);  // so that one long row is work for all threads
  detail::for_rows(
      "moemesh::add_strided", shape.rows() * pieces, KOKKOS_LAMBDA(int64_t item, int64_t lane) {
        const int64_t row = item / pieces, first = item % pieces * detail::kTile;
        add_stretch(detail::smaller(detail::kTile, width - first), lane, from + shape.row_offset(row) + first * stride,
                    stride, to + row * width + first);
      });
}

namespace {

KOKKOS_INLINE_FUNCTION void sum_tile(int64_t tile, int64_t n, int32_t count, const float* const* parts, float factor,
                                     float* out) {
  const int64_t first = tile * kPartTile, width = detail::smaller(kPartTile, n - first);
  float sum[kPartTile] = {};
  for (int32_t p = 0; p < count; ++p) {
    const float* part = parts[p] + first;
    if (p == 0) {  // not 0 + part: that would turn -0 into 0
      for (int64_t i = 0; i < width; ++i) sum[i] = part[i];
    } else {
      for (int64_t i = 0; i < width; ++i) sum[i] += part[i];
    }
  }
  for (int64_t i = 0; i < width; ++i) out[first + i] = sum[i] * factor;
}

}  // namespace

void ordered_sum(int64_t n, int32_t count, const float* const* parts, float factor, float* out) {
  detail::for_each(
      "moemesh::ordered_sum", detail::ceil_div(n, kPartTile),
      KOKKOS_LAMBDA(int64_t tile) { sum_tile(tile, n, count, parts, factor, out); });
}

void ordered_sum_here(int64_t n, int32_t count, const float* const* parts, float factor, float* out) {
  for (int64_t tile = 0; tile * kPartTile < n; ++tile) sum_tile(tile, n, count, parts, factor, out);
}

// A part of the blocks at a time, whose sums have room here.
double sum_squares(const float* data, int64_t n) {
  static_assert(detail::kOnHost);
  constexpr int64_t kBlocks = 256;
  double sum = 0;
  for (int64_t first = 0; first < n; first += kBlocks * kSumBlock) {
    const int64_t rest = n - first, blocks = detail::smaller(kBlocks, detail::ceil_div(rest, kSumBlock));
    double partial[kBlocks];
    double* const sums = partial;
    detail::for_each(
        "moemesh::sum_squares", blocks, KOKKOS_LAMBDA(int64_t b) {
          sums[b] = block_squares(data + first + b * kSumBlock, detail::smaller(kSumBlock, rest - b * kSumBlock));
        });
    for (int64_t b = 0; b < blocks; ++b) sum += sums[b];
  }
  return sum;
}

}  // namespace moemesh::kernels
