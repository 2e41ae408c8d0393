// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/base/memory.hpp"

#include <cstdlib>

#include "impl/base/error.hpp"

namespace moemesh {
namespace {
constexpr int64_t alignment = 64;
}

void* Allocator::allocate(int64_t bytes) const {
  if (bytes == 0) return nullptr;
  const int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* pointer =
      allocate_ ? allocate_(user_, rounded, alignment) : std::aligned_alloc(alignment, static_cast<size_t>(rounded));
  require(pointer != nullptr, MOEMESH_ERROR_OUT_OF_MEMORY, "allocation of {} bytes failed", rounded);
  return pointer;
}

void Allocator::release(void* pointer, int64_t bytes) const noexcept {
  const int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (free_)
    free_(user_, pointer, rounded);
  else
    std::free(pointer);
}

}  // namespace moemesh
