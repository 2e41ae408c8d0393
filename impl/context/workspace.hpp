// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "impl/base/memory.hpp"

namespace moemesh {

// Scratch arrays of the operations of one mesh, reused by all its layers and reductions: they grow to the largest size
// asked for and stay, so that a steady step allocates nothing. A slot's contents live until the slot is asked for again.
class Workspace {
 public:
  enum Slot : int32_t {
    send,        // message buffers
    send_again,  // where two exchanges send at once
    receive,
    dispatched,  // copies that no tape keeps
    results,     // of chunks, while others are dispatched
    returned,
    rows_in,  // expert rows before and after the products
    rows_hidden,
    rows_hidden2,
    rows_hidden3,
    hidden_again,  // recomputed
    hidden_gate_again,
    chunks_in,  // of all chunks' rows, for the weight gradients
    chunks_out,
    chunks_hidden,
    chunks_hidden2,
    chunks_hidden3,
    merge_from,  // the order of all chunks' rows
    merge_to,
    merged_left,  // one expert's rows of all chunks
    merged_right,
    products,  // padding of row-stable products
    rows_out,
    row_gradient,  // gate gradients
    pointers,      // row pointers
    pointers2,
    pointers3,
    tags,
    tokens,  // token-shaped temporaries
    tokens2,
    tokens3,
    tokens4,
    tokens5,
    logits,
    weights,   // a bf16 matrix in fp32
    integers,  // keys, positions
    integers2,
    integers3,
    flat_send,  // gradient reduction
    flat_receive,
    slots
  };

  void set_allocator(std::shared_ptr<const Allocator> allocator) { allocator_ = std::move(allocator); }

  template <class T>
  T* get(Slot slot, int64_t count) {
    auto& buffer = buffers_[static_cast<size_t>(slot)];
    buffer.reserve(allocator_, count * static_cast<int64_t>(sizeof(T)));
    return reinterpret_cast<T*>(buffer.data());
  }

 private:
  std::shared_ptr<const Allocator> allocator_;
  std::array<Buffer<std::byte>, slots> buffers_;
};

}  // namespace moemesh
