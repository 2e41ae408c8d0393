/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

#include "check.h"

static const char* order_of(const Options* options) { return options->order != NULL ? options->order : "tp-ep-pp-dp"; }

static void print_mesh(const Session* session, const Options* options) {
  printf("mesh      tp %" PRId64, options->tp);
  if (options->expert_tp > 0 && options->expert_tp != options->tp) printf(" (experts %" PRId64 ")", options->expert_tp);
  printf(", ep %" PRId64 ", pp %" PRId64 ", dp %" PRId64 ", order %s: %" PRId64 " rank%s on %" PRId64
         " node%s, %" PRId64 " thread%s each\n",
         options->ep, options->pp, options->dp, order_of(options), session->world, session->world == 1 ? "" : "s",
         session->nodes, session->nodes == 1 ? "" : "s", session->threads, session->threads == 1 ? "" : "s");
}

static void print_model(const Options* options, const Model* model) {
  const int64_t shared = model->elements[MOEMESH_SHARED];
  const int64_t expert = model->elements[MOEMESH_EXPERT];
  printf("model     %" PRId64 " blocks, hidden %" PRId64 ", %" PRId64 " heads, %" PRId64 " experts of width %" PRId64
         ", %" PRId64 " a token: %" PRId64 " %s parameters (%" PRId64 " shared, %" PRId64 " in experts)%s\n",
         options->layers, options->hidden, options->heads, options->experts, options->ffn, options->top_k,
         shared + expert, options->dtype == MOEMESH_BFLOAT16 ? "bf16" : "fp32", shared, expert,
         options->tied ? ", head tied" : "");
}

static void print_routing(const Options* options) {
  if (options->capacity > 0)
    printf("capacity  %g times an even share, dropped by %s\n", options->capacity,
           options->drop == MOEMESH_DROP_BY_GATE ? "gate" : "position");
  if (options->aux > 0)
    printf("balance   loss of a %s, coefficient %g\n",
           options->aux_scope == MOEMESH_AUX_SEQUENCE ? "sequence" : "shard's piece", options->aux);
  if (options->bias_rate > 0) printf("balance   selection biases, %g a step\n", options->bias_rate);
  if (options->z > 0) printf("z-loss    coefficient %g\n", options->z);
}

static void print_batches(const Session* session, const Options* options) {
  printf("steps     %" PRId64 " of %" PRId64 " pieces x %" PRId64 " sequences x %" PRId64 " bytes = %" PRId64
         " bytes, in %" PRId64 " microbatches%s; seed %" PRId64 "\n",
         options->steps, options->pieces, options->sequences, options->sequence,
         options->pieces * options->sequences * options->sequence, options->pieces / session->data_shards,
         session->stages == 1                          ? ""
         : options->schedule == MOEMESH_SCHEDULE_GPIPE ? " (GPipe)"
                                                       : " (1F1B)",
         options->seed);
}

static void print_text(const Corpus* corpus) {
  printf("text      %" PRId64 " files, %" PRId64 " bytes; %" PRId64 " to train on; %" PRId64
         " blocks of %d bytes held out, %" PRId64 " more dropped (their middle %d bytes occur in the training part)\n",
         corpus->file_count, corpus->size, corpus->training_bytes, corpus->held_out_count, BLOCK_BYTES,
         corpus->dropped_count, PROBE_BYTES);
}

void report_header(const Session* session, const Options* options, const Corpus* corpus, const Model* model) {
  if (session->rank != 0) return;
  print_mesh(session, options);
  print_model(options, model);
  print_routing(options);
  print_batches(session, options);
  print_text(corpus);
  fflush(stdout);
}

void report_bigram(const Session* session, const BigramResult* bigram) {
  if (session->rank != 0) return;
  printf("bigram    %.5f nats per byte on the held-out blocks (%s, parameter %g, chosen within the training part)\n",
         bigram->loss, bigram->smoothing, bigram->parameter);
  fflush(stdout);
}

/* aux and z: what all layers together add to a piece's loss, mean over the training's pieces. */
static void print_layer_sums(const Trainer* trainer) {
  const Options* options = trainer->options;
  const LayerSums* sums = &trainer->layers;
  const double pieces = (double)(options->pieces * trainer->steps);
  if (pieces == 0 || (options->aux == 0 && options->z == 0 && options->capacity == 0)) return;
  printf("mean over the training:");
  if (options->aux > 0) printf(" balance loss %.5f", sums->aux / pieces);
  if (options->z > 0) printf(" z-loss %.5f", sums->z / pieces);
  if (options->capacity > 0) printf(" dropped rows %.2f %%", 1e2 * sums->dropped / sums->rows);
  putchar('\n');
}

void report_result(const Trainer* trainer, double loss, double bigram) {
  if (trainer->session->rank != 0) return;
  const Options* options = trainer->options;
  const double bytes = (double)(options->pieces * options->sequences * options->sequence * trainer->steps);
  printf("\n%" PRId64 " steps (%" PRId64 " skipped) in %.1f s, %.1fk tokens/s with the evaluations\n", trainer->steps,
         trainer->skips, trainer->seconds, 1e-3 * bytes / trainer->seconds);
  printf("held-out loss %.5f, bigram %.5f: %.5f nats %s\n", loss, bigram, loss < bigram ? bigram - loss : loss - bigram,
         loss < bigram ? "better" : "above it: train for more steps");
  print_layer_sums(trainer);
  fflush(stdout);
}

static void write_losses(FILE* file, const Trainer* trainer, double held_out) {
  for (int64_t step = 0; step < trainer->steps; ++step)
    fprintf(file, "%" PRId64 " %.17g\n", step + 1, trainer->losses[step]);
  fprintf(file, "held-out %.17g\n", held_out);
}

void report_losses(const Trainer* trainer, double held_out) {
  const char* path = trainer->options->losses;
  if (path == NULL || trainer->session->rank != 0) return;
  FILE* file = fopen(path, "w");
  if (file == NULL) fail("cannot write %s", path);
  write_losses(file, trainer, held_out);
  if (fclose(file) != 0) fail("cannot write %s", path);
}
