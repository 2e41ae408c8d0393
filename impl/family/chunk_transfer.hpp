// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "impl/base/memory.hpp"
#include "impl/comm/batch.hpp"
#include "impl/family/family.hpp"
#include "impl/family/ranges.hpp"

namespace moemesh {

// Elements [first, first + count) of every owner's part of a bucket on their way, without anybody waiting: contributions go to
// the owner, who adds them in group-rank order; results go back to everyone.
struct Chunk {
  enum Kind : int32_t { reduce, reduce_and_gather, gather_gradients, gather_values };
  Kind kind = reduce;
  size_t bucket = 0;
  int64_t first = 0, count = 0;
  float factor = 1;  // the sum is multiplied by it

  bool reduces() const { return kind == reduce || kind == reduce_and_gather; }
  bool gathers() const { return kind != reduce; }
};

class ChunkTransfer {
 public:
  // wire: a communicator of the family's group for these messages alone; their counting is the caller's.
  // recording: of the place in the program that it belongs to, or null.
  ChunkTransfer(const Family& family, const Gradients& gradients, Communicator& wire,
                std::shared_ptr<Recording> recording)
      : family_(family), gradients_(gradients), wire_(wire), recording_(std::move(recording)) {}

  static int64_t staging_bytes(const Family& family, const Gradients& gradients, int64_t count);
  // staging: as many bytes. number: of this chunk among all of the wire, the same on every rank.
  void start(const Chunk& chunk, int64_t number, std::byte* staging);
  bool poll();  // true: it is through
  void forget() noexcept {  // without MPI, which is finalized
    if (batch_) batch_->forget();
  }
  void wait();  // for what is under way now; there may be more after it

 private:
  using Batch = Communicator::Batch;
  Range range_of(int64_t owner) const;
  const FlatView& flat() const;
  void open_batch(int32_t phase, int32_t collective, int32_t tag);
  void scatter();
  void add_up();
  void gather();
  void place_received();
  void advance();
  template <class F>
  void for_each_peer(F&& f) const;

  const Family& family_;
  const Gradients& gradients_;
  Communicator& wire_;
  std::shared_ptr<Recording> recording_;
  Chunk chunk_;
  int32_t tag_ = 0;
  std::byte* staging_ = nullptr;
  std::byte* outgoing_ = nullptr;  // behind what arrives: used where the arrays are not one
  enum { idle, scattering, gathering } at_ = idle;
  std::optional<Batch> batch_;
};

}  // namespace moemesh
