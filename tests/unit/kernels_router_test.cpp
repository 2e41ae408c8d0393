// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::dev;
using test::dev_if;
using test::Floats;
using test::kInf;
using test::kNan;

struct Decision {
  RouteSummary summary;
  std::vector<int32_t> chosen;
  std::vector<float> gates;
};

Decision routed(const RouterConfig& config, const std::vector<float>& logits, const std::vector<uint8_t>& mask = {}) {
  const int64_t tokens = static_cast<int64_t>(logits.size()) / config.experts;
  Decision d{{}, std::vector<int32_t>(tokens * config.top_k, -77), std::vector<float>(tokens * config.top_k, kNan)};
  d.summary =
      route(config, tokens, dev(logits), config.experts, dev_if(!mask.empty(), mask), 1, dev(d.chosen), dev(d.gates));
  return d;
}

std::vector<float> gradient(const RouterConfig& config, const std::vector<float>& logits,
                            const std::vector<int32_t>& chosen, const std::vector<float>& dgates) {
  std::vector<float> dlogits(logits.size(), kNan);
  route_backward(config, static_cast<int64_t>(logits.size()) / config.experts, dev(logits), config.experts, dev(chosen),
                 dev(dgates), dev(dlogits));
  return dlogits;
}

// The formulas in fp64, for one token and a given choice.
std::vector<double> exact_gates(const RouterConfig& config, const std::vector<double>& logits,
                                const std::vector<int32_t>& chosen) {
  std::vector<double> score, gates;
  double all = 0, kept = 0, exponentials = 0;
  for (double l : logits) score.push_back(config.score == Score::softmax ? std::exp(l) : 1 / (1 + std::exp(-l)));
  for (double s : score) all += s;
  for (int32_t e : chosen) {
    kept += score[e];
    exponentials += std::exp(logits[e]);
  }
  for (int32_t e : chosen) {
    const double raw = config.score == Score::softmax ? score[e] / all : score[e];
    const double gate = config.gate == Gate::raw      ? raw
                        : config.gate == Gate::renorm ? score[e] / kept
                                                      : std::exp(logits[e]) / exponentials;
    gates.push_back(gate * config.gate_scale);
  }
  return gates;
}

class KernelsRouter : public testing::TestWithParam<std::tuple<Score, Gate>> {
 protected:
  RouterConfig config(int64_t experts, int32_t k) const {
    return {experts, k, std::get<0>(GetParam()), std::get<1>(GetParam()), 2.5f};
  }
};

std::vector<float> random_logits(int64_t n, uint32_t seed, float range = 3) {
  const Floats f(n, seed, -range, range);
  return std::vector<float>(f.data(), f.data() + n);
}

TEST_P(KernelsRouter, ChoosesTheBestAndGatesFollowTheFormula) {
  for (const auto& [experts, k] :
       std::vector<std::pair<int64_t, int32_t>>{{1, 1}, {5, 2}, {8, 8}, {64, 4}, {1500, 40}}) {
    const int64_t tokens = 20;
    const std::vector<float> logits = random_logits(tokens * experts, 3);
    const RouterConfig c = config(experts, k);
    const Decision d = routed(c, logits);
    EXPECT_EQ(d.summary.routed, tokens);
    EXPECT_EQ(d.summary.nonfinite, 0);
    EXPECT_EQ(d.summary.first_nonfinite, -1);
    for (int64_t t = 0; t < tokens; ++t) {
      const std::vector<double> row(logits.begin() + t * experts, logits.begin() + (t + 1) * experts);
      std::vector<int32_t> order(experts);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
      order.resize(k);
      const std::vector<int32_t> chosen(d.chosen.begin() + t * k, d.chosen.begin() + (t + 1) * k);
      EXPECT_EQ(chosen, order);
      const std::vector<double> gates = exact_gates(c, row, order);
      for (int32_t j = 0; j < k; ++j) EXPECT_NEAR(d.gates[t * k + j], gates[j], 2e-6 * gates[0]);
    }
  }
}

