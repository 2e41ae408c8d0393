/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world w;
static void* stale_handles[16];

static const struct {
  const char* kind;
  void* handle;
} places[] = {{"context", &w.context}, {"mesh", &w.mesh},    {"family", &w.shared},       {"parameter", &w.parameter},
              {"layer", &w.layer},     {"tape", &w.tape},    {"optimizer", &w.optimizer}, {"pipeline", &w.pipeline},
              {"bill", &w.bill},       {"report", &w.report}};

void must(int32_t status, const char* what) {
  char text[1024] = "";
  if (status == MOEMESH_OK) return;
  moemesh_last_error(NULL, text, sizeof text, NULL);
  fprintf(stderr, "%s: %s\n", what, text);
  exit(1);
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

void* world_place(int kind) {
  size_t i;
  for (i = 0; i < sizeof places / sizeof places[0]; ++i)
    if (strcmp(places[i].kind, handle_names[kind]) == 0) return places[i].handle;
  fprintf(stderr, "world.c makes no moemesh_%s\n", handle_names[kind]);
  exit(1);
}

void* world_live(int kind) {
  void* handle;
  memcpy(&handle, world_place(kind), sizeof handle);
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

/* For the fuzzer of calls: everything of every state at once, whose objects may then come to any end. */
void world_begin(int in_step) {
  world_fill();
  make_free();
  make_fresh();
  make_spares();
  if (in_step) begin(MOEMESH_SHARD_MEAN);
  if (in_step) forward();
}

void world_end(void) {
  int kind;
  for (kind = 0; kind < handle_kinds; ++kind)
    if (strcmp(handle_names[kind], "context") != 0 && strcmp(handle_names[kind], "mesh") != 0)
      destroy_handle(kind, world_place(kind));
  moemesh_family_destroy(&w.expert);
  moemesh_family_destroy(&w.fresh_shared);
  moemesh_family_destroy(&w.fresh_expert);
  moemesh_family_destroy(&w.free_shared);
  moemesh_family_destroy(&w.free_expert);
  moemesh_mesh_destroy(&w.planned);
  for (kind = 0; kind < handle_kinds; ++kind)
    if (strcmp(handle_names[kind], "mesh") == 0)
      destroy_handle(kind, (void**)&w.mesh), destroy_handle(kind, (void**)&w.spare_mesh);
  for (kind = 0; kind < handle_kinds; ++kind) {
    if (strcmp(handle_names[kind], "context") != 0) continue;
    destroy_handle(kind, (void**)&w.context);
    destroy_handle(kind, (void**)&w.spare_context);
    destroy_handle(kind, (void**)&w.kept_context);
  }
  make_objects();
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
