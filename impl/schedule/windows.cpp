// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/windows.hpp"

#include <algorithm>

namespace moemesh {

Windows::Windows(int64_t layers, int64_t buckets)
    : buckets_(kinds * layers),
      since_(static_cast<size_t>(kinds * layers + buckets), never),
      shortest_(since_.size(), unknown),
      quota_(since_.size(), unlimited),
      words_(static_cast<size_t>(words(layers, buckets))) {}

void Windows::exchange_begins(int64_t now) {
  for (size_t i = 0; i < since_.size(); ++i)
    if (since_[i] != never) shortest_[i] = std::min(shortest_[i], now - since_[i]);
}

void Windows::exchange_ended(int64_t now, int64_t place) {
  forget();
  if (!known(place)) return;
  come_to(now, place);
  left_ = room_;
}

void Windows::bucket_complete(int64_t now, int64_t bucket) { come_to(now, buckets_ + bucket); }

void Windows::come_to(int64_t now, int64_t place) {
  since_[static_cast<size_t>(place)] = now;
  room_ = quota_[static_cast<size_t>(place)];
}

void Windows::forget() {
  std::fill(since_.begin(), since_.end(), never);
  left_ = room_ = unlimited;
}

int64_t Windows::take(int64_t wanted) {
  const int64_t taken = std::min({wanted, left_, room_});
  for (int64_t* rest : {&left_, &room_})
    if (*rest != unlimited) *rest -= taken;
  return taken;
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
