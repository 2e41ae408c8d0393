// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Memory of a CUDA device, and the streams on which this library's kernels run.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "kernels/cuda_error.hpp"
#include "kernels/detail.hpp"
#include "kernels/memory.hpp"
#include "kernels/runtime.hpp"
#ifdef MOEMESH_FAKE_DEVICE
#include "fake.hpp"
#endif

namespace moemesh::kernels {
namespace {

using detail::cuda_check;

// What a thread launches on. A thread that is in no call of the API moves messages: its copies have a stream of their own,
// which waits for nothing.
struct Thread {
  cudaStream_t stream = cudaStreamLegacy;
  cudaStream_t background = nullptr;
  cudaStream_t last = nullptr;  // of the call before; its work is marked by `done`
  cudaEvent_t done = nullptr;
  cudaStream_t side = nullptr;
  Waiter* waiter = nullptr;
  int32_t calls = 0;

  ~Thread() {  // the device may be gone
    if (background) cudaStreamDestroy(background);
    if (done) cudaEventDestroy(done);
  }
  cudaStream_t current() {
    if (side) return side;
    if (calls > 0) return stream;
    if (!background) cuda_check(cudaStreamCreateWithFlags(&background, cudaStreamNonBlocking), "cudaStreamCreate");
    return background;
  }
};
thread_local Thread thread;

#ifndef MOEMESH_FAKE_DEVICE
// Kokkos' object for each stream. Kept until the runtime stops: making one is an allocation.
struct Spaces {
  std::mutex mutex;
  std::map<cudaStream_t, std::unique_ptr<detail::Space>> of;
};
Spaces& spaces() {
  static auto* const instance = new Spaces;  // outlives Kokkos whatever the order at exit
  return *instance;
}
#endif

}  // namespace

namespace detail {

void cuda_check(cudaError_t code, const char* what) {
  if (code == cudaErrorMemoryAllocation) throw std::bad_alloc();
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(what) + " failed: " + cudaGetErrorName(code) + ", " +
                             cudaGetErrorString(code));
}

#ifdef MOEMESH_FAKE_DEVICE
void enter_stream(std::function<void()> kernel) { fake::launch(thread.current(), std::move(kernel)); }
void forget_streams() {}
#else
const Space& space() {
  const cudaStream_t stream = thread.current();
  const std::lock_guard lock(spaces().mutex);
  auto& made = spaces().of[stream];
  if (!made) made = std::make_unique<Space>(stream);
  return *made;
}

void forget_streams() {
  const std::lock_guard lock(spaces().mutex);
  spaces().of.clear();
}
#endif

cudaStream_t current_stream() { return thread.current(); }

}  // namespace detail

namespace {

// Memory of the host that the device reaches. To give it back to CUDA, as to take it, waits for the whole device, which may in
// turn wait for a rank that waits for this one: so it is kept, and handed out again once the work that was in the stream when
// it came back is done.
class Pinned {
 public:
  void* take(int64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(free_.begin(), free_.end(), [&](const Block& block) {
        return block.bytes >= bytes && block.bytes / 2 <= bytes && cudaEventQuery(block.used) == cudaSuccess;
      });
      (void)cudaGetLastError();
      if (found != free_.end()) return handed_out(free_.extract(found).value());
    }
    return made(bytes);
  }

  void give(void* pointer, cudaStream_t stream) noexcept {
    const std::lock_guard lock(mutex_);
    auto block = used_.extract(pointer);
    if (block.empty()) return;
    (void)cudaEventRecord(block.mapped().used, stream);
    free_.insert(block.mapped());
  }

 private:
  struct Block {
    int64_t bytes;
    void* pointer;
    cudaEvent_t used;
    bool operator<(const Block& other) const { return bytes < other.bytes; }
  };
  void* handed_out(const Block& block) {
    used_.emplace(block.pointer, block);
    return block.pointer;
  }
  void* made(int64_t bytes) {
    Block block{bytes, nullptr, nullptr};
    cuda_check(cudaHostAlloc(&block.pointer, static_cast<size_t>(bytes), cudaHostAllocPortable), "cudaHostAlloc");
    cuda_check(cudaEventCreateWithFlags(&block.used, cudaEventDisableTiming), "cudaEventCreate");
    const std::lock_guard lock(mutex_);
    return handed_out(block);
  }

  std::mutex mutex_;
  std::multiset<Block> free_;
  std::map<void*, Block> used_;
};

