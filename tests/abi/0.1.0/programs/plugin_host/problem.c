/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#include "problem.h"

#include <string.h>

enum { T = PROBLEM_TOKENS, H = PROBLEM_HIDDEN };

#define TRY(call)                              \
  do {                                         \
    const int32_t status_ = (call);            \
    if (status_ != MOEMESH_OK) return status_; \
  } while (0)

int32_t problem_init(problem* p, const moemesh_api* api) {
  memset(p, 0, sizeof *p);
  p->api = api;
  return api->context_params_init(&p->context_params, sizeof p->context_params);
}

static int32_t create_mesh(problem* p) {
  moemesh_mesh_params params;
  moemesh_context_info info = {.struct_size = sizeof info};
  TRY(p->api->context_get_info(p->context, &info));
  TRY(p->api->mesh_params_init(&params, sizeof params));
  p->rank = info.rank;
  p->ranks = info.size;
  params.ep = (int32_t)info.size;
  return p->api->mesh_create(p->context, &params, &p->mesh);
}

static int32_t create_families(problem* p) {
  moemesh_family_params params;
  TRY(p->api->family_params_init(&params, sizeof params));
  params.kind = MOEMESH_SHARED;
  TRY(p->api->family_create(p->mesh, &params, &p->shared));
  params.kind = MOEMESH_EXPERT;
  return p->api->family_create(p->mesh, &params, &p->expert);
}

static int32_t create_layer(problem* p) {
  moemesh_layer_params params;
  TRY(p->api->layer_params_init(&params, sizeof params));
  params.name = "moe";
  params.hidden = H;
  params.ffn = 2 * H;
  params.experts = PROBLEM_EXPERTS;
  params.top_k = 2;
  params.init_std_router = params.init_std_in = params.init_std_out = 0.4;
  params.aux_coefficient = 0.01;
  params.aux_scope = MOEMESH_AUX_SEQUENCE;
  return p->api->layer_create(p->mesh, p->shared, p->expert, &params, &p->layer);
}

static int32_t create_optimizer(problem* p) {
  moemesh_optimizer_params params;
  TRY(p->api->family_commit(p->shared));
  TRY(p->api->family_commit(p->expert));
  TRY(p->api->optimizer_params_init(&params, sizeof params));
  params.learning_rate = 0.02;
  return p->api->optimizer_create(p->mesh, p->shared, p->expert, &params, &p->optimizer);
}

int32_t problem_create(problem* p) {
  TRY(p->api->context_create(&p->context_params, &p->context));
  TRY(create_mesh(p));
  TRY(create_families(p));
  TRY(create_layer(p));
  TRY(create_optimizer(p));
  const int n = T / (int)p->ranks, first = (int)p->rank * n;
  for (int i = 0; i < n * H; ++i) p->x[i] = (float)((7 * (first + i / H) + (3 + first + i / H) * (i % H)) % 11 - 5) / 4;
  return MOEMESH_OK;
}

static int32_t view_of(const problem* p, moemesh_view* view, float* data) {
  const int64_t extents[] = {T / p->ranks, H};
  return p->api->view_init(view, MOEMESH_FLOAT32, 2, extents, data);
}

static int32_t forward(problem* p, moemesh_tape* tape) {
  moemesh_forward_params params;
  moemesh_view x, y;
  TRY(view_of(p, &x, p->x));
  TRY(view_of(p, &y, p->y));
  TRY(p->api->forward_params_init(&params, sizeof params));
  params.x = &x;
  params.y = &y;
  params.sequences = 4 / p->ranks;
  return p->api->layer_forward(p->layer, &params, tape);
}

static int32_t backward(problem* p, moemesh_tape* tape) {
  moemesh_backward_params params;
  moemesh_view dy, dx;
  TRY(view_of(p, &dy, p->dy));
  TRY(view_of(p, &dx, p->dx));
  TRY(p->api->backward_params_init(&params, sizeof params));
  params.dy = &dy;
  params.dx = &dx;
  return p->api->layer_backward(tape, &params);
}

/* This rank's part of the loss over all tokens; dy is the gradient of its own mean. */
static double compare(problem* p) {
  const int n = T / (int)p->ranks * H;
  double loss = 0;
  for (int i = 0; i < n; ++i) {
    const float error = p->y[i] - p->x[i] * p->x[i ^ 7];
    loss += (double)error * error / (T * H);
    p->dy[i] = 2 * error / (float)n;
  }
  return loss;
}

int32_t problem_step(problem* p, double* loss) {
  moemesh_tape tape = NULL;
  moemesh_view view;
  const int64_t one = 1;
  TRY(p->api->view_init(&view, MOEMESH_FLOAT64, 1, &one, loss));
  TRY(p->api->step_begin(p->optimizer, NULL));
  TRY(forward(p, &tape));
  *loss = compare(p);
  TRY(backward(p, &tape));
  TRY(p->api->optimizer_step(p->optimizer, NULL, NULL));
  return p->api->all_reduce(p->mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, &view);
}

int32_t problem_rows(problem* p, int64_t* rows) {
  const int64_t experts = PROBLEM_EXPERTS;
  moemesh_view view;
  TRY(p->api->view_init(&view, MOEMESH_INT64, 1, &experts, rows));
  TRY(p->api->layer_get_rows(p->layer, &view, NULL));
  return p->api->all_reduce(p->mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, &view);
}

int32_t problem_finalize(problem* p) {
  TRY(p->api->mesh_finalize(p->mesh));
  p->api->optimizer_destroy(&p->optimizer);
  p->api->layer_destroy(&p->layer);
  p->api->family_destroy(&p->shared);
  p->api->family_destroy(&p->expert);
  p->api->mesh_destroy(&p->mesh);
  return p->api->context_finalize(p->context);
}

void problem_destroy(problem* p) {
  p->api->optimizer_destroy(&p->optimizer);
  p->api->layer_destroy(&p->layer);
  p->api->family_destroy(&p->shared);
  p->api->family_destroy(&p->expert);
  p->api->mesh_destroy(&p->mesh);
  p->api->context_destroy(&p->context);
}
