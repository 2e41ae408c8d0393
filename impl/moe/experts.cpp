// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The products: routed experts on sorted rows, and the shared expert on all tokens.
#include "impl/moe/layer.hpp"
#include "kernels/gemm.hpp"
#include "kernels/permute.hpp"
#include "kernels/rows.hpp"

namespace moemesh {

// outputs[c] = sum over the copy's rows of gate * W2 act(W1 x). The gate is folded into the activation, so no pass over
// the outputs is needed for it.
void Layer::experts_forward(Tape& tape, const std::byte* const* copies, std::byte* const* outputs) {
  const ReceivePlan& plan = tape.received;
  Workspace& workspace = mesh_->workspace();
  const int64_t R = plan.rows, H = params_.hidden, F = local_ffn();
  const kernels::Groups groups{local_experts_.count, plan.expert_offsets.data()};
  float* x = workspace.get<float>(Workspace::rows_in, R * H);
  kernels::gather_rows(R, H, element(), copies, plan.copy_of_row.data(), x);
  tape.hidden.reserve(mesh_->allocator(), R * F);
  kernels::grouped_rows_times_transposed(groups, F, H, x, weights(*w1_), tape.hidden.data());
  if (gated()) {
    tape.hidden_gate.reserve(mesh_->allocator(), R * F);
    kernels::grouped_rows_times_transposed(groups, F, H, x, weights(*wg_), tape.hidden_gate.data());
  }
  float* active = workspace.get<float>(Workspace::rows_hidden, R * F);
  kernels::activate(activation(), R, F, tape.hidden.data(), gated() ? tape.hidden_gate.data() : nullptr,
                    plan.gate_of_row.data(), active);
  float* out = workspace.get<float>(Workspace::rows_out, R * H);
  kernels::grouped_rows_times_transposed(groups, H, F, active, weights(*w2_), out);
  kernels::combine_rows(plan.copies, H, plan.first_tag.data(), plan.row_of_tag.data(), out, combine_element(), outputs);
}

// gradients: dy of each copy. outputs: dx of each copy. The gates' gradients <dA, A> go into the row tags.
void Layer::experts_backward(Tape& tape, const std::byte* const* copies, const std::byte* const* gradients,
                             std::byte* const* outputs) {
  ReceivePlan& plan = tape.received;
  Workspace& workspace = mesh_->workspace();
  const int64_t R = plan.rows, H = params_.hidden, F = local_ffn();
  const kernels::Groups groups{local_experts_.count, plan.expert_offsets.data()};
  float* dy = workspace.get<float>(Workspace::rows_out, R * H);
  float* dh = workspace.get<float>(Workspace::rows_hidden, R * F);
  float* gated_a = workspace.get<float>(Workspace::rows_hidden2, R * F);
  float* dhg = gated() ? workspace.get<float>(Workspace::rows_hidden3, R * F) : nullptr;
  float* dgate = workspace.get<float>(Workspace::row_gradient, R);
  kernels::gather_rows(R, H, element(), gradients, plan.copy_of_row.data(), dy);
  kernels::grouped_rows_times(groups, F, H, dy, weights(*w2_), dh, false);
  kernels::activate_backward(activation(), R, F, tape.hidden.data(), gated() ? tape.hidden_gate.data() : nullptr,
                             plan.gate_of_row.data(), dh, dhg, gated_a, dgate);
  kernels::grouped_weight_gradient(groups, H, F, dy, gated_a, w2_->gradient);
  float* x = workspace.get<float>(Workspace::rows_in, R * H);
  kernels::gather_rows(R, H, element(), copies, plan.copy_of_row.data(), x);
  kernels::grouped_weight_gradient(groups, F, H, dh, x, w1_->gradient);
  if (gated()) kernels::grouped_weight_gradient(groups, F, H, dhg, x, wg_->gradient);
  float* dx = dy;  // dy is not needed any more
  kernels::grouped_rows_times(groups, H, F, dh, weights(*w1_), dx, false);
  if (gated()) kernels::grouped_rows_times(groups, H, F, dhg, weights(*wg_), dx, true);
  kernels::combine_rows(plan.copies, H, plan.first_tag.data(), plan.row_of_tag.data(), dx, combine_element(), outputs);
  kernels::write_gate_gradients(R, plan.row_of_tag.data(), dgate, plan.row_tags.data());
}

// y += W2 act(W1 x), without a gate. x has zeros in masked rows, which give zeros.
void Layer::shared_forward(Tape& tape, const Rows<float>& x, const Rows<float>& y) {
  if (!shared_w1_) return;
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  const auto product = [&](const Parameter& weights, Buffer<float>& out) {
    out.reserve(mesh_->allocator(), T * F);
    kernels::gemm({.transpose_b = true,
                   .m = T,
                   .n = F,
                   .k = H,
                   .a = x.data,
                   .lda = x.ld,
                   .b = widened(weights),
                   .ldb = H,
                   .c = out.data(),
                   .ldc = F});
  };
  product(*shared_w1_, tape.shared_hidden);
  if (gated()) product(*shared_wg_, tape.shared_hidden_gate);
  float* active = mesh_->workspace().get<float>(Workspace::rows_hidden, T * F);
  kernels::activate(activation(), T, F, tape.shared_hidden.data(), gated() ? tape.shared_hidden_gate.data() : nullptr,
                    nullptr, active);
  kernels::gemm({.transpose_b = true,
                 .m = T,
                 .n = H,
                 .k = F,
                 .a = active,
                 .lda = F,
                 .b = widened(*shared_w2_),
                 .ldb = F,
                 .c = y.data,
                 .ldc = y.ld,
                 .accumulate = true});
}

void Layer::shared_backward(Tape& tape, const Rows<float>& x, const Rows<float>& dy, const Rows<float>& dx) {
  if (!shared_w1_) return;
  Workspace& workspace = mesh_->workspace();
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  float* dh = workspace.get<float>(Workspace::rows_hidden, T * F);
  float* active = workspace.get<float>(Workspace::rows_hidden2, T * F);
  float* dhg = gated() ? workspace.get<float>(Workspace::rows_hidden3, T * F) : nullptr;
  kernels::gemm(
      {.m = T, .n = F, .k = H, .a = dy.data, .lda = dy.ld, .b = widened(*shared_w2_), .ldb = F, .c = dh, .ldc = F});
  kernels::activate_backward(activation(), T, F, tape.shared_hidden.data(),
                             gated() ? tape.shared_hidden_gate.data() : nullptr, nullptr, dh, dhg, active, nullptr);
  kernels::gemm({.transpose_a = true,
                 .m = H,
                 .n = F,
                 .k = T,
                 .a = dy.data,
                 .lda = dy.ld,
                 .b = active,
                 .ldb = F,
                 .c = shared_w2_->gradient,
                 .ldc = F,
                 .accumulate = true});
  const auto input = [&](const float* dhidden, const Parameter& weights) {
    kernels::gemm({.transpose_a = true,
                   .m = F,
                   .n = H,
                   .k = T,
                   .a = dhidden,
                   .lda = F,
                   .b = x.data,
                   .ldb = x.ld,
                   .c = weights.gradient,
                   .ldc = H,
                   .accumulate = true});
    kernels::gemm({.m = T,
                   .n = H,
                   .k = F,
                   .a = dhidden,
                   .lda = F,
                   .b = widened(weights),
                   .ldb = H,
                   .c = dx.data,
                   .ldc = dx.ld,
                   .accumulate = true});
  };
  input(dh, *shared_w1_);
  if (gated()) input(dhg, *shared_wg_);
}

}  // namespace moemesh
