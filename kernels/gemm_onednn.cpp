// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/gemm_backend.hpp"

#ifdef MOEMESH_HAVE_ONEDNN

#include <dnnl.h>

#include <stdexcept>
#include <string>

#include "kernels/runtime.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace moemesh::kernels::detail {
namespace {

// oneDNN takes as many threads as the calling thread's OpenMP setting says; that setting belongs to the host program,
// so it is ours only during the call.
class PoolThreads {
 public:
#ifdef _OPENMP
  explicit PoolThreads(int threads) : before_(omp_get_max_threads()) {
    if (threads > 0) omp_set_num_threads(threads);
  }
  ~PoolThreads() { omp_set_num_threads(before_); }

 private:
  int before_;
#else
  explicit PoolThreads(int) {}
  ~PoolThreads() {}
#endif
};

dnnl_status_t multiply(const Gemm& p, int threads) noexcept {
  const PoolThreads during_call(threads);
  return dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, 1.0f, p.a.as<float>(), p.lda,
                    p.b.as<float>(), p.ldb, p.accumulate ? 1.0f : 0.0f, p.c.as<float>(), p.ldc);
}

}  // namespace

void gemm_onednn(const Gemm& p) {
  const dnnl_status_t status = multiply(p, runtime_threads());
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  if (status != dnnl_success) throw std::runtime_error("dnnl_sgemm failed with status " + std::to_string(status));
}

bool gemm_onednn_alone(const Gemm& p) noexcept { return multiply(p, 1) == dnnl_success; }

const char* onednn_name() {
  static const std::string name = [] {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }();
  return name.c_str();
}

const void* onednn_code() { return reinterpret_cast<const void*>(&dnnl_version); }

}  // namespace moemesh::kernels::detail

#endif  // MOEMESH_HAVE_ONEDNN
