// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "kernels/memory.hpp"
#include "moemesh.h"

namespace moemesh {

using kernels::Memory;

// The context's allocator. Of the host's memory: the caller's functions, or the C library's; all memory is the host's where
// kernels run on it.
class Allocator {
 public:
  Allocator() = default;
  Allocator(moemesh_allocate_function allocate, moemesh_free_function free, void* user)
      : allocate_(allocate), free_(free), user_(user) {}

  // 64-byte aligned; throws ERROR_OUT_OF_MEMORY; nullptr for 0 bytes
  void* allocate(Memory memory, int64_t bytes) const;
  void release(Memory memory, void* pointer, int64_t bytes) const noexcept;

 private:
  void* of_host(int64_t bytes) const;
  void* of_kernels(Memory memory, int64_t bytes) const;
  void release_of_host(void* pointer, int64_t bytes) const noexcept;
  void release_of_kernels(Memory memory, void* pointer, int64_t bytes) const noexcept;

  moemesh_allocate_function allocate_ = nullptr;
  moemesh_free_function free_ = nullptr;
  void* user_ = nullptr;
};

// An owned array of plain elements. Contents are not initialized: whoever needs zeros writes them. Whoever is not a kernel
// reads and writes elements of host and shared memory alone.
template <class T, Memory M = Memory::device>
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<const Allocator> allocator, int64_t size)
      : allocator_(std::move(allocator)), size_(size), used_(size) {
    data_ = static_cast<T*>(allocator_->allocate(M, bytes()));
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_) allocator_->release(M, data_, bytes());
  }

  T* data() const noexcept { return data_; }
  int64_t size() const noexcept { return size_; }
  int64_t bytes() const noexcept { return size_ * static_cast<int64_t>(sizeof(T)); }
  T& operator[](int64_t i) const noexcept requires(M == Memory::host || M == Memory::shared) { return data_[i]; }
  explicit operator bool() const noexcept { return data_ != nullptr; }

  // Grows without keeping the contents, so that steady-state steps allocate nothing.
  void reserve(const std::shared_ptr<const Allocator>& allocator, int64_t size) {
    if (size > size_) *this = Buffer(allocator, size);
    used_ = size;
  }
  int64_t used_bytes() const noexcept { return used_ * static_cast<int64_t>(sizeof(T)); }  // as reserved last

 private:
  void swap(Buffer& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(used_, other.used_);
  }

  std::shared_ptr<const Allocator> allocator_;
  T* data_ = nullptr;
  int64_t size_ = 0;
  int64_t used_ = 0;
};

// Where messages lie that kernels write and read: whoever moves them between ranks reaches it.
#ifdef MOEMESH_HAVE_NCCL
inline constexpr Memory message_memory = Memory::device;
#else
inline constexpr Memory message_memory = Memory::shared;
#endif

template <class T>
using SharedBuffer = Buffer<T, Memory::shared>;
template <class T>
using MessageBuffer = Buffer<T, message_memory>;
template <class T>
using LastingBuffer = Buffer<T, Memory::lasting>;
template <class T>
using HostBuffer = Buffer<T, Memory::host>;

}  // namespace moemesh
