/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * fp32 matrix products for the model's own dense parts, row-major, one thread. ld*: elements between rows.
 * `accumulate`: adds into C instead of overwriting it. */
#ifndef TRAIN_LM_MATMUL_H
#define TRAIN_LM_MATMUL_H

#include <stdint.h>

/* C[m, n] = A[m, k] B[k, n] */
void matmul(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c,
            int64_t ldc, int accumulate);

/* C[m, n] = A^T B with A[k, m], B[k, n] */
void matmul_left_transposed(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb,
                            float* c, int64_t ldc, int accumulate);

/* to[columns, rows] (dense) = the transpose of from[rows, columns] */
void transpose(int64_t rows, int64_t columns, const float* from, int64_t ld, float* to);

#endif
