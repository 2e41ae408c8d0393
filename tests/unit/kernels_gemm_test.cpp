// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "kernels/gemm_backend.hpp"
#include "unit/kernels_util.hpp"
#ifndef MOEMESH_DEVICE_CUDA
#include "kernels/gemm_tile.hpp"
#endif

namespace moemesh::kernels {
namespace {

using test::dev;
using test::Floats;
using test::kNan;

using Multiply = void (*)(const Gemm&);

double element(bool transposed, const Floats& x, int64_t ld, int64_t row, int64_t col) {
  return transposed ? x[col * ld + row] : x[row * ld + col];
}

// Strides are wider than the rows; what lies between rows is NaN and must neither be read nor written.
Floats padded(int64_t rows, int64_t cols, int64_t ld, uint32_t seed) {
  const Floats dense(rows * cols, seed);
  Floats x(rows * ld);
  for (int64_t i = 0; i < rows * cols; ++i) x[i / cols * ld + i % cols] = dense[i];
  return x;
}

void check(Multiply multiply, bool ta, bool tb, int64_t m, int64_t n, int64_t k, bool accumulate) {
  SCOPED_TRACE(testing::Message() << "ta " << ta << " tb " << tb << " m " << m << " n " << n << " k " << k << " acc "
                                  << accumulate);
  const int64_t lda = (ta ? m : k) + 3, ldb = (tb ? k : n) + 2, ldc = n + 5;
  const Floats a = padded(ta ? k : m, ta ? m : k, lda, 1), b = padded(tb ? n : k, tb ? k : n, ldb, 2);
  const Floats before = padded(m, n, ldc, 3);
  Floats c(m * ldc);
  if (accumulate) c = before;
  multiply({ta, tb, m, n, k, dev(a), lda, dev(b), ldb, dev(c), ldc, accumulate});
  double worst = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = accumulate ? before[i * ldc + j] : 0;
      for (int64_t l = 0; l < k; ++l) sum += element(ta, a, lda, i, l) * element(tb, b, ldb, l, j);
      const double error = std::abs(c[i * ldc + j] - sum);
      worst = std::isnan(error) ? 1 : std::max(worst, error);
    }
    for (int64_t j = n; j < ldc; ++j) EXPECT_TRUE(std::isnan(c[i * ldc + j]));
  }
  EXPECT_LT(worst, 2e-6 * std::sqrt(k + 1.0));
  EXPECT_TRUE(c.edges_untouched());
}

class GemmTest : public testing::TestWithParam<std::tuple<const char*, Multiply>> {};

TEST_P(GemmTest, AgreesWithADoubleLoop) {
  const Multiply multiply = std::get<1>(GetParam());
  const int64_t sizes[][3] = {{1, 1, 1},   {1, 7, 5},    {3, 1, 2},     {5, 17, 9},     {64, 64, 64},
                              {65, 63, 3}, {2, 130, 67}, {70, 66, 129}, {128, 96, 257}, {1, 64, 300}};
  for (const auto& [m, n, k] : sizes) {
    for (int mode = 0; mode < 8; ++mode) check(multiply, mode & 1, mode & 2, m, n, k, mode & 4);
  }
}

std::vector<std::tuple<const char*, Multiply>> backends() {
  std::vector<std::tuple<const char*, Multiply>> all = {{"chosen", gemm}, {"portable", detail::gemm_portable}};
#ifdef MOEMESH_HAVE_ONEDNN
  all.push_back({"onednn", [](const Gemm& product) {
                   const detail::Unlocked access;
                   detail::gemm_onednn(product);
                 }});
#endif
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kernels, GemmTest, testing::ValuesIn(backends()),
                         [](const auto& info) { return std::string(std::get<0>(info.param)); });

