// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

#include "impl/comm/device_group.hpp"
#include "impl/family/chunk_transfer.hpp"
#include "impl/family/family.hpp"

namespace moemesh {

// A chunk of a bucket between devices: what ChunkTransfer does with messages of hosts is a few operations in the wire's stream
// here, through as far as the host is concerned once they are in it.
class DeviceChunk {
 public:
  // ordered: sums by owners, in group-rank order, instead of the library's own.
  DeviceChunk(const Family& family, const Gradients& gradients, DeviceWire& wire, bool ordered)
      : family_(family), gradients_(gradients), wire_(wire), ordered_(ordered) {}

  static int64_t staging_bytes(const Family& family, const Gradients& gradients, int64_t count, bool ordered);
  // staging: so many bytes of device memory, the same for all chunks of the wire. Behind this thread's kernels so far.
  void run(const Chunk& chunk, std::byte* staging, bool timed);

 private:
  void transfer(std::byte* staging);
  struct Parts {
    std::byte* base = nullptr;  // of the array, or of the staging
    Recycled<int64_t> offset, count;
  };
  Range range_of(int64_t owner) const;
  const FlatView& flat() const;
  Parts parts_in(std::byte* staging) const;
  void reduce(const Parts& parts);
  void reduce_in_order(const Parts& parts);
  void gather(const Parts& parts);
  bool in_one() const { return flat().whole() != nullptr; }
  int64_t ranks() const { return family_.group().size(); }
  int64_t own() const { return family_.group().rank(); }

  const Family& family_;
  const Gradients& gradients_;
  DeviceWire& wire_;
  bool ordered_;
  Chunk chunk_;
  float* contributions_ = nullptr;
};

}  // namespace moemesh
