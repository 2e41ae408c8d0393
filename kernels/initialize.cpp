// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <stdexcept>

#include "kernels/bfloat16.hpp"
#include "kernels/detail.hpp"
#include "kernels/flat.hpp"
#include "kernels/philox.hpp"

// Initial values. Each element takes its own counter, its index in the unsplit array.
namespace moemesh::kernels {
namespace {

struct Constant {
  float value;
  KOKKOS_FUNCTION float operator()(uint64_t, uint64_t) const { return value; }
};

// 24 bits: then 2u - 1 is exact in fp32, and the product can't round up to `bound` itself.
struct Uniform {
  double bound;
  KOKKOS_FUNCTION float operator()(uint64_t key, uint64_t index) const {
    const double u = (detail::element_words(key, index).word[0] >> 8) * 0x1p-24;
    return static_cast<float>(bound * (2 * u - 1));
  }
};

// Box and Muller 1958, in fp64 from two numbers of 53 bits; the first is in (0, 1], so that its logarithm is finite.
struct Normal {
  double deviation;
  KOKKOS_FUNCTION float operator()(uint64_t key, uint64_t index) const {
    const detail::Words w = detail::element_words(key, index);
    const double u = (bits53(w.word[0], w.word[1]) + 1) * 0x1p-53;
    const double angle = 2 * Kokkos::numbers::pi_v<double> * (bits53(w.word[2], w.word[3]) * 0x1p-53);
    return static_cast<float>(deviation * Kokkos::sqrt(-2 * Kokkos::log(u)) * Kokkos::cos(angle));
  }
  KOKKOS_FUNCTION static double bits53(uint32_t low, uint32_t high) {
    return static_cast<double>(((static_cast<uint64_t>(high) << 32) | low) >> 11);
  }
};

KOKKOS_INLINE_FUNCTION void store(float value, float& place) { place = value; }
KOKKOS_INLINE_FUNCTION void store(float value, uint16_t& place) { place = to_bfloat16(value); }

// Writes 4 or 2 bytes of an element, a full line of a cache at once. What it takes is the drawing: once for a model.
template <class Draw, class T>
void fill(const Draw& draw, uint64_t key, const Slice& slice, T* out) {
  const Slice s = slice;
  const int64_t stretch = s.local * s.inner;  // contiguous in both arrays
  detail::for_tiles(
      "moemesh::initialize", s.outer * stretch, KOKKOS_LAMBDA(int64_t i, int64_t end) {
        for (; i < end; i += detail::kLanes) {
          const int64_t index = (i / stretch * s.dim + s.first) * s.inner + i % stretch;
          store(draw(key, static_cast<uint64_t>(index)), out[i]);
        }
      });
}

template <class T>
void initialize_as(Distribution distribution, double value, uint64_t key, const Slice& slice, T* out) {
  switch (distribution) {
    case Distribution::constant:
      return fill(Constant{static_cast<float>(value)}, key, slice, out);
    case Distribution::normal:
      return fill(Normal{value}, key, slice, out);
    case Distribution::uniform:
      return fill(Uniform{value}, key, slice, out);
  }
  throw std::invalid_argument("initialize: unknown distribution");
}

}  // namespace

void initialize(Distribution distribution, double value, uint64_t key, const Slice& slice, float* out) {
  initialize_as(distribution, value, key, slice, out);
}

void initialize_bfloat16(Distribution distribution, double value, uint64_t key, const Slice& slice, uint16_t* out) {
  initialize_as(distribution, value, key, slice, out);
}

}  // namespace moemesh::kernels
