/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Which text the microbatches of a run read: pieces of a training step, or held-out windows. Unit u of either is the
 * same on every mesh; microbatch m of data shard s is unit first + m*shards + s. */
#ifndef TRAIN_LM_FEED_H
#define TRAIN_LM_FEED_H

#include "batch.h"
#include "options.h"
#include "session.h"

typedef struct Feed {
  const Corpus* corpus;
  const Options* options;
  int64_t shard;
  int64_t shards;
  int training;
  int64_t step;  /* training */
  int64_t first; /* held out: unit that the run begins with, each `options->sequences` windows */
} Feed;

Feed feed_step(const Session* session, const Options* options, const Corpus* corpus, int64_t step);
Feed feed_held_out(const Session* session, const Options* options, const Corpus* corpus, int64_t first);

/* Units of the held-out text. */
int64_t feed_count_held_out(const Options* options, const Corpus* corpus);

/* Sequences of this shard's microbatch; 0 where the windows are used up. */
int64_t feed_count_sequences(const Feed* feed, int64_t microbatch);
void feed_fill(const Feed* feed, int64_t microbatch, Batch* batch);

#endif
