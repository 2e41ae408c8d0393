/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The arguments of valid calls. */
#include <stdio.h>
#include <string.h>

#include "world.h"

/* Where a run's actions go. */
int32_t world_action(void* user, const moemesh_pipeline_action* action) {
  (void)user;
  return action->kind == MOEMESH_ACTION_FORWARD ? MOEMESH_OK : MOEMESH_ERROR_INVALID_STATE;
}

static void make_view(moemesh_view* view, int32_t dtype, int32_t rank, int64_t a, int64_t b, void* data) {
  const int64_t extents[2] = {a, b};
  MUST(moemesh_view_init(view, dtype, rank, extents, data));
}

static void fill_views(struct values* v) {
  int i;
  make_view(&v->x, MOEMESH_FLOAT32, 2, TOKENS, HIDDEN, v->x_data);
  make_view(&v->y, MOEMESH_FLOAT32, 2, TOKENS, HIDDEN, v->y_data);
  make_view(&v->dx, MOEMESH_FLOAT32, 2, TOKENS, HIDDEN, v->dx_data);
  make_view(&v->dy, MOEMESH_FLOAT32, 2, TOKENS, HIDDEN, v->dy_data);
  make_view(&v->logits, MOEMESH_FLOAT32, 2, TOKENS, EXPERTS, v->logits_data);
  make_view(&v->dlogits, MOEMESH_FLOAT32, 2, TOKENS, EXPERTS, v->dlogits_data);
  make_view(&v->mask, MOEMESH_UINT8, 1, TOKENS, 0, v->mask_data);
  make_view(&v->whole, MOEMESH_FLOAT32, 2, 3, 4, v->whole_data);
  make_view(&v->gradient, MOEMESH_FLOAT32, 2, 3, 4, v->gradient_data);
  make_view(&v->bias, MOEMESH_FLOAT32, 1, EXPERTS, 0, v->bias_data);
  make_view(&v->rows, MOEMESH_INT64, 1, EXPERTS, 0, v->rows_data);
  make_view(&v->received, MOEMESH_INT64, 1, EXPERTS, 0, v->received_data);
  make_view(&v->experts, MOEMESH_INT32, 2, TOKENS, 1, v->experts_data);
  make_view(&v->gates, MOEMESH_FLOAT32, 2, TOKENS, 1, v->gates_data);
  make_view(&v->array, MOEMESH_FLOAT32, 2, 3, 4, v->array_data);
  make_view(&v->more, MOEMESH_FLOAT32, 2, 3, 4, v->more_data);
  for (i = 0; i < ROOM; ++i) {
    v->x_data[i] = (float)(i % 97 + 1) / 16;
    v->dy_data[i] = (float)(i % 89 - 44) / 32;
    v->logits_data[i] = (float)(i % 7);
    v->whole_data[i] = v->gradient_data[i] = (float)(i % 5) / 8;
    v->mask_data[i] = 1;
  }
}

void fill_layer(moemesh_layer_params* layer, const char* name) {
  MUST(moemesh_layer_params_init(layer, sizeof *layer));
  layer->name = name;
  layer->hidden = layer->ffn = HIDDEN;
  layer->experts = EXPERTS;
  layer->top_k = 1;
  layer->router = MOEMESH_ROUTER_CALLER;
}

void fill_parameter(moemesh_parameter_params* parameter, const char* name) {
  MUST(moemesh_parameter_params_init(parameter, sizeof *parameter));
  parameter->name = name;
  parameter->rank = 2;
  parameter->extents[0] = 3;
  parameter->extents[1] = 4;
  parameter->init_kind = MOEMESH_INIT_UNIFORM;
  parameter->init_value = 1;
}

