// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace moemesh {

// How many chunks go into a window between two exchanges of tokens. Measured here, made equal on all ranks of a stage between
// two steps, so that what is issued in a window depends on its place alone: the layer and the kind of the exchange before it.
// What becomes ready within a window has what is left of it: each bucket's completion is a place too.
class Windows {
 public:
  static constexpr int64_t kinds = 4;  // of a layer's exchanges, see impl/moe/lanes.hpp
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
  static int64_t words(int64_t layers, int64_t buckets) { return kinds * layers + buckets + 2; }

  explicit Windows(int64_t layers = 0, int64_t buckets = 0);

  void exchange_begins(int64_t now);
  // place: layer * kinds + kind; -1 or beyond the layers: not ours, and no window of ours.
  void exchange_ended(int64_t now, int64_t place);
  void bucket_complete(int64_t now, int64_t bucket);
  void forget();  // what follows is no window: the step ends, or begins

  // Of `wanted` chunks as many as may begin since the last place, exchange or bucket; they are taken from the window.
  int64_t take(int64_t wanted);

  // Since the chunk before it was through; first: since it was begun, with none before it under way.
  void chunk_took(int64_t nanoseconds, bool first);

  // Of the step so far, of which the largest of all ranks is wanted in each word: shortest windows, the time of a first chunk
  // and of a further one, all negative. Good until the next call.
  std::span<int64_t> measured();
  void agreed(std::span<const int64_t> largest);  // and begins a new measurement

  int64_t quota(int64_t place) const { return known(place) ? quota_[static_cast<size_t>(place)] : unlimited; }

 private:
  static constexpr int64_t unknown = std::numeric_limits<int64_t>::max();
  static constexpr int64_t never = std::numeric_limits<int64_t>::min();
  bool known(int64_t place) const { return place >= 0 && place < buckets_; }
  void come_to(int64_t now, int64_t place);

  int64_t buckets_ = 0;         // places before this one are exchanges
  int64_t left_ = unlimited;    // of the window
  int64_t room_ = unlimited;    // since the last place
  std::vector<int64_t> since_;  // for each place: when it was passed in this window
  std::vector<int64_t> shortest_, quota_, words_;
  struct Mean {
    int64_t sum = 0, count = 0, agreed = 0;
    int64_t value() const { return count > 0 ? sum / count : agreed; }
  };
  Mean first_, further_;
};

}  // namespace moemesh
