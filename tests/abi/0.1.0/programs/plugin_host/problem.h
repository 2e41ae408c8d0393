/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The small problem of the other examples, through the API table: a layer of 4 experts learns a function of 64 tokens
 * of 8 numbers. Experts and tokens are cut over the ranks of the communicator (1, 2 or 4); the numbers stay. */
#ifndef PROBLEM_H
#define PROBLEM_H

#include "moemesh.h"

enum { PROBLEM_TOKENS = 64, PROBLEM_HIDDEN = 8, PROBLEM_EXPERTS = 4 };

typedef struct problem {
  const moemesh_api* api;
  moemesh_context_params context_params;
  moemesh_context context;
  moemesh_mesh mesh;
  moemesh_family shared, expert;
  moemesh_layer layer;
  moemesh_optimizer optimizer;
  int64_t rank, ranks;
  float x[PROBLEM_TOKENS * PROBLEM_HIDDEN], y[PROBLEM_TOKENS * PROBLEM_HIDDEN];
  float dy[PROBLEM_TOKENS * PROBLEM_HIDDEN], dx[PROBLEM_TOKENS * PROBLEM_HIDDEN];
} problem;

/* All return a moemesh_status; its text is the library's last error. */
/* Sets everything to nothing and the defaults; the caller may then change context_params. */
int32_t problem_init(problem* p, const moemesh_api* api);
int32_t problem_create(problem* p);
/* The mean of (y - target)^2 over all ranks before the step's update. */
int32_t problem_step(problem* p, double* loss);
/* Rows that each of the PROBLEM_EXPERTS experts was chosen for in the last step, over all ranks. */
int32_t problem_rows(problem* p, int64_t* rows);
/* Collective: frees the communicators. */
int32_t problem_finalize(problem* p);
/* Always, after an error too. */
void problem_destroy(problem* p);

#endif /* PROBLEM_H */
