/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world w;
void* limited_allocate(void* user, int64_t bytes, int64_t alignment); /* limit.cpp */
void limited_free(void* user, void* pointer, int64_t bytes);
static void* stale_handles[16];

static const struct {
  const char* kind;
  void* handle;
} places[] = {{"context", &w.context}, {"mesh", &w.mesh},           {"family", &w.shared},     {"parameter", &w.parameter},
              {"layer", &w.layer},     {"tape", &w.tape},           {"optimizer", &w.optimizer}, {"pipeline", &w.pipeline},
              {"bill", &w.bill},       {"report", &w.report}};

void must(int32_t status, const char* what) {
  char text[1024] = "";
  if (status == MOEMESH_OK) return;
  moemesh_last_error(NULL, text, sizeof text, NULL);
  fprintf(stderr, "%s: %s\n", what, text);
  exit(1);
}

/* Where a run's actions go. */
int32_t world_action(void* user, const moemesh_pipeline_action* action);
int32_t world_action(void* user, const moemesh_pipeline_action* action) {
  (void)user;
  return action->kind == MOEMESH_ACTION_FORWARD ? MOEMESH_OK : MOEMESH_ERROR_INVALID_STATE;
}

/* ---- arguments */

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

static void fill_layer(moemesh_layer_params* layer, const char* name) {
  MUST(moemesh_layer_params_init(layer, sizeof *layer));
  layer->name = name;
  layer->hidden = layer->ffn = HIDDEN;
  layer->experts = EXPERTS;
  layer->top_k = 1;
  layer->router = MOEMESH_ROUTER_CALLER;
}

static void fill_parameter(moemesh_parameter_params* parameter, const char* name) {
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
  for (i = 0; i < 3; ++i) snprintf(names[i], sizeof names[i], "n%d.%d", number, i); /* bills keep what they were given */
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
  for (i = 0; i < 4; ++i) {
    v->extents[i] = i + 3;
    v->copies[i] = v->routed[i] = 4;
  }
  v->run_rows[0] = v->run_rows[1] = TOKENS;
}

/* ---- objects */

static moemesh_family make_family(moemesh_mesh mesh, int32_t kind) {
  moemesh_family_params params;
  moemesh_family family = NULL;
  MUST(moemesh_family_params_init(&params, sizeof params));
  params.kind = kind;
  MUST(moemesh_family_create(mesh, &params, &family));
  return family;
}

static moemesh_parameter make_parameter(moemesh_family family, int64_t experts) {
  moemesh_parameter_params params;
  moemesh_parameter parameter = NULL;
  fill_parameter(&params, "p");
  params.experts = experts;
  MUST(moemesh_parameter_register(family, &params, &parameter));
  return parameter;
}

static void make_model(void) {
  w.shared = make_family(w.mesh, MOEMESH_SHARED);
  w.expert = make_family(w.mesh, MOEMESH_EXPERT);
  w.parameter = make_parameter(w.shared, 0);
  fill_layer(&w.v.layer, "moe");
  w.v.layer.init_std_in = w.v.layer.init_std_out = 1;
  MUST(moemesh_layer_create(w.mesh, w.shared, w.expert, &w.v.layer, &w.layer));
  MUST(moemesh_family_commit(w.shared));
  MUST(moemesh_family_commit(w.expert));
  MUST(moemesh_optimizer_create(w.mesh, w.shared, w.expert, &w.v.optimizer, &w.optimizer));
}

static void make_bill(void) {
  int64_t count = 0;
  MUST(moemesh_mesh_plan(w.context, 2, &w.v.planned_mesh, &w.planned));
  MUST(moemesh_bill_create(w.planned, &w.v.bill, &w.bill));
  fill_layer(&w.v.bill_layer, "moe");
  MUST(moemesh_bill_add_layer(w.bill, 0, &w.v.bill_layer, NULL));
  MUST(moemesh_bill_get_count(w.bill, 0, &count));
  if (count < 1) must(MOEMESH_ERROR_INTERNAL, "the bill is empty");
}

