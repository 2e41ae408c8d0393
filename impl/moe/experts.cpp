// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The products of the routed experts on sorted rows.
#include <algorithm>

#include "impl/moe/expert_rows.hpp"
#include "impl/moe/layer.hpp"
#include "kernels/gemm.hpp"
#include "kernels/permute.hpp"
#include "kernels/rows.hpp"

namespace moemesh {

kernels::Weights Layer::weights(const Parameter& parameter, int64_t expert) {
  kernels::Weights matrix = weights(parameter);
  matrix.data += expert * parameter.local_matrix() * kernels::bytes_of(matrix.element);
  return matrix;
}

kernels::RowProducts Layer::row_products() {
  if (params_.products == MOEMESH_PRODUCTS_FAST) return {};
  const int64_t floats = kernels::stable_workspace(local_ffn(), params_.hidden);
  return {mesh_->workspace().get<float>(Workspace::products, floats)};
}

// h = W1 x, and Wg x: in backward again with the same products, so that the bits are the same.
void Layer::hidden_products(const ExpertRows& r, const float* x, const HiddenRows& hidden) {
  const int64_t H = params_.hidden, F = local_ffn();
  const auto product = [&](const Parameter& matrix, float* to) {
    kernels::grouped_rows_times_transposed(r.group(), F, H, x, weights(matrix, r.expert), to, row_products());
  };
  product(*w1_, hidden.h);
  if (gated()) product(*wg_, hidden.gate);
}

// outputs[c] = sum over the copy's rows of gate * W2 act(W1 x). The gate is folded into the activation, so no pass over
// the outputs is needed for it. One expert after the other: what a product writes is still in the cache for the next.
void Layer::experts_forward(Tape& tape, size_t part, const std::byte* const* copies, std::byte* const* outputs) {
  const ReceivePlan& plan = tape.parts[part].received;
  Workspace& workspace = mesh_->workspace();
  const int64_t R = plan.rows, H = params_.hidden, F = local_ffn();
  float* x = workspace.get<float>(Workspace::rows_in, R * H);
  float* active = workspace.get<float>(Workspace::rows_hidden, most_rows(plan) * F);
  float* out = workspace.get<float>(Workspace::rows_out, R * H);
  reserve_hidden(tape, part);
  kernels::gather_rows(R, H, element(), copies, plan.copy_of_row.data(), x);
  for_each_expert(plan, [&](const ExpertRows& r) {
    const HiddenRows hidden = hidden_rows(tape, part, r);
    hidden_products(r, x + r.first * H, hidden);
    kernels::activate(activation(), r.rows, F, hidden.h, hidden.gate, plan.gate_of_row.data() + r.first, active);
    kernels::grouped_rows_times_transposed(r.group(), H, F, active, weights(*w2_, r.expert), out + r.first * H,
                                           row_products());
    (void)mesh_->progress().poll();  // one of the places where messages move without a thread of their own
  });
  kernels::combine_rows(plan.copies, H, plan.first_tag.data(), plan.row_of_tag.data(), out, combine_element(), outputs);
}

// gradients: dy of each copy. outputs: dx of each copy. The gates' gradients <dA, A> go into the row tags.
void Layer::experts_backward(Tape& tape, size_t part, const std::byte* const* copies, const std::byte* const* gradients,
                             std::byte* const* outputs) {
  ReceivePlan& plan = tape.parts[part].received;
  const int64_t R = plan.rows, H = params_.hidden;
  const BackwardRows rows = backward_rows(tape, part);
  float* dgate = mesh_->workspace().get<float>(Workspace::row_gradient, R);
  if (!tape.hidden) reserve_hidden(tape, part);
  kernels::gather_rows(R, H, element(), gradients, plan.copy_of_row.data(), rows.dy);
  kernels::gather_rows(R, H, element(), copies, plan.copy_of_row.data(), rows.x);
  for_each_expert(plan, [&](const ExpertRows& r) {
    expert_backward(tape, part, r, rows, dgate + r.first);
    (void)mesh_->progress().poll();
  });
  kernels::combine_rows(plan.copies, H, plan.first_tag.data(), plan.row_of_tag.data(), rows.dx, combine_element(),
                        outputs);
  kernels::write_gate_gradients(R, plan.row_of_tag.data(), dgate, plan.row_tags.data());
}

void Layer::expert_backward(Tape& tape, size_t part, const ExpertRows& r, const BackwardRows& rows, float* dgate) {
  const int64_t H = params_.hidden, F = local_ffn(), at = rows.together ? r.first * F : 0;
  const float *x = rows.x + r.first * H, *dy = rows.dy + r.first * H;
  float *dx = rows.dx + r.first * H, *dh = rows.dh + at, *gated_a = rows.gated_a + at;
  float* dhg = gated() ? rows.dhg + at : nullptr;
  const HiddenRows hidden = hidden_rows(tape, part, r);
  if (!tape.hidden) hidden_products(r, x, hidden);
  kernels::grouped_rows_times(r.group(), F, H, dy, weights(*w2_, r.expert), dh, false, row_products());
  kernels::activate_backward(activation(), r.rows, F, hidden.h, hidden.gate,
                             tape.parts[part].received.gate_of_row.data() + r.first, dh, dhg, gated_a, dgate);
  if (!rows.together) expert_weight_gradients(r.expert, r.rows, dy, gated_a, dh, dhg, x);
  kernels::grouped_rows_times(r.group(), H, F, dh, weights(*w1_, r.expert), dx, false, row_products());
  if (gated()) kernels::grouped_rows_times(r.group(), H, F, dhg, weights(*wg_, r.expert), dx, true, row_products());
}

// dW2, dW1 and dWg of one expert, each one product over the rows.
void Layer::expert_weight_gradients(int64_t expert, int64_t rows, const float* dy, const float* gated_a,
                                    const float* dh, const float* dhg, const float* x) {
  const int64_t H = params_.hidden, F = local_ffn(), matrix = expert * H * F;
  const int64_t range[2] = {0, rows};
  const kernels::Groups group{1, range};
  kernels::grouped_weight_gradient(group, H, F, dy, gated_a, w2_->gradient + matrix);
  kernels::grouped_weight_gradient(group, F, H, dh, x, w1_->gradient + matrix);
  if (gated()) kernels::grouped_weight_gradient(group, F, H, dhg, x, wg_->gradient + matrix);
}

// One part's gradients of inputs go where those of its outputs were, one expert's hidden ones where the last one's were.
Layer::BackwardRows Layer::backward_rows(const Tape& tape, size_t part) {
  Workspace& workspace = mesh_->workspace();
  const int64_t H = params_.hidden, F = local_ffn();
  const bool together = tape.parts.size() > 1;
  int64_t first = 0, all = 0;
  for (size_t i = 0; i < tape.parts.size(); ++i) {
    if (i == part) first = all;
    all += tape.parts[i].received.rows;
  }
  const int64_t hidden = together ? all : most_rows(tape.parts[part].received);
  const auto rows = [&](Workspace::Slot slot, int64_t count, int64_t width) {
    return workspace.get<float>(slot, count * width) + first * width;
  };
  BackwardRows made;
  made.together = together;
  made.x = rows(together ? Workspace::chunks_in : Workspace::rows_in, all, H);
  made.dy = rows(together ? Workspace::chunks_out : Workspace::rows_out, all, H);
  made.dx = together ? workspace.get<float>(Workspace::rows_out, tape.parts[part].received.rows * H) : made.dy;
  made.dh = rows(together ? Workspace::chunks_hidden : Workspace::rows_hidden, hidden, F);
  made.gated_a = rows(together ? Workspace::chunks_hidden2 : Workspace::rows_hidden2, hidden, F);
  if (gated()) made.dhg = rows(together ? Workspace::chunks_hidden3 : Workspace::rows_hidden3, hidden, F);
  return made;
}

}  // namespace moemesh
