// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <cstring>

#include "kernels/detail.hpp"
#include "kernels/memory.hpp"

namespace moemesh::kernels {

void copy_bytes(void* to, const void* from, int64_t bytes) {
  const detail::Unlocked access;
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void copy_rows_of_bytes(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t width,
                        int64_t rows) {
  const detail::Unlocked access;
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(static_cast<char*>(to) + r * to_stride, static_cast<const char*>(from) + r * from_stride,
                static_cast<std::size_t>(width));
}

// Kernels of a host are done when they return, and a thread that moves messages must not wait for another one's.
void finish() {
  if (separate_memory) detail::finish();
}

void set_lasting_memory(const LastingMemory&) {}
Waiter* set_waiter(Waiter*) { return nullptr; }
void* stream() { return nullptr; }

SideStream::SideStream(void* stream) : before_(stream) {}
SideStream::~SideStream() = default;
StreamScope::StreamScope(void* stream) : before_(stream) {}
StreamScope::~StreamScope() = default;

}  // namespace moemesh::kernels

