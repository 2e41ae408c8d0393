// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/chunk_transfer.hpp"

#include "impl/family/gradients.hpp"
#include "kernels/flat.hpp"

namespace moemesh {
namespace {

// Two tags for each chunk; after so many of them the first ones are long through.
constexpr int64_t numbers = 4096;

int64_t half_bytes(const Family& family, int64_t count) {
  return family.group().size() * count * static_cast<int64_t>(sizeof(float));
}

}  // namespace

// What arrives; and what leaves, where the arrays are not one.
int64_t ChunkTransfer::staging_bytes(const Family& family, const Gradients& gradients, int64_t count) {
  const bool in_one = family.values().in_place() && (gradients.sharded() || gradients.whole().in_place());
  return (in_one ? 1 : 2) * half_bytes(family, count);
}

Range ChunkTransfer::range_of(int64_t owner) const {
  return chunk_of(shard_of(family_.buckets()[chunk_.bucket], owner), chunk_.first, chunk_.count);
}

const FlatView& ChunkTransfer::flat() const {
  return chunk_.kind == Chunk::gather_values ? family_.values() : gradients_.whole();
}

template <class F>
void ChunkTransfer::for_each_peer(F&& f) const {
  for (int64_t i = 1; i < wire_.size(); ++i) f((wire_.rank() + i) % wire_.size());
}

void ChunkTransfer::start(const Chunk& chunk, int64_t number, std::byte* staging) {
  chunk_ = chunk;
  tag_ = static_cast<int32_t>(2 * (number % numbers));
  staging_ = staging;
  outgoing_ = staging + half_bytes(family_, chunk.count);
  if (chunk.reduces())
    scatter();
  else
    gather();
}

void ChunkTransfer::open_batch(int32_t phase, int32_t collective, int32_t tag) {
  batch_.emplace(wire_, Purpose{family_.kind(), phase, collective}, tag, recording_);
}

// Place of an owner's part in one half of the staging.
void ChunkTransfer::scatter() {
  at_ = scattering;
  open_batch(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER, tag_);
  const int64_t slot = chunk_.count * 4, own = range_of(wire_.rank()).size() * 4;
  std::byte* const whole = flat().in_place();
  for_each_peer([&](int64_t peer) {
    if (own > 0) batch_->receive(staging_ + peer * slot, own, peer);
  });
  for_each_peer([&](int64_t peer) {
    const Range range = range_of(peer);
    if (range.size() == 0) return;
    std::byte* const from = whole ? whole + range.begin * 4 : outgoing_ + peer * slot;
    if (!whole) flat().copy_out(range.begin, range.end, from);
    batch_->send(from, range.size() * 4, peer);
  });
}

void ChunkTransfer::add_up() {
  const Range own = range_of(wire_.rank());
  if (own.size() == 0) return;
  std::byte* const whole = flat().in_place();
  std::byte* const mine = whole ? whole + own.begin * 4 : outgoing_ + wire_.rank() * chunk_.count * 4;
  if (!whole) flat().copy_out(own.begin, own.end, mine);
  Recycled<const float*> parts;
  for (int64_t rank = 0; rank < wire_.size(); ++rank)
    parts.push_back(reinterpret_cast<const float*>(rank == wire_.rank() ? mine : staging_ + rank * chunk_.count * 4));
  auto* const sum = reinterpret_cast<float*>(mine);
  kernels::ordered_sum_here(own.size(), static_cast<int32_t>(wire_.size()), parts.data(), chunk_.factor, sum);
  if (!whole) flat().copy_in(own.begin, own.end, sum);
}

void ChunkTransfer::gather() {
  at_ = gathering;
  const bool values = chunk_.kind == Chunk::gather_values;
  open_batch(values ? MOEMESH_PHASE_UPDATE : MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_GATHER, tag_ + 1);
  const int64_t element = flat().element_bytes(), slot = chunk_.count * 4;
  std::byte* const whole = flat().in_place();
  const auto place = [&](const Range& range, int64_t owner) {
    return whole ? whole + range.begin * element : staging_ + owner * slot;
  };
  for_each_peer([&](int64_t peer) {
    const Range range = range_of(peer);
    if (range.size() > 0) batch_->receive(place(range, peer), range.size() * element, peer);
  });
  const Range own = range_of(wire_.rank());
  if (own.size() == 0) return;
  std::byte* const from = whole ? whole + own.begin * element : outgoing_;
  if (!whole) flat().copy_out(own.begin, own.end, from);
  for_each_peer([&](int64_t peer) { batch_->send(from, own.size() * element, peer); });
}

void ChunkTransfer::place_received() {
  if (flat().in_place()) return;
  for_each_peer([&](int64_t peer) {
    const Range range = range_of(peer);
    if (range.size() > 0) flat().copy_in(range.begin, range.end, staging_ + peer * chunk_.count * 4);
  });
}

void ChunkTransfer::advance() {
  batch_->record();
  if (at_ == scattering) {
    add_up();
    at_ = idle;
    if (chunk_.gathers()) return gather();
  } else if (at_ == gathering) {
    place_received();
    at_ = idle;
  }
}

bool ChunkTransfer::poll() {
  (void)batch_->poll();
  while (at_ != idle && batch_->idle()) advance();
  return at_ == idle;
}

void ChunkTransfer::wait() { (void)batch_->wait(); }  // errors were agreed before: nobody sends short

}  // namespace moemesh
