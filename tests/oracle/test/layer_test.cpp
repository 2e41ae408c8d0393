// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Rows that go nowhere, activations at known points, shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "../oracle.hpp"

namespace oracle {
namespace {

struct Case {
  Model model;
  Parameters weights;
  Piece piece;
};

Case draw_case(bool caller_logits) {
  Case c;
  LayerConfig config{"moe", 3, 2, 4, 2, 2};
  config.caller_logits = caller_logits;
  config.gate = Gate::raw;
  c.model.layers = {config};
  c.weights = zero_parameters(c.model);
  draw_parameters(c.model, 3, 2.0, &c.weights);
  c.piece = draw_pieces(c.model, c.weights, {5}, {}).at(0);
  return c;
}

// The case with row 2 cut out.
Piece without_row_2(const Piece& piece, std::int64_t hidden) {
  Piece less = piece;
  const auto cut = [](Array* array, std::int64_t width) {
    if (!array->empty()) array->erase(array->begin() + 2 * width, array->begin() + 3 * width);
  };
  less.tokens -= 1;
  cut(&less.x, hidden);
  cut(&less.target, hidden);
  cut(&less.logits[0], static_cast<std::int64_t>(piece.logits[0].size()) / piece.tokens);
  less.mask.clear();
  return less;
}

// Row 2 is 0 in y and dx, and everything else is as if it had never been there.
void expect_row_2_counts_nowhere(const Case& c, const PieceResult& with, const StepResult& step) {
  const Piece less = without_row_2(c.piece, 3);
  const StepResult expected = run_step(c.model, c.weights, {less}, Objective::token_mean);
  for (const Array& array : {with.tapes[0].y, with.dx[0]}) {
    for (std::int64_t i = 6; i < 9; ++i) EXPECT_EQ(array[i], 0.0);
  }
  Array y = with.tapes[0].y;
  y.erase(y.begin() + 6, y.begin() + 9);
  EXPECT_EQ(y, expected.pieces[0].tapes[0].y);
  Parameters found = step.gradients;
  Parameters other = expected.gradients;
  const auto a = named_arrays(c.model, found);
  const auto b = named_arrays(c.model, other);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_LE(relative_distance(*a[i].values, *b[i].values), 1e-14) << a[i].name;
  }
}

TEST(Layer, MaskedRowsAreNeverRead) {
  Case c = draw_case(false);
  c.piece.mask = {1, 1, 0, 1, 1};
  c.model.residual = false;
  for (std::int64_t i = 6; i < 9; ++i) c.piece.x[i] = std::nan("");
  const StepResult step = run_step(c.model, c.weights, {c.piece}, Objective::token_mean);
  EXPECT_EQ(step.tokens, 4);
  EXPECT_EQ(step.nonfinite, 0);
  EXPECT_EQ(step.pieces[0].tapes[0].chosen[4], -1);
  EXPECT_EQ(step.pieces[0].tapes[0].gates[5], 0.0);
  expect_row_2_counts_nowhere(c, step.pieces[0], step);
}

TEST(Layer, NonfiniteRowsAreReportedAndGoNowhere) {
  Case c = draw_case(true);
  c.model.residual = false;
  // The loss is told to leave the row out, so that both token counts agree; the layer finds it by itself.
  c.model.loss = [](const Piece& piece, const Array& y, const std::vector<Array>& shared) {
    Piece masked = piece;
    if (piece.tokens == 5) masked.mask = {1, 1, 0, 1, 1};
    return dot_loss(masked, y, shared);
  };
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    c.piece.logits[0][2 * 4 + 1] = bad;
    const StepResult step = run_step(c.model, c.weights, {c.piece}, Objective::token_mean);
    EXPECT_EQ(step.pieces[0].tapes[0].nonfinite, (std::vector<std::int64_t>{2}));
    EXPECT_EQ(step.nonfinite, 1);
    expect_row_2_counts_nowhere(c, step.pieces[0], step);
  }
}

TEST(Layer, NoTokens) {
  Case c = draw_case(false);
  const LayerTape tape = layer_forward(c.model.layers[0], c.weights.layers[0], {});
  LayerWeights gradients = zero_weights(c.model.layers[0]);
  const LayerBackward back = layer_backward(c.model.layers[0], c.weights.layers[0], tape, {}, &gradients);
  EXPECT_TRUE(tape.y.empty());
  EXPECT_TRUE(back.dx.empty());
  EXPECT_EQ(gradients.w1, zero_weights(c.model.layers[0]).w1);
}

TEST(Layer, ActivationsAtKnownPoints) {
  EXPECT_EQ(activate(Activation::identity, -2.5), -2.5);
  EXPECT_EQ(activate(Activation::relu, -2.5), 0.0);
  EXPECT_EQ(activate(Activation::relu, 2.5), 2.5);
  EXPECT_NEAR(activate(Activation::gelu_erf, 1.0), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(activate(Activation::gelu_tanh, 1.0), 0.8411919906082768, 1e-15);
  EXPECT_NEAR(activate(Activation::silu, 1.0), 0.7310585786300049, 1e-15);
  EXPECT_EQ(activate(Activation::geglu, -0.7), activate(Activation::gelu_erf, -0.7));
  EXPECT_EQ(activate(Activation::swiglu, -0.7), activate(Activation::silu, -0.7));
}

// H = F = 1, x = 2: W1 x = 6, Wg x = 1, so y = 5 * silu(1) * 6, and with a shared expert of the same weights twice
// that.
TEST(Layer, GatedExpertByHand) {
  LayerConfig config{"moe", 1, 1, 1, 0};
  LayerWeights weights = zero_weights(config);
  weights.w1[0] = {3.0};
  weights.wg[0] = {0.5};
  weights.w2[0] = {5.0};
  const double expected = 5.0 * 0.7310585786300049 * 6.0;
  EXPECT_NEAR(layer_forward(config, weights, {2.0}).y[0], expected, 1e-13);
  config.shared_ffn = 1;
  weights.shared_w1 = {3.0};
  weights.shared_wg = {0.5};
  weights.shared_w2 = {5.0};
  EXPECT_NEAR(layer_forward(config, weights, {2.0}).y[0], 2 * expected, 1e-13);
}

TEST(Layer, WrongShapesAreRefused) {
  Case c = draw_case(false);
  const LayerConfig& config = c.model.layers[0];
  LayerWeights& weights = c.weights.layers[0];
  EXPECT_THROW(layer_forward(config, weights, Array(7)), std::invalid_argument);
  EXPECT_THROW(layer_forward(config, weights, Array(6), {1}), std::invalid_argument);
  EXPECT_THROW(layer_forward(config, weights, Array(6), {}, Array(8)), std::invalid_argument);
  weights.wg[1].pop_back();
  EXPECT_THROW(layer_forward(config, weights, Array(6)), std::invalid_argument);
}

}  // namespace
}  // namespace oracle
