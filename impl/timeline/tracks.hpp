// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <vector>

#include "impl/timeline/analysis.hpp"

namespace moemesh::timeline {

// An event and which of its stream's tracks it is drawn on: operations that overlap lie on tracks of their own. The program's
// marks nest, and stay on one.
struct Placed {
  const Event* event;
  int32_t track;
};

// Of one step, or of all (-1), by time of their begin.
std::vector<Placed> place_events(const Results::Rank& rank, int64_t step);

}  // namespace moemesh::timeline
