// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The router: logits, decision, and the way of the gate gradients back into logits, router weights and x.
#include <algorithm>
#include <cstring>

#include "impl/base/error.hpp"
#include "impl/moe/layer.hpp"
#include "kernels/gemm.hpp"
#include "kernels/rows.hpp"

namespace moemesh {
namespace {

void keep_mask(const ForwardArguments& arguments, const std::shared_ptr<const Allocator>& allocator,
               Decision& decision) {
  decision.has_mask = arguments.mask != nullptr;
  decision.mask.reserve(allocator, decision.tokens);
  for (int64_t t = 0; t < decision.tokens; ++t)
    decision.mask[t] = arguments.mask ? arguments.mask[t * arguments.mask_stride] : 1;
}

// A token whose logits are not finite is padding from here on: its x may be NaN and must not touch a product.
void mask_nonfinite(Decision& decision, int32_t top_k) {
  decision.has_mask = true;
  for (int64_t t = 0; t < decision.tokens; ++t)
    if (decision.chosen[t * top_k] < 0) decision.mask[t] = 0;
}

}  // namespace

void Layer::decide(const ForwardArguments& arguments, Tape& tape) {
  const auto& allocator = mesh_->allocator();
  const int64_t T = arguments.x.rows, E = params_.experts, k = params_.top_k;
  Decision& decision = tape.decision;
  decision.tokens = T;
  decision.logits.reserve(allocator, T * E);
  decision.chosen.reserve(allocator, T * k);
  decision.gates.reserve(allocator, T * k);
  keep_mask(arguments, allocator, decision);
  const Rows<float> x = caller_router() ? Rows<float>{} : dense_rows(Workspace::tokens2, tape, arguments.x);
  if (caller_router())
    kernels::copy_masked(T, E, arguments.logits.data, arguments.logits.ld, nullptr, 1, decision.logits.data(), E);
  else
    kernels::gemm({.transpose_b = true,
                   .m = T,
                   .n = E,
                   .k = params_.hidden,
                   .a = x.data,
                   .lda = x.ld,
                   .b = widened(*router_),
                   .ldb = params_.hidden,
                   .c = decision.logits.data(),
                   .ldc = E});
  const auto summary =
      kernels::route(router_config(), T, decision.logits.data(), E, decision.has_mask ? decision.mask.data() : nullptr,
                     1, decision.chosen.data(), decision.gates.data());
  decision.routed = summary.routed;
  decision.nonfinite = summary.nonfinite;
  require(summary.nonfinite == 0 || params_.nonfinite == MOEMESH_NONFINITE_DROP, MOEMESH_ERROR_NONFINITE_ROUTER,
          "layer {}: {} of {} logit rows have NaN, +inf or fewer than {} finite values, the first is token {}", name_,
          summary.nonfinite, T, k, summary.first_nonfinite);
  if (summary.nonfinite > 0) mask_nonfinite(decision, params_.top_k);
  limit_to_capacity(tape);
  if (arguments.training && balanced()) measure_balance(arguments, tape);
}

void Layer::router_backward(Tape& tape, const Rows<float>& x, const float* dgates, const Rows<float>& dx,
                            const Rows<float>& dlogits) {
  const int64_t T = tape.decision.tokens, E = params_.experts, H = params_.hidden;
  float* gradient = mesh_->workspace().get<float>(Workspace::logits, T * E);
  kernels::route_backward(router_config(), T, tape.decision.logits.data(), E, tape.decision.chosen.data(), dgates,
                          gradient);
  if (balanced()) balance_backward(tape, gradient);
  if (caller_router()) return kernels::copy_masked(T, E, gradient, E, nullptr, 1, dlogits.data, dlogits.ld);
  kernels::gemm({.transpose_a = true,
                 .m = E,
                 .n = H,
                 .k = T,
                 .a = gradient,
                 .lda = E,
                 .b = x.data,
                 .ldb = x.ld,
                 .c = router_->gradient,
                 .ldc = H,
                 .accumulate = true});
  kernels::gemm({.m = T,
                 .n = H,
                 .k = E,
                 .a = gradient,
                 .lda = E,
                 .b = widened(*router_),
                 .ldb = H,
                 .c = dx.data,
                 .ldc = dx.ld,
                 .accumulate = true});
}

}  // namespace moemesh
