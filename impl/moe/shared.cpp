// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The shared expert, on all tokens: y = W2 act(W1 x), without a gate. x has zeros in masked rows, which give zeros.
#include "impl/moe/layer.hpp"
#include "kernels/gemm.hpp"

namespace moemesh {

// Where W1 x and Wg x lie: on the tape, or in scratch.
Layer::HiddenRows Layer::shared_hidden(Tape& tape, const Rows<float>& x) {
  const int64_t n = x.rows * local_shared_ffn();
  if (!tape.hidden)
    return {mesh_->workspace().get<float>(Workspace::hidden_again, n),
            gated() ? mesh_->workspace().get<float>(Workspace::hidden_gate_again, n) : nullptr};
  tape.hidden->shared_hidden.reserve(mesh_->allocator(), n);
  if (gated()) tape.hidden->shared_hidden_gate.reserve(mesh_->allocator(), n);
  return {tape.hidden->shared_hidden.data(), gated() ? tape.hidden->shared_hidden_gate.data() : nullptr};
}

void Layer::shared_products(const HiddenRows& hidden, const Rows<float>& x) {
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  const auto product = [&](const Parameter& weights, float* out) {
    kernels::gemm({.transpose_b = true,
                   .m = T,
                   .n = F,
                   .k = H,
                   .a = x.data,
                   .lda = x.ld,
                   .b = widened(weights),
                   .ldb = H,
                   .c = out,
                   .ldc = F});
  };
  product(*shared_w1_, hidden.h);
  if (gated()) product(*shared_wg_, hidden.gate);
}

void Layer::shared_forward(Tape& tape, const Rows<float>& x, const Rows<float>& y) {
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  const HiddenRows hidden = shared_hidden(tape, x);
  shared_products(hidden, x);
  float* active = mesh_->workspace().get<float>(Workspace::rows_hidden, T * F);
  kernels::activate(activation(), T, F, hidden.h, hidden.gate, nullptr, active);
  kernels::gemm({.transpose_b = true,
                 .m = T,
                 .n = H,
                 .k = F,
                 .a = active,
                 .lda = F,
                 .b = widened(*shared_w2_),
                 .ldb = F,
                 .c = y.data,
                 .ldc = y.ld});
}

void Layer::shared_backward(Tape& tape, const Rows<float>& x, const Rows<float>& dy, const Rows<float>& dx) {
  Workspace& workspace = mesh_->workspace();
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  float* dh = workspace.get<float>(Workspace::rows_hidden, T * F);
  float* active = workspace.get<float>(Workspace::rows_hidden2, T * F);
  float* dhg = gated() ? workspace.get<float>(Workspace::rows_hidden3, T * F) : nullptr;
  const HiddenRows hidden = shared_hidden(tape, x);
  if (!tape.hidden) shared_products(hidden, x);
  kernels::gemm(
      {.m = T, .n = F, .k = H, .a = dy.data, .lda = dy.ld, .b = widened(*shared_w2_), .ldb = F, .c = dh, .ldc = F});
  kernels::activate_backward(activation(), T, F, hidden.h, hidden.gate, nullptr, dh, dhg, active, nullptr);
  shared_weight_gradients(x, dy, {dh, dhg}, active);
  const auto input = [&](const float* dhidden, const Parameter& weights, bool add) {
    kernels::gemm({.m = T,
                   .n = H,
                   .k = F,
                   .a = dhidden,
                   .lda = F,
                   .b = widened(weights),
                   .ldb = H,
                   .c = dx.data,
                   .ldc = dx.ld,
                   .accumulate = add});
  };
  input(dh, *shared_w1_, false);
  if (gated()) input(dhg, *shared_wg_, true);
}

void Layer::shared_weight_gradients(const Rows<float>& x, const Rows<float>& dy, const HiddenRows& dhidden,
                                    const float* active) {
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  const auto gradient = [&](int64_t m, int64_t n, const float* a, int64_t lda, const float* b, int64_t ldb,
                            const Parameter& weights) {
    kernels::gemm({.transpose_a = true,
                   .m = m,
                   .n = n,
                   .k = T,
                   .a = a,
                   .lda = lda,
                   .b = b,
                   .ldb = ldb,
                   .c = weights.gradient,
                   .ldc = n,
                   .accumulate = true});
  };
  gradient(H, F, dy.data, dy.ld, active, F, *shared_w2_);
  gradient(F, H, dhidden.h, F, x.data, x.ld, *shared_w1_);
  if (gated()) gradient(F, H, dhidden.gate, F, x.data, x.ld, *shared_wg_);
}

}  // namespace moemesh
