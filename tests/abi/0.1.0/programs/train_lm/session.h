/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The context and the mesh, and where this rank sits. */
#ifndef TRAIN_LM_SESSION_H
#define TRAIN_LM_SESSION_H

#include "moemesh.h"
#include "options.h"

typedef struct Session {
  moemesh_context context;
  moemesh_mesh mesh;
  int64_t rank;
  int64_t world;
  int64_t nodes;
  int64_t threads;
  int64_t tp;
  int64_t stages;      /* pp */
  int64_t stage;       /* this rank's */
  int64_t data_shard;  /* which one feeds this rank */
  int64_t data_shards; /* dp*ep */
} Session;

/* The mesh that the options describe. */
void session_describe_mesh(moemesh_mesh_params* params, const Options* options);

void session_open(Session* session, const Options* options);
/* After every layer, optimizer and family is destroyed. Ends MPI too. */
void session_close(Session* session);

/* `count` numbers of every rank, rank after rank; to be freed. Collective. */
int64_t* session_gather(const Session* session, const int64_t* own, int64_t count);

/* Adds up over the ranks of `axes` (MOEMESH_AXIS_* added together). Collective over them. */
void session_sum(const Session* session, int32_t axes, double* values, int64_t count);
void session_sum_integers(const Session* session, int32_t axes, int64_t* values, int64_t count);

/* Stage of any rank. */
int64_t session_stage_of(const Session* session, int64_t rank);

/* Stops the program unless `value` is the same on every rank. Collective. */
void session_require_same(const Session* session, int64_t value, const char* what);

#endif
