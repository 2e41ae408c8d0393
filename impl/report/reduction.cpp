// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The sums of gradients and the gathering of values; see impl/family/reduction.cpp and rounds.cpp.
#include <algorithm>
#include <tuple>

#include "impl/base/view.hpp"
#include "impl/family/buckets.hpp"
#include "impl/family/ranges.hpp"
#include "impl/family/rounds.hpp"
#include "impl/report/checked.hpp"
#include "impl/report/parts.hpp"
#include "impl/schedule/windows.hpp"

namespace moemesh {
namespace {

constexpr auto float_bytes = static_cast<int64_t>(sizeof(float));

// A family as it lies on one rank.
struct Placed {
  const DescribedParameter* parameter;
  Range range;
  size_t bucket;
};
struct RankFamily {
  int32_t kind;
  RankGroup group, tp;
  std::vector<Placed> parameters;
  Buckets buckets;

  Range owned(size_t bucket) const { return shard_of(buckets.shards[bucket], group.position); }
  Purpose purpose(int32_t phase, int32_t collective) const { return {kind, phase, collective}; }
};

int64_t elements_of(const DescribedParameter& parameter, const Traffic& traffic) {
  if (parameter.experts == 0) return parameter.matrix;
  const int64_t ep = traffic.layout().axis_size(MOEMESH_AXIS_EXPERT_EP);
  return times(experts_of(parameter.experts, ep, traffic.here().expert_ep).count, parameter.matrix);
}

// What Family::item_of says.
BucketItem item_of(const DescribedParameter& parameter, const RankFamily& family, const Traffic& traffic) {
  auto kind = BucketKind::plain;
  if (parameter.partial && family.tp.size() > 1) kind = BucketKind::partial;
  if (parameter.tied) kind = BucketKind::tied;
  const int64_t ep = traffic.layout().axis_size(MOEMESH_AXIS_EXPERT_EP);
  const int64_t most = parameter.experts == 0 ? 1 : experts_of(parameter.experts, ep, 0).count;
  return {parameter.name, kind, elements_of(parameter, traffic), times(most, parameter.matrix)};
}

void place(RankFamily& family, const std::vector<DescribedParameter>& parameters, const Traffic& traffic,
           int64_t bucket_bytes) {
  std::vector<std::pair<BucketItem, const DescribedParameter*>> items;
  for (const auto& parameter : parameters) items.emplace_back(item_of(parameter, family, traffic), &parameter);
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return lies_before(a.first, b.first); });
  std::vector<BucketItem> ordered;
  for (const auto& [item, parameter] : items) ordered.push_back(item);
  family.buckets = cut(ordered, most_weight(bucket_bytes), family.group.size());
  int64_t end = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t begin = end;
    end = plus(begin, items[i].first.elements);
    family.parameters.push_back({items[i].second, {begin, end}, family.buckets.of_item[i]});
  }
}

RankFamily rank_family(const Traffic& traffic, int32_t kind, const Description& description) {
  const bool shared = kind == MOEMESH_SHARED;
  RankFamily family{kind,
                    traffic.group(shared ? MOEMESH_GROUP_SHARED_GRADIENT : MOEMESH_GROUP_EXPERT_GRADIENT),
                    traffic.group(shared ? MOEMESH_AXIS_TP : MOEMESH_AXIS_EXPERT_TP),
                    {},
                    {}};
  place(family, description.stages[static_cast<size_t>(traffic.here().pp)].family(kind), traffic,
        description.params.bucket_bytes);
  return family;
}

// Every owner's range of one array goes to it, in chunks. (Stage 2.)
void scatter(Traffic& traffic, const RankFamily& family, const std::vector<Range>& owned) {
  if (family.group.size() == 1) return;
  int64_t most = 0;
  for (const Range& range : owned) most = std::max(most, range.size());
  const int64_t count = std::min(chunk_elements, most);
  for (int64_t first = 0; first < most; first += count) {
    std::vector<int64_t> bytes;
    for (const Range& range : owned) bytes.push_back(chunk_of(range, first, count).size() * float_bytes);
    const Purpose purpose = family.purpose(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER);
    traffic.header(family.group, purpose);
    traffic.all_to_all(family.group, bytes, false, purpose);
  }
}

std::vector<Range> owned_of(const RankFamily& family, size_t bucket, const Range& range) {
  std::vector<Range> owned;
  for (int64_t owner = 0; owner < family.group.size(); ++owner)
    owned.push_back(common_part(range, shard_of(family.buckets.shards[bucket], owner)));
  return owned;
}

// Stage 2 has its sums already, of what this rank owns.
void sum_partial_over_tp(Traffic& traffic, const RankFamily& family, bool sharded) {
  for (const Placed& placed : family.parameters) {
    if (!placed.parameter->partial) continue;
    const int64_t here = placed.range.size();
    const int64_t n = sharded && here > 0 ? common_part(placed.range, family.owned(placed.bucket)).size() : here;
    if (n > 0 || !sharded)
      traffic.sum_of_kernels(family.tp, n, family.purpose(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_REDUCE));
  }
}

// f(first, count) for the chunks of a bucket.
template <class F>
void for_each_chunk(const RankFamily& family, size_t bucket, const Description& description, F&& f) {
  const Shards& shards = family.buckets.shards[bucket];
  if (family.group.size() == 1) return;
  const int64_t count = elements_of_chunk(shards, description.params.chunk_bytes);
  for (int64_t first = 0; first < shards.part(); first += count) f(first, count);
}

