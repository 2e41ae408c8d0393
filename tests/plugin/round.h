/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What every plugin host of these tests does with the library: examples/plugin_host's loader and problem. */
#ifndef ROUND_H
#define ROUND_H

#include "loader.h"
#include "problem.h"

enum { ROUND_STEPS = 3 };

/* Opens the library in `folder`; a failure is counted. */
int open_library(plugin* opened, const char* folder);
void close_library(plugin* opened);

/* Creates all objects on `comm`, trains a few steps, whose losses must be the known ones, and destroys all. */
void run_steps(const moemesh_api* api, moemesh_comm comm);

/* The status of creating the objects on `comm`, and the library's text of it (`text` may be NULL); nothing is left. */
int32_t try_create(const moemesh_api* api, moemesh_comm comm, int32_t mpi_init, int32_t progress, char* text,
                   int64_t capacity);
/* try_create must return `status`, with `part` in its text. */
void expect_refused(const moemesh_api* api, moemesh_comm comm, int32_t progress, int32_t status, const char* part);

moemesh_comm no_communicator(void);
moemesh_comm world_of_the_module(void);

#endif /* ROUND_H */
