// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cuda_runtime_api.h>

// For the units of the CUDA flavour alone.
namespace moemesh::kernels::detail {

// Throws std::bad_alloc, or std::runtime_error with CUDA's name and text of the error.
void cuda_check(cudaError_t code, const char* what);

// The stream that this thread's kernels are launched on.
cudaStream_t current_stream();

}  // namespace moemesh::kernels::detail
