// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The library's own losses: the balance of the experts and the router's z-loss. Measured in forward, differentiated in
// backward with the weights that the step gives them.
#include "kernels/balance.hpp"
#include "impl/moe/layer.hpp"

namespace moemesh {
namespace {

// Without sequences all tokens are one.
kernels::Sequences sequences_of(const ForwardArguments& arguments) {
  const int64_t count = arguments.sequences;
  return {count, arguments.x.rows / count, arguments.sequence_layout == MOEMESH_POSITION_MAJOR};
}

// aux is the mean of E/(k*n^2) * sum_te rows[e]*P_te over the sequences that have tokens, n each. Under SHARD_MEAN it
// is minimized as it is; under TOKEN_MEAN, where the caller sums, each sequence's counts as often as it has tokens.
void weigh_aux(const moemesh_layer_params& params, bool token_mean, double loss_scale, Balance& balance) {
  const int64_t count = balance.sequences.count;
  int64_t filled = 0;
  for (int64_t s = 0; s < count; ++s) filled += balance.sequence_tokens[s] > 0;
  const double factor = loss_scale * params.aux_coefficient * static_cast<double>(params.experts) / params.top_k;
  for (int64_t s = 0; s < count; ++s) {
    const auto n = static_cast<double>(balance.sequence_tokens[s]);
    balance.aux_weights[s] = n == 0 ? 0 : token_mean ? factor / n : factor / (n * n * static_cast<double>(filled));
  }
}

}  // namespace

void Layer::measure_balance(const ForwardArguments& arguments, Tape& tape) {
  const auto& allocator = mesh_->allocator();
  const Decision& decision = tape.decision;
  Balance& balance = tape.balance;
  const int64_t T = decision.tokens, S = arguments.sequences;
  balance.sequences = sequences_of(arguments);
  balance.rows.reserve(allocator, S * params_.experts);
  balance.sequence_tokens.reserve(allocator, S);
  balance.aux_weights.reserve(allocator, S);
  kernels::count_sequences(router_config(), balance.sequences, T, decision.chosen.data(), balance.rows.data(),
                           balance.sequence_tokens.data());
  auto* scratch = mesh_->workspace().get<double>(Workspace::logits, kernels::balance_workspace(T));
  auto* sums = mesh_->workspace().get_shared<double>(Workspace::offsets, 2 * S);
  const auto losses =
      kernels::balance_losses(router_config(), balance.sequences, T, decision.logits.data(), decision.chosen.data(),
                              balance.rows.data(), balance.sequence_tokens.data(), scratch, sums);
  balance.aux_loss = params_.aux_coefficient * losses.aux;
  balance.z_loss = params_.z_coefficient * losses.z;
  const StepState& step = *expert_->step;
  const bool token_mean = step.objective == MOEMESH_TOKEN_MEAN;
  weigh_aux(params_, token_mean, step.loss_scale, balance);
  const double tokens = token_mean || decision.routed == 0 ? 1 : static_cast<double>(decision.routed);
  balance.z_weight = step.loss_scale * params_.z_coefficient / tokens;
}

// Adds to dlogits. Needs no memory: it runs after the last exchange.
void Layer::balance_backward(const Tape& tape, float* dlogits) {
  const Balance& balance = tape.balance;
  kernels::balance_backward(router_config(), balance.sequences, tape.decision.tokens, tape.decision.logits.data(),
                            tape.decision.chosen.data(), balance.rows.data(),
                            params_.aux_coefficient > 0 ? balance.aux_weights.data() : nullptr, balance.z_weight,
                            dlogits);
}

}  // namespace moemesh
