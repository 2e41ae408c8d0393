// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The messages of a pipeline, the buffers they are in, and what is told of failures.
#include <cstring>

#include "impl/base/error.hpp"
#include "impl/schedule/pipeline.hpp"
#include "impl/timeline/recorder.hpp"

namespace moemesh {
namespace {

const char* direction(bool forward) { return forward ? "forward" : "backward"; }

// What the step's end can tell the other ranks: not a number of the caller's own, nor what would be taken for a difference
// between the ranks or for a broken context.
int32_t told(int32_t status) {
  const bool ours = status > MOEMESH_OK && status <= MOEMESH_ERROR_STEP_FAILED;
  return ours && status != MOEMESH_ERROR_MISMATCH ? status : int32_t{MOEMESH_ERROR_STEP_FAILED};
}

}  // namespace

StepState* Pipeline::step() const { return schedule_.training ? step_.get() : nullptr; }

// Whether the microbatch is lost for its whole block. In a block of several ranks all of them know it by the failed call;
// a rank that is its own block may also have repaired it, which the caller's status tells.
bool Pipeline::layer_failed(int32_t status) const {
  if (!step() || step()->failed_layer_calls == current_.failed_layer_calls) return false;
  const AxisSizes& sizes = mesh_->layout().sizes();
  return status != MOEMESH_OK || sizes.tp * sizes.ep > 1;
}

void Pipeline::record(const Finding& finding) {
  if (step())
    step()->fail(finding);
  else if (!failure_)
    failure_ = finding;
}

void Pipeline::record_own(int32_t status) {
  record({told(status), format_message("pipeline: status {} was reported for the {} of microbatch {}", status,
                                       direction(current_.forward), current_.microbatch)});
}

int64_t Pipeline::rank_of_stage(int64_t stage) const {
  return mesh_->layout().group_member(MOEMESH_AXIS_PP, mesh_->rank(), stage);
}

StageHeader Pipeline::header_of(int32_t index, int64_t rows, int32_t status) const {
  return {run_,
          rows,
          status,
          index,
          static_cast<int32_t>(schedule_.microbatches),
          schedule_.training ? int32_t{StageHeader::training} : 0};
}

void Pipeline::disagree(const StageHeader& got, int32_t index, int64_t peer) {
  mail_.disagree(format_message(
      "pipeline: rank {} expects run {} (microbatches {}, training {}), microbatch {}, and rank {} sent run {} "
      "(microbatches {}, training {}), microbatch {}",
      mesh_->rank(), run_, schedule_.microbatches, schedule_.training ? 1 : 0, index, rank_of_stage(peer), got.run,
      got.microbatches, got.training, got.microbatch));
}

// The next header of this run; what an earlier, abandoned run left is thrown away.
StageHeader Pipeline::receive_header(Channel channel, int32_t index, int64_t peer) {
  StageHeader header;
  open_arrival(channel);
  for (;;) {
    mail_.receive(channel, peer, &header, sizeof header);
    int64_t post = 0;
    const bool stamped = (header.flags & StageHeader::stamped) != 0;
    if (stamped) mail_.receive(channel, peer, &post, sizeof post);
    header.flags &= ~StageHeader::stamped;
    if (stamped && header.run >= run_) arrival_.hear(rank_of_stage(peer), post);
    if (header.run >= run_) break;
    if (header.rows_follow()) mail_.drop(channel, peer);
  }
  if (header != header_of(index, header.rows, header.status)) disagree(header, index, peer);
  if (header.status == MOEMESH_OK) return header;
  const int64_t rank = rank_of_stage(peer);
  record({MOEMESH_ERROR_PEER_FAILED,
          format_message("pipeline: rank {} failed in the {} of microbatch {} with {} ({})", rank,
                         direction(channel == Channel::forward), index, header.status, status_name(header.status))});
  return header;
}

void Pipeline::open_arrival(Channel channel) {
  arrival_ = {};
  if (!mesh_->recorder()) return;
  const int32_t phase = channel == Channel::forward ? MOEMESH_PHASE_FORWARD : MOEMESH_PHASE_BACKWARD;
  arrival_.purpose = {0, phase, MOEMESH_COLLECTIVE_PIPELINE};
  arrival_.axes = MOEMESH_AXIS_PP;
  arrival_.posted = mesh_->recorder()->now();
}

void Pipeline::close_arrival(int32_t index) {
  if (!mesh_->recorder()) return;
  arrival_.place.microbatch = index;
  arrival_.ended = mesh_->recorder()->now();
  arrival_.blocked = arrival_.ended - arrival_.posted;
  mesh_->recorder()->keep(arrival_);
}

// `rows` rows into `to` if they came; else zeros there, and what came is thrown away.
void Pipeline::receive_rows(Channel channel, int64_t peer, const StageHeader& header, RowSlot* to, int64_t rows) {
  const int64_t bytes = rows * row_bytes();
  const bool wanted = header.rows_follow() && header.rows == rows && to;
  if (wanted)
    mail_.receive(channel, peer, to->rows.data(), bytes);
  else if (header.rows_follow())
    mail_.drop(channel, peer);
  close_arrival(header.microbatch);
  if (!wanted && to && bytes > 0) std::memset(to->rows.data(), 0, static_cast<size_t>(bytes));
}

// What the backward of this microbatch needs is taken here too: there, nobody could be told that it can't be had.
Finding Pipeline::take_forward_slots(int64_t rows) {
  const int64_t bytes = rows * row_bytes();
  const Finding finding = attempt([&] {
    if (schedule_.training && !last()) gradient_.rows.reserve(mesh_->allocator(), bytes);
    if (schedule_.training && !first()) grow_reserve(bytes);
    if (!first()) current_.in = &pool_->take(bytes);
    if (!last()) current_.out = &pool_->take(bytes);
  });
  if (finding.status < 0) throw Error(finding.status, finding.text);
  if (!first() && !current_.in) current_.in = &pool_->take(0);
  if (!last() && !current_.out) current_.out = &pool_->take(0);
  return finding;
}

// Waiting for gradients to be out is no deadlock: the stage before waits for nothing that comes later from here, and the
// first one sends none.
void Pipeline::grow_reserve(int64_t bytes) {
  if (reserve_->rows.size() >= bytes) return;
  if (reserve_->in_flight()) mail_.flush(Channel::backward);
  reserve_->rows.reserve(mesh_->allocator(), bytes);
}

// The reserve, or, while that is still being sent, another one.
void Pipeline::take_backward_slots(int64_t rows) {
  if (!last()) current_.in = &gradient_;
  if (first()) return;
  if (reserve_->in_flight()) (void)attempt([&] { current_.out = &pool_->take(rows * row_bytes()); });
  if (!current_.out && reserve_->in_flight()) mail_.flush(Channel::backward);
  if (!current_.out) current_.out = reserve_;
}

void Pipeline::send(Channel channel, int64_t peer, const Microbatch& microbatch, RowSlot& slot) {
  const auto index = static_cast<int32_t>(&microbatch - microbatches_.data());
  slot.header = header_of(index, microbatch.whole_rows, microbatch.status);
  const int64_t bytes = slot.header.rows_follow() ? microbatch.whole_rows * row_bytes() : 0;
  Communicator::Mail::Part stamp{&slot.post, 0};
  if (mesh_->recorder()) {
    slot.header.flags |= StageHeader::stamped;
    slot.post = mesh_->recorder()->now();
    stamp.bytes = sizeof slot.post;
  }
  mail_.send(channel, peer, {&slot.header, sizeof slot.header}, stamp, {slot.rows.data(), bytes}, &slot.open);
  slot.held = &slot == reserve_;
  ++sends_;
  bytes_sent_ += static_cast<int64_t>(sizeof slot.header) + bytes;
}

moemesh_view Pipeline::view_of(const RowSlot* slot, int64_t rows) const {
  if (!slot) return {};
  return {params_.dtype,    MOEMESH_MEMORY_HOST, 2, 0, {rows, params_.width, 0, 0}, {params_.width, 1, 0, 0},
          slot->rows.data()};
}

}  // namespace moemesh
