// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/detail.hpp"
#include "kernels/gemm_backend.hpp"

// One work item makes a block of C, kBlockRows x kBlockCols. It copies the part of op(B) that it needs to a small
// panel, a piece of k at a time, so that the inner loop reads it contiguously whether B is transposed or not. Each
// element of C is added up in order of k, whatever its place in the block: its bits depend on its own row and column
// only.
namespace moemesh::kernels::detail {
namespace {

constexpr int64_t kBlockRows = 64;
constexpr int64_t kBlockCols = 64;
constexpr int64_t kPiece = 64;  // of k

struct Product {
  int64_t m, n, k;
  const float* a;
  int64_t a_row, a_col;  // strides of op(A)
  const float* b;
  int64_t b_row, b_col;  // strides of op(B)
  float* c;
  int64_t ldc;
  bool accumulate;
};

Product as_product(const Gemm& g) {
  return {g.m,
          g.n,
          g.k,
          g.a,
          g.transpose_a ? 1 : g.lda,
          g.transpose_a ? g.lda : 1,
          g.b,
          g.transpose_b ? 1 : g.ldb,
          g.transpose_b ? g.ldb : 1,
          g.c,
          g.ldc,
          g.accumulate};
}

struct Block {
  int64_t row, rows, col, cols, piece, depth;
};

using Panel = float[kPiece][kBlockCols];

KOKKOS_INLINE_FUNCTION void pack_panel(const Product& p, const Block& at, Panel& panel) {
  for (int64_t i = 0; i < at.depth; ++i) {
    const float* from = p.b + (at.piece + i) * p.b_row + at.col * p.b_col;
    for (int64_t j = 0; j < at.cols; ++j) panel[i][j] = from[j * p.b_col];
  }
}

// sum += a row of op(A) times the panel. Four steps of k at once, so that sum is read and written once for them.
KOKKOS_INLINE_FUNCTION void multiply_row(const Block& at, const float* a, int64_t a_col, const Panel& panel,
                                         float (&sum)[kBlockCols]) {
  int64_t i = 0;
  for (; i + 4 <= at.depth; i += 4) {
    const float a0 = a[i * a_col], a1 = a[(i + 1) * a_col], a2 = a[(i + 2) * a_col], a3 = a[(i + 3) * a_col];
    for (int64_t j = 0; j < at.cols; ++j) {
      sum[j] = sum[j] + a0 * panel[i][j] + a1 * panel[i + 1][j] + a2 * panel[i + 2][j] + a3 * panel[i + 3][j];
    }
  }
  for (; i < at.depth; ++i) {
    for (int64_t j = 0; j < at.cols; ++j) sum[j] += a[i * a_col] * panel[i][j];
  }
}

KOKKOS_INLINE_FUNCTION void add_piece(const Product& p, const Block& at, int64_t row, const Panel& panel) {
  float sum[kBlockCols] = {};
  float* c = p.c + row * p.ldc + at.col;
  if (p.accumulate || at.piece > 0) {
    for (int64_t j = 0; j < at.cols; ++j) sum[j] = c[j];
  }
  multiply_row(at, p.a + row * p.a_row + at.piece * p.a_col, p.a_col, panel, sum);
  for (int64_t j = 0; j < at.cols; ++j) c[j] = sum[j];
}

KOKKOS_INLINE_FUNCTION void multiply_block(const Product& p, Block at) {
  Panel panel;
  for (at.piece = 0; at.piece < p.k; at.piece += kPiece) {
    at.depth = smaller(kPiece, p.k - at.piece);
    pack_panel(p, at, panel);
    for (int64_t r = at.row; r < at.row + at.rows; ++r) add_piece(p, at, r, panel);
  }
}

}  // namespace

void gemm_portable(const Gemm& gemm) {
  const Product p = as_product(gemm);
  const int64_t block_cols = ceil_div(p.n, kBlockCols);
  for_each(
      "moemesh::gemm", ceil_div(p.m, kBlockRows) * block_cols, KOKKOS_LAMBDA(int64_t i) {
        const int64_t row = i / block_cols * kBlockRows, col = i % block_cols * kBlockCols;
        multiply_block(p, {row, smaller(kBlockRows, p.m - row), col, smaller(kBlockCols, p.n - col), 0, 0});
      });
}

}  // namespace moemesh::kernels::detail
