// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace moemesh {

// Memory of the small arrays and objects that come and go within a call: what is given back is kept in lists and handed out
// again, so that a step like the one before asks the C++ heap for nothing. One set of lists for each library that includes
// this; they hold at most what was in use at one time.
class Recycler {
 public:
  static void* take(size_t bytes) {
    const size_t kind = kind_of(bytes);
    if (kind >= kinds) return ::operator new(bytes);
    {
      const std::lock_guard lock(mutex_);
      if (Free* const first = lists_[kind]) {
        lists_[kind] = first->next;
        return first;
      }
    }
    return ::operator new(smallest << kind);
  }
  static void give(void* memory, size_t bytes) noexcept {
    const size_t kind = kind_of(bytes);
    if (kind >= kinds || emptied_) return ::operator delete(memory);
    const std::lock_guard lock(mutex_);
    lists_[kind] = new (memory) Free{lists_[kind]};
  }

 private:
  struct Free {
    Free* next;
  };
  // Where the library is unloaded, or the program ends.
  struct Emptier {
    ~Emptier() {
      emptied_ = true;
      for (Free* list : lists_)
        while (list) ::operator delete(std::exchange(list, list->next));
    }
  };
  static constexpr size_t smallest = 32, kinds = 16;  // sizes 32 bytes, 64, ... 1 MiB
  static size_t kind_of(size_t bytes) {
    return bytes <= smallest ? 0 : static_cast<size_t>(std::bit_width((bytes - 1) / smallest));
  }

  static inline std::mutex mutex_;
  static inline std::array<Free*, kinds> lists_{};
  static inline bool emptied_ = false;
  static inline Emptier emptier_;
};

template <class T>
struct RecyclingAllocator {
  using value_type = T;
  RecyclingAllocator() = default;
  template <class U>
  RecyclingAllocator(const RecyclingAllocator<U>&) noexcept {}
  T* allocate(size_t n) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    if (n > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(Recycler::take(n * sizeof(T)));
  }
  void deallocate(T* memory, size_t n) noexcept { Recycler::give(memory, n * sizeof(T)); }
  bool operator==(const RecyclingAllocator&) const = default;
};

// An array that lives within a call.
template <class T>
using Recycled = std::vector<T, RecyclingAllocator<T>>;

// For classes whose objects are made by `new` in each call.
struct RecycledObject {
  static void* operator new(size_t bytes) { return Recycler::take(bytes); }
  static void operator delete(void* memory, size_t bytes) noexcept { Recycler::give(memory, bytes); }
};

}  // namespace moemesh
