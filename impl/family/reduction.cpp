// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/reduction.hpp"

#include <algorithm>

#include "impl/base/error.hpp"
#include "impl/family/gradients.hpp"
#include "kernels/flat.hpp"

namespace moemesh {
namespace {

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

Range owned(const Family& family, const Shards& shards) { return shard_of(shards, family.group().rank()); }

// One chunk: my elements of every owner's range go to it; the contributions to my own range arrive and are added up.
void reduce_chunk(Family& family, const Shards& shards, int64_t first, int64_t count, float factor) {
  Communicator& group = family.group();
  Workspace& workspace = family.mesh().workspace();
  const int64_t d = group.size();
  const Range own = chunk_of(owned(family, shards), first, count);
  auto* send = workspace.get<float>(Workspace::flat_send, d * count);
  auto* receive = workspace.get<float>(Workspace::flat_receive, d * count);
  Exchange exchange;
  exchange.send_base = reinterpret_cast<std::byte*>(send);
  exchange.receive_base = reinterpret_cast<std::byte*>(receive);
  Recycled<const float*> parts;
  for (int64_t peer = 0; peer < d; ++peer) {
    const Range range = chunk_of(shard_of(shards, peer), first, count);
    family.gradients->whole().copy_out(range.begin, range.end, send + peer * count);
    exchange.send_offset.push_back(peer * count * 4);
    exchange.send_bytes.push_back(range.size() * 4);
    exchange.receive_offset.push_back(peer * count * 4);
    exchange.receive_bytes.push_back(own.size() * 4);
    parts.push_back(receive + peer * count);
  }
  expect_no_failure(
      group.all_to_all(exchange, purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER)));
  kernels::ordered_sum(own.size(), static_cast<int32_t>(d), parts.data(), factor, send);
  family.gradients->whole().copy_in(own.begin, own.end, send);
}

void scale_in_place(float* data, int64_t n, float factor) {
  const float* part = data;
  kernels::ordered_sum(n, 1, &part, factor, data);
}

void scale_alone(const FlatView& flat, const Shards& shards, float factor) {
  flat.for_each(shards.first, shards.first + shards.size, [&](std::byte* data, int64_t, int64_t n) {
    scale_in_place(reinterpret_cast<float*>(data), n, factor);
  });
}

void reduce_bucket(Family& family, const Shards& shards, float factor) {
  if (shards.owners == 1) return scale_alone(family.gradients->whole(), shards, factor);
  const int64_t count = std::min(chunk_elements, shards.part());
  for (int64_t first = 0; first < shards.part(); first += count) reduce_chunk(family, shards, first, count, factor);
}

// What of a parameter is in [range.begin, range.end) of the family's order.
Range piece_of(const Parameter& parameter, const Range& range) {
  return common_part({parameter.offset, parameter.offset + parameter.elements()}, range);
}

// Stage 2. tp peers own the same elements.
void sum_partial_shards_over_tp(Family& family) {
  Communicator& tp = family.mesh().group(family.tp_axis());
  if (tp.size() == 1) return;
  for (const auto& parameter : family.parameters()) {
    if (parameter->params.tp_kind != MOEMESH_TP_PARTIAL) continue;
    const Range piece = piece_of(*parameter, owned(family, family.bucket_of(*parameter)));
    if (piece.size() > 0)
      expect_no_failure(tp.all_reduce(family.gradients->at(*parameter, piece.begin), piece.size(),
                                      Communicator::Op::sum,
                                      purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_REDUCE)));
  }
}

bool has_tied(const Family& family) { return family.buckets().size() > Family::tied_bucket; }

// The owner of an element has the same coordinates on both stages, and the sum of two has the same bits on both.
void sum_over_ends(Family& family) {
  const Range own = owned(family, family.buckets()[Family::tied_bucket]);
  if (own.size() == 0) return;
  const bool sharded = family.gradients->sharded();
  const FlatView flat = sharded ? family.gradients->shard(Family::tied_bucket) : family.gradients->whole();
  const int64_t begin = sharded ? 0 : own.begin;
  auto* staging = family.mesh().workspace().get<float>(Workspace::flat_send, own.size());
  flat.copy_out(begin, begin + own.size(), staging);
  expect_no_failure(
      family.mesh().ends()->all_reduce(staging, own.size(), Communicator::Op::sum,
                                       purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_REDUCE)));
  flat.copy_in(begin, begin + own.size(), staging);
}

// How many elements of one parameter the owner that has most of it owns.
int64_t most_owned(const Shards& shards, const Parameter& parameter) {
  int64_t most = 0;
  for (int64_t owner = 0; owner < shards.owners; ++owner)
    most = std::max(most, piece_of(parameter, shard_of(shards, owner)).size());
  return most;
}

