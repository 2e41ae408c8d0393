// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The products: routed experts on sorted rows, and the shared expert on all tokens.
#include <algorithm>

#include "impl/moe/layer.hpp"
#include "impl/timeline/span.hpp"
#include "kernels/gemm.hpp"
#include "kernels/permute.hpp"
#include "kernels/rows.hpp"

namespace moemesh {
namespace {

// The rows of one expert, as a group of its own.
struct ExpertRows {
  int64_t expert, first, rows;
  int64_t range[2];
  explicit ExpertRows(int64_t e, const int64_t* offsets)
      : expert(e), first(offsets[e]), rows(offsets[e + 1] - first), range{0, rows} {}
  kernels::Groups group() const { return {1, range}; }
};

// body(rows) for every expert that has some.
template <class Body>
void for_each_expert(const ReceivePlan& plan, const Body& body) {
  for (size_t e = 0; e + 1 < plan.expert_offsets.size(); ++e) {
    const ExpertRows rows(static_cast<int64_t>(e), plan.expert_offsets.data());
    if (rows.rows > 0) body(rows);
  }
}

int64_t most_rows(const ReceivePlan& plan) {
  int64_t most = 0;
  for_each_expert(plan, [&](const ExpertRows& rows) { most = std::max(most, rows.rows); });
  return most;
}

}  // namespace

kernels::Weights Layer::weights(const Parameter& parameter, int64_t expert) {
  kernels::Weights matrix = weights(parameter);
  matrix.data += expert * parameter.local_matrix() * kernels::bytes_of(matrix.element);
  return matrix;
}

// outputs[c] = sum over the copy's rows of gate * W2 act(W1 x). The gate is folded into the activation, so no pass over
// the outputs is needed for it. One expert after the other: what a product writes is still in the cache for the next.
void Layer::experts_forward(Tape& tape, const std::byte* const* copies, std::byte* const* outputs) {
  const ReceivePlan& plan = tape.received;
  const timeline::Span span(mesh_->recorder(), timeline::Kind::experts, plan.rows);
  Workspace& workspace = mesh_->workspace();
  const int64_t R = plan.rows, H = params_.hidden, F = local_ffn();
  float* x = workspace.get<float>(Workspace::rows_in, R * H);
  float* active = workspace.get<float>(Workspace::rows_hidden, most_rows(plan) * F);
  float* out = workspace.get<float>(Workspace::rows_out, R * H);
  tape.hidden.reserve(mesh_->allocator(), R * F);
  if (gated()) tape.hidden_gate.reserve(mesh_->allocator(), R * F);
  kernels::gather_rows(R, H, element(), copies, plan.copy_of_row.data(), x);
  for_each_expert(plan, [&](const ExpertRows& r) {
    float* h = tape.hidden.data() + r.first * F;
    float* hg = gated() ? tape.hidden_gate.data() + r.first * F : nullptr;
    kernels::grouped_rows_times_transposed(r.group(), F, H, x + r.first * H, weights(*w1_, r.expert), h);
    if (hg) kernels::grouped_rows_times_transposed(r.group(), F, H, x + r.first * H, weights(*wg_, r.expert), hg);
    kernels::activate(activation(), r.rows, F, h, hg, plan.gate_of_row.data() + r.first, active);
    kernels::grouped_rows_times_transposed(r.group(), H, F, active, weights(*w2_, r.expert), out + r.first * H);
  });
  kernels::combine_rows(plan.copies, H, plan.first_tag.data(), plan.row_of_tag.data(), out, combine_element(), outputs);
}

// gradients: dy of each copy. outputs: dx of each copy. The gates' gradients <dA, A> go into the row tags.
void Layer::experts_backward(Tape& tape, const std::byte* const* copies, const std::byte* const* gradients,
                             std::byte* const* outputs) {
  ReceivePlan& plan = tape.received;
  const timeline::Span span(mesh_->recorder(), timeline::Kind::experts_backward, plan.rows);
  Workspace& workspace = mesh_->workspace();
  const int64_t R = plan.rows, H = params_.hidden;
  float* dy = workspace.get<float>(Workspace::rows_out, R * H);
  float* x = workspace.get<float>(Workspace::rows_in, R * H);
  float* dgate = workspace.get<float>(Workspace::row_gradient, R);
  kernels::gather_rows(R, H, element(), gradients, plan.copy_of_row.data(), dy);
  kernels::gather_rows(R, H, element(), copies, plan.copy_of_row.data(), x);
  const int64_t scratch = most_rows(plan) * local_ffn();
  for (const auto slot : {Workspace::rows_hidden, Workspace::rows_hidden2}) workspace.get<float>(slot, scratch);
  if (gated()) workspace.get<float>(Workspace::rows_hidden3, scratch);
  for_each_expert(plan, [&](const ExpertRows& r) {
    expert_backward(tape, r.expert, x + r.first * H, dy + r.first * H, dgate + r.first);
  });
  kernels::combine_rows(plan.copies, H, plan.first_tag.data(), plan.row_of_tag.data(), dy, combine_element(), outputs);
  kernels::write_gate_gradients(R, plan.row_of_tag.data(), dgate, plan.row_tags.data());
}

// dy: in: gradient of the expert's outputs; out: of its inputs.
void Layer::expert_backward(Tape& tape, int64_t expert, const float* x, float* dy, float* dgate) {
  Workspace& workspace = mesh_->workspace();
  const ExpertRows r(expert, tape.received.expert_offsets.data());
  const int64_t H = params_.hidden, F = local_ffn(), matrix = expert * H * F;
  const kernels::Groups rows = r.group();
  float* dh = workspace.get<float>(Workspace::rows_hidden, r.rows * F);
  float* gated_a = workspace.get<float>(Workspace::rows_hidden2, r.rows * F);
  float* dhg = gated() ? workspace.get<float>(Workspace::rows_hidden3, r.rows * F) : nullptr;
  kernels::grouped_rows_times(rows, F, H, dy, weights(*w2_, expert), dh, false);
  kernels::activate_backward(activation(), r.rows, F, tape.hidden.data() + r.first * F,
                             gated() ? tape.hidden_gate.data() + r.first * F : nullptr,
                             tape.received.gate_of_row.data() + r.first, dh, dhg, gated_a, dgate);
  kernels::grouped_weight_gradient(rows, H, F, dy, gated_a, w2_->gradient + matrix);
  kernels::grouped_weight_gradient(rows, F, H, dh, x, w1_->gradient + matrix);
  if (gated()) kernels::grouped_weight_gradient(rows, F, H, dhg, x, wg_->gradient + matrix);
  float* dx = dy;  // dy is not needed any more
  kernels::grouped_rows_times(rows, H, F, dh, weights(*w1_, expert), dx, false);
  if (gated()) kernels::grouped_rows_times(rows, H, F, dhg, weights(*wg_, expert), dx, true);
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
