// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace moemesh {

// The elements of a family in the order of its parameters' names, as one index range, wherever they lie: the library's own
// are one array, borrowed ones are arrays of their callers.
class FlatView {
 public:
  struct Piece {
    int64_t begin = 0, end = 0;
    float* data = nullptr;  // of element `begin`
  };

  void append(float* data, int64_t count) {
    if (count == 0) return;
    const int64_t begin = size();
    if (!pieces_.empty() && pieces_.back().data + (pieces_.back().end - pieces_.back().begin) == data)
      pieces_.back().end += count;
    else
      pieces_.push_back({begin, begin + count, data});
  }
  int64_t size() const { return pieces_.empty() ? 0 : pieces_.back().end; }

  // f(pointer, first element, count) for the pieces of [begin, end), in order.
  template <class F>
  void for_each(int64_t begin, int64_t end, F&& f) const {
    for (const Piece& piece : pieces_) {
      const int64_t from = std::max(begin, piece.begin), to = std::min(end, piece.end);
      if (from < to) f(piece.data + (from - piece.begin), from, to - from);
    }
  }
  // The array if everything lies in one, else null.
  float* contiguous() const { return pieces_.size() == 1 ? pieces_.front().data : nullptr; }

  void copy_out(int64_t begin, int64_t end, float* to) const {
    for_each(begin, end,
             [&](const float* data, int64_t from, int64_t n) { std::copy_n(data, n, to + (from - begin)); });
  }
  void copy_in(int64_t begin, int64_t end, const float* from) const {
    for_each(begin, end, [&](float* data, int64_t first, int64_t n) { std::copy_n(from + (first - begin), n, data); });
  }

 private:
  std::vector<Piece> pieces_;
};

// Who owns which elements: rank r of `owners` has [r*part, (r+1)*part) of `size`, the last ones less or none.
struct Shards {
  int64_t size = 0;
  int64_t owners = 1;
  int64_t part() const { return (size + owners - 1) / owners; }
  int64_t begin(int64_t owner) const { return std::min(size, owner * part()); }
  int64_t end(int64_t owner) const { return std::min(size, (owner + 1) * part()); }
};

}  // namespace moemesh
