/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The two ends of the model: the embedding of bytes and positions, on the first stage, and the norm and head, on the
 * last. With --tied the head multiplies by the bytes' embedding, which is then one parameter over both stages. */
#ifndef TRAIN_LM_ENDS_H
#define TRAIN_LM_ENDS_H

#include "batch.h"
#include "options.h"
#include "session.h"
#include "weight.h"

typedef struct Ends {
  int has_embedding; /* this rank is of the first stage */
  int has_head;      /* of the last */
  int tied;
  int64_t hidden;
  Weight token;    /* [256, hidden] */
  Weight position; /* [sequence, hidden] */
  Weight norm;
  Weight head; /* [hidden, 256] */
  float* head_transposed;
  float* dnormed;
} Ends;

/* What a microbatch leaves in the head for its backward. */
typedef struct HeadActivations {
  float* normed;
  float* scale;
  float* logits; /* after the loss: their gradient */
} HeadActivations;

/* Before the families are committed. Rows: of one microbatch. */
void ends_create(Ends* ends, const Session* session, const Options* options, moemesh_family shared, int64_t rows);
/* After it. */
void ends_write_positions(Ends* ends, const Options* options);
void ends_destroy(Ends* ends);
/* Elements of its parameters, a tied one counted on the first stage only. */
int64_t ends_count_elements(const Ends* ends);

void head_activations_create(HeadActivations* kept, int64_t hidden, int64_t rows);
void head_activations_destroy(HeadActivations* kept);

void embedding_forward(Ends* ends, const Batch* batch, float* y);
void embedding_backward(Ends* ends, const Batch* batch, const float* gradient);

/* The SUM of the scored rows' losses; kept for the mean over all rows. */
double head_forward(Ends* ends, const Batch* batch, const float* x, HeadActivations* kept);
/* Overwrites gradient with x's. */
void head_backward(Ends* ends, int64_t rows, const float* x, const HeadActivations* kept, float* gradient);

#endif
