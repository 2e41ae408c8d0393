// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Calls of the CUDA runtime on the devices of engine.hpp.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "communicator.hpp"
#include "engine.hpp"
#include "fake.hpp"
#ifdef MOEMESH_FAKE_DEVICE
#include "kernels/memory.hpp"
#endif

namespace fake {
namespace {

thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

cudaError_t result(cudaError_t code) {
  if (code != cudaSuccess) last_error = code;
  return code;
}

class Kernel : public Work {
 public:
  explicit Kernel(std::function<void()> run, const char* name) : run_(std::move(run)), name_(name) {}
  bool step() override {
    const Open open;
    run_();
    return true;
  }
  std::string text() const override { return name_; }

 private:
  std::function<void()> run_;
  const char* name_;
};

// Wants what it waits for.
class EventWait : public Work {
 public:
  EventWait(CUstream_st* stream, int64_t place) : stream_(stream), place_(place) {}
  bool step() override {
    Engine::want(stream_, place_);
    return stream_->finished >= place_;
  }
  std::string text() const override { return "a wait for an event"; }

 private:
  CUstream_st* stream_;
  int64_t place_;
};

// Null: not a stream that can be used.
CUstream_st* use(cudaStream_t stream, const char* call) {
  Engine& engine = Engine::get();
  const auto legacy = reinterpret_cast<cudaStream_t>(uintptr_t{1});
  if (stream == nullptr || stream == legacy) return engine.default_stream(current_device);
  if (engine.owns(stream) && !stream->destroyed) return stream;
  engine.complain(std::string(call) + " on a stream that does not exist");
  return nullptr;
}

bool usable(cudaEvent_t event, const char* call) {
  Engine& engine = Engine::get();
  if (engine.owns(event) && !event->destroyed) return true;
  engine.complain(std::string(call) + " on an event that does not exist");
  return false;
}

bool reached(const CUevent_st& event) { return !event.stream || event.stream->finished >= event.place; }

cudaError_t wait_for_all(int device, const char* call) {
  Engine& engine = Engine::get();
  const auto through = [&] {
    bool all = true;
    for (CUstream_st& stream : engine.streams())
      if (stream.device == device) {
        Engine::want(&stream, stream.entered);
        all = all && stream.finished == stream.entered;
      }
    return all;
  };
  return engine.run_until(through, call) ? cudaSuccess : cudaErrorLaunchFailure;
}

}  // namespace

void launch(cudaStream_t stream, std::function<void()> kernel) {
  Engine& engine = Engine::get();
  const auto guard = engine.lock();
  if (CUstream_st* const on = use(stream, "a kernel"))
    engine.enter(on, std::make_unique<Kernel>(std::move(kernel), "a kernel"));
}

}  // namespace fake

using fake::Engine;
using fake::result;

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
  }
  return "cudaErrorUnknown";
}

const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
cudaError_t cudaGetLastError() { return std::exchange(fake::last_error, cudaSuccess); }

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake::devices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = fake::current_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= fake::devices) return result(cudaErrorInvalidDevice);
  fake::current_device = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  return result(fake::wait_for_all(fake::current_device, "cudaDeviceSynchronize"));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  if (bytes > (size_t{1} << 34)) return result(cudaErrorMemoryAllocation);
  *pointer = fake::allocate(bytes, fake::current_device, fake::Kind::device);
  return *pointer ? cudaSuccess : result(cudaErrorMemoryAllocation);
}

// As CUDA's, it waits for the device.
cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  return result(fake::release(pointer, fake::Kind::device));
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) { return cudaMalloc(pointer, bytes); }

