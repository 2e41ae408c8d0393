// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Memory of a CUDA device, and the streams on which this library's kernels run.
#include <cuda_runtime.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
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

void* allocate(Memory memory, int64_t bytes) {
  const DeviceScope here;
  void* pointer = nullptr;
  const auto size = static_cast<size_t>(bytes);
  const cudaError_t code =
      memory == Memory::device ? cudaMalloc(&pointer, size) : cudaHostAlloc(&pointer, size, cudaHostAllocPortable);
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();  // it is told by the null pointer, not to whoever looks next
    return nullptr;
  }
  detail::cuda_check(code, "allocating device memory");
  return pointer;
}

void release(Memory memory, void* pointer, int64_t) noexcept {
  const DeviceScope here;
  (void)(memory == Memory::device ? cudaFree(pointer) : cudaFreeHost(pointer));
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
