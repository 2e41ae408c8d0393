/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * A mixture-of-experts layer learns a function of 64 tokens: 8 numbers each, 4 experts, 2 of them for a token. Alone, or
 * with the argument mpi as 1, 2 or 4 ranks of mpirun, over which tokens and experts are cut: the numbers are the same. */
#include <moemesh.h>
#include <stdio.h>
#include <stdlib.h>
enum { T = 64, H = 8, E = 4 };
#define CHECK(call) check(call, #call)
/* PARAMS(mesh) makes mesh_params with their defaults; OBJECT(mesh) also a handle, mesh. */
#define PARAMS(k) moemesh_##k##_params k##_params; CHECK(moemesh_##k##_params_init(&k##_params, sizeof k##_params))
#define OBJECT(k) moemesh_##k k; PARAMS(k)
#define VIEW(v, type, p, n, ...) moemesh_view v; CHECK(moemesh_view_init(&v, type, n, (int64_t[]){__VA_ARGS__}, p))

static void check(int32_t status, const char* call) {
  char text[512] = "";
  if (status == MOEMESH_OK) return;
  moemesh_last_error(NULL, text, sizeof text, NULL);
  fprintf(stderr, "%s\n%s\n", call, text), exit(1);
}

int main(int argc, char** argv) {
  OBJECT(context);
  if (argc > 1 && argv[1][0] == 'm') context_params.comm.kind = MOEMESH_COMM_MPI_WORLD, context_params.mpi_init = 1;
  CHECK(moemesh_context_create(&context_params, &context));
  moemesh_context_info me = {.struct_size = sizeof me};
  CHECK(moemesh_context_get_info(context, &me));
  OBJECT(mesh); /* experts and tokens are split over all ranks */
  mesh_params.ep = (int32_t)me.size, CHECK(moemesh_mesh_create(context, &mesh_params, &mesh));
  PARAMS(family);
  moemesh_family shared, expert; /* weights that all ranks have (here the router's), and the experts' */
  family_params.kind = MOEMESH_SHARED, CHECK(moemesh_family_create(mesh, &family_params, &shared));
  family_params.kind = MOEMESH_EXPERT, CHECK(moemesh_family_create(mesh, &family_params, &expert));
  OBJECT(layer);
  layer_params.name = "moe", layer_params.hidden = H, layer_params.ffn = 16, layer_params.experts = E; /* SwiGLU */
  layer_params.top_k = 2, layer_params.init_std_router = layer_params.init_std_in = layer_params.init_std_out = 0.4;
  layer_params.aux_coefficient = 0.01, layer_params.aux_scope = MOEMESH_AUX_SEQUENCE; /* balances each of 4 sequences */
  CHECK(moemesh_layer_create(mesh, shared, expert, &layer_params, &layer));
  CHECK(moemesh_family_commit(shared)), CHECK(moemesh_family_commit(expert));
  OBJECT(optimizer); /* AdamW */
  optimizer_params.learning_rate = 0.02;
  CHECK(moemesh_optimizer_create(mesh, shared, expert, &optimizer_params, &optimizer));

  static float x[T * H], y[T * H], dy[T * H], dx[T * H];
  const int n = (int)(T / me.size), first = (int)me.rank * n; /* this rank's tokens */
  for (int i = 0; i < n * H; ++i) x[i] = (float)((7 * (first + i / H) + (3 + first + i / H) * (i % H)) % 11 - 5) / 4;
  VIEW(x_view, MOEMESH_FLOAT32, x, 2, n, H);
  VIEW(y_view, MOEMESH_FLOAT32, y, 2, n, H);
  VIEW(dy_view, MOEMESH_FLOAT32, dy, 2, n, H);
  VIEW(dx_view, MOEMESH_FLOAT32, dx, 2, n, H);
  double loss = 0;
  VIEW(loss_view, MOEMESH_FLOAT64, &loss, 1, 1);
  PARAMS(forward);
  forward_params.x = &x_view, forward_params.y = &y_view, forward_params.sequences = 4 / me.size;
  PARAMS(backward);
  backward_params.dy = &dy_view, backward_params.dx = &dx_view;
  for (int step = 1; step <= 40; ++step) {
    moemesh_tape tape;
    CHECK(moemesh_step_begin(optimizer, NULL)), CHECK(moemesh_layer_forward(layer, &forward_params, &tape));
    loss = 0; /* mean of (y - target)^2; dy: the gradient of this rank's own mean */
    for (int i = 0; i < n * H; ++i) {
      const float error = y[i] - x[i] * x[i ^ 7]; /* target of h: x[h] * x[7 - h] */
      loss += (double)error * error / (T * H), dy[i] = 2 * error / (float)(n * H);
    }
    CHECK(moemesh_layer_backward(&tape, &backward_params)), CHECK(moemesh_optimizer_step(optimizer, NULL, NULL));
    CHECK(moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, &loss_view));
    if (me.rank == 0 && (step == 1 || step % 10 == 0)) printf("step %2d  loss %.6f\n", step, loss);
  }
  int64_t rows[E];
  VIEW(rows_view, MOEMESH_INT64, rows, 1, E);
  CHECK(moemesh_layer_get_rows(layer, &rows_view, NULL));
  CHECK(moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, &rows_view));
  if (me.rank == 0) printf("rows per expert%4d%4d%4d%4d\n", (int)rows[0], (int)rows[1], (int)rows[2], (int)rows[3]);
  moemesh_optimizer_destroy(&optimizer), moemesh_layer_destroy(&layer);
  moemesh_family_destroy(&shared), moemesh_family_destroy(&expert);
  CHECK(moemesh_mesh_finalize(mesh)), moemesh_mesh_destroy(&mesh);
  CHECK(moemesh_context_finalize(context)), moemesh_context_destroy(&context), CHECK(moemesh_shutdown());
}
