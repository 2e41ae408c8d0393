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
// Each slot is there twice: for kernels alone, and for kernels and the host.
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
    offsets,  // what a plan or a sum tells the host
    user_x,   // arrays of the caller's that lie in the host's memory
    user_y,
    user_dy,
    user_dx,
    user_gradient,
    flat_send,  // gradient reduction
    flat_receive,
    slots
  };

  void set_allocator(std::shared_ptr<const Allocator> allocator) { allocator_ = std::move(allocator); }

  template <class T>
  T* get(Slot slot, int64_t count) {
    return reserved<T>(device_[static_cast<size_t>(slot)], count);
  }
  template <class T>
  T* get_shared(Slot slot, int64_t count) {
    return reserved<T>(shared_[static_cast<size_t>(slot)], count);
  }
  // What kernels write and other ranks receive, or the other way round.
  template <class T>
  T* get_message(Slot slot, int64_t count) {
    return message_memory == Memory::device ? get<T>(slot, count) : get_shared<T>(slot, count);
  }
  template <class T>
  T* get_for(bool messages, Slot slot, int64_t count) {
    return messages ? get_message<T>(slot, count) : get<T>(slot, count);
  }

 private:
  template <class T, class Buffer>
  T* reserved(Buffer& buffer, int64_t count) {
    buffer.reserve(allocator_, count * static_cast<int64_t>(sizeof(T)));
    return reinterpret_cast<T*>(buffer.data());
  }

  std::shared_ptr<const Allocator> allocator_;
  std::array<Buffer<std::byte>, slots> device_;
  std::array<SharedBuffer<std::byte>, slots> shared_;
};

}  // namespace moemesh
