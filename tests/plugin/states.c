/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * P40 for a library that was loaded while the program runs. states CHECK FOLDER: each check is a process of its own,
 * because MPI starts and ends once. Exit status 0 = right. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "moemesh_mpi.h"
#include "round.h"

static int mpi_is_initialized(void) {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag;
}

static void before_init(const moemesh_api* api) {
  expect_refused(api, world_of_the_module(), MOEMESH_PROGRESS_AUTO, MOEMESH_ERROR_MPI_NOT_INITIALIZED,
                 "not initialized");
  EXPECT(!mpi_is_initialized());
  MPI_Init(NULL, NULL);
  run_steps(api, moemesh_comm_from_mpi(MPI_COMM_WORLD));
  MPI_Finalize();
}

static void after_finalize(const moemesh_api* api) {
  moemesh_comm world;
  MPI_Init(NULL, NULL);
  world = moemesh_comm_from_mpi(MPI_COMM_WORLD);
  MPI_Finalize();
  expect_refused(api, world, MOEMESH_PROGRESS_AUTO, MOEMESH_ERROR_MPI_FINALIZED, "finalized");
  run_steps(api, no_communicator());
}

/* At SINGLE a thread of the library's own is refused, and without one it works. */
static void single(const moemesh_api* api) {
  int level = -1;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &level);
  if (level < MPI_THREAD_MULTIPLE)
    expect_refused(api, moemesh_comm_from_mpi(MPI_COMM_WORLD), MOEMESH_PROGRESS_THREAD, MOEMESH_ERROR_MPI_THREAD_LEVEL,
                   "MPI_THREAD_MULTIPLE");
  run_steps(api, moemesh_comm_from_mpi(MPI_COMM_WORLD));
  MPI_Finalize();
}

static void* create_on_another_thread(void* api) {
  expect_refused(api, moemesh_comm_from_mpi(MPI_COMM_WORLD), MOEMESH_PROGRESS_AUTO, MOEMESH_ERROR_MPI_THREAD_LEVEL,
                 "FUNNELED");
  return NULL;
}

static void funneled(const moemesh_api* api) {
  int level = -1;
  pthread_t thread;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
  if (level == MPI_THREAD_FUNNELED) {
    EXPECT(pthread_create(&thread, NULL, create_on_another_thread, (void*)api) == 0);
    pthread_join(thread, NULL);
  }
  run_steps(api, moemesh_comm_from_mpi(MPI_COMM_WORLD));
  MPI_Finalize();
}

/* The library starts MPI because it was asked to, and its end is the library's too. */
static void asked_to_start(const moemesh_api* api) {
  int finalized = 0;
  EXPECT(try_create(api, world_of_the_module(), 1, MOEMESH_PROGRESS_AUTO, NULL, 0) == MOEMESH_OK);
  EXPECT(mpi_is_initialized());
  EXPECT(api->shutdown() == MOEMESH_OK);
  MPI_Finalized(&finalized);
  EXPECT(finalized);
}

static const struct {
  const char* name;
  void (*run)(const moemesh_api* api);
} checks[] = {{"before_init", before_init},
              {"after_finalize", after_finalize},
              {"single", single},
              {"funneled", funneled},
              {"asked_to_start", asked_to_start}};

int main(int argc, char** argv) {
  plugin library;
  if (argc < 3) return 2;
  for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
    if (strcmp(checks[i].name, argv[1]) != 0) continue;
    if (!open_library(&library, argv[2])) return 1;
    checks[i].run(library.api);
    close_library(&library);
    return failures == 0 ? 0 : 1;
  }
  return 2;
}
