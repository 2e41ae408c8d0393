// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

#include "kernels/router.hpp"

// The balance loss and the z-loss of a router, and their gradients. Sums run in the order of tokens, whatever the
// number of threads. Tokens without a decision (chosen = -1) count nowhere; -inf logits have a score and a gradient
// of 0.
namespace moemesh::kernels {

// Token t belongs to sequence t / length, or interleaved to t % count.
struct Sequences {
  int64_t count = 1;
  int64_t length = 0;
  bool interleaved = false;
};

// rows[s, e] = choices of expert e by the tokens of sequence s; real[s] = its tokens that have a decision. Both
// overwritten.
void count_sequences(const RouterConfig& config, const Sequences& sequences, int64_t tokens, const int32_t* chosen,
                     int64_t* rows, int64_t* real);

struct BalanceLosses {
  double aux = 0;  // mean over the sequences with tokens of E * sum_e f_e*P_e
  double z = 0;    // mean over the tokens of logsumexp^2
};

// The values, without coefficients. rows and real: from count_sequences, real such that the host reads it. workspace:
// balance_workspace doubles; sums: two for each sequence, such that the host reads them.
int64_t balance_workspace(int64_t tokens);
BalanceLosses balance_losses(const RouterConfig& config, const Sequences& sequences, int64_t tokens,
                             const float* logits, const int32_t* chosen, const int64_t* rows, const int64_t* real,
                             double* workspace, double* sums);

// dlogits [tokens, experts] += the gradient of  sum_t (aux_weights[s(t)] * sum_e rows[s(t), e]*P_te + z_weight *
// logsumexp_t^2),  rows constant. aux_weights null: without the first sum; z_weight 0: without the second.
void balance_backward(const RouterConfig& config, const Sequences& sequences, int64_t tokens, const float* logits,
                      const int32_t* chosen, const int64_t* rows, const double* aux_weights, double z_weight,
                      float* dlogits);

}  // namespace moemesh::kernels
