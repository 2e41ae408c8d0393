/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The held-out loss. */
#ifndef TRAIN_LM_EVALUATE_H
#define TRAIN_LM_EVALUATE_H

#include "run.h"

/* Nats per byte over all held-out windows, split over the data shards; on every rank. Collective. */
double evaluate(Model* model, moemesh_pipeline pipeline, const Session* session, const Corpus* corpus);

#endif
