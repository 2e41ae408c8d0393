// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <stdexcept>

#include "bench/device/device.hpp"

namespace bench {
namespace {

void check(cudaError_t code) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code));
}
void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

cublasHandle_t library() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made));
    check(cublasSetMathMode(made, CUBLAS_PEDANTIC_MATH));
    return made;
  }();
  return handle;
}

// bf16 has no use for the pedantic mode, which is there to keep TF32 out of fp32.
void choose_mode(Element element) {
  check(cublasSetMathMode(library(), element == Element::bfloat16 ? CUBLAS_DEFAULT_MATH : CUBLAS_PEDANTIC_MATH));
}

}  // namespace

std::string device_name() {
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device));
  check(cudaGetDeviceProperties(&properties, device));
  return std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) + " multiprocessors, " +
         std::to_string(properties.totalGlobalMem >> 30) + " GiB";
}

Array::Array(int64_t bytes) : bytes_(bytes) { check(cudaMalloc(&data_, static_cast<size_t>(bytes))); }
Array::~Array() { (void)cudaFree(data_); }

void copy(void* to, const void* from, int64_t bytes) {
  check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, cudaStreamLegacy));
}

Timer::Timer() {
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  begin_ = begin;
  end_ = end;
}
Timer::~Timer() {
  (void)cudaEventDestroy(static_cast<cudaEvent_t>(begin_));
  (void)cudaEventDestroy(static_cast<cudaEvent_t>(end_));
}
void Timer::start() {
  check(cudaDeviceSynchronize());
  check(cudaEventRecord(static_cast<cudaEvent_t>(begin_), cudaStreamLegacy));
}
double Timer::stop() {
  float milliseconds = 0;
  check(cudaEventRecord(static_cast<cudaEvent_t>(end_), cudaStreamLegacy));
  check(cudaEventSynchronize(static_cast<cudaEvent_t>(end_)));
  check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(begin_), static_cast<cudaEvent_t>(end_)));
  return 1e-3 * static_cast<double>(milliseconds);
}

bool multiplies(Element) { return true; }

// cuBLAS counts by columns, so that A and B change places.
void multiply(const Product& p, Element element, const Array& a, const Array& b, const Array& c) {
  const auto type = element == Element::bfloat16 ? CUDA_R_16BF : CUDA_R_32F;
  const auto compute = element == Element::bfloat16 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC;
  const float one = 1, zero = 0;
  choose_mode(element);
  check(cublasSetStream(library(), cudaStreamLegacy));
  check(cublasGemmEx_64(library(), p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                        p.n, p.m, p.k, &one, b.as<void>(), type, p.transpose_b ? p.k : p.n, a.as<void>(), type,
                        p.transpose_a ? p.m : p.k, &zero, c.as<void>(), type, p.n, compute, CUBLAS_GEMM_DEFAULT));
}

}  // namespace bench
