// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/flat.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::counting;
using test::dev;
using test::Floats;

const int64_t kSizes[] = {0, 1, 7, 127, 129, 4096, 4097, 20011};

TEST(KernelsFlat, Zero) {
  for (int64_t n : kSizes) {
    Floats x(n);
    zero(dev(x), n);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(x[i], 0);
    EXPECT_TRUE(x.edges_untouched());
  }
}

void check_add_strided(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides, int64_t from_size) {
  const int32_t rank = static_cast<int32_t>(extents.size());
  int64_t n = 1;
  for (int64_t e : extents) n *= e;
  const Floats from = counting(from_size, 1);
  Floats to = counting(n, 0.5f);
  add_strided(rank, extents.data(), dev(from), strides.data(), dev(to));
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = 0;
    for (int64_t rest = i, d = rank - 1; d >= 0; rest /= extents[d], --d) at += rest % extents[d] * strides[d];
    ASSERT_EQ(to[i], static_cast<float>(i) + 0.5f + from[at]) << i;
  }
  EXPECT_TRUE(to.edges_untouched());
}

TEST(KernelsFlat, AddStrided) {
  check_add_strided({5}, {1}, 5);
  check_add_strided({9001}, {1}, 9001);
  check_add_strided({5000}, {3}, 15000);
  check_add_strided({3, 4}, {1, 3}, 12);  // transposed
  check_add_strided({3, 5000}, {5003, 1}, 15009);
  check_add_strided({2, 3, 4}, {40, 12, 2}, 80);
  check_add_strided({2, 3, 4, 5}, {1, 2, 6, 24}, 120);
  check_add_strided({2, 3, 4, 5}, {100, 30, 6, 1}, 200);
  check_add_strided({2, 3}, {0, 1}, 3);  // broadcast
  check_add_strided({2, 0, 4}, {1, 1, 1}, 1);
  check_add_strided({0}, {1}, 1);
}

TEST(KernelsFlat, OrderedSumAddsInOrderAndMayOverwriteAnyPart) {
  for (int64_t n : kSizes) {
    for (int32_t in_place : {-1, 0, 2}) {
      std::vector<Floats> parts;
      for (uint32_t p = 0; p < 4; ++p) parts.emplace_back(n, p + 1, -1e3f * static_cast<float>(p + 1), 1e3f);
      std::vector<float> want(n);
      for (int64_t i = 0; i < n; ++i) want[i] = (((parts[0][i] + parts[1][i]) + parts[2][i]) + parts[3][i]) * 0.375f;
      Floats separate(n);
      Floats& out = in_place < 0 ? separate : parts[in_place];
      {
        const auto a = dev(parts[0]), b = dev(parts[1]), c = dev(parts[2]), d = dev(parts[3]), e = dev(separate);
        const float* pointers[] = {a, b, c, d};
        ordered_sum(n, 4, pointers, 0.375f, in_place < 0 ? e : in_place == 0 ? a : c);
      }
      EXPECT_TRUE(n == 0 || test::same_bits(out.data(), want.data(), n * sizeof(float))) << n << " " << in_place;
      EXPECT_TRUE(out.edges_untouched());
    }
  }
  Floats none(200);
  ordered_sum(200, 0, nullptr, 2, dev(none));
  for (int64_t i = 0; i < 200; ++i) EXPECT_EQ(none[i], 0);
}

// The order of each block of 4096, on one thread: a host adds up eight sums side by side, a device the fours of each of 32
// lanes.
double serial_block(const float* x, int64_t n) {
  if constexpr (!separate_memory) {
    double s[8] = {};
    for (int64_t i = 0; i < n; ++i) s[i % 8] += static_cast<double>(x[i]) * x[i];
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
  }
  double s[32] = {}, sum = 0;
  for (int64_t i = 0; i < n; ++i) s[i / 4 % 32] += static_cast<double>(x[i]) * x[i];
  for (const double lane : s) sum += lane;
  return sum;
}

double serial_squares(const Floats& x, int64_t n) {
  double sum = 0;
  for (int64_t b = 0; b < n; b += 4096) sum += serial_block(x.data() + b, std::min<int64_t>(n - b, 4096));
  return sum;
}

TEST(KernelsFlat, SumSquaresHasTheSerialBits) {
  for (int64_t n : kSizes) {
    const Floats x(n, 9, -1e3f, 1e-3f);
    const double got = test::squares(dev(x), n), want = serial_squares(x, n);
    EXPECT_TRUE(test::same_bits(&got, &want, sizeof got)) << n;
    for (int run = 0; run < 5; ++run) EXPECT_EQ(test::squares(dev(x), n), got);
  }
}

TEST(KernelsFlat, SumSquaresIsDoubleAndKeepsNonFinite) {
  Floats x(9000);
  zero(dev(x), 9000);
  x[0] = 3e38f;
  EXPECT_DOUBLE_EQ(test::squares(dev(x), 9000), static_cast<double>(3e38f) * 3e38f);
  x[8999] = test::kInf;
  EXPECT_EQ(test::squares(dev(x), 9000), std::numeric_limits<double>::infinity());
  x[5000] = test::kNan;
  EXPECT_TRUE(std::isnan(test::squares(dev(x), 9000)));
}

}  // namespace
}  // namespace moemesh::kernels
