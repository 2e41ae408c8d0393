/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The training loop and the held-out loss. */
#ifndef TRAIN_LM_TRAIN_H
#define TRAIN_LM_TRAIN_H

#include "model.h"
#include "progress.h"
#include "traffic.h"

typedef struct Trainer {
  const Session* session;
  const Options* options;
  const Corpus* corpus;
  Model model;
  moemesh_optimizer optimizer;
  Batch batch;
  Traffic traffic;        /* of the training steps, without the evaluations */
  int64_t* rows_received; /* by layer: rows that this rank's experts computed in training */
  int64_t steps;          /* made so far */
  int64_t skips;
  double seconds; /* of training, evaluations included */
} Trainer;

/* Collective. */
void trainer_create(Trainer* trainer, const Session* session, const Options* options, const Corpus* corpus);
void trainer_destroy(Trainer* trainer);

/* All steps; returns the last held-out loss. bigram: to print beside the held-out losses. */
double trainer_run(Trainer* trainer, double bigram);

#endif
