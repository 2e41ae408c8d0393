// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <cublas_v2.h>

#include <new>
#include <stdexcept>
#include <string>

#include "kernels/cuda_error.hpp"
#include "kernels/gemm_backend.hpp"

namespace moemesh::kernels::detail {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + " failed: " + cublasGetStatusString(status));
}

// One for each thread: a handle's stream is changed from call to call.
class Handle {
 public:
  Handle() {
    check(cublasCreate(&handle_), "cublasCreate");
    // fp32 is fp32: no TF32, unless a caller is given a way to ask for it.
    check(cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  }
  ~Handle() { cublasDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  cublasHandle_t on(cudaStream_t stream) const {
    check(cublasSetStream(handle_, stream), "cublasSetStream");
    return handle_;
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

cublasOperation_t operation(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

}  // namespace

// cuBLAS counts by columns: a row-major C is the transpose of its C, so that A and B change places.
void gemm_cublas(const Gemm& p) {
  thread_local const Handle handle;
  const float one = 1.0F, beta = p.accumulate ? 1.0F : 0.0F;
  check(cublasSgemm_64(handle.on(current_stream()), operation(p.transpose_b), operation(p.transpose_a), p.n, p.m, p.k,
                       &one, p.b, p.ldb, p.a, p.lda, &beta, p.c, p.ldc),
        "cublasSgemm");
}

const char* cublas_name() {
  static const std::string name = [] {
    int version = 0;
    for (const auto part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
      int value = 0;
      (void)cublasGetProperty(part, &value);
      version = version * 100 + value;
    }
    return "cuBLAS " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }();
  return name.c_str();
}

const void* cublas_code() { return reinterpret_cast<const void*>(&cublasGetProperty); }

}  // namespace moemesh::kernels::detail