// By score plus bias; -inf logits stay out whatever their bias; a gate is what it is without a bias.
TEST_P(KernelsRouter, BiasMovesTheChoiceAndNoGate) {
  const int64_t experts = 7, tokens = 30;
  std::vector<float> logits = random_logits(tokens * experts, 8);
  for (int64_t t = 0; t < tokens; t += 3) logits[t * experts + 2] = -kInf;
  const std::vector<float> bias{0, -0.3f, 2, 0.1f, 0.25f, -0.05f, 0.02f};
  RouterConfig c = config(experts, 3);
  const Decision plain = routed(c, logits);
  const auto on_device = dev(bias);
  c.bias = on_device;
  const Decision d = routed(c, logits);
  EXPECT_NE(d.chosen, plain.chosen);
  for (int64_t t = 0; t < tokens; ++t) {
    const std::vector<double> row(logits.begin() + t * experts, logits.begin() + (t + 1) * experts);
    double sum = 0;
    for (const double l : row) sum += std::exp(l);
    std::vector<double> compared(experts);
    for (int64_t e = 0; e < experts; ++e)
      compared[e] = (c.score == Score::softmax ? std::exp(row[e]) / sum : 1 / (1 + std::exp(-row[e]))) + bias[e];
    if (t % 3 == 0) compared[2] = -1e9;
    std::vector<int32_t> order(experts);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return compared[a] > compared[b]; });
    order.resize(3);
    EXPECT_EQ(std::vector<int32_t>(d.chosen.begin() + t * 3, d.chosen.begin() + (t + 1) * 3), order) << t;
    const std::vector<double> gates = exact_gates(c, row, order);
    for (int32_t j = 0; j < 3; ++j) EXPECT_NEAR(d.gates[t * 3 + j], gates[j], 2e-6 * 2.5) << t;
  }
}

// Central differences of the formula in fp64, for a loss that is linear in the gates.
TEST_P(KernelsRouter, GradientAgreesWithFiniteDifferences) {
  const int64_t experts = 9, tokens = 12;
  for (int32_t k : {1, 3, 9}) {
    const RouterConfig c = config(experts, k);
    const std::vector<float> logits = random_logits(tokens * experts, 4), dgates = random_logits(tokens * k, 5);
    const Decision d = routed(c, logits);
    const std::vector<float> got = gradient(c, logits, d.chosen, dgates);
    for (int64_t i = 0; i < tokens * experts; ++i) {
      const int64_t t = i / experts;
      const std::vector<int32_t> chosen(d.chosen.begin() + t * k, d.chosen.begin() + (t + 1) * k);
      double loss[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<double> row(logits.begin() + t * experts, logits.begin() + (t + 1) * experts);
        row[i % experts] += side == 0 ? -1e-5 : 1e-5;
        const std::vector<double> gates = exact_gates(c, row, chosen);
        loss[side] = std::inner_product(gates.begin(), gates.end(), dgates.begin() + t * k, 0.0);
      }
      EXPECT_NEAR(got[i], (loss[1] - loss[0]) / 2e-5, 4e-6) << "k " << k << " element " << i;
    }
  }
}

TEST_P(KernelsRouter, UnchosenLogitsOfNormalisedGatesGetExactlyZero) {
  const RouterConfig c = config(16, 3);
  const std::vector<float> logits = random_logits(16 * 50, 6);
  const Decision d = routed(c, logits);
  const std::vector<float> got = gradient(c, logits, d.chosen, random_logits(3 * 50, 7));
  const bool reaches_all = c.gate == Gate::raw && c.score == Score::softmax;
  for (int64_t i = 0; i < 16 * 50; ++i) {
    const auto row = d.chosen.begin() + i / 16 * 3;
    if (std::find(row, row + 3, i % 16) == row + 3) {
      EXPECT_EQ(got[i] == 0, !reaches_all);
    }
  }
}

