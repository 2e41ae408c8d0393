// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace moemesh {

// How many chunks go into a window between two exchanges of tokens. Measured here, made equal on all ranks of a stage between
// two steps, so that what is issued in a window depends on its place alone. The windows' places are those of impl/moe/lanes.hpp:
// a window has the place of the exchange before it.
class Windows {
 public:
  static constexpr size_t places = 4, words = places + 1;
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

  void exchange_begins(int64_t now);
  void exchange_ended(int64_t now, int32_t place);
  void forget() { place_ = -1; }  // what follows is no window: the step ends, or begins

  void chunk_took(int64_t nanoseconds);

  // Of the step so far, for the largest of all ranks in each word: shortest windows, negative, and the time of a chunk.
  std::array<int64_t, words> measured() const;
  void agreed(std::span<const int64_t, words> largest);  // and begins a new measurement

  int64_t quota(int32_t place) const { return quota_[static_cast<size_t>(place)]; }

 private:
  static constexpr int64_t unknown = std::numeric_limits<int64_t>::max();

  int64_t ended_ = 0;
  int32_t place_ = -1;
  std::array<int64_t, places> shortest_{unknown, unknown, unknown, unknown};
  std::array<int64_t, places> quota_{unlimited, unlimited, unlimited, unlimited};
  int64_t chunk_sum_ = 0, chunks_ = 0, chunk_time_ = 0;
};

}  // namespace moemesh
