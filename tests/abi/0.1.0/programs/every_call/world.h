/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * One of everything, on one rank: the objects and arguments with which every function has a call that succeeds. */
#ifndef WORLD_H
#define WORLD_H

#include "reflect.h"

enum { HIDDEN = 2, EXPERTS = 2, TOKENS = 5, ROOM = 1024, MATRIX = 4096, OUTPUTS = 8, OUTPUT_BYTES = 4224 };

enum state {
  STATE_IDLE,     /* no step, no run */
  STATE_FRESH,    /* families fresh_*, one parameter each, not committed; no layer */
  STATE_FREE,     /* families free_*, committed, of no optimizer */
  STATE_STEP,     /* a step is open, shared mean */
  STATE_TOKENS,   /* a step is open, token mean */
  STATE_TAPE,     /* a step is open, `tape` is of its first microbatch */
  STATE_ACQUIRED, /* `parameter` is acquired */
  STATE_RUN,      /* a run of forwards is begun */
  STATE_ACTION,   /* its first action is out */
  STATE_MARKED,   /* a mark of the report is open */
  STATE_QUIET,    /* no report records on the mesh */
  STATE_SPARE,    /* spare_context has no mesh; spare_mesh is of its own context */
  STATES
};

/* Everything that a call may read or, by mistake, write. Spoiled in places, compared as a whole. */
struct values {
  moemesh_context_params context;
  moemesh_mesh_params mesh, planned_mesh;
  moemesh_family_params family;
  moemesh_parameter_params parameter, bill_parameter;
  moemesh_layer_params layer, bill_layer;
  moemesh_forward_params forward;
  moemesh_backward_params backward;
  moemesh_replay_params replay;
  moemesh_layer_load load;
  moemesh_optimizer_params optimizer;
  moemesh_optimizer_counters counters;
  moemesh_step_params step;
  moemesh_update_params update;
  moemesh_pipeline_params pipeline;
  moemesh_pipeline_run run;
  moemesh_bill_params bill;
  moemesh_bill_routing routing;
  moemesh_report_params report;
  /* the first of the views is x, the last more */
  moemesh_view x, y, dx, dy, logits, dlogits, mask, whole, gradient, bias, rows, received, experts, gates, array, more;
  int64_t extents[4], run_rows[ROOM], copies[MATRIX], routed[MATRIX];
  float x_data[ROOM], y_data[ROOM], dx_data[ROOM], dy_data[ROOM], logits_data[ROOM], dlogits_data[ROOM],
      whole_data[ROOM], gradient_data[ROOM], bias_data[ROOM], gates_data[ROOM], array_data[ROOM], more_data[ROOM];
  int64_t rows_data[ROOM], received_data[ROOM];
  int32_t experts_data[ROOM];
  unsigned char mask_data[ROOM];
  char path[256];
  /* Room for structs that a newer header made longer: a valid one is copied here. */
  int64_t longer[2][600];
  int64_t output[OUTPUTS][OUTPUT_BYTES / 8];
};

struct world {
  moemesh_context context, spare_context, kept_context;
  moemesh_mesh mesh, planned, spare_mesh;
  moemesh_family shared, expert, fresh_shared, fresh_expert, free_shared, free_expert;
  moemesh_parameter parameter, fresh_parameter;
  moemesh_layer layer;
  moemesh_tape tape;
  moemesh_optimizer optimizer;
  moemesh_pipeline pipeline;
  moemesh_bill bill;
  moemesh_report report;
  int state;
  struct values v;
};

extern struct world w;

/* All end the program with a message where something fails that must not. */
void world_create(const char* folder);
void world_destroy(void);
void world_enter(int state);
/* Back to STATE_IDLE. */
void world_leave(void);
/* After a call that stopped the report or marked something in it. */
void world_new_report(void);
/* w.v as valid calls want it. */
void world_fill(void);
/* The arguments of a call of `function` that succeeds in its state. */
void world_prepare(const struct function* function, arguments* passed);
/* One training step; a hash of everything that it computed. */
uint64_t world_step(void);
/* A live handle, and one that was destroyed, of each kind. */
void* world_live(int kind);
void* world_stale(int kind);

/* Their least fields. */
void fill_layer(moemesh_layer_params* layer, const char* name);
void fill_parameter(moemesh_parameter_params* parameter, const char* name);

/* For the fuzzer of calls: everything of every state at once, whose objects may then come to any end. */
void world_begin(int in_step);
void world_end(void);
/* Where the world keeps its handle of a kind. */
void* world_place(int kind);

/* The allocator of its contexts (limit.cpp; valid.c has its own). */
void* limited_allocate(void* user, int64_t bytes, int64_t alignment);
void limited_free(void* user, void* pointer, int64_t bytes);

/* Of a pipeline. */
int32_t world_action(void* user, const moemesh_pipeline_action* action);

void must(int32_t status, const char* what);
#define MUST(call) must(call, #call)

#endif
