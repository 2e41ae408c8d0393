// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/windows.hpp"

#include <algorithm>

namespace moemesh {

Windows::Windows(int64_t layers)
    : shortest_(static_cast<size_t>(kinds * layers), unknown),
      quota_(shortest_.size(), unlimited),
      words_(shortest_.size() + 2) {}

void Windows::exchange_begins(int64_t now) {
  if (!known(place_)) return;
  int64_t& shortest = shortest_[static_cast<size_t>(place_)];
  shortest = std::min(shortest, now - ended_);
}

void Windows::exchange_ended(int64_t now, int64_t place) {
  ended_ = now;
  place_ = place;
}

void Windows::chunk_took(int64_t nanoseconds, bool first) {
  Mean& mean = first ? first_ : further_;
  mean.sum += nanoseconds;
  ++mean.count;
}

std::span<int64_t> Windows::measured() {
  std::transform(shortest_.begin(), shortest_.end(), words_.begin(), [](int64_t shortest) { return -shortest; });
  // Without a chunk in this step an old figure gets smaller, or one that kept all of them out would stay for ever.
  if (first_.count == 0)
    for (Mean* mean : {&first_, &further_}) mean->agreed = mean->agreed * 7 / 8;
  const size_t place = shortest_.size();
  words_[place] = -first_.value();
  words_[place + 1] = -(further_.count > 0 || further_.agreed > 0 ? further_.value() : first_.value());
  return words_;
}

// All ranks take part in each chunk, and one that begins it early waits for the last: the rank with the shortest times has
// them without the waits. A further chunk takes at most a quarter of a window, and an eighth of each window is left for what
// comes late.
void Windows::agreed(std::span<const int64_t> largest) {
  const size_t place = quota_.size();
  first_ = {0, 0, -largest[place]};
  further_ = {0, 0, -largest[place + 1]};
  const int64_t time = further_.agreed, before = std::max<int64_t>(0, first_.agreed - time);
  for (size_t i = 0; i < quota_.size(); ++i) {
    const int64_t window = -largest[i];
    if (time == 0 || window == unknown)
      quota_[i] = unlimited;
    else
      quota_[i] = 4 * time > window ? 0 : std::max<int64_t>(0, window / 8 * 7 - before) / time;
  }
  std::fill(shortest_.begin(), shortest_.end(), unknown);
}

}  // namespace moemesh
