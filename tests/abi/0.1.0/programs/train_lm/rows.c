/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "rows.h"

#include <stdlib.h>

#include "check.h"

void rows_create(Rows* rows, const Options* options) {
  *rows = (Rows){.layers = options->layers, .experts = options->experts};
  rows->chosen = allocate(rows->layers * rows->experts, sizeof *rows->chosen);
  rows->dropped = allocate(rows->layers, sizeof *rows->dropped);
  rows->computed = allocate(rows->layers, sizeof *rows->computed);
}

void rows_destroy(Rows* rows) {
  free(rows->chosen);
  free(rows->dropped);
  free(rows->computed);
}

static void count_choices(Rows* rows, moemesh_layer layer, int64_t* chosen) {
  int64_t* now = allocate(rows->experts, sizeof *now);
  moemesh_view view;
  CHECK(moemesh_view_init(&view, MOEMESH_INT64, 1, &rows->experts, now));
  CHECK(moemesh_layer_get_rows(layer, &view, NULL));
  for (int64_t e = 0; e < rows->experts; ++e) chosen[e] += now[e];
  free(now);
}

static void count_layer(Rows* rows, moemesh_layer layer, int64_t index, LayerSums* sums) {
  moemesh_layer_statistics statistics = {.struct_size = sizeof statistics};
  CHECK(moemesh_layer_get_statistics(layer, &statistics));
  count_choices(rows, layer, rows->chosen + index * rows->experts);
  rows->dropped[index] += statistics.dropped_rows;
  rows->computed[index] += statistics.rows_received;
  sums->aux += statistics.aux_loss;
  sums->z += statistics.z_loss;
  sums->rows += (double)(statistics.rows + statistics.dropped_rows);
  sums->dropped += (double)statistics.dropped_rows;
}

void layer_sums_add(LayerSums* sums, LayerSums more) {
  sums->aux += more.aux;
  sums->z += more.z;
  sums->rows += more.rows;
  sums->dropped += more.dropped;
}

LayerSums rows_count(Rows* rows, const Model* model) {
  LayerSums sums = {0};
  for (int64_t i = 0; i < model->count; ++i) count_layer(rows, model->blocks[i].moe, model->first + i, &sums);
  return sums;
}
