// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What kernels are made of, called from one. With CUDA this file goes through the device's compiler, and no other test does.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/detail.hpp"
#include "kernels/exponential.hpp"
#include "kernels/philox.hpp"
#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::dev;

// Functions of their own, since a lambda for the device may not be written within a test.
std::vector<float> exponentials(const std::vector<float>& x) {
  const auto n = static_cast<int64_t>(x.size());
  std::vector<float> result(x.size());
  const auto from = dev(x);
  const auto to = dev(result);
  const float* const in = from;
  float* const out = to;
  detail::for_each(
      "test::exponentials", n, KOKKOS_LAMBDA(int64_t i) { out[i] = detail::clamped_exp(in[i]); });
  to.fetch();
  return result;
}

struct Draw {
  detail::Words counter;
  uint32_t key0, key1;
  detail::Words want;
};

std::vector<detail::Words> drawn(const std::vector<Draw>& draws) {
  std::vector<detail::Words> result(draws.size());
  const auto from = dev(draws);
  const auto to = dev(result);
  const Draw* const in = from;
  detail::Words* const out = to;
  detail::for_each(
      "test::philox", static_cast<int64_t>(draws.size()),
      KOKKOS_LAMBDA(int64_t i) { out[i] = detail::philox(in[i].counter, in[i].key0, in[i].key1); });
  to.fetch();
  return result;
}

TEST(KernelsFunctions, Exponential) {
  std::vector<float> x;
  for (double value = -87; value <= 87; value += 0.00137) x.push_back(static_cast<float>(value));
  const std::vector<float> found = exponentials(x);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = std::exp(static_cast<double>(x[i]));
    worst = std::max(worst, std::abs(found[i] - want) / want);
  }
  EXPECT_LT(worst, 1.5e-7);
  const std::vector<float> edges = exponentials({0.0F, -0.0F, 1e30F, 87.0F, -test::kInf, -87.0F});
  EXPECT_EQ(edges[0], 1.0F);
  EXPECT_EQ(edges[1], 1.0F);
  EXPECT_EQ(edges[2], edges[3]);
  EXPECT_EQ(edges[4], edges[5]);
}

// Known answers of Philox4x32-10, as published with the generator.
TEST(KernelsFunctions, PhiloxKnownAnswers) {
  const uint32_t f = 0xffffffff;
  const std::vector<Draw> draws = {
      {{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{f, f, f, f}}, f, f, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       0xa4093822,
       0x299f31d0,
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  const std::vector<detail::Words> found = drawn(draws);
  for (size_t c = 0; c < draws.size(); ++c)
    for (int i = 0; i < 4; ++i) EXPECT_EQ(found[c].word[i], draws[c].want.word[i]);
}

}  // namespace
}  // namespace moemesh::kernels
