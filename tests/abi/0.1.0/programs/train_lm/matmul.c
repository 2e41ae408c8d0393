/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "matmul.h"

#include <string.h>

enum { TILE_ROWS = 6, TILE_VECTORS = 2 };

/* A with both its strides, so that one kernel serves A and its transpose. */
typedef struct Operands {
  const float* a;
  int64_t a_row;
  int64_t a_column;
  const float* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
  int64_t k;
  int accumulate;
} Operands;

typedef void (*Kernel)(const Operands* o, int64_t m, int64_t n);

#define KERNEL(name) name##_baseline
#define LANES 4
#define TARGET
#include "matmul_kernel.h"
#undef KERNEL
#undef TARGET
#undef LANES

#if defined(__x86_64__)
#define KERNEL(name) name##_avx2
#define LANES 8
#define TARGET __attribute__((target("avx2,fma")))
#include "matmul_kernel.h"
#undef KERNEL
#undef TARGET
#undef LANES

#define KERNEL(name) name##_avx512
#define LANES 16
#define TARGET __attribute__((target("avx512f")))
#include "matmul_kernel.h"
#undef KERNEL
#undef TARGET
#undef LANES

static Kernel best_kernel(void) {
  if (__builtin_cpu_supports("avx512f")) return multiply_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return multiply_avx2;
  return multiply_baseline;
}
#else
static Kernel best_kernel(void) { return multiply_baseline; }
#endif

static void multiply(const Operands* o, int64_t m, int64_t n) {
  static Kernel kernel; /* one thread calls */
  if (kernel == NULL) kernel = best_kernel();
  kernel(o, m, n);
}

void matmul(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c,
            int64_t ldc, int accumulate) {
  const Operands operands = {a, lda, 1, b, ldb, c, ldc, k, accumulate};
  multiply(&operands, m, n);
}

void matmul_left_transposed(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb,
                            float* c, int64_t ldc, int accumulate) {
  const Operands operands = {a, 1, lda, b, ldb, c, ldc, k, accumulate};
  multiply(&operands, m, n);
}

void transpose(int64_t rows, int64_t columns, const float* from, int64_t ld, float* to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * ld + j];
}
