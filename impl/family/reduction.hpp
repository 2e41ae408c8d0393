// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "impl/family/family.hpp"

namespace moemesh {

// Sums the main gradients of a family over its group and multiplies the sum by `factor`, the same for both families.
// TP_PARTIAL parameters are summed over tp first. Afterwards each owner holds its shard of the result in place; with
// `gather` every rank holds all of it. Contributions are added by the element's owner in group-rank order, so the bits
// depend neither on the size of the chunks nor on `gather`. Collective over the group (and tp).
void reduce_gradients(Family& family, float factor, bool gather);

// Takes the memory that the two functions here will need. Local: a rank that runs out of it can still tell the others.
void reserve_reduction(Family& family);

// Every rank's shard of `flat` to every rank of the family's group. Collective over the group.
void gather_shards(Family& family, const FlatView& flat, Purpose purpose);

}  // namespace moemesh