// P06: all logits equal.
TEST_P(KernelsRouter, P06TiesGoToTheLowerIndex) {
  const RouterConfig c = config(4, 2);
  const Decision first = routed(c, std::vector<float>(12, 0.0f));
  EXPECT_EQ(first.chosen, (std::vector<int32_t>{0, 1, 0, 1, 0, 1}));
  const float gate = c.gate == Gate::raw && c.score == Score::softmax ? 0.25f : 0.5f;
  EXPECT_EQ(first.gates, std::vector<float>(6, gate * c.gate_scale));
  for (int run = 0; run < 50; ++run) EXPECT_EQ(routed(c, std::vector<float>(12, 0.0f)).chosen, first.chosen);
}

TEST_P(KernelsRouter, TiesAmongUnequalLogits) {
  EXPECT_EQ(routed(config(6, 4), {1, 2, 0, 2, 1, 1}).chosen, (std::vector<int32_t>{1, 3, 0, 4}));
  EXPECT_EQ(routed(config(5, 5), {1, 1, 3, 1, 3}).chosen, (std::vector<int32_t>{2, 4, 0, 1, 3}));
}

// P07 and its relatives.
TEST_P(KernelsRouter, P07BadRowsGetNoDecision) {
  const std::vector<float> logits = {0, 1,     2,     3,     // good
                                     0, kNan,  2,     3,     // NaN
                                     0, 1,     2,     kInf,  // +inf
                                     5, -kInf, -kInf, 1,     // two finite: good
                                     5, -kInf, -kInf, -kInf, kNan, kNan, kNan, kNan, -kInf, 1, 2, 3};
  const Decision d = routed(config(4, 2), logits);
  EXPECT_EQ(d.chosen, (std::vector<int32_t>{3, 2, -1, -1, -1, -1, 0, 3, -1, -1, -1, -1, 3, 2}));
  EXPECT_EQ(d.summary.routed, 3);
  EXPECT_EQ(d.summary.nonfinite, 4);
  EXPECT_EQ(d.summary.first_nonfinite, 1);
  const std::vector<float> dlogits = gradient(config(4, 2), logits, d.chosen, std::vector<float>(14, 1.5f));
  for (int64_t t : {1, 2, 4, 5}) {
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(dlogits[t * 4 + i], 0);
    for (int64_t j = 0; j < 2; ++j) EXPECT_EQ(d.gates[t * 2 + j], 0);
  }
  for (float g : dlogits) EXPECT_TRUE(std::isfinite(g));
}

TEST_P(KernelsRouter, MaskedRowsAreNeitherRoutedNorLookedAt) {
  const std::vector<float> logits = {3, 2, 1, kNan, kNan, kNan, 1, 2, 3};
  const Decision d = routed(config(3, 1), logits, {1, 0, 7});
  EXPECT_EQ(d.chosen, (std::vector<int32_t>{0, -1, 2}));
  EXPECT_EQ(d.gates[1], 0);
  EXPECT_EQ(d.summary.routed, 2);
  EXPECT_EQ(d.summary.nonfinite, 0);
}

// Scores of finite logits that underflow to 0 come before -inf, even at a higher index; no gate is NaN.
TEST_P(KernelsRouter, FarApartLogits) {
  const Decision d = routed(config(4, 3), {-kInf, 500, -1e30f, -2000});
  EXPECT_EQ(std::count(d.chosen.begin(), d.chosen.end(), 0), 0);
  EXPECT_EQ(d.chosen[0], 1);
  for (float g : d.gates) EXPECT_TRUE(std::isfinite(g));
  const Decision low = routed(config(3, 2), {-5000, -4000, -3e38f});
  EXPECT_EQ(std::count(low.chosen.begin(), low.chosen.end(), -1), 0);
  for (float g : low.gates) EXPECT_TRUE(std::isfinite(g));
  if (config(3, 2).gate != Gate::raw) {
    EXPECT_NEAR(low.gates[0] + low.gates[1], 2.5f, 1e-6f);
  }
}

