/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The kernel of matmul.c, included once for each instruction set: KERNEL(name) makes the names, TARGET is the
 * functions' attribute, LANES the floats of a register. (target_clones is no way here: vector types are cut down to the
 * baseline before it makes its copies.) */

#define INLINE static inline __attribute__((always_inline)) TARGET

typedef float KERNEL(Lanes) __attribute__((vector_size(LANES * sizeof(float))));

/* C += or = for `rows` rows and `vectors` registers of columns. Both are constants at each call, so that the loops over
 * them are unrolled and the sums stay in registers. */
INLINE void KERNEL(tile)(const Operands* o, int64_t i, int64_t j, const int rows, const int vectors) {
  KERNEL(Lanes) sums[TILE_ROWS][TILE_VECTORS] = {{{0}}};
  const float* a = o->a + i * o->a_row;
  const float* b = o->b + j;
  for (int64_t p = 0; p < o->k; ++p, a += o->a_column, b += o->b_row) {
    KERNEL(Lanes) line[TILE_VECTORS];
    memcpy(line, b, (size_t)vectors * sizeof *line);
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) sums[r][v] += a[r * o->a_row] * line[v];
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      float* c = o->c + (i + r) * o->c_row + j + v * LANES;
      KERNEL(Lanes) old = {0};
      if (o->accumulate) memcpy(&old, c, sizeof old);
      old += sums[r][v];
      memcpy(c, &old, sizeof old);
    }
}

/* One element of the columns that fill no tile. */
INLINE void KERNEL(edge)(const Operands* o, int64_t i, int64_t j) {
  float sum = o->accumulate ? o->c[i * o->c_row + j] : 0;
  for (int64_t p = 0; p < o->k; ++p) sum += o->a[i * o->a_row + p * o->a_column] * o->b[p * o->b_row + j];
  o->c[i * o->c_row + j] = sum;
}

INLINE void KERNEL(tile_column)(const Operands* o, int64_t m, int64_t j, const int vectors) {
  int64_t i = 0;
  for (; i + TILE_ROWS <= m; i += TILE_ROWS) KERNEL(tile)(o, i, j, TILE_ROWS, vectors);
  for (; i + 2 <= m; i += 2) KERNEL(tile)(o, i, j, 2, vectors);
  if (i < m) KERNEL(tile)(o, i, j, 1, vectors);
}

TARGET static void KERNEL(multiply)(const Operands* o, int64_t m, int64_t n) {
  int64_t j = 0;
  for (; j + TILE_VECTORS * LANES <= n; j += TILE_VECTORS * LANES) KERNEL(tile_column)(o, m, j, TILE_VECTORS);
  for (; j + LANES <= n; j += LANES) KERNEL(tile_column)(o, m, j, 1);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t column = j; column < n; ++column) KERNEL(edge)(o, i, column);
}

#undef INLINE
