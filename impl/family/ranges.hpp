// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "impl/family/flat_view.hpp"

namespace moemesh {

// Stage 2: elements of each owner's shard that one exchange moves: bounds the staging memory to this times the group size.
inline constexpr int64_t chunk_elements = int64_t{1} << 18;

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

inline Range shard_of(const Shards& shards, int64_t owner) { return {shards.begin(owner), shards.end(owner)}; }

// What of `range` is in `limits`; somewhere in them where that is nothing.
inline Range common_part(const Range& range, const Range& limits) {
  const int64_t begin = std::clamp(range.begin, limits.begin, limits.end);
  return {begin, std::clamp(range.end, begin, limits.end)};
}

// Elements [first, first + count) of a range, as far as it goes.
inline Range chunk_of(const Range& range, int64_t first, int64_t count) {
  const int64_t begin = std::min(range.end, range.begin + first);
  return {begin, std::min(range.end, begin + count)};
}

}  // namespace moemesh
