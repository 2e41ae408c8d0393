// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The order of a forward and of a backward, and what happens when a rank fails on the way.
#include <algorithm>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"
#include "impl/moe/block.hpp"
#include "impl/moe/layer.hpp"
#include "kernels/flat.hpp"
#include "kernels/rows.hpp"

namespace moemesh {
namespace {

// Products over all tokens must not see what padding rows hold (it may be NaN): with a mask they read a clean copy.
Rows<float> without_padding(Workspace& workspace, Workspace::Slot slot, const Tape& tape, const Rows<float>& rows) {
  if (!tape.decision.has_mask) return rows;
  float* clean = workspace.get<float>(slot, rows.rows * rows.width);
  kernels::copy_masked(rows.rows, rows.width, rows.data, rows.ld, tape.decision.mask.data(), 1, clean, rows.width);
  return {clean, rows.rows, rows.width, rows.width};
}

void copy(const Rows<float>& from, const Rows<float>& to) {
  if (from.data != to.data) kernels::copy_masked(from.rows, from.width, from.data, from.ld, nullptr, 1, to.data, to.ld);
}

}  // namespace

// What comes after the last exchange, taken before the first: a rank that runs out of memory there could tell nobody.
void Layer::reserve_forward(Tape& tape) {
  Workspace& workspace = mesh_->workspace();
  const int64_t T = tape.decision.tokens, H = params_.hidden, F = local_shared_ffn();
  tp_.reserve_all_reduce(T * H * static_cast<int64_t>(sizeof(float)));
  if (!shared_w1_) return;
  if (tape.decision.has_mask) workspace.get<float>(Workspace::tokens2, T * H);
  workspace.get<float>(Workspace::rows_hidden, T * F);
  tape.shared_hidden.reserve(mesh_->allocator(), T * F);
  if (gated()) tape.shared_hidden_gate.reserve(mesh_->allocator(), T * F);
}

void Layer::reserve_backward(const Tape& tape) {
  Workspace& workspace = mesh_->workspace();
  const int64_t T = tape.decision.tokens, H = params_.hidden, F = local_shared_ffn(), width = H + params_.top_k;
  tp_.reserve_all_reduce(T * width * static_cast<int64_t>(sizeof(float)));
  workspace.get<float>(Workspace::tokens, T * width);
  workspace.get<float>(Workspace::logits, T * params_.experts);
  workspace.get<kernels::RowTag>(Workspace::tags, tape.source.tags);
  if (tape.decision.has_mask)
    for (const auto slot : {Workspace::tokens2, Workspace::tokens3}) workspace.get<float>(slot, T * H);
  if (shared_w1_)
    for (const auto slot : {Workspace::rows_hidden, Workspace::rows_hidden2, Workspace::rows_hidden3})
      workspace.get<float>(slot, T * F);
}

// What all ranks of an exchange must have in common; a forward of another layer, microbatch or mode would pass otherwise.
int64_t Layer::identity(const ForwardArguments& arguments) const {
  const int64_t words[] = {arguments.training, arguments.training ? arguments.microbatch : -1};
  return static_cast<int64_t>(hash_bytes(words, sizeof words, static_cast<uint64_t>(hash_string(name_))));
}

bool Layer::alone() const { return exchange_.size() * tp_.size() == 1; }

// The step can't be finished where the ranks of a block got different ways through the call, or where a backward broke off:
// weight gradients may have been added in part, and the tape is gone. A forward alone has changed nothing.
void Layer::raise(const Finding& finding, bool step_lost) const {
  StepState* step = expert_->step.get();
  // At the step's end MISMATCH would say that the ranks disagree about the step itself.
  const int32_t status = finding.status == MOEMESH_ERROR_MISMATCH ? MOEMESH_ERROR_PEER_FAILED : finding.status;
  if (step && step->open) ++step->failed_layer_calls;
  if (step && step->open && step_lost) step->fail({status, finding.text});
  throw Error(finding.status, finding.text);
}

std::unique_ptr<Tape> Layer::forward(const ForwardArguments& arguments, Finding problem) {
  if (problem && alone()) raise(problem, false);
  Outcome outcome(std::move(problem));
  auto tape = fresh_tape();
  Block block(*this, *tape, outcome, MOEMESH_PHASE_FORWARD);
  Workspace& workspace = mesh_->workspace();
  const int64_t T = arguments.x.rows, H = params_.hidden;
  // Partial sums over tp need a dense array.
  Rows<float> y = arguments.y;
  outcome.run([&] {
    tape->x = arguments.x;
    tape->microbatch = arguments.microbatch;
    if (arguments.training) tape->step = expert_->step->serial;
    if (tp_.size() > 1 && y.ld != H) y = {workspace.get<float>(Workspace::tokens, T * H), T, H, H};
    decide(arguments, *tape);
    plan_source(*tape);
    reserve_forward(*tape);
  });
  block.exchange_counts(identity(arguments));
  if (!outcome.failed()) {  // agreed within the exchange group: its ranks skip this together
    block.dispatch(arguments.x);
    outcome.run([&] {
      index_received(*tape);
      const auto* copies = block.received_rows(Workspace::pointers, arguments.x, tape->dispatched.data(), true);
      experts_forward(*tape, copies, block.result_rows(false));
    });
    block.combine();
  }
  outcome.run([&] {
    kernels::sum_copies(T, H, params_.top_k, tape->source.copy_of_choice.data(), block.returned_rows(), y.data, y.ld);
    shared_forward(*tape, without_padding(workspace, Workspace::tokens2, *tape, arguments.x), y);
  });
  outcome.sum(tp_, y.data, T * H, {MOEMESH_EXPERT, MOEMESH_PHASE_FORWARD, MOEMESH_COLLECTIVE_ALL_REDUCE});
  if (outcome.failed()) {
    recycle(std::move(tape));
    raise(outcome.finding(), !alone());
  }
  copy(y, arguments.y);
  if (!arguments.training) {
    recycle(std::move(tape));
    return nullptr;
  }
  record(*tape);
  return tape;
}

void Layer::backward(std::unique_ptr<Tape>& consumed, const BackwardArguments& arguments, Finding problem) {
  if (problem && alone()) throw Error(problem.status, problem.text);
  auto tape = std::move(consumed);
  Outcome outcome(std::move(problem));
  Block block(*this, *tape, outcome, MOEMESH_PHASE_BACKWARD);
  Workspace& workspace = mesh_->workspace();
  const Rows<float>& x = arguments.x;
  const int64_t T = tape->decision.tokens, H = params_.hidden, choices = T * params_.top_k;
  // dx and the gates' gradients lie side by side: both are partial sums over tp, added up in one all-reduce.
  Rows<float> dx{nullptr, T, H, H};
  float* dgates = nullptr;
  outcome.run([&] { reserve_backward(*tape); });
  block.combine_backward(arguments.dy);
  outcome.run([&] {
    const auto* copies = block.received_rows(Workspace::pointers, x, tape->dispatched.data(), true);
    const auto* gradients = block.received_rows(Workspace::pointers2, arguments.dy, block.received_buffer(), false);
    experts_backward(*tape, copies, gradients, block.result_rows(true));
  });
  block.dispatch_backward();
  outcome.run([&] {
    dx.data = workspace.get<float>(Workspace::tokens, T * H + choices);
    dgates = dx.data + T * H;
    kernels::sum_copies(T, H, params_.top_k, tape->source.copy_of_choice.data(), block.returned_rows(), dx.data, H);
    kernels::zero(dgates, choices);
    kernels::read_gate_gradients(tape->source.tags, tape->source.slot_of_tag.data(), block.returned_tags(), dgates);
    shared_backward(*tape, without_padding(workspace, Workspace::tokens2, *tape, x),
                    without_padding(workspace, Workspace::tokens3, *tape, arguments.dy), dx);
  });
  outcome.sum(tp_, dx.data, T * H + choices, {MOEMESH_EXPERT, MOEMESH_PHASE_BACKWARD, MOEMESH_COLLECTIVE_ALL_REDUCE});
  outcome.run([&] {
    router_backward(*tape, without_padding(workspace, Workspace::tokens2, *tape, x), dgates, dx, arguments.dlogits);
    copy(dx, arguments.dx);
    mark_ready();
  });
  recycle(std::move(tape));
  if (outcome.failed()) raise(outcome.finding(), true);
}

}  // namespace moemesh