// When the stream comes to it.
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  Engine& engine = Engine::get();
  const auto guard = engine.lock();
  CUstream_st* const on = fake::use(stream, "cudaFreeAsync");
  if (!on) return result(cudaErrorInvalidResourceHandle);
  engine.enter(on, std::make_unique<fake::Kernel>([=] { fake::forget(pointer, fake::Kind::device); }, "a free"));
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int) {
  *pointer = fake::allocate(bytes, fake::current_device, fake::Kind::pinned);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* pointer) {
  if (!pointer) return cudaSuccess;
  return result(fake::release(pointer, fake::Kind::pinned));
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

// The host's pageable memory is read before the call returns, and written too.
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  Engine& engine = Engine::get();
  bool wait = false;
  {
    const auto guard = engine.lock();
    CUstream_st* const on = fake::use(stream, "cudaMemcpyAsync");
    if (!on) return result(cudaErrorInvalidResourceHandle);
    if (width == 0 || height == 0) return cudaSuccess;
    const auto* const destination = engine.find(to, (height - 1) * to_pitch + width);
    const auto* const source = engine.find(from, (height - 1) * from_pitch + width);
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((to_device && !destination) || (from_device && !source) || engine.crosses(to, (height - 1) * to_pitch + width) ||
        engine.crosses(from, (height - 1) * from_pitch + width)) {
      engine.complain("cudaMemcpyAsync beyond the memory of the device");
      return result(cudaErrorInvalidValue);
    }
    std::vector<std::byte> staged;
    if (!source)
      for (size_t row = 0; row < height; ++row) {
        const auto* const begin = static_cast<const std::byte*>(from) + row * from_pitch;
        staged.insert(staged.end(), begin, begin + width);
      }
    const auto copy = [=, staged = std::move(staged)] {
      for (size_t row = 0; row < height; ++row)
        std::memcpy(static_cast<std::byte*>(to) + row * to_pitch,
                    staged.empty() ? static_cast<const std::byte*>(from) + row * from_pitch : &staged[row * width],
                    width);
    };
    engine.enter(on, std::make_unique<fake::Kernel>(copy, "a copy"));
    wait = !destination;
  }
  return wait ? cudaStreamSynchronize(stream) : cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  if (flags > cudaStreamNonBlocking) return result(cudaErrorInvalidValue);
  Engine& engine = Engine::get();
  const auto guard = engine.lock();
  if (engine.fails("cudaStreamCreateWithPriority")) return result(cudaErrorMemoryAllocation);
  *stream = engine.make_stream(fake::current_device, priority);
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  const auto guard = Engine::get().lock();
  CUstream_st* const on = fake::use(stream, "cudaStreamGetPriority");
  if (!on) return result(cudaErrorInvalidResourceHandle);
  *priority = on->priority;
  return cudaSuccess;
}

// What is in it is still done.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const auto guard = Engine::get().lock();
  CUstream_st* const on = fake::use(stream, "cudaStreamDestroy");
  if (!on) return result(cudaErrorInvalidResourceHandle);
  Engine::want(on, on->entered);
  on->destroyed = true;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  Engine& engine = Engine::get();
  CUstream_st* on = nullptr;
  {
    const auto guard = engine.lock();
    fake::complain_of_open_group("cudaStreamSynchronize");
    on = fake::use(stream, "cudaStreamSynchronize");
    if (!on) return result(cudaErrorInvalidResourceHandle);
    Engine::want(on, on->entered);
  }
  const int64_t place = on->entered;
  const bool through = engine.run_until([&] { return on->finished >= place; }, "cudaStreamSynchronize");
  return result(through ? cudaSuccess : cudaErrorLaunchFailure);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const auto guard = Engine::get().lock();
  CUstream_st* const on = fake::use(stream, "cudaStreamQuery");
  if (!on) return result(cudaErrorInvalidResourceHandle);
  Engine::want(on, on->entered);
  return on->finished == on->entered ? cudaSuccess : result(cudaErrorNotReady);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  Engine& engine = Engine::get();
  const auto guard = engine.lock();
  CUstream_st* const on = fake::use(stream, "cudaStreamWaitEvent");
  if (!on || !fake::usable(event, "cudaStreamWaitEvent")) return result(cudaErrorInvalidResourceHandle);
  if (event->stream) engine.enter(on, std::make_unique<fake::EventWait>(event->stream, event->place));
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  if (flags != cudaEventDisableTiming && flags != cudaEventDefault) return result(cudaErrorInvalidValue);
  Engine& engine = Engine::get();
  const auto guard = engine.lock();
  *event = engine.make_event(fake::current_device);
  (*event)->timed = flags == cudaEventDefault;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const auto guard = Engine::get().lock();
  if (!fake::usable(event, "cudaEventDestroy")) return result(cudaErrorInvalidResourceHandle);
  event->destroyed = true;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Engine& engine = Engine::get();
  const auto guard = engine.lock();
  CUstream_st* const on = fake::use(stream, "cudaEventRecord");
  if (!on || !fake::usable(event, "cudaEventRecord")) return result(cudaErrorInvalidResourceHandle);
  fake::complain_of_open_group("cudaEventRecord");
  fake::complain_of_launch_under_way(on, "cudaEventRecord");
  if (event->device != on->device) {
    engine.complain("cudaEventRecord: an event of device " + std::to_string(event->device) + " in a stream of device " +
                    std::to_string(on->device));
    return result(cudaErrorInvalidResourceHandle);
  }
  if (event->timed) {
    const auto stamp = [event] { event->time = std::chrono::steady_clock::now(); };
    engine.enter(on, std::make_unique<fake::Kernel>(stamp, "a time"));
  }
  event->stream = on;
  event->place = on->entered;
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto guard = Engine::get().lock();
  if (!fake::usable(event, "cudaEventQuery")) return result(cudaErrorInvalidResourceHandle);
  if (event->stream) Engine::want(event->stream, event->place);
  return fake::reached(*event) ? cudaSuccess : result(cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  Engine& engine = Engine::get();
  {
    const auto guard = engine.lock();
    if (!fake::usable(event, "cudaEventSynchronize")) return result(cudaErrorInvalidResourceHandle);
    fake::complain_of_open_group("cudaEventSynchronize");
    if (event->stream) Engine::want(event->stream, event->place);
  }
  const bool through = engine.run_until([&] { return fake::reached(*event); }, "cudaEventSynchronize");
  return result(through ? cudaSuccess : cudaErrorLaunchFailure);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const auto guard = Engine::get().lock();
  if (!fake::usable(begin, "cudaEventElapsedTime") || !fake::usable(end, "cudaEventElapsedTime") || !begin->timed ||
      !end->timed)
    return result(cudaErrorInvalidResourceHandle);
  if (!fake::reached(*begin) || !fake::reached(*end)) return result(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return cudaSuccess;
}

}  // extern "C"

