// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <vector>

#include "kernels/memory.hpp"

// Tests make and look at arrays of the host; kernels get these. Where a device has memory of its own each is a copy, else
// the array itself.
namespace moemesh::test {

// As a call's argument, dev(x) lives until the call has ended: then what is not const comes back. An array that is two
// arguments, or one of several calls, needs a name: const auto d = dev(x); ... d.fetch();
template <class T>
class DeviceCopy {
 public:
  // `whole`: what is copied, of which kernels see what begins at `first`.
  DeviceCopy(T* whole, int64_t elements, int64_t first = 0, kernels::Memory memory = kernels::Memory::device)
      : host_(whole), data_(whole), first_(first), bytes_(elements * static_cast<int64_t>(sizeof(T))), memory_(memory) {
    if constexpr (kernels::separate_memory) send();
  }
  ~DeviceCopy() {
    if constexpr (kernels::separate_memory) {
      fetch();
      if (bytes_ > 0) kernels::release(memory_, const_cast<std::remove_const_t<T>*>(data_), bytes_);
    }
  }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  T* get() const { return data_ == nullptr ? nullptr : data_ + first_; }
  operator T*() const { return get(); }

  // To the host, what kernels wrote so far. A device's error is this test's failure; it is told by every later call too.
  void fetch() const {
    if constexpr (kernels::separate_memory && !std::is_const_v<T>) try {
        kernels::copy_bytes(host_, data_, bytes_);
        kernels::finish();
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
  }

 private:
  void send() {
    data_ = nullptr;
    if (bytes_ == 0) return;
    void* const place = kernels::allocate(memory_, bytes_);
    if (place == nullptr) throw std::bad_alloc();
    kernels::copy_bytes(place, host_, bytes_);
    kernels::finish();
    data_ = static_cast<T*>(place);
  }

  T *host_, *data_;
  int64_t first_, bytes_;
  kernels::Memory memory_;
};

template <class T>
DeviceCopy<T> dev(std::vector<T>& x) {
  return {x.data(), static_cast<int64_t>(x.size())};
}
template <class T>
DeviceCopy<const T> dev(const std::vector<T>& x) {
  return {x.data(), static_cast<int64_t>(x.size())};
}
template <class T, size_t n>
DeviceCopy<T> dev(T (&x)[n]) {
  return {x, static_cast<int64_t>(n)};
}
// A single value.
template <class T>
requires std::is_arithmetic_v<T> DeviceCopy<T> dev(T& x) { return {&x, 1}; }
// An argument that may be missing.
template <class Array>
auto dev_if(bool there, Array& x) -> decltype(dev(x)) {
  if (there) return dev(x);
  return {nullptr, 0};
}

// In memory that the host reads too, for kernels whose results it looks at.
template <class T>
DeviceCopy<T> both(std::vector<T>& x) {
  return {x.data(), static_cast<int64_t>(x.size()), 0, kernels::Memory::shared};
}
template <class T>
DeviceCopy<const T> both(const std::vector<T>& x) {
  return {x.data(), static_cast<int64_t>(x.size()), 0, kernels::Memory::shared};
}

}  // namespace moemesh::test
