/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * How training spread the rows, (token, expert) pairs, over the experts: from the layers' statistics. */
#ifndef TRAIN_LM_ROWS_H
#define TRAIN_LM_ROWS_H

#include "model.h"

/* All layers of the model; this rank fills those of its stage. */
typedef struct Rows {
  int64_t layers;
  int64_t experts;
  int64_t* chosen;   /* [layers, experts] rows of this rank's shard, before any drop */
  int64_t* dropped;  /* [layers] rows of this rank's shard */
  int64_t* computed; /* [layers] rows that this rank's experts computed */
} Rows;

/* The losses that the layers add, and their drops, for one microbatch of this rank's shard and stage. */
typedef struct LayerSums {
  double aux;
  double z;
  double rows; /* chosen */
  double dropped;
} LayerSums;

void rows_create(Rows* rows, const Options* options);
void rows_destroy(Rows* rows);
/* After a training forward of this stage's blocks. */
LayerSums rows_count(Rows* rows, const Model* model);
void layer_sums_add(LayerSums* sums, LayerSums more);

#endif