namespace fake {

#ifdef MOEMESH_FAKE_DEVICE
using moemesh::kernels::detail::close_device_memory;
using moemesh::kernels::detail::give_locked_memory;
using moemesh::kernels::detail::open_device_memory;
using moemesh::kernels::detail::take_locked_memory;
#else
void open_device_memory() {}
void close_device_memory() {}
void* take_locked_memory(int64_t bytes) { return std::aligned_alloc(4096, (static_cast<size_t>(bytes) + 4095) / 4096 * 4096); }
void give_locked_memory(void* pointer, int64_t) { std::free(pointer); }
#endif

Open::Open() { open_device_memory(); }
Open::~Open() { close_device_memory(); }

// Filled with NaN, so that what was never written shows.
void* allocate(size_t bytes, int device, Kind kind) {
  Engine& engine = Engine::get();
  const auto guard = engine.lock();
  const Open open;
  const size_t size = (std::max<size_t>(bytes, 1) + 4095) / 4096 * 4096;
  void* const pointer =
      kind == Kind::pinned ? std::aligned_alloc(4096, size) : take_locked_memory(static_cast<int64_t>(size));
  if (!pointer) return nullptr;
  std::memset(pointer, 0xff, bytes);
  engine.memory[static_cast<std::byte*>(pointer)] = {bytes, device, kind};
  return pointer;
}

bool forget(void* pointer, Kind kind) {
  Engine& engine = Engine::get();
  const auto guard = engine.lock();
  const auto found = engine.memory.find(static_cast<std::byte*>(pointer));
  if (found == engine.memory.end() || found->second.kind != kind) {
    engine.complain(kind == Kind::of_nccl ? "ncclMemFree of what ncclMemAlloc did not give"
                                          : "cudaFree of what cudaMalloc did not give");
    return false;
  }
  const size_t size = (std::max<size_t>(found->second.bytes, 1) + 4095) / 4096 * 4096;
  engine.memory.erase(found);
  kind == Kind::pinned ? std::free(pointer) : give_locked_memory(pointer, static_cast<int64_t>(size));
  return true;
}

cudaError_t release(void* pointer, Kind kind) {
  const cudaError_t code = wait_for_all(current_device, kind == Kind::of_nccl ? "ncclMemFree" : "cudaFree");
  return forget(pointer, kind) ? code : cudaErrorInvalidValue;
}

}  // namespace fake
