// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/element.hpp"

// Row-major matrix products, accumulated in fp32: by a library where the build has one that takes the elements, else by a
// portable Kokkos loop.
namespace moemesh::kernels {

// op(X) = X or its transpose; op(A) is [m, k], op(B) is [k, n], C is [m, n]; ld = row stride of the stored matrix. A and B
// have the same element. C of two fp32 matrices is fp32; of two bf16 ones it is either, rounded once in the end.
struct Gemm {
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  ConstArray a = {};
  int64_t lda = 0;
  ConstArray b = {};
  int64_t ldb = 0;
  Array c = {};
  int64_t ldc = 0;
  bool accumulate = false;  // C += op(A) op(B), else C = ; k == 0 gives 0 or leaves C
};
void gemm(const Gemm& product);

// The same, with bits of each row of C that depend on this row of op(A) and on B alone, and not on the other rows, on their
// number or on the threads. Not for transpose_a. The portable loop's rows always have this: they are used where there is no
// such promise of a library, of cuBLAS (which picks its code by the shape) and for bf16 everywhere. oneDNN gets calls of a
// fixed shape, at most most_stable_rows each, the last one padded in `scratch` (stable_workspace floats); that its calls of
// one shape treat all rows alike is an observation (oneDNN 2.6 with AVX2), which a unit test makes on the machine that it
// runs on.
inline constexpr int64_t most_stable_rows = 240;
int64_t stable_workspace(int64_t n, int64_t k);
void gemm_row_stable(const Gemm& product, float* scratch);

// How products of rows are made: fast, or row-stable where there is a scratch.
struct RowProducts {
  float* scratch = nullptr;
};

// Rows sorted by group (expert): group g has rows [offsets[g], offsets[g+1]), counted from the first group's first, where
// the arrays of rows begin; its matrix is weights + g * rows * cols. Empty groups are skipped: outputs of rows have none, and
// accumulated weight gradients keep what they hold.
struct Groups {
  int64_t count = 0;
  const int64_t* offsets = nullptr;  // host, count+1
};
// The groups' matrices, one after the other. bf16 ones that fp32 rows are multiplied with are widened into `scratch` (of one
// matrix) before their product.
struct Weights {
  const std::byte* data = nullptr;
  Element element = Element::float32;
  float* scratch = nullptr;
};
// One matrix of `elements` elements as fp32.
const float* widened(const Weights& weights, int64_t group, int64_t elements);
// out[r, n] = in[r, k] * W_g^T, W_g stored [n, k]
void grouped_rows_times_transposed(const Groups& groups, int64_t n, int64_t k, const ConstArray& in,
                                   const Weights& weights, const Array& out, const RowProducts& how = {});
// out[r, n] = in[r, k] * W_g, W_g stored [k, n]; accumulate adds to out
void grouped_rows_times(const Groups& groups, int64_t n, int64_t k, const ConstArray& in, const Weights& weights,
                        const Array& out, bool accumulate, const RowProducts& how = {});
// dW_g[m, n] += left_g[r, m]^T * right_g[r, n]
void grouped_weight_gradient(const Groups& groups, int64_t m, int64_t n, const ConstArray& left,
                             const ConstArray& right, float* gradient);

// Who makes a product: the library, with one call for each group or for all of them, or with the calls that make its rows
// stable; or the portable loop. What these say is what the functions above do.
enum class Maker : int32_t { portable = 1, library, library_grouped, library_tiles };
const char* name_of(Maker maker);
Maker maker_of(const Gemm& product, const RowProducts& how = {});
// The products of groups as the functions above make them. `first` is the one of the first group, with all the groups' rows:
// as m, or where transpose_a as k (then each group has a C of its own, else a B).
struct GroupedGemm {
  Gemm first;
  float* widened = nullptr;  // B is bf16 and A is not: where a matrix of B is widened
};
Maker maker_of(const Groups& groups, const GroupedGemm& product, const RowProducts& how = {});

// Rows that are multiplied with matrices of bf16 are bf16 where products of bf16 are what the device is fast at; a host's
// are fp32, and the matrices are widened. Products of all groups are made together on a device, which one group's may leave
// idle; on a host one group after the other, as what a product writes is still in the cache for the next.
// For tests and measurements: the environment variable MOEMESH_TEST_PRODUCTS, read once, with the words "device" (as on a
// device, also where there is none), "portable" (no library), and of a library that has both "grouped" or "loop" (wherever it
// can).
Element row_element(Element weights);
bool groups_together();

const char* gemm_library();       // "oneDNN 2.6.0", "Kokkos"
const void* gemm_library_code();  // an address within it

}  // namespace moemesh::kernels
