// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "impl/report/description.hpp"
#include "impl/report/traffic.hpp"

namespace moemesh {

// What the parts of a step send, each added once; `traffic` says how often.

// Forward and backward of a layer, once.
void add_layer(Traffic& traffic, const DescribedLayer& layer, const Description& description);
// A family's sums in each microbatch (stage 2): those of one microbatch.
void add_gradients_ready(Traffic& traffic, int32_t family, const Description& description);
// The header that ends the rounds of stage 2, once a step.
void add_end_of_rounds(Traffic& traffic, const Description& description);
// A family's sums at the step's end, and the gathering of what was updated.
void add_reduction(Traffic& traffic, int32_t family, const Description& description);
void add_update(Traffic& traffic, int32_t family, const Description& description);
// What the tokens of all shards chose, where selection biases move by it.
void add_bias_counts(Traffic& traffic, const Description& description);
// What the fabric scheduler makes equal over the stage: the quotas in each step, the order of the buckets once.
void add_tuning(Traffic& traffic, const Description& description);
void add_order(Traffic& traffic, const Description& description);
// What the ranks agree on at the step's end.
void add_agreements(Traffic& traffic, const Description& description);
// One microbatch's rows to the next stage and their gradient to the one before.
void add_transfers(Traffic& traffic, const Description& description);

}  // namespace moemesh
