// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "kernels/gemm_backend.hpp"
#include "unit/kernels_util.hpp"

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
  for (int64_t r = 0; r < few; ++r)
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
