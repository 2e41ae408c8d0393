// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

// The routing decision and its gradient, from fp32 logits (design: "Router"). One token a work item, or a warp's of a device.
namespace moemesh::kernels {

enum class Score : int32_t { softmax = 1, sigmoid = 2 };
enum class Gate : int32_t { raw = 1, renorm = 2, softmax_topk = 3 };

struct RouterConfig {
  int64_t experts = 0;
  int32_t top_k = 0;
  Score score = Score::softmax;
  Gate gate = Gate::renorm;
  float gate_scale = 1;
  const float* bias = nullptr;  // [experts], finite: added to the scores that are compared, and to nothing else
};

struct RouteSummary {
  int64_t routed = 0;            // unmasked tokens with a decision
  int64_t nonfinite = 0;         // unmasked rows with NaN, +inf, or fewer than k finite logits; they get no decision
  int64_t first_nonfinite = -1;  // the lowest such row
};

// logits [tokens, experts] with row stride ld; mask null or [tokens] (stride in elements), 0 = padding.
// chosen [tokens, k]: experts by falling score (+ bias), ties to the lower index, all distinct, never one with a -inf logit; -1 in
// rows without a decision. gates [tokens, k]: 0 there.
RouteSummary route(const RouterConfig& config, int64_t tokens, const float* logits, int64_t ld, const uint8_t* mask,
                   int64_t mask_stride, int32_t* chosen, float* gates);

// dlogits [tokens, experts] (dense, overwritten): gradient through the gates for gate gradients dgates [tokens, k]. Rows
// without a decision get 0. Renorm (softmax) and softmax_topk give an unchosen logit exactly 0.
void route_backward(const RouterConfig& config, int64_t tokens, const float* logits, int64_t ld, const int32_t* chosen,
                    const float* dgates, float* dlogits);

// counts[e] (overwritten) = how often e occurs in chosen[n].
void count_experts(int64_t n, const int32_t* chosen, int64_t experts, int64_t* counts);

}  // namespace moemesh::kernels
