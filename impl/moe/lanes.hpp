// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <vector>

#include "impl/base/recycled.hpp"
#include "impl/comm/communicator.hpp"
#include "kernels/permute.hpp"

namespace moemesh {

// What each rank tells each other before the payload moves, in words of 8 bytes: its status, which call it is in, and then in
// a forward of each chunk its copies and its tags.
inline constexpr int64_t count_words(int64_t chunks) { return 2 + 2 * chunks; }
inline constexpr int64_t count_bytes(int64_t chunks) { return count_words(chunks) * 8; }

inline constexpr int64_t tag_bytes = sizeof(kernels::RowTag);

// Where the message to or from each rank of the expert-parallel group lies in one buffer: first the copies, `row_bytes` each,
// then (if tagged) the row tags. Own copies never travel: their size in the exchange is 0; with keep_own they
// still have their place in the buffer.
struct Lanes {
  Recycled<int64_t> offset, bytes, tags_at;  // per rank; tags_at: offset of the tags
  int64_t total = 0;
};

inline Lanes make_lanes(const std::vector<int64_t>& copy_offsets, const std::vector<int64_t>* tag_offsets,
                        int64_t row_bytes, int64_t own, bool keep_own) {
  Lanes lanes;
  for (size_t p = 0; p + 1 < copy_offsets.size(); ++p) {
    const bool mine = static_cast<int64_t>(p) == own;
    const int64_t rows = (copy_offsets[p + 1] - copy_offsets[p]) * row_bytes;
    const int64_t tags = tag_offsets ? ((*tag_offsets)[p + 1] - (*tag_offsets)[p]) * tag_bytes : 0;
    lanes.offset.push_back(lanes.total);
    lanes.tags_at.push_back(lanes.total + rows);
    lanes.bytes.push_back(mine ? 0 : rows + tags);
    if (!mine || keep_own) lanes.total += rows + tags;
  }
  return lanes;
}

// The four exchanges of tokens of a layer and microbatch. What comes between one and the next is a window in which other
// messages have the network; its length differs by the place.
enum Place : int32_t { dispatch_place, combine_place, combine_backward_place, dispatch_backward_place, places };

inline Exchange make_exchange(const Lanes& send, const std::byte* send_base, const Lanes& receive,
                              std::byte* receive_base, int32_t place) {
  return {send_base, send.offset, send.bytes, receive_base, receive.offset, receive.bytes, true, place};
}

}  // namespace moemesh
