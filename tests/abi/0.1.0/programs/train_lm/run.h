/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * One run of microbatches through the pipeline: a training step's forwards and backwards, or forwards alone. */
#ifndef TRAIN_LM_RUN_H
#define TRAIN_LM_RUN_H

#include "feed.h"
#include "model.h"
#include "rows.h"

/* Sums over this rank's microbatches. Losses arise on the last stage; the layers' sums on every stage, its own. */
typedef struct RunSums {
  double loss;        /* of the scored rows */
  double predictions; /* scored rows */
  LayerSums layers;   /* training only */
} RunSums;

typedef struct Run {
  Model* model;
  moemesh_pipeline pipeline;
  const Feed* feed;
  Rows* rows; /* training only */
  RunSums sums;
} Run;

/* The pipeline that the options describe. */
void run_describe_pipeline(moemesh_pipeline_params* params, const Options* options);

moemesh_pipeline run_create_pipeline(const Session* session, const Options* options, moemesh_optimizer optimizer);

/* Collective. The sums are then those of all data shards and stages, on every rank. */
RunSums run_microbatches(Run* run, const Session* session, int64_t microbatches);

#endif
