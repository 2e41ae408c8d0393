/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "block_activations.h"

#include <stdlib.h>

#include "attention.h"
#include "check.h"
#include "numbers.h"

/* NULL where the layer reads fp32, which needs no copy. */
static void* allocate_rows(const BlockShape* shape, int64_t rows) {
  if (shape->dtype == MOEMESH_FLOAT32) return NULL;
  return allocate(rows * shape->hidden, (size_t)numbers_size(shape->dtype));
}

void block_activations_create(BlockActivations* kept, const BlockShape* shape, int64_t rows) {
  const AttentionShape attention_shape = {rows / shape->sequence, shape->sequence, shape->heads, 0};
  kept->attention_input = allocate(rows * shape->hidden, sizeof(float));
  kept->attention_scale = allocate(rows, sizeof(float));
  kept->queries = allocate(rows * shape->width, sizeof(float));
  kept->keys = allocate(rows * shape->width, sizeof(float));
  kept->values = allocate(rows * shape->width, sizeof(float));
  kept->probabilities = allocate(attention_count_probabilities(&attention_shape), sizeof(float));
  kept->mixed = allocate(rows * shape->width, sizeof(float));
  kept->middle = allocate(rows * shape->hidden, sizeof(float));
  kept->moe_input = allocate(rows * shape->hidden, sizeof(float));
  kept->moe_scale = allocate(rows, sizeof(float));
  kept->result = allocate(rows * shape->hidden, sizeof(float));
  kept->moe_rows = allocate_rows(shape, rows);
}

void block_activations_destroy(BlockActivations* kept) {
  void* const arrays[] = {kept->attention_input, kept->attention_scale, kept->queries, kept->keys,
                          kept->values,          kept->probabilities,   kept->mixed,   kept->middle,
                          kept->moe_input,       kept->moe_scale,       kept->result,  kept->moe_rows};
  moemesh_tape_destroy(&kept->tape);
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) free(arrays[i]);
}

void scratch_create(Scratch* scratch, const BlockShape* shape, int64_t rows) {
  scratch->dmixed = allocate(rows * shape->width, sizeof(float));
  scratch->dqueries = allocate(rows * shape->width, sizeof(float));
  scratch->dkeys = allocate(rows * shape->width, sizeof(float));
  scratch->dvalues = allocate(rows * shape->width, sizeof(float));
  scratch->dinput = allocate(rows * shape->hidden, sizeof(float));
  scratch->transposed = allocate(shape->hidden * shape->width, sizeof(float));
  scratch->rows_in = allocate_rows(shape, rows);
  scratch->rows_out = allocate_rows(shape, rows);
}

void scratch_destroy(Scratch* scratch) {
  void* const arrays[] = {scratch->dmixed, scratch->dqueries,   scratch->dkeys,   scratch->dvalues,
                          scratch->dinput, scratch->transposed, scratch->rows_in, scratch->rows_out};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) free(arrays[i]);
}
