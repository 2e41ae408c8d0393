// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/rows.hpp"

#include <gtest/gtest.h>

#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::counting;
using test::dev;
using test::DeviceCopy;
using test::float_of;
using test::Floats;
using test::half_of;

constexpr int64_t kWidth = 37;

constexpr auto kFloat = Element::float32;
constexpr auto kHalf = Element::bfloat16;

template <class T>
std::byte* bytes_at(T* data) {
  return reinterpret_cast<std::byte*>(data);
}

// Where kernels find each row.
template <class T>
std::vector<std::byte*> row_pointers(const DeviceCopy<T>& rows, const std::vector<int64_t>& order) {
  std::vector<std::byte*> pointers;
  for (int64_t r : order) pointers.push_back(bytes_at(rows + r * kWidth));
  return pointers;
}

TEST(KernelsRows, SegmentPointers) {
  std::byte first[64], second[64], marker;
  std::byte* const bases[] = {first, nullptr, second};
  const int64_t offsets[] = {0, 2, 5, 8};
  std::vector<std::byte*> pointers(8, &marker);
  segment_pointers(3, offsets, bases, 12, dev(pointers));
  for (int64_t c = 0; c < 8; ++c) {
    const std::byte* want = c < 2 ? first + c * 12 : c < 5 ? &marker : second + (c - 5) * 12;
    EXPECT_EQ(pointers[c], want) << c;
  }
}

TEST(KernelsRows, TokenPointers) {
  Floats base(100);
  const int32_t tokens[] = {4, 0, 4, 2};
  std::byte* pointers[4];
  token_pointers(4, dev(tokens), bytes_at(base.data()), 80, dev(pointers));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pointers[i], bytes_at(base.data() + tokens[i] * 20));
}

TEST(KernelsRows, CopyRows) {
  Floats from = counting(5 * kWidth), to(5 * kWidth);
  const std::vector<int64_t> order{3, 1, 4, 0, 2};
  {
    const auto there = dev(from), here = dev(to);
    const auto sources = row_pointers(there, {0, 1, 2, 3, 4}), targets = row_pointers(here, order);
    copy_rows(5, kWidth, kFloat, dev(sources), dev(targets));
  }
  for (int64_t i = 0; i < 5 * kWidth; ++i) EXPECT_EQ(to[order[i / kWidth] * kWidth + i % kWidth], from[i]);
  EXPECT_TRUE(to.edges_untouched());
}

TEST(KernelsRows, GatherRows) {
  Floats copies = counting(4 * kWidth), out(6 * kWidth);
  const std::vector<int64_t> order{2, 0, 3, 1};
  const auto place = dev(copies);
  const auto pointers = row_pointers(place, order);
  const int32_t row_copy[] = {3, 3, 0, 1, 2, 0};
  gather_rows(6, kWidth, kFloat, dev(pointers), dev(row_copy), dev(out));
  for (int64_t i = 0; i < 6 * kWidth; ++i) EXPECT_EQ(out[i], copies[order[row_copy[i / kWidth]] * kWidth + i % kWidth]);
  EXPECT_TRUE(out.edges_untouched());
}

// Values whose fp32 sum depends on the order: 1e8, 1, -1e8.
TEST(KernelsRows, CombineRowsAddsInTagOrderAndSkipsForeignTags) {
  Floats rows(4 * kWidth), out(4 * kWidth);
  const float values[] = {1, -1e8f, 1e8f, 5};
  for (int64_t i = 0; i < 4 * kWidth; ++i) rows[i] = values[i / kWidth];
  const int64_t first_tag[] = {0, 3, 3, 5, 6};
  const int64_t position[] = {2, 0, 1, -1, 3, -1};
  const std::vector<int64_t> order{1, 3, 0, 2};
  {
    const auto place = dev(out);
    const auto targets = row_pointers(place, order);
    combine_rows(4, kWidth, dev(first_tag), dev(position), dev(rows), kFloat, dev(targets));
  }
  const float want[] = {(1e8f + 1.0f) - 1e8f, 0, 5, 0};
  for (int64_t i = 0; i < 4 * kWidth; ++i)
    EXPECT_EQ(out[order[i / kWidth] * kWidth + i % kWidth], want[i / kWidth]) << i;
  EXPECT_TRUE(out.edges_untouched());
}