TEST(KernelsGemm, EmptyProducts) {
  Floats c(12);
  gemm({.m = 0, .n = 4, .k = 2, .c = dev(c), .ldc = 4});
  gemm({.m = 3, .n = 0, .k = 2, .c = dev(c), .ldc = 4});
  gemm({.m = 3, .n = 4, .k = 0, .c = dev(c), .ldc = 4, .accumulate = true});
  for (int64_t i = 0; i < 12; ++i) EXPECT_TRUE(std::isnan(c[i]));
  gemm({.m = 3, .n = 2, .k = 0, .c = dev(c), .ldc = 4});
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(c[i] == 0, i % 4 < 2) << i;
}

TEST(KernelsGemm, PortableBitsDoNotDependOnTheOtherRows) {
  const int64_t m = 150, n = 70, k = 130;
  const Floats left(m * k, 4), right(k * n, 5);
  const auto a = dev(left), b = dev(right);
  Floats whole(m * n), single(n);
  detail::gemm_portable({false, false, m, n, k, a, k, b, n, dev(whole), n, false});
  for (int64_t i : {int64_t{0}, int64_t{63}, int64_t{64}, int64_t{149}}) {
    detail::gemm_portable({false, false, 1, n, k, a + i * k, k, b, n, dev(single), n, false});
    EXPECT_TRUE(test::same_bits(single.data(), whole.data() + i * n, n * sizeof(float))) << i;
  }
}

void row_stable(const Gemm& product) {
  std::vector<float> scratch(static_cast<size_t>(stable_workspace(product.n, product.k)), kNan);
  gemm_row_stable(product, dev(scratch));
}

TEST(KernelsGemm, RowStableProductsAgreeWithADoubleLoop) {
  const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {24, 530, 9}, {241, 17, 33}, {500, 40, 70}};
  for (const auto& [m, n, k] : sizes)
    for (int mode = 0; mode < 4; ++mode) check(row_stable, false, mode & 1, m, n, k, mode & 2);
}

// A property of the machine's matrix library: each row's bits are the same in a product of any number of rows, at any place,
// and so are they from call to call.
void expect_row_stable(bool transpose_b, int64_t n, int64_t k, bool accumulate) {
  SCOPED_TRACE(testing::Message() << "transposed " << transpose_b << " n " << n << " k " << k << " add " << accumulate);
  constexpr int64_t most = 520;
  const Floats left(most * k, 31), right(n * k, 32), before(most * n, 33);
  const auto a = dev(left), b = dev(right);
  const auto rows = [&](int64_t first, int64_t count) {
    Floats c(count * n);
    for (int64_t i = 0; i < count * n; ++i) c[i] = before[first * n + i];
    row_stable({.transpose_b = transpose_b,
                .m = count,
                .n = n,
                .k = k,
                .a = a + first * k,
                .lda = k,
                .b = b,
                .ldb = transpose_b ? k : n,
                .c = dev(c),
                .ldc = n,
                .accumulate = accumulate});
    return c;
  };
  const Floats whole = rows(0, most);
#ifdef MOEMESH_HAVE_ONEDNN
  // Nor on the pool's threads: the first tile by one thread alone.
  constexpr int64_t few = 24;
  Floats alone(few * n);
  for (int64_t i = 0; i < few * n; ++i) alone[i] = before[i];
  Gemm tile{.transpose_b = transpose_b, .m = few, .n = std::min<int64_t>(n, 512), .k = k, .a = a, .lda = k};
  tile.b = b;
  tile.ldb = transpose_b ? k : n;
  const auto rows_alone = dev(alone);
  tile.c = rows_alone;
  tile.ldc = n;
  tile.accumulate = accumulate;
  {
    const detail::Unlocked access;
    ASSERT_TRUE(detail::gemm_onednn_alone(tile));
  }
  rows_alone.fetch();
  const bool same_code = maker_of(tile, {alone.data()}) == Maker::library_tiles;
  for (int64_t r = 0; same_code && r < few; ++r)
    EXPECT_TRUE(test::same_bits(alone.data() + r * n, whole.data() + r * n, tile.n * 4)) << r;
#endif
  for (const int64_t count : {1, 2, 3, 5, 11, 12, 13, 23, 24, 25, 47, 100, 239, 240, 241, 263, 383, 384, 385, 511})
    for (const int64_t first : {int64_t{1}, most - count}) {
      const Floats part = rows(first, count);
      EXPECT_TRUE(test::same_bits(part.data(), whole.data() + first * n, count * n * 4)) << first << " " << count;
    }
}

