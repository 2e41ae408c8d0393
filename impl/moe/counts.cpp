// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The one small exchange before the payload of a forward, backward or replay: whether all are well and in the same call, and
// how much comes from whom in each chunk where that is not known yet.
#include "impl/base/hash.hpp"
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

// A failing rank tells its status by the ordinary exchange: this is where its peers learn of it. write(peer, words) and
// read(words), for each peer in turn: what comes after the first two.
template <class Write, class Read>
void Layer::meet(Outcome& outcome, int64_t identity, int32_t phase, int64_t chunks, Write&& write, Read&& read) {
  const auto ranks = static_cast<size_t>(exchange_.size());
  const auto words = static_cast<size_t>(count_words(chunks));
  const int64_t most = mesh_->most_chunks();  // a peer in another call may send more than this one expects, or less
  const auto room = static_cast<size_t>(count_words(most));
  Recycled<int64_t> mine(ranks * words), theirs(ranks * room);
  for (size_t p = 0; p < ranks; ++p) {
    mine[p * words] = outcome.own_status();
    mine[p * words + 1] = identity;
    if (!outcome.failed()) write(p, &mine[p * words + 2]);
  }
  const Exchange exchange =
      make_exchange(equal_lanes(exchange_.size(), count_bytes(chunks)), reinterpret_cast<const std::byte*>(mine.data()),
                    equal_lanes(exchange_.size(), count_bytes(most)), reinterpret_cast<std::byte*>(theirs.data()),
                    Exchange::no_place);
  // Messages shorter than the room for them say nothing: the two words that all of them have do.
  (void)exchange_.all_to_all(exchange, {MOEMESH_EXPERT, phase, MOEMESH_COLLECTIVE_COUNT_EXCHANGE});
  for (size_t p = 0; p < ranks; ++p) {
    const int64_t peer =
        mesh_->layout().group_member(MOEMESH_GROUP_EXPERT_EXCHANGE, mesh_->rank(), static_cast<int64_t>(p));
    const auto status = static_cast<int32_t>(theirs[p * room]);
    outcome.hear(peer, status);
    if (status == MOEMESH_OK && theirs[p * room + 1] != identity) outcome.hear(peer, MOEMESH_ERROR_MISMATCH);
    read(&theirs[p * room + 2]);
  }
}

void Layer::exchange_counts(Outcome& outcome, Tape& tape, int64_t identity) {
  for (Part& part : tape.parts) clear(part.received);
  meet(
      outcome, identity, MOEMESH_PHASE_FORWARD, params_.chunks,
      [&](size_t peer, int64_t* words) { write_counts(tape.parts, peer, words); },
      [&](const int64_t* words) { read_counts(words, tape.parts); });
}

// Ranks that give their tapes back in different orders would otherwise take each other's rows for those of their own.
void Layer::meet_again(Outcome& outcome, const Tape& tape, int32_t phase) {
  const int64_t words[] = {phase, tape.microbatch, tape.number};
  const auto identity =
      static_cast<int64_t>(hash_bytes(words, sizeof words, static_cast<uint64_t>(hash_string(name_))));
  meet(
      outcome, identity, phase, 0, [](size_t, int64_t*) {}, [](const int64_t*) {});
}

}  // namespace moemesh
