/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What training prints as it goes: a bar on a terminal, lines elsewhere; on rank 0 only. */
#ifndef TRAIN_LM_PROGRESS_H
#define TRAIN_LM_PROGRESS_H

#include "options.h"

typedef struct Progress {
  int silent;
  int bar;
  int with_aux; /* what else is printed */
  int with_z;
  int with_drops;
  int64_t steps;
  int64_t log_every;
  int64_t step_tokens;
  int64_t marked_step; /* where the speed is measured from */
  double marked_time;
} Progress;

typedef struct StepReport {
  int64_t step; /* 1-based */
  double loss;
  double aux; /* mean over the pieces of what all layers add */
  double z;
  double dropped; /* part of the rows */
  double norm;
  double learning_rate;
  int skipped;
} StepReport;

double seconds_now(void);

void progress_start(Progress* progress, const Options* options, int silent);
void progress_step(Progress* progress, const StepReport* report);
/* A held-out loss after `step` steps; the time it took counts for no step. */
void progress_held_out(Progress* progress, int64_t step, double loss, double bigram);

#endif