void gather(Traffic& traffic, const RankFamily& family, size_t bucket, const Description& description, int32_t phase,
            int64_t element_bytes) {
  for_each_chunk(family, bucket, description, [&](int64_t first, int64_t count) {
    traffic.all_gather(family.group, times(chunk_of(family.owned(bucket), first, count).size(), element_bytes),
                       family.purpose(phase, MOEMESH_COLLECTIVE_ALL_GATHER));
  });
}

void reduce(Traffic& traffic, const RankFamily& family, size_t bucket, const Description& description) {
  for_each_chunk(family, bucket, description, [&](int64_t first, int64_t count) {
    std::vector<int64_t> bytes;
    for (int64_t owner = 0; owner < family.group.size(); ++owner)
      bytes.push_back(chunk_of(shard_of(family.buckets.shards[bucket], owner), first, count).size() * float_bytes);
    traffic.all_to_all(family.group, bytes, false,
                       family.purpose(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER));
  });
}

size_t bucket_count(const RankFamily& family) { return family.buckets.shards.size(); }

// Whether ranks tell each other, before a sum of this family, in which call they are.
bool has_rounds(const Traffic& traffic, int32_t kind, const Description& description) {
  const int32_t axes = kind == MOEMESH_SHARED ? MOEMESH_GROUP_SHARED_GRADIENT : MOEMESH_GROUP_EXPERT_GRADIENT;
  return description.has_family[kind] && description.zero_stage(kind) == 2 && traffic.layout().group_size(axes) > 1;
}

void add_round(Traffic& traffic, int32_t family) {
  traffic.to_every_peer(traffic.group(Rounds::axes_of(traffic.layout().sizes())), sizeof(Rounds::Header),
                        {family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_COUNT_EXCHANGE});
}

}  // namespace

void add_gradients_ready(Traffic& traffic, int32_t kind, const Description& description) {
  if (!has_rounds(traffic, kind, description)) return;
  const RankFamily family = rank_family(traffic, kind, description);
  for (const Placed& placed : family.parameters) {
    add_round(traffic, kind);
    if (placed.range.size() > 0) scatter(traffic, family, owned_of(family, placed.bucket, placed.range));
  }
}

void add_end_of_rounds(Traffic& traffic, const Description& description) {
  if (has_rounds(traffic, MOEMESH_SHARED, description) || has_rounds(traffic, MOEMESH_EXPERT, description))
    add_round(traffic, 0);
}

void add_reduction(Traffic& traffic, int32_t kind, const Description& description) {
  const RankFamily family = rank_family(traffic, kind, description);
  const int64_t stage = description.zero_stage(kind);
  sum_partial_over_tp(traffic, family, stage == 2);
  for (size_t bucket = 0; bucket < bucket_count(family); ++bucket) {
    if (stage < 2) reduce(traffic, family, bucket, description);
    const bool tied = family.buckets.kinds[bucket] == BucketKind::tied;
    if (tied && family.owned(bucket).size() > 0)
      traffic.sum_of_kernels(traffic.ends(), family.owned(bucket).size(),
                             family.purpose(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_REDUCE));
    if (stage == 0) gather(traffic, family, bucket, description, MOEMESH_PHASE_REDUCTION, float_bytes);
  }
}

void add_update(Traffic& traffic, int32_t kind, const Description& description) {
  if (description.zero_stage(kind) == 0) return;
  const RankFamily family = rank_family(traffic, kind, description);
  for (size_t bucket = 0; bucket < bucket_count(family); ++bucket)
    gather(traffic, family, bucket, description, MOEMESH_PHASE_UPDATE, dtype_bytes(description.dtype(kind)));
}

namespace {

// What Fabric::early says, and the number of its buckets.
struct Early {
  bool reduces = false;
  int64_t buckets = 0;
};
Early early(const Traffic& traffic, const Description& description) {
  Early result;
  for (const int32_t kind : {MOEMESH_SHARED, MOEMESH_EXPERT}) {
    if (!description.has_family[kind]) continue;
    const RankFamily family = rank_family(traffic, kind, description);
    result.buckets += static_cast<int64_t>(bucket_count(family));
    if (description.zero_stage(kind) == 2 || family.group.size() == 1) continue;
    for (const Shards& shards : family.buckets.shards) result.reduces |= shards.size > 0;
  }
  result.reduces &= description.params.overlap != MOEMESH_OVERLAP_AFTER;
  return result;
}

}  // namespace

void add_tuning(Traffic& traffic, const Description& description) {
  const auto layers = std::ssize(description.stages[static_cast<size_t>(traffic.here().pp)].layers);
  const Early tuned = early(traffic, description);
  if (description.params.overlap == MOEMESH_OVERLAP_GAPS && tuned.reduces)
    traffic.agree(traffic.group(MOEMESH_GROUP_STAGE), Windows::words(layers, tuned.buckets),
                  {0, MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_AGREEMENT});
}

void add_order(Traffic& traffic, const Description& description) {
  const Early order = early(traffic, description);
  if (order.reduces)
    traffic.broadcast(traffic.group(MOEMESH_GROUP_STAGE), order.buckets * static_cast<int64_t>(sizeof(int32_t)),
                      {0, MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_BROADCAST});
}

}  // namespace moemesh
