/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The model's small dense parts: embedding, norm, loss. Backward functions add into weight gradients. */
#ifndef TRAIN_LM_DENSE_H
#define TRAIN_LM_DENSE_H

#include "batch.h"

enum { VOCABULARY = 256 };

/* y[row] = token[byte of row] + position[place of row in its sequence] */
void embed(const Batch* batch, int64_t hidden, const float* token, const float* position, float* y);
void embed_backward(const Batch* batch, int64_t hidden, const float* dy, float* token_gradient,
                    float* position_gradient);

/* y = x / sqrt(mean(x^2) + 1e-5) * gain, per row; `scale` keeps 1/sqrt(...) of each row for the backward. */
void rms_norm(int64_t rows, int64_t hidden, const float* x, const float* gain, float* y, float* scale);
/* Adds into dx. */
void rms_norm_backward(int64_t rows, int64_t hidden, const float* x, const float* gain, const float* scale,
                       const float* dy, float* dx, float* gain_gradient);

/* The sum of -log softmax(logits)[target] over the scored rows. Overwrites the logits by the gradient of the MEAN over
 * `counted` rows; rows that are not scored get zeros. */
double cross_entropy(const Batch* batch, int64_t counted, float* logits);

#endif
