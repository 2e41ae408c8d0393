// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The sums of gradients and the gathering of values; see impl/family/reduction.cpp and rounds.cpp.
#include <algorithm>
#include <tuple>

#include "impl/base/view.hpp"
#include "impl/family/ranges.hpp"
#include "impl/family/rounds.hpp"
#include "impl/report/checked.hpp"
#include "impl/report/parts.hpp"

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
  std::vector<Shards> buckets;  // everything but tied parameters, then these

  Range owned(size_t bucket) const { return shard_of(buckets[bucket], group.position); }
  Purpose purpose(int32_t phase, int32_t collective) const { return {kind, phase, collective}; }
};

int64_t elements_of(const DescribedParameter& parameter, const Traffic& traffic) {
  if (parameter.experts == 0) return parameter.matrix;
  const int64_t ep = traffic.layout().axis_size(MOEMESH_AXIS_EXPERT_EP);
  return times(experts_of(parameter.experts, ep, traffic.here().expert_ep).count, parameter.matrix);
}

// By name, tied parameters last.
void place(RankFamily& family, const std::vector<DescribedParameter>& parameters, const Traffic& traffic) {
  for (const auto& parameter : parameters) family.parameters.push_back({&parameter, {}, parameter.tied ? 1U : 0U});
  std::sort(family.parameters.begin(), family.parameters.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.bucket, a.parameter->name) < std::tie(b.bucket, b.parameter->name);
  });
  int64_t end = 0, untied = 0;
  for (Placed& placed : family.parameters) {
    const int64_t begin = end;
    end = plus(begin, elements_of(*placed.parameter, traffic));
    placed.range = {begin, end};
    if (placed.bucket == 0) untied = end;
  }
  family.buckets = {{untied, family.group.size()}};
  if (end > untied) family.buckets.push_back({end - untied, family.group.size(), untied});
}

RankFamily rank_family(const Traffic& traffic, int32_t kind, const Description& description) {
  const bool shared = kind == MOEMESH_SHARED;
  RankFamily family{kind,
                    traffic.group(shared ? MOEMESH_GROUP_SHARED_GRADIENT : MOEMESH_GROUP_EXPERT_GRADIENT),
                    traffic.group(shared ? MOEMESH_AXIS_TP : MOEMESH_AXIS_EXPERT_TP),
                    {},
                    {}};
  place(family, description.stages[static_cast<size_t>(traffic.here().pp)].family(kind), traffic);
  return family;
}

// Every owner's range of one array goes to it, in chunks.
void scatter(Traffic& traffic, const RankFamily& family, const std::vector<Range>& owned) {
  if (family.group.size() == 1) return;
  int64_t most = 0;
  for (const Range& range : owned) most = std::max(most, range.size());
  const int64_t count = std::min(chunk_elements, most);
  for (int64_t first = 0; first < most; first += count) {
    std::vector<int64_t> bytes;
    for (const Range& range : owned) bytes.push_back(chunk_of(range, first, count).size() * float_bytes);
    traffic.all_to_all(family.group, bytes, false,
                       family.purpose(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER));
  }
}

std::vector<Range> owned_of(const RankFamily& family, size_t bucket, const Range& range) {
  std::vector<Range> owned;
  for (int64_t owner = 0; owner < family.group.size(); ++owner)
    owned.push_back(common_part(range, shard_of(family.buckets[bucket], owner)));
  return owned;
}

// Stage 2 has its sums already, of what this rank owns.
void sum_partial_over_tp(Traffic& traffic, const RankFamily& family, bool sharded) {
  for (const Placed& placed : family.parameters) {
    if (!placed.parameter->partial) continue;
    const int64_t here = placed.range.size();
    const int64_t n = sharded && here > 0 ? common_part(placed.range, family.owned(placed.bucket)).size() : here;
    if (n > 0 || !sharded)
      traffic.all_reduce(family.tp, n, family.purpose(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_REDUCE));
  }
}

void gather(Traffic& traffic, const RankFamily& family, int32_t phase, int64_t element_bytes) {
  for (size_t bucket = 0; bucket < family.buckets.size(); ++bucket)
    if (family.buckets[bucket].size > 0)
      traffic.all_gather(family.group, times(family.owned(bucket).size(), element_bytes),
                         family.purpose(phase, MOEMESH_COLLECTIVE_ALL_GATHER));
}

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
  const bool sharded = description.zero_stage(kind) == 2;
  sum_partial_over_tp(traffic, family, sharded);
  for (size_t bucket = 0; !sharded && bucket < family.buckets.size(); ++bucket) {
    const Shards& shards = family.buckets[bucket];
    scatter(traffic, family, owned_of(family, bucket, {shards.first, shards.first + shards.size}));
  }
  if (family.buckets.size() > 1 && family.owned(1).size() > 0)
    traffic.all_reduce(traffic.ends(), family.owned(1).size(),
                       family.purpose(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_REDUCE));
  if (description.zero_stage(kind) == 0) gather(traffic, family, MOEMESH_PHASE_REDUCTION, float_bytes);
}

void add_update(Traffic& traffic, int32_t kind, const Description& description) {
  if (description.zero_stage(kind) > 0)
    gather(traffic, rank_family(traffic, kind, description), MOEMESH_PHASE_UPDATE,
           dtype_bytes(description.dtype(kind)));
}

}  // namespace moemesh
