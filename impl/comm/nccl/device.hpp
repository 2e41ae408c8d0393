// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

// Streams and events of the device. For the units of impl/comm/nccl alone.
namespace moemesh {

// Throws ERROR_OUT_OF_MEMORY, or ERROR_COMMUNICATION with CUDA's name and text of the error.
void check_cuda(cudaError_t code, const char* what);

// A point in the work of a stream. Times make it slower.
class DeviceEvent {
 public:
  enum class Times { no, yes };
  explicit DeviceEvent(Times times = Times::no);
  DeviceEvent(DeviceEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  DeviceEvent& operator=(DeviceEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  ~DeviceEvent();

  void record(cudaStream_t stream);           // all that is in the stream by now
  void hold_back(cudaStream_t stream) const;  // what comes into it from now on
  bool reached() const;                       // never waits
  double seconds_since(const DeviceEvent& begin) const;  // both with times, and reached
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// Which work goes first where the device has a choice: payload, for which the next product waits, before reductions, which
// have until the step's end.
enum class Urgency { payload, reduction };

// A stream of the current device that waits for nothing but what it is told to.
class DeviceStream {
 public:
  explicit DeviceStream(Urgency urgency);
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  ~DeviceStream();

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace moemesh
