/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "ends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dense.h"
#include "matmul.h"

static const double token_size = 0.5;
static const double position_size = 0.5;

static void register_embedding(Ends* ends, const Options* options, moemesh_family shared) {
  weight_register_matrix(&ends->position, shared, "position", options->sequence, ends->hidden, 0, WEIGHT_WHOLE);
  if (!ends->tied)
    weight_register_matrix(&ends->token, shared, "token", VOCABULARY, ends->hidden, token_size, WEIGHT_WHOLE);
}

static void register_head(Ends* ends, moemesh_family shared) {
  weight_register_gain(&ends->norm, shared, "norm", ends->hidden);
  if (!ends->tied)
    weight_register_matrix(&ends->head, shared, "head", ends->hidden, VOCABULARY, 0.5 / sqrt((double)ends->hidden),
                           WEIGHT_WHOLE);
}

void ends_create(Ends* ends, const Session* session, const Options* options, moemesh_family shared, int64_t rows) {
  *ends = (Ends){.has_embedding = session->stage == 0, .has_head = session->stage == session->stages - 1};
  ends->tied = options->tied != 0;
  ends->hidden = options->hidden;
  if (ends->has_embedding) register_embedding(ends, options, shared);
  if (ends->has_head) register_head(ends, shared);
  if (ends->tied && (ends->has_embedding || ends->has_head))
    weight_register_tied(&ends->token, shared, "token", VOCABULARY, ends->hidden, token_size);
  if (!ends->has_head) return;
  ends->head_transposed = allocate(ends->hidden * VOCABULARY, sizeof(float));
  ends->dnormed = allocate(rows * ends->hidden, sizeof(float));
}

void ends_destroy(Ends* ends) {
  Weight* const weights[] = {&ends->token, &ends->position, &ends->norm, &ends->head};
  for (size_t i = 0; i < sizeof weights / sizeof *weights; ++i) weight_free(weights[i]);
  free(ends->head_transposed);
  free(ends->dnormed);
}

/* Positions start as sines and cosines of falling frequency, in which "one byte back" is the same turn everywhere: from
 * random positions attention takes hundreds of steps to find that out. */
void ends_write_positions(Ends* ends, const Options* options) {
  if (!ends->has_embedding) return;
  const double slowest = 1e-3;
  const int64_t hidden = ends->hidden;
  float* positions = allocate(options->sequence * hidden, sizeof *positions);
  for (int64_t place = 0; place < options->sequence; ++place)
    for (int64_t h = 0; h < hidden; ++h) {
      const double angle = (double)place * pow(slowest, (double)(h / 2 * 2) / (double)hidden);
      positions[place * hidden + h] = (float)(position_size * (h % 2 == 0 ? sin(angle) : cos(angle)));
    }
  moemesh_view view;
  CHECK(moemesh_view_init(&view, MOEMESH_FLOAT32, 2, (const int64_t[]){options->sequence, hidden}, positions));
  CHECK(moemesh_parameter_write(ends->position.handle, MOEMESH_VALUE, 0, &view));
  free(positions);
}

int64_t ends_count_elements(const Ends* ends) {
  int64_t elements = 0;
  if (ends->has_embedding) elements += weight_count(ends->token.handle) + weight_count(ends->position.handle);
  if (ends->has_head) elements += weight_count(ends->norm.handle);
  if (ends->has_head && !ends->tied) elements += weight_count(ends->head.handle);
  return elements;
}

void head_activations_create(HeadActivations* kept, int64_t hidden, int64_t rows) {
  kept->normed = allocate(rows * hidden, sizeof(float));
  kept->scale = allocate(rows, sizeof(float));
  kept->logits = allocate(rows * VOCABULARY, sizeof(float));
}

void head_activations_destroy(HeadActivations* kept) {
  free(kept->normed);
  free(kept->scale);
  free(kept->logits);
}

void embedding_forward(Ends* ends, const Batch* batch, float* y) {
  weight_acquire(&ends->token);
  weight_acquire(&ends->position);
  embed(batch, ends->hidden, ends->token.value, ends->position.value, y);
  weight_release(&ends->position);
  weight_release(&ends->token);
}