TEST(KernelsGemm, RowStableBitsDoNotDependOnTheOtherRows) {
  for (const bool transposed : {false, true})
    for (const auto& [n, k] : {std::pair<int64_t, int64_t>{70, 130}, {96, 1100}, {1025, 64}, {7, 3}, {16, 4096}})
      expect_row_stable(transposed, n, k, k == 130);
}

// Groups of 3, 0, 5 and 1 rows.
struct Grouped {
  static constexpr int64_t count = 4, rows = 9, n = 6, k = 11;
  const std::vector<int64_t> offsets = {0, 3, 3, 8, 9};
  const Groups groups = {count, offsets.data()};
  int64_t group_of(int64_t row) const { return row < 3 ? 0 : row < 8 ? 2 : 3; }
};

// ---- bf16

// The operands as they are stored, and their values.
struct Halves {
  std::vector<uint16_t> stored;
  Floats values;
  Halves(int64_t n, uint32_t seed) : values(n, seed) {
    for (int64_t i = 0; i < n; ++i) {
      stored.push_back(test::half_of(values[i]));
      values[i] = test::float_of(stored.back());
    }
  }
};

// Every maker that this machine has for these elements.
std::vector<Maker> makers_of(const Gemm& product) {
  std::vector<Maker> makers = {Maker::portable};
  if (maker_of(product) != Maker::portable) makers.push_back(maker_of(product));
  return makers;
}

double want_of(const Gemm& p, const Floats& a, const Floats& b, double before, int64_t i, int64_t j) {
  double sum = p.accumulate ? before : 0;
  for (int64_t l = 0; l < p.k; ++l)
    sum += element(p.transpose_a, a, p.lda, i, l) * element(p.transpose_b, b, p.ldb, l, j);
  return sum;
}

// C in fp32 has the error of sums in fp32; in bf16 that of one rounding besides.
void check_halves(Gemm p, Element out) {
  SCOPED_TRACE(testing::Message() << "ta " << p.transpose_a << " tb " << p.transpose_b << " m " << p.m << " n " << p.n
                                  << " k " << p.k << " acc " << p.accumulate << " to " << static_cast<int>(out));
  p.lda = p.transpose_a ? p.m : p.k;
  p.ldb = p.transpose_b ? p.k : p.n;
  p.ldc = p.n;
  const Halves a(p.m * p.k, 21), b(p.k * p.n, 22), before(p.m * p.n, 23);
  const auto left = dev(a.stored), right = dev(b.stored);
  p.a = left;
  p.b = right;
  for (const Maker maker : makers_of(p)) {
    Floats wide = before.values;
    std::vector<uint16_t> narrow = before.stored;
    {
      const auto floats = dev(wide);
      const auto halves = dev(narrow);
      if (out == Element::float32)
        p.c = floats;
      else
        p.c = halves;
      detail::make_by(maker, p);
    }
    const bool half = out == Element::bfloat16;
    for (int64_t i = 0; i < p.m * p.n; ++i) {
      const double want = want_of(p, a.values, b.values, before.values[i], i / p.n, i % p.n);
      const double got = half ? test::float_of(narrow[i]) : wide[i];
      ASSERT_NEAR(got, want, 2e-6 * std::sqrt(p.k + 1.0) + (half ? std::abs(want) / 256 : 0)) << name_of(maker) << i;
    }
  }
}

TEST(KernelsGemm, HalfProductsAgreeWithADoubleLoop) {
  const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {64, 64, 64}, {65, 130, 67}, {8, 16, 300}};
  for (const auto& [m, n, k] : sizes)
    for (int mode = 0; mode < 8; ++mode)
      for (const Element out : {Element::float32, Element::bfloat16})
        check_halves({.transpose_a = (mode & 1) != 0,
                      .transpose_b = (mode & 2) != 0,
                      .m = m,
                      .n = n,
                      .k = k,
                      .accumulate = (mode & 4) != 0},
                     out);
}

