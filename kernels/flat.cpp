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

namespace {

// As many places as travel with a launch.
struct Parts {
  static constexpr int32_t most = 32;
  const float* place[most];
  int32_t count = 0;
};

void sum_parts(int64_t n, const Parts& given, float factor, float* out) {
  const Parts parts = given;
  detail::for_each(
      "moemesh::ordered_sum", detail::ceil_div(n, kPartTile),
      KOKKOS_LAMBDA(int64_t tile) { sum_tile(tile, n, parts.count, parts.place, factor, out); });
}

}  // namespace

// What was added up so far is the first part of the next launch.
void ordered_sum(int64_t n, int32_t count, const float* const* parts, float factor, float* out) {
  Parts now;
  for (int32_t i = 0; i < count; ++i) {
    now.place[now.count++] = parts[i];
    if (now.count < Parts::most || i + 1 == count) continue;
    sum_parts(n, now, 1.0F, out);
    now.place[0] = out;
    now.count = 1;
  }
  sum_parts(n, now, factor, out);
}

void ordered_sum_here(int64_t n, int32_t count, const float* const* parts, float factor, float* out) {
  for (int64_t tile = 0; tile * kPartTile < n; ++tile) sum_tile(tile, n, count, parts, factor, out);
}

namespace {

// sums[b] = the squares of block b, for the first blocks of data.
void square_blocks(int64_t blocks, const float* data, int64_t n, double* sums) {
  detail::for_each(
      "moemesh::sum_squares", blocks, KOKKOS_LAMBDA(int64_t b) {
        sums[b] = block_squares(data + b * kSumBlock, detail::smaller(kSumBlock, n - b * kSumBlock));
      });
}

double add_in_order(double sum, int64_t count, const double* terms) {
  for (int64_t i = 0; i < count; ++i) sum += terms[i];
  return sum;
}

// A part of the blocks at a time, whose sums have room here.
double sum_squares_on_host(const float* data, int64_t n) {
  constexpr int64_t kBlocks = 256;
  double sum = 0, partial[kBlocks];
  for (int64_t first = 0; first < n; first += kBlocks * kSumBlock) {
    const int64_t rest = n - first, blocks = detail::smaller(kBlocks, detail::ceil_div(rest, kSumBlock));
    square_blocks(blocks, data + first, rest, partial);
    sum = add_in_order(sum, blocks, partial);
  }
  return sum;
}

// All sums come to the host in one copy.
double sum_squares_on_device(const float* data, int64_t n) {
  const int64_t blocks = detail::ceil_div(n, kSumBlock);
  const Kokkos::View<double*, detail::Space> sums(Kokkos::view_alloc(Kokkos::WithoutInitializing, "block_squares"),
                                                  static_cast<std::size_t>(blocks));
  square_blocks(blocks, data, n, sums.data());
  detail::finish();
  const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, sums);
  return add_in_order(0, blocks, here.data());
}

}  // namespace

double sum_squares(const float* data, int64_t n) {
  if (n <= 0) return 0;
  if constexpr (detail::kOnHost) {
    return sum_squares_on_host(data, n);
  } else {
    return sum_squares_on_device(data, n);
  }
}

}  // namespace moemesh::kernels
