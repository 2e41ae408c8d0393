// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The layer's own losses: the balance of the experts, aux = coefficient * E * sum_e f_e P_e (Fedus et al. 2022), and
// z = coefficient * mean of logsumexp^2 (Zoph et al. 2022).
#pragma once

#include "layer.hpp"

namespace oracle {

struct BalanceLoss {
  double aux = 0;     // of the piece: over all its tokens, or the mean over its sequences that have tokens
  double z = 0;       // of the piece
  double scaled = 0;  // what is minimized beside the caller's loss of the piece: aux + z under shard_mean; under
                      // token_mean each sequence's aux, and z, times the tokens that it was taken over
  Array dlogits;      // [T, experts] of `scaled`, with f held constant
};

BalanceLoss balance_loss(const LayerConfig& config, const LayerTape& tape, Objective objective);

}  // namespace oracle