// Sums of 256 and 300 ones: each exact in fp32, the second between two numbers of bf16. One at a time in bf16 both would stay
// at 256.
TEST(KernelsGemm, HalfProductsAreRoundedOnce) {
  constexpr int64_t k = 301;
  const std::vector<uint16_t> ones(k, test::half_of(1));
  std::vector<uint16_t> c(1);
  gemm({.m = 1, .n = 1, .k = k, .a = dev(ones), .lda = k, .b = dev(ones), .ldb = 1, .c = dev(c), .ldc = 1});
  EXPECT_EQ(c[0], test::half_of(301));
}

TEST(KernelsGemm, ElementsThatDoNotFitAreRefused) {
  Floats floats(4, 1);
  std::vector<uint16_t> halves(4);
  const Gemm square{.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2};
  const auto f = dev(floats);
  const auto h = dev(halves);
  Gemm mixed = square;
  mixed.a = f;
  mixed.b = h;
  mixed.c = f;
  EXPECT_THROW(gemm(mixed), std::invalid_argument);
  mixed.b = f;
  mixed.c = h;
  EXPECT_THROW(gemm(mixed), std::invalid_argument);
}

#ifndef MOEMESH_DEVICE_CUDA  // there the other tests have it
// The device's portable product, all of whose threads are this one.
template <class In, class Out>
void multiply_by_tiles(const detail::Product<In, Out>& p) {
  using detail::Tile;
  detail::Tile tile;
  std::vector<detail::Sums> sums(Tile::threads);
  for (int64_t row = 0; row < p.m; row += Tile::rows)
    for (int64_t col = 0; col < p.n; col += Tile::cols) {
      for (int t = 0; t < Tile::threads; ++t) sums[t] = detail::first_sums(p, row, col, t);
      for (int64_t piece = 0; piece < p.k; piece += Tile::depth) {
        for (int t = 0; t < Tile::threads; ++t) detail::load_tile(p, row, col, piece, t, tile);
        for (int t = 0; t < Tile::threads; ++t) detail::add_tile(tile, t, sums[t]);
      }
      for (int t = 0; t < Tile::threads; ++t) detail::store_sums(p, row, col, t, sums[t]);
    }
}

void gemm_by_tiles(const Gemm& g) {
  multiply_by_tiles(detail::Product<float, float>{g.m, g.n, g.k, g.a.as<float>(), g.transpose_a ? 1 : g.lda,
                                                  g.transpose_a ? g.lda : 1, g.b.as<float>(), g.transpose_b ? 1 : g.ldb,
                                                  g.transpose_b ? g.ldb : 1, g.c.as<float>(), g.ldc, g.accumulate});
}

TEST(KernelsGemm, TilesAgreeWithADoubleLoop) {
  if (separate_memory) GTEST_SKIP() << "the host makes this product itself";
  const int64_t sizes[][3] = {{1, 1, 1}, {5, 17, 9}, {64, 64, 64}, {65, 63, 3}, {2, 130, 67}, {70, 66, 129}};
  for (const auto& [m, n, k] : sizes)
    for (int mode = 0; mode < 8; ++mode) check(gemm_by_tiles, mode & 1, mode & 2, m, n, k, mode & 4);
}

TEST(KernelsGemm, HalfTilesAgreeWithThePortableLoop) {
  if (separate_memory) GTEST_SKIP() << "the host makes this product itself";
  constexpr int64_t m = 70, n = 66, k = 40;
  const Halves a(m * k, 1), b(k * n, 2);
  std::vector<uint16_t> tiles(m * n), loop(m * n);
  multiply_by_tiles(detail::Product<uint16_t, uint16_t>{m, n, k, a.stored.data(), k, 1, b.stored.data(), n, 1,
                                                        tiles.data(), n, false});
  detail::gemm_portable({.m = m,
                         .n = n,
                         .k = k,
                         .a = a.stored.data(),
                         .lda = k,
                         .b = b.stored.data(),
                         .ldb = n,
                         .c = loop.data(),
                         .ldc = n});
  for (int64_t i = 0; i < m * n; ++i)
    ASSERT_NEAR(test::float_of(tiles[i]), test::float_of(loop[i]), std::abs(test::float_of(loop[i])) / 128 + 1e-6) << i;
}
#endif