Pinned& pinned() {
  static auto* const instance = new Pinned;  // outlives the buffers of whatever is destroyed at exit
  return *instance;
}

}  // namespace

namespace {
constinit LastingMemory lasting_memory;
}  // namespace

void set_lasting_memory(const LastingMemory& source) { lasting_memory = source; }

// Device memory comes and goes in the order of this thread's kernels, without a wait.
void* allocate(Memory memory, int64_t bytes) {
  const DeviceScope here;
  if (memory == Memory::shared) try {
      return pinned().take(bytes);
    } catch (const std::bad_alloc&) {
      (void)cudaGetLastError();  // it is told by the null pointer, not to whoever looks next
      return nullptr;
    }
  if (memory == Memory::lasting && lasting_memory.take) return lasting_memory.take(bytes);
  void* pointer = nullptr;
  const cudaError_t code = cudaMallocAsync(&pointer, static_cast<size_t>(bytes), thread.current());
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  detail::cuda_check(code, "allocating device memory");
  return pointer;
}

void release(Memory memory, void* pointer, int64_t) noexcept {
  const DeviceScope here;
  if (memory == Memory::shared) return pinned().give(pointer, thread.current());
  if (memory == Memory::lasting && lasting_memory.give) return lasting_memory.give(pointer);
  (void)cudaFreeAsync(pointer, thread.current());
}

void copy_bytes(void* to, const void* from, int64_t bytes) {
  if (bytes > 0)
    cuda_check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, thread.current()),
               "cudaMemcpyAsync");
}

void copy_rows_of_bytes(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t width,
                        int64_t rows) {
  if (width <= 0 || rows <= 0) return;
  if (rows == 1 || (to_stride == width && from_stride == width)) return copy_bytes(to, from, width * rows);
  cuda_check(
      cudaMemcpy2DAsync(to, static_cast<size_t>(to_stride), from, static_cast<size_t>(from_stride),
                        static_cast<size_t>(width), static_cast<size_t>(rows), cudaMemcpyDefault, thread.current()),
      "cudaMemcpy2DAsync");
}

namespace {

// A short wait costs a core, a long one its latency.
void wait_for(cudaStream_t stream, Waiter& waiter) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (cudaError_t code = cudaErrorNotReady; code == cudaErrorNotReady;) {
    code = cudaStreamQuery(stream);
    if (code != cudaErrorNotReady) return cuda_check(code, "a kernel or copy");
    (void)cudaGetLastError();
    waiter.look();
    if (Clock::now() - start > std::chrono::milliseconds(1)) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace

void finish() {
  if (thread.waiter)
    wait_for(thread.current(), *thread.waiter);
  else
    cuda_check(cudaStreamSynchronize(thread.current()), "a kernel or copy");
#ifdef MOEMESH_FAKE_DEVICE
  detail::lock_device_memory();
#endif
}

Waiter* set_waiter(Waiter* waiter) { return std::exchange(thread.waiter, waiter); }

void* stream() { return thread.current(); }

SideStream::SideStream(void* stream) : before_(std::exchange(thread.side, static_cast<cudaStream_t>(stream))) {}
SideStream::~SideStream() { thread.side = static_cast<cudaStream_t>(before_); }

// The scopes' ends must not throw: what fails there fails again in the next call.
DeviceScope::DeviceScope() {
  ++thread.calls;
  int current = -1;
  if (device() < 0 || cudaGetDevice(&current) != cudaSuccess || current == device()) return;
  if (cudaSetDevice(device()) == cudaSuccess) before_ = current;
}

DeviceScope::~DeviceScope() {
  --thread.calls;
  if (before_ >= 0) (void)cudaSetDevice(before_);
}

StreamScope::StreamScope(void* stream) : before_(thread.stream) {
  thread.stream = stream ? static_cast<cudaStream_t>(stream) : cudaStreamLegacy;
  if (thread.last && thread.last != thread.stream)
    cuda_check(cudaStreamWaitEvent(thread.stream, thread.done, 0), "cudaStreamWaitEvent");
}

StreamScope::~StreamScope() {
  if (!thread.done) (void)cudaEventCreateWithFlags(&thread.done, cudaEventDisableTiming);
  if (thread.done && cudaEventRecord(thread.done, thread.stream) == cudaSuccess) thread.last = thread.stream;
  thread.stream = static_cast<cudaStream_t>(before_);
}

}  // namespace moemesh::kernels
