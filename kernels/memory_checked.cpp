// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Device memory for hosts without a device: pages that can't be touched, but while a kernel runs. Locking them takes longer
// than most kernels of a test: they are locked wherever the program waits for its kernels, as it must before it looks at
// their results, and after one in a few of the others.
#if defined(MOEMESH_CHECKED_MEMORY) || defined(MOEMESH_FAKE_DEVICE)

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

#include "kernels/memory.hpp"

namespace moemesh::kernels {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kLocked = 16;  // one in so many ends of a kernel
constexpr int64_t kReserved = int64_t{1} << 36;  // addresses, not memory

int64_t pages(int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Free ranges by offset; what lies beyond `used_` was never handed out.
class Arena {
 public:
  Arena() {
    void* const base = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base_ = base == MAP_FAILED ? nullptr : static_cast<char*>(base);
  }

  void* take(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (base_ == nullptr) return nullptr;
    const int64_t size = pages(bytes);
    for (auto range = free_.begin(); range != free_.end(); ++range)
      if (range->second >= size) return cut(range, size);
    if (used_ + size > kReserved) return nullptr;
    void* const result = base_ + used_;
    used_ += size;
    if (unlocked_) protect(PROT_READ | PROT_WRITE);
    return result;
  }

  void give(void* pointer, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const int64_t size = pages(bytes);
    madvise(pointer, static_cast<size_t>(size), MADV_DONTNEED);  // a stale reader finds zeros, not old values
    auto range = free_.emplace(static_cast<char*>(pointer) - base_, size).first;
    const auto next = std::next(range);
    if (next != free_.end() && range->first + range->second == next->first) {
      range->second += next->second;
      free_.erase(next);
    }
    if (range == free_.begin()) return;
    const auto before = std::prev(range);
    if (before->first + before->second != range->first) return;
    before->second += range->second;
    free_.erase(range);
  }

  void open() {
    const std::lock_guard lock(mutex_);
    ++users_;
    if (!unlocked_) protect(PROT_READ | PROT_WRITE);
    unlocked_ = true;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    --users_;
    if (++closed_ % kLocked == 0) shut();
  }
  void close_now() {
    const std::lock_guard lock(mutex_);
    shut();
  }

 private:
  void* cut(std::map<int64_t, int64_t>::iterator range, int64_t size) {
    const int64_t offset = range->first, rest = range->second - size;
    free_.erase(range);
    if (rest > 0) free_.emplace(offset + size, rest);
    return base_ + offset;
  }

  void shut() {
    if (users_ > 0 || !unlocked_) return;
    protect(PROT_NONE);
    unlocked_ = false;
  }
  void protect(int access) {
    if (used_ > 0 && mprotect(base_, static_cast<size_t>(used_), access) != 0) std::abort();
  }

  std::mutex mutex_;
  char* base_ = nullptr;
  int64_t used_ = 0, users_ = 0, closed_ = 0;
  bool unlocked_ = false;
  std::map<int64_t, int64_t> free_;
};

Arena& arena() {
  static auto* const instance = new Arena;  // outlives whatever is destroyed at exit
  return *instance;
}

}  // namespace

#ifdef MOEMESH_CHECKED_MEMORY
void* allocate(Memory memory, int64_t bytes) {
  return memory != Memory::shared ? arena().take(bytes) : std::aligned_alloc(kPage, static_cast<size_t>(pages(bytes)));
}

void release(Memory memory, void* pointer, int64_t bytes) noexcept {
  memory != Memory::shared ? arena().give(pointer, bytes) : std::free(pointer);
}
#endif

namespace detail {

void* take_locked_memory(int64_t bytes) { return arena().take(bytes); }
void give_locked_memory(void* pointer, int64_t bytes) { arena().give(pointer, bytes); }
void open_device_memory() { arena().open(); }
void close_device_memory() { arena().close(); }
void lock_device_memory() { arena().close_now(); }

// Whoever touches it without being a kernel is no work of the fake's streams, and comes after what is in them.
Unlocked::Unlocked() {
#ifdef MOEMESH_FAKE_DEVICE
  kernels::finish();
#endif
  open_device_memory();
}
Unlocked::~Unlocked() { close_device_memory(); }

}  // namespace detail

}  // namespace moemesh::kernels

#endif
