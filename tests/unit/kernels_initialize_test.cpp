// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/flat.hpp"
#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::dev;
using test::Floats;

Floats drawn(Distribution kind, double value, uint64_t key, const Slice& slice) {
  Floats out(slice.outer * slice.local * slice.inner);
  initialize(kind, value, key, slice, dev(out));
  EXPECT_TRUE(out.edges_untouched());
  return out;
}

// Any cut of any dimension gives the whole's values.
TEST(KernelsInitialize, SlicesAreTheWhole) {
  for (Distribution kind : {Distribution::normal, Distribution::uniform}) {
    const int64_t outer = 3, dim = 11, inner = 501;
    const Floats whole = drawn(kind, 0.3, 77, {outer, dim, inner, 0, dim});
    for (const auto& [first, local] : std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 7}, {10, 1}, {5, 0}}) {
      const Floats part = drawn(kind, 0.3, 77, {outer, dim, inner, first, local});
      for (int64_t i = 0; i < part.size(); ++i) {
        const int64_t o = i / (local * inner), rest = i % (local * inner);
        ASSERT_EQ(part[i], whole[(o * dim + first) * inner + rest]) << i;
      }
    }
  }
}

TEST(KernelsInitialize, KeysGiveDifferentValues) {
  const Slice slice = {1, 1000, 1, 0, 1000};
  const Floats a = drawn(Distribution::normal, 1, 1, slice), b = drawn(Distribution::normal, 1, 2, slice);
  const Floats high = drawn(Distribution::normal, 1, uint64_t{1} << 32 | 1, slice);
  int equal = 0;
  for (int64_t i = 0; i < 1000; ++i) equal += (a[i] == b[i]) + (a[i] == high[i]) + (i > 0 && a[i] == a[i - 1]);
  EXPECT_EQ(equal, 0);
}

// 400,000 draws: each tolerance is five standard errors.
TEST(KernelsInitialize, NormalHasItsMoments) {
  const int64_t n = 400000;
  const Floats x = drawn(Distribution::normal, 0.02, 5, {1, n, 1, 0, n});
  double power[5] = {}, neighbours = 0, beyond = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double z = x[i] / 0.02;
    for (int p = 1; p <= 4; ++p) power[p] += std::pow(z, p) / n;
    if (i > 0) neighbours += z * x[i - 1] / 0.02 / n;
    beyond += std::abs(z) > 1.959964;
  }
  const double root = std::sqrt(static_cast<double>(n));
  EXPECT_NEAR(power[1], 0, 5 / root);
  EXPECT_NEAR(power[2], 1, 5 * std::sqrt(2.0) / root);
  EXPECT_NEAR(power[3], 0, 5 * std::sqrt(15.0) / root);
  EXPECT_NEAR(power[4], 3, 5 * std::sqrt(96.0) / root);
  EXPECT_NEAR(neighbours, 0, 5 / root);
  EXPECT_NEAR(beyond / n, 0.05, 5 * std::sqrt(0.05 * 0.95) / root);
}

TEST(KernelsInitialize, UniformFillsItsRange) {
  const int64_t n = 400000;
  const Floats x = drawn(Distribution::uniform, 0.3, 6, {1, n, 1, 0, n});
  double mean = 0, square = 0, low = 1, high = -1;
  for (int64_t i = 0; i < n; ++i) {
    mean += x[i] / n;
    square += double{x[i]} * x[i] / n;
    low = std::min<double>(low, x[i]);
    high = std::max<double>(high, x[i]);
  }
  EXPECT_NEAR(mean, 0, 5 * 0.3 / std::sqrt(3.0 * n));
  EXPECT_NEAR(square, 0.03, 5 * 0.03 * std::sqrt(0.8 / n));
  EXPECT_GE(low, -0.3f);
  EXPECT_LT(high, 0.3);
  EXPECT_GT(high - low, 0.5999);
}

TEST(KernelsInitialize, ConstantEmptyAndUnknown) {
  const Floats x = drawn(Distribution::constant, 1.5, 1, {2, 3, 4, 1, 2});
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(x[i], 1.5f);
  initialize(Distribution::normal, 1, 1, {2, 3, 4, 1, 0}, nullptr);
  EXPECT_THROW(initialize(static_cast<Distribution>(9), 1, 1, {}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace moemesh::kernels
