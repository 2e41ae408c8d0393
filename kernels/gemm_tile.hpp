// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kernels/bfloat16.hpp"

// The portable product as a device makes it: 256 threads make a tile of C of 64 x 64 elements. A piece of both operands at a
// time goes to fast memory that they share, and each thread adds to its 4 x 4 elements in registers: of 16 steps of k, 2 x
// 4 KB are read for 2 x 64 x 64 x 16 operations. The threads of the functions below are numbers, so that a test can be all
// of them.
namespace moemesh::kernels::detail {

template <class In, class Out>
struct Product {
  int64_t m, n, k;
  const In* a;
  int64_t a_row, a_col;  // strides of op(A)
  const In* b;
  int64_t b_row, b_col;  // strides of op(B)
  Out* c;
  int64_t ldc;
  bool accumulate;
};

// Operands of a tile; the padding keeps the columns in different banks of the memory when they are written.
struct Tile {
  static constexpr int rows = 64, cols = 64, depth = 16, threads = 256, side = 16, each = 4;
  float a[depth][rows + 4];
  float b[depth][cols + 4];
};

// A thread's elements of C: rows and columns that are `side` apart, so that neighbours have neighbouring columns.
struct Sums {
  float of[Tile::each][Tile::each];
};

KOKKOS_INLINE_FUNCTION int64_t tile_row(int thread, int i) { return thread / Tile::side + i * Tile::side; }
KOKKOS_INLINE_FUNCTION int64_t tile_col(int thread, int j) { return thread % Tile::side + j * Tile::side; }

template <class In, class Out>
KOKKOS_INLINE_FUNCTION Sums first_sums(const Product<In, Out>& p, int64_t row, int64_t col, int thread) {
  Sums sums = {};
  for (int i = 0; i < Tile::each; ++i)
    for (int j = 0; j < Tile::each; ++j) {
      const int64_t r = row + tile_row(thread, i), c = col + tile_col(thread, j);
      if (p.accumulate && r < p.m && c < p.n) sums.of[i][j] = to_float(p.c[r * p.ldc + c]);
    }
  return sums;
}

// One operand's piece, [depth][64]: the threads run along the direction in which its elements are adjacent. Beyond the matrix:
// zeros.
template <class In>
KOKKOS_INLINE_FUNCTION void load_piece(const In* from, int64_t along, int64_t deep, int64_t count, int64_t depth,
                                       int thread, float (&to)[Tile::depth][Tile::rows + 4]) {
  constexpr int size = Tile::rows * Tile::depth;
  for (int i = thread; i < size; i += Tile::threads) {
    const int x = along == 1 ? i % Tile::rows : i / Tile::depth, z = along == 1 ? i / Tile::rows : i % Tile::depth;
    to[z][x] = x < count && z < depth ? to_float(from[x * along + z * deep]) : 0.0f;
  }
}

template <class In, class Out>
KOKKOS_INLINE_FUNCTION void load_tile(const Product<In, Out>& p, int64_t row, int64_t col, int64_t piece, int thread,
                                      Tile& tile) {
  load_piece(p.a + row * p.a_row + piece * p.a_col, p.a_row, p.a_col, p.m - row, p.k - piece, thread, tile.a);
  load_piece(p.b + piece * p.b_row + col * p.b_col, p.b_col, p.b_row, p.n - col, p.k - piece, thread, tile.b);
}

KOKKOS_INLINE_FUNCTION void add_tile(const Tile& tile, int thread, Sums& sums) {
  for (int k = 0; k < Tile::depth; ++k)
    for (int i = 0; i < Tile::each; ++i)
      for (int j = 0; j < Tile::each; ++j)
        sums.of[i][j] += tile.a[k][tile_row(thread, i)] * tile.b[k][tile_col(thread, j)];
}

template <class In, class Out>
KOKKOS_INLINE_FUNCTION void store_sums(const Product<In, Out>& p, int64_t row, int64_t col, int thread,
                                       const Sums& sums) {
  for (int i = 0; i < Tile::each; ++i)
    for (int j = 0; j < Tile::each; ++j) {
      const int64_t r = row + tile_row(thread, i), c = col + tile_col(thread, j);
      if (r < p.m && c < p.n) store(sums.of[i][j], &p.c[r * p.ldc + c]);
    }
}

}  // namespace moemesh::kernels::detail
