// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "layer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "balance.hpp"
#include "capacity.hpp"

namespace oracle {
namespace {

RouterConfig router_config(const LayerConfig& config) {
  return {config.score, config.gate, config.gate_scale, config.top_k, config.bias};
}

ExpertWeights expert_weights(const LayerConfig& config, const LayerWeights& weights, std::int64_t e) {
  return {&weights.w1[e], is_gated(config.activation) ? &weights.wg[e] : nullptr, &weights.w2[e]};
}

ExpertGradients expert_gradients(const LayerConfig& config, LayerWeights* gradients, std::int64_t e) {
  return {&gradients->w1[e], is_gated(config.activation) ? &gradients->wg[e] : nullptr, &gradients->w2[e]};
}

ExpertWeights shared_weights(const LayerWeights& weights) {
  return {&weights.shared_w1, &weights.shared_wg, &weights.shared_w2};
}

ExpertGradients shared_gradients(LayerWeights* gradients) {
  return {&gradients->shared_w1, &gradients->shared_wg, &gradients->shared_w2};
}

void require_same_size(const Array& array, const Array& pattern, const std::string& what) {
  require_size(array, static_cast<std::int64_t>(pattern.size()), what);
}

void require_experts(const std::vector<Array>& matrices, const std::vector<Array>& pattern, const std::string& what) {
  if (matrices.size() != pattern.size()) throw std::invalid_argument("oracle: wrong number of experts in " + what);
  for (std::size_t e = 0; e < matrices.size(); ++e) require_same_size(matrices[e], pattern[e], what);
}

void require_weights(const LayerConfig& config, const LayerWeights& weights) {
  const LayerWeights pattern = zero_weights(config);
  require_same_size(weights.router, pattern.router, "router");
  require_experts(weights.w1, pattern.w1, "w1");
  require_experts(weights.wg, pattern.wg, "wg");
  require_experts(weights.w2, pattern.w2, "w2");
  require_same_size(weights.shared_w1, pattern.shared_w1, "shared w1");
  require_same_size(weights.shared_wg, pattern.shared_wg, "shared wg");
  require_same_size(weights.shared_w2, pattern.shared_w2, "shared w2");
}

void require_config(const LayerConfig& config) {
  const bool sizes = config.hidden >= 1 && config.ffn >= 1 && config.experts >= 1 && config.shared_ffn >= 0;
  if (sizes && config.top_k >= 1 && config.top_k <= config.experts) return;
  throw std::invalid_argument("oracle: a size of the layer is out of range");
}

void require_inputs(const LayerConfig& config, const LayerTape& tape, const Mask& mask, const Array& logits) {
  require_size(tape.x, tape.tokens * config.hidden, "x");
  require_size(logits, config.caller_logits ? tape.tokens * config.experts : 0, "logits");
  if (!mask.empty() && static_cast<std::int64_t>(mask.size()) != tape.tokens) {
    throw std::invalid_argument("oracle: the mask must be empty or have one entry per token");
  }
}

LayerTape empty_tape(const LayerConfig& config, const Array& x) {
  LayerTape tape;
  tape.x = x;
  tape.tokens = static_cast<std::int64_t>(x.size()) / config.hidden;
  tape.y.assign(x.size(), 0.0);
  tape.logits.assign(tape.tokens * config.experts, 0.0);
  tape.chosen.assign(tape.tokens * config.top_k, -1);
  tape.kept = tape.chosen;
  tape.gates.assign(tape.tokens * config.top_k, 0.0);
  tape.margin = std::numeric_limits<double>::infinity();
  return tape;
}

// Takes the decision for row t; false if its logits can't be routed.
bool route_row(const LayerConfig& config, std::int64_t t, const Array& logits, LayerTape* tape) {
  add_to_row(&tape->logits, t, logits);
  if (!is_routable(logits, config.top_k)) return false;
  const auto chosen = choose_experts(router_config(config), logits);
  add_to_row(&tape->gates, t, gates_forward(router_config(config), logits, chosen));
  std::copy(chosen.begin(), chosen.end(), tape->chosen.begin() + t * config.top_k);
  tape->margin = std::min(tape->margin, selection_margin(router_config(config), logits));
  return true;
}

void compute_row(const LayerConfig& config, const LayerWeights& weights, std::int64_t t, LayerTape* tape) {
  const Array x = row_of(tape->x, t, config.hidden);
  for (std::int64_t i = t * config.top_k; i < (t + 1) * config.top_k; ++i) {
    if (tape->kept[i] < 0) continue;
    const auto expert = expert_weights(config, weights, tape->kept[i]);
    add_to_row(&tape->y, t, expert_forward(config.activation, expert, x), tape->gates[i]);
  }
  if (config.shared_ffn > 0) add_to_row(&tape->y, t, expert_forward(config.activation, shared_weights(weights), x));
}

// Experts of one row: adds weight gradients and dx, returns the gradient of the row's gates.
Array experts_backward(const LayerConfig& config, const LayerWeights& weights, const LayerTape& tape, std::int64_t t,
                       const Array& dy, LayerWeights* gradients, Array* dx) {
  const Array x = row_of(tape.x, t, config.hidden);
  Array d_gates;
  for (std::int64_t i = t * config.top_k; i < (t + 1) * config.top_k; ++i) {
    const std::int64_t e = tape.kept[i];
    if (e < 0) {
      d_gates.push_back(0.0);
      continue;
    }
    const auto expert = expert_weights(config, weights, e);
    d_gates.push_back(dot(dy, expert_forward(config.activation, expert, x)));
    Array d_output = dy;
    for (double& value : d_output) value *= tape.gates[i];
    add_to(dx, expert_backward(config.activation, expert, x, d_output, expert_gradients(config, gradients, e)));
  }
  return d_gates;
}

Array router_backward(const LayerConfig& config, const LayerTape& tape, std::int64_t t, const Array& d_gates) {
  const auto first = tape.chosen.begin() + t * config.top_k;
  const std::vector<std::int64_t> chosen(first, first + config.top_k);
  return gates_backward(router_config(config), row_of(tape.logits, t, config.experts), chosen, d_gates);
}

void backward_row(const LayerConfig& config, const LayerWeights& weights, const LayerTape& tape, std::int64_t t,
                  const Array& dy, const Array& d_balance, LayerWeights* gradients, LayerBackward* result) {
  const Array x = row_of(tape.x, t, config.hidden);
  Array dx(config.hidden, 0.0);
  Array d_logits = router_backward(config, tape, t, experts_backward(config, weights, tape, t, dy, gradients, &dx));
  add_to(&d_logits, row_of(d_balance, t, config.experts));
  if (!config.caller_logits) {
    add_outer(&gradients->router, d_logits, x);
    add_to(&dx, multiply_transposed(weights.router, d_logits));
  }
  if (config.shared_ffn > 0) {
    add_to(&dx, expert_backward(config.activation, shared_weights(weights), x, dy, shared_gradients(gradients)));
  }
  add_to_row(&result->dx, t, dx);
  add_to_row(&result->dlogits, t, d_logits);
}

}  // namespace

LayerWeights zero_weights(const LayerConfig& config) {
  const Array matrix(config.ffn * config.hidden, 0.0);
  const Array shared(config.shared_ffn * config.hidden, 0.0);
  const bool gated = is_gated(config.activation);
  LayerWeights weights;
  if (!config.caller_logits) weights.router.assign(config.experts * config.hidden, 0.0);
  weights.w1.assign(config.experts, matrix);
  if (gated) weights.wg.assign(config.experts, matrix);
  weights.w2.assign(config.experts, matrix);
  weights.shared_w1 = shared;
  if (gated) weights.shared_wg = shared;
  weights.shared_w2 = shared;
  return weights;
}

LayerTape layer_forward(const LayerConfig& config, const LayerWeights& weights, const Array& x, const Mask& mask,
                        const Array& logits, const Sequences& sequences) {
  require_config(config);
  require_weights(config, weights);
  LayerTape tape = empty_tape(config, x);
  tape.sequences = sequences;
  require_inputs(config, tape, mask, logits);
  for (std::int64_t t = 0; t < tape.tokens; ++t) {
    if (!mask.empty() && mask[t] == 0) continue;
    const Array row = config.caller_logits ? row_of(logits, t, config.experts)
                                           : multiply(weights.router, row_of(x, t, config.hidden));
    if (!route_row(config, t, row, &tape)) tape.nonfinite.push_back(t);
  }
  drop_beyond_capacity(config, &tape);
  for (std::int64_t t = 0; t < tape.tokens; ++t) {
    if (tape.chosen[t * config.top_k] >= 0) compute_row(config, weights, t, &tape);
  }
  const BalanceLoss balance = balance_loss(config, tape, Objective::shard_mean);
  tape.aux = balance.aux;
  tape.z = balance.z;
  return tape;
}

LayerBackward layer_backward(const LayerConfig& config, const LayerWeights& weights, const LayerTape& tape,
                             const Array& dy, LayerWeights* gradients, Objective objective) {
  require_same_size(dy, tape.x, "dy");
  require_weights(config, weights);
  require_weights(config, *gradients);
  LayerBackward result{Array(dy.size(), 0.0), Array(tape.logits.size(), 0.0)};
  const Array d_balance = balance_loss(config, tape, objective).dlogits;
  for (std::int64_t t = 0; t < tape.tokens; ++t) {
    if (tape.chosen[t * config.top_k] < 0) continue;
    backward_row(config, weights, tape, t, row_of(dy, t, config.hidden), d_balance, gradients, &result);
  }
  return result;
}

std::vector<std::int64_t> rows_per_expert(const LayerConfig& config, const LayerTape& tape) {
  std::vector<std::int64_t> rows(config.experts, 0);
  for (std::int64_t e : tape.chosen) {
    if (e >= 0) ++rows[e];
  }
  return rows;
}

void move_bias(const std::vector<std::int64_t>& rows, LayerConfig* config) {
  config->bias.resize(config->experts, 0.0);
  double mean = 0;
  for (std::int64_t count : rows) mean += static_cast<double>(count);
  mean /= static_cast<double>(config->experts);
  for (std::size_t e = 0; e < rows.size(); ++e) {
    const double excess = static_cast<double>(rows[e]) - mean;
    // A count and the mean are a multiple of 1/experts apart, or equal but for rounding.
    if (std::abs(excess) > 0.5 / static_cast<double>(config->experts))
      config->bias[e] -= std::copysign(config->bias_rate, excess);
  }
}

}  // namespace oracle
