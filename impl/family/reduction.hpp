// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "impl/family/family.hpp"
#include "impl/family/ranges.hpp"

namespace moemesh {

// The step's end. Stages 0 and 1: sums the main gradients of a family over its group, TP_PARTIAL parameters over tp first;
// stage 2 has these sums of the group and adds what is left. Multiplies by `factor`, the same for both families; then tied
// parameters are summed over their two stages. Afterwards each owner holds its shard of the result in place; with
// `gather` (stage 0) every rank holds all of it. Contributions are added by the element's owner in group-rank order, so the
// bits depend neither on the size of the chunks nor on `gather`. Collective over the group, tp, and the ends of the pipeline.
void reduce_gradients(Family& family, float factor, bool gather);

// Takes the memory that reduce_gradients and gather_shards will need. Local: a rank that runs out of it can still tell the
// others.
void reserve_reduction(Family& family);

// Stage 2: one parameter's array, summed over the group, is added into its owners' shards. Collective over the group.
void sum_into_shards(Family& family, const Parameter& parameter);
void reserve_sum(Family& family, const Parameter& parameter);  // its memory

// Every rank's shards of `flat`, which has all of the family, to every rank of its group. Collective over the group.
void gather_shards(Family& family, const FlatView& flat, Purpose purpose);

}  // namespace moemesh
