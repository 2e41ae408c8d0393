// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

#include "impl/moe/lanes.hpp"
#include "impl/moe/layer.hpp"
#include "impl/moe/outcome.hpp"

namespace moemesh {

// The exchanges of one part of a call's tokens: lays out the messages, packs rows into them, and says where each copy lies.
// All payload all-to-alls go through here; own copies stay where they are. Each exchange has two halves, so that those of
// other parts, and products, can go on between them; every started one must be finished. Rows of tokens that are handed in
// are the data shard's: the block takes its part of them.
class Block {
 public:
  Block(Layer& layer, Tape& tape, size_t part, Outcome& outcome);

  // x rows of this rank's copies to the experts' ranks, with tags in a tape's first forward. Afterwards copies() are theirs.
  void start_dispatch(const TypedRows& x, bool tagged, int32_t phase);
  void finish_dispatch();
  // Rows (dy) of this rank's copies to the experts' ranks; the backward of combine. Afterwards gradients() are theirs.
  void start_combine_backward(const TypedRows& dy);
  void finish_combine_backward();
  // Where the received copies lie, of x and of dy: own ones in the caller's rows, others in a message.
  const std::byte* const* copies(Workspace::Slot slot, const TypedRows& x);
  const std::byte* const* gradients(Workspace::Slot slot, const TypedRows& dy);
  // Where the results for the received copies go: own ones to the place where returned copies of this rank are gathered.
  std::byte* const* result_rows(bool tagged);
  // The results back to their sources. Afterwards returned_rows() has one row for each copy of this rank.
  void start_combine(int32_t phase);
  void start_dispatch_backward();
  void finish_return();
  const std::byte* const* returned_rows();
  // The tags that dispatch_backward brought, in the order of source.row_tags.
  const kernels::RowTag* returned_tags();

  Part& part() { return part_; }

 private:
  void pack(const TypedRows& tokens, const Lanes& lanes, std::byte* buffer);
  void pack_tags(const Lanes& lanes, std::byte* buffer);
  const std::byte* const* received_rows(Workspace::Slot slot, const TypedRows& tokens, const std::byte* buffer,
                                        bool tagged);
  Flight start(Place place, const Lanes& send, const std::byte* from, const Lanes& receive, std::byte* to,
               int32_t phase);
  std::byte* place_for_copies(const Lanes& lanes, bool tagged);
  // This part's place in a slot that has one for each part: they are in flight at the same time.
  template <class Bytes>
  std::byte* region(Workspace::Slot slot, const Bytes& bytes_of);
  // On the way to the experts (x, dy), and back (outputs, dx).
  int64_t there_bytes() const { return layer_.params_.hidden * kernels::bytes_of(layer_.element()); }
  int64_t back_bytes() const { return layer_.params_.hidden * kernels::bytes_of(layer_.combine_element()); }
  int64_t own() const { return layer_.exchange_.rank(); }
  Workspace& workspace() { return layer_.mesh_->workspace(); }
  Lanes source_lanes(const Part& part, int64_t row_bytes, bool tagged, bool keep_own) const;
  Lanes receive_lanes(const Part& part, int64_t row_bytes, bool tagged, bool keep_own) const;

  Layer& layer_;
  Tape& tape_;
  size_t index_;
  Part& part_;
  Outcome& outcome_;
  bool redone_;  // no copies are kept: a backward has to dispatch again
  std::byte* copies_ = nullptr;
  bool copies_tagged_ = false;
  std::byte* gradients_ = nullptr;
  std::byte* results_ = nullptr;  // message buffer of the way back
  std::byte* returned_ = nullptr;
  bool returned_tagged_ = false;
  Flight dispatch_, gradient_, return_;
};

}  // namespace moemesh
