// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/gemm.hpp"

#include "kernels/bfloat16.hpp"
#include "kernels/detail.hpp"
#include "kernels/gemm_backend.hpp"
#include "kernels/runtime.hpp"

namespace moemesh::kernels {
namespace {

void zero_matrix(int64_t rows, int64_t width, float* matrix, int64_t ld) {
  detail::for_rows(
      "moemesh::zero_matrix", rows, KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        for (int64_t c = lane; c < width; c += detail::kLanes) matrix[r * ld + c] = 0;
      });
}

// Calls body(group, first row, rows) for each group that has rows.
template <class Body>
void for_filled_groups(const Groups& groups, const Body& body) {
  for (int64_t g = 0; g < groups.count; ++g) {
    const int64_t rows = groups.offsets[g + 1] - groups.offsets[g];
    if (rows > 0) body(g, groups.offsets[g], rows);
  }
}

void multiply(const Gemm& product, const RowProducts& how) {
  how.scratch ? gemm_row_stable(product, how.scratch) : gemm(product);
}

}  // namespace

void gemm(const Gemm& product) {
  if (product.m <= 0 || product.n <= 0) return;
  if (product.k <= 0) {
    if (!product.accumulate) zero_matrix(product.m, product.n, product.c, product.ldc);
    return;
  }
#if defined(MOEMESH_DEVICE_CUDA)
  detail::gemm_cublas(product);
#elif defined(MOEMESH_HAVE_ONEDNN)
  const detail::Unlocked access;
  detail::gemm_onednn(product);
#else
  detail::gemm_portable(product);
#endif
}

const float* widened(const Weights& weights, int64_t group, int64_t elements) {
  const std::byte* matrix = weights.data + group * elements * bytes_of(weights.element);
  if (weights.element == Element::float32) return reinterpret_cast<const float*>(matrix);
  const auto* from = reinterpret_cast<const uint16_t*>(matrix);
  float* to = weights.scratch;
  detail::for_tiles(
      "moemesh::widen", elements, KOKKOS_LAMBDA(int64_t first, int64_t end) {
        for (int64_t i = first; i < end; i += detail::kLanes) to[i] = to_float(from[i]);
      });
  return to;
}

void grouped_rows_times_transposed(const Groups& groups, int64_t n, int64_t k, const float* in, const Weights& weights,
                                   float* out, const RowProducts& how) {
  for_filled_groups(groups, [&](int64_t g, int64_t first, int64_t rows) {
    multiply({.transpose_b = true,
              .m = rows,
              .n = n,
              .k = k,
              .a = in + first * k,
              .lda = k,
              .b = widened(weights, g, n * k),
              .ldb = k,
              .c = out + first * n,
              .ldc = n},
             how);
  });
}

void grouped_rows_times(const Groups& groups, int64_t n, int64_t k, const float* in, const Weights& weights, float* out,
                        bool accumulate, const RowProducts& how) {
  for_filled_groups(groups, [&](int64_t g, int64_t first, int64_t rows) {
    multiply({.m = rows,
              .n = n,
              .k = k,
              .a = in + first * k,
              .lda = k,
              .b = widened(weights, g, n * k),
              .ldb = n,
              .c = out + first * n,
              .ldc = n,
              .accumulate = accumulate},
             how);
  });
}

void grouped_weight_gradient(const Groups& groups, int64_t m, int64_t n, const float* left, const float* right,
                             float* gradient) {
  for_filled_groups(groups, [&](int64_t g, int64_t first, int64_t rows) {
    gemm({.transpose_a = true,
          .m = m,
          .n = n,
          .k = rows,
          .a = left + first * m,
          .lda = m,
          .b = right + first * n,
          .ldb = n,
          .c = gradient + g * m * n,
          .ldc = n,
          .accumulate = true});
  });
}

const char* gemm_library() {
#if defined(MOEMESH_DEVICE_CUDA)
  return detail::cublas_name();
#elif defined(MOEMESH_HAVE_ONEDNN)
  return detail::onednn_name();
#else
  return "Kokkos";
#endif
}

const void* gemm_library_code() {
#if defined(MOEMESH_DEVICE_CUDA)
  return detail::cublas_code();
#elif defined(MOEMESH_HAVE_ONEDNN)
  return detail::onednn_code();
#else
  return kokkos_code();
#endif
}

}  // namespace moemesh::kernels
