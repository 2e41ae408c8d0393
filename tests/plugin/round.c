/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#include "round.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "counts.h"

/* As one rank computes them; the mesh changes no more than rounding. */
static const double known[ROUND_STEPS] = {0.780682859, 0.493187547, 0.326680592};

int open_library(plugin* opened, const char* folder) {
  char why[1024] = "";
  const int good = plugin_open(opened, folder, "libmoemesh.so", why, sizeof why);
  if (!good) fprintf(stderr, "%s\n", why);
  EXPECT(good);
  return good;
}

void close_library(plugin* opened) {
  char why[1024] = "";
  const int good = plugin_close(opened, why, sizeof why);
  if (!good) fprintf(stderr, "%s\n", why);
  EXPECT(good);
}

static int succeeds(const moemesh_api* api, int32_t status, const char* what) {
  char text[512] = "";
  if (status == MOEMESH_OK) return 1;
  api->last_error(NULL, text, sizeof text, NULL);
  fprintf(stderr, "%s: %s\n", what, text);
  ++failures;
  return 0;
}

static void steps(problem* p) {
  for (int step = 0; step < ROUND_STEPS; ++step) {
    double loss = -1;
    if (!succeeds(p->api, problem_step(p, &loss), "step")) return;
    if (fabs(loss - known[step]) > 2e-6) fprintf(stderr, "step %d: loss %.9f\n", step, loss);
    EXPECT(fabs(loss - known[step]) <= 2e-6);
  }
  succeeds(p->api, problem_finalize(p), "finalize");
}

void run_steps(const moemesh_api* api, moemesh_comm comm) {
  problem p;
  if (!succeeds(api, problem_init(&p, api), "init")) return;
  p.context_params.comm = comm;
  if (succeeds(api, problem_create(&p), "create")) steps(&p);
  problem_destroy(&p);
}

int32_t try_create(const moemesh_api* api, moemesh_comm comm, int32_t mpi_init, int32_t progress, char* text,
                   int64_t capacity) {
  moemesh_context_params params;
  moemesh_context context = NULL;
  int32_t status = api->context_params_init(&params, sizeof params);
  params.comm = comm;
  params.mpi_init = mpi_init;
  params.progress = progress;
  if (status == MOEMESH_OK) status = api->context_create(&params, &context);
  if (text) api->last_error(NULL, text, capacity, NULL);
  if (status == MOEMESH_OK) api->context_finalize(context);
  api->context_destroy(&context);
  return status;
}

void expect_refused(const moemesh_api* api, moemesh_comm comm, int32_t progress, int32_t status, const char* part) {
  char text[1024] = "";
  const int32_t got = try_create(api, comm, 0, progress, text, sizeof text);
  if (got != status || !strstr(text, part)) fprintf(stderr, "status %d: %s\n", got, text);
  EXPECT(got == status);
  EXPECT(strstr(text, part) != NULL);
}

moemesh_comm no_communicator(void) {
  const moemesh_comm none = {.kind = MOEMESH_COMM_NONE};
  return none;
}

moemesh_comm world_of_the_module(void) {
  const moemesh_comm world = {.kind = MOEMESH_COMM_MPI_WORLD};
  return world;
}