static void make_report(void) {
  world_fill();
  MUST(moemesh_report_create(w.mesh, &w.v.report, &w.report));
  world_step();
  MUST(moemesh_report_collect(w.report));
}

static void drop_report(void) {
  MUST(moemesh_report_stop(w.report));
  moemesh_report_destroy(&w.report);
}

static void make_spares(void) {
  MUST(moemesh_context_create(&w.v.context, &w.spare_context));
  MUST(moemesh_context_create(&w.v.context, &w.kept_context));
  MUST(moemesh_mesh_create(w.kept_context, &w.v.mesh, &w.spare_mesh));
}

/* A call of the test may have finalized them. */
static void drop_spares(void) {
  (void)moemesh_mesh_finalize(w.spare_mesh);
  moemesh_mesh_destroy(&w.spare_mesh);
  (void)moemesh_context_finalize(w.spare_context);
  moemesh_context_destroy(&w.spare_context);
  MUST(moemesh_context_finalize(w.kept_context));
  moemesh_context_destroy(&w.kept_context);
}

/* Everything that lasts. */
static void make_objects(void) {
  world_fill();
  MUST(moemesh_context_create(&w.v.context, &w.context));
  MUST(moemesh_mesh_create(w.context, &w.v.mesh, &w.mesh));
  make_model();
  MUST(moemesh_pipeline_create(w.mesh, NULL, &w.v.pipeline, &w.pipeline));
  make_bill();
  make_report();
}

static void drop_objects(void) {
  drop_report();
  moemesh_bill_destroy(&w.bill);
  moemesh_mesh_destroy(&w.planned);
  moemesh_pipeline_destroy(&w.pipeline);
  moemesh_optimizer_destroy(&w.optimizer);
  moemesh_layer_destroy(&w.layer);
  moemesh_family_destroy(&w.shared);
  moemesh_family_destroy(&w.expert);
  MUST(moemesh_mesh_finalize(w.mesh));
  moemesh_mesh_destroy(&w.mesh);
  MUST(moemesh_context_finalize(w.context));
  moemesh_context_destroy(&w.context);
}

static void* place_of(int kind) {
  size_t i;
  for (i = 0; i < sizeof places / sizeof places[0]; ++i)
    if (strcmp(places[i].kind, handle_names[kind]) == 0) return places[i].handle;
  fprintf(stderr, "world.c makes no moemesh_%s\n", handle_names[kind]);
  exit(1);
}

void* world_live(int kind) {
  void* handle;
  memcpy(&handle, place_of(kind), sizeof handle);
  return handle;
}

void* world_stale(int kind) { return stale_handles[kind]; }

void world_create(const char* folder) {
  int kind;
  snprintf(w.v.path, sizeof w.v.path, "%s/report.txt", folder);
  make_objects();
  world_enter(STATE_TAPE);
  for (kind = 0; kind < handle_kinds; ++kind) stale_handles[kind] = world_live(kind);
  world_leave();
  drop_objects();
  make_objects();
  world_enter(STATE_IDLE);
}

void world_destroy(void) {
  world_leave();
  drop_objects();
}

/* ---- states */

static void forward(void) { MUST(moemesh_layer_forward(w.layer, &w.v.forward, &w.tape)); }

static void begin(int32_t objective) {
  w.v.step.objective = objective;
  MUST(moemesh_step_begin(w.optimizer, &w.v.step));
}

static void make_fresh(void) {
  w.fresh_shared = make_family(w.mesh, MOEMESH_SHARED);
  w.fresh_expert = make_family(w.mesh, MOEMESH_EXPERT);
  w.fresh_parameter = make_parameter(w.fresh_shared, 0);
}

static void make_free(void) {
  w.free_shared = make_family(w.mesh, MOEMESH_SHARED);
  w.free_expert = make_family(w.mesh, MOEMESH_EXPERT);
  make_parameter(w.free_shared, 0);
  make_parameter(w.free_expert, EXPERTS);
  MUST(moemesh_family_commit(w.free_shared));
  MUST(moemesh_family_commit(w.free_expert));
}

