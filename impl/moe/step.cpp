// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The order of a forward and of a backward, and what happens when a rank fails on the way.
#include <algorithm>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"
#include "impl/moe/block.hpp"
#include "impl/moe/layer.hpp"
#include "impl/timeline/span.hpp"
#include "kernels/flat.hpp"
#include "kernels/rows.hpp"

namespace moemesh {
namespace {

constexpr auto float_bytes = static_cast<int64_t>(sizeof(float));

}  // namespace

void store_output(const Rows<float>& from, const TypedRows& to) {
  if (reinterpret_cast<const std::byte*>(from.data) != to.data)
    kernels::store_rows(from.rows, from.width, from.data, from.ld, to.element, to.data, to.ld);
}

// What comes after the last exchange, taken before the first: a rank that runs out of memory there could tell nobody.
void Layer::reserve_forward(Tape& tape) {
  Workspace& workspace = mesh_->workspace();
  const int64_t T = tape.decision.tokens, H = params_.hidden, F = local_shared_ffn();
  expert_tp_.reserve_sum_of_kernels((one_slice() ? T : tape.slice.count) * H);
  reserve_dense(tape, {Workspace::tokens2});
  if (!shared_w1_) return;
  if (!one_slice()) {
    workspace.get_message<float>(Workspace::tokens4, T * H);
    tp_.reserve_sum_of_kernels(T * H);
  }
  scratch_rows(Workspace::rows_hidden, T, F);
  shared_hidden(tape, T);
}

void Layer::reserve_backward(const Tape& tape) {
  Workspace& workspace = mesh_->workspace();
  const int64_t T = tape.decision.tokens, H = params_.hidden, F = local_shared_ffn(), width = H + params_.top_k;
  for (Parameter* parameter : {router_, w1_, wg_, w2_, shared_w1_, shared_wg_, shared_w2_})
    if (parameter) parameter->family->open_gradient(*parameter);
  expert_tp_.reserve_sum_of_kernels(tape.slice.count * width);
  over_tp(Workspace::tokens, T * width);
  if (!one_slice()) workspace.get<float>(Workspace::tokens5, T * width);
  workspace.get<float>(Workspace::logits, T * params_.experts);
  for (const Part& part : tape.parts) workspace.get<kernels::RowTag>(Workspace::tags, part.source.tags);
  reserve_merge(tape);
  reserve_dense(tape, {Workspace::tokens2, Workspace::tokens3});
  if (!shared_w1_) return;
  for (const auto slot : {Workspace::rows_hidden, Workspace::rows_hidden2, Workspace::rows_hidden3})
    scratch_rows(slot, T, F);
  if (one_slice()) return;
  workspace.get_message<float>(Workspace::tokens4, T * H);
  tp_.reserve_sum_of_kernels(T * H);
}

// What all ranks of an exchange must have in common; a forward of another layer, microbatch or mode would pass otherwise.
int64_t Layer::identity(const ForwardArguments& arguments) const {
  const int64_t words[] = {arguments.training, arguments.training ? arguments.microbatch : -1};
  return static_cast<int64_t>(hash_bytes(words, sizeof words, static_cast<uint64_t>(hash_string(name_))));
}

bool Layer::alone() const { return exchange_.size() * tp_.size() == 1; }

TokenSlice Layer::slice_of(int64_t tokens, int64_t index) const { return token_slice(tokens, index, slices_.size()); }

// rows [tokens, width], of which this rank has its slice: afterwards all of them.
void Layer::gather_slices(Outcome& outcome, float* rows, int64_t tokens, int64_t width, int32_t phase) {
  if (one_slice()) return;
  Exchange exchange;
  exchange.send_base = exchange.receive_base = reinterpret_cast<std::byte*>(rows);
  exchange.every_peer = exchange.of_kernels = true;
  const TokenSlice own = slice_of(tokens, slices_.rank());
  for (int64_t i = 0; i < slices_.size(); ++i) {
    const TokenSlice slice = slice_of(tokens, i);
    exchange.send_offset.push_back(own.first * width * float_bytes);
    exchange.send_bytes.push_back(own.count * width * float_bytes);
    exchange.receive_offset.push_back(slice.first * width * float_bytes);
    exchange.receive_bytes.push_back(slice.count * width * float_bytes);
  }
  outcome.all_to_all(slices_, exchange, {MOEMESH_EXPERT, phase, MOEMESH_COLLECTIVE_ALL_GATHER});
}

void Layer::tell_block(Outcome& outcome, int32_t phase) {
  if (!must_tell_block(exchange_.size(), slices_.size())) return;
  outcome.agree(mesh_->group(MOEMESH_AXIS_TP | MOEMESH_AXIS_EP), {0, phase, MOEMESH_COLLECTIVE_AGREEMENT});
}

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

// Sums and gathers over tp need a dense array; all sums are of fp32.
Rows<float> Layer::output_rows(const TypedRows& y) {
  const int64_t T = y.rows, H = params_.hidden;
  const bool dense_here = y.ld == H && !kernels::separate_memory;
  const bool in_place = y.is_float() && (tp_.size() == 1 || dense_here);
  return in_place ? y.floats() : Rows<float>{over_tp(Workspace::tokens, T * H), T, H, H};
}

float* Layer::over_tp(Workspace::Slot slot, int64_t count) {
  return mesh_->workspace().get_for<float>(tp_.size() > 1, slot, count);
}

std::unique_ptr<Tape> Layer::forward(const ForwardArguments& arguments, Finding problem) {
  if (problem && alone()) raise(problem, false);
  const timeline::LayerScope place(mesh_->recorder(), number_, arguments.microbatch);
  Outcome outcome(std::move(problem));
  constexpr auto phase = MOEMESH_PHASE_FORWARD;
  auto tape = fresh_tape();
  tape->slice = slice_of(arguments.x.rows, slices_.rank());
  if (arguments.training) number(*tape);
  TypedRows x, out;
  Rows<float> y;
  outcome.run([&] {
    const timeline::Span span(mesh_->recorder(), timeline::Kind::route);
    tape->x = arguments.x;
    tape->microbatch = arguments.microbatch;
    x = reachable_copy(Workspace::user_x, arguments.x);
    out = reachable(Workspace::user_y, arguments.y);
    y = output_rows(out);
    decide(arguments, x, *tape);
    plan_parts(*tape);
    take_kept(*tape, keeps_copies(), keeps_hidden());
    reserve_forward(*tape);
  });
  exchange_counts(outcome, *tape, identity(arguments));
  // Agreed within the exchange group: its ranks skip this together.
  if (!outcome.failed()) route_forward(outcome, *tape, x, y, phase, true);
  finish_forward(outcome, *tape, arguments.x.rows, y, phase);
  if (outcome.failed()) {
    recycle(std::move(tape));
    raise(outcome.finding(), !alone());
  }
  store_output(y, out);
  give_back(out, arguments.y);
  if (!arguments.training) {
    recycle(std::move(tape));
    return nullptr;
  }
  record(*tape);
  count_bytes_of(*tape);
  return tape;
}

// Forwards of a layer come in one order on all ranks of the block, so that the number says which tape is meant.
void Layer::number(Tape& tape) {
  tape.step = expert_->step ? expert_->step->serial : 0;
  if (std::exchange(numbered_step_, tape.step) != tape.step) forwards_ = 0;
  tape.number = ++forwards_;
}

// Sums over tp, gathers the slices, adds the shared expert.
void Layer::finish_forward(Outcome& outcome, Tape& tape, int64_t tokens, const Rows<float>& y, int32_t phase) {
  const Rows<float> part = rows_of(y, tape.slice);
  outcome.sum(expert_tp_, part.data, part.rows * params_.hidden,
              {MOEMESH_EXPERT, phase, MOEMESH_COLLECTIVE_ALL_REDUCE});
  gather_slices(outcome, y.data, tokens, params_.hidden, phase);
  if (!one_slice() && shared_w1_) add_over_tp(outcome, y, phase);
  tell_block(outcome, phase);
}

// rows += the sum over tp of what the shared expert has left apart.
void Layer::add_over_tp(Outcome& outcome, const Rows<float>& rows, int32_t phase) {
  const int64_t n = rows.rows * params_.hidden;
  float* partial = nullptr;
  outcome.run([&] { partial = shared_place(rows).data; });
  outcome.sum(tp_, partial, n, {MOEMESH_SHARED, phase, MOEMESH_COLLECTIVE_ALL_REDUCE});
  outcome.run([&] { kernels::add_rows(rows.rows, rows.width, partial, rows.width, rows.data, rows.ld); });
}

void Layer::backward(std::unique_ptr<Tape>& consumed, const BackwardArguments& arguments, Finding problem) {
  if (problem && alone()) throw Error(problem.status, problem.text);
  auto tape = std::move(consumed);
  const timeline::LayerScope place(mesh_->recorder(), number_, tape->microbatch);
  Outcome outcome(std::move(problem));
  BackwardArguments here = arguments;
  outcome.run([&] {
    reserve_backward(*tape);
    here.x = reachable_copy(Workspace::user_x, arguments.x);
    here.dy = reachable_copy(Workspace::user_dy, arguments.dy);
    here.dx = reachable(Workspace::user_dx, arguments.dx);
  });
  meet_again(outcome, *tape, MOEMESH_PHASE_BACKWARD);
  if (!outcome.failed()) route_backward(outcome, *tape, here);
  const TokenGradients gradients = finish_backward(outcome, *tape);
  outcome.run([&] {
    const timeline::Span span(mesh_->recorder(), timeline::Kind::router_backward);
    router_backward(*tape, caller_router() ? Rows<float>{} : dense_rows(Workspace::tokens2, *tape, here.x),
                    gradients.gates, gradients.x, arguments.dlogits);
    store_output(gradients.x, here.dx);
    give_back(here.dx, arguments.dx);
    mark_ready();
  });
  recycle(std::move(tape));
  if (outcome.failed()) raise(outcome.finding(), true);
}

// Where a slice's gradients lie in Workspace::tokens: dx [n, H] and then those of the gates [n, k], both partial sums over
// expert_tp, added up in one all-reduce and gathered as one row of H + k for each token.
Layer::TokenGradients Layer::slice_gradients(const TokenSlice& slice, float* base) const {
  float* rows = base + slice.first * (params_.hidden + params_.top_k);
  return {{rows, slice.count, params_.hidden, params_.hidden}, rows + slice.count * params_.hidden};
}

// Sums over tp, gathers the slices, adds the shared expert: dx without the router's part, and the gates' gradients.
Layer::TokenGradients Layer::finish_backward(Outcome& outcome, Tape& tape) {
  constexpr auto phase = MOEMESH_PHASE_BACKWARD;
  const int64_t T = tape.decision.tokens, width = params_.hidden + params_.top_k;
  float* base = nullptr;
  TokenGradients all{};
  outcome.run([&] {
    base = over_tp(Workspace::tokens, T * width);
    all = slice_gradients(tape.slice, base);
  });
  outcome.sum(expert_tp_, all.x.data, tape.slice.count * width, {MOEMESH_EXPERT, phase, MOEMESH_COLLECTIVE_ALL_REDUCE});
  if (!one_slice()) {
    gather_slices(outcome, base, T, width, phase);
    outcome.run([&] { all = whole_gradients(base, T); });
    if (shared_w1_) add_over_tp(outcome, all.x, phase);
  }
  tell_block(outcome, phase);
  return all;
}

// The gathered slices as one dx and one array of gate gradients.
Layer::TokenGradients Layer::whole_gradients(float* base, int64_t tokens) {
  const int64_t H = params_.hidden, k = params_.top_k;
  float* to = mesh_->workspace().get<float>(Workspace::tokens5, tokens * (H + k));
  const TokenGradients all{{to, tokens, H, H}, to + tokens * H};
  for (int64_t i = 0; i < slices_.size(); ++i) {
    const TokenSlice slice = slice_of(tokens, i);
    const TokenGradients part = slice_gradients(slice, base);
    const Rows<float> rows = rows_of(all.x, slice);
    kernels::copy_masked(slice.count, H, part.x.data, H, nullptr, 1, rows.data, H);
    kernels::copy_masked(slice.count, k, part.gates, k, nullptr, 1, all.gates + slice.first * k, k);
  }
  return all;
}

}  // namespace moemesh
