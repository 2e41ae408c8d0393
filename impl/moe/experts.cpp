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
  kernels::Weights matrix =
      row_element() == element() ? kernels::Weights{parameter.data, element()} : weights(parameter);
  matrix.data += expert * parameter.local_matrix() * kernels::bytes_of(matrix.element);
  return matrix;
}

kernels::RowProducts Layer::row_products() {
  if (params_.products == MOEMESH_PRODUCTS_FAST) return {};
  const int64_t floats = kernels::stable_workspace(local_ffn(), params_.hidden);
  return {mesh_->workspace().get<float>(Workspace::products, floats)};
}

kernels::Array Layer::scratch_rows(Workspace::Slot slot, int64_t rows, int64_t width, kernels::Element element) {
  return {mesh_->workspace().get<std::byte>(slot, rows * width * kernels::bytes_of(element)), element};
}

// Partial sums that travel in fp32 are not rounded before.
kernels::Element Layer::output_element() const {
  return row_element() == kernels::Element::float32 ? row_element() : combine_element();
}

// h = W1 x, and Wg x: in backward again with the same products, so that the bits are the same.
void Layer::hidden_products(const ExpertRows& r, const kernels::ConstArray& x, const HiddenRows& hidden) {
  const int64_t H = params_.hidden, F = local_ffn();
  const auto product = [&](const Parameter& matrix, const kernels::Array& to) {
    kernels::grouped_rows_times_transposed(r.groups(), F, H, x, weights(matrix, r.first()), to, row_products());
  };
  product(*w1_, hidden.h);
  if (gated()) product(*wg_, hidden.gate);
}

// outputs[c] = sum over the copy's rows of gate * W2 act(W1 x). The gate is folded into the activation, so no pass over
// the outputs is needed for it.
void Layer::experts_forward(Tape& tape, size_t part, const std::byte* const* copies, std::byte* const* outputs) {
  const ReceivePlan& plan = tape.parts[part].received;
  const int64_t R = plan.rows, H = params_.hidden, F = local_ffn();
  const kernels::Array x = scratch_rows(Workspace::rows_in, R, H);
  const kernels::Array active = scratch_rows(Workspace::rows_hidden, most_rows(plan.expert_offsets), F);
  const kernels::Array out = scratch_rows(Workspace::rows_out, R, H, output_element());
  reserve_hidden(tape, part);
  kernels::gather_rows(R, H, element(), copies, plan.copy_of_row.data(), x);
  for_each_batch(plan.expert_offsets, [&](const ExpertRows& r) {
    const HiddenRows hidden = hidden_rows(tape, part, r);
    hidden_products(r, x.from(r.first_row() * H), hidden);
    kernels::activate(activation(), r.rows(), F, hidden.h, hidden.gate, plan.gate_of_row.data() + r.first_row(),
                      active);
    kernels::grouped_rows_times_transposed(r.groups(), H, F, active, weights(*w2_, r.first()),
                                           out.from(r.first_row() * H), row_products());
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
  for_each_batch(plan.expert_offsets, [&](const ExpertRows& r) {
    expert_backward(tape, part, r, rows.from(r.first_row(), H, local_ffn()), dgate + r.first_row());
    (void)mesh_->progress().poll();
  });
  kernels::combine_rows(plan.copies, H, plan.first_tag.data(), plan.row_of_tag.data(), rows.dx, combine_element(),
                        outputs);
  kernels::write_gate_gradients(R, plan.row_of_tag.data(), dgate, plan.row_tags.data());
}

// rows, dgate: of these experts.
void Layer::expert_backward(Tape& tape, size_t part, const ExpertRows& r, const BackwardRows& rows, float* dgate) {
  const int64_t H = params_.hidden, F = local_ffn();
  const float* gate = tape.parts[part].received.gate_of_row.data() + r.first_row();
  const HiddenRows hidden = hidden_rows(tape, part, r);
  const auto input_gradient = [&](const kernels::Array& dhidden, const Parameter& matrix, bool add) {
    kernels::grouped_rows_times(r.groups(), H, F, dhidden, weights(matrix, r.first()), rows.dx, add, row_products());
  };
  if (!tape.hidden) hidden_products(r, rows.x, hidden);
  kernels::grouped_rows_times(r.groups(), F, H, rows.dy, weights(*w2_, r.first()), rows.dh, false, row_products());
  kernels::activate_backward(activation(), r.rows(), F, hidden.h, hidden.gate, gate, rows.dh, rows.dhg, rows.gated_a,
                             dgate);
  if (!rows.together) expert_weight_gradients(r, rows);
  input_gradient(rows.dh, *w1_, false);
  if (gated()) input_gradient(rows.dhg, *wg_, true);
}

// dW2, dW1 and dWg, for each expert one product over its rows.
void Layer::expert_weight_gradients(const ExpertRows& r, const BackwardRows& rows) {
  const int64_t H = params_.hidden, F = local_ffn(), matrix = r.first() * H * F;
  kernels::grouped_weight_gradient(r.groups(), H, F, rows.dy, rows.gated_a, w2_->gradient + matrix);
  kernels::grouped_weight_gradient(r.groups(), F, H, rows.dh, rows.x, w1_->gradient + matrix);
  if (gated()) kernels::grouped_weight_gradient(r.groups(), F, H, rows.dhg, rows.x, wg_->gradient + matrix);
}

// What begins at that row of the part; hidden rows of one product's experts always begin where they lie.
Layer::BackwardRows Layer::BackwardRows::from(int64_t row, int64_t hidden, int64_t ffn) const {
  const int64_t wide = row * hidden, deep = together ? row * ffn : 0;
  return {x.from(wide), dy.from(wide), dx.from(wide), dh.from(deep), dhg.from(deep), gated_a.from(deep), together};
}

// One part's gradients of inputs go where those of its outputs were (if their elements are alike), one product's hidden ones
// where the last one's were.
Layer::BackwardRows Layer::backward_rows(const Tape& tape, size_t part) {
  const int64_t H = params_.hidden, F = local_ffn(), own = tape.parts[part].received.rows;
  const bool together = tape.parts.size() > 1;
  int64_t first = 0, all = 0;
  for (size_t i = 0; i < tape.parts.size(); ++i) {
    if (i == part) first = all;
    all += tape.parts[i].received.rows;
  }
  const int64_t hidden = together ? all : most_rows(tape.parts[part].received.expert_offsets);
  const auto rows = [&](Workspace::Slot slot, int64_t count, int64_t width) {
    return scratch_rows(slot, count, width).from(first * width);
  };
  BackwardRows made;
  made.together = together;
  made.x = rows(together ? Workspace::chunks_in : Workspace::rows_in, all, H);
  made.dy = rows(together ? Workspace::chunks_out : Workspace::rows_out, all, H);
  if (together)
    made.dx = scratch_rows(Workspace::rows_out, own, H, output_element());
  else if (output_element() == row_element())
    made.dx = made.dy;
  else
    made.dx = scratch_rows(Workspace::chunks_out, own, H, output_element());
  made.dh = rows(together ? Workspace::chunks_hidden : Workspace::rows_hidden, hidden, F);
  made.gated_a = rows(together ? Workspace::chunks_hidden2 : Workspace::rows_hidden2, hidden, F);
  if (gated()) made.dhg = rows(together ? Workspace::chunks_hidden3 : Workspace::rows_hidden3, hidden, F);
  return made;
}

}  // namespace moemesh
