// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Selection, ties, rows that can't be routed, and gates against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../oracle.hpp"

namespace oracle {
namespace {

using Indices = std::vector<std::int64_t>;
const double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

TEST(Router, ChoosesByFallingScore) {
  EXPECT_EQ(choose_experts({0.1, 3.0, -2.0, 3.5}, 3), (Indices{3, 1, 0}));
  EXPECT_EQ(choose_experts({0.1, 3.0, -2.0, 3.5}, 1), (Indices{3}));
}

TEST(Router, TiesGoToTheLowerIndex) {
  EXPECT_EQ(choose_experts({0, 0, 0, 0}, 2), (Indices{0, 1}));
  EXPECT_EQ(choose_experts({1, 2, 1, 2}, 3), (Indices{1, 3, 0}));
}

TEST(Router, SaturatedScoresKeepTheOrderOfTheLogits) {
  EXPECT_EQ(choose_experts({50.0, 60.0}, 1), (Indices{1}));
  EXPECT_EQ(choose_experts({-inf, -1e6, 0.0}, 2), (Indices{2, 1}));
}

TEST(Router, RowsThatCanNotBeRouted) {
  EXPECT_TRUE(is_routable({0, -inf, 1}, 2));
  EXPECT_FALSE(is_routable({0, -inf, 1}, 3));
  EXPECT_FALSE(is_routable({0, inf, 1}, 1));
  EXPECT_FALSE(is_routable({0, nan, 1}, 1));
  EXPECT_FALSE(is_routable({-inf, -inf}, 1));
}

TEST(Router, MinusInfinityHasScoreZeroAndNoGradient) {
  for (Score score : {Score::softmax, Score::sigmoid}) {
    for (Gate gate : {Gate::raw, Gate::renorm, Gate::softmax_topk}) {
      const RouterConfig config{score, gate, 1.0, 2};
      const Array logits{0.5, -inf, 1.0, 0.0};
      EXPECT_EQ(full_scores(score, logits)[1], 0.0);
      EXPECT_EQ(choose_experts(logits, 2), (Indices{2, 0}));
      const Array d = gates_backward(config, logits, {2, 0}, {1.0, -0.5});
      EXPECT_EQ(d[1], 0.0);
      EXPECT_NE(d[2], 0.0);
      EXPECT_TRUE(std::isfinite(d[0] + d[2] + d[3]));
    }
  }
}

TEST(Router, SigmoidGates) {
  const Array logits{std::log(3.0), 0.0, std::log(1.0 / 3.0)};  // scores 3/4, 1/2, 1/4
  const Array raw = gates_forward({Score::sigmoid, Gate::raw, 2.0, 2}, logits, {0, 1});
  EXPECT_NEAR(raw[0], 1.5, 1e-14);
  EXPECT_NEAR(raw[1], 1.0, 1e-14);
  const Array renorm = gates_forward({Score::sigmoid, Gate::renorm, 1.0, 2}, logits, {0, 1});
  EXPECT_NEAR(renorm[0], 0.6, 1e-14);
  EXPECT_NEAR(renorm[1], 0.4, 1e-14);
  const Array softmax = gates_forward({Score::sigmoid, Gate::softmax_topk, 1.0, 2}, logits, {0, 1});
  EXPECT_NEAR(softmax[0], 0.75, 1e-14);
  EXPECT_NEAR(softmax[1], 0.25, 1e-14);
}

TEST(Router, NormalisedSoftmaxGatesAreTheSoftmaxOfTheChosen) {
  const Array logits{0.3, -1.0, 2.0, 0.9};
  const Array renorm = gates_forward({Score::softmax, Gate::renorm, 1.0, 2}, logits, {2, 3});
  EXPECT_EQ(renorm, gates_forward({Score::softmax, Gate::softmax_topk, 1.0, 2}, logits, {2, 3}));
  const Array p = full_scores(Score::softmax, logits);
  EXPECT_NEAR(renorm[0], p[2] / (p[2] + p[3]), 1e-14);
}

TEST(Router, UnchosenLogitsGetGradientFromRawSoftmaxGatesOnly) {
  const Array logits{0.3, -1.0, 2.0, 0.9};
  EXPECT_NE(gates_backward({Score::softmax, Gate::raw, 1.0, 2}, logits, {2, 3}, {1, 2})[0], 0.0);
  EXPECT_EQ(gates_backward({Score::sigmoid, Gate::raw, 1.0, 2}, logits, {2, 3}, {1, 2})[0], 0.0);
  EXPECT_EQ(gates_backward({Score::softmax, Gate::renorm, 1.0, 2}, logits, {2, 3}, {1, 2})[0], 0.0);
  EXPECT_EQ(gates_backward({Score::sigmoid, Gate::renorm, 1.0, 2}, logits, {2, 3}, {1, 2})[0], 0.0);
}

TEST(Router, MarginIsTheGapBehindTheLastChosen) {
  const Array logits{std::log(4.0), std::log(2.0), 0.0, 0.0};  // scores 1/2, 1/4, 1/8, 1/8
  EXPECT_NEAR(selection_margin({Score::softmax, Gate::raw, 1.0, 1}, logits), 0.25, 1e-14);
  EXPECT_NEAR(selection_margin({Score::softmax, Gate::raw, 1.0, 2}, logits), 0.125, 1e-14);
  EXPECT_EQ(selection_margin({Score::softmax, Gate::raw, 1.0, 3}, logits), 0.0);
  EXPECT_EQ(selection_margin({Score::softmax, Gate::raw, 1.0, 4}, logits), inf);
}

}  // namespace
}  // namespace oracle
