// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

// Where arrays lie, and the order of what is done to them. On a host all memory is one. Where a device has its own:
//   device  kernels alone touch it
//   lasting the same, of arrays that live as long as a model and that messages are made of: whoever moves those says where
//   shared  kernels and the host do: pinned memory of the host. What a kernel wrote is there after finish()
//   host    the host alone
// A build with MOEMESH_CHECKED_MEMORY runs on a host and behaves as a device: what is not a kernel dies on device memory. One
// with MOEMESH_FAKE_DEVICE does that too, and its kernels wait in streams, those of tests/fake_nccl.
namespace moemesh::kernels {

enum class Memory : int32_t { host, device, shared, lasting };

#if defined(MOEMESH_DEVICE_CUDA) || defined(MOEMESH_CHECKED_MEMORY) || defined(MOEMESH_FAKE_DEVICE)
inline constexpr bool separate_memory = true;
#else
inline constexpr bool separate_memory = false;
#endif

// Only where memory is separate, and not for Memory::host. bytes > 0; null where there is no more.
void* allocate(Memory memory, int64_t bytes);
void release(Memory memory, void* pointer, int64_t bytes) noexcept;

// Where lasting memory comes from; null: where device memory does. Set before any is taken.
struct LastingMemory {
  void* (*take)(int64_t bytes) = nullptr;  // null where there is no more
  void (*give)(void* pointer) noexcept = nullptr;
};
void set_lasting_memory(const LastingMemory& source);

// Between any two kinds of memory, in the order of this thread's kernels. Where the host wrote `from`, or reads `to`, it is
// the caller who knows when: finish() before.
void copy_bytes(void* to, const void* from, int64_t bytes);
// `rows` rows of `width` bytes.
void copy_rows_of_bytes(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t width,
                        int64_t rows);
// Waits for this thread's kernels and copies.
void finish();
// What goes on while it does, again and again, where it may be long: it may throw, which ends the wait. Of the calling thread.
class Waiter {
 public:
  virtual void look() = 0;

 protected:
  ~Waiter() = default;
};
Waiter* set_waiter(Waiter* waiter);  // returns the one before
// The stream of this thread's kernels; null on hosts.
void* stream();

#if defined(MOEMESH_DEVICE_CUDA) || defined(MOEMESH_FAKE_DEVICE)
inline constexpr bool takes_streams = true;
#else
inline constexpr bool takes_streams = false;
#endif

// While one lives, the device of this process's kernels is this thread's current one.
class DeviceScope {
 public:
#if defined(MOEMESH_DEVICE_CUDA) || defined(MOEMESH_FAKE_DEVICE)
  DeviceScope();
  ~DeviceScope();
#else
  DeviceScope() {}
  ~DeviceScope() {}
#endif
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int32_t before_ = -1;
};

// While one lives, this thread's kernels run on the caller's stream (null: the device's default one), after what this thread
// has launched on another one.
class StreamScope {
 public:
  explicit StreamScope(void* stream);
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;
  ~StreamScope();

 private:
  void* before_;
};

// While one lives, they run on a stream that others wait for only where they are told to.
class SideStream {
 public:
  explicit SideStream(void* stream);
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream();

 private:
  void* before_;
};

namespace detail {
// Of MOEMESH_CHECKED_MEMORY and MOEMESH_FAKE_DEVICE alone: memory that nobody can touch, but between open and close.
void* take_locked_memory(int64_t bytes);
void give_locked_memory(void* pointer, int64_t bytes);
void open_device_memory();
void close_device_memory();
void lock_device_memory();  // unless it is open
// Where device memory may be touched by what is no kernel of ours: a library's product, a copy.
class Unlocked {
 public:
#if defined(MOEMESH_CHECKED_MEMORY) || defined(MOEMESH_FAKE_DEVICE)
  Unlocked();
  ~Unlocked();
#else
  Unlocked() {}
  ~Unlocked() {}
#endif
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
};
}  // namespace detail

}  // namespace moemesh::kernels
