// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Products whose rows are alike whatever their number: tiles of C of shapes that the widths alone decide, each made by one
// thread.
#include <atomic>
#include <stdexcept>

#include "kernels/detail.hpp"
#include "kernels/gemm.hpp"
#include "kernels/gemm_backend.hpp"

namespace moemesh::kernels {

#ifndef MOEMESH_HAVE_ONEDNN

int64_t stable_workspace(int64_t, int64_t) { return 1; }

#else

namespace {

using detail::ceil_div, detail::smaller;

constexpr int64_t kRowStep = 24;   // a multiple of the rows that the library's kernels take at once
constexpr int64_t kColumns = 512;  // of a tile: the cut must not depend on the rows or on the threads

// Rows in blocks of equal size, the last one padded.
struct Blocks {
  int64_t rows, count, last, padded;  // last: filled rows of the last block
};
Blocks blocks_of(int64_t rows) {
  const int64_t wanted = ceil_div(rows, most_stable_rows), size = ceil_div(ceil_div(rows, wanted), kRowStep) * kRowStep;
  const int64_t count = ceil_div(rows, size), last = rows - (count - 1) * size;
  return {size, count, last, ceil_div(last, kRowStep) * kRowStep};
}

void copy_matrix(int64_t rows, int64_t width, const float* from, int64_t ld_from, float* to, int64_t ld_to) {
  detail::for_rows(
      "moemesh::copy_matrix", rows, KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        for (int64_t c = lane; c < width; c += detail::kLanes) to[r * ld_to + c] = from[r * ld_from + c];
      });
}

// The last block's rows of A and C in `scratch`. What the padding holds touches no other row: finite, so that no product of
// it is slow.
Gemm padded_block(const Gemm& p, const Blocks& blocks, float* scratch) {
  const int64_t first = (blocks.count - 1) * blocks.rows;
  Gemm block = p;
  float *a = scratch, *c = scratch + most_stable_rows * p.k;
  copy_matrix(blocks.last, p.k, p.a.from(first * p.lda).as<float>(), p.lda, a, p.k);
  for (int64_t r = blocks.last; r < blocks.padded; ++r) copy_matrix(1, p.k, a, p.k, a + r * p.k, p.k);
  if (p.accumulate) {
    copy_matrix(blocks.last, p.n, p.c.from(first * p.ldc).as<float>(), p.ldc, c, p.n);
    for (int64_t r = blocks.last; r < blocks.padded; ++r) copy_matrix(1, p.n, c, p.n, c + r * p.n, p.n);
  }
  block.a = a;
  block.lda = p.k;
  block.c = c;
  block.ldc = p.n;
  block.m = blocks.padded;
  return block;
}

Gemm whole_block(const Gemm& p, const Blocks& blocks, int64_t index) {
  Gemm block = p;
  block.a = block.a.from(index * blocks.rows * p.lda);
  block.c = block.c.from(index * blocks.rows * p.ldc);
  block.m = blocks.rows;
  return block;
}

Gemm columns_of(Gemm block, int64_t first) {
  block.b = block.b.from(block.transpose_b ? first * block.ldb : first);
  block.c = block.c.from(first);
  block.n = smaller(kColumns, block.n - first);
  return block;
}

}  // namespace

int64_t stable_workspace(int64_t n, int64_t k) { return most_stable_rows * (n + k); }

namespace detail {

void gemm_onednn_tiles(const Gemm& product, float* scratch) {
  const Blocks blocks = blocks_of(product.m);
  const bool padded = blocks.last != blocks.rows;
  const Gemm last = padded ? padded_block(product, blocks, scratch) : whole_block(product, blocks, blocks.count - 1);
  const int64_t columns = ceil_div(product.n, kColumns);
  std::atomic<bool> failed = false;
  std::atomic<bool>* const told = &failed;
  for_each(
      "moemesh::gemm_row_stable", blocks.count * columns, KOKKOS_LAMBDA(int64_t tile) {
        const int64_t row = tile / columns, column = tile % columns * kColumns;
        const Gemm block = row + 1 < blocks.count ? whole_block(product, blocks, row) : last;
        if (!gemm_onednn_alone(columns_of(block, column))) told->store(true);
      });
  if constexpr (separate_memory) kernels::finish();
  if (failed) throw std::runtime_error("dnnl_sgemm failed");
  if (padded)
    copy_matrix(blocks.last, product.n, last.c.as<float>(), last.ldc,
                product.c.from((blocks.count - 1) * blocks.rows * product.ldc).as<float>(), product.ldc);
}

}  // namespace detail

#endif

}  // namespace moemesh::kernels
