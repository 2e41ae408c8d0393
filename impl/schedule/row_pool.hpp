// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "impl/base/memory.hpp"

namespace moemesh {

// What goes before the rows of one transfer between neighbour stages. All of it is checked: ranks that are in different runs
// must not take each other's rows.
struct StageHeader {
  int64_t run = 0;
  int64_t rows = 0;    // of the microbatch; they follow if there are any and status is 0
  int32_t status = 0;  // not 0: the microbatch failed on the sender, or before it
  int32_t microbatch = 0;
  int32_t microbatches = 0;  // of the run
  int32_t flags = 0;

  enum Flags : int32_t {
    training = 1,  // the run has backwards
    stamped = 2,   // the sender's post time follows, before the rows: a report records there
  };
  bool operator==(const StageHeader&) const = default;
  bool rows_follow() const { return status == 0 && rows > 0; }
};
static_assert(sizeof(StageHeader) == 32);

// A buffer of the pool with the header it is sent with.
struct RowSlot {
  SharedBuffer<std::byte> rows;
  StageHeader header;
  int64_t post = 0;          // when it was sent, where the header says so
  bool held = false;         // a view of it is out, or will be
  mutable int32_t open = 0;  // messages on their way that are read from here; changed by whoever moves them

  bool in_flight() const { return std::atomic_ref(open).load() > 0; }
  bool free() const { return !held && !in_flight(); }
};

// Buffers of activations and gradients that are used again and again: they grow to what is asked for and stay, so that
// steady-state steps allocate nothing. Slots do not move.
class RowPool {
 public:
  explicit RowPool(std::shared_ptr<const Allocator> allocator) : allocator_(std::move(allocator)) {}

  RowSlot& take(int64_t bytes);  // held from now on; throws ERROR_OUT_OF_MEMORY without a change
  void reclaim() {               // all views end; what is on its way stays
    for (RowSlot& slot : slots_) slot.held = false;
  }
  bool in_flight() const;
  int64_t bytes() const;

 private:
  RowSlot& fitting(int64_t bytes);

  std::shared_ptr<const Allocator> allocator_;
  std::deque<RowSlot> slots_;
};

}  // namespace moemesh
