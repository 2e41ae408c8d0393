// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/row_pool.hpp"

#include <algorithm>

namespace moemesh {

// The smallest free slot that is large enough, else the largest one to grow, else a new one.
RowSlot& RowPool::fitting(int64_t bytes) {
  RowSlot* best = nullptr;
  for (RowSlot& slot : slots_) {
    if (!slot.free()) continue;
    const bool fits = slot.rows.size() >= bytes;
    const bool smaller = best && slot.rows.size() < best->rows.size();
    const bool best_fits = best && best->rows.size() >= bytes;
    if (!best || (fits ? !best_fits || smaller : !best_fits && !smaller)) best = &slot;
  }
  return best ? *best : slots_.emplace_back();
}

RowSlot& RowPool::take(int64_t bytes) {
  RowSlot& slot = fitting(bytes);
  slot.rows.reserve(allocator_, bytes);
  slot.held = true;
  return slot;
}

bool RowPool::in_flight() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const RowSlot& slot) { return slot.in_flight(); });
}

int64_t RowPool::bytes() const {
  int64_t sum = 0;
  for (const RowSlot& slot : slots_) sum += slot.rows.bytes();
  return sum;
}

}  // namespace moemesh