TEST(KernelsRows, SumCopiesAddsInOrderOfChoice) {
  Floats copies(3 * kWidth);
  const float values[] = {1, -1e8f, 1e8f};
  for (int64_t i = 0; i < 3 * kWidth; ++i) copies[i] = values[i / kWidth];
  const auto place = dev(copies);
  const auto pointers = row_pointers(place, {0, 1, 2});
  const int64_t copy[] = {2, 0, 1, -1, -1, -1, -1, 0, -1};
  const int64_t ld = kWidth + 4;
  Floats y(3 * ld);
  sum_copies(3, kWidth, 3, dev(copy), kFloat, dev(pointers), false, dev(y), ld);
  const float want[] = {(1e8f + 1.0f) - 1e8f, 0, 1};
  for (int64_t i = 0; i < 3 * ld; ++i) {
    if (i % ld < kWidth) {
      EXPECT_EQ(y[i], want[i / ld]) << i;
    } else {
      EXPECT_TRUE(std::isnan(y[i]));
    }
  }
}

// What is there comes first: (-1e8 + 1e8) + 1, where 1e8 + 1 alone would lose the one.
TEST(KernelsRows, SumCopiesAddsToWhatIsThere) {
  Floats copies(2 * kWidth), y(2 * kWidth);
  for (int64_t i = 0; i < 2 * kWidth; ++i) copies[i] = i < kWidth ? 1e8f : 1.0f;
  for (int64_t i = 0; i < 2 * kWidth; ++i) y[i] = -1e8f;
  const auto place = dev(copies);
  const auto pointers = row_pointers(place, {0, 1});
  const int64_t copy[] = {0, 1, -1, -1};
  sum_copies(2, kWidth, 2, dev(copy), kFloat, dev(pointers), true, dev(y), kWidth);
  for (int64_t i = 0; i < 2 * kWidth; ++i) EXPECT_EQ(y[i], i < kWidth ? 1.0f : -1e8f) << i;
}

TEST(KernelsRows, GatherDense) {
  const Floats from = test::counting(5 * kWidth);
  Floats to(3 * kWidth);
  const int64_t index[] = {4, 0, 4};
  gather_dense(3, kWidth, dev(from), dev(index), dev(to));
  for (int64_t i = 0; i < 3 * kWidth; ++i) EXPECT_EQ(to[i], from[index[i / kWidth] * kWidth + i % kWidth]);
  EXPECT_TRUE(to.edges_untouched());
}

// bf16 rows: moved as they are, widened exactly, rounded once after a sum in fp32.
TEST(KernelsRows, HalfRowsMoveAndWidenExactly) {
  std::vector<uint16_t> from(4 * kWidth), to(4 * kWidth, 7);
  for (size_t i = 0; i < from.size(); ++i) from[i] = half_of(static_cast<float>(i) * 0.5F - 9);
  from[5] = 0x7fc1;  // a NaN keeps its bits
  const std::vector<int64_t> order{2, 0, 3, 1};
  const auto there = dev(from), here = dev(to);
  const auto sources = row_pointers(there, {0, 1, 2, 3}), targets = row_pointers(here, order);
  copy_rows(4, kWidth, kHalf, dev(sources), dev(targets));
  here.fetch();
  for (size_t i = 0; i < from.size(); ++i)
    EXPECT_EQ(to[static_cast<size_t>(order[i / kWidth] * kWidth) + i % kWidth], from[i]);
  Floats out(3 * kWidth);
  const int32_t row_copy[] = {3, 1, 3};
  gather_rows(3, kWidth, kHalf, dev(sources), dev(row_copy), dev(out));
  for (int64_t i = 0; i < 3 * kWidth; ++i)
    EXPECT_EQ(out[i], float_of(from[row_copy[i / kWidth] * kWidth + i % kWidth]));
}

