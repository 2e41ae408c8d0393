/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * plugin_host [FOLDER [mpi]]: a program that is compiled with moemesh's header and linked to nothing of it. Takes the
 * best flavour that works here, trains the small problem with it and unloads it. With `mpi` it is one of mpirun's 1, 2
 * or 4 ranks. What it chooses, and why, goes to stderr. */
#include <stdio.h>

#include "loader.h"
#include "problem.h"

enum { STEPS = 40 };

static int report(const moemesh_api* api, int32_t status) {
  char text[512] = "";
  if (status == MOEMESH_OK) return 1;
  api->last_error(NULL, text, sizeof text, NULL);
  fprintf(stderr, "%s\n", text);
  return 0;
}

static int train(problem* p) {
  int64_t rows[PROBLEM_EXPERTS];
  double loss = 0;
  for (int step = 1; step <= STEPS; ++step) {
    if (!report(p->api, problem_step(p, &loss))) return 0;
    if (p->rank == 0 && (step == 1 || step % 10 == 0)) printf("step %2d  loss %.6f\n", step, loss);
  }
  if (!report(p->api, problem_rows(p, rows))) return 0;
  if (p->rank == 0) printf("rows per expert%4d%4d%4d%4d\n", (int)rows[0], (int)rows[1], (int)rows[2], (int)rows[3]);
  return report(p->api, problem_finalize(p));
}

/* 1: it trained. 0: training failed. -1: this flavour does not work here (no device, say), another one may. */
static int run(const moemesh_api* api, int mpi) {
  static problem p;
  int result = -1;
  if (!report(api, problem_init(&p, api))) return -1;
  if (mpi) {
    p.context_params.comm.kind = MOEMESH_COMM_MPI_WORLD;
    p.context_params.mpi_init = 1;
  }
  if (report(api, problem_create(&p))) result = train(&p);
  problem_destroy(&p);
  return result;
}

int main(int argc, char** argv) {
  const char* const folder = argc > 1 ? argv[1] : NULL;
  char why[1024] = "";
  for (const char* const* name = plugin_flavours; *name; ++name) {
    plugin flavour;
    int result;
    if (!plugin_open(&flavour, folder, *name, why, sizeof why)) {
      fprintf(stderr, "not used: %s\n", why);
      continue;
    }
    fprintf(stderr, "using %s\n", *name);
    result = run(flavour.api, argc > 2);
    if (!plugin_close(&flavour, why, sizeof why)) fprintf(stderr, "%s\n", why);
    if (result >= 0) return result == 1 ? 0 : 1;
  }
  fprintf(stderr, "no moemesh can be used here\n");
  return 1;
}
