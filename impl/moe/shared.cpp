// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The shared expert, on all tokens: y = W2 act(W1 x), without a gate. x has zeros in masked rows, which give zeros.
#include "impl/moe/layer.hpp"
#include "kernels/gemm.hpp"
#include "kernels/rows.hpp"

namespace moemesh {
namespace {

kernels::ConstArray array_of(const TypedRows& rows) { return {rows.data, rows.element}; }

}  // namespace

// Products over all tokens must not see what padding rows hold (it may be NaN).
TypedRows Layer::product_rows(Workspace::Slot slot, const Tape& tape, const TypedRows& rows) {
  const Decision& decision = tape.decision;
  if (rows.element == row_element() && !decision.has_mask) return rows;
  const kernels::Array copy = scratch_rows(slot, rows.rows, rows.width);
  kernels::load_rows(rows.rows, rows.width, rows.element, rows.data, rows.ld,
                     decision.has_mask ? decision.mask.data() : nullptr, copy, rows.width);
  return {copy.data, copy.element, rows.rows, rows.width, rows.width};
}

kernels::ConstArray Layer::product_matrix(const Parameter& parameter) {
  if (row_element() == element()) return {parameter.data, element()};
  return widened(parameter);
}

// Where W1 x and Wg x lie: on the tape, or in scratch.
Layer::HiddenRows Layer::shared_hidden(Tape& tape, int64_t tokens) {
  const int64_t F = local_shared_ffn(), bytes = tokens * F * kernels::bytes_of(row_element());
  if (!tape.hidden) return hidden_again(tokens, F);
  const auto place = [&](Buffer<std::byte>& kept) {
    kept.reserve(mesh_->allocator(), bytes);
    return kernels::Array(kept.data(), row_element());
  };
  return {place(tape.hidden->shared_hidden), gated() ? place(tape.hidden->shared_hidden_gate) : nullptr};
}

void Layer::shared_products(const HiddenRows& hidden, const TypedRows& x) {
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  const auto product = [&](const Parameter& weights, const kernels::Array& out) {
    kernels::gemm({.transpose_b = true,
                   .m = T,
                   .n = F,
                   .k = H,
                   .a = array_of(x),
                   .lda = x.ld,
                   .b = product_matrix(weights),
                   .ldb = H,
                   .c = out,
                   .ldc = F});
  };
  product(*shared_w1_, hidden.h);
  if (gated()) product(*shared_wg_, hidden.gate);
}

void Layer::shared_forward(Tape& tape, const TypedRows& x, const Rows<float>& y) {
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  const HiddenRows hidden = shared_hidden(tape, T);
  shared_products(hidden, x);
  const kernels::Array active = scratch_rows(Workspace::rows_hidden, T, F);
  kernels::activate(activation(), T, F, hidden.h, hidden.gate, nullptr, active);
  kernels::gemm({.transpose_b = true,
                 .m = T,
                 .n = H,
                 .k = F,
                 .a = active,
                 .lda = F,
                 .b = product_matrix(*shared_w2_),
                 .ldb = F,
                 .c = y.data,
                 .ldc = y.ld});
}

void Layer::shared_backward(Tape& tape, const TypedRows& x, const TypedRows& dy, const Rows<float>& dx) {
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  const kernels::Array active = scratch_rows(Workspace::rows_hidden2, T, F);
  const HiddenRows d{scratch_rows(Workspace::rows_hidden, T, F),
                     gated() ? scratch_rows(Workspace::rows_hidden3, T, F) : nullptr};
  const HiddenRows hidden = shared_hidden(tape, T);
  if (!tape.hidden) shared_products(hidden, x);
  kernels::gemm({.m = T,
                 .n = F,
                 .k = H,
                 .a = array_of(dy),
                 .lda = dy.ld,
                 .b = product_matrix(*shared_w2_),
                 .ldb = F,
                 .c = d.h,
                 .ldc = F});
  kernels::activate_backward(activation(), T, F, hidden.h, hidden.gate, nullptr, d.h, d.gate, active, nullptr);
  shared_weight_gradients(x, dy, d, active);
  const auto input = [&](const kernels::Array& dhidden, const Parameter& weights, bool add) {
    kernels::gemm({.m = T,
                   .n = H,
                   .k = F,
                   .a = dhidden,
                   .lda = F,
                   .b = product_matrix(weights),
                   .ldb = H,
                   .c = dx.data,
                   .ldc = dx.ld,
                   .accumulate = add});
  };
  input(d.h, *shared_w1_, false);
  if (gated()) input(d.gate, *shared_wg_, true);
}

void Layer::shared_weight_gradients(const TypedRows& x, const TypedRows& dy, const HiddenRows& dhidden,
                                    const kernels::Array& active) {
  const int64_t T = x.rows, H = params_.hidden, F = local_shared_ffn();
  const auto gradient = [&](int64_t m, int64_t n, const kernels::ConstArray& a, int64_t lda,
                            const kernels::ConstArray& b, int64_t ldb, const Parameter& weights) {
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
  gradient(H, F, array_of(dy), dy.ld, active, F, *shared_w2_);
  gradient(F, H, dhidden.h, F, array_of(x), x.ld, *shared_w1_);
  if (gated()) gradient(F, H, dhidden.gate, F, array_of(x), x.ld, *shared_wg_);
}

}  // namespace moemesh
