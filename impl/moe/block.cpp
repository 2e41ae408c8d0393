// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/moe/block.hpp"

#include <cstring>

#include "impl/base/error.hpp"
#include "kernels/permute.hpp"
#include "kernels/rows.hpp"

namespace moemesh {
namespace {

Lanes equal_lanes(int64_t ranks, int64_t bytes) {
  Lanes lanes;
  for (int64_t p = 0; p < ranks; ++p) {
    lanes.offset.push_back(p * bytes);
    lanes.bytes.push_back(bytes);
  }
  lanes.total = ranks * bytes;
  return lanes;
}

}  // namespace

Block::Block(Layer& layer, Tape& tape, Outcome& outcome, int32_t phase)
    : layer_(layer), tape_(tape), outcome_(outcome), phase_(phase) {}

int64_t Block::world_rank(size_t peer) const {
  const Mesh& mesh = *layer_.mesh_;
  return mesh.layout().group_member(MOEMESH_GROUP_EXPERT_EXCHANGE, mesh.rank(), static_cast<int64_t>(peer));
}

Lanes Block::source_lanes(int64_t row_bytes, bool tagged, bool keep_own) const {
  const SourcePlan& plan = tape_.source;
  return make_lanes(plan.copy_offsets, tagged ? &plan.tag_offsets : nullptr, row_bytes, own(), keep_own);
}

Lanes Block::receive_lanes(int64_t row_bytes, bool tagged, bool keep_own) const {
  const ReceivePlan& plan = tape_.received;
  return make_lanes(plan.copy_offsets, tagged ? &plan.tag_offsets : nullptr, row_bytes, own(), keep_own);
}

void Block::exchange(Place place, const Lanes& send, const std::byte* from, const Lanes& receive, std::byte* to) {
  outcome_.all_to_all(layer_.exchange_, make_exchange(send, from, receive, to, place),
                      {MOEMESH_EXPERT, phase_, MOEMESH_COLLECTIVE_ALL_TO_ALL});
}

// A failing rank tells its status with zero counts, by the ordinary exchange: this is where its peers learn of it.
void Block::exchange_counts(int64_t identity) {
  Communicator& comm = layer_.exchange_;
  const auto ranks = static_cast<size_t>(comm.size());
  Recycled<Counts> mine(ranks), theirs(ranks);
  for (size_t p = 0; p < ranks; ++p) {
    mine[p].status = outcome_.own_status();
    mine[p].identity = identity;
    if (outcome_.failed()) continue;
    mine[p].copies = tape_.source.copy_offsets[p + 1] - tape_.source.copy_offsets[p];
    mine[p].tags = tape_.source.tag_offsets[p + 1] - tape_.source.tag_offsets[p];
  }
  const Lanes lanes = equal_lanes(comm.size(), sizeof(Counts));
  const Exchange exchange = make_exchange(lanes, reinterpret_cast<const std::byte*>(mine.data()), lanes,
                                          reinterpret_cast<std::byte*>(theirs.data()), Exchange::no_place);
  if (comm.all_to_all(exchange, {MOEMESH_EXPERT, phase_, MOEMESH_COLLECTIVE_COUNT_EXCHANGE}))
    outcome_.hear(-1, MOEMESH_ERROR_PEER_FAILED);
  ReceivePlan& plan = tape_.received;
  plan.copy_offsets.assign(1, 0);
  plan.tag_offsets.assign(1, 0);
  for (size_t p = 0; p < ranks; ++p) {
    const int64_t peer = world_rank(p);
    outcome_.hear(peer, static_cast<int32_t>(theirs[p].status));
    if (theirs[p].status == MOEMESH_OK && theirs[p].identity != identity) outcome_.hear(peer, MOEMESH_ERROR_MISMATCH);
    plan.copy_offsets.push_back(plan.copy_offsets.back() + theirs[p].copies);
    plan.tag_offsets.push_back(plan.tag_offsets.back() + theirs[p].tags);
  }
  plan.copies = plan.copy_offsets.back();
  plan.rows = plan.tag_offsets.back();
}

void Block::pack(const TypedRows& tokens, const Lanes& lanes, std::byte* buffer) {
  const SourcePlan& plan = tape_.source;
  auto* from = workspace().get<std::byte*>(Workspace::pointers, plan.copies);
  auto* to = workspace().get<std::byte*>(Workspace::pointers2, plan.copies);
  kernels::token_pointers(plan.copies, plan.copy_token.data(), tokens.data, tokens.row_bytes(), from);
  Recycled<std::byte*> base;
  for (size_t p = 0; p < lanes.offset.size(); ++p)
    base.push_back(static_cast<int64_t>(p) == own() ? nullptr : buffer + lanes.offset[p]);
  kernels::segment_pointers(layer_.exchange_.size(), plan.copy_offsets.data(), base.data(), there_bytes(), to);
  const int64_t before = plan.copy_offsets[static_cast<size_t>(own())],
                after = plan.copy_offsets[static_cast<size_t>(own()) + 1];
  kernels::copy_rows(before, tokens.width, tokens.element, from, to);
  kernels::copy_rows(plan.copies - after, tokens.width, tokens.element, from + after, to + after);
}

void Block::dispatch(const TypedRows& x) {
  const Lanes send = source_lanes(there_bytes(), true, false), receive = receive_lanes(there_bytes(), true, false);
  const SourcePlan& source = tape_.source;
  ReceivePlan& received = tape_.received;
  std::byte* buffer = nullptr;
  outcome_.run([&] {
    buffer = workspace().get<std::byte>(Workspace::send, send.total);
    tape_.dispatched.reserve(layer_.mesh_->allocator(), receive.total);
    received.row_tags.reserve(layer_.mesh_->allocator(), received.rows);
    pack(x, send, buffer);
    for (size_t p = 0; p < send.offset.size(); ++p)
      if (send.bytes[p] > 0)
        std::memcpy(buffer + send.tags_at[p], source.row_tags.data() + source.tag_offsets[p],
                    static_cast<size_t>(source.tag_offsets[p + 1] - source.tag_offsets[p]) * sizeof(kernels::RowTag));
  });
  exchange(dispatch_place, send, buffer, receive, tape_.dispatched.data());
  if (outcome_.failed()) return;
  for (size_t p = 0; p < receive.offset.size(); ++p) {
    const auto bytes =
        static_cast<size_t>(received.tag_offsets[p + 1] - received.tag_offsets[p]) * sizeof(kernels::RowTag);
    const void* from = static_cast<int64_t>(p) == own()
                           ? static_cast<const void*>(source.row_tags.data() + source.tag_offsets[p])
                           : tape_.dispatched.data() + receive.tags_at[p];
    if (bytes > 0) std::memcpy(received.row_tags.data() + received.tag_offsets[p], from, bytes);
  }
}

void Block::combine_backward(const TypedRows& dy) {
  const Lanes send = source_lanes(there_bytes(), false, false), receive = receive_lanes(there_bytes(), false, false);
  std::byte *buffer = nullptr, *arrived = nullptr;
  outcome_.run([&] {
    buffer = workspace().get<std::byte>(Workspace::send, send.total);
    arrived = workspace().get<std::byte>(Workspace::receive, receive.total);
    pack(dy, send, buffer);
  });
  exchange(combine_backward_place, send, buffer, receive, arrived);
  received_ = arrived;
}

const std::byte* const* Block::received_rows(Workspace::Slot slot, const TypedRows& tokens, const std::byte* buffer,
                                             bool tagged) {
  const ReceivePlan& plan = tape_.received;
  const Lanes lanes = receive_lanes(there_bytes(), tagged, false);
  auto* rows = workspace().get<std::byte*>(slot, plan.copies);
  Recycled<std::byte*> base;
  for (size_t p = 0; p < lanes.offset.size(); ++p)
    base.push_back(static_cast<int64_t>(p) == own() || lanes.bytes[p] == 0
                       ? nullptr
                       : const_cast<std::byte*>(buffer) + lanes.offset[p]);
  kernels::segment_pointers(layer_.exchange_.size(), plan.copy_offsets.data(), base.data(), there_bytes(), rows);
  const auto me = static_cast<size_t>(own());
  kernels::token_pointers(plan.copy_offsets[me + 1] - plan.copy_offsets[me],
                          tape_.source.copy_token.data() + tape_.source.copy_offsets[me], tokens.data,
                          tokens.row_bytes(), rows + plan.copy_offsets[me]);
  return rows;
}

std::byte* const* Block::result_rows(bool tagged) {
  const ReceivePlan& plan = tape_.received;
  const Lanes lanes = receive_lanes(back_bytes(), tagged, false), home = source_lanes(back_bytes(), tagged, true);
  returned_tagged_ = tagged;
  results_ = workspace().get<std::byte>(Workspace::send, lanes.total);
  returned_ = workspace().get<std::byte>(Workspace::returned, home.total);
  auto* rows = workspace().get<std::byte*>(Workspace::pointers3, plan.copies);
  Recycled<std::byte*> base;
  for (size_t p = 0; p < lanes.offset.size(); ++p)
    base.push_back(static_cast<int64_t>(p) == own() ? returned_ + home.offset[p] : results_ + lanes.offset[p]);
  kernels::segment_pointers(layer_.exchange_.size(), plan.copy_offsets.data(), base.data(), back_bytes(), rows);
  return rows;
}

void Block::combine() {
  exchange(combine_place, receive_lanes(back_bytes(), false, false), results_, source_lanes(back_bytes(), false, true),
           returned_);
}

void Block::dispatch_backward() {
  const Lanes send = receive_lanes(back_bytes(), true, false), receive = source_lanes(back_bytes(), true, true);
  const ReceivePlan& plan = tape_.received;
  outcome_.run([&] {
    for (size_t p = 0; p < send.offset.size(); ++p) {
      const auto bytes = static_cast<size_t>(plan.tag_offsets[p + 1] - plan.tag_offsets[p]) * sizeof(kernels::RowTag);
      std::byte* to = static_cast<int64_t>(p) == own() ? returned_ + receive.tags_at[p] : results_ + send.tags_at[p];
      if (bytes > 0) std::memcpy(to, plan.row_tags.data() + plan.tag_offsets[p], bytes);
    }
  });
  exchange(dispatch_backward_place, send, results_, receive, returned_);
}

const std::byte* const* Block::returned_rows() {
  const SourcePlan& plan = tape_.source;
  const Lanes lanes = source_lanes(back_bytes(), returned_tagged_, true);
  auto* rows = workspace().get<std::byte*>(Workspace::pointers, plan.copies);
  Recycled<std::byte*> base;
  for (const int64_t offset : lanes.offset) base.push_back(returned_ + offset);
  kernels::segment_pointers(layer_.exchange_.size(), plan.copy_offsets.data(), base.data(), back_bytes(), rows);
  return rows;
}

const kernels::RowTag* Block::returned_tags() {
  const SourcePlan& plan = tape_.source;
  const Lanes lanes = source_lanes(back_bytes(), true, true);
  auto* tags = workspace().get<kernels::RowTag>(Workspace::tags, plan.tags);
  for (size_t p = 0; p < lanes.offset.size(); ++p) {
    const auto bytes = static_cast<size_t>(plan.tag_offsets[p + 1] - plan.tag_offsets[p]) * sizeof(kernels::RowTag);
    if (bytes > 0) std::memcpy(tags + plan.tag_offsets[p], returned_ + lanes.tags_at[p], bytes);
  }
  return tags;
}

}  // namespace moemesh
