// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/moe/block.hpp"

#include "impl/base/error.hpp"
#include "kernels/permute.hpp"
#include "kernels/rows.hpp"

namespace moemesh {
namespace {

constexpr int64_t region_alignment = 64;

int64_t aligned(int64_t bytes) { return (bytes + region_alignment - 1) / region_alignment * region_alignment; }

void copy_tags(void* to, const void* from, const std::vector<int64_t>& offsets, size_t peer) {
  const int64_t bytes = (offsets[peer + 1] - offsets[peer]) * tag_bytes;
  kernels::copy_bytes(to, from, bytes);
}

}  // namespace

Block::Block(Layer& layer, Tape& tape, size_t part, Outcome& outcome)
    : layer_(layer),
      tape_(tape),
      index_(part),
      part_(tape.parts[part]),
      outcome_(outcome),
      redone_(tape.copies == nullptr) {
  if (redone_) return;
  copies_ = tape.copies->dispatched[part].data();
  copies_tagged_ = tape.copies->tagged;
}

Lanes Block::source_lanes(const Part& part, int64_t row_bytes, bool tagged, bool keep_own) const {
  const SourcePlan& plan = part.source;
  return make_lanes(plan.copy_offsets, tagged ? &plan.tag_offsets : nullptr, row_bytes, own(), keep_own);
}

Lanes Block::receive_lanes(const Part& part, int64_t row_bytes, bool tagged, bool keep_own) const {
  const ReceivePlan& plan = part.received;
  return make_lanes(plan.copy_offsets, tagged ? &plan.tag_offsets : nullptr, row_bytes, own(), keep_own);
}

template <class Bytes>
std::byte* Block::region(Workspace::Slot slot, const Bytes& bytes_of) {
  int64_t total = 0, offset = 0;
  for (size_t i = 0; i < tape_.parts.size(); ++i) {
    if (i == index_) offset = aligned(total);
    total = aligned(total) + bytes_of(tape_.parts[i]);
  }
  return workspace().get_for<std::byte>(layer_.exchange_.size() > 1, slot, total) + offset;
}

Flight Block::start(Place place, const Lanes& send, const std::byte* from, const Lanes& receive, std::byte* to,
                    int32_t phase) {
  Exchange exchange = make_exchange(send, from, receive, to, place);
  exchange.model = layer_.expert_.get();
  exchange.layer = layer_.place_;
  exchange.of_kernels = true;
  return outcome_.start(layer_.exchange_, exchange, {MOEMESH_EXPERT, phase, MOEMESH_COLLECTIVE_ALL_TO_ALL});
}

void Block::pack(const TypedRows& tokens, const Lanes& lanes, std::byte* buffer) {
  const SourcePlan& plan = part_.source;
  const TypedRows rows = rows_of(tokens, part_.slice);
  auto* from = workspace().get<std::byte*>(Workspace::pointers, plan.copies);
  auto* to = workspace().get<std::byte*>(Workspace::pointers2, plan.copies);
  kernels::token_pointers(plan.copies, plan.copy_token.data(), rows.data, rows.row_bytes(), from);
  Recycled<std::byte*> base;
  for (size_t p = 0; p < lanes.offset.size(); ++p)
    base.push_back(static_cast<int64_t>(p) == own() ? nullptr : buffer + lanes.offset[p]);
  kernels::segment_pointers(layer_.exchange_.size(), plan.copy_offsets.data(), base.data(), there_bytes(), to);
  const int64_t before = plan.copy_offsets[static_cast<size_t>(own())],
                after = plan.copy_offsets[static_cast<size_t>(own()) + 1];
  kernels::copy_rows(before, rows.width, rows.element, from, to);
  kernels::copy_rows(plan.copies - after, rows.width, rows.element, from + after, to + after);
}

void Block::pack_tags(const Lanes& lanes, std::byte* buffer) {
  const SourcePlan& plan = part_.source;
  for (size_t p = 0; p < lanes.offset.size(); ++p)
    if (lanes.bytes[p] > 0)
      copy_tags(buffer + lanes.tags_at[p], plan.row_tags.data() + plan.tag_offsets[p], plan.tag_offsets, p);
}

std::byte* Block::place_for_copies(const Lanes& lanes, bool tagged) {
  copies_tagged_ = tagged;
  if (!tape_.copies)
    return region(Workspace::dispatched,
                  [&](const Part& part) { return receive_lanes(part, there_bytes(), tagged, false).total; });
  tape_.copies->tagged = tagged;
  MessageBuffer<std::byte>& kept = tape_.copies->dispatched[index_];
  kept.reserve(layer_.mesh_->allocator(), lanes.total);
  return kept.data();
}

void Block::start_dispatch(const TypedRows& x, bool tagged, int32_t phase) {
  const Lanes send = source_lanes(part_, there_bytes(), tagged, false),
              receive = receive_lanes(part_, there_bytes(), tagged, false);
  std::byte* buffer = nullptr;
  outcome_.run([&] {
    buffer = region(Workspace::send,
                    [&](const Part& part) { return source_lanes(part, there_bytes(), tagged, false).total; });
    copies_ = place_for_copies(receive, tagged);
    if (tagged) part_.received.row_tags.reserve(layer_.mesh_->allocator(), part_.received.rows);
    pack(x, send, buffer);
    if (tagged) pack_tags(send, buffer);
  });
  dispatch_ = start(dispatch_place, send, buffer, receive, copies_, phase);
}

void Block::finish_dispatch() {
  outcome_.finish(dispatch_);
  if (outcome_.failed() || !copies_tagged_) return;
  const Lanes receive = receive_lanes(part_, there_bytes(), true, false);
  const SourcePlan& source = part_.source;
  ReceivePlan& received = part_.received;
  for (size_t p = 0; p < receive.offset.size(); ++p)
    copy_tags(received.row_tags.data() + received.tag_offsets[p],
              static_cast<int64_t>(p) == own()
                  ? static_cast<const void*>(source.row_tags.data() + source.tag_offsets[p])
                  : copies_ + receive.tags_at[p],
              received.tag_offsets, p);
}

void Block::start_combine_backward(const TypedRows& dy) {
  const Lanes send = source_lanes(part_, there_bytes(), false, false),
              receive = receive_lanes(part_, there_bytes(), false, false);
  std::byte* buffer = nullptr;
  outcome_.run([&] {
    buffer = region(redone_ ? Workspace::send_again : Workspace::send,
                    [&](const Part& part) { return source_lanes(part, there_bytes(), false, false).total; });
    gradients_ = region(Workspace::receive,
                        [&](const Part& part) { return receive_lanes(part, there_bytes(), false, false).total; });
    pack(dy, send, buffer);
  });
  gradient_ = start(combine_backward_place, send, buffer, receive, gradients_, MOEMESH_PHASE_BACKWARD);
}

void Block::finish_combine_backward() { outcome_.finish(gradient_); }

const std::byte* const* Block::copies(Workspace::Slot slot, const TypedRows& x) {
  return received_rows(slot, x, copies_, copies_tagged_);
}

const std::byte* const* Block::gradients(Workspace::Slot slot, const TypedRows& dy) {
  return received_rows(slot, dy, gradients_, false);
}

const std::byte* const* Block::received_rows(Workspace::Slot slot, const TypedRows& tokens, const std::byte* buffer,
                                             bool tagged) {
  const ReceivePlan& plan = part_.received;
  const TypedRows mine = rows_of(tokens, part_.slice);
  const Lanes lanes = receive_lanes(part_, there_bytes(), tagged, false);
  auto* rows = workspace().get<std::byte*>(slot, plan.copies);
  Recycled<std::byte*> base;
  for (size_t p = 0; p < lanes.offset.size(); ++p)
    base.push_back(static_cast<int64_t>(p) == own() || lanes.bytes[p] == 0
                       ? nullptr
                       : const_cast<std::byte*>(buffer) + lanes.offset[p]);
  kernels::segment_pointers(layer_.exchange_.size(), plan.copy_offsets.data(), base.data(), there_bytes(), rows);
  const auto me = static_cast<size_t>(own());
  kernels::token_pointers(plan.copy_offsets[me + 1] - plan.copy_offsets[me],
                          part_.source.copy_token.data() + part_.source.copy_offsets[me], mine.data, mine.row_bytes(),
                          rows + plan.copy_offsets[me]);
  return rows;
}

std::byte* const* Block::result_rows(bool tagged) {
  const ReceivePlan& plan = part_.received;
  const Lanes lanes = receive_lanes(part_, back_bytes(), tagged, false),
              home = source_lanes(part_, back_bytes(), tagged, true);
  returned_tagged_ = tagged;
  // What one part alone has sent is not needed any more.
  results_ = region(tape_.parts.size() == 1 ? Workspace::send : Workspace::results,
                    [&](const Part& part) { return receive_lanes(part, back_bytes(), tagged, false).total; });
  returned_ = region(Workspace::returned,
                     [&](const Part& part) { return source_lanes(part, back_bytes(), tagged, true).total; });
  auto* rows = workspace().get<std::byte*>(Workspace::pointers3, plan.copies);
  Recycled<std::byte*> base;
  for (size_t p = 0; p < lanes.offset.size(); ++p)
    base.push_back(static_cast<int64_t>(p) == own() ? returned_ + home.offset[p] : results_ + lanes.offset[p]);
  kernels::segment_pointers(layer_.exchange_.size(), plan.copy_offsets.data(), base.data(), back_bytes(), rows);
  return rows;
}

void Block::start_combine(int32_t phase) {
  return_ = start(combine_place, receive_lanes(part_, back_bytes(), false, false), results_,
                  source_lanes(part_, back_bytes(), false, true), returned_, phase);
}

void Block::start_dispatch_backward() {
  const Lanes send = receive_lanes(part_, back_bytes(), true, false),
              receive = source_lanes(part_, back_bytes(), true, true);
  const ReceivePlan& plan = part_.received;
  outcome_.run([&] {
    for (size_t p = 0; p < send.offset.size(); ++p)
      copy_tags(static_cast<int64_t>(p) == own() ? returned_ + receive.tags_at[p] : results_ + send.tags_at[p],
                plan.row_tags.data() + plan.tag_offsets[p], plan.tag_offsets, p);
  });
  return_ = start(dispatch_backward_place, send, results_, receive, returned_, MOEMESH_PHASE_BACKWARD);
}

void Block::finish_return() { outcome_.finish(return_); }

const std::byte* const* Block::returned_rows() {
  const SourcePlan& plan = part_.source;
  const Lanes lanes = source_lanes(part_, back_bytes(), returned_tagged_, true);
  auto* rows = workspace().get<std::byte*>(Workspace::pointers, plan.copies);
  Recycled<std::byte*> base;
  for (const int64_t offset : lanes.offset) base.push_back(returned_ + offset);
  kernels::segment_pointers(layer_.exchange_.size(), plan.copy_offsets.data(), base.data(), back_bytes(), rows);
  return rows;
}

const kernels::RowTag* Block::returned_tags() {
  const SourcePlan& plan = part_.source;
  const Lanes lanes = source_lanes(part_, back_bytes(), true, true);
  auto* tags = workspace().get<kernels::RowTag>(Workspace::tags, plan.tags);
  for (size_t p = 0; p < lanes.offset.size(); ++p)
    copy_tags(tags + plan.tag_offsets[p], returned_ + lanes.tags_at[p], plan.tag_offsets, p);
  return tags;
}

}  // namespace moemesh
