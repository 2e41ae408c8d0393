/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What one microbatch leaves in one block from its forward to its backward. A block has one for each microbatch that
 * its stage holds at a time. */
#ifndef TRAIN_LM_BLOCK_ACTIVATIONS_H
#define TRAIN_LM_BLOCK_ACTIVATIONS_H

#include "moemesh.h"

/* What is the same for all blocks of this rank. */
typedef struct BlockShape {
  moemesh_mesh mesh;
  int32_t dtype; /* of the families, and so of what the MoE layer reads */
  int64_t hidden;
  int64_t heads; /* of this tp rank */
  int64_t width; /* of this tp rank's heads together */
  int64_t sequence;
} BlockShape;

/* Lines of `hidden`, of `width`, or single numbers, one for each row. */
typedef struct BlockActivations {
  float* attention_input;
  float* attention_scale;
  float* queries;
  float* keys;
  float* values;
  float* probabilities;
  float* mixed;
  float* middle;
  float* moe_input;
  float* moe_scale;
  float* result;
  void* moe_rows; /* bf16: moe_input as the layer reads it, which the tape borrows; else NULL */
  moemesh_tape tape;
} BlockActivations;

/* Room for `rows` rows. */
void block_activations_create(BlockActivations* kept, const BlockShape* shape, int64_t rows);
void block_activations_destroy(BlockActivations* kept);

/* Room that all blocks and microbatches share. */
typedef struct Scratch {
  float* dmixed;
  float* dqueries;
  float* dkeys;
  float* dvalues;
  float* dinput;
  float* transposed;
  void* rows_in; /* bf16: what goes into and comes out of the MoE layer; else NULL */
  void* rows_out;
} Scratch;

void scratch_create(Scratch* scratch, const BlockShape* shape, int64_t rows);
void scratch_destroy(Scratch* scratch);

#endif