static void fill_steps(struct values* v) {
  MUST(moemesh_forward_params_init(&v->forward, sizeof v->forward));
  v->forward.x = &v->x;
  v->forward.y = &v->y;
  v->forward.mask = &v->mask;
  v->forward.logits = &v->logits;
  MUST(moemesh_backward_params_init(&v->backward, sizeof v->backward));
  v->backward.dy = &v->dy;
  v->backward.x = &v->x;
  v->backward.dx = &v->dx;
  v->backward.dlogits = &v->dlogits;
  MUST(moemesh_replay_params_init(&v->replay, sizeof v->replay));
  v->replay.x = &v->x;
  v->replay.y = &v->y;
  MUST(moemesh_optimizer_params_init(&v->optimizer, sizeof v->optimizer));
  v->optimizer.learning_rate = 0; /* so that every step computes the same */
  MUST(moemesh_step_params_init(&v->step, sizeof v->step));
  MUST(moemesh_update_params_init(&v->update, sizeof v->update));
  MUST(moemesh_pipeline_params_init(&v->pipeline, sizeof v->pipeline));
  v->pipeline.width = HIDDEN;
  MUST(moemesh_pipeline_run_init(&v->run, sizeof v->run));
  v->run.rows = v->run_rows;
  v->run.training = 0;
  v->load = (moemesh_layer_load){sizeof v->load, TOKENS, 1, TOKENS, TOKENS, TOKENS, TOKENS, TOKENS, TOKENS};
  v->counters = (moemesh_optimizer_counters){sizeof v->counters, 3, 1};
}

static void fill_reports(struct values* v) {
  MUST(moemesh_bill_params_init(&v->bill, sizeof v->bill));
  v->bill.tokens = 16;
  v->routing = (moemesh_bill_routing){sizeof v->routing, v->copies, v->routed};
  MUST(moemesh_report_params_init(&v->report, sizeof v->report));
  v->report.events = 64;
  v->report.steps = 8;
}

void world_fill(void) {
  static char path[sizeof w.v.path];
  static char names[3][32];
  static int number = 0;
  struct values* v = &w.v;
  int i;
  memcpy(path, v->path, sizeof path);
  memset(v, 0, sizeof *v);
  memcpy(v->path, path, sizeof path);
  memset(v->output, 0xab, sizeof v->output);
  for (i = 0; i < 3; ++i)
    snprintf(names[i], sizeof names[i], "n%d.%d", number, i); /* bills keep what they were given */
  ++number;
  fill_views(v);
  MUST(moemesh_context_params_init(&v->context, sizeof v->context));
  v->context.threads = 1;
  v->context.allocate = limited_allocate;
  v->context.free = limited_free;
  MUST(moemesh_mesh_params_init(&v->mesh, sizeof v->mesh));
  MUST(moemesh_mesh_params_init(&v->planned_mesh, sizeof v->planned_mesh));
  v->planned_mesh.ep = 2;
  MUST(moemesh_family_params_init(&v->family, sizeof v->family));
  v->family.kind = MOEMESH_SHARED;
  fill_parameter(&v->parameter, "another");
  fill_parameter(&v->bill_parameter, names[0]);
  fill_layer(&v->layer, "another");
  fill_layer(&v->bill_layer, names[1]);
  fill_steps(v);
  fill_reports(v);
  for (i = 0; i < 4; ++i) v->extents[i] = i + 3;
  for (i = 0; i < MATRIX; ++i) v->copies[i] = v->routed[i] = 4;
  for (i = 0; i < ROOM; ++i) v->run_rows[i] = TOKENS;
}

void world_prepare(const struct function* function, arguments* passed) {
  int i;
  world_fill();
  memset(passed, 0, sizeof *passed);
  function->set_valid(passed);
  for (i = 0; i < function->arguments; ++i) {
    const struct field* a = &function->argument[i];
    void* out;
    if (a->kind != KIND_OUT || !a->type->sized || function->argument[function->arguments - 1].kind == KIND_SIZE)
      continue;
    memcpy(&out, (char*)passed + a->offset, sizeof out);
    *(int64_t*)out = (int64_t)a->type->size;
  }
}