// One chunk of a parameter's sum: elements [first, first + count) of every owner's piece of it.
void sum_chunk(Family& family, const Parameter& parameter, int64_t first, int64_t count) {
  Communicator& group = family.group();
  const Shards& shards = family.bucket_of(parameter);
  const auto of_owner = [&](int64_t owner) {
    return chunk_of(piece_of(parameter, shard_of(shards, owner)), first, count);
  };
  const Range own = of_owner(group.rank());
  auto* receive = family.mesh().workspace().get<float>(Workspace::flat_receive, group.size() * count);
  Exchange exchange;
  exchange.send_base = reinterpret_cast<const std::byte*>(parameter.gradient);
  exchange.receive_base = reinterpret_cast<std::byte*>(receive);
  Recycled<const float*> parts;
  for (int64_t peer = 0; peer < group.size(); ++peer) {
    const Range theirs = of_owner(peer);
    exchange.send_offset.push_back((theirs.begin - parameter.offset) * 4);
    exchange.send_bytes.push_back(theirs.size() * 4);
    exchange.receive_offset.push_back(peer * count * 4);
    exchange.receive_bytes.push_back(own.size() * 4);
    parts.push_back(&receive[peer * count]);
  }
  expect_no_failure(
      group.all_to_all(exchange, purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER)));
  const int64_t n = own.size(), stride = 1;
  if (n == 0) return;
  kernels::ordered_sum(n, static_cast<int32_t>(group.size()), parts.data(), 1.0F, receive);
  kernels::add_strided(1, &n, receive, &stride, family.gradients->at(parameter, own.begin));
}

}  // namespace

void sum_into_shards(Family& family, const Parameter& parameter) {
  const int64_t most = most_owned(family.bucket_of(parameter), parameter), stride = 1, n = parameter.elements();
  if (n == 0) return;
  if (family.group().size() == 1)
    return kernels::add_strided(1, &n, parameter.gradient, &stride, family.gradients->at(parameter, parameter.offset));
  const int64_t count = std::min(chunk_elements, most);
  for (int64_t first = 0; first < most; first += count) sum_chunk(family, parameter, first, count);
}

void reserve_sum(Family& family, const Parameter& parameter) {
  const int64_t d = family.group().size();
  if (d == 1) return;
  const int64_t count = std::min(chunk_elements, most_owned(family.bucket_of(parameter), parameter));
  family.mesh().workspace().get<float>(Workspace::flat_receive, d * count);
}

void reduce_gradients(Family& family, float factor, bool gather) {
  const Gradients& gradients = *family.gradients;
  if (gradients.sharded()) {
    sum_partial_shards_over_tp(family);
    for (size_t bucket = 0; bucket < family.buckets().size(); ++bucket) {
      const FlatView shard = gradients.shard(bucket);
      scale_alone(shard, {shard.size()}, factor);
    }
  } else {
    sum_partial_over_tp(family);
    for (const Shards& shards : family.buckets()) reduce_bucket(family, shards, factor);
  }
  if (has_tied(family)) sum_over_ends(family);
  if (gather)
    gather_shards(family, gradients.whole(),
                  purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_GATHER));
}

void reserve_reduction(Family& family) {
  Workspace& workspace = family.mesh().workspace();
  const Gradients& gradients = *family.gradients;
  for (const auto& parameter : family.parameters())
    if (parameter->params.tp_kind == MOEMESH_TP_PARTIAL)
      family.mesh().group(family.tp_axis()).reserve_all_reduce(parameter->elements() * 4);
  const bool in_place = family.values().contiguous() && (gradients.sharded() || gradients.whole().contiguous());
  int64_t send = 0, receive = 0;
  if (has_tied(family)) {
    send = owned(family, family.buckets()[Family::tied_bucket]).size();
    family.mesh().ends()->reserve_all_reduce(send * 4);
  }
  for (const Shards& shards : family.buckets()) {
    if (shards.owners == 1) continue;
    const int64_t chunks = gradients.sharded() ? 0 : shards.owners * std::min(chunk_elements, shards.part());
    send = std::max({send, chunks, in_place ? 0 : shards.size});
    receive = std::max(receive, chunks);
  }
  if (send > 0) workspace.get<float>(Workspace::flat_send, send);
  if (receive > 0) workspace.get<float>(Workspace::flat_receive, receive);
}

namespace {

void gather_bucket(Family& family, const Shards& shards, const FlatView& flat, const Purpose& purpose) {
  Communicator& group = family.group();
  const int64_t element = flat.element_bytes(), all = shards.size * element;
  std::byte* whole = flat.contiguous();
  std::byte* staging =
      whole ? whole + shards.first * element : family.mesh().workspace().get<std::byte>(Workspace::flat_send, all);
  const Range own = owned(family, shards);
  if (!whole) flat.copy_out(own.begin, own.end, staging + (own.begin - shards.first) * element);
  Recycled<int64_t> offset, bytes;
  for (int64_t owner = 0; owner < group.size(); ++owner) {
    offset.push_back((shards.begin(owner) - shards.first) * element);
    bytes.push_back((shards.end(owner) - shards.begin(owner)) * element);
  }
  group.all_gather_in_place(staging, offset, bytes, purpose);
  if (!whole) flat.copy_in(shards.first, shards.first + shards.size, staging);
}

}  // namespace

void gather_shards(Family& family, const FlatView& flat, Purpose purpose) {
  if (family.group().size() == 1) return;
  for (const Shards& shards : family.buckets())
    if (shards.size > 0) gather_bucket(family, shards, flat, purpose);
}

}  // namespace moemesh
