// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "impl/family/family.hpp"
#include "impl/family/ranges.hpp"

namespace moemesh {

// What a step's end does to the main gradients of a family besides the sums over its group (impl/schedule/fabric.hpp, and at
// stage 2 sum_into_shards): TP_PARTIAL parameters are summed over tp, before the group's sum at stages 0 and 1, after it at
// stage 2; tied ones over their two stages, last. Collective over tp, and over the ends of the pipeline.
void sum_partial(Family& family);
void sum_tied(Family& family);
// Multiplies results by `factor`. sums: also those that were summed over the group here, and not only groups of one rank and
// stage 2. Local.
void scale(Family& family, int32_t stage, float factor, bool sums);

// Takes the memory that these will need. Local.
void reserve_reduction(Family& family);

// Stage 2: one parameter's array, summed over the group, is added into its owners' shards. Collective over the group.
void sum_into_shards(Family& family, const Parameter& parameter);
void reserve_sum(Family& family, const Parameter& parameter);  // its memory

}  // namespace moemesh
