/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The training loop and the held-out loss. */
#ifndef TRAIN_LM_TRAIN_H
#define TRAIN_LM_TRAIN_H

#include "progress.h"
#include "run.h"
#include "traffic.h"

/* Of this rank's pipeline in training. */
typedef struct PipelineUse {
  int64_t peak;  /* microbatches alive at a time */
  int64_t bytes; /* of the library's buffers, at most */
  int64_t sends;
  int64_t bytes_sent;
  int64_t losses; /* microbatches whose loss arose here */
} PipelineUse;

typedef struct Trainer {
  const Session* session;
  const Options* options;
  const Corpus* corpus;
  Model model;
  moemesh_optimizer optimizer;
  moemesh_pipeline pipeline;
  Traffic traffic; /* of the training steps, without the evaluations */
  Rows rows;
  LayerSums layers; /* of all shards, stages and steps */
  PipelineUse pipeline_use;
  double* losses; /* of every step */
  int64_t steps;  /* made so far */
  int64_t skips;
  double seconds; /* of training, evaluations included */
} Trainer;

/* Collective. */
void trainer_create(Trainer* trainer, const Session* session, const Options* options, const Corpus* corpus);
void trainer_destroy(Trainer* trainer);

/* All steps; returns the last held-out loss. bigram: to print beside the held-out losses. */
double trainer_run(Trainer* trainer, double bigram);

#endif
