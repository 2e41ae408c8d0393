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

// Whether arrays of kernels alone can't be messages: they go through others, of message_memory.
constexpr bool staged = kernels::separate_memory && message_memory != Memory::device;

// The sum over a group of n elements of gradients.
void sum_over(Family& family, Communicator& group, float* gradient, int64_t n) {
  float* at = gradient;
  if (staged) {
    at = family.mesh().workspace().get_message<float>(Workspace::flat_send, n);
    kernels::copy_bytes(at, gradient, n * 4);
  }
  expect_no_failure(
      group.sum_of_kernels(at, n, purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_REDUCE)));
  if (at != gradient) kernels::copy_bytes(gradient, at, n * 4);
}

void sum_partial_over_tp(Family& family) {
  Communicator& tp = family.mesh().group(family.tp_axis());
  if (tp.size() == 1) return;
  for (const auto& parameter : family.parameters())
    if (parameter->params.tp_kind == MOEMESH_TP_PARTIAL)
      sum_over(family, tp, parameter->gradient, parameter->elements());
}

Range owned(const Family& family, const Shards& shards) { return shard_of(shards, family.group().rank()); }

void scale_in_place(float* data, int64_t n, float factor) {
  const float* part = data;
  kernels::ordered_sum(n, 1, &part, factor, data);
}

void scale_range(const FlatView& flat, const Range& range, float factor) {
  flat.for_each(range.begin, range.end, [&](std::byte* data, int64_t, int64_t n) {
    scale_in_place(reinterpret_cast<float*>(data), n, factor);
  });
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
    if (piece.size() > 0) sum_over(family, tp, family.gradients->at(*parameter, piece.begin), piece.size());
  }
}

// The owner of an element has the same coordinates on both stages, and the sum of two has the same bits on both.
void sum_over_ends(Family& family) {
  const Range own = owned(family, family.buckets()[*family.tied_bucket()]);
  if (own.size() == 0) return;
  const bool sharded = family.gradients->sharded();
  const FlatView flat = sharded ? family.gradients->shard(*family.tied_bucket()) : family.gradients->whole();
  const int64_t begin = sharded ? 0 : own.begin;
  auto* const together = family.mesh().workspace().get_message<float>(Workspace::flat_send, own.size());
  flat.put_out(begin, begin + own.size(), together);
  expect_no_failure(family.mesh().ends()->sum_of_kernels(
      together, own.size(), purpose_of(family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_REDUCE)));
  flat.put_in(begin, begin + own.size(), together);
}

// How many elements of one parameter the owner that has most of it owns.
int64_t most_owned(const Shards& shards, const Parameter& parameter) {
  int64_t most = 0;
  for (int64_t owner = 0; owner < shards.owners; ++owner)
    most = std::max(most, piece_of(parameter, shard_of(shards, owner)).size());
  return most;
}

// Where gradients are put together for sending; null where they can be sent from their places.
float* send_staging(Family& family, int64_t count) {
  return staged ? family.mesh().workspace().get_message<float>(Workspace::flat_send, count) : nullptr;
}

// One chunk of a parameter's sum: elements [first, first + count) of every owner's piece of it.
void sum_chunk(Family& family, const Parameter& parameter, int64_t first, int64_t count) {
  Communicator& group = family.group();
  const Shards& shards = family.bucket_of(parameter);
  const auto of_owner = [&](int64_t owner) {
    return chunk_of(piece_of(parameter, shard_of(shards, owner)), first, count);
  };
  const Range own = of_owner(group.rank());
  auto* receive = family.mesh().workspace().get_message<float>(Workspace::flat_receive, group.size() * count);
  float* const staging = send_staging(family, group.size() * count);
  Exchange exchange;
  exchange.send_base = reinterpret_cast<const std::byte*>(staging ? staging : parameter.gradient);
  exchange.receive_base = reinterpret_cast<std::byte*>(receive);
  exchange.of_kernels = true;
  Recycled<const float*> parts;
  for (int64_t peer = 0; peer < group.size(); ++peer) {
    const Range theirs = of_owner(peer);
    const int64_t place = theirs.begin - parameter.offset;
    exchange.send_offset.push_back((staging ? peer * count : place) * 4);
    if (staging) kernels::copy_bytes(staging + peer * count, parameter.gradient + place, theirs.size() * 4);
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
  family.mesh().workspace().get_message<float>(Workspace::flat_receive, d * count);
  send_staging(family, d * count);
}

void sum_partial(Family& family) {
  if (family.gradients->sharded())
    sum_partial_shards_over_tp(family);
  else
    sum_partial_over_tp(family);
}

// Stage 0 has all of a result, stage 1 what this rank owns, stage 2 that alone.
void scale(Family& family, int32_t stage, float factor, bool sums) {
  for (size_t bucket = 0; bucket < family.buckets().size(); ++bucket) {
    const Shards& shards = family.buckets()[bucket];
    if (stage == 2) {
      const FlatView shard = family.gradients->shard(bucket);
      scale_range(shard, {0, shard.size()}, factor);
      continue;
    }
    if (shards.owners > 1 && !sums) continue;
    const bool all = stage == 0 && family.bucket_kind(bucket) != BucketKind::tied;
    scale_range(family.gradients->whole(),
                all ? Range{shards.first, shards.first + shards.size} : owned(family, shards), factor);
  }
}

void sum_tied(Family& family) {
  if (family.tied_bucket()) sum_over_ends(family);
}

void reserve_reduction(Family& family) {
  for (const auto& parameter : family.parameters())
    if (parameter->params.tp_kind == MOEMESH_TP_PARTIAL) {
      family.mesh().group(family.tp_axis()).reserve_sum_of_kernels(parameter->elements());
      send_staging(family, parameter->elements());
    }
  if (!family.tied_bucket()) return;
  const int64_t own = owned(family, family.buckets()[*family.tied_bucket()]).size();
  family.mesh().ends()->reserve_sum_of_kernels(own);
  family.mesh().workspace().get_message<float>(Workspace::flat_send, own);
}

}  // namespace moemesh
