// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/device_chunk.hpp"

#include "impl/family/gradients.hpp"
#include "kernels/flat.hpp"
#include "kernels/memory.hpp"

namespace moemesh {
namespace {

constexpr auto float_bytes = static_cast<int64_t>(sizeof(float));

}  // namespace

// What arrives for a sum by owners; and all parts, where the arrays are not one.
int64_t DeviceChunk::staging_bytes(const Family& family, const Gradients& gradients, int64_t count, bool ordered) {
  const bool in_one = family.values().whole() && (gradients.sharded() || gradients.whole().whole());
  return ((ordered ? 1 : 0) + (in_one ? 0 : 1)) * family.group().size() * count * float_bytes;
}

Range DeviceChunk::range_of(int64_t owner) const {
  return chunk_of(shard_of(family_.buckets()[chunk_.bucket], owner), chunk_.first, chunk_.count);
}

const FlatView& DeviceChunk::flat() const {
  return chunk_.kind == Chunk::gather_values ? family_.values() : gradients_.whole();
}

// Of every owner: where its part is, and how long, in elements.
DeviceChunk::Parts DeviceChunk::parts_in(std::byte* staging) const {
  Parts parts;
  parts.base = in_one() ? flat().whole() : staging;
  for (int64_t owner = 0; owner < ranks(); ++owner) {
    const Range range = range_of(owner);
    parts.offset.push_back(in_one() ? range.begin : owner * chunk_.count);
    parts.count.push_back(range.size());
    const bool sent = chunk_.reduces() || owner == own();
    if (!in_one() && sent)
      flat().put_out(range.begin, range.end, staging + parts.offset.back() * flat().element_bytes());
  }
  return parts;
}

void DeviceChunk::run(const Chunk& chunk, std::byte* staging, bool timed) {
  chunk_ = chunk;
  wire_.follow();
  if (timed) wire_.begin_time();
  transfer(staging);
  if (timed) wire_.end_time();
}

void DeviceChunk::transfer(std::byte* staging) {
  const kernels::SideStream here(wire_.stream());
  contributions_ = reinterpret_cast<float*>(staging);
  const Parts parts = parts_in(ordered_ ? staging + ranks() * chunk_.count * float_bytes : staging);
  if (chunk_.reduces()) reduce(parts);
  if (chunk_.gathers()) gather(parts);
  if (in_one()) return;
  for (int64_t owner = 0; owner < ranks(); ++owner) {
    const Range range = range_of(owner);
    const bool made = owner == own() ? chunk_.reduces() : chunk_.gathers();
    if (made)
      flat().put_in(range.begin, range.end, parts.base + parts.offset[owner] * flat().element_bytes());
  }
}

void DeviceChunk::reduce(const Parts& parts) {
  auto* const base = reinterpret_cast<float*>(parts.base);
  const int64_t n = parts.count[own()];
  float* const mine = base + parts.offset[own()];
  if (ordered_) return reduce_in_order(parts);
  wire_.reduce_parts(base, parts.offset, parts.count);
  const float* const sum = mine;
  if (n > 0 && chunk_.factor != 1) kernels::ordered_sum(n, 1, &sum, chunk_.factor, mine);
}

void DeviceChunk::reduce_in_order(const Parts& parts) {
  auto* const base = reinterpret_cast<float*>(parts.base);
  const int64_t n = parts.count[own()];
  float* const mine = base + parts.offset[own()];
  Exchange exchange;
  exchange.send_base = parts.base;
  exchange.receive_base = reinterpret_cast<std::byte*>(contributions_);
  Recycled<const float*> addends;
  for (int64_t peer = 0; peer < ranks(); ++peer) {
    const int64_t other = peer == own() ? 0 : float_bytes;
    exchange.send_offset.push_back(parts.offset[peer] * float_bytes);
    exchange.send_bytes.push_back(parts.count[peer] * other);
    exchange.receive_offset.push_back(peer * chunk_.count * float_bytes);
    exchange.receive_bytes.push_back(n * other);
    addends.push_back(contributions_ + peer * chunk_.count);
  }
  wire_.all_to_all(exchange);
  kernels::copy_bytes(contributions_ + own() * chunk_.count, mine, n * float_bytes);
  if (n > 0) kernels::ordered_sum(n, static_cast<int32_t>(ranks()), addends.data(), chunk_.factor, mine);
}

void DeviceChunk::gather(const Parts& parts) {
  Recycled<int64_t> offset, bytes;
  for (size_t owner = 0; owner < parts.count.size(); ++owner) {
    offset.push_back(parts.offset[owner] * flat().element_bytes());
    bytes.push_back(parts.count[owner] * flat().element_bytes());
  }
  wire_.all_gather_parts(parts.base, offset, bytes);
}

}  // namespace moemesh
