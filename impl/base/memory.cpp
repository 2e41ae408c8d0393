// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/base/memory.hpp"

#include <cstdlib>

#include "impl/base/error.hpp"

namespace moemesh {
namespace {
constexpr int64_t alignment = 64;
}

void* Allocator::of_host(int64_t bytes) const {
  return allocate_ ? allocate_(user_, bytes, alignment) : std::aligned_alloc(alignment, static_cast<size_t>(bytes));
}

void* Allocator::allocate(Memory memory, int64_t bytes) const {
  if (bytes == 0) return nullptr;
  const int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* pointer = nullptr;
  if constexpr (kernels::separate_memory)
    pointer = memory == Memory::host ? of_host(rounded) : kernels::allocate(memory, rounded);
  else
    pointer = of_host(rounded);
  require(pointer != nullptr, MOEMESH_ERROR_OUT_OF_MEMORY, "allocation of {} bytes failed", rounded);
  return pointer;
}

void Allocator::release(Memory memory, void* pointer, int64_t bytes) const noexcept {
  const int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if constexpr (kernels::separate_memory)
    if (memory != Memory::host) return kernels::release(memory, pointer, rounded);
  if (free_)
    free_(user_, pointer, rounded);
  else
    std::free(pointer);
}

}  // namespace moemesh
