/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * One block of the model: y = m + MoE(norm(m)), m = x + attention(norm(x)). The attention is this program's own, its
 * heads split over tp; the MoE layer is the library's. */
#ifndef TRAIN_LM_BLOCK_H
#define TRAIN_LM_BLOCK_H

#include "attention.h"
#include "options.h"
#include "session.h"
#include "weight.h"

/* What is the same for all blocks. */
typedef struct BlockShape {
  moemesh_mesh mesh;
  int64_t hidden;
  int64_t heads; /* of this tp rank */
  int64_t width; /* of this tp rank's heads together */
  int64_t sequence;
} BlockShape;

/* One microbatch on its way forward and back. */
typedef struct Pass {
  int64_t sequences; /* 0 where a rank has no data: it joins the layers' collectives all the same */
  int32_t training;
  int32_t microbatch;
} Pass;

typedef struct Block {
  Weight attention_norm;
  Weight query; /* [hidden, hidden], columns split over tp */
  Weight key;
  Weight value;
  Weight output; /* [hidden, hidden], rows split over tp */
  Weight moe_norm;
  moemesh_layer moe;
  moemesh_tape tape;

  /* Kept from forward to backward; lines of `hidden`, of `width`, or single numbers, one for each row. */
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
} Block;

/* Room that the blocks share in backward. */
typedef struct Scratch {
  float* dmixed;
  float* dqueries;
  float* dkeys;
  float* dvalues;
  float* dinput;
  float* transposed;
} Scratch;

/* Before the families are committed. Collective. */
void block_create(Block* block, const BlockShape* shape, const Options* options, moemesh_family shared,
                  moemesh_family expert, int64_t index);
void block_destroy(Block* block);
void scratch_create(Scratch* scratch, const BlockShape* shape, int64_t rows);
void scratch_destroy(Scratch* scratch);

/* x: [sequences*sequence, hidden]; the result is in block->result. */
void block_forward(Block* block, const BlockShape* shape, const Pass* pass, const float* x);
/* gradient: in the result's, out x's. Completes the weights' gradients of this microbatch. */
void block_backward(Block* block, const BlockShape* shape, const Pass* pass, const float* x, float* gradient,
                    Scratch* scratch);

#endif
