// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/flat.hpp"
#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::dev;

uint16_t rounded(float value) {
  uint16_t result = 0;
  round_to_bfloat16(1, dev(value), dev(result));
  return result;
}
float widened(uint16_t value) {
  float result = 0;
  widen_bfloat16(1, dev(value), dev(result));
  return result;
}

TEST(Bfloat16, EveryValueKeepsItsBits) {
  constexpr int64_t n = 65536;
  std::vector<uint16_t> all(n), back(n);
  std::vector<float> wide(n), again(n);
  for (size_t bits = 0; bits < n; ++bits) all[bits] = static_cast<uint16_t>(bits);
  widen_bfloat16(n, dev(all), dev(wide));
  round_to_bfloat16(n, dev(wide), dev(back));
  widen_bfloat16(n, dev(back), dev(again));
  for (uint32_t bits = 0; bits < n; ++bits) {
    EXPECT_EQ(std::bit_cast<uint32_t>(wide[bits]), bits << 16);
    if (std::isnan(wide[bits]))
      EXPECT_TRUE(std::isnan(again[bits]));
    else
      EXPECT_EQ(back[bits], bits);
  }
}

TEST(Bfloat16, RoundsToNearestEven) {
  const auto bits = [](uint32_t b) { return rounded(std::bit_cast<float>(b)); };
  EXPECT_EQ(bits(0x3f807fff), 0x3f80);
  EXPECT_EQ(bits(0x3f808000), 0x3f80);  // a tie goes to the even one, here down,
  EXPECT_EQ(bits(0x3f818000), 0x3f82);  // here up
  EXPECT_EQ(bits(0x3f808001), 0x3f81);
  EXPECT_EQ(bits(0xbf808000), 0xbf80);
  EXPECT_EQ(bits(0x3fffffff), 0x4000);  // into the next exponent
  EXPECT_EQ(bits(0x7f7fffff), 0x7f80);  // beyond the largest finite one
  EXPECT_EQ(bits(0x00000001), 0x0000);
  EXPECT_EQ(bits(0x80000000), 0x8000);
  EXPECT_EQ(widened(rounded(0.9F)), 0.8984375F);
  EXPECT_EQ(widened(rounded(4.9F)), 4.90625F);
}

// A NaN whose payload is in the lower half alone must not become an infinity, nor one of all ones a zero.
TEST(Bfloat16, NanStaysNan) {
  for (const uint32_t nan : {0x7f800001U, 0xff800001U, 0x7fffffffU, 0xffffffffU, 0x7fc00000U})
    EXPECT_TRUE(std::isnan(widened(rounded(std::bit_cast<float>(nan))))) << nan;
}

TEST(Bfloat16, MastersFollowChangedValuesOnly) {
  constexpr int64_t n = 10000;  // several tiles
  std::vector<float> masters(n);
  std::vector<uint16_t> values(n);
  for (size_t i = 0; i < n; ++i) masters[i] = 0.1F * static_cast<float>(i) + 0.01F;
  const std::vector<float> before = masters;
  round_to_bfloat16(n, dev(masters), dev(values));
  const uint16_t other = rounded(-3.0F);
  for (size_t i = 0; i < n; i += 7) values[i] = other;
  refresh_masters(n, dev(values), dev(masters));
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(masters[i], i % 7 == 0 ? -3.0F : before[i]) << i;
}

TEST(Bfloat16, InitialValuesAreTheRoundedOnes) {
  const Slice slice{3, 8, 5, 2, 4};
  constexpr int64_t n = 3 * 4 * 5;
  std::vector<float> exact(n);
  std::vector<uint16_t> values(n), expected(n);
  for (const auto kind : {Distribution::constant, Distribution::normal, Distribution::uniform}) {
    initialize(kind, 0.7, 99, slice, dev(exact));
    initialize_bfloat16(kind, 0.7, 99, slice, dev(values));
    round_to_bfloat16(n, dev(exact), dev(expected));
    EXPECT_EQ(values, expected);
  }
}

}  // namespace
}  // namespace moemesh::kernels