TEST(KernelsRows, HalfSumsAreRoundedOnce) {
  // 256 + 1 + 1: one at a time in bf16 both ones would be lost.
  Floats rows(3 * kWidth);
  const float values[] = {256, 1, 1};
  for (int64_t i = 0; i < 3 * kWidth; ++i) rows[i] = values[i / kWidth];
  std::vector<uint16_t> out(kWidth, 7);
  const auto place = dev(out);
  const auto targets = row_pointers(place, {0});
  const int64_t first_tag[] = {0, 3}, position[] = {0, 1, 2};
  combine_rows(1, kWidth, dev(first_tag), dev(position), dev(rows), kHalf, dev(targets));
  place.fetch();
  for (const uint16_t v : out) EXPECT_EQ(float_of(v), 258.0F);
  std::vector<uint16_t> copies(3 * kWidth);
  for (size_t i = 0; i < copies.size(); ++i) copies[i] = half_of(values[i / kWidth]);
  const auto copies_place = dev(copies);
  const auto pointers = row_pointers(copies_place, {0, 1, 2});
  const int64_t copy[] = {0, 1, 2};
  Floats y(kWidth);
  sum_copies(1, kWidth, 3, dev(copy), kHalf, dev(pointers), false, dev(y), kWidth);
  for (int64_t i = 0; i < kWidth; ++i) EXPECT_EQ(y[i], 258.0F);
}

