// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The router: logits, decision, and the way of the gate gradients back into logits, router weights and x.
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
  if (arguments.mask_on_host && arguments.mask)
    kernels::copy_rows_of_bytes(decision.mask.data(), 1, arguments.mask, arguments.mask_stride, 1, decision.tokens);
  else
    kernels::keep_mask(decision.tokens, arguments.mask, arguments.mask_stride, decision.mask.data());
}

void keep_logits(const Rows<float>& from, Decision& decision) {
  constexpr auto element = static_cast<int64_t>(sizeof(float));
  if (from.on_host)
    kernels::copy_rows_of_bytes(decision.logits.data(), from.width * element, from.data, from.ld * element,
                                from.width * element, from.rows);
  else
    kernels::copy_masked(from.rows, from.width, from.data, from.ld, nullptr, 1, decision.logits.data(), from.width);
}

void give_logit_gradients(const float* from, const Rows<float>& to) {
  constexpr auto element = static_cast<int64_t>(sizeof(float));
  if (!to.on_host) return kernels::copy_masked(to.rows, to.width, from, to.width, nullptr, 1, to.data, to.ld);
  kernels::copy_rows_of_bytes(to.data, to.ld * element, from, to.width * element, to.width * element, to.rows);
  kernels::finish();
}

// A token whose logits are not finite is padding from here on: its x may be NaN and must not touch a product.
void mask_nonfinite(Decision& decision, int32_t top_k) {
  decision.has_mask = true;
  kernels::mask_undecided(decision.tokens, top_k, decision.chosen.data(), decision.mask.data());
}

}  // namespace

void Layer::decide(const ForwardArguments& arguments, const TypedRows& user_x, Tape& tape) {
  const auto& allocator = mesh_->allocator();
  const int64_t T = arguments.x.rows, E = params_.experts, k = params_.top_k;
  Decision& decision = tape.decision;
  decision.tokens = T;
  decision.logits.reserve(allocator, T * E);
  decision.chosen.reserve(allocator, T * k);
  decision.gates.reserve(allocator, T * k);
  keep_mask(arguments, allocator, decision);
  const Rows<float> x = caller_router() ? Rows<float>{} : dense_rows(Workspace::tokens2, tape, user_x);
  if (caller_router())
    keep_logits(arguments.logits, decision);
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
  if (caller_router()) return give_logit_gradients(gradient, dlogits);
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
