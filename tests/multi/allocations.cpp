// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "allocations.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define MOEMESH_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MOEMESH_OWN_MALLOC 0
#endif
#endif
#ifndef MOEMESH_OWN_MALLOC
#define MOEMESH_OWN_MALLOC 1
#endif

namespace moemesh::test {
namespace {

thread_local bool armed = false;
int64_t counted = 0;
std::array<char, 1000> first_place{};

#if MOEMESH_OWN_MALLOC
bool contains(const char* text, const char* part) { return std::strstr(text, part) != nullptr; }

const char* library_of(void* address, uintptr_t& offset) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || !info.dli_fname) return "";
  offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(info.dli_fbase);
  return info.dli_fname;
}

void describe(void* const* frames, int count) {
  size_t used = 0;
  for (int i = 0; i < count && i < 10 && used < first_place.size(); ++i) {
    uintptr_t offset = 0;
    const char* name = library_of(frames[i], offset);
    const char* slash = std::strrchr(name, '/');
    used += static_cast<size_t>(std::snprintf(first_place.data() + used, first_place.size() - used, " %s+0x%lx",
                                              slash ? slash + 1 : name, static_cast<unsigned long>(offset)));
  }
}

// caller: where the allocation function returns to.
void note(void* caller) {
  if (!armed) return;
  armed = false;  // what is called here may allocate
  std::array<void*, 40> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  int i = 0;
  while (i < count && frames[static_cast<size_t>(i)] != caller) ++i;
  for (; i < count; ++i) {
    uintptr_t offset = 0;
    const char* library = library_of(frames[static_cast<size_t>(i)], offset);
    if (contains(library, "libstdc++") || contains(library, "/libc.so") || contains(library, "libgcc_s")) continue;
    if (contains(library, "libmoemesh") && counted++ == 0) describe(frames.data() + i, count - i);
    break;
  }
  armed = true;
}
#endif

}  // namespace

bool AllocationCounter::available() { return MOEMESH_OWN_MALLOC != 0; }

AllocationCounter::AllocationCounter() {
#if MOEMESH_OWN_MALLOC
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads what it needs
#endif
  counted = 0;
  first_place[0] = 0;
  armed = true;
}

AllocationCounter::~AllocationCounter() { armed = false; }

int64_t AllocationCounter::count() { return counted; }
std::string AllocationCounter::first() {
  const bool before = std::exchange(armed, false);
  std::string place = first_place.data();
  armed = before;
  return place;
}

}  // namespace moemesh::test

#if MOEMESH_OWN_MALLOC
// Before the C library's, which the others go on to.
using moemesh::test::note;
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  note(__builtin_return_address(0));
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  note(__builtin_return_address(0));
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  note(__builtin_return_address(0));
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  note(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  note(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  note(__builtin_return_address(0));
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : 12;  // ENOMEM
}
}
#endif
