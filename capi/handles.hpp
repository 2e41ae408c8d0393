// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <typeindex>
#include <unordered_map>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/base/recycled.hpp"

namespace moemesh::capi {

// The live handles of the process. A handle's value is a number that is never used again, not an address: a stale or made-up
// one is found out without touching memory.
class HandleTable {
 public:
  static HandleTable& instance();

  template <class T>
  uintptr_t add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    next_ += 16;
    entries_.emplace(next_, Entry{typeid(T), std::move(object)});
    return next_;
  }
  // Null if the handle is not a live one of this type.
  template <class T>
  std::shared_ptr<T> find(uintptr_t handle) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(handle);
    if (found == entries_.end() || found->second.type != typeid(T)) return nullptr;
    return std::static_pointer_cast<T>(found->second.object);
  }
  template <class T>
  std::shared_ptr<T> remove(uintptr_t handle) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(handle);
    if (found == entries_.end() || found->second.type != typeid(T)) return nullptr;
    auto object = std::static_pointer_cast<T>(found->second.object);
    entries_.erase(found);
    return object;
  }

 private:
  struct Entry {
    std::type_index type;
    std::shared_ptr<void> object;
  };
  std::mutex mutex_;
  uintptr_t next_ = 0x1000;
  using Node = RecyclingAllocator<std::pair<const uintptr_t, Entry>>;  // tapes come and go
  std::unordered_map<uintptr_t, Entry, std::hash<uintptr_t>, std::equal_to<uintptr_t>, Node> entries_;
};

// Looks a handle up or throws ERROR_INVALID_HANDLE; destroy_handle is the whole of every *_destroy.
template <class T, class Handle>
std::shared_ptr<T> object_of(Handle handle, const char* what) {
  require(handle != nullptr, MOEMESH_ERROR_INVALID_HANDLE, "{}: expected a handle, got NULL", what);
  auto object = HandleTable::instance().find<T>(reinterpret_cast<uintptr_t>(handle));
  require(object != nullptr, MOEMESH_ERROR_INVALID_HANDLE, "{}: not a live handle of this kind", what);
  return object;
}

template <class Handle, class T>
Handle new_handle(std::shared_ptr<T> object) {
  return reinterpret_cast<Handle>(HandleTable::instance().add(std::move(object)));
}

template <class T, class Handle>
void destroy_handle(Handle* handle) noexcept {
  if (!handle || !*handle) return;
  HandleTable::instance().remove<T>(reinterpret_cast<uintptr_t>(*handle));
  *handle = nullptr;
}

}  // namespace moemesh::capi
