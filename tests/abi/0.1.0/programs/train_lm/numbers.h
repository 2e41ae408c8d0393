/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * This program computes in fp32. Where the families are bf16, rows are converted at the MoE layers' and the pipeline's
 * boundary, and weights when they are acquired. */
#ifndef TRAIN_LM_NUMBERS_H
#define TRAIN_LM_NUMBERS_H

#include <stdint.h>

/* dtype: MOEMESH_FLOAT32 (copies) or MOEMESH_BFLOAT16. */
void numbers_widen(int32_t dtype, int64_t count, const void* from, float* to);
/* Rounds to nearest, ties to even. */
void numbers_narrow(int32_t dtype, int64_t count, const float* from, void* to);

int64_t numbers_size(int32_t dtype);

#endif