TEST_P(KernelsRouter, StridesAndEmptyInput) {
  const RouterConfig c = config(5, 2);
  const std::vector<float> dense = random_logits(4 * 5, 9);
  Floats wide(4 * 8);
  for (int64_t i = 0; i < 20; ++i) wide[i / 5 * 8 + i % 5] = dense[i];
  const Decision d = routed(c, dense);
  std::vector<int32_t> chosen(8);
  Floats gates(8), dgates(8, 10), dlogits(20);
  const uint8_t mask[] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1};
  EXPECT_EQ(route(c, 4, dev(wide), 8, dev(mask), 3, dev(chosen), dev(gates)).routed, 4);
  EXPECT_EQ(chosen, d.chosen);
  EXPECT_TRUE(test::same_bits(gates.data(), d.gates.data(), 32));
  route_backward(c, 4, dev(wide), 8, dev(chosen), dev(dgates), dev(dlogits));
  const std::vector<float> want = gradient(c, dense, chosen, {dgates.data(), dgates.data() + 8});
  EXPECT_TRUE(test::same_bits(dlogits.data(), want.data(), 80));
  EXPECT_TRUE(gates.edges_untouched() && dlogits.edges_untouched());
  EXPECT_EQ(route(c, 0, nullptr, 5, nullptr, 0, nullptr, nullptr).first_nonfinite, -1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, KernelsRouter,
                         testing::Combine(testing::Values(Score::softmax, Score::sigmoid),
                                          testing::Values(Gate::raw, Gate::renorm, Gate::softmax_topk)));

// fp32 sigmoids of 20 and 30 are both 1: equal scores, so the index decides.
TEST(KernelsRouterRules, SaturatedSigmoidsAreTies) {
  const RouterConfig c = {3, 1, Score::sigmoid, Gate::raw, 1};
  EXPECT_EQ(routed(c, {-1, 20, 30}).chosen, std::vector<int32_t>{1});
}

// P09: probabilities .5, .25, .125, .125; L = y = sum of gates * (expert's output), outputs 1, 2, 3, 4.
TEST(KernelsRouterRules, P09RawAndRenormalisedGates) {
  const std::vector<float> logits = {std::log(4.0f), std::log(2.0f), 0, 0};
  const RouterConfig raw = {4, 2, Score::softmax, Gate::raw, 1}, renorm = {4, 2, Score::softmax, Gate::renorm, 1};
  const std::vector<float> outputs = {1, 2};
  const Decision a = routed(raw, logits), b = routed(renorm, logits);
  EXPECT_EQ(a.chosen, (std::vector<int32_t>{0, 1}));
  EXPECT_NEAR(a.gates[0] * 1 + a.gates[1] * 2, 1.0, 1e-6);
  EXPECT_NEAR(b.gates[0] * 1 + b.gates[1] * 2, 4.0 / 3, 1e-6);
  const std::vector<float> da = gradient(raw, logits, a.chosen, outputs),
                           db = gradient(renorm, logits, b.chosen, outputs);
  const double want_a[] = {0, .25, -.125, -.125}, want_b[] = {-2.0 / 9, 2.0 / 9, 0, 0};
  for (int e = 0; e < 4; ++e) {
    EXPECT_NEAR(da[e], want_a[e], 1e-7);
    EXPECT_NEAR(db[e], want_b[e], 1e-7);
  }
}

TEST(KernelsRouterRules, CountExperts) {
  std::vector<int32_t> chosen(30000);
  std::vector<int64_t> counts(7, -77), want(7, 0);
  for (size_t i = 0; i < chosen.size(); ++i) {
    chosen[i] = static_cast<int32_t>(i * i % 7) - 1;
    if (chosen[i] >= 0) ++want[chosen[i]];
  }
  count_experts(static_cast<int64_t>(chosen.size()), dev(chosen), 7, dev(counts));
  EXPECT_EQ(counts, want);
  count_experts(0, nullptr, 7, dev(counts));
  EXPECT_EQ(counts, std::vector<int64_t>(7, 0));
}

}  // namespace
}  // namespace moemesh::kernels
