/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "evaluate.h"

#include "check.h"

static int64_t clamp(int64_t value, int64_t least, int64_t most) {
  return value < least ? least : value > most ? most : value;
}

static int64_t count_scored(const Batch* batch) {
  int64_t scored = 0;
  for (int64_t row = 0; row < batch->sequences * batch->sequence; ++row) scored += batch->scored[row];
  return scored;
}

/* Every rank makes the same number of forwards: a shard whose windows are used up goes on with none, because the
 * layers' collectives need all ranks. */
double evaluate(Model* model, const Session* session, const Corpus* corpus, Batch* batch, const Options* options) {
  const int64_t windows = batch_count_windows(corpus, options->sequence);
  const int64_t most = options->sequences;
  const int64_t shards = session->data_shards;
  double sums[2] = {0, 0}; /* loss, predictions */
  for (int64_t begin = 0; begin < windows; begin += shards * most) {
    const int64_t first = begin + session->data_shard * most;
    batch_take_windows(batch, corpus, first, clamp(windows - first, 0, most));
    sums[0] += model_forward(model, batch, 0, 0);
    sums[1] += (double)count_scored(batch);
  }
  moemesh_view view;
  CHECK(moemesh_view_init(&view, MOEMESH_FLOAT64, 1, (const int64_t[]){2}, sums));
  CHECK(moemesh_all_reduce(session->mesh, MOEMESH_GROUP_SHARED_GRADIENT, MOEMESH_SUM, &view));
  return sums[0] / sums[1];
}
