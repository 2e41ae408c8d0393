// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/flat.hpp"
#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::counting;
using test::dev;
using test::Floats;

struct Element {
  double p, m, v;
};

Element exact_adamw(const AdamW& rule, double g, Element e) {
  g *= rule.coefficient;
  e.m = rule.beta1 * e.m + (1 - rule.beta1) * g;
  e.v = rule.beta2 * e.v + (1 - rule.beta2) * g * g;
  e.p -= rule.learning_rate * rule.weight_decay * e.p;
  const double m = e.m / (1 - std::pow(rule.beta1, rule.step)), v = e.v / (1 - std::pow(rule.beta2, rule.step));
  e.p -= rule.learning_rate * m / (std::sqrt(v) + rule.epsilon);
  return e;
}

TEST(KernelsUpdate, AdamWFollowsTheFormulaOverSteps) {
  const int64_t n = 5003;
  Floats p(n, 1), m(n), v(n);
  std::vector<Element> want(n);
  for (int64_t i = 0; i < n; ++i) {
    m[i] = v[i] = 0;
    want[i] = {p[i], 0, 0};
  }
  for (int64_t step = 1; step <= 5; ++step) {
    const AdamW rule = {1e-2, 0.9, 0.99, 1e-6, 0.1, step, 0.5f};
    const Floats g(n, static_cast<uint32_t>(10 + step), -2, 2);
    adamw(rule, n, dev(g), dev(p), dev(m), dev(v));
    for (int64_t i = 0; i < n; ++i) {
      want[i] = exact_adamw(rule, g[i], want[i]);
      ASSERT_NEAR(p[i], want[i].p, 4e-7) << step << " " << i;
      ASSERT_NEAR(m[i], want[i].m, 2e-7);
      ASSERT_NEAR(v[i], want[i].v, 2e-7);
    }
  }
  EXPECT_TRUE(p.edges_untouched() && m.edges_untouched() && v.edges_untouched());
}

// P21: an expert that saw no token in step 11.
TEST(KernelsUpdate, P21ZeroGradient) {
  for (const auto& [decay, want] : {std::pair{0.0, 0.9986271379}, std::pair{0.1, 0.9976271379}}) {
    float g = 0, p = 1, m = 0.1f, v = 0.01f;
    adamw({0.01, 0.9, 0.999, 1e-8, decay, 11, 1}, 1, dev(g), dev(p), dev(m), dev(v));
    EXPECT_NEAR(m, 0.09, 1e-8);
    EXPECT_NEAR(v, 0.00999, 1e-9);
    EXPECT_NEAR(p, want, 1e-7);
  }
}

void in_pieces(const AdamW& rule, int64_t n, int64_t size, const Floats& g, Floats& p, Floats& m, Floats& v) {
  const auto gradient = dev(g);
  const auto parameter = dev(p), moment1 = dev(m), moment2 = dev(v);
  for (int64_t at = 0; at < n; at += size)
    adamw(rule, std::min(size, n - at), gradient + at, parameter + at, moment1 + at, moment2 + at);
}

// P23: p = g = i, first step: every p falls by the learning rate. Shards of 3, 3, 3, 1 give the same bits as the whole.
TEST(KernelsUpdate, P23FirstStepAndSharding) {
  const AdamW rule = {0.1, 0.9, 0.999, 1e-8, 0, 1, 1};
  const Floats g = counting(10, 1);
  Floats whole = counting(10, 1), m(10), v(10), shards = whole, m2(10), v2(10);
  for (int64_t i = 0; i < 10; ++i) m[i] = v[i] = m2[i] = v2[i] = 0;
  EXPECT_NEAR(std::sqrt(test::squares(dev(g), 10)), 19.621417, 1e-6);
  adamw(rule, 10, dev(g), dev(whole), dev(m), dev(v));
  for (int64_t i = 0; i < 10; ++i) EXPECT_NEAR(whole[i], i + 0.9, 1e-7 * (i + 1)) << i;
  in_pieces(rule, 10, 3, g, shards, m2, v2);
  EXPECT_TRUE(test::same_bits(whole.data(), shards.data(), 40));
}

TEST(KernelsUpdate, BitsDoNotDependOnWhereAnElementLies) {
  const int64_t n = 9001;
  const AdamW rule = {1e-2, 0.9, 0.99, 1e-6, 0.1, 3, 0.7f};
  const Floats g(n, 1);
  Floats p(n, 2), m(n, 3), v(n, 4, 0, 1), p2 = p, m2 = m, v2 = v;
  adamw(rule, n, dev(g), dev(p), dev(m), dev(v));
  in_pieces(rule, n, 13, g, p2, m2, v2);
  EXPECT_TRUE(test::same_bits(p.data(), p2.data(), n * sizeof(float)));
  EXPECT_TRUE(test::same_bits(v.data(), v2.data(), n * sizeof(float)));
}

TEST(KernelsUpdate, SgdWithAndWithoutMomentum) {
  const int64_t n = 4099;
  const Floats g(n, 1), before(n, 2), moment_before(n, 3);
  Floats plain = before, p = before, m = moment_before;
  sgd({0.1, 0.9, 0.01, 0.5f}, n, dev(g), dev(plain), nullptr);
  sgd({0.1, 0.9, 0.01, 0.5f}, n, dev(g), dev(p), dev(m));
  for (int64_t i = 0; i < n; ++i) {
    const double moment = 0.9 * moment_before[i] + 0.5 * g[i];
    ASSERT_NEAR(plain[i], before[i] * (1 - 0.001) - 0.1 * 0.5 * g[i], 2e-7);
    ASSERT_NEAR(m[i], moment, 2e-7);
    ASSERT_NEAR(p[i], before[i] * (1 - 0.001) - 0.1 * moment, 2e-7);
  }
  EXPECT_TRUE(p.edges_untouched() && m.edges_untouched() && plain.edges_untouched());
}

TEST(KernelsUpdate, Empty) {
  adamw({1e-2, 0.9, 0.99, 1e-6, 0.1, 1, 1}, 0, nullptr, nullptr, nullptr, nullptr);
  sgd({0.1, 0, 0, 1}, 0, nullptr, nullptr, nullptr);
}

}  // namespace
}  // namespace moemesh::kernels
