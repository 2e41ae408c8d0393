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
  batch_create(&trainer->batch, options->sequences, options->sequence);
  trainer->rows_received = allocate(options->layers, sizeof *trainer->rows_received);
  CHECK(moemesh_ledger_reset(session->mesh));
}

void trainer_destroy(Trainer* trainer) {
  free(trainer->rows_received);
  batch_free(&trainer->batch);
  moemesh_optimizer_destroy(&trainer->optimizer);
  model_destroy(&trainer->model);
}

/* Linear warm-up, then half a cosine. step: 0-based. */
static double learning_rate(const Options* options, int64_t step) {
  if (step < options->warmup) return options->learning_rate * (double)(step + 1) / (double)options->warmup;
  const double part = (double)(step - options->warmup) / (double)(options->steps - options->warmup);
  return options->learning_rate * (last_rate + (1 - last_rate) * 0.5 * (1 + cos(acos(-1) * part)));
}

static void count_rows(Trainer* trainer) {
  for (int64_t i = 0; i < trainer->model.layers; ++i) {
    moemesh_layer_statistics statistics = {.struct_size = sizeof statistics};
    CHECK(moemesh_layer_get_statistics(trainer->model.blocks[i].moe, &statistics));
    trainer->rows_received[i] += statistics.rows_received;
  }
}

/* Microbatch m of data shard s is piece m*shards + s of the step: together the same pieces on every mesh. */
static double run_microbatch(Trainer* trainer, int64_t step, int64_t microbatch) {
  const Options* options = trainer->options;
  const int64_t piece = microbatch * trainer->session->data_shards + trainer->session->data_shard;
  Batch* batch = &trainer->batch;
  batch_draw_piece(batch, trainer->corpus, options->sequences, options->seed, step, piece);
  const double loss = model_forward(&trainer->model, batch, 1, (int32_t)microbatch);
  count_rows(trainer);
  model_backward(&trainer->model, batch, (int32_t)microbatch);
  return loss / (double)(batch->sequences * batch->sequence);
}

/* The mean over all pieces of the step. */
static double mean_loss(const Trainer* trainer, double sum) {
  moemesh_view view;
  CHECK(moemesh_view_init(&view, MOEMESH_FLOAT64, 1, (const int64_t[]){1}, &sum));
  CHECK(moemesh_all_reduce(trainer->session->mesh, MOEMESH_GROUP_SHARED_GRADIENT, MOEMESH_SUM, &view));
  return sum / (double)trainer->options->pieces;
}

static StepReport update(Trainer* trainer, int64_t step, double loss) {
  moemesh_update_params params;
  moemesh_update_result result = {.struct_size = sizeof result};
  CHECK(moemesh_update_params_init(&params, sizeof params));
  params.learning_rate = learning_rate(trainer->options, step);
  CHECK(moemesh_optimizer_step(trainer->optimizer, &params, &result));
  ++trainer->steps;
  trainer->skips = result.skips;
  return (StepReport){step + 1, loss, result.norm, params.learning_rate, result.skipped};
}

static StepReport run_step(Trainer* trainer, int64_t step) {
  const int64_t microbatches = trainer->options->pieces / trainer->session->data_shards;
  moemesh_step_params params;
  CHECK(moemesh_step_params_init(&params, sizeof params));
  params.microbatches = (int32_t)microbatches;
  CHECK(moemesh_step_begin(trainer->optimizer, &params));
  double sum = 0;
  for (int64_t m = 0; m < microbatches; ++m) sum += run_microbatch(trainer, step, m);
  return update(trainer, step, mean_loss(trainer, sum));
}

/* Evaluations are kept out of the ledger's account of the training. */
static double held_out_loss(Trainer* trainer) {
  traffic_take(&trainer->traffic, trainer->session->mesh);
  const double loss = evaluate(&trainer->model, trainer->session, trainer->corpus, &trainer->batch, trainer->options);
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
