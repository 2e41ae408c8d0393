// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Closed numbers of the project's cases, as far as they need no mesh. Scale experts: W1 = identity, W2 = s*identity.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../oracle.hpp"

namespace oracle {
namespace {

const double ln2 = std::log(2.0);

Model scale_model(std::int64_t hidden, std::int64_t experts, std::int64_t top_k, Gate gate) {
  LayerConfig config{"moe", hidden, hidden, experts, 0, top_k};
  config.activation = Activation::identity;
  config.gate = gate;
  config.caller_logits = true;
  Model model;
  model.layers = {config};
  model.residual = false;
  return model;
}

Parameters scale_weights(const Model& model, const Array& scales) {
  Parameters weights = zero_parameters(model);
  const std::int64_t hidden = model.layers[0].hidden;
  for (std::size_t e = 0; e < scales.size(); ++e) {
    for (std::int64_t h = 0; h < hidden; ++h) {
      weights.layers[0].w1[e][h * hidden + h] = 1.0;
      weights.layers[0].w2[e][h * hidden + h] = scales[e];
    }
  }
  return weights;
}

// Logits that send token t to experts[t].
Array route(const std::vector<std::int64_t>& experts, std::int64_t count) {
  Array logits(experts.size() * count, 0.0);
  for (std::size_t t = 0; t < experts.size(); ++t) logits[t * count + experts[t]] = 4.0;
  return logits;
}

// A piece whose loss is the sum over y.
Piece piece_of(std::int64_t tokens, const Array& x, const Array& logits) {
  Piece piece;
  piece.tokens = tokens;
  piece.x = x;
  piece.target = Array(x.size(), 1.0);
  piece.logits = {logits};
  return piece;
}

void expect_near(const Array& found, const Array& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << "element " << i;
}

LayerWeights gradients_before_divisor(const Model& model, const Parameters& weights, const Piece& piece) {
  LayerWeights gradients = zero_weights(model.layers[0]);
  const LayerTape tape = layer_forward(model.layers[0], weights.layers[0], piece.x, piece.mask, piece.logits[0]);
  layer_backward(model.layers[0], weights.layers[0], tape, piece.target, &gradients);
  return gradients;
}

TEST(Cases, P03ZeroTokenShard) {
  const Model model = scale_model(2, 2, 1, Gate::renorm);
  const Parameters weights = scale_weights(model, {1, 2});
  const Piece full = piece_of(3, {1, 2, 3, 4, 5, 6}, route({1, 1, 1}, 2));
  const StepResult step = run_step(model, weights, {full, piece_of(0, {}, {})}, Objective::token_mean);
  expect_near(step.pieces[0].y, {2, 4, 6, 8, 10, 12}, 1e-12);
  expect_near(step.pieces[0].dx[0], Array(6, 2.0), 1e-12);
  EXPECT_TRUE(step.pieces[1].y.empty());
  expect_near(gradients_before_divisor(model, weights, full).w2[1], {9, 12, 9, 12}, 1e-12);
  EXPECT_EQ(gradients_before_divisor(model, weights, full).w2[0], Array(4, 0.0));
}

TEST(Cases, P04EmptyExpert) {
  const Model model = scale_model(2, 4, 1, Gate::renorm);
  const Parameters weights = scale_weights(model, {1, 2, 3, 4});
  const Array x{1, 1, 2, 2, 3, 3, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0};
  const Piece piece = piece_of(8, x, route({0, 0, 0, 2, 2, 2, 2, 2}, 4));
  const LayerWeights gradients = gradients_before_divisor(model, weights, piece);
  expect_near(gradients.w2[0], {6, 6, 6, 6}, 1e-12);
  expect_near(gradients.w2[2], {5, 0, 5, 0}, 1e-12);
  expect_near(gradients.w1[0], {6, 6, 6, 6}, 1e-12);
  expect_near(gradients.w1[2], {15, 0, 15, 0}, 1e-12);
  for (int e : {1, 3}) {
    EXPECT_EQ(gradients.w1[e], Array(4, 0.0));
    EXPECT_EQ(gradients.w2[e], Array(4, 0.0));
  }
}

TEST(Cases, P06Ties) {
  for (Gate gate : {Gate::raw, Gate::renorm}) {
    const Model model = scale_model(1, 4, 2, gate);
    const Piece piece = piece_of(3, {1, 2, 3}, Array(12, 0.0));
    const StepResult step = run_step(model, scale_weights(model, {1, 2, 3, 4}), {piece}, Objective::shard_mean);
    EXPECT_EQ(step.pieces[0].tapes[0].chosen, (std::vector<std::int64_t>{0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(step.pieces[0].tapes[0].gates, Array(6, gate == Gate::raw ? 0.25 : 0.5));
    EXPECT_EQ(step.margin, 0.0);
  }
}

TEST(Cases, P07FiniteRowsBesideANanRow) {
  const double nan = std::nan("");
  const Model model = scale_model(1, 4, 2, Gate::raw);
  const Array logits{1, 0, 0, 0, 0, 1, 0, 0, nan, nan, nan, nan, 0, 0, 0, 1};
  const Piece piece = piece_of(4, {1, 1, 1, 1}, logits);
  const StepResult step = run_step(model, scale_weights(model, {1, 2, 3, 4}), {piece}, Objective::shard_mean);
  EXPECT_EQ(step.pieces[0].tapes[0].nonfinite, (std::vector<std::int64_t>{2}));
  expect_near(step.pieces[0].y, {0.825122, 1.125611, 0.0, 2.076345}, 1e-6);
}

TEST(Cases, P08HotExpert) {
  const Model model = scale_model(1, 4, 1, Gate::raw);
  Array logits;
  for (int t = 0; t < 6; ++t) logits.insert(logits.end(), {0, 0, 0, 3});
  const std::vector<Piece> pieces(2, piece_of(6, Array(6, 1.0), logits));
  const StepResult step = run_step(model, scale_weights(model, {1, 2, 3, 4}), pieces, Objective::shard_mean);
  std::int64_t rows = 0;
  for (const PieceResult& piece : step.pieces) {
    expect_near(piece.y, Array(6, 3.480194), 1e-6);
    rows += rows_per_expert(model.layers[0], piece.tapes[0])[3];
  }
  EXPECT_EQ(rows, 12);
}

TEST(Cases, P09GateRenormalisation) {
  const Array logits{2 * ln2, ln2, 0, 0};
  const auto run = [&](Gate gate) {
    const Model model = scale_model(1, 4, 2, gate);
    const Piece piece = piece_of(1, {1}, logits);
    return run_step(model, scale_weights(model, {1, 2, 3, 4}), {piece}, Objective::shard_mean).pieces[0];
  };
  const PieceResult raw = run(Gate::raw);
  expect_near(raw.tapes[0].gates, {0.5, 0.25}, 1e-14);
  expect_near(raw.y, {1.0}, 1e-14);
  expect_near(raw.dlogits[0], {0, 0.25, -0.125, -0.125}, 1e-14);
  const PieceResult renorm = run(Gate::renorm);
  expect_near(renorm.tapes[0].gates, {2.0 / 3, 1.0 / 3}, 1e-14);
  expect_near(renorm.y, {4.0 / 3}, 1e-14);
  expect_near(renorm.dlogits[0], {-2.0 / 9, 2.0 / 9, 0, 0}, 1e-14);
}

TEST(Cases, P11DropGradient) {
  Model model = scale_model(1, 2, 1, Gate::raw);
  model.layers[0].capacity_factor = 0.6667;
  const Piece piece = piece_of(3, {1, 1, 1}, {2, 0, 1, 0, 0, 1});
  const StepResult step = run_step(model, scale_weights(model, {1, 2}), {piece}, Objective::token_mean);
  EXPECT_EQ(step.pieces[0].tapes[0].slots, 2) << "0.6667 is more than 2/3";
  model.layers[0].capacity_factor = 0.5;
  const StepResult one = run_step(model, scale_weights(model, {1, 2}), {piece}, Objective::token_mean);
  EXPECT_EQ(one.pieces[0].tapes[0].slots, 1);
  EXPECT_EQ(one.dropped, 1);
  expect_near(one.pieces[0].y, {0.880797, 0, 1.462117}, 1e-6);
  expect_near(one.pieces[0].dx[0], {0.880797, 0, 1.462117}, 1e-6);
  expect_near(one.pieces[0].dlogits[0], {0.104994, -0.104994, 0, 0, -0.393224, 0.393224}, 1e-6);
}

// Tokens 1,2,3,4, odd ones to expert 0: however they are cut, the gradients of s are 1 and 1.5.
TEST(Cases, P15BiasBalance) {
  Model model = scale_model(1, 4, 1, Gate::raw);
  model.layers[0].bias_rate = 0.01;
  const Parameters weights = scale_weights(model, {1, 2, 3, 4});
  std::vector<Piece> pieces;
  for (const std::vector<std::int64_t>& experts : {std::vector<std::int64_t>{0, 0}, {1, 2}, {0, 0}, {1, 2}})
    pieces.push_back(piece_of(2, {1, 1}, route(experts, 4)));
  move_biases(run_step(model, weights, pieces, Objective::shard_mean), &model);
  EXPECT_EQ(model.layers[0].bias, (Array{-0.01, 0, 0, 0.01}));
  // Scores .5, .3, .2: the bias takes the second one down and leaves the gates.
  model.layers[0].bias = {0, -0.15, 0, 0};
  model.layers[0].top_k = 2;
  const Array row{std::log(0.5), std::log(0.3), std::log(0.2), -std::numeric_limits<double>::infinity()};
  const Piece piece = piece_of(1, {1}, row);
  const LayerTape tape = run_forward(model, weights, piece).tapes[0];
  EXPECT_EQ(tape.chosen, (std::vector<std::int64_t>{0, 2}));
  EXPECT_NEAR(tape.gates[0], 0.5, 1e-12);
  EXPECT_NEAR(tape.gates[1], 0.2, 1e-12);
  EXPECT_NEAR(tape.margin, 0.05, 1e-12);
}

TEST(Cases, P16ExpertGradientScale) {
  const Model model = scale_model(1, 2, 1, Gate::renorm);
  const Parameters weights = scale_weights(model, {1, 1});
  const auto piece = [](std::vector<std::int64_t> tokens) {
    std::vector<std::int64_t> experts;
    for (std::int64_t value : tokens) experts.push_back(value % 2 == 1 ? 0 : 1);
    return piece_of(static_cast<std::int64_t>(tokens.size()), Array(tokens.begin(), tokens.end()), route(experts, 2));
  };
  const std::vector<std::vector<Piece>> cuts{{piece({1, 2, 3, 4})},
                                             {piece({1, 2}), piece({3, 4})},
                                             {piece({1, 3}), piece({2, 4})},
                                             {piece({1}), piece({2}), piece({3}), piece({4})}};
  for (const auto& pieces : cuts) {
    for (Objective objective : {Objective::token_mean, Objective::shard_mean}) {
      const StepResult step = run_step(model, weights, pieces, objective);
      EXPECT_NEAR(step.loss, 2.5, 1e-14);
      EXPECT_NEAR(step.gradients.layers[0].w2[0][0], 1.0, 1e-14);
      EXPECT_NEAR(step.gradients.layers[0].w2[1][0], 1.5, 1e-14);
      for (const PieceResult& part : step.pieces) {
        for (double dx : part.dx[0]) EXPECT_NEAR(dx * step.factor, 0.25, 1e-14);
      }
    }
  }
}

}  // namespace
}  // namespace oracle
