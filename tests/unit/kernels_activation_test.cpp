// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/activation.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <stdexcept>

#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::dev;
using test::dev_if;
using test::Floats;

double function_of(Activation kind, double x) {
  switch (kind) {
    case Activation::identity:
      return x;
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::gelu_erf:
    case Activation::geglu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::silu:
    case Activation::swiglu:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

double slope_of(Activation kind, double x) {
  return (function_of(kind, x + 1e-6) - function_of(kind, x - 1e-6)) / 2e-6;
}

double exact(Activation kind, double h, double hg) {
  return is_gated(kind) ? function_of(kind, hg) * h : function_of(kind, h);
}

class KernelsActivation : public testing::TestWithParam<Activation> {
 protected:
  static constexpr int64_t kRows = 7, kWidth = 301, kSize = kRows * kWidth;
  Activation kind() const { return GetParam(); }
  bool gated() const { return is_gated(kind()); }
  const Floats h{kSize, 1, -6, 6}, hg{kSize, 2, -6, 6}, gate = [] {
    Floats g(kRows, 3, 0.1f, 1);
    g[2] = 0;
    return g;
  }();
};

TEST_P(KernelsActivation, Forward) {
  for (bool with_gate : {false, true}) {
    Floats out(kSize);
    activate(kind(), kRows, kWidth, dev(h), dev_if(gated(), hg), dev_if(with_gate, gate), dev(out));
    for (int64_t i = 0; i < kSize; ++i) {
      const double want = (with_gate ? gate[i / kWidth] : 1.0) * exact(kind(), h[i], hg[i]);
      ASSERT_NEAR(out[i], want, 1e-6 + 1e-6 * std::abs(want)) << h[i] << " " << hg[i];
    }
    EXPECT_TRUE(out.edges_untouched());
  }
}

TEST_P(KernelsActivation, InPlace) {
  Floats out(kSize), same = h;
  activate(kind(), kRows, kWidth, dev(h), dev_if(gated(), hg), dev(gate), dev(out));
  {
    const auto place = dev(same);
    activate(kind(), kRows, kWidth, place, dev_if(gated(), hg), dev(gate), place);
  }
  EXPECT_TRUE(test::same_bits(out.data(), same.data(), kSize * sizeof(float)));
}

TEST_P(KernelsActivation, Backward) {
  const Floats upstream(kSize, 4);
  for (bool with_gate : {false, true}) {
    Floats da = upstream, dhg(kSize), gated_a(kSize), dgate(kRows);
    activate_backward(kind(), kRows, kWidth, dev(h), dev_if(gated(), hg), dev_if(with_gate, gate), dev(da),
                      dev_if(gated(), dhg), dev(gated_a), dev_if(with_gate, dgate));
    std::vector<double> want_dgate(kRows, 0.0);
    for (int64_t i = 0; i < kSize; ++i) {
      const double g = with_gate ? gate[i / kWidth] : 1.0, a = exact(kind(), h[i], hg[i]);
      const double outer = is_gated(kind()) ? function_of(kind(), hg[i]) : slope_of(kind(), h[i]);
      ASSERT_NEAR(da[i], g * upstream[i] * outer, 3e-6) << h[i] << " " << hg[i];
      if (is_gated(kind())) {
        ASSERT_NEAR(dhg[i], g * upstream[i] * h[i] * slope_of(kind(), hg[i]), 1e-5);
      }
      ASSERT_NEAR(gated_a[i], g * a, 1e-6 + 1e-6 * std::abs(a));
      want_dgate[i / kWidth] += upstream[i] * a;
    }
    for (int64_t r = 0; r < kRows; ++r) {
      if (with_gate) {
        EXPECT_NEAR(dgate[r], want_dgate[r], 1e-5 * kWidth);
      } else {
        EXPECT_TRUE(std::isnan(dgate[r]));
      }
    }
    EXPECT_TRUE(da.edges_untouched() && dhg.edges_untouched() && gated_a.edges_untouched() && dgate.edges_untouched());
  }
}

TEST_P(KernelsActivation, NanStaysNanAndLargeInputsStayFinite) {
  const float x[] = {test::kNan, 1e4f, -1e4f, 0}, one[] = {1, 1, 1, 1};
  float out[4], da[4] = {1, 1, 1, 1}, dhg[4], gated_a[4];
  const auto& input = gated() ? one : x;
  activate(kind(), 1, 4, dev(input), dev_if(gated(), x), nullptr, dev(out));
  activate_backward(kind(), 1, 4, dev(input), dev_if(gated(), x), nullptr, dev(da), dev(dhg), dev(gated_a), nullptr);
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(gated_a[0]));
  EXPECT_EQ(out[1], 1e4f);
  EXPECT_NEAR(out[2], kind() == Activation::identity ? -1e4 : 0, 1e-20);
  EXPECT_EQ(out[3], 0);
  const float* slope = gated() ? dhg : da;
  EXPECT_EQ(slope[1], 1);
  EXPECT_NEAR(slope[2], kind() == Activation::identity ? 1 : 0, 1e-20);
}

// Arrays of bf16: the same from what they hold, rounded at the end.
std::vector<uint16_t> halves_of(const Floats& values) {
  std::vector<uint16_t> halves;
  for (int64_t i = 0; i < values.size(); ++i) halves.push_back(test::half_of(values[i]));
  return halves;
}

Floats values_of(const std::vector<uint16_t>& halves) {
  Floats values(static_cast<int64_t>(halves.size()));
  for (int64_t i = 0; i < values.size(); ++i) values[i] = test::float_of(halves[static_cast<size_t>(i)]);
  return values;
}

void expect_rounded(const std::vector<uint16_t>& halves, const Floats& want) {
  for (int64_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(test::float_of(halves[static_cast<size_t>(i)]), want[i], std::abs(want[i]) / 256 + 1e-30) << i;
}

// A width of odd rows, and one of whole packs.
TEST_P(KernelsActivation, HalvesAreComputedInFloats) {
  for (const int64_t width : {int64_t{301}, int64_t{264}}) {
    const int64_t size = kRows * width;
    const auto h2 = halves_of(Floats(size, 11, -6, 6)), hg2 = halves_of(Floats(size, 12, -6, 6));
    const auto upstream = halves_of(Floats(size, 13));
    const Floats wide_h = values_of(h2), wide_hg = values_of(hg2);
    std::vector<uint16_t> out(h2.size()), da = upstream, dhg(h2.size()), gated_a(h2.size());
    Floats wide_out(size), wide_da = values_of(upstream), wide_dhg(size), wide_a(size), dgate(kRows), wide_dgate(kRows);
    activate(kind(), kRows, width, dev(h2), dev_if(gated(), hg2), dev(gate), dev(out));
    activate(kind(), kRows, width, dev(wide_h), dev_if(gated(), wide_hg), dev(gate), dev(wide_out));
    expect_rounded(out, wide_out);
    activate_backward(kind(), kRows, width, dev(h2), dev_if(gated(), hg2), dev(gate), dev(da), dev_if(gated(), dhg),
                      dev(gated_a), dev(dgate));
    activate_backward(kind(), kRows, width, dev(wide_h), dev_if(gated(), wide_hg), dev(gate), dev(wide_da),
                      dev_if(gated(), wide_dhg), dev(wide_a), dev(wide_dgate));
    expect_rounded(da, wide_da);
    expect_rounded(gated_a, wide_a);
    if (gated()) expect_rounded(dhg, wide_dhg);
    for (int64_t r = 0; r < kRows; ++r) EXPECT_FLOAT_EQ(dgate[r], wide_dgate[r]) << r;
  }
}

TEST_P(KernelsActivation, Empty) {
  activate(kind(), 0, 5, nullptr, nullptr, nullptr, nullptr);
  activate_backward(kind(), 0, 5, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  float dgate[2] = {test::kNan, test::kNan};
  activate_backward(kind(), 2, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, dev(dgate));
  EXPECT_EQ(dgate[0], 0);
  EXPECT_EQ(dgate[1], 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, KernelsActivation,
                         testing::Values(Activation::identity, Activation::relu, Activation::gelu_tanh,
                                         Activation::gelu_erf, Activation::silu, Activation::swiglu,
                                         Activation::geglu));

TEST(KernelsActivationRules, UnknownKindIsRefused) {
  EXPECT_THROW(activate(static_cast<Activation>(99), 1, 1, nullptr, nullptr, nullptr, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace moemesh::kernels
