// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/windows.hpp"

#include <algorithm>

namespace moemesh {

void Windows::exchange_begins(int64_t now) {
  if (place_ < 0) return;
  int64_t& shortest = shortest_[static_cast<size_t>(place_)];
  shortest = std::min(shortest, now - ended_);
}

void Windows::exchange_ended(int64_t now, int32_t place) {
  ended_ = now;
  place_ = place;
}

void Windows::chunk_took(int64_t nanoseconds) {
  chunk_sum_ += nanoseconds;
  ++chunks_;
}

std::array<int64_t, Windows::words> Windows::measured() const {
  std::array<int64_t, words> result{};
  for (size_t i = 0; i < places; ++i) result[i] = -shortest_[i];
  // Without a chunk in this step an old figure gets smaller, or one that kept all of them out would stay for ever.
  result[places] = chunks_ > 0 ? chunk_sum_ / chunks_ : chunk_time_ * 7 / 8;
  return result;
}

// A chunk takes at most a quarter of a window, and a quarter of each window is left for what comes late.
void Windows::agreed(std::span<const int64_t, words> largest) {
  chunk_time_ = largest[places];
  for (size_t i = 0; i < places; ++i) {
    const int64_t window = -largest[i];
    if (chunk_time_ == 0 || window == unknown)
      quota_[i] = unlimited;
    else
      quota_[i] = 4 * chunk_time_ > window ? 0 : window * 3 / 4 / chunk_time_;
  }
  shortest_.fill(unknown);
  chunk_sum_ = chunks_ = 0;
}

}  // namespace moemesh
