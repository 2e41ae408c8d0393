// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// One MoE layer on a batch of T tokens, without a mesh: y = sum over the chosen experts of gate * expert(x), plus
// shared(x) without a gate.
#pragma once

#include "expert.hpp"
#include "router.hpp"

namespace oracle {

// What a capacity drops: position keeps the first tokens of an expert, gate those with the largest gates (of equal
// ones the earlier).
enum class Drop { position, gate };

// The tokens over which the balance loss is taken: the piece's, or each of its sequences', then their mean.
enum class AuxScope { shard, sequence };

struct LayerConfig {
  std::string name = "moe";  // prefix of the parameters' names, see parameters.hpp
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t experts = 0;
  std::int64_t shared_ffn = 0;  // 0 = no shared expert
  std::int64_t top_k = 1;
  Activation activation = Activation::swiglu;
  Score score = Score::softmax;
  Gate gate = Gate::renorm;
  double gate_scale = 1.0;
  bool caller_logits = false;  // true: no router weight, logits are handed in
  double capacity_factor = 0;  // 0 = dropless; four decimals count
  Drop drop = Drop::position;
  double aux_coefficient = 0;
  AuxScope aux_scope = AuxScope::shard;
  double z_coefficient = 0;
  double bias_rate = 0;  // what move_bias moves each element of `bias` by
  Array bias = {};       // [experts], of the selection; empty: zeros
};

// Weights, or their gradients. Unused arrays (wg of ungated kinds, the shared expert's, a caller's router) are empty.
struct LayerWeights {
  Array router;           // [experts, hidden]
  std::vector<Array> w1;  // [experts] of [ffn, hidden]
  std::vector<Array> wg;  // as w1
  std::vector<Array> w2;  // [experts] of [hidden, ffn]
  Array shared_w1;        // [shared_ffn, hidden]
  Array shared_wg;        // as shared_w1
  Array shared_w2;        // [hidden, shared_ffn]
};

// Weights of the right shapes, all 0: to be filled, or to add gradients into.
LayerWeights zero_weights(const LayerConfig& config);

// 0 = padding; an empty mask means that every row is a real token.
using Mask = std::vector<std::uint8_t>;

// Which sequence each of the T rows belongs to, for AuxScope::sequence: `count` sequences of T/count rows, one after
// the other, or interleaved ([position, sequence]).
struct Sequences {
  std::int64_t count = 1;
  bool interleaved = false;
};

enum class Objective {
  shard_mean,  // mean over pieces of each piece's mean loss; a piece without loss tokens adds 0 and still counts
  token_mean   // summed loss over all pieces divided by all loss tokens (0 where there are none)
};

struct LayerTape {
  std::int64_t tokens = 0;           // T, padding included
  Array x;                           // [T, hidden], as handed in
  Array y;                           // [T, hidden]
  Array logits;                      // [T, experts]; 0 in rows that are padding
  std::vector<std::int64_t> chosen;  // [T, top_k], by falling score; -1 in rows that go nowhere
  std::vector<std::int64_t> kept;    // [T, top_k]: chosen, -1 also in rows that the capacity drops
  Array gates;                       // [T, top_k], gate_scale included; 0 where kept is -1
  Sequences sequences;
  std::int64_t slots = 0;    // of each expert; 0 without a capacity
  std::int64_t dropped = 0;  // rows beyond the slots
  double aux = 0;            // the balance loss and the z-loss, coefficients included
  double z = 0;
  std::vector<std::int64_t>
      nonfinite;  // rows (not padding) whose logits can't be routed, ascending; treated as padding
  double margin =
      0;  // smallest selection_margin of the routed rows, and of the gates on the two sides of a capacity that
          // drops by gate; infinity without any
};

struct LayerBackward {
  Array dx;       // [T, hidden]
  Array dlogits;  // [T, experts], whoever made the logits
};

// x [T, hidden]; logits [T, experts] exactly where config.caller_logits. Throws std::invalid_argument on wrong shapes.
// Rows of padding are never read: they may hold NaN.
LayerTape layer_forward(const LayerConfig& config, const LayerWeights& weights, const Array& x, const Mask& mask = {},
                        const Array& logits = {}, const Sequences& sequences = {});

// dy [T, hidden], `weights` as in forward. Adds the weight gradients into `gradients` (see zero_weights). The layer's
// own losses are minimized too, scaled as the objective says (balance.hpp).
LayerBackward layer_backward(const LayerConfig& config, const LayerWeights& weights, const LayerTape& tape,
                             const Array& dy, LayerWeights* gradients, Objective objective = Objective::shard_mean);

// How many (token, expert) assignments each expert was chosen for, dropped ones included: [experts].
std::vector<std::int64_t> rows_per_expert(const LayerConfig& config, const LayerTape& tape);

// Experts with more than the mean of `rows` (of the whole batch) fall by bias_rate, those with less rise.
void move_bias(const std::vector<std::int64_t>& rows, LayerConfig* config);

}  // namespace oracle
