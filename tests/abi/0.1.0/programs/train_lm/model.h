/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * This rank's stage of the model: blocks, with the embedding before them on the first stage and the head after them on
 * the last, and what its microbatches keep. Both parameter families live here. */
#ifndef TRAIN_LM_MODEL_H
#define TRAIN_LM_MODEL_H

#include "batch.h"
#include "block.h"
#include "ends.h"
#include "options.h"
#include "session.h"

/* One microbatch on this stage, from its forward to its backward. */
typedef struct Microbatch {
  Batch batch;  /* the text; used on the first and the last stage */
  float* input; /* of the first block */
  BlockActivations* blocks;
  HeadActivations head; /* on the last stage */
} Microbatch;

typedef struct Model {
  const Options* options;
  moemesh_family shared;
  moemesh_family expert;
  BlockShape shape;
  Ends ends;
  int64_t first; /* this stage's blocks are first .. first+count-1 of the whole model's */
  int64_t count;
  Block* blocks;
  int64_t slots; /* microbatches that this stage holds at a time */
  Microbatch* microbatches;
  Scratch scratch;
  float* gradient;     /* of what the present microbatch's backward has come to */
  int64_t elements[3]; /* by moemesh_family_kind: parameters of the whole model, unsplit, each counted once */
} Model;

/* Collective. Rows of one microbatch: at most options->sequences sequences. */
void model_create(Model* model, const Session* session, const Options* options);
void model_destroy(Model* model);

/* Where microbatch m is kept. Slots are used in turn: backwards come in the order of the forwards. */
Microbatch* model_slot(Model* model, int64_t microbatch);

/* From slot->input (first stage: from slot->batch) through all blocks; returns what the next stage reads, in fp32. */
const float* model_forward(Model* model, Microbatch* slot, const Pass* pass);
/* On the last stage, after model_forward: the SUM of the scored rows' losses. */
double model_loss(Model* model, Microbatch* slot);
/* model->gradient: in that of what model_forward returned (last stage: computed here), out that of slot->input. */
void model_backward(Model* model, Microbatch* slot, const Pass* pass);

#endif
