// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The one small exchange before a forward's payload: how much comes from whom in each chunk, and whether all are well.
#include "impl/moe/lanes.hpp"
#include "impl/moe/layer.hpp"
#include "impl/moe/outcome.hpp"

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

void write_counts(const std::vector<Part>& parts, size_t peer, int64_t* to) {
  for (const Part& part : parts) {
    *to++ = part.source.copy_offsets[peer + 1] - part.source.copy_offsets[peer];
    *to++ = part.source.tag_offsets[peer + 1] - part.source.tag_offsets[peer];
  }
}

void read_counts(const int64_t* from, std::vector<Part>& parts) {
  for (Part& part : parts) {
    ReceivePlan& plan = part.received;
    plan.copy_offsets.push_back(plan.copies += *from++);
    plan.tag_offsets.push_back(plan.rows += *from++);
  }
}

void clear(ReceivePlan& plan) {
  plan.copies = plan.rows = 0;
  plan.copy_offsets.assign(1, 0);
  plan.tag_offsets.assign(1, 0);
}

}  // namespace

// A failing rank tells its status with zero counts, by the ordinary exchange: this is where its peers learn of it.
void Layer::exchange_counts(Outcome& outcome, Tape& tape, int64_t identity) {
  const auto ranks = static_cast<size_t>(exchange_.size());
  const auto words = static_cast<size_t>(count_words(params_.chunks));
  Recycled<int64_t> mine(ranks * words), theirs(ranks * words);
  for (size_t p = 0; p < ranks; ++p) {
    mine[p * words] = outcome.own_status();
    mine[p * words + 1] = identity;
    if (!outcome.failed()) write_counts(tape.parts, p, &mine[p * words + 2]);
  }
  const Lanes lanes = equal_lanes(exchange_.size(), count_bytes(params_.chunks));
  const Exchange exchange = make_exchange(lanes, reinterpret_cast<const std::byte*>(mine.data()), lanes,
                                          reinterpret_cast<std::byte*>(theirs.data()), Exchange::no_place);
  if (exchange_.all_to_all(exchange, {MOEMESH_EXPERT, MOEMESH_PHASE_FORWARD, MOEMESH_COLLECTIVE_COUNT_EXCHANGE}))
    outcome.hear(-1, MOEMESH_ERROR_PEER_FAILED);
  for (Part& part : tape.parts) clear(part.received);
  for (size_t p = 0; p < ranks; ++p) {
    const int64_t peer =
        mesh_->layout().group_member(MOEMESH_GROUP_EXPERT_EXCHANGE, mesh_->rank(), static_cast<int64_t>(p));
    const auto status = static_cast<int32_t>(theirs[p * words]);
    outcome.hear(peer, status);
    if (status == MOEMESH_OK && theirs[p * words + 1] != identity) outcome.hear(peer, MOEMESH_ERROR_MISMATCH);
    read_counts(&theirs[p * words + 2], tape.parts);
  }
}

}  // namespace moemesh
