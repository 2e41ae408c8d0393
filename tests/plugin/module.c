/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * module missing FOLDER: the library has no MPI module that could be loaded.
 * module foreign FOLDER (built with HAVE_MPI): its module is built for another MPI than this program's, which is up.
 * Either way there are errors with a name and a text, and one rank works. */
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "round.h"

#ifdef HAVE_MPI
#include "moemesh_mpi.h"
#endif

#ifndef HAVE_MPI
static void missing(const moemesh_api* api) {
  for (int i = 0; i < 2; ++i)
    expect_refused(api, world_of_the_module(), MOEMESH_PROGRESS_AUTO, MOEMESH_ERROR_MPI_UNAVAILABLE,
                   "libmoemesh_mpi.so");
  run_steps(api, no_communicator());
}
#else
/* Neither the program's communicator nor the world of the module may reach MPI's functions. */
static void foreign(const moemesh_api* api) {
  MPI_Comm copy = MPI_COMM_NULL;
  int sum = 0, one = 1;
  MPI_Init(NULL, NULL);
  expect_refused(api, moemesh_comm_from_mpi(MPI_COMM_WORLD), MOEMESH_PROGRESS_AUTO, MOEMESH_ERROR_MPI_KIND, "MPI");
  expect_refused(api, world_of_the_module(), MOEMESH_PROGRESS_AUTO, MOEMESH_ERROR_MPI_KIND, "MPI");
  EXPECT(try_create(api, world_of_the_module(), 1, MOEMESH_PROGRESS_AUTO, NULL, 0) == MOEMESH_ERROR_MPI_KIND);
  run_steps(api, no_communicator());
  EXPECT(MPI_Comm_dup(MPI_COMM_WORLD, &copy) == MPI_SUCCESS);
  EXPECT(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy) == MPI_SUCCESS && sum == 1);
  MPI_Comm_free(&copy);
  MPI_Finalize();
}
#endif

int main(int argc, char** argv) {
  plugin library;
  if (argc < 3 || !open_library(&library, argv[2])) return 1;
#ifdef HAVE_MPI
  EXPECT(strcmp(argv[1], "foreign") == 0);
  foreign(library.api);
#else
  EXPECT(strcmp(argv[1], "missing") == 0);
  missing(library.api);
#endif
  close_library(&library);
  return failures == 0 ? 0 : 1;
}
