// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/gemm.hpp"

#include <stdexcept>
#include <string>

#include "kernels/bfloat16.hpp"
#include "kernels/detail.hpp"
#include "kernels/gemm_backend.hpp"
#include "kernels/runtime.hpp"

namespace moemesh::kernels {
namespace {

template <class T>
void zero_matrix(int64_t rows, int64_t width, T* matrix, int64_t ld) {
  detail::for_rows(
      "moemesh::zero_matrix", rows, KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        for (int64_t c = lane; c < width; c += detail::kLanes) matrix[r * ld + c] = 0;
      });
}

// A product without terms.
void make_empty(const Gemm& p) {
  if (p.m <= 0 || p.n <= 0 || p.accumulate) return;
  if (p.c.element == Element::float32)
    zero_matrix(p.m, p.n, p.c.as<float>(), p.ldc);
  else
    zero_matrix(p.m, p.n, p.c.as<uint16_t>(), p.ldc);
}

bool is_empty(const Gemm& p) { return p.m <= 0 || p.n <= 0 || p.k <= 0; }

void check_elements(const Gemm& p) {
  if (p.a.element != p.b.element) throw std::invalid_argument("gemm: A and B have different elements");
  if (p.a.element == Element::float32 && p.c.element != Element::float32)
    throw std::invalid_argument("gemm: C of fp32 matrices must be fp32");
}

int64_t elements_of_b(const Gemm& p) { return (p.transpose_b ? p.n : p.k) * p.ldb; }

int64_t rows_of(const Groups& groups) {
  return groups.count > 0 ? groups.offsets[groups.count] - groups.offsets[0] : 0;
}

void make_grouped(const Groups& groups, const GroupedGemm& product, const RowProducts& how) {
  detail::make_by(maker_of(groups, product, how), groups, product, how);
}

}  // namespace

namespace detail {

Gemm of_group(const GroupedGemm& product, int64_t group, int64_t first_row, int64_t rows) {
  Gemm p = product.first;
  p.a = p.a.from(first_row * p.lda);
  if (p.transpose_a) {
    p.k = rows;
    p.b = p.b.from(first_row * p.ldb);
    p.c = p.c.from(group * p.m * p.ldc);
    return p;
  }
  p.m = rows;
  p.c = p.c.from(first_row * p.ldc);
  const int64_t matrix = elements_of_b(p);
  p.b = widens(product) ? ConstArray(kernels::widened({p.b.data, p.b.element, product.widened}, group, matrix))
                        : p.b.from(group * matrix);
  return p;
}

void make_by(Maker maker, const Gemm& product, const RowProducts& how) {
  check_elements(product);
  if (is_empty(product)) return make_empty(product);
  if (maker == Maker::portable) return gemm_portable(product);
#if defined(MOEMESH_DEVICE_CUDA)
  (void)how;
  if (maker == Maker::library) return gemm_cublas(product);
#elif defined(MOEMESH_HAVE_ONEDNN)
  if (maker == Maker::library_tiles) return gemm_onednn_tiles(product, how.scratch);
  const Unlocked access;
  if (maker == Maker::library) return gemm_onednn(product);
#else
  (void)how;
#endif
  throw std::invalid_argument(std::string("gemm: no ") + name_of(maker) + " product here");
}

void make_by(Maker maker, const Groups& groups, const GroupedGemm& product, const RowProducts& how) {
#ifdef MOEMESH_DEVICE_CUDA
  if (maker == Maker::library_grouped) return gemm_cublas_grouped(groups, product);
#endif
  for_filled_groups(
      groups, [&](int64_t g, int64_t first, int64_t rows) { make_by(maker, of_group(product, g, first, rows), how); });
}

}  // namespace detail

void gemm(const Gemm& product) { detail::make_by(maker_of(product), product); }

void gemm_row_stable(const Gemm& product, float* scratch) {
  const RowProducts how{scratch};
  detail::make_by(maker_of(product, how), product, how);
}

const float* widened(const Weights& weights, int64_t group, int64_t elements) {
  const std::byte* matrix = weights.data + group * elements * bytes_of(weights.element);
  if (weights.element == Element::float32) return reinterpret_cast<const float*>(matrix);
  const auto* from = reinterpret_cast<const uint16_t*>(matrix);
  float* to = weights.scratch;
  detail::for_flat(
      "moemesh::widen", elements, KOKKOS_LAMBDA(int64_t begin, int64_t end, int64_t lane) {
        detail::for_stretches(
            begin, end, lane, [=](auto at) { at.write(at.read(from), to); }, from, to);
      });
  return to;
}

void grouped_rows_times_transposed(const Groups& groups, int64_t n, int64_t k, const ConstArray& in,
                                   const Weights& weights, const Array& out, const RowProducts& how) {
  const Gemm first{.transpose_b = true,
                   .m = rows_of(groups),
                   .n = n,
                   .k = k,
                   .a = in,
                   .lda = k,
                   .b = {weights.data, weights.element},
                   .ldb = k,
                   .c = out,
                   .ldc = n};
  make_grouped(groups, {first, weights.scratch}, how);
}

void grouped_rows_times(const Groups& groups, int64_t n, int64_t k, const ConstArray& in, const Weights& weights,
                        const Array& out, bool accumulate, const RowProducts& how) {
  const Gemm first{.m = rows_of(groups),
                   .n = n,
                   .k = k,
                   .a = in,
                   .lda = k,
                   .b = {weights.data, weights.element},
                   .ldb = n,
                   .c = out,
                   .ldc = n,
                   .accumulate = accumulate};
  make_grouped(groups, {first, weights.scratch}, how);
}

void grouped_weight_gradient(const Groups& groups, int64_t m, int64_t n, const ConstArray& left,
                             const ConstArray& right, float* gradient) {
  const Gemm first{.transpose_a = true,
                   .m = m,
                   .n = n,
                   .k = rows_of(groups),
                   .a = left,
                   .lda = m,
                   .b = right,
                   .ldb = n,
                   .c = gradient,
                   .ldc = n,
                   .accumulate = true};
  make_grouped(groups, {first}, {});
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
