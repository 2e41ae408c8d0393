// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/reduction.hpp"

#include <algorithm>
#include <cstring>

#include "impl/base/error.hpp"
#include "kernels/flat.hpp"

namespace moemesh {
namespace {

// Elements of each owner's shard that one exchange moves: bounds the staging memory to twice this times the group size.
constexpr int64_t chunk_elements = int64_t{1} << 18;

// A peer can't fail alone inside a reduction: errors were agreed before it started.
void expect_no_failure(bool peer_failed) {
  require(!peer_failed, MOEMESH_ERROR_COMMUNICATION, "a rank sent less than agreed during a reduction");
}

Purpose purpose_of(const Family& family, int32_t phase, int32_t collective) {
  return {family.kind(), phase, collective};
}

void sum_partial_over_tp(Family& family) {
  Communicator& tp = family.mesh().group(family.tp_axis());
  if (tp.size() == 1) return;
  for (const auto& parameter : family.parameters())
    if (parameter->params.tp_kind == MOEMESH_TP_PARTIAL)
      expect_no_failure(tp.all_reduce(parameter->gradient, parameter->elements(), Communicator::Op::sum,
                                      purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_REDUCE)));
}

// The part of an owner's shard that chunk `first` of the shard index covers.
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
Range range_of(const Shards& shards, int64_t owner, int64_t first, int64_t count) {
  const int64_t begin = std::min(shards.end(owner), shards.begin(owner) + first);
  return {begin, std::min(shards.end(owner), begin + count)};
}

// One chunk: my elements of every owner's range go to it; the contributions to my own range arrive and are added up.
void reduce_chunk(Family& family, const Shards& shards, int64_t first, int64_t count, float factor) {
  Communicator& group = family.group();
  Workspace& workspace = family.mesh().workspace();
  const int64_t d = group.size();
  const Range own = range_of(shards, group.rank(), first, count);
  auto* send = workspace.get<float>(Workspace::flat_send, d * count);
  auto* receive = workspace.get<float>(Workspace::flat_receive, d * count);
  Exchange exchange;
  exchange.send_base = reinterpret_cast<std::byte*>(send);
  exchange.receive_base = reinterpret_cast<std::byte*>(receive);
  std::vector<const float*> parts;
  for (int64_t peer = 0; peer < d; ++peer) {
    const Range range = range_of(shards, peer, first, count);
    family.gradients().copy_out(range.begin, range.end, send + peer * count);
    exchange.send_offset.push_back(peer * count * 4);
    exchange.send_bytes.push_back(range.size() * 4);
    exchange.receive_offset.push_back(peer * count * 4);
    exchange.receive_bytes.push_back(own.size() * 4);
    parts.push_back(receive + peer * count);
  }
  expect_no_failure(
      group.all_to_all(exchange, purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER)));
  kernels::ordered_sum(own.size(), static_cast<int32_t>(d), parts.data(), factor, send);
  family.gradients().copy_in(own.begin, own.end, send);
}

void scale_alone(Family& family, float factor) {
  const FlatView& flat = family.gradients();
  flat.for_each(0, flat.size(), [&](float* data, int64_t, int64_t n) {
    const float* part = data;
    kernels::ordered_sum(n, 1, &part, factor, data);
  });
}

}  // namespace

void reduce_gradients(Family& family, float factor, bool gather) {
  sum_partial_over_tp(family);
  const Shards shards = family.shards();
  if (shards.owners == 1) return scale_alone(family, factor);
  const int64_t count = std::min(chunk_elements, shards.part());
  for (int64_t first = 0; first < shards.part(); first += count) reduce_chunk(family, shards, first, count, factor);
  if (gather)
    gather_shards(family, family.gradients(),
                  purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_GATHER));
}

void reserve_reduction(Family& family) {
  Workspace& workspace = family.mesh().workspace();
  const Shards shards = family.shards();
  const int64_t chunks = shards.owners * std::min(chunk_elements, shards.part());
  for (const auto& parameter : family.parameters())
    if (parameter->params.tp_kind == MOEMESH_TP_PARTIAL)
      family.mesh().group(family.tp_axis()).reserve_all_reduce(parameter->elements() * 4);
  if (shards.owners == 1) return;
  const bool in_place = family.values().contiguous() && family.gradients().contiguous();
  workspace.get<float>(Workspace::flat_send, in_place ? chunks : std::max(chunks, shards.size));
  workspace.get<float>(Workspace::flat_receive, chunks);
}

void gather_shards(Family& family, const FlatView& flat, Purpose purpose) {
  Communicator& group = family.group();
  const Shards shards = family.shards();
  if (group.size() == 1 || shards.size == 0) return;
  float* whole = flat.contiguous();
  float* staging = whole ? whole : family.mesh().workspace().get<float>(Workspace::flat_send, shards.size);
  const int64_t begin = shards.begin(group.rank()), end = shards.end(group.rank());
  if (!whole) flat.copy_out(begin, end, staging + begin);
  std::vector<int64_t> offset, bytes;
  for (int64_t owner = 0; owner < group.size(); ++owner) {
    offset.push_back(shards.begin(owner) * 4);
    bytes.push_back((shards.end(owner) - shards.begin(owner)) * 4);
  }
  group.all_gather_in_place(reinterpret_cast<std::byte*>(staging), offset, bytes, purpose);
  if (!whole) flat.copy_in(0, shards.size, staging);
}

}  // namespace moemesh
