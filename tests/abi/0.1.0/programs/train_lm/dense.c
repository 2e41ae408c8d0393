/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "dense.h"

#include <math.h>
#include <string.h>

void embed(const Batch* batch, int64_t hidden, const float* token, const float* position, float* y) {
  for (int64_t row = 0; row < batch->sequences * batch->sequence; ++row) {
    const float* what = token + batch->input[row] * hidden;
    const float* where = position + row % batch->sequence * hidden;
    for (int64_t h = 0; h < hidden; ++h) y[row * hidden + h] = what[h] + where[h];
  }
}

void embed_backward(const Batch* batch, int64_t hidden, const float* dy, float* token_gradient,
                    float* position_gradient) {
  for (int64_t row = 0; row < batch->sequences * batch->sequence; ++row) {
    float* what = token_gradient + batch->input[row] * hidden;
    float* where = position_gradient + row % batch->sequence * hidden;
    for (int64_t h = 0; h < hidden; ++h) what[h] += dy[row * hidden + h];
    for (int64_t h = 0; h < hidden; ++h) where[h] += dy[row * hidden + h];
  }
}

static float dot(int64_t count, const float* a, const float* b) {
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

void rms_norm(int64_t rows, int64_t hidden, const float* x, const float* gain, float* y, float* scale) {
  for (int64_t row = 0; row < rows; ++row, x += hidden, y += hidden) {
    scale[row] = 1 / sqrtf(dot(hidden, x, x) / (float)hidden + 1e-5f);
    for (int64_t h = 0; h < hidden; ++h) y[h] = x[h] * scale[row] * gain[h];
  }
}

/* With n = x*scale and g = dy*gain: dx = scale * (g - n * mean(g*n)). */
void rms_norm_backward(int64_t rows, int64_t hidden, const float* x, const float* gain, const float* scale,
                       const float* dy, float* dx, float* gain_gradient) {
  for (int64_t row = 0; row < rows; ++row, x += hidden, dy += hidden, dx += hidden) {
    const float s = scale[row];
    float mean = 0;
    for (int64_t h = 0; h < hidden; ++h) mean += dy[h] * gain[h] * x[h];
    mean *= s / (float)hidden;
    for (int64_t h = 0; h < hidden; ++h) dx[h] += s * (dy[h] * gain[h] - x[h] * s * mean);
    for (int64_t h = 0; h < hidden; ++h) gain_gradient[h] += dy[h] * x[h] * s;
  }
}

/* Turns logits into probabilities; returns -log of the target's. */
static double softmax_loss(float* logits, int target) {
  float largest = logits[0];
  for (int i = 1; i < VOCABULARY; ++i) largest = logits[i] > largest ? logits[i] : largest;
  const double shifted = (double)(logits[target] - largest);
  double sum = 0;
  for (int i = 0; i < VOCABULARY; ++i) {
    logits[i] = expf(logits[i] - largest);
    sum += (double)logits[i];
  }
  const float inverse = (float)(1 / sum);
  for (int i = 0; i < VOCABULARY; ++i) logits[i] *= inverse;
  return log(sum) - shifted;
}

double cross_entropy(const Batch* batch, int64_t counted, float* logits) {
  const float weight = counted > 0 ? 1 / (float)counted : 0;
  double loss = 0;
  for (int64_t row = 0; row < batch->sequences * batch->sequence; ++row, logits += VOCABULARY) {
    if (!batch->scored[row]) {
      memset(logits, 0, VOCABULARY * sizeof *logits);
      continue;
    }
    loss += softmax_loss(logits, batch->target[row]);
    logits[batch->target[row]] -= 1;
    for (int i = 0; i < VOCABULARY; ++i) logits[i] *= weight;
  }
  return loss;
}
