// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "moemesh.h"

namespace moemesh {

// The context's host allocator: the caller's functions, or the C library's.
class Allocator {
 public:
  Allocator() = default;
  Allocator(moemesh_allocate_function allocate, moemesh_free_function free, void* user)
      : allocate_(allocate), free_(free), user_(user) {}

  void* allocate(int64_t bytes) const;  // 64-byte aligned; throws ERROR_OUT_OF_MEMORY; nullptr for 0 bytes
  void release(void* pointer, int64_t bytes) const noexcept;

 private:
  moemesh_allocate_function allocate_ = nullptr;
  moemesh_free_function free_ = nullptr;
  void* user_ = nullptr;
};

// An owned array of plain elements. Contents are not initialized: whoever needs zeros writes them.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<const Allocator> allocator, int64_t size)
      : allocator_(std::move(allocator)), size_(size), used_(size) {
    data_ = static_cast<T*>(allocator_->allocate(bytes()));
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_) allocator_->release(data_, bytes());
  }

  T* data() const noexcept { return data_; }
  int64_t size() const noexcept { return size_; }
  int64_t bytes() const noexcept { return size_ * static_cast<int64_t>(sizeof(T)); }
  T& operator[](int64_t i) const noexcept { return data_[i]; }
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

}  // namespace moemesh