static void make_run(int state) {
  moemesh_pipeline_action action;
  MUST(moemesh_pipeline_begin(w.pipeline, &w.v.run));
  action.struct_size = sizeof action;
  if (state == STATE_ACTION) MUST(moemesh_pipeline_next(w.pipeline, &action));
}

void world_enter(int state) {
  world_fill();
  w.state = state;
  if (state == STATE_FRESH) make_fresh();
  if (state == STATE_FREE) make_free();
  if (state == STATE_STEP || state == STATE_TAPE) begin(MOEMESH_SHARD_MEAN);
  if (state == STATE_TOKENS) begin(MOEMESH_TOKEN_MEAN);
  if (state == STATE_TAPE) forward();
  if (state == STATE_ACQUIRED) MUST(moemesh_parameter_acquire(w.parameter, NULL, &w.v.more));
  if (state == STATE_RUN || state == STATE_ACTION) make_run(state);
  if (state == STATE_MARKED) MUST(moemesh_report_mark_begin(w.report, "mark"));
  if (state == STATE_QUIET) drop_report();
  if (state == STATE_SPARE) make_spares();
  world_fill();
}

/* What the call of the test did is not known: whatever can be open is closed. */
void world_leave(void) {
  moemesh_tape_destroy(&w.tape);
  (void)moemesh_step_end(w.optimizer, 0);
  while (moemesh_parameter_release(w.parameter) == MOEMESH_OK) continue;
  moemesh_family_destroy(&w.fresh_shared);
  moemesh_family_destroy(&w.fresh_expert);
  moemesh_family_destroy(&w.free_shared);
  moemesh_family_destroy(&w.free_expert);
  world_fill();
  moemesh_pipeline_destroy(&w.pipeline);
  MUST(moemesh_pipeline_create(w.mesh, NULL, &w.v.pipeline, &w.pipeline));
  if (w.state == STATE_SPARE) drop_spares();
  if (w.state == STATE_QUIET) make_report();
  w.state = STATE_IDLE;
}

void world_new_report(void) {
  (void)moemesh_report_stop(w.report);
  moemesh_report_destroy(&w.report);
  make_report();
}

/* ---- what it computes */

static uint64_t hash_of(uint64_t hash, const void* data, size_t bytes) {
  const unsigned char* p = data;
  while (bytes-- > 0) hash = (hash ^ *p++) * UINT64_C(0x100000001b3);
  return hash;
}

uint64_t world_step(void) {
  moemesh_update_result result = {.struct_size = sizeof result};
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  world_fill();
  begin(MOEMESH_SHARD_MEAN);
  forward();
  MUST(moemesh_layer_backward(&w.tape, &w.v.backward));
  MUST(moemesh_gradient_ready(w.parameter, &w.v.gradient, NULL));
  MUST(moemesh_optimizer_step(w.optimizer, &w.v.update, &result));
  hash = hash_of(hash, w.v.y_data, sizeof w.v.y_data);
  hash = hash_of(hash, w.v.dx_data, sizeof w.v.dx_data);
  hash = hash_of(hash, w.v.dlogits_data, sizeof w.v.dlogits_data);
  return hash_of(hash, &result.norm, sizeof result.norm);
}

void world_prepare(const struct function* function, arguments* passed) {
  int i;
  world_fill();
  memset(passed, 0, sizeof *passed);
  function->set_valid(passed);
  for (i = 0; i < function->arguments; ++i) {
    const struct field* a = &function->argument[i];
    void* out;
    if (a->kind != KIND_OUT || !a->type->sized || function->argument[function->arguments - 1].kind == KIND_SIZE) continue;
    memcpy(&out, (char*)passed + a->offset, sizeof out);
    *(int64_t*)out = (int64_t)a->type->size;
  }
}
