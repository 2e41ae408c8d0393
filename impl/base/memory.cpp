// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/base/memory.hpp"

#include <cstdlib>
#include <map>
#include <mutex>

#include "impl/base/error.hpp"

namespace moemesh {
namespace {

constexpr int64_t alignment = 64;

#if defined(MOEMESH_CHECKED_MEMORY) || defined(MOEMESH_FAKE_DEVICE)
// The caller's allocator hears of all memory here too, so that what tests see of it holds: a block of its own stands for each.
class StandIns {
 public:
  void add(void* pointer, void* stand_in) {
    const std::lock_guard lock(mutex_);
    of_[pointer] = stand_in;
  }
  void* take(void* pointer) {
    const std::lock_guard lock(mutex_);
    return of_.extract(pointer).mapped();
  }

 private:
  std::mutex mutex_;
  std::map<void*, void*> of_;
};
StandIns stand_ins;
#endif

}  // namespace

#if defined(MOEMESH_CHECKED_MEMORY) || defined(MOEMESH_DEVICE_CUDA) || defined(MOEMESH_FAKE_DEVICE)
void* Allocator::of_kernels(Memory memory, int64_t bytes) const {
#if defined(MOEMESH_CHECKED_MEMORY) || defined(MOEMESH_FAKE_DEVICE)
  void* const stand_in = of_host(bytes);
  if (stand_in == nullptr) return nullptr;
  void* const pointer = kernels::allocate(memory, bytes);
  stand_ins.add(pointer, stand_in);
  return pointer;
#else
  return kernels::allocate(memory, bytes);
#endif
}

void Allocator::release_of_kernels(Memory memory, void* pointer, int64_t bytes) const noexcept {
  kernels::release(memory, pointer, bytes);
#if defined(MOEMESH_CHECKED_MEMORY) || defined(MOEMESH_FAKE_DEVICE)
  release_of_host(stand_ins.take(pointer), bytes);
#endif
}
#endif

void Allocator::release_of_host(void* pointer, int64_t bytes) const noexcept {
  if (free_)
    free_(user_, pointer, bytes);
  else
    std::free(pointer);
}

void* Allocator::of_host(int64_t bytes) const {
  return allocate_ ? allocate_(user_, bytes, alignment) : std::aligned_alloc(alignment, static_cast<size_t>(bytes));
}

void* Allocator::allocate(Memory memory, int64_t bytes) const {
  if (bytes == 0) return nullptr;
  const int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* pointer = nullptr;
  if constexpr (kernels::separate_memory)
    pointer = memory == Memory::host ? of_host(rounded) : of_kernels(memory, rounded);
  else
    pointer = of_host(rounded);
  require(pointer != nullptr, MOEMESH_ERROR_OUT_OF_MEMORY, "allocation of {} bytes failed", rounded);
  return pointer;
}

void Allocator::release(Memory memory, void* pointer, int64_t bytes) const noexcept {
  const int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if constexpr (kernels::separate_memory)
    if (memory != Memory::host) return release_of_kernels(memory, pointer, rounded);
  release_of_host(pointer, rounded);
}

}  // namespace moemesh
