/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Batches: the pieces of a training step and the held-out windows. Neither depends on the mesh. */
#ifndef TRAIN_LM_BATCH_H
#define TRAIN_LM_BATCH_H

#include "corpus.h"

/* `sequences` rows of `sequence` bytes. The model sees input[0..t] of a row and predicts target[t] = the byte after. */
typedef struct Batch {
  int64_t sequences;
  int64_t sequence;
  uint8_t* input;
  uint8_t* target;
  uint8_t* scored; /* 0 where a window ends before its row does: not counted in any loss */
} Batch;

/* Room for `sequences` rows. */
void batch_create(Batch* batch, int64_t sequences, int64_t sequence);
void batch_free(Batch* batch);

/* Places in the training part where a sequence can start. */
int64_t batch_count_starts(const Corpus* corpus, int64_t sequence);
/* Fills the batch with a piece of a step: a function of seed, step and piece alone. */
void batch_draw_piece(Batch* batch, const Corpus* corpus, int64_t sequences, int64_t seed, int64_t step, int64_t piece);

/* Each held-out block is predicted from its second byte on, in windows of at most `sequence` predictions. */
int64_t batch_count_windows(const Corpus* corpus, int64_t sequence);
/* Fills the batch with windows first, first+1, ..., as many as asked for. */
void batch_take_windows(Batch* batch, const Corpus* corpus, int64_t first, int64_t sequences);

#endif