// ---- groups

Weights as_weights(const float* weights) { return {reinterpret_cast<const std::byte*>(weights)}; }

// The same product from bf16 weights and from their values in fp32.
TEST(KernelsGemm, HalfWeightsAreWidened) {
  const Grouped g;
  const Floats in(g.rows * g.k, 6), drawn(g.count * g.n * g.k, 7);
  std::vector<uint16_t> half(g.count * g.n * g.k);
  Floats values(g.count * g.n * g.k), scratch(g.n * g.k);
  for (size_t i = 0; i < half.size(); ++i) {
    half[i] = test::half_of(drawn[i]);
    values[i] = test::float_of(half[i]);
  }
  const auto stored = dev(half);
  const auto place = dev(scratch);
  const Weights weights{reinterpret_cast<const std::byte*>(stored.get()), Element::bfloat16, place};
  Floats out(g.rows * g.n), expected(g.rows * g.n);
  grouped_rows_times_transposed(g.groups, g.n, g.k, dev(in), weights, dev(out));
  grouped_rows_times_transposed(g.groups, g.n, g.k, dev(in), as_weights(dev(values)), dev(expected));
  EXPECT_TRUE(test::same_bits(out.data(), expected.data(), g.rows * g.n * sizeof(float)));
  EXPECT_EQ(widened(weights, 2, g.n * g.k), place.get());
  place.fetch();
  EXPECT_EQ(scratch[3], values[2 * g.n * g.k + 3]);
}

TEST(KernelsGemm, GroupedForward) {
  const Grouped g;
  const Floats in(g.rows * g.k, 6), weights(g.count * g.n * g.k, 7);
  Floats out(g.rows * g.n);
  grouped_rows_times_transposed(g.groups, g.n, g.k, dev(in), as_weights(dev(weights)), dev(out));
  for (int64_t r = 0; r < g.rows; ++r) {
    for (int64_t j = 0; j < g.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < g.k; ++l) sum += double{in[r * g.k + l]} * weights[(g.group_of(r) * g.n + j) * g.k + l];
      EXPECT_NEAR(out[r * g.n + j], sum, 1e-5);
    }
  }
}

TEST(KernelsGemm, GroupedBackwardOverwritesOrAdds) {
  const Grouped g;
  const Floats in(g.rows * g.k, 8), weights(g.count * g.n * g.k, 9);
  Floats out(g.rows * g.n);
  for (int times = 1; times <= 2; ++times) {
    grouped_rows_times(g.groups, g.n, g.k, dev(in), as_weights(dev(weights)), dev(out), times == 2);
    for (int64_t r = 0; r < g.rows; ++r) {
      for (int64_t j = 0; j < g.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < g.k; ++l) sum += double{in[r * g.k + l]} * weights[(g.group_of(r) * g.k + l) * g.n + j];
        EXPECT_NEAR(out[r * g.n + j], times * sum, 2e-5);
      }
    }
  }
}

TEST(KernelsGemm, GroupedWeightGradientAddsAndLeavesEmptyGroups) {
  const Grouped g;
  const int64_t m = 5;
  const Floats left(g.rows * m, 10), right(g.rows * g.n, 11);
  Floats gradient(g.count * m * g.n, 12);
  const Floats before = gradient;
  grouped_weight_gradient(g.groups, m, g.n, dev(left), dev(right), dev(gradient));
  for (int64_t i = 0; i < gradient.size(); ++i) {
    const int64_t group = i / (m * g.n), row = i / g.n % m, col = i % g.n;
    double sum = before[i];
    for (int64_t r = g.offsets[group]; r < g.offsets[group + 1]; ++r)
      sum += double{left[r * m + row]} * right[r * g.n + col];
    if (group == 1) {
      EXPECT_EQ(gradient[i], before[i]);
    } else {
      EXPECT_NEAR(gradient[i], sum, 1e-5);
    }
  }
}

