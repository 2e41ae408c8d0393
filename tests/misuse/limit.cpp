// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// A request for more than limited_most bytes finds no memory: absurd sizes come back as OUT_OF_MEMORY, whatever the machine has.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

extern "C" {
extern std::size_t limited_most;
std::size_t limited_most = std::size_t{256} << 20;
}

namespace {

void* allocate_or_null(std::size_t bytes, std::size_t alignment) {
  void* result = nullptr;
  if (bytes > limited_most || posix_memalign(&result, alignment, bytes == 0 ? 1 : bytes) != 0) return nullptr;
  return result;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* result = allocate_or_null(bytes, alignment);
  if (!result) throw std::bad_alloc();
  return result;
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, usual); }
void* operator new[](std::size_t bytes) { return allocate(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t a) { return allocate(bytes, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t bytes, std::align_val_t a) { return allocate(bytes, static_cast<std::size_t>(a)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate_or_null(bytes, usual); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate_or_null(bytes, usual); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

// The allocator of the contexts (world.c).
extern "C" void* limited_allocate(void*, int64_t bytes, int64_t alignment) {
  return allocate_or_null(static_cast<std::size_t>(bytes), static_cast<std::size_t>(alignment < 8 ? 8 : alignment));
}
extern "C" void limited_free(void*, void* pointer, int64_t) { std::free(pointer); }
