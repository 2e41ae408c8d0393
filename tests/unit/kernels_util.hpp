// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/flat.hpp"
#include "unit/device_copy.hpp"

namespace moemesh::test {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

// n floats that start one element after an aligned address, with NaN before, in and after them.
class Floats {
 public:
  explicit Floats(int64_t n) : storage_(n + 9, kNan), n_(n) {}
  Floats(int64_t n, uint32_t seed, float low = -1, float high = 1) : Floats(n) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> draw(low, high);
    for (int64_t i = 0; i < n; ++i) (*this)[i] = draw(engine);
  }
  float* data() { return storage_.data() + 1; }
  const float* data() const { return storage_.data() + 1; }
  float& operator[](int64_t i) { return data()[i]; }
  float operator[](int64_t i) const { return data()[i]; }
  int64_t size() const { return n_; }
  // With the edges.
  std::vector<float>& storage() { return storage_; }
  const std::vector<float>& storage() const { return storage_; }
  // Nothing was written outside.
  bool edges_untouched() const {
    bool good = std::isnan(storage_[0]);
    for (int64_t i = n_ + 1; i < n_ + 9; ++i) good = good && std::isnan(storage_[i]);
    return good;
  }

 private:
  std::vector<float> storage_;
  int64_t n_;
};

inline DeviceCopy<float> dev(Floats& x) { return {x.storage().data(), static_cast<int64_t>(x.storage().size()), 1}; }
inline DeviceCopy<const float> dev(const Floats& x) {
  return {x.storage().data(), static_cast<int64_t>(x.storage().size()), 1};
}

// bf16 by another way than the kernels'.
inline float float_of(uint16_t half) { return std::bit_cast<float>(static_cast<uint32_t>(half) << 16); }
inline uint16_t half_of(float finite) {
  const uint32_t bits = std::bit_cast<uint32_t>(finite), rest = bits & 0xffffU;
  const bool up = rest > 0x8000U || (rest == 0x8000U && (bits >> 16) % 2 == 1);
  return static_cast<uint16_t>((bits >> 16) + (up ? 1U : 0U));
}

inline Floats counting(int64_t n, float first = 0) {
  Floats values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = first + static_cast<float>(i);
  return values;
}

// sum_squares of an array of the kernels'.
inline double squares(const float* x, int64_t n) {
  std::vector<double> workspace(static_cast<size_t>(kernels::squares_workspace(n)), kNan);
  std::vector<double> sums(static_cast<size_t>(kernels::square_blocks(n)), kNan);
  kernels::sum_squares(x, n, dev(workspace), both(sums));
  double sum = 0;
  for (const double block : sums) sum += block;
  return sum;
}

inline bool same_bits(const void* a, const void* b, int64_t bytes) { return std::memcmp(a, b, bytes) == 0; }

}  // namespace moemesh::test