// The groups' rows may begin anywhere in a longer list: their arrays begin with the first group's.
TEST(KernelsGemm, GroupsAreCountedFromTheFirst) {
  const Grouped g;
  const std::vector<int64_t> later = {40, 43, 43, 48, 49};
  const Floats in(g.rows * g.k, 6), weights(g.count * g.n * g.k, 7);
  Floats out(g.rows * g.n), expected(g.rows * g.n);
  grouped_rows_times_transposed({g.count, later.data()}, g.n, g.k, dev(in), as_weights(dev(weights)), dev(out));
  grouped_rows_times_transposed(g.groups, g.n, g.k, dev(in), as_weights(dev(weights)), dev(expected));
  EXPECT_TRUE(test::same_bits(out.data(), expected.data(), g.rows * g.n * sizeof(float)));
}

// Groups of 40, 0, 8 and 16 rows of bf16, of widths that every library's calls take.
struct HalfGroups {
  static constexpr int64_t count = 4, rows = 64, n = 24, k = 32;
  const std::vector<int64_t> offsets = {0, 40, 40, 48, 64};
  const Groups groups = {count, offsets.data()};
  int64_t group_of(int64_t row) const { return row < 40 ? 0 : row < 48 ? 2 : 3; }
  const Halves in{rows * k, 51}, matrices{count * n * k, 52}, other{rows * n, 53};
};

double half_groups_want(const HalfGroups& g, bool transposed, int64_t row, int64_t col) {
  const int64_t first = g.group_of(row) * g.n * g.k;
  double sum = 0;
  for (int64_t l = 0; l < g.k; ++l)
    sum += double{g.in.values[row * g.k + l]} * g.matrices.values[first + (transposed ? col * g.k + l : l * g.n + col)];
  return sum;
}

// Rows of bf16 through each function, to bf16 and to fp32.
TEST(KernelsGemm, HalfGroupsAgreeWithADoubleLoop) {
  const HalfGroups g;
  const auto in = dev(g.in.stored);
  const auto stored = dev(g.matrices.stored);
  const Weights weights{reinterpret_cast<const std::byte*>(stored.get()), Element::bfloat16};
  for (const bool transposed : {false, true}) {
    std::vector<uint16_t> halves(g.rows * g.n);
    Floats floats(g.rows * g.n);
    const auto multiply = [&](const Array& out) {
      if (transposed)
        grouped_rows_times_transposed(g.groups, g.n, g.k, in, weights, out);
      else
        grouped_rows_times(g.groups, g.n, g.k, in, weights, out, false);
    };
    multiply(dev(halves));
    multiply(dev(floats));
    for (int64_t i = 0; i < g.rows * g.n; ++i) {
      const double want = half_groups_want(g, transposed, i / g.n, i % g.n);
      ASSERT_NEAR(floats[i], want, 1e-5);
      ASSERT_NEAR(test::float_of(halves[i]), want, 1e-5 + std::abs(want) / 256);
    }
  }
}

TEST(KernelsGemm, HalfWeightGradientsAddInFloats) {
  const HalfGroups g;
  Floats gradient(g.count * g.k * g.n, 54);
  const Floats before = gradient;
  grouped_weight_gradient(g.groups, g.k, g.n, dev(g.in.stored), dev(g.other.stored), dev(gradient));
  for (int64_t i = 0; i < gradient.size(); ++i) {
    const int64_t group = i / (g.k * g.n), row = i / g.n % g.k, col = i % g.n;
    double sum = before[i];
    for (int64_t r = g.offsets[group]; r < g.offsets[group + 1]; ++r)
      sum += double{g.in.values[r * g.k + row]} * g.other.values[r * g.n + col];
    ASSERT_NEAR(gradient[i], sum, 1e-5) << i;
  }
}

