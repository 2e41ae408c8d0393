/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The held-out loss. */
#ifndef TRAIN_LM_EVALUATE_H
#define TRAIN_LM_EVALUATE_H

#include "model.h"

/* Nats per byte over all held-out windows, split over the data shards. Collective. Uses the batch as room. */
double evaluate(Model* model, const Session* session, const Corpus* corpus, Batch* batch, const Options* options);

#endif
