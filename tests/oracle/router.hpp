// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The router's decision for one token: score, selection, gates, and the gates' gradient.
#pragma once

#include "dense.hpp"

namespace oracle {

enum class Score { softmax, sigmoid };

// raw: the chosen expert's score. renorm: score / sum of the chosen scores. softmax_topk: softmax over the chosen
// logits.
enum class Gate { raw, renorm, softmax_topk };

struct RouterConfig {
  Score score = Score::softmax;
  Gate gate = Gate::renorm;
  double gate_scale = 1.0;
  std::int64_t top_k = 1;
  Array bias = {};  // [experts] or empty: added to the scores that are compared, and to nothing else
};

// False for a row with NaN, +inf or fewer than top_k finite entries; single -inf entries are legal.
bool is_routable(const Array& logits, std::int64_t top_k);

// The score of every expert.
Array full_scores(Score score, const Array& logits);

// The top_k experts in order of falling score, ties to the lower index. Both scores grow with the logit, so the logits
// are compared: where scores saturate in floating point the order is still the exact one.
std::vector<std::int64_t> choose_experts(const Array& logits, std::int64_t top_k);

// The same by score + bias where the router has one.
std::vector<std::int64_t> choose_experts(const RouterConfig& config, const Array& logits);

// Distance between the last chosen and the best unchosen score, bias included; infinity where every expert is chosen.
double selection_margin(const RouterConfig& config, const Array& logits);

// The gates of the chosen experts, times gate_scale, in their order.
Array gates_forward(const RouterConfig& config, const Array& logits, const std::vector<std::int64_t>& chosen);

// Gradient of the gates (in the order of `chosen`) -> gradient of all logits. Only raw softmax gates reach the logits
// of unchosen experts; otherwise those are exactly 0.
Array gates_backward(const RouterConfig& config, const Array& logits, const std::vector<std::int64_t>& chosen,
                     const Array& d_gates);

}  // namespace oracle
