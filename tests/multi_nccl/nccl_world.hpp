// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fake.hpp"
#include "impl/base/error.hpp"
#include "impl/comm/nccl/nccl_comm.hpp"
#include "multi_internal/world.hpp"

namespace moemesh::test {

// An array of the device. Filled by a kernel, read by a copy, both in a stream: nothing here waits but read().
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(int64_t count) : count_(count) {
    void* data = nullptr;
    check_cuda(cudaMalloc(&data, static_cast<size_t>(count) * sizeof(T)), "cudaMalloc");
    data_ = static_cast<T*>(data);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { (void)cudaFree(data_); }

  T* data() const { return data_; }
  std::byte* bytes() const { return reinterpret_cast<std::byte*>(data_); }
  int64_t size() const { return count_; }

  void fill(cudaStream_t stream, std::function<T(int64_t)> value) {
    fake::launch(stream, [value = std::move(value), data = data_, count = count_] {
      for (int64_t i = 0; i < count; ++i) data[i] = value(i);
    });
  }
  std::vector<T> read(cudaStream_t stream) const {
    std::vector<T> values(static_cast<size_t>(count_));
    check_cuda(cudaMemcpyAsync(values.data(), data_, values.size() * sizeof(T), cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return values;
  }

 private:
  T* data_ = nullptr;
  int64_t count_;
};

// The stream of the program's kernels.
class ComputeStream {
 public:
  ComputeStream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream"); }
  ComputeStream(const ComputeStream&) = delete;
  ComputeStream& operator=(const ComputeStream&) = delete;
  ~ComputeStream() { (void)cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// What stands before and behind an operation in a program: its input comes out of a kernel, its result goes into one.
class Between {
 public:
  explicit Between(cudaStream_t stream) : stream_(stream) { after_.record(stream); }
  operator NcclOrder() { return {&after_, &done_}; }
  void join() { done_.hold_back(stream_); }
  const DeviceEvent& done() const { return done_; }

 private:
  cudaStream_t stream_;
  DeviceEvent after_, done_;
};

struct Outcome {
  int32_t status = MOEMESH_OK;
  std::string text;
};
inline Outcome outcome_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {};
}

// Nothing was complained of, or exactly one thing with this text in it.
void expect_complaint(const std::string& part);

// A communicator of the test's own over all ranks, closed at its end by all of them.
struct OwnNccl {
  Own own;
  std::unique_ptr<NcclComm> comm;

  explicit OwnNccl(double timeout_seconds = 30, Urgency urgency = Urgency::payload)
      : own(open_own(timeout_seconds)), comm(NcclComm::over(*own.world, own.link, urgency)) {}
  // Of what follows: made with patience, since ranks share few cores.
  void expect_soon(double timeout_seconds) {
    std::vector<int64_t> all(1, 0);
    world().agree_max(all, Purpose{});
    own.link->timeout_seconds = timeout_seconds;
  }
  void close() {
    comm->close();
    own.world->close();
  }
};

}  // namespace moemesh::test
