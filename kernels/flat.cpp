// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/flat.hpp"

#include "kernels/detail.hpp"

namespace moemesh::kernels {
namespace {

constexpr int64_t kPartTile = 128;  // elements that a host's ordered_sum adds up before it writes

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

// Dimensions that follow one another without a gap become one, so that rows are long.
Strided as_strided(int32_t rank, const int64_t* extents, const int64_t* strides) {
  Strided s;
  int32_t at = 3;
  for (int32_t d = rank - 1; d >= 0; --d) {
    if (d < rank - 1 && strides[d] != s.strides[at] * s.extents[at]) --at;
    if (s.strides[at] == 0 && s.extents[at] == 1) s.strides[at] = strides[d];
    s.extents[at] *= extents[d];
  }
  return s;
}

KOKKOS_INLINE_FUNCTION void add_row(int64_t n, int64_t lane, const float* from, int64_t stride, float* to) {
  if (stride == 1) {
    detail::for_stretches(
        0, n, lane,
        [=](auto at) {
          auto sum = at.load(to);
          const auto more = at.load(from);
          for (int32_t i = 0; i < at.size; ++i) sum[i] += more[i];
          at.save(sum, to);
        },
        from, to);
  } else {
    for (int64_t i = lane; i < n; i += detail::kLanes) to[i] += from[i * stride];
  }
}

}  // namespace

// Writes 4 bytes of an element.
void zero(float* data, int64_t n) {
  detail::for_flat(
      "moemesh::zero", n, KOKKOS_LAMBDA(int64_t begin, int64_t end, int64_t lane) {
        detail::for_stretches(
            begin, end, lane, [=](auto at) { at.save({}, data); }, data);
      });
}

// Reads 8 and writes 4 bytes of an element. From a stride other than 1 a device reads 32 bytes for each 4: to avoid it takes
// a transposition, and gradients that lie so are rare.
void add_strided(int32_t rank, const int64_t* extents, const float* from, const int64_t* strides, float* to) {
  const Strided shape = as_strided(rank, extents, strides);
  const int64_t width = shape.extents[3], stride = shape.strides[3];
  const int64_t pieces = detail::ceil_div(width, detail::kTile);  // so that one long row is work for all threads
  detail::for_rows(
      "moemesh::add_strided", shape.rows() * pieces, KOKKOS_LAMBDA(int64_t item, int64_t lane) {
        const int64_t row = item / pieces, first = item % pieces * detail::kTile;
        add_row(detail::smaller(detail::kTile, width - first), lane, from + shape.row_offset(row) + first * stride,
                stride, to + row * width + first);
      });
}

namespace {

KOKKOS_INLINE_FUNCTION void sum_tile(int64_t first, int64_t width, int32_t count, const float* const* parts,
                                     float factor, float* out) {
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

// By tiles whose sums stay in a host's cache.
KOKKOS_INLINE_FUNCTION void sum_tiles(int64_t begin, int64_t end, int32_t count, const float* const* parts,
                                      float factor, float* out) {
  for (int64_t first = begin; first < end; first += kPartTile)
    sum_tile(first, detail::smaller(kPartTile, end - first), count, parts, factor, out);
}

// As many places as travel with a launch.
struct Parts {
  static constexpr int32_t most = 32;
  const float* place[most];
  int32_t count = 0;
  bool alike = true;  // all of them, and the result, have packs at the same elements
};

// The same sum of a few elements, in registers.
template <int32_t n>
KOKKOS_INLINE_FUNCTION void sum_stretch(detail::Stretch<n> at, const Parts& parts, float factor, float* out) {
  detail::Pack<float, n> sum = {};
  if (parts.count > 0) sum = at.load(parts.place[0]);
  for (int32_t p = 1; p < parts.count; ++p) {
    const auto part = at.load(parts.place[p]);
    for (int32_t i = 0; i < n; ++i) sum[i] += part[i];
  }
  for (int32_t i = 0; i < n; ++i) sum[i] *= factor;
  at.save(sum, out);
}

KOKKOS_INLINE_FUNCTION void sum_range(int64_t begin, int64_t end, int64_t lane, const Parts& parts, float factor,
                                      float* out) {
  if constexpr (detail::kOnHost) {
    sum_tiles(begin, end, parts.count, parts.place, factor, out);
  } else if (parts.alike) {
    detail::for_stretches(
        begin, end, lane, [&](auto at) { sum_stretch(at, parts, factor, out); }, out);
  } else {
    for (int64_t i = begin + lane; i < end; i += detail::kLanes) sum_stretch(detail::Stretch<1>{i}, parts, factor, out);
  }
}

void sum_parts(int64_t n, const Parts& given, float factor, float* out) {
  Parts parts = given;
  for (int32_t i = 0; i < parts.count; ++i)
    if (detail::bytes_past_boundary(parts.place[i]) != detail::bytes_past_boundary(out)) parts.alike = false;
  detail::for_flat(
      "moemesh::ordered_sum", n,
      KOKKOS_LAMBDA(int64_t begin, int64_t end, int64_t lane) { sum_range(begin, end, lane, parts, factor, out); });
}

}  // namespace

// Reads 4 bytes of each part's element and writes 4: the minimum, up to 32 parts; each 31 more read and write 4 again. What
// was added up so far is the first part of the next launch.
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
  sum_tiles(0, n, count, parts, factor, out);
}

namespace {

KOKKOS_INLINE_FUNCTION double square(float x) { return static_cast<double>(x) * x; }

// Eight sums side by side, then added in pairs: a fixed order that vectorizes.
KOKKOS_INLINE_FUNCTION double block_of_squares(const float* data, int64_t n) {
  constexpr int64_t kSums = 8;
  double sum[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (int64_t j = 0; j < kSums; ++j) sum[j] += square(data[i + j]);
  }
  for (; i < n; ++i) sum[i % kSums] += square(data[i]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

// What one lane adds up of a block: fours of elements, by their place in the block and not by their address, on which no
// bit may depend.
constexpr int64_t kFour = 4;
KOKKOS_INLINE_FUNCTION double lane_of_squares(const float* data, int64_t n, int64_t lane) {
  if constexpr (detail::kOnHost) return block_of_squares(data, n);
  const bool packed = detail::bytes_past_boundary(data) == 0;
  double sum = 0;
  for (int64_t i = lane * kFour; i < n; i += detail::kLanes * kFour) {
    const bool whole = i + kFour <= n;
    detail::Pack<float, kFour> four = {};
    if (packed && whole)
      four = detail::Stretch<kFour>{i}.load(data);
    else
      for (int32_t j = 0; j < kFour; ++j) four[j] = i + j < n ? data[i + j] : 0;
    for (int32_t j = 0; j < kFour; ++j) sum += square(four[j]);
  }
  return sum;
}

// A host's one lane has the block's sum, a device's lanes theirs: 256 bytes of a block's 16 KiB.
void sum_lanes(const float* data, int64_t n, double* sums) {
  detail::for_rows(
      "moemesh::sum_squares", square_blocks(n), KOKKOS_LAMBDA(int64_t b, int64_t lane) {
        const float* block = data + b * square_block;
        sums[b * detail::kLanes + lane] =
            lane_of_squares(block, detail::smaller(square_block, n - b * square_block), lane);
      });
}

void add_lanes(int64_t blocks, const double* lanes, double* sums) {
  detail::for_each(
      "moemesh::sum_squares", blocks, KOKKOS_LAMBDA(int64_t b) {
        double sum = 0;
        for (int64_t lane = 0; lane < detail::kLanes; ++lane) sum += lanes[b * detail::kLanes + lane];
        sums[b] = sum;
      });
}

}  // namespace

int64_t squares_workspace(int64_t n) { return detail::kOnHost ? 0 : square_blocks(n) * detail::kLanes; }

// Reads 4 bytes of an element: the minimum, but for an eighth of a byte of a device's own sums.
void sum_squares(const float* data, int64_t n, double* workspace, double* sums) {
  sum_lanes(data, n, detail::kOnHost ? sums : workspace);
  if (!detail::kOnHost) add_lanes(square_blocks(n), workspace, sums);
}

}  // namespace moemesh::kernels
