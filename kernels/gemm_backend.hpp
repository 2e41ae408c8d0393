// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#pragma once

#include "kernels/gemm.hpp"

// The libraries behind gemm(). m, n, k >= 1 here.
namespace moemesh::kernels::detail {

void gemm_portable(const Gemm& product);

#ifdef MOEMESH_DEVICE_CUDA
void gemm_cublas(const Gemm& product);
const char* cublas_name();
const void* cublas_code();
#endif

#ifdef MOEMESH_HAVE_ONEDNN
void gemm_onednn(const Gemm& product);
// By the calling thread alone; false: no memory or another failure.
bool gemm_onednn_alone(const Gemm& product) noexcept;
const char* onednn_name();
const void* onednn_code();
#endif

}  // namespace moemesh::kernels::detail
