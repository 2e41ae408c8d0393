/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "train.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "evaluate.h"

static const double clip_norm = 1;
static const double sgd_momentum = 0.9;
static const double last_rate = 0.1; /* of the whole learning rate, at the last step */

static void create_optimizer(Trainer* trainer) {
  const Options* options = trainer->options;
  moemesh_optimizer_params params;
  CHECK(moemesh_optimizer_params_init(&params, sizeof params));
  params.kind = (int32_t)options->optimizer;
  params.learning_rate = options->learning_rate;
  params.beta2 = 0.99; /* a few hundred steps: the default's memory is longer than the run */
  params.momentum = options->optimizer == MOEMESH_SGD ? sgd_momentum : 0;
  params.weight_decay = options->weight_decay;
  params.max_norm = clip_norm;
  params.shared_stage = (int32_t)options->stage;
  params.expert_stage = (int32_t)options->stage;
  CHECK(moemesh_optimizer_create(trainer->session->mesh, trainer->model.shared, trainer->model.expert, &params,
                                 &trainer->optimizer));
}

void trainer_create(Trainer* trainer, const Session* session, const Options* options, const Corpus* corpus) {
  *trainer = (Trainer){.session = session, .options = options, .corpus = corpus};
  if (batch_count_starts(corpus, options->sequence) == 0) fail("the text has no stretch that --seq would fit in");
  model_create(&trainer->model, session, options);
  create_optimizer(trainer);
  trainer->pipeline = run_create_pipeline(session, options, trainer->optimizer);
  rows_create(&trainer->rows, options);
  trainer->losses = allocate(options->steps, sizeof *trainer->losses);
  CHECK(moemesh_ledger_reset(session->mesh));
}

void trainer_destroy(Trainer* trainer) {
  free(trainer->losses);
  rows_destroy(&trainer->rows);
  moemesh_pipeline_destroy(&trainer->pipeline);
  moemesh_optimizer_destroy(&trainer->optimizer);
  model_destroy(&trainer->model);
}

/* Linear warm-up, then half a cosine. step: 0-based. */
static double learning_rate(const Options* options, int64_t step) {
  if (step < options->warmup) return options->learning_rate * (double)(step + 1) / (double)options->warmup;
  const double part = (double)(step - options->warmup) / (double)(options->steps - options->warmup);
  return options->learning_rate * (last_rate + (1 - last_rate) * 0.5 * (1 + cos(acos(-1) * part)));
}

static void count_pipeline(Trainer* trainer, int64_t losses) {
  moemesh_pipeline_info info = {.struct_size = sizeof info};
  PipelineUse* use = &trainer->pipeline_use;
  CHECK(moemesh_pipeline_get_info(trainer->pipeline, &info));
  if (info.peak > use->peak) use->peak = info.peak;
  if (info.bytes > use->bytes) use->bytes = info.bytes;
  use->sends += info.sends;
  use->bytes_sent += info.bytes_sent;
  use->losses += losses;
}

/* Means over all pieces of the step. */
static StepReport report_of(const Trainer* trainer, int64_t step, const RunSums* sums) {
  const double pieces = (double)trainer->options->pieces;
  StepReport report = {.step = step + 1, .loss = sums->loss / sums->predictions};
  report.aux = sums->layers.aux / pieces;
  report.z = sums->layers.z / pieces;
  report.dropped = sums->layers.rows > 0 ? sums->layers.dropped / sums->layers.rows : 0;
  return report;
}

static void update(Trainer* trainer, int64_t step, StepReport* report) {
  moemesh_update_params params;
  moemesh_update_result result = {.struct_size = sizeof result};
  CHECK(moemesh_update_params_init(&params, sizeof params));
  params.learning_rate = learning_rate(trainer->options, step);
  CHECK(moemesh_optimizer_step(trainer->optimizer, &params, &result));
  trainer->losses[trainer->steps++] = report->loss;
  trainer->skips = result.skips;
  report->norm = result.norm;
  report->learning_rate = params.learning_rate;
  report->skipped = result.skipped;
}

static StepReport run_step(Trainer* trainer, int64_t step) {
  const Session* session = trainer->session;
  const int64_t microbatches = trainer->options->pieces / session->data_shards;
  const Feed feed = feed_step(session, trainer->options, trainer->corpus, step);
  Run run = {.model = &trainer->model, .pipeline = trainer->pipeline, .feed = &feed, .rows = &trainer->rows};
  moemesh_step_params params;
  CHECK(moemesh_step_params_init(&params, sizeof params));
  params.microbatches = (int32_t)microbatches;
  CHECK(moemesh_step_begin(trainer->optimizer, &params));
  const RunSums sums = run_microbatches(&run, session, microbatches);
  layer_sums_add(&trainer->layers, sums.layers);
  count_pipeline(trainer, run.sums.predictions > 0 ? microbatches : 0);
  StepReport report = report_of(trainer, step, &sums);
  update(trainer, step, &report);
  return report;
}

/* Evaluations are kept out of the ledger's account of the training. */
static double held_out_loss(Trainer* trainer) {
  traffic_take(&trainer->traffic, trainer->session->mesh);
  const double loss = evaluate(&trainer->model, trainer->pipeline, trainer->session, trainer->corpus);
  CHECK(moemesh_ledger_reset(trainer->session->mesh));
  return loss;
}

static int is_evaluation_due(const Options* options, int64_t step) {
  return step == options->steps || (options->eval_every > 0 && step % options->eval_every == 0);
}

double trainer_run(Trainer* trainer, double bigram) {
  const Options* options = trainer->options;
  const double start = seconds_now();
  double loss = options->steps == 0 ? held_out_loss(trainer) : 0;
  Progress progress;
  progress_start(&progress, options, trainer->session->rank != 0);
  for (int64_t step = 0; step < options->steps; ++step) {
    const StepReport report = run_step(trainer, step);
    progress_step(&progress, &report);
    if (!is_evaluation_due(options, step + 1)) continue;
    loss = held_out_loss(trainer);
    progress_held_out(&progress, step + 1, loss, bigram);
  }
  trainer->seconds = seconds_now() - start;
  return loss;
}