void embedding_backward(Ends* ends, const Batch* batch, const float* gradient) {
  weight_acquire_with_gradient(&ends->token);
  weight_acquire_with_gradient(&ends->position);
  embed_backward(batch, ends->hidden, gradient, ends->token.gradient, ends->position.gradient);
  weight_ready(&ends->token);
  weight_ready(&ends->position);
  weight_release(&ends->position);
  weight_release(&ends->token);
}

static Weight* head_weight(Ends* ends) { return ends->tied ? &ends->token : &ends->head; }

static void scale(float* data, int64_t count, float factor) {
  for (int64_t i = 0; i < count; ++i) data[i] *= factor;
}

/* An embedding's values are too large for a head by this much. */
static float tied_factor(const Ends* ends) { return 1 / sqrtf((float)ends->hidden); }

/* kept->logits = normed head, or normed token^T / sqrt(hidden) */
static void multiply_by_head(Ends* ends, int64_t rows, HeadActivations* kept) {
  const int64_t hidden = ends->hidden;
  const float* head = ends->head.value;
  if (ends->tied) {
    scale(kept->normed, rows * hidden, tied_factor(ends));
    transpose(VOCABULARY, hidden, ends->token.value, hidden, ends->head_transposed);
    head = ends->head_transposed;
  }
  matmul(rows, VOCABULARY, hidden, kept->normed, hidden, head, VOCABULARY, kept->logits, VOCABULARY, 0);
}

double head_forward(Ends* ends, const Batch* batch, const float* x, HeadActivations* kept) {
  const int64_t rows = batch->sequences * batch->sequence;
  weight_acquire(&ends->norm);
  weight_acquire(head_weight(ends));
  rms_norm(rows, ends->hidden, x, ends->norm.value, kept->normed, kept->scale);
  multiply_by_head(ends, rows, kept);
  weight_release(head_weight(ends));
  weight_release(&ends->norm);
  return cross_entropy(batch, rows, kept->logits);
}

static void own_head_backward(Ends* ends, int64_t rows, const HeadActivations* kept) {
  const int64_t hidden = ends->hidden;
  matmul_left_transposed(hidden, VOCABULARY, rows, kept->normed, hidden, kept->logits, VOCABULARY, ends->head.gradient,
                         VOCABULARY, 1);
  transpose(hidden, VOCABULARY, ends->head.value, VOCABULARY, ends->head_transposed);
  matmul(rows, hidden, VOCABULARY, kept->logits, VOCABULARY, ends->head_transposed, hidden, ends->dnormed, hidden, 0);
}

static void tied_head_backward(Ends* ends, int64_t rows, const HeadActivations* kept) {
  const int64_t hidden = ends->hidden;
  matmul_left_transposed(VOCABULARY, hidden, rows, kept->logits, VOCABULARY, kept->normed, hidden, ends->token.gradient,
                         hidden, 1);
  matmul(rows, hidden, VOCABULARY, kept->logits, VOCABULARY, ends->token.value, hidden, ends->dnormed, hidden, 0);
  scale(ends->dnormed, rows * hidden, tied_factor(ends));
}

/* A tied matrix whose embedding is on this stage too is ready after that one's backward. */
void head_backward(Ends* ends, int64_t rows, const float* x, const HeadActivations* kept, float* gradient) {
  Weight* head = head_weight(ends);
  weight_acquire_with_gradient(&ends->norm);
  weight_acquire_with_gradient(head);
  (ends->tied ? tied_head_backward : own_head_backward)(ends, rows, kept);
  memset(gradient, 0, (size_t)(rows * ends->hidden) * sizeof *gradient);
  rms_norm_backward(rows, ends->hidden, x, ends->norm.value, kept->scale, ends->dnormed, gradient, ends->norm.gradient);
  if (!ends->tied || !ends->has_embedding) weight_ready(head);
  weight_ready(&ends->norm);
  weight_release(head);
  weight_release(&ends->norm);
}
