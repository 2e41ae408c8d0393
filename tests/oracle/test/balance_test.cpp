// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Capacity, balance loss and z-loss: the whole step's gradients against central differences of its objective with the
// layers' own losses, and numbers worked out by hand. f and the selection are constant within a difference's step, as
// draw keeps a margin.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "../oracle.hpp"
#include "finite_difference.hpp"

namespace oracle {
namespace {

Model two_layers(Score score, Gate gate, AuxScope scope, Drop drop) {
  LayerConfig first{"a", 3, 2, 4, 0, 2};
  first.score = score;
  first.gate = gate;
  first.aux_scope = scope;
  first.aux_coefficient = 0.7;
  first.z_coefficient = 0.1;
  first.capacity_factor = 0.8;
  first.drop = drop;
  LayerConfig second = first;
  second.name = "b";
  second.experts = 3;
  second.top_k = 1;
  second.shared_ffn = 2;
  Model model;
  model.layers = {first, second};
  return model;
}

void expect_gradients_match(const Model& model, Parameters weights, std::vector<Piece> pieces, Objective objective) {
  StepResult step = run_step(model, weights, pieces, objective);
  EXPECT_GT(step.dropped, 0);
  EXPECT_GT(step.balance, 0.0);
  const auto total = [&] {
    const StepResult result = run_step(model, weights, pieces, objective);
    return result.loss + result.balance;
  };
  const auto values = named_arrays(model, weights);
  const auto found = named_arrays(model, step.gradients);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Array expected = finite_difference(values[i].values, total);
    EXPECT_LE(relative_distance(*found[i].values, expected, 0.1), 1e-7) << values[i].name << " " << values[i].expert;
  }
  Array d_input = step.pieces[0].d_input;
  for (double& value : d_input) value *= step.factor;
  EXPECT_LE(relative_distance(d_input, finite_difference(&pieces[0].x, total), 0.1), 1e-7);
}

TEST(Balance, GradientsMatchFiniteDifferences) {
  for (Score score : {Score::softmax, Score::sigmoid}) {
    for (Gate gate : {Gate::raw, Gate::renorm}) {
      for (AuxScope scope : {AuxScope::shard, AuxScope::sequence}) {
        const Model model = two_layers(score, gate, scope, gate == Gate::raw ? Drop::gate : Drop::position);
        Parameters weights = zero_parameters(model);
        draw_parameters(model, 21, 1.5, &weights);
        DrawOptions options;
        options.margin = 1e-3;
        options.padding = 0.2;
        auto pieces = draw_pieces(model, weights, {6, 0, 9}, options);
        for (Piece& piece : pieces) piece.sequences = {3, gate == Gate::raw};
        for (Objective objective : {Objective::shard_mean, Objective::token_mean})
          expect_gradients_match(model, weights, pieces, objective);
      }
    }
  }
}

LayerConfig caller_layer(std::int64_t experts, std::int64_t top_k) {
  LayerConfig config{"moe", 1, 1, experts, 0, top_k};
  config.activation = Activation::identity;
  config.gate = Gate::raw;
  config.caller_logits = true;
  return config;
}

LayerTape forward(const LayerConfig& config, const Array& probabilities, const Mask& mask = {},
                  const Sequences& sequences = {}) {
  Array logits;
  for (double p : probabilities) logits.push_back(std::log(p));
  const Array x(logits.size() / config.experts, 1.0);
  return layer_forward(config, zero_weights(config), x, mask, logits, sequences);
}

const Array p12{.5, .25, .125, .125, .5, .25, .125, .125, .25, .5, .125, .125, .125, .125, .25, .5};

TEST(Cases, P12Balance) {
  LayerConfig config = caller_layer(4, 1);
  config.aux_coefficient = 1;
  const LayerTape tape = forward(config, p12);
  EXPECT_NEAR(tape.aux, 1.1875, 1e-14);
  const double expected[] = {.078125, -.0234375, -.04296875, -.01171875};
  const BalanceLoss shard = balance_loss(config, tape, Objective::shard_mean);
  const BalanceLoss token = balance_loss(config, tape, Objective::token_mean);
  for (int e = 0; e < 4; ++e) {
    EXPECT_NEAR(shard.dlogits[e], expected[e], 1e-14);
    EXPECT_NEAR(token.dlogits[e], 4 * expected[e], 1e-14);
  }
  EXPECT_NEAR(shard.scaled, 1.1875, 1e-14);
  EXPECT_NEAR(token.scaled, 4 * 1.1875, 1e-13);
  EXPECT_NEAR(forward(config, Array(p12.begin(), p12.begin() + 8)).aux, 2.0, 1e-14);
  EXPECT_NEAR(forward(config, Array(p12.begin() + 8, p12.end())).aux, 1.25, 1e-14);
}

TEST(Cases, P13PaddingCountsNowhere) {
  LayerConfig config = caller_layer(4, 1);
  config.aux_coefficient = config.z_coefficient = 1;
  Array rows = p12;
  for (int t = 0; t < 4; ++t) rows.insert(rows.end(), p12.begin() + 12, p12.end());
  EXPECT_NEAR(forward(config, rows).aux, 1.234375, 1e-14);
  const LayerTape tape = forward(config, rows, {1, 1, 1, 1, 0, 0, 0, 0});
  EXPECT_NEAR(tape.aux, 1.1875, 1e-14);
  EXPECT_NEAR(tape.z, 0.0, 1e-25);
  const LayerTape empty = forward(config, rows, Mask(8, 0));
  EXPECT_EQ(empty.aux, 0.0);
  EXPECT_EQ(balance_loss(config, empty, Objective::token_mean).dlogits, Array(32, 0.0));
  EXPECT_NEAR(layer_forward(config, zero_weights(config), {1}, {}, {0, 0, 0, 0}).z, 2 * 0.960906027836403, 1e-14);
}

TEST(Cases, P14Sequences) {
  LayerConfig config = caller_layer(2, 1);
  config.aux_coefficient = 1;
  config.aux_scope = AuxScope::sequence;
  const Array sequence_major{.75, .25, .75, .25, .25, .75, .25, .75};
  const Array position_major{.75, .25, .25, .75, .75, .25, .25, .75};
  EXPECT_NEAR(forward(config, sequence_major, {}, {2, false}).aux, 1.5, 1e-14);
  EXPECT_NEAR(forward(config, position_major, {}, {2, true}).aux, 1.5, 1e-14);
  EXPECT_NEAR(forward(config, position_major, {}, {2, false}).aux, 1.0, 1e-14);
  EXPECT_THROW(forward(config, position_major, {}, {3, false}), std::invalid_argument);
  // A sequence without tokens is left out of the mean.
  EXPECT_NEAR(forward(config, sequence_major, {1, 1, 0, 0}, {2, false}).aux, 1.5, 1e-14);
}

TEST(Cases, P10Slots) {
  const auto slots = [](std::int64_t tokens, std::int64_t top_k, std::int64_t experts, double factor) {
    LayerConfig config = caller_layer(experts, top_k);
    config.capacity_factor = factor;
    return capacity_slots(config, tokens);
  };
  EXPECT_EQ(slots(10, 1, 4, 1.0), 3);
  EXPECT_EQ(slots(7, 2, 4, 1.0), 4);
  EXPECT_EQ(slots(9, 2, 4, 1.25), 6);
  EXPECT_EQ(slots(50, 2, 2, 1.1), 55);
  EXPECT_EQ(slots(6, 2, 4, 2.5), 8);
  EXPECT_EQ(slots(3, 1, 8, 1.0), 1);
}

TEST(Capacity, DropsByPositionOrByGate) {
  LayerConfig config = caller_layer(2, 1);
  config.capacity_factor = 1;  // 2 slots for 4 tokens
  const Array rows{.6, .4, .9, .1, .8, .2, .8, .2};
  LayerTape tape = forward(config, rows);
  EXPECT_EQ(tape.kept, (std::vector<std::int64_t>{0, 0, -1, -1}));
  EXPECT_EQ(tape.slots, 2);
  EXPECT_EQ(tape.dropped, 2);
  config.drop = Drop::gate;
  tape = forward(config, rows);
  EXPECT_EQ(tape.kept, (std::vector<std::int64_t>{-1, 0, 0, -1}));
  EXPECT_EQ(tape.chosen, (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(tape.gates[3], 0.0);
  EXPECT_EQ(tape.margin, 0.0) << "two gates are equal at the boundary";
}

}  // namespace
}  // namespace oracle
