/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "evaluate.h"

/* Sends between stages never block, so a run is kept short: the first stage can't get further ahead. */
enum { RUN_MICROBATCHES = 16 };

static int64_t divide_up(int64_t value, int64_t by) { return (value + by - 1) / by; }

/* Every rank makes the same number of forwards: a shard whose windows are used up goes on with none, because the
 * layers' collectives need all ranks. */
double evaluate(Model* model, moemesh_pipeline pipeline, const Session* session, const Corpus* corpus) {
  const int64_t units = feed_count_held_out(model->options, corpus);
  double loss = 0;
  double predictions = 0;
  for (int64_t first = 0; first < units; first += RUN_MICROBATCHES * session->data_shards) {
    const int64_t left = divide_up(units - first, session->data_shards);
    const Feed feed = feed_held_out(session, model->options, corpus, first);
    Run run = {.model = model, .pipeline = pipeline, .feed = &feed};
    const RunSums sums = run_microbatches(&run, session, left < RUN_MICROBATCHES ? left : RUN_MICROBATCHES);
    loss += sums.loss;
    predictions += sums.predictions;
  }
  return loss / predictions;
}
