// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The table of cases, and the oracle's side of a run.

#include "invariance_case.hpp"

#include <limits>
#include <stdexcept>

namespace moemesh::test {
namespace {

using oracle::Activation;
using oracle::Array;
using oracle::Gate;
using oracle::LayerConfig;
using oracle::Score;

LayerConfig layer(const char* name, int64_t experts, int64_t top_k, Activation activation, Score score, Gate gate) {
  LayerConfig config;
  config.name = name;
  config.ffn = 16;
  config.experts = experts;
  config.top_k = top_k;
  config.activation = activation;
  config.score = score;
  config.gate = gate;
  return config;
}

// Both layers of a case. tp up to 8 must divide all widths.
std::vector<LayerConfig> stack(int64_t hidden, LayerConfig first, LayerConfig second) {
  first.hidden = second.hidden = hidden;
  first.ffn = 24;
  return {first, second};
}

LayerConfig with_shared_expert(LayerConfig config, int64_t width) {
  config.shared_ffn = width;
  return config;
}

LayerConfig with_gate_scale(LayerConfig config, double scale) {
  config.gate_scale = scale;
  return config;
}

LayerConfig with_capacity(LayerConfig config, double factor, oracle::Drop drop) {
  config.capacity_factor = factor;
  config.drop = drop;
  return config;
}

LayerConfig with_balance(LayerConfig config, oracle::AuxScope scope, double aux, double z) {
  config.aux_scope = scope;
  config.aux_coefficient = aux;
  config.z_coefficient = z;
  return config;
}

LayerConfig with_bias(LayerConfig config, double rate) {
  config.bias_rate = rate;
  return config;
}

LayerConfig with_caller_logits(LayerConfig config) {
  config.caller_logits = true;
  return config;
}

}  // namespace

std::vector<Case> invariance_cases() {
  constexpr auto softmax = Score::softmax, sigmoid = Score::sigmoid;
  using A = Activation;
  std::vector<Case> cases;
  cases.push_back({.name = "renorm_and_raw",
                   .layers = stack(16, layer("a", 5, 2, A::swiglu, softmax, Gate::renorm),
                                   with_shared_expert(layer("b", 8, 1, A::gelu_erf, sigmoid, Gate::raw), 8)),
                   .loss_scale = 3.7});
  cases.push_back(
      {.name = "padding_few_experts",
       .layers =
           stack(24, layer("a", 3, 1, A::relu, softmax, Gate::raw),
                 with_gate_scale(with_shared_expert(layer("b", 6, 3, A::geglu, softmax, Gate::softmax_topk), 16), 2.5)),
       .padding = 0.3,
       .tapes_together = true,
       .loss_scale = 0.3,
       .first_objective = oracle::Objective::token_mean});
  cases.push_back({.name = "chunks_and_recompute",
                   .layers = stack(16, layer("a", 5, 2, A::swiglu, softmax, Gate::renorm),
                                   with_shared_expert(layer("b", 8, 1, A::gelu_erf, sigmoid, Gate::raw), 8)),
                   .tapes_together = true,
                   .loss_scale = 3.7,
                   .recompute = MOEMESH_RECOMPUTE_FULL,
                   .chunks = 3});
  cases.push_back({.name = "sigmoid_many_choices",
                   .layers = stack(8, layer("a", 7, 4, A::silu, sigmoid, Gate::renorm),
                                   layer("b", 8, 2, A::gelu_tanh, sigmoid, Gate::softmax_topk)),
                   .tapes_together = true,
                   .loss_scale = 100});
  cases.push_back({.name = "all_to_one_expert",
                   .layers = stack(16, with_caller_logits(layer("a", 6, 1, A::identity, softmax, Gate::raw)),
                                   layer("b", 4, 4, A::swiglu, softmax, Gate::raw)),
                   .to_one_expert = true,
                   .loss_scale = 2,
                   .first_objective = oracle::Objective::token_mean});
  cases.push_back({.name = "one_piece_with_tokens",
                   .layers = stack(24, with_shared_expert(layer("a", 4, 2, A::swiglu, softmax, Gate::raw), 8),
                                   with_caller_logits(layer("b", 5, 3, A::silu, sigmoid, Gate::raw))),
                   .tokens = {0, 0, 0, 0, 0, 11, 0, 0},
                   .padding = 0.2,
                   .loss_scale = 0.5});
  cases.push_back({.name = "single_choice_renorm",
                   .layers = stack(8, with_shared_expert(layer("a", 8, 1, A::geglu, softmax, Gate::renorm), 8),
                                   layer("b", 1, 1, A::swiglu, sigmoid, Gate::renorm)),
                   .tapes_together = true,
                   .loss_scale = 3,
                   .first_objective = oracle::Objective::token_mean});
  cases.push_back({.name = "bf16",
                   .layers = stack(16, layer("a", 5, 2, A::swiglu, softmax, Gate::renorm),
                                   with_shared_expert(layer("b", 4, 1, A::gelu_erf, sigmoid, Gate::raw), 8)),
                   .loss_scale = 3.7,
                   .dtype = MOEMESH_BFLOAT16});
  cases.push_back({.name = "bf16_fp32_combine",
                   .layers = stack(24, with_shared_expert(layer("a", 6, 3, A::geglu, softmax, Gate::raw), 16),
                                   with_caller_logits(layer("b", 3, 2, A::silu, sigmoid, Gate::raw))),
                   .padding = 0.2,
                   .tapes_together = true,
                   .dtype = MOEMESH_BFLOAT16,
                   .combine_dtype = MOEMESH_FLOAT32,
                   .first_objective = oracle::Objective::token_mean});
  using oracle::AuxScope;
  using oracle::Drop;
  cases.push_back(
      {.name = "capacity_by_position",
       .layers = stack(16,
                       with_capacity(with_shared_expert(layer("a", 5, 2, A::swiglu, softmax, Gate::renorm), 8), 0.9,
                                     Drop::position),
                       with_capacity(layer("b", 4, 3, A::silu, sigmoid, Gate::renorm), 0.7, Drop::position)),
       .padding = 0.25,
       .tapes_together = true,
       .loss_scale = 0.7});
  cases.push_back(
      {.name = "capacity_by_gate_balanced",
       .layers = stack(16,
                       with_balance(with_capacity(layer("a", 6, 2, A::geglu, softmax, Gate::raw), 1.0, Drop::gate),
                                    AuxScope::shard, 0.3, 0.02),
                       with_balance(with_capacity(layer("b", 4, 1, A::relu, sigmoid, Gate::raw), 0.8, Drop::gate),
                                    AuxScope::shard, 0.2, 0.01)),
       .padding = 0.15,
       .loss_scale = 2.5,
       .first_objective = oracle::Objective::token_mean});
  cases.push_back(
      {.name = "balanced_sequences",
       .layers = stack(8,
                       with_balance(with_caller_logits(layer("a", 5, 2, A::swiglu, softmax, Gate::renorm)),
                                    AuxScope::sequence, 0.5, 0.05),
                       with_balance(with_shared_expert(layer("b", 7, 3, A::gelu_erf, sigmoid, Gate::softmax_topk), 8),
                                    AuxScope::sequence, 0.4, 0.03)),
       .tokens = {6, 0, 3, 12, 9, 3, 6, 9},
       .padding = 0.4,
       .loss_scale = 5,
       .sequences = {3, true}});
  // Rates at which the selection is another one after a step.
  cases.push_back(
      {.name = "biased",
       .layers =
           stack(16, with_bias(with_shared_expert(layer("a", 5, 2, A::swiglu, softmax, Gate::raw), 8), 0.06),
                 with_bias(with_capacity(layer("b", 6, 3, A::silu, sigmoid, Gate::renorm), 0.9, Drop::position), 0.11)),
       .padding = 0.2,
       .loss_scale = 1.5});
  cases.push_back(
      {.name = "biased_callers_router",
       .layers = stack(8,
                       with_balance(with_bias(with_caller_logits(layer("a", 7, 3, A::geglu, sigmoid, Gate::raw)), 0.15),
                                    AuxScope::shard, 0.3, 0.02),
                       layer("b", 4, 1, A::swiglu, softmax, Gate::renorm)),
       .tapes_together = true,
       .first_objective = oracle::Objective::token_mean});
  return cases;
}

const Case& case_of(const std::string& name) {
  static const std::vector<Case> cases = invariance_cases();
  for (const Case& setting : cases)
    if (setting.name == name) return setting;
  throw std::invalid_argument("no case " + name);
}

namespace {

// The program's own SHARED parameters, one for each tp kind, all used by the loss; see mixed_loss.
std::vector<ParameterSpec> loss_parameters(int64_t hidden) {
  const ParameterSpec replica{.name = "loss.replica",
                              .extents = {hidden},
                              .init_kind = MOEMESH_INIT_CONSTANT,
                              .init_value = 1,
                              .decay_scale = 0,
                              .learning_rate_scale = 0.5};
  const ParameterSpec sharded{.name = "loss.sharded",
                              .extents = {2, hidden},
                              .tp_kind = MOEMESH_TP_SHARDED,
                              .tp_dim = 1,
                              .init_kind = MOEMESH_INIT_UNIFORM,
                              .init_value = 0.5,
                              .decay_scale = 2};
  const ParameterSpec partial{.name = "loss.partial",
                              .extents = {hidden},
                              .tp_kind = MOEMESH_TP_PARTIAL,
                              .init_kind = MOEMESH_INIT_NORMAL,
                              .init_value = 0.3,
                              .learning_rate_scale = 2};
  return {replica, sharded, partial};
}

// z = replica*y + sharded[0] + sharded[1]*target + partial*x per channel; the loss is 0.5*|z - target|^2.
oracle::Loss mixed_loss(const oracle::Piece& piece, const Array& y, const std::vector<Array>& shared) {
  const auto hidden = static_cast<int64_t>(shared[0].size());
  oracle::Loss loss;
  loss.dy.assign(y.size(), 0.0);
  for (const Array& array : shared) loss.d_shared.emplace_back(array.size(), 0.0);
  for (int64_t t = 0; t < piece.tokens; ++t) {
    if (!piece.mask.empty() && piece.mask[t] == 0) continue;
    ++loss.tokens;
    for (int64_t h = 0; h < hidden; ++h) {
      const int64_t i = t * hidden + h;
      const double x = piece.x[i], target = piece.target[i];
      const double z = shared[0][h] * y[i] + shared[1][h] + shared[1][hidden + h] * target + shared[2][h] * x;
      const double error = z - target;
      loss.sum += 0.5 * error * error;
      loss.dy[i] = error * shared[0][h];
      loss.d_shared[0][h] += error * y[i];
      loss.d_shared[1][h] += error;
      loss.d_shared[1][hidden + h] += error * target;
      loss.d_shared[2][h] += error * x;
    }
  }
  return loss;
}

// Of the clipped gradient an element has about 0.02. Rates are large, so that displacements stand out of the masters'
// own fp32 rounding, and AdamW's epsilon is not far below the gradients, so that elements that are nothing but rounding
// noise do not move by a whole learning rate.
std::vector<Phase> phases_of(const Case& setting) {
  oracle::OptimizerConfig sgd;
  sgd.kind = oracle::OptimizerKind::sgd;
  sgd.learning_rate = 0.25;
  sgd.momentum = 0.8;
  sgd.weight_decay = 0.05;
  sgd.max_norm = 0.7;
  oracle::OptimizerConfig adamw;
  adamw.learning_rate = 0.02;
  adamw.beta1 = 0.8;
  adamw.beta2 = 0.95;
  adamw.epsilon = setting.dtype == MOEMESH_BFLOAT16 ? 1e-2 : 1e-3;
  adamw.weight_decay = 0.1;
  adamw.max_norm = 0.5;
  for (const ParameterSpec& parameter : loss_parameters(setting.layers[0].hidden))
    sgd.scales[parameter.name] = adamw.scales[parameter.name] = {parameter.decay_scale, parameter.learning_rate_scale};
  const bool first_is_mean = setting.first_objective == oracle::Objective::shard_mean;
  const int steps = setting.dtype == MOEMESH_BFLOAT16 ? 2 : 3;  // rounding adds up from step to step
  const auto other = first_is_mean ? oracle::Objective::token_mean : oracle::Objective::shard_mean;
  return {{sgd, setting.first_objective, steps}, {adamw, other, steps}};
}

void send_to_last_expert(const LayerConfig& config, oracle::Piece* piece) {
  for (int64_t t = 0; t < piece->tokens; ++t) piece->logits[0][(t + 1) * config.experts - 1] = 5.0;
}

// Padding must not be looked at.
void spoil_padding(int64_t hidden, oracle::Piece* piece) {
  for (int64_t i = 0; i < piece->tokens * hidden; ++i)
    if (piece->mask[i / hidden] == 0) piece->x[i] = std::numeric_limits<double>::quiet_NaN();
}

std::vector<oracle::Piece> draw(const Expected& expected, const oracle::Parameters& values, uint64_t seed) {
  const Case& setting = expected.setting;
  oracle::DrawOptions options;
  options.seed = seed;
  // 1e-3 is wanted (2e-2 with bf16); the rest is for weights that differ by rounding.
  options.margin = setting.dtype == MOEMESH_BFLOAT16 ? 4e-2 : 2e-3;
  options.padding = setting.padding;
  auto pieces = oracle::draw_pieces(expected.model, values, setting.tokens, options);
  for (oracle::Piece& piece : pieces) {
    if (setting.to_one_expert) send_to_last_expert(setting.layers[0], &piece);
    piece.sequences = setting.sequences;
    spoil_padding(setting.layers[0].hidden, &piece);
  }
  return pieces;
}

// What forward and backward see of the masters.
oracle::Parameters as_used(const Expected& expected, const oracle::Parameters& values) {
  oracle::Parameters used = values;
  if (expected.setting.dtype == MOEMESH_BFLOAT16)
    for (const auto& array : oracle::named_arrays(expected.model, used)) {
      const Floats rounded = rounded_to_half(to_floats(*array.values));
      array.values->assign(rounded.begin(), rounded.end());
    }
  return used;
}

// Moves the selection biases of the expected model as it goes.
ExpectedPhase oracle_phase(Expected& expected, const Phase& phase, uint64_t seed, oracle::Parameters* values) {
  ExpectedPhase result{phase, {}, {}, {}};
  oracle::Optimizer optimizer(phase.optimizer);
  for (int i = 0; i < phase.steps; ++i) {
    ExpectedStep step;
    const oracle::Parameters used = as_used(expected, *values);
    step.pieces = draw(expected, used, seed + static_cast<uint64_t>(i));
    step.result = oracle::run_step(expected.model, used, step.pieces, phase.objective);
    step.update = optimizer.update(oracle::named_arrays(expected.model, *values),
                                   oracle::named_arrays(expected.model, step.result.gradients));
    step.values = *values;
    oracle::move_biases(step.result, &expected.model);
    for (const LayerConfig& layer : expected.model.layers) step.biases.push_back(layer.bias);
    result.steps.push_back(std::move(step));
  }
  result.moment1 = optimizer.moment1;
  result.moment2 = optimizer.moment2;
  return result;
}

}  // namespace

ModelSpec model_spec(const Case& setting) {
  ModelSpec spec;
  spec.seed = 7;
  spec.layers = setting.layers;
  spec.shared = loss_parameters(setting.layers[0].hidden);
  spec.init_std_in = spec.init_std_out = 0.3;
  spec.dtype = setting.dtype;
  spec.combine_dtype = setting.combine_dtype;
  spec.recompute = setting.recompute;
  spec.chunks = setting.chunks;
  spec.optimizer.reset();
  return spec;
}

Expected oracle_run(const Case& setting) {
  Expected expected;
  expected.setting = setting;
  const Session alone(MPI_COMM_NULL);
  const Mesh mesh(alone, {});
  ModelSpec exact = model_spec(setting);
  exact.dtype = MOEMESH_FLOAT32;  // bf16 families start from the same masters
  exact.combine_dtype = 0;
  const Model model(mesh, exact);
  expected.model = model.oracle_model();
  expected.model.loss = mixed_loss;
  expected.initial = model.read_all();
  oracle::Parameters values = expected.initial;
  uint64_t seed = 100;
  for (const Phase& phase : phases_of(setting)) {
    expected.phases.push_back(oracle_phase(expected, phase, seed, &values));
    seed += 100;
  }
  return expected;
}

}  // namespace moemesh::test
