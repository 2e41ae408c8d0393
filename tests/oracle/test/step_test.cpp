// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The whole step against central differences of its own loss, the two objectives, names, and drawing.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>

#include "../oracle.hpp"
#include "finite_difference.hpp"

namespace oracle {
namespace {

// squared_loss of y + bias, so that the loss has a SHARED parameter too (index 1, [hidden]).
Loss biased_loss(const Piece& piece, const Array& y, const std::vector<Array>& shared) {
  const std::size_t width = shared[1].size();
  Array moved = y;
  for (std::size_t i = 0; i < y.size(); ++i) moved[i] += shared[1][i % width];
  Loss loss = squared_loss(piece, moved, shared);
  loss.d_shared = {Array(shared[0].size(), 0.0), Array(width, 0.0)};
  for (std::size_t i = 0; i < y.size(); ++i) loss.d_shared[1][i % width] += loss.dy[i];
  return loss;
}

Model two_layers() {
  LayerConfig first{"a", 3, 2, 4, 0, 2};
  LayerConfig second{"b", 3, 4, 3, 2, 1};
  second.activation = Activation::gelu_tanh;
  second.score = Score::sigmoid;
  second.gate = Gate::raw;
  Model model;
  model.layers = {first, second};
  model.front = channel_scale(0);
  model.loss = biased_loss;
  model.shared_names = {"scale", "bias"};
  return model;
}

Parameters draw_weights(const Model& model) {
  Parameters weights = zero_parameters(model);
  for (Array& array : weights.shared) array.resize(3);
  draw_parameters(model, 21, 1.5, &weights);
  return weights;
}

std::vector<Piece> draw_four(const Model& model, const Parameters& weights) {
  DrawOptions options;
  options.margin = 1e-2;
  options.padding = 0.3;
  return draw_pieces(model, weights, {4, 0, 2, 7}, options);
}

void expect_gradients_match(const Model& model, Parameters weights, const std::vector<Piece>& pieces, Objective o) {
  Parameters gradients = run_step(model, weights, pieces, o).gradients;
  const auto values = named_arrays(model, weights);
  const auto found = named_arrays(model, gradients);
  ASSERT_EQ(values.size(), found.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto loss = [&] { return run_step(model, weights, pieces, o).loss; };
    const Array expected = finite_difference(values[i].values, loss);
    EXPECT_LE(relative_distance(*found[i].values, expected, 0.1), 1e-7) << values[i].name << " " << values[i].expert;
  }
}

TEST(Step, GradientsMatchFiniteDifferences) {
  for (bool residual : {true, false}) {
    Model model = two_layers();
    model.residual = residual;
    const Parameters weights = draw_weights(model);
    const auto pieces = draw_four(model, weights);
    for (Objective objective : {Objective::shard_mean, Objective::token_mean}) {
      expect_gradients_match(model, weights, pieces, objective);
    }
  }
}

// d_input and dx/dy of a piece belong to that piece's own loss, without the common factor.
TEST(Step, PieceGradientsAreOfItsOwnLoss) {
  Model model = two_layers();
  model.front = Front();
  const Parameters weights = draw_weights(model);
  std::vector<Piece> pieces = draw_four(model, weights);
  for (Objective objective : {Objective::shard_mean, Objective::token_mean}) {
    const StepResult step = run_step(model, weights, pieces, objective);
    const auto loss = [&] { return run_step(model, weights, pieces, objective).pieces[3].loss; };
    EXPECT_LE(relative_distance(step.pieces[3].d_input, finite_difference(&pieces[3].x, loss)), 1e-7);
    for (std::size_t l = 0; l < 2; ++l) {
      LayerWeights unused = zero_weights(model.layers[l]);
      const PieceResult& piece = step.pieces[3];
      EXPECT_EQ(layer_backward(model.layers[l], weights.layers[l], piece.tapes[l], piece.dy[l], &unused).dx,
                piece.dx[l]);
    }
  }
}

// Two pieces with 3 and 1 tokens and an empty one: means 2 and 10.
TEST(Step, ObjectivesByHand) {
  Model model;
  model.layers = {LayerConfig{"a", 1, 1, 1, 0}};
  Parameters weights = zero_parameters(model);  // layers give 0, so y = x
  std::vector<Piece> pieces(3);
  pieces[0] = {3, {1, 2, 3}, {}, {1, 1, 1}, {}};
  pieces[1] = {2, {10, 99}, {1, 0}, {1, 1}, {}};
  const StepResult shard = run_step(model, weights, pieces, Objective::shard_mean);
  EXPECT_NEAR(shard.loss, 4.0, 1e-14);
  EXPECT_NEAR(shard.factor, 1.0 / 3, 1e-15);
  EXPECT_NEAR(shard.pieces[0].loss, 2.0, 1e-14);
  const StepResult token = run_step(model, weights, pieces, Objective::token_mean);
  EXPECT_NEAR(token.loss, 4.0, 1e-14);
  EXPECT_EQ(token.factor, 0.25);
  EXPECT_EQ(token.tokens, 4);
  EXPECT_EQ(token.pieces[0].loss, 6.0);
  EXPECT_EQ(run_step(model, weights, {Piece()}, Objective::token_mean).loss, 0.0);
}

TEST(Step, NamesFamiliesAndExperts) {
  const Model model = two_layers();
  Parameters weights = draw_weights(model);
  std::set<std::string> names;
  for (const NamedArray& array : named_arrays(model, weights)) {
    const bool expert = array.name == "a.w1" || array.name == "a.wg" || array.name == "a.w2" || array.name == "b.w1" ||
                        array.name == "b.w2";
    EXPECT_EQ(array.family == Family::expert, expert) << array.name;
    EXPECT_TRUE(names.insert(array.name + "#" + std::to_string(array.expert)).second) << array.name;
  }
  EXPECT_EQ(names.size(), 1u + 3 * 4 + 1u + 2 * 3 + 2u + 2u);
  EXPECT_TRUE(names.count("b.shared.w2#0") == 1 && names.count("a.wg#3") == 1 && names.count("bias#0") == 1);
}

TEST(Draw, KeepsTheMarginInEveryLayerAndRepeats) {
  const Model model = two_layers();
  const Parameters weights = draw_weights(model);
  DrawOptions options;
  options.margin = 5e-2;
  const auto pieces = draw_pieces(model, weights, {40}, options);
  EXPECT_GE(run_step(model, weights, pieces, Objective::shard_mean).margin, 5e-2);
  EXPECT_EQ(draw_pieces(model, weights, {40}, options)[0].x, pieces[0].x);
  for (double value : pieces[0].x) EXPECT_EQ(value, static_cast<double>(static_cast<float>(value)));
  options.margin = 0;
  const auto free = draw_pieces(model, weights, {40}, options);
  EXPECT_LT(run_step(model, weights, free, Objective::shard_mean).margin, 5e-2);
  options.seed = 2;
  EXPECT_NE(draw_pieces(model, weights, {40}, options)[0].x, free[0].x);
  options.margin = 2;
  EXPECT_THROW(draw_pieces(model, weights, {1}, options), std::runtime_error);
}

TEST(Compare, RelativeDistance) {
  EXPECT_NEAR(relative_distance(std::vector<float>{3, 4.5F}, Array{3, 4}), 0.1, 1e-15);
  EXPECT_NEAR(relative_distance(Array{1e-9}, Array{0}, 1e-3), 1e-6, 1e-18);
  EXPECT_EQ(relative_distance(Array{0}, Array{0}), 0.0);
  EXPECT_TRUE(std::isinf(relative_distance(Array{1e-9}, Array{0})));
  EXPECT_TRUE(std::isinf(relative_distance(Array{1}, Array{1, 2}, 1.0)));
  EXPECT_FALSE(relative_distance(Array{std::nan("")}, Array{1}, 1.0) <= 1e30);
  EXPECT_EQ(displacement(std::vector<float>{3, 1}, Array{1, 1}), (Array{2, 0}));
}

}  // namespace
}  // namespace oracle
