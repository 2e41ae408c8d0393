// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "capacity.hpp"

#include <algorithm>
#include <cmath>

namespace oracle {
namespace {

// The rows (token*k + choice) that chose expert e, best first.
std::vector<std::int64_t> queue_of(const LayerConfig& config, const LayerTape& tape, std::int64_t e) {
  std::vector<std::int64_t> queue;
  for (std::size_t i = 0; i < tape.chosen.size(); ++i) {
    if (tape.chosen[i] == e) queue.push_back(static_cast<std::int64_t>(i));
  }
  if (config.drop == Drop::gate) {
    std::stable_sort(queue.begin(), queue.end(),
                     [&](std::int64_t a, std::int64_t b) { return tape.gates[a] > tape.gates[b]; });
  }
  return queue;
}

}  // namespace

std::int64_t capacity_slots(const LayerConfig& config, std::int64_t tokens) {
  const std::int64_t wanted = std::llround(config.capacity_factor * 1e4) * config.top_k * tokens;
  const std::int64_t each = 10000 * config.experts;
  return wanted / each + (wanted % each > 0 ? 1 : 0);
}

void drop_beyond_capacity(const LayerConfig& config, LayerTape* tape) {
  tape->kept = tape->chosen;
  if (config.capacity_factor == 0) return;
  std::int64_t tokens = 0;
  for (std::int64_t t = 0; t < tape->tokens; ++t) tokens += tape->chosen[t * config.top_k] >= 0 ? 1 : 0;
  tape->slots = capacity_slots(config, tokens);
  for (std::int64_t e = 0; e < config.experts; ++e) {
    const auto queue = queue_of(config, *tape, e);
    if (static_cast<std::int64_t>(queue.size()) <= tape->slots) continue;
    if (config.drop == Drop::gate) {
      const double gap = tape->gates[queue[tape->slots - 1]] - tape->gates[queue[tape->slots]];
      tape->margin = std::min(tape->margin, gap);
    }
    for (std::size_t i = tape->slots; i < queue.size(); ++i) {
      tape->kept[queue[i]] = -1;
      tape->gates[queue[i]] = 0.0;
      ++tape->dropped;
    }
  }
}

}  // namespace oracle