// All makers that these groups can have give the double loop's numbers. Vectors, which lie as the library's grouped call likes
// it.
void check_makers(const ConstArray& in, const ConstArray& matrices, const HalfGroups& g) {
  std::vector<float> out(g.rows * g.n);
  std::vector<uint16_t> narrow(g.rows * g.n);
  const auto wide = dev(out);
  const auto halves = dev(narrow);
  const bool half = in.element == Element::bfloat16;
  GroupedGemm product{{.transpose_b = true, .m = g.rows, .n = g.n, .k = g.k, .a = in, .lda = g.k, .b = matrices}};
  product.first.ldb = g.k;
  product.first.ldc = g.n;
  if (half)
    product.first.c = halves;
  else
    product.first.c = wide;
  std::vector<Maker> makers = makers_of(product.first);
  if (maker_of(g.groups, product) == Maker::library_grouped) makers.push_back(Maker::library_grouped);
#ifdef MOEMESH_DEVICE_CUDA
  if (!detail::told_in_tests("portable") && !detail::told_in_tests("loop"))
    EXPECT_EQ(makers.back(), Maker::library_grouped) << name_of(makers.back());
#endif
  for (const Maker maker : makers) {
    detail::make_by(maker, g.groups, product);
    wide.fetch();
    halves.fetch();
    for (int64_t i = 0; i < g.rows * g.n; ++i) {
      const double want = half_groups_want(g, true, i / g.n, i % g.n);
      ASSERT_NEAR(half ? test::float_of(narrow[i]) : out[i], want, 1e-5 + (half ? std::abs(want) / 256 : 0))
          << name_of(maker);
    }
  }
}

TEST(KernelsGemm, EveryMakerOfGroupsAgrees) {
  const HalfGroups g;
  check_makers(dev(g.in.stored), dev(g.matrices.stored), g);
  const auto floats = [](const Floats& values) {
    return std::vector<float>(values.data(), values.data() + values.size());
  };
  const auto in = floats(g.in.values), matrices = floats(g.matrices.values);
  check_makers(dev(in), dev(matrices), g);
}

// What is said of a product is what this build can do.
TEST(KernelsGemm, MakersAreToldAsTheyAre) {
  const Floats in(64, 1);
  const Halves halves(64, 1);
  const auto floats = dev(in);
  const auto stored = dev(halves.stored);
  Gemm of_floats{.m = 8, .n = 8, .k = 8, .a = floats, .lda = 8, .b = floats, .ldb = 8}, of_halves = of_floats;
  of_halves.a = of_halves.b = stored;
  float scratch = 0;
  const bool forced = detail::told_in_tests("portable");
#if defined(MOEMESH_DEVICE_CUDA)
  EXPECT_EQ(maker_of(of_floats), forced ? Maker::portable : Maker::library);
  EXPECT_EQ(maker_of(of_halves), forced ? Maker::portable : Maker::library);
  EXPECT_EQ(maker_of(of_floats, {&scratch}), Maker::portable);
#elif defined(MOEMESH_HAVE_ONEDNN)
  EXPECT_EQ(maker_of(of_floats), forced ? Maker::portable : Maker::library);
  EXPECT_EQ(maker_of(of_floats, {&scratch}), forced ? Maker::portable : Maker::library_tiles);
  EXPECT_EQ(maker_of(of_halves), Maker::portable);
#else
  (void)forced;
  EXPECT_EQ(maker_of(of_floats), Maker::portable);
  EXPECT_EQ(maker_of(of_halves, {&scratch}), Maker::portable);
#endif
  Floats c(64);
  of_halves.c = dev(c).get();
  EXPECT_THROW(detail::make_by(static_cast<Maker>(99), of_halves), std::invalid_argument);
}

TEST(KernelsGemm, LibraryIsNamed) {
#if defined(MOEMESH_DEVICE_CUDA)
  EXPECT_EQ(std::string(gemm_library()).rfind("cuBLAS ", 0), 0u) << gemm_library();
#elif defined(MOEMESH_HAVE_ONEDNN)
  EXPECT_EQ(std::string(gemm_library()).rfind("oneDNN ", 0), 0u) << gemm_library();
#else
  EXPECT_STREQ(gemm_library(), "Kokkos");
#endif
}

}  // namespace
}  // namespace moemesh::kernels
