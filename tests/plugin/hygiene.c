/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * P41 on two ranks, with the library loaded while the program runs: its messages and the program's do not meet, and the
 * program's communicator stays as it was. */
#include <mpi.h>

#include "counts.h"
#include "moemesh_mpi.h"
#include "round.h"

static void ignore(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}

static MPI_Comm application = MPI_COMM_NULL;
static MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
static int key = MPI_KEYVAL_INVALID, attribute = 7;

static void set_up(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &application);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(application, key, &attribute);
  MPI_Comm_create_errhandler(ignore, &handler);
  MPI_Comm_set_errhandler(application, handler);
}

static void expect_unchanged(void) {
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  void* found = NULL;
  int flag = 0;
  MPI_Comm_get_errhandler(application, &now);
  EXPECT(now == handler);
  MPI_Comm_get_attr(application, key, &found, &flag);
  EXPECT(flag && found == &attribute);
}

static void step_amid_messages(const char* folder, int rank) {
  int received = -1, sum = 0, mine = rank + 1;
  const int answer = 42;
  MPI_Request requests[2];
  plugin library;
  MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, application, &requests[0]);
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, application, &requests[1]);
  if (open_library(&library, folder)) {
    run_steps(library.api, moemesh_comm_from_mpi(application));
    close_library(&library);
  }
  MPI_Send(&answer, 1, MPI_INT, 1 - rank, 5, application);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT(received == 42);
  EXPECT(sum == 3);
}

/* The program frees its communicator as soon as the library has its own. */
static void freed_after_create(const char* folder) {
  MPI_Comm given = MPI_COMM_NULL;
  plugin library;
  problem p;
  double loss = 0;
  if (!open_library(&library, folder)) return;
  MPI_Comm_dup(MPI_COMM_WORLD, &given);
  EXPECT(problem_init(&p, library.api) == MOEMESH_OK);
  p.context_params.comm = moemesh_comm_from_mpi(given);
  EXPECT(problem_create(&p) == MOEMESH_OK);
  MPI_Comm_free(&given);
  EXPECT(problem_step(&p, &loss) == MOEMESH_OK);
  EXPECT(problem_finalize(&p) == MOEMESH_OK);
  problem_destroy(&p);
  close_library(&library);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  if (argc < 2) return 2;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) return 2;
  set_up();
  step_amid_messages(argv[1], rank);
  expect_unchanged();
  freed_after_create(argv[1]);
  MPI_Errhandler_free(&handler);
  MPI_Comm_delete_attr(application, key);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&application);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
