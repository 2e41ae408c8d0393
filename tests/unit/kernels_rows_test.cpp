// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/rows.hpp"

#include <gtest/gtest.h>

#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::counting;
using test::Floats;

constexpr int64_t kWidth = 37;

std::vector<float*> row_pointers(Floats& rows, const std::vector<int64_t>& order) {
  std::vector<float*> pointers;
  for (int64_t r : order) pointers.push_back(rows.data() + r * kWidth);
  return pointers;
}

TEST(KernelsRows, SegmentPointers) {
  char first[64], second[64];
  char* const bases[] = {first, nullptr, second};
  const int64_t offsets[] = {0, 2, 5, 8};
  float marker;
  std::vector<float*> pointers(8, &marker);
  segment_pointers(3, offsets, bases, 12, pointers.data());
  for (int64_t c = 0; c < 8; ++c) {
    const char* want = c < 2 ? first + c * 12 : c < 5 ? reinterpret_cast<char*>(&marker) : second + (c - 5) * 12;
    EXPECT_EQ(reinterpret_cast<char*>(pointers[c]), want) << c;
  }
}

TEST(KernelsRows, TokenPointers) {
  Floats base(100);
  const int32_t tokens[] = {4, 0, 4, 2};
  float* pointers[4];
  token_pointers(4, tokens, base.data(), 20, pointers);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pointers[i], base.data() + tokens[i] * 20);
}

TEST(KernelsRows, CopyRows) {
  Floats from = counting(5 * kWidth), to(5 * kWidth);
  const auto sources = row_pointers(from, {0, 1, 2, 3, 4}), targets = row_pointers(to, {3, 1, 4, 0, 2});
  copy_rows(5, kWidth, sources.data(), targets.data());
  for (int64_t i = 0; i < 5 * kWidth; ++i) EXPECT_EQ(targets[i / kWidth][i % kWidth], from[i]);
  EXPECT_TRUE(to.edges_untouched());
}

TEST(KernelsRows, GatherRows) {
  Floats copies = counting(4 * kWidth), out(6 * kWidth);
  const auto pointers = row_pointers(copies, {2, 0, 3, 1});
  const int32_t row_copy[] = {3, 3, 0, 1, 2, 0};
  gather_rows(6, kWidth, pointers.data(), row_copy, out.data());
  for (int64_t i = 0; i < 6 * kWidth; ++i) EXPECT_EQ(out[i], pointers[row_copy[i / kWidth]][i % kWidth]);
  EXPECT_TRUE(out.edges_untouched());
}

// Values whose fp32 sum depends on the order: 1e8, 1, -1e8.
TEST(KernelsRows, CombineRowsAddsInTagOrderAndSkipsForeignTags) {
  Floats rows(4 * kWidth), out(4 * kWidth);
  const float values[] = {1, -1e8f, 1e8f, 5};
  for (int64_t i = 0; i < 4 * kWidth; ++i) rows[i] = values[i / kWidth];
  const int64_t first_tag[] = {0, 3, 3, 5, 6};
  const int64_t position[] = {2, 0, 1, -1, 3, -1};
  const auto targets = row_pointers(out, {1, 3, 0, 2});
  combine_rows(4, kWidth, first_tag, position, rows.data(), targets.data());
  const float want[] = {(1e8f + 1.0f) - 1e8f, 0, 5, 0};
  for (int64_t i = 0; i < 4 * kWidth; ++i) EXPECT_EQ(targets[i / kWidth][i % kWidth], want[i / kWidth]) << i;
  EXPECT_TRUE(out.edges_untouched());
}

TEST(KernelsRows, SumCopiesAddsInOrderOfChoice) {
  Floats copies(3 * kWidth);
  const float values[] = {1, -1e8f, 1e8f};
  for (int64_t i = 0; i < 3 * kWidth; ++i) copies[i] = values[i / kWidth];
  const auto pointers = row_pointers(copies, {0, 1, 2});
  const int64_t copy[] = {2, 0, 1, -1, -1, -1, -1, 0, -1};
  const int64_t ld = kWidth + 4;
  Floats y(3 * ld);
  sum_copies(3, kWidth, 3, copy, pointers.data(), y.data(), ld);
  const float want[] = {(1e8f + 1.0f) - 1e8f, 0, 1};
  for (int64_t i = 0; i < 3 * ld; ++i) {
    if (i % ld < kWidth) {
      EXPECT_EQ(y[i], want[i / ld]) << i;
    } else {
      EXPECT_TRUE(std::isnan(y[i]));
    }
  }
}

