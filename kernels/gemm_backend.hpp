// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#pragma once

#include "kernels/gemm.hpp"

// What is behind gemm(). m, n, k >= 1 here.
namespace moemesh::kernels::detail {

void gemm_portable(const Gemm& product);

// MOEMESH_TEST_PRODUCTS has the word.
bool told_in_tests(const char* word);

inline bool widens(const GroupedGemm& product) { return product.first.a.element != product.first.b.element; }

// The same product of one group, `rows` rows that begin `first_row` further on.
Gemm of_group(const GroupedGemm& product, int64_t group, int64_t first_row, int64_t rows);
// By that maker, which must be able to.
void make_by(Maker maker, const Gemm& product, const RowProducts& how = {});
void make_by(Maker maker, const Groups& groups, const GroupedGemm& product, const RowProducts& how = {});

// Calls body(group, first row, rows) for each group that has rows.
template <class Body>
void for_filled_groups(const Groups& groups, const Body& body) {
  for (int64_t g = 0; g < groups.count; ++g) {
    const int64_t rows = groups.offsets[g + 1] - groups.offsets[g];
    if (rows > 0) body(g, groups.offsets[g] - groups.offsets[0], rows);
  }
}

#ifdef MOEMESH_DEVICE_CUDA
void gemm_cublas(const Gemm& product);
// Whether the grouped call takes such elements and places, and whether one group's product leaves the device idle.
bool cublas_groups(const GroupedGemm& product);
bool cublas_has_room(const Groups& groups, const GroupedGemm& product);
void gemm_cublas_grouped(const Groups& groups, const GroupedGemm& product);
const char* cublas_name();
const void* cublas_code();
#endif

#ifdef MOEMESH_HAVE_ONEDNN
void gemm_onednn(const Gemm& product);
// By the calling thread alone; false: no memory or another failure.
bool gemm_onednn_alone(const Gemm& product) noexcept;
void gemm_onednn_tiles(const Gemm& product, float* scratch);
const char* onednn_name();
const void* onednn_code();
#endif

}  // namespace moemesh::kernels::detail
