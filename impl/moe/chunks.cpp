// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The way to the experts and back, in chunks of the tokens: the exchange of one goes on under the products of another, and
// under those of the shared expert. Which exchanges are started, and in which order, depends on the number of chunks alone.
#include "impl/moe/block.hpp"
#include "impl/moe/layer.hpp"
#include "impl/timeline/span.hpp"
#include "kernels/rows.hpp"

namespace moemesh {

Blocks Layer::blocks_of(Tape& tape, Outcome& outcome) {
  Blocks blocks;
  blocks.reserve(tape.parts.size());
  for (size_t i = 0; i < tape.parts.size(); ++i) blocks.emplace_back(*this, tape, i, outcome);
  return blocks;
}

Rows<float> Layer::shared_place(const Rows<float>& rows) {
  if (one_slice()) return rows;
  const int64_t H = params_.hidden;
  return {mesh_->workspace().get_message<float>(Workspace::tokens4, rows.rows * H), rows.rows, H, H};
}

// The slice's rows of y, partial over expert_tp; with one slice the shared expert's included, else those lie apart.
void Layer::route_forward(Outcome& outcome, Tape& tape, const TypedRows& x, const Rows<float>& y, int32_t phase,
                          bool tagged) {
  Blocks blocks = blocks_of(tape, outcome);
  blocks.front().start_dispatch(x, tagged, phase);
  outcome.run([&] {
    if (!shared_w1_) return;
    const timeline::Span span(mesh_->recorder(), timeline::Kind::shared_expert);
    shared_forward(tape, product_rows(Workspace::tokens2, tape, x), shared_place(y));
  });
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i + 1 < blocks.size()) {
      const timeline::ChunkScope next(i + 1);
      blocks[i + 1].start_dispatch(x, tagged, phase);
    }
    part_forward(outcome, tape, blocks[i], i, x, phase, tagged);
  }
  for (Block& block : blocks) {
    block.finish_return();
    outcome.run([&] {
      const Rows<float> part = rows_of(y, block.part().slice);
      kernels::sum_copies(part.rows, part.width, params_.top_k, block.part().source.copy_of_choice.data(),
                          combine_element(), block.returned_rows(), shared_w1_ && one_slice(), part.data, part.ld);
    });
  }
}

void Layer::part_forward(Outcome& outcome, Tape& tape, Block& block, size_t part, const TypedRows& x, int32_t phase,
                         bool tagged) {
  const timeline::ChunkScope place(part);
  block.finish_dispatch();
  outcome.run([&] {
    // Rows count once, however often their products are made.
    const int64_t rows = phase == MOEMESH_PHASE_FORWARD ? block.part().received.rows : 0;
    const timeline::Span span(mesh_->recorder(), timeline::Kind::experts, rows);
    if (tagged) index_received(block.part());
    const auto* copies = block.copies(Workspace::pointers, x);
    experts_forward(tape, part, copies, block.result_rows(false));
  });
  block.start_combine(phase);
}

// The slice's part of dx, partial over expert_tp, and the gates' gradients; the shared expert's dx as its y in forward.
void Layer::route_backward(Outcome& outcome, Tape& tape, const BackwardArguments& arguments) {
  Blocks blocks = blocks_of(tape, outcome);
  const bool again = tape.copies == nullptr;
  const auto start = [&](Block& block) {
    const timeline::ChunkScope place(static_cast<size_t>(&block - blocks.data()));
    if (again) block.start_dispatch(arguments.x, false, MOEMESH_PHASE_RECOMPUTE);
    block.start_combine_backward(arguments.dy);
  };
  start(blocks.front());
  shared_under_exchange(outcome, tape, arguments);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i + 1 < blocks.size()) start(blocks[i + 1]);
    if (again) blocks[i].finish_dispatch();
    part_backward(outcome, tape, blocks[i], i, arguments);
  }
  outcome.run([&] {
    const timeline::Span span(mesh_->recorder(), timeline::Kind::experts_backward);
    merged_weight_gradients(tape);
  });
  for (Block& block : blocks) {
    block.finish_return();
    outcome.run([&] { return_gradients(tape, block); });
  }
}

void Layer::part_backward(Outcome& outcome, Tape& tape, Block& block, size_t part, const BackwardArguments& arguments) {
  const timeline::ChunkScope place(part);
  block.finish_combine_backward();
  outcome.run([&] {
    const timeline::Span span(mesh_->recorder(), timeline::Kind::experts_backward);
    const auto* copies = block.copies(Workspace::pointers, arguments.x);
    const auto* gradients = block.gradients(Workspace::pointers2, arguments.dy);
    experts_backward(tape, part, copies, gradients, block.result_rows(true));
  });
  block.start_dispatch_backward();
}

void Layer::shared_under_exchange(Outcome& outcome, Tape& tape, const BackwardArguments& arguments) {
  if (!shared_w1_) return;
  outcome.run([&] {
    const timeline::Span span(mesh_->recorder(), timeline::Kind::shared_expert);
    const int64_t T = tape.decision.tokens, width = params_.hidden + params_.top_k;
    const auto part = slice_gradients(tape.slice, over_tp(Workspace::tokens, T * width));
    shared_backward(tape, product_rows(Workspace::tokens2, tape, arguments.x),
                    product_rows(Workspace::tokens3, tape, arguments.dy),
                    shared_place({part.x.data, T, params_.hidden, params_.hidden}));
  });
}

// What came back for one part of the tokens, added up over its copies.
void Layer::return_gradients(Tape& tape, Block& block) {
  const int64_t T = tape.decision.tokens, k = params_.top_k;
  const auto all = slice_gradients(tape.slice, over_tp(Workspace::tokens, T * (params_.hidden + k)));
  const SourcePlan& source = block.part().source;
  const TokenSlice here{block.part().slice.first - tape.slice.first, block.part().slice.count};
  const Rows<float> x = rows_of(all.x, here);
  float* gates = all.gates + here.first * k;
  kernels::sum_copies(x.rows, x.width, params_.top_k, source.copy_of_choice.data(), combine_element(),
                      block.returned_rows(), shared_w1_ && one_slice(), x.data, x.ld);
  kernels::zero(gates, here.count * k);
  kernels::read_gate_gradients(source.tags, source.slot_of_tag.data(), block.returned_tags(), gates);
}

}  // namespace moemesh
