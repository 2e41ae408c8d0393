/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The model: embedding of bytes and positions, blocks, norm, head. Both parameter families live here. */
#ifndef TRAIN_LM_MODEL_H
#define TRAIN_LM_MODEL_H

#include "batch.h"
#include "block.h"
#include "options.h"
#include "session.h"

typedef struct Model {
  const Options* options;
  moemesh_family shared;
  moemesh_family expert;
  BlockShape shape;
  int64_t layers;
  Weight token;    /* [256, hidden] */
  Weight position; /* [sequence, hidden] */
  Weight norm;
  Weight head; /* [hidden, 256] */
  Block* blocks;
  Scratch scratch;
  float* embedded;
  float* normed;
  float* scale;
  float* logits; /* after forward: the gradient of the logits */
  float* gradient;
  float* head_transposed;
} Model;

/* Collective. Rows of one microbatch: at most options->sequences sequences. */
void model_create(Model* model, const Session* session, const Options* options);
void model_destroy(Model* model);

/* The SUM of the scored rows' losses. training = 1 keeps what the backward needs, for the mean over all rows. */
double model_forward(Model* model, const Batch* batch, int32_t training, int32_t microbatch);
/* Of the training forward just made: adds into all main gradients. */
void model_backward(Model* model, const Batch* batch, int32_t microbatch);

/* Elements of a family's parameters, unsplit and each counted once: the whole model's, not this rank's. */
int64_t model_count_elements(const Model* model, int32_t family);

#endif