TEST(KernelsRows, LoadAndStoreRows) {
  const int64_t ld = kWidth + 3;
  const std::vector<uint8_t> mask{1, 0, 1};
  Floats values(3 * kWidth), back(3 * kWidth);
  for (int64_t i = 0; i < 3 * kWidth; ++i) values[i] = 1.0F + static_cast<float>(i) * 0x1p-9F;
  std::vector<uint16_t> half(3 * ld, 7);
  {
    const auto place = dev(half);
    store_rows(3, kWidth, dev(values), kWidth, kHalf, bytes_at(place.get()), ld);
    load_rows(3, kWidth, kHalf, bytes_at(place.get()), ld, dev(mask), dev(back), kWidth);
  }
  for (int64_t t = 0; t < 3; ++t) {
    for (int64_t c = 0; c < kWidth; ++c) {
      EXPECT_EQ(back[t * kWidth + c], t == 1 ? 0.0F : float_of(half_of(values[t * kWidth + c])));
      EXPECT_NEAR(float_of(half[t * ld + c]), values[t * kWidth + c], 0x1p-8 * values[t * kWidth + c]);
    }
    for (int64_t c = kWidth; c < ld; ++c) EXPECT_EQ(half[t * ld + c], 7);
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
  copy_masked(kTokens, kWidth, dev(from), kWidth, nullptr, 0, dev(to), kLd);
  expect_rows(to, [&](int64_t t, int64_t c) { return from[t * kWidth + c]; });
  for (int64_t c = 0; c < kWidth; ++c) from[kWidth + c] = from[3 * kWidth + c] = test::kNan;
  copy_masked(kTokens, kWidth, dev(from), kWidth, dev(mask), 2, dev(to), kLd);
  expect_rows(to, [&](int64_t t, int64_t c) { return is_masked(t) ? 0.0f : from[t * kWidth + c]; });
}

TEST_F(KernelsMaskedRows, Zero) {
  Floats rows(kTokens * kLd);
  const Floats from = counting(kTokens * kWidth, 1);
  copy_masked(kTokens, kWidth, dev(from), kWidth, nullptr, 0, dev(rows), kLd);
  zero_masked(kTokens, kWidth, nullptr, 0, dev(rows), kLd);
  expect_rows(rows, [&](int64_t t, int64_t c) { return from[t * kWidth + c]; });
  zero_masked(kTokens, kWidth, dev(mask), 2, dev(rows), kLd);
  expect_rows(rows, [&](int64_t t, int64_t c) { return is_masked(t) ? 0.0f : from[t * kWidth + c]; });
}

TEST_F(KernelsMaskedRows, Add) {
  const Floats from = counting(kTokens * kWidth, 1);
  Floats to(kTokens * kLd);
  copy_masked(kTokens, kWidth, dev(from), kWidth, nullptr, 0, dev(to), kLd);
  add_rows(kTokens, kWidth, dev(from), kWidth, dev(to), kLd);
  expect_rows(to, [&](int64_t t, int64_t c) { return 2 * from[t * kWidth + c]; });
}

// ---- widths and places of whole packs, and what is beside them

// Rows of `width` that lie `shift` elements behind an aligned address, with a mark before and behind.
struct HalfRows {
  int64_t rows, width, shift;
  std::vector<uint16_t> storage;
  HalfRows(int64_t n, int64_t w, int64_t behind)
      : rows(n), width(w), shift(behind), storage(static_cast<size_t>(n * w + behind + 9), 7) {}
  uint16_t& at(int64_t row, int64_t column) { return storage[static_cast<size_t>(shift + row * width + column)]; }
  float value(int64_t row, int64_t column) { return float_of(at(row, column)); }
  DeviceCopy<uint16_t> on_device() { return {storage.data(), static_cast<int64_t>(storage.size()), shift}; }
  void count(float first) {
    for (int64_t i = 0; i < rows * width; ++i) at(i / width, i % width) = half_of(first + static_cast<float>(i % 251));
  }
  bool edges_untouched() {
    bool good = true;
    for (int64_t i = 0; i < shift; ++i) good = good && storage[static_cast<size_t>(i)] == 7;
    for (size_t i = storage.size() - 9; i < storage.size(); ++i) good = good && storage[i] == 7;
    return good;
  }
};

template <class T>
std::vector<std::byte*> pointers_to(const DeviceCopy<T>& rows, int64_t count, int64_t width) {
  std::vector<std::byte*> pointers;
  for (int64_t r = 0; r < count; ++r) pointers.push_back(bytes_at(rows + r * width));
  return pointers;
}

class KernelsWideRows : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {
 protected:
  int64_t width() const { return std::get<0>(GetParam()); }
  int64_t shift() const { return std::get<1>(GetParam()); }
};

TEST_P(KernelsWideRows, GatherKeepsHalves) {
  HalfRows from(4, width(), shift()), to(5, width(), shift());
  from.count(-20);
  const int32_t row_copy[] = {3, 0, 0, 2, 1};
  {
    const auto source = from.on_device(), target = to.on_device();
    const auto pointers = pointers_to(source, 4, width());
    gather_rows(5, width(), kHalf, dev(pointers), dev(row_copy), target);
  }
  for (int64_t r = 0; r < 5; ++r)
    for (int64_t c = 0; c < width(); ++c) ASSERT_EQ(to.at(r, c), from.at(row_copy[r], c)) << r << " " << c;
  EXPECT_TRUE(to.edges_untouched());
}

TEST_P(KernelsWideRows, GatherDenseKeepsHalves) {
  HalfRows from(4, width(), shift()), to(3, width(), 0);
  from.count(-20);
  const int64_t index[] = {2, 3, 2};
  gather_dense(3, width(), from.on_device(), dev(index), to.on_device());
  for (int64_t r = 0; r < 3; ++r)
    for (int64_t c = 0; c < width(); ++c) ASSERT_EQ(to.at(r, c), from.at(index[r], c)) << r << " " << c;
  EXPECT_TRUE(to.edges_untouched());
}

TEST_P(KernelsWideRows, CombineAddsHalvesInFloats) {
  HalfRows rows(4, width(), shift());
  rows.count(1);
  const int64_t first_tag[] = {0, 3, 4}, position[] = {2, 0, 3, -1};
  HalfRows halves(2, width(), shift());
  Floats floats(2 * width());
  {
    const auto source = rows.on_device(), out = halves.on_device();
    const auto targets = pointers_to(out, 2, width());
    combine_rows(2, width(), dev(first_tag), dev(position), source, kHalf, dev(targets));
    const auto wide = dev(floats);
    const auto places = pointers_to(wide, 2, width());
    combine_rows(2, width(), dev(first_tag), dev(position), source, kFloat, dev(places));
  }
  for (int64_t c = 0; c < width(); ++c) {
    const float want = (rows.value(2, c) + rows.value(0, c)) + rows.value(3, c);
    ASSERT_EQ(floats[c], want) << c;
    ASSERT_EQ(halves.at(0, c), half_of(want)) << c;
    ASSERT_EQ(floats[width() + c], 0) << c;
    ASSERT_EQ(halves.at(1, c), 0) << c;
  }
  EXPECT_TRUE(halves.edges_untouched() && floats.edges_untouched());
}

// Copies that lie at different distances from aligned addresses.
TEST_P(KernelsWideRows, SumOfCopiesThatLieDifferently) {
  HalfRows first(1, width(), shift()), second(1, width(), 0);
  first.count(3);
  second.count(9);
  Floats y(width(), 1);
  const Floats before = y;
  const int64_t copy[] = {0, 1};
  {
    const auto a = first.on_device(), b = second.on_device();
    const std::vector<std::byte*> pointers{bytes_at(a.get()), bytes_at(b.get())};
    sum_copies(1, width(), 2, dev(copy), kHalf, dev(pointers), true, dev(y), width());
  }
  for (int64_t c = 0; c < width(); ++c) ASSERT_EQ(y[c], (before[c] + first.value(0, c)) + second.value(0, c)) << c;
}

TEST_P(KernelsWideRows, LoadKeepsHalvesAndClearsMaskedOnes) {
  HalfRows from(3, width(), shift()), to(3, width(), 0);
  from.count(5);
  const std::vector<uint8_t> mask{1, 0, 1};
  {
    const auto source = from.on_device();
    load_rows(3, width(), kHalf, bytes_at(source.get()), width(), dev(mask), to.on_device(), width());
  }
  for (int64_t r = 0; r < 3; ++r)
    for (int64_t c = 0; c < width(); ++c) ASSERT_EQ(to.at(r, c), r == 1 ? 0 : from.at(r, c)) << r << " " << c;
  EXPECT_TRUE(to.edges_untouched());
}

INSTANTIATE_TEST_SUITE_P(Widths, KernelsWideRows,
                         testing::Combine(testing::Values(1, 8, 37, 512, 1032), testing::Values(0, 1, 4, 8)));

TEST(KernelsRows, EmptyInputs) {
  for (const Element element : {kFloat, kHalf}) {
    copy_rows(0, kWidth, element, nullptr, nullptr);
    gather_rows(0, kWidth, element, nullptr, nullptr, nullptr);
    combine_rows(0, kWidth, nullptr, nullptr, nullptr, element, nullptr);
    sum_copies(0, kWidth, 2, nullptr, element, nullptr, false, nullptr, kWidth);
    load_rows(0, kWidth, element, nullptr, kWidth, nullptr, nullptr, kWidth);
    store_rows(0, kWidth, nullptr, kWidth, element, nullptr, kWidth);
  }
  copy_masked(0, kWidth, nullptr, kWidth, nullptr, 0, nullptr, kWidth);
  add_rows(0, kWidth, nullptr, kWidth, nullptr, kWidth);
  segment_pointers(0, nullptr, nullptr, 4, nullptr);
  token_pointers(0, nullptr, nullptr, 1, nullptr);
}

}  // namespace
}  // namespace moemesh::kernels
