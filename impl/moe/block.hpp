// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

#include "impl/moe/lanes.hpp"
#include "impl/moe/layer.hpp"
#include "impl/moe/outcome.hpp"

namespace moemesh {

// The exchanges of one forward or backward call: lays out the messages, packs rows into them, and says where each copy
// lies. All four payload all-to-alls go through here; own copies stay where they are.
class Block {
 public:
  Block(Layer& layer, Tape& tape, Outcome& outcome, int32_t phase);

  // Tells every expert rank how many copies and rows come, and whether this rank failed; learns the same.
  // identity: says which call this is, to find ranks that are in another one.
  void exchange_counts(int64_t identity);
  // x rows and tags of this rank's copies to the experts' ranks. Afterwards received_rows(x) are theirs.
  void dispatch(const TypedRows& x);
  // Rows (dy) of this rank's copies to the experts' ranks; the backward of combine.
  void combine_backward(const TypedRows& dy);
  // Where the received copies lie: own ones in the caller's `tokens`, others in the buffer of the last exchange.
  const std::byte* const* received_rows(Workspace::Slot slot, const TypedRows& tokens, const std::byte* buffer,
                                        bool tagged);
  // Where the results for the received copies go: own ones to the place where returned copies of this rank are gathered.
  std::byte* const* result_rows(bool tagged);
  // The results back to their sources. Afterwards returned_rows() has one row for each copy of this rank.
  void combine();
  void dispatch_backward();
  const std::byte* const* returned_rows();
  // The tags that dispatch_backward brought, in the order of source.row_tags.
  const kernels::RowTag* returned_tags();
  const std::byte* received_buffer() const { return received_; }

 private:
  void pack(const TypedRows& tokens, const Lanes& lanes, std::byte* buffer);
  void exchange(Place place, const Lanes& send, const std::byte* from, const Lanes& receive, std::byte* to);
  // On the way to the experts (x, dy), and back (outputs, dx).
  int64_t there_bytes() const { return layer_.params_.hidden * kernels::bytes_of(layer_.element()); }
  int64_t back_bytes() const { return layer_.params_.hidden * kernels::bytes_of(layer_.combine_element()); }
  int64_t own() const { return layer_.exchange_.rank(); }
  int64_t world_rank(size_t peer) const;
  Workspace& workspace() { return layer_.mesh_->workspace(); }
  Lanes source_lanes(int64_t row_bytes, bool tagged, bool keep_own) const;
  Lanes receive_lanes(int64_t row_bytes, bool tagged, bool keep_own) const;

  Layer& layer_;
  Tape& tape_;
  Outcome& outcome_;
  int32_t phase_;
  const std::byte* received_ = nullptr;  // of combine_backward
  std::byte* results_ = nullptr;         // message buffer of the way back
  std::byte* returned_ = nullptr;
  bool returned_tagged_ = false;
};

}  // namespace moemesh
