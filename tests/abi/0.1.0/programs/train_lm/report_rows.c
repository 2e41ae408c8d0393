/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "report.h"

/* Steps to divide by: none made, nothing to divide. */
static double per_step(const Trainer* trainer, int64_t total) {
  return trainer->steps > 0 ? (double)total / (double)trainer->steps : 0;
}

typedef struct Spread {
  double sum;
  double most;
  int64_t count;
} Spread;

static void add(Spread* spread, double value) {
  spread->sum += value;
  spread->most = value > spread->most ? value : spread->most;
  ++spread->count;
}

/* The largest part over the mean. */
static double imbalance(const Spread* spread) {
  return spread->sum > 0 ? spread->most * (double)spread->count / spread->sum : 0;
}

static void print_choices(const Trainer* trainer, const Rows* rows, int64_t layer) {
  const int64_t* chosen = rows->chosen + layer * rows->experts;
  Spread spread = {0};
  for (int64_t e = 0; e < rows->experts; ++e) add(&spread, per_step(trainer, chosen[e]));
  const double dropped = per_step(trainer, rows->dropped[layer]);
  printf("  %5" PRId64 " %9.1f %9.1f %8.2f%% %9.3f  ", layer, spread.sum, dropped,
         spread.sum > 0 ? 1e2 * dropped / spread.sum : 0, imbalance(&spread));
  for (int64_t e = 0; e < rows->experts && e < LISTED_RANKS; ++e) printf(" %.0f", per_step(trainer, chosen[e]));
  puts(rows->experts > LISTED_RANKS ? " ..." : "");
}

/* computed: [world, layers]; a layer's rows are computed by the ranks of its stage, and at least one of those has some. */
static void print_loads(const Trainer* trainer, const int64_t* computed, const int64_t* stages, int64_t layer) {
  const Session* session = trainer->session;
  const int64_t layers = trainer->rows.layers;
  Spread spread = {0};
  printf("  %5" PRId64 " %6" PRId64 "  ", layer, stages[layer]);
  for (int64_t rank = 0; rank < session->world; ++rank) {
    if (session_stage_of(session, rank) != stages[layer]) continue;
    const double rows = per_step(trainer, computed[rank * layers + layer]);
    if (spread.count < LISTED_RANKS) printf(" %" PRId64 ":%.0f", rank, rows);
    add(&spread, rows);
  }
  printf("%s  (most/mean %.3f)\n", spread.count > LISTED_RANKS ? " ..." : "", imbalance(&spread));
}

static void print_rows(const Trainer* trainer, const Rows* rows, const int64_t* computed, const int64_t* stages) {
  puts("\nRows (token, expert) in a step, mean over the steps: choices of the whole batch");
  puts("  layer    chosen   dropped          most/mean   by expert");
  for (int64_t layer = 0; layer < rows->layers; ++layer) print_choices(trainer, rows, layer);
  puts("  and what each rank's experts computed");
  puts("  layer  stage   rank:rows");
  for (int64_t layer = 0; layer < rows->layers; ++layer) print_loads(trainer, computed, stages, layer);
  fflush(stdout);
}

/* Which stage has each layer: every rank adds its own, once for all of its stage. */
static int64_t* find_stages(const Trainer* trainer) {
  const Model* model = &trainer->model;
  int64_t* stages = allocate(trainer->rows.layers, sizeof *stages);
  for (int64_t i = 0; i < model->count; ++i) stages[model->first + i] = trainer->session->stage;
  session_sum_integers(trainer->session, MOEMESH_AXIS_PP, stages, trainer->rows.layers);
  return stages;
}

void report_rows(const Trainer* trainer) {
  const Session* session = trainer->session;
  const int32_t axes = MOEMESH_AXIS_EP + MOEMESH_AXIS_PP + MOEMESH_AXIS_DP; /* tp peers have the same tokens */
  const Rows* rows = &trainer->rows;
  session_sum_integers(session, axes, rows->chosen, rows->layers * rows->experts);
  session_sum_integers(session, axes, rows->dropped, rows->layers);
  int64_t* computed = session_gather(session, rows->computed, rows->layers);
  int64_t* stages = find_stages(trainer);
  if (session->rank == 0) print_rows(trainer, rows, computed, stages);
  free(stages);
  free(computed);
}
