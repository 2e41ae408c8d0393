/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "run.h"

#include <stdlib.h>

#include "check.h"
#include "numbers.h"

void run_describe_pipeline(moemesh_pipeline_params* params, const Options* options) {
  CHECK(moemesh_pipeline_params_init(params, sizeof *params));
  params->width = options->hidden;
  params->dtype = (int32_t)options->dtype;
  params->schedule = (int32_t)options->schedule;
}

moemesh_pipeline run_create_pipeline(const Session* session, const Options* options, moemesh_optimizer optimizer) {
  moemesh_pipeline pipeline;
  moemesh_pipeline_params params;
  run_describe_pipeline(&params, options);
  CHECK(moemesh_pipeline_create(session->mesh, optimizer, &params, &pipeline));
  return pipeline;
}

static Pass pass_of(const Run* run, const moemesh_pipeline_action* action) {
  return (Pass){action->rows / run->model->shape.sequence, run->feed->training, action->microbatch};
}

/* Rows from a neighbour stage; a view of rank 0 is none. */
static void read_rows(const moemesh_view* view, float* to) {
  if (view->rank > 0) numbers_widen(view->dtype, view->extents[0] * view->extents[1], view->data, to);
}

static void write_rows(const moemesh_view* view, const float* from) {
  if (view->rank > 0) numbers_narrow(view->dtype, view->extents[0] * view->extents[1], from, view->data);
}

static double count_scored(const Batch* batch) {
  int64_t scored = 0;
  for (int64_t row = 0; row < batch->sequences * batch->sequence; ++row) scored += batch->scored[row];
  return (double)scored;
}

static void forward(Run* run, const moemesh_pipeline_action* action) {
  Microbatch* slot = model_slot(run->model, action->microbatch);
  const Pass pass = pass_of(run, action);
  feed_fill(run->feed, action->microbatch, &slot->batch);
  if (slot->batch.sequences != pass.sequences) fail("a microbatch has other rows here than on the first stage");
  read_rows(&action->in, slot->input);
  write_rows(&action->out, model_forward(run->model, slot, &pass));
  if (pass.training) layer_sums_add(&run->sums.layers, rows_count(run->rows, run->model));
  if (!run->model->ends.has_head) return;
  run->sums.loss += model_loss(run->model, slot);
  run->sums.predictions += count_scored(&slot->batch);
}

static void backward(Run* run, const moemesh_pipeline_action* action) {
  Microbatch* slot = model_slot(run->model, action->microbatch);
  const Pass pass = pass_of(run, action);
  read_rows(&action->in, run->model->gradient);
  model_backward(run->model, slot, &pass);
  write_rows(&action->out, run->model->gradient);
}

/* Errors stop the program, so that what comes back is always success. */
static int32_t act(void* user, const moemesh_pipeline_action* action) {
  Run* run = user;
  if (action->kind == MOEMESH_ACTION_FORWARD)
    forward(run, action);
  else
    backward(run, action);
  return MOEMESH_OK;
}

/* tp peers have the same sums. */
static void sum_over_shards_and_stages(RunSums* sums, const Session* session) {
  double values[] = {sums->loss,     sums->predictions, sums->layers.aux,
                     sums->layers.z, sums->layers.rows, sums->layers.dropped};
  session_sum(session, MOEMESH_AXIS_EP + MOEMESH_AXIS_PP + MOEMESH_AXIS_DP, values, sizeof values / sizeof *values);
  *sums = (RunSums){values[0], values[1], {values[2], values[3], values[4], values[5]}};
}

RunSums run_microbatches(Run* run, const Session* session, int64_t microbatches) {
  int64_t* rows = allocate(microbatches, sizeof *rows);
  for (int64_t m = 0; m < microbatches; ++m) rows[m] = feed_count_sequences(run->feed, m) * run->model->shape.sequence;
  moemesh_pipeline_run params;
  CHECK(moemesh_pipeline_run_init(&params, sizeof params));
  params.rows = rows;
  params.microbatches = (int32_t)microbatches;
  params.training = run->feed->training;
  CHECK(moemesh_pipeline_execute(run->pipeline, &params, act, run));
  free(rows);
  RunSums sums = run->sums;
  sum_over_shards_and_stages(&sums, session);
  return sums;
}
