// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/bfloat16.hpp"
#include "kernels/detail.hpp"
#include "kernels/gemm_backend.hpp"
#include "kernels/gemm_tile.hpp"

// Each element of C is added up in fp32 and in order of k, whatever its place: its bits depend on its own row and column
// only.
namespace moemesh::kernels::detail {
namespace {

template <class Call>
void with_strides(const Gemm& g, const Call& call) {
  const int64_t a_row = g.transpose_a ? 1 : g.lda, a_col = g.transpose_a ? g.lda : 1;
  const int64_t b_row = g.transpose_b ? 1 : g.ldb, b_col = g.transpose_b ? g.ldb : 1;
  const auto make = [&](auto in, auto out) {
    using In = decltype(in);
    using Out = decltype(out);
    return Product<In, Out>{g.m,          g.n,   g.k,   g.a.as<In>(),  a_row, a_col,
                            g.b.as<In>(), b_row, b_col, g.c.as<Out>(), g.ldc, g.accumulate};
  };
  if (g.a.element == Element::float32)
    call(make(float{}, float{}));
  else if (g.c.element == Element::float32)
    call(make(uint16_t{}, float{}));
  else
    call(make(uint16_t{}, uint16_t{}));
}

#ifdef MOEMESH_DEVICE_CUDA

// A team makes a tile of C; see gemm_tile.hpp.
template <class In, class Out>
void multiply(const Product<In, Out>& p) {
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::IndexType<int64_t>>;
  static const std::string label("moemesh::gemm");
  const int64_t tile_cols = ceil_div(p.n, Tile::cols), tiles = ceil_div(p.m, Tile::rows) * tile_cols;
  Policy policy(space(), static_cast<int>(tiles), Tile::threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(sizeof(Tile))));
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const Policy::member_type& team) {
        auto& tile = *static_cast<Tile*>(team.team_shmem().get_shmem_aligned(sizeof(Tile), 16));
        const int64_t at = team.league_rank(), row = at / tile_cols * Tile::rows, col = at % tile_cols * Tile::cols;
        const int thread = team.team_rank();
        Sums sums = first_sums(p, row, col, thread);
        for (int64_t piece = 0; piece < p.k; piece += Tile::depth) {
          load_tile(p, row, col, piece, thread, tile);
          team.team_barrier();
          add_tile(tile, thread, sums);
          team.team_barrier();
        }
        store_sums(p, row, col, thread, sums);
      });
}

#else

// One work item makes a block of C, kBlockRows x kBlockCols. It copies the part of op(B) that it needs to a small panel, a
// piece of k at a time, so that the inner loop reads it contiguously whether B is transposed or not.
constexpr int64_t kBlockRows = 64;
constexpr int64_t kBlockCols = 64;
constexpr int64_t kPiece = 64;  // of k

struct Block {
  int64_t row, rows, col, cols, piece, depth;
};

using Panel = float[kPiece][kBlockCols];
using BlockSums = float[kBlockRows][kBlockCols];

template <class In, class Out>
void pack_panel(const Product<In, Out>& p, const Block& at, Panel& panel) {
  for (int64_t i = 0; i < at.depth; ++i) {
    const In* from = p.b + (at.piece + i) * p.b_row + at.col * p.b_col;
    for (int64_t j = 0; j < at.cols; ++j) panel[i][j] = to_float(from[j * p.b_col]);
  }
}

// sum += a row of op(A) times the panel. Four steps of k at once, so that sum is read and written once for them.
template <class In>
void multiply_row(const Block& at, const In* a, int64_t a_col, const Panel& panel, float (&sum)[kBlockCols]) {
  int64_t i = 0;
  for (; i + 4 <= at.depth; i += 4) {
    const float a0 = to_float(a[i * a_col]), a1 = to_float(a[(i + 1) * a_col]), a2 = to_float(a[(i + 2) * a_col]),
                a3 = to_float(a[(i + 3) * a_col]);
    for (int64_t j = 0; j < at.cols; ++j) {
      sum[j] = sum[j] + a0 * panel[i][j] + a1 * panel[i + 1][j] + a2 * panel[i + 2][j] + a3 * panel[i + 3][j];
    }
  }
  for (; i < at.depth; ++i) {
    for (int64_t j = 0; j < at.cols; ++j) sum[j] += to_float(a[i * a_col]) * panel[i][j];
  }
}

template <class In, class Out>
void multiply_block(const Product<In, Out>& p, Block at) {
  Panel panel;
  BlockSums sums = {};
  if (p.accumulate) {
    for (int64_t r = 0; r < at.rows; ++r)
      for (int64_t j = 0; j < at.cols; ++j) sums[r][j] = to_float(p.c[(at.row + r) * p.ldc + at.col + j]);
  }
  for (at.piece = 0; at.piece < p.k; at.piece += kPiece) {
    at.depth = smaller(kPiece, p.k - at.piece);
    pack_panel(p, at, panel);
    for (int64_t r = 0; r < at.rows; ++r)
      multiply_row(at, p.a + (at.row + r) * p.a_row + at.piece * p.a_col, p.a_col, panel, sums[r]);
  }
  for (int64_t r = 0; r < at.rows; ++r)
    for (int64_t j = 0; j < at.cols; ++j) store(sums[r][j], &p.c[(at.row + r) * p.ldc + at.col + j]);
}

template <class In, class Out>
void multiply(const Product<In, Out>& p) {
  const int64_t block_cols = ceil_div(p.n, kBlockCols);
  for_each(
      "moemesh::gemm", ceil_div(p.m, kBlockRows) * block_cols, KOKKOS_LAMBDA(int64_t i) {
        const int64_t row = i / block_cols * kBlockRows, col = i % block_cols * kBlockCols;
        multiply_block(p, {row, smaller(kBlockRows, p.m - row), col, smaller(kBlockCols, p.n - col), 0, 0});
      });
}

#endif

}  // namespace

void gemm_portable(const Gemm& gemm) {
  with_strides(gemm, [](const auto& product) { multiply(product); });
}

}  // namespace moemesh::kernels::detail
