/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The baseline: a smoothed bigram, fitted on the training part, scored on the bytes that the model is scored on. */
#ifndef TRAIN_LM_BIGRAM_H
#define TRAIN_LM_BIGRAM_H

#include "corpus.h"

typedef struct BigramResult {
  double loss;           /* nats per byte on the held-out part */
  const char* smoothing; /* the kind that did best on the training part */
  double parameter;      /* its parameter */
} BigramResult;

/* The kind of smoothing and its parameter are chosen by ten-fold cross-validation within the training part. */
BigramResult bigram_score(const Corpus* corpus);

#endif
