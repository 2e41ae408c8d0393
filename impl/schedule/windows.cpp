// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/windows.hpp"

#include <algorithm>

namespace moemesh {

Windows::Windows(int64_t layers)
    : shortest_(static_cast<size_t>(kinds * layers), unknown),
      quota_(shortest_.size(), unlimited),
      words_(shortest_.size() + 1) {}

void Windows::exchange_begins(int64_t now) {
  if (!known(place_)) return;
  int64_t& shortest = shortest_[static_cast<size_t>(place_)];
  shortest = std::min(shortest, now - ended_);
}

void Windows::exchange_ended(int64_t now, int64_t place) {
  ended_ = now;
  place_ = place;
}

void Windows::chunk_took(int64_t nanoseconds) {
  chunk_sum_ += nanoseconds;
  ++chunks_;
}

std::span<int64_t> Windows::measured() {
  std::transform(shortest_.begin(), shortest_.end(), words_.begin(), [](int64_t shortest) { return -shortest; });
  // Without a chunk in this step an old figure gets smaller, or one that kept all of them out would stay for ever.
  words_.back() = -(chunks_ > 0 ? chunk_sum_ / chunks_ : chunk_time_ * 7 / 8);
  return words_;
}

// All ranks take part in each chunk, and one that begins it early waits for the last: the rank with the shortest times has
// them without the waits.
// A chunk takes at most a quarter of a window, and an eighth of each window is left for what comes late.
void Windows::agreed(std::span<const int64_t> largest) {
  chunk_time_ = -largest.back();
  for (size_t i = 0; i < quota_.size(); ++i) {
    const int64_t window = -largest[i];
    if (chunk_time_ == 0 || window == unknown)
      quota_[i] = unlimited;
    else
      quota_[i] = 4 * chunk_time_ > window ? 0 : window / 8 * 7 / chunk_time_;
  }
  std::fill(shortest_.begin(), shortest_.end(), unknown);
  chunk_sum_ = chunks_ = 0;
}

}  // namespace moemesh
