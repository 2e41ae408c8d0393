// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/nccl/device.hpp"

#include "impl/base/error.hpp"

namespace moemesh {

void check_cuda(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // it is told here, not to whoever looks next
  const bool memory = code == cudaErrorMemoryAllocation;
  fail(memory ? MOEMESH_ERROR_OUT_OF_MEMORY : MOEMESH_ERROR_COMMUNICATION, "{} failed: {}, {}", what,
       cudaGetErrorName(code), cudaGetErrorString(code));
}

DeviceEvent::DeviceEvent(Times times) {
  check_cuda(cudaEventCreateWithFlags(&event_, times == Times::yes ? cudaEventDefault : cudaEventDisableTiming),
             "cudaEventCreateWithFlags");
}

double DeviceEvent::seconds_since(const DeviceEvent& begin) const {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

DeviceEvent::~DeviceEvent() {
  if (event_) (void)cudaEventDestroy(event_);
}

void DeviceEvent::record(cudaStream_t stream) { check_cuda(cudaEventRecord(event_, stream), "cudaEventRecord"); }

void DeviceEvent::hold_back(cudaStream_t stream) const {
  check_cuda(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
}

bool DeviceEvent::reached() const {
  const cudaError_t code = cudaEventQuery(event_);
  if (code == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check_cuda(code, "work of the device");
  return true;
}

DeviceStream::DeviceStream(Urgency urgency) {
  int lowest = 0, highest = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange");
  check_cuda(
      cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgency == Urgency::payload ? highest : lowest),
      "cudaStreamCreateWithPriority");
}

DeviceStream::~DeviceStream() {
  if (stream_) (void)cudaStreamDestroy(stream_);
}

}  // namespace moemesh
