// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The layer's backward against central differences: every activation x score x gate, k = 1..3, both kinds of router.
#include <gtest/gtest.h>

#include "../oracle.hpp"
#include "finite_difference.hpp"

namespace oracle {
namespace {

using Combination = std::tuple<Activation, Score, Gate>;

class LayerGradient : public testing::TestWithParam<Combination> {
 protected:
  // Calls check for every k and kind of router of the combination.
  template <typename Function>
  void for_every_router(Function check) {
    for (std::int64_t top_k = 1; top_k <= 3; ++top_k) {
      for (bool caller_logits : {false, true}) {
        SCOPED_TRACE("k = " + std::to_string(top_k) + (caller_logits ? ", caller's logits" : ", linear router"));
        draw(top_k, caller_logits);
        check();
      }
    }
  }

  void draw(std::int64_t top_k, bool caller_logits) {
    LayerConfig config{"moe", 3, 2, 4, 2, top_k};
    std::tie(config.activation, config.score, config.gate) = GetParam();
    config.caller_logits = caller_logits;
    config.gate_scale = 1.7;
    model_.layers = {config};
    weights_ = zero_parameters(model_);
    draw_parameters(model_, 11, 2.0, &weights_);
    DrawOptions options;
    options.seed = 5;
    options.margin = 1e-2;
    piece_ = draw_pieces(model_, weights_, {4}, options).at(0);
    piece_.mask[1] = 0;
  }

  LayerBackward backward(Parameters* gradients) const {
    return layer_backward(config(), weights_.layers[0], forward(), piece_.target, &gradients->layers[0]);
  }
  LayerTape forward() const {
    const Array logits = config().caller_logits ? piece_.logits[0] : Array();
    return layer_forward(config(), weights_.layers[0], piece_.x, piece_.mask, logits);
  }
  const LayerConfig& config() const { return model_.layers[0]; }

  void expect_matches(const std::string& what, Array* values, const Array& gradient) {
    const Array expected = finite_difference(values, [&] { return dot(piece_.target, forward().y); });
    EXPECT_LE(relative_distance(gradient, expected, 1.0), 1e-8) << what;
  }

  Model model_;
  Parameters weights_;
  Piece piece_;
};

TEST_P(LayerGradient, MatchesFiniteDifferences) {
  for_every_router([&] {
    Parameters gradients = zeros_like(weights_);
    const LayerBackward back = backward(&gradients);
    expect_matches("x", &piece_.x, back.dx);
    if (config().caller_logits) expect_matches("logits", &piece_.logits[0], back.dlogits);
    const auto values = named_arrays(model_, weights_);
    const auto found = named_arrays(model_, gradients);
    ASSERT_EQ(values.size(), (config().caller_logits ? 0u : 1u) + (is_gated(config().activation) ? 15u : 10u));
    for (std::size_t i = 0; i < values.size(); ++i) expect_matches(values[i].name, values[i].values, *found[i].values);
  });
}

// A gradient of zero would pass the comparison above where the forward ignores an input.
TEST_P(LayerGradient, ReachesWhatItShould) {
  for_every_router([&] {
    Parameters gradients = zeros_like(weights_);
    const LayerBackward back = backward(&gradients);
    EXPECT_GT(dot(back.dx, back.dx), 1e-4);
    const bool constant_gate = config().gate != Gate::raw && config().top_k == 1;
    EXPECT_EQ(dot(back.dlogits, back.dlogits) > 1e-6, !constant_gate);
    for (const auto& array : {gradients.layers[0].shared_w1, gradients.layers[0].shared_w2}) {
      EXPECT_GT(dot(array, array), 1e-6);
    }
  });
}

std::string combination_name(const testing::TestParamInfo<Combination>& info) {
  static const char* const activations[] = {"identity", "relu", "gelu_tanh", "gelu_erf", "silu", "swiglu", "geglu"};
  static const char* const scores[] = {"softmax", "sigmoid"};
  static const char* const gates[] = {"raw", "renorm", "topk"};
  const auto& [activation, score, gate] = info.param;
  return std::string(activations[static_cast<int>(activation)]) + "_" + scores[static_cast<int>(score)] + "_" +
         gates[static_cast<int>(gate)];
}

INSTANTIATE_TEST_SUITE_P(All, LayerGradient,
                         testing::Combine(testing::Values(Activation::identity, Activation::relu, Activation::gelu_tanh,
                                                          Activation::gelu_erf, Activation::silu, Activation::swiglu,
                                                          Activation::geglu),
                                          testing::Values(Score::softmax, Score::sigmoid),
                                          testing::Values(Gate::raw, Gate::renorm, Gate::softmax_topk)),
                         combination_name);

}  // namespace
}  // namespace oracle
