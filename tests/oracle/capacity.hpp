// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Experts of limited capacity: which of the chosen rows are kept.
#pragma once

#include "layer.hpp"

namespace oracle {

// ceil(factor * k * tokens / experts), the factor taken to four decimals.
std::int64_t capacity_slots(const LayerConfig& config, std::int64_t tokens);

// From a tape with `chosen` and all gates: fills kept, slots and dropped, makes the gates of dropped rows 0, and
// lowers the margin to the gap between the last kept and the best dropped gate of an expert.
void drop_beyond_capacity(const LayerConfig& config, LayerTape* tape);

}  // namespace oracle