// Rows 1 and 3 are masked; the mask has a stride of 2.
class KernelsMaskedRows : public testing::Test {
 protected:
  static constexpr int64_t kTokens = 5, kLd = kWidth + 2;
  const std::vector<uint8_t> mask = {1, 9, 0, 9, 1, 9, 0, 9, 255, 9};
  static bool is_masked(int64_t t) { return t == 1 || t == 3; }

  // value(t, c) for the elements of rows, NaN between them.
  template <class Value>
  static void expect_rows(const Floats& rows, const Value& value) {
    for (int64_t i = 0; i < kTokens * kLd; ++i) {
      if (i % kLd < kWidth) {
        EXPECT_EQ(rows[i], value(i / kLd, i % kLd)) << i;
      } else {
        EXPECT_TRUE(std::isnan(rows[i])) << i;
      }
    }
    EXPECT_TRUE(rows.edges_untouched());
  }
};

TEST_F(KernelsMaskedRows, CopyMakesThemZeroAndNeverReadsThem) {
  Floats from = counting(kTokens * kWidth, 1), to(kTokens * kLd);
  copy_masked(kTokens, kWidth, from.data(), kWidth, nullptr, 0, to.data(), kLd);
  expect_rows(to, [&](int64_t t, int64_t c) { return from[t * kWidth + c]; });
  for (int64_t c = 0; c < kWidth; ++c) from[kWidth + c] = from[3 * kWidth + c] = test::kNan;
  copy_masked(kTokens, kWidth, from.data(), kWidth, mask.data(), 2, to.data(), kLd);
  expect_rows(to, [&](int64_t t, int64_t c) { return is_masked(t) ? 0.0f : from[t * kWidth + c]; });
}

TEST_F(KernelsMaskedRows, Zero) {
  Floats rows(kTokens * kLd);
  const Floats from = counting(kTokens * kWidth, 1);
  copy_masked(kTokens, kWidth, from.data(), kWidth, nullptr, 0, rows.data(), kLd);
  zero_masked(kTokens, kWidth, nullptr, 0, rows.data(), kLd);
  expect_rows(rows, [&](int64_t t, int64_t c) { return from[t * kWidth + c]; });
  zero_masked(kTokens, kWidth, mask.data(), 2, rows.data(), kLd);
  expect_rows(rows, [&](int64_t t, int64_t c) { return is_masked(t) ? 0.0f : from[t * kWidth + c]; });
}

TEST_F(KernelsMaskedRows, Add) {
  const Floats from = counting(kTokens * kWidth, 1);
  Floats to(kTokens * kLd);
  copy_masked(kTokens, kWidth, from.data(), kWidth, nullptr, 0, to.data(), kLd);
  add_rows(kTokens, kWidth, from.data(), kWidth, to.data(), kLd);
  expect_rows(to, [&](int64_t t, int64_t c) { return 2 * from[t * kWidth + c]; });
}

TEST(KernelsRows, EmptyInputs) {
  copy_rows(0, kWidth, nullptr, nullptr);
  gather_rows(0, kWidth, nullptr, nullptr, nullptr);
  combine_rows(0, kWidth, nullptr, nullptr, nullptr, nullptr);
  sum_copies(0, kWidth, 2, nullptr, nullptr, nullptr, kWidth);
  copy_masked(0, kWidth, nullptr, kWidth, nullptr, 0, nullptr, kWidth);
  add_rows(0, kWidth, nullptr, kWidth, nullptr, kWidth);
  segment_pointers(0, nullptr, nullptr, 4, nullptr);
  token_pointers(0, nullptr, nullptr, 1, nullptr);
}

}  // namespace
}  // namespace moemesh::kernels
