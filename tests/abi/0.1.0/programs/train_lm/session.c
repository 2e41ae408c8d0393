/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

/* No wait of a healthy run is as long: a rank that is lost ends the program instead of hanging it. */
static const double deadline_seconds = 600;

/* Errors come back as statuses too, and check_status prints those. */
static void print_message(void* user, int32_t level, const char* message) {
  (void)user;
  if (level == MOEMESH_LOG_WARNING) fprintf(stderr, "moemesh: %s\n", message);
}

static void open_context(Session* session, const Options* options) {
  moemesh_context_params params;
  CHECK(moemesh_context_params_init(&params, sizeof params));
  params.comm.kind = options->mpi ? MOEMESH_COMM_MPI_WORLD : MOEMESH_COMM_NONE;
  params.mpi_init = options->mpi ? 1 : 0;
  params.threads = (int32_t)options->threads;
  params.timeout_seconds = deadline_seconds;
  params.log = print_message;
  params.log_level = MOEMESH_LOG_WARNING;
  CHECK(moemesh_context_create(&params, &session->context));

  moemesh_context_info info = {.struct_size = sizeof info};
  CHECK(moemesh_context_get_info(session->context, &info));
  session->rank = info.rank;
  session->world = info.size;
  session->nodes = info.nodes;
  session->threads = info.threads;
  check_use_context(session->context, info.rank);
}

void session_describe_mesh(moemesh_mesh_params* params, const Options* options) {
  CHECK(moemesh_mesh_params_init(params, sizeof *params));
  params->tp = (int32_t)options->tp;
  params->ep = (int32_t)options->ep;
  params->pp = (int32_t)options->pp;
  params->dp = (int32_t)options->dp;
  params->expert_tp = (int32_t)options->expert_tp;
  params->order = options->order;
}

static void open_mesh(Session* session, const Options* options) {
  moemesh_mesh_params params;
  session_describe_mesh(&params, options);
  CHECK(moemesh_mesh_create(session->context, &params, &session->mesh));

  moemesh_coordinates coordinates = {.struct_size = sizeof coordinates};
  CHECK(moemesh_mesh_get_coordinates(session->mesh, session->rank, &coordinates));
  session->tp = options->tp;
  session->stages = options->pp;
  session->stage = coordinates.pp;
  session->data_shard = coordinates.data_shard;
  session->data_shards = options->dp * options->ep;
}

void session_open(Session* session, const Options* options) {
  *session = (Session){0};
  open_context(session, options);
  open_mesh(session, options);
}

void session_close(Session* session) {
  CHECK(moemesh_mesh_finalize(session->mesh));
  moemesh_mesh_destroy(&session->mesh);
  CHECK(moemesh_context_finalize(session->context));
  check_use_context(NULL, session->rank);
  moemesh_context_destroy(&session->context);
  CHECK(moemesh_shutdown());
}

int64_t* session_gather(const Session* session, const int64_t* own, int64_t count) {
  const int64_t total = session->world * count;
  int64_t* all = allocate(total, sizeof *all);
  moemesh_view send;
  moemesh_view receive;
  CHECK(moemesh_view_init(&send, MOEMESH_INT64, 1, &count, (void*)own));
  CHECK(moemesh_view_init(&receive, MOEMESH_INT64, 1, &total, all));
  CHECK(moemesh_all_gather(session->mesh, MOEMESH_GROUP_WORLD, &send, &receive));
  return all;
}

static void sum_over(const Session* session, int32_t axes, int32_t dtype, void* values, int64_t count) {
  moemesh_view view;
  CHECK(moemesh_view_init(&view, dtype, 1, &count, values));
  CHECK(moemesh_all_reduce(session->mesh, axes, MOEMESH_SUM, &view));
}

void session_sum(const Session* session, int32_t axes, double* values, int64_t count) {
  sum_over(session, axes, MOEMESH_FLOAT64, values, count);
}

void session_sum_integers(const Session* session, int32_t axes, int64_t* values, int64_t count) {
  sum_over(session, axes, MOEMESH_INT64, values, count);
}

int64_t session_stage_of(const Session* session, int64_t rank) {
  moemesh_coordinates coordinates = {.struct_size = sizeof coordinates};
  CHECK(moemesh_mesh_get_coordinates(session->mesh, rank, &coordinates));
  return coordinates.pp;
}

void session_require_same(const Session* session, int64_t value, const char* what) {
  int64_t* values = session_gather(session, &value, 1);
  for (int64_t rank = 0; rank < session->world; ++rank)
    if (values[rank] != value) fail("rank %" PRId64 " has another %s", rank, what);
  free(values);
}
