// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "impl/base/recycled.hpp"
#include "kernels/memory.hpp"

namespace moemesh {

// Elements in an order of their own, as one index range, wherever they lie: what the library owns is one array, what it
// borrows are arrays of its callers. For a family the order is that of its parameters.
class FlatView {
 public:
  struct Piece {
    int64_t begin = 0, end = 0;
    std::byte* data = nullptr;  // of element `begin`
  };

  explicit FlatView(int64_t element_bytes = 4) : element_bytes_(element_bytes) {}

  void append(void* data, int64_t count) {
    if (count == 0) return;
    const int64_t begin = size();
    auto* const bytes = static_cast<std::byte*>(data);
    if (!pieces_.empty() && at(pieces_.back(), begin) == bytes)
      pieces_.back().end += count;
    else
      pieces_.push_back({begin, begin + count, bytes});
  }
  int64_t size() const { return pieces_.empty() ? 0 : pieces_.back().end; }
  int64_t element_bytes() const { return element_bytes_; }

  // f(pointer, first element, count) for the pieces of [begin, end), in order.
  template <class F>
  void for_each(int64_t begin, int64_t end, F&& f) const {
    for (const Piece& piece : pieces_) {
      const int64_t from = std::max(begin, piece.begin), to = std::min(end, piece.end);
      if (from < to) f(at(piece, from), from, to - from);
    }
  }
  // The array if everything lies in one, else null; for the host: if it can be sent from and received in there.
  std::byte* whole() const { return pieces_.size() == 1 ? pieces_.front().data : nullptr; }
  std::byte* in_place() const { return kernels::separate_memory ? nullptr : whole(); }

  // To and from memory of the host. What wrote the elements must be done; they block.
  void copy_out(int64_t begin, int64_t end, void* to) const {
    put_out(begin, end, to);
    kernels::finish();
  }
  void copy_in(int64_t begin, int64_t end, const void* from) const {
    put_in(begin, end, from);
    kernels::finish();
  }
  // Among this thread's kernels.
  void put_out(int64_t begin, int64_t end, void* to) const {
    for_each(begin, end, [&](const std::byte* data, int64_t from, int64_t n) {
      kernels::copy_bytes(static_cast<std::byte*>(to) + (from - begin) * element_bytes_, data, n * element_bytes_);
    });
  }
  void put_in(int64_t begin, int64_t end, const void* from) const {
    for_each(begin, end, [&](std::byte* data, int64_t first, int64_t n) {
      kernels::copy_bytes(data, static_cast<const std::byte*>(from) + (first - begin) * element_bytes_,
                          n * element_bytes_);
    });
  }

 private:
  std::byte* at(const Piece& piece, int64_t element) const {
    return piece.data + (element - piece.begin) * element_bytes_;
  }

  int64_t element_bytes_;
  Recycled<Piece> pieces_;
};

// Who owns which elements of a run of a family's order that begins at `first`: rank r of `owners` has the r-th `part()` of
// it, the last ones less or none.
struct Shards {
  int64_t size = 0;
  int64_t owners = 1;
  int64_t first = 0;
  int64_t part() const { return (size + owners - 1) / owners; }
  int64_t begin(int64_t owner) const { return first + std::min(size, owner * part()); }
  int64_t end(int64_t owner) const { return first + std::min(size, (owner + 1) * part()); }
};

}  // namespace moemesh
