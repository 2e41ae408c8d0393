// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/element.hpp"

// Row-major matrix products in fp32 (accumulated in fp32). oneDNN where the build has it, else a portable Kokkos loop.
namespace moemesh::kernels {

// op(X) = X or its transpose; op(A) is [m, k], op(B) is [k, n], C is [m, n]; ld = row stride of the stored matrix.
struct Gemm {
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t lda = 0;
  const float* b = nullptr;
  int64_t ldb = 0;
  float* c = nullptr;
  int64_t ldc = 0;
  bool accumulate = false;  // C += op(A) op(B), else C = ; k == 0 gives 0 or leaves C
};
void gemm(const Gemm& product);

// The same, with bits of each row of C that depend on this row of op(A) and on B alone, and not on the other rows, on their
// number or on the threads: calls of a fixed shape, at most most_stable_rows each, the last one padded in `scratch`
// (stable_workspace floats). Not for transpose_a. The portable library's rows always have this, and need no scratch.
// That the library's calls of one shape treat all rows alike is an observation (oneDNN 2.6 with AVX2), which a unit test
// makes on the machine that it runs on.
inline constexpr int64_t most_stable_rows = 240;
int64_t stable_workspace(int64_t n, int64_t k);
void gemm_row_stable(const Gemm& product, float* scratch);

// How products of rows are made: fast, or row-stable where there is a scratch.
struct RowProducts {
  float* scratch = nullptr;
};

// Rows sorted by group (expert): group g has rows [offsets[g], offsets[g+1]); its matrix is weights + g * rows * cols.
// Empty groups are skipped: outputs of rows have none, and accumulated weight gradients keep what they hold.
struct Groups {
  int64_t count = 0;
  const int64_t* offsets = nullptr;  // host, count+1
};
// The groups' matrices, one after the other. bf16 ones are widened into `scratch` (of one matrix) before their product.
struct Weights {
  const std::byte* data = nullptr;
  Element element = Element::float32;
  float* scratch = nullptr;
};
// One matrix of `elements` elements as fp32.
const float* widened(const Weights& weights, int64_t group, int64_t elements);
// out[r, n] = in[r, k] * W_g^T, W_g stored [n, k]
void grouped_rows_times_transposed(const Groups& groups, int64_t n, int64_t k, const float* in, const Weights& weights,
                                   float* out, const RowProducts& how = {});
// out[r, n] = in[r, k] * W_g, W_g stored [k, n]; accumulate adds to out
void grouped_rows_times(const Groups& groups, int64_t n, int64_t k, const float* in, const Weights& weights, float* out,
                        bool accumulate, const RowProducts& how = {});
// dW_g[m, n] += left_g[r, m]^T * right_g[r, n]
void grouped_weight_gradient(const Groups& groups, int64_t m, int64_t n, const float* left, const float* right,
                             float* gradient);

const char* gemm_library();  // "oneDNN 2.6.0", "Kokkos"
const void* gemm_library_code();  // an address within it

}  // namespace moemesh::kernels
