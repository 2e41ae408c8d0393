/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#include "host_mpi.h"

#ifdef HAVE_MPI
#include "moemesh_mpi.h"

void start_mpi(void) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
}

moemesh_comm host_communicator(void) { return moemesh_comm_from_mpi(MPI_COMM_WORLD); }

void end_mpi(void) { MPI_Finalize(); }

#else

void start_mpi(void) {}

moemesh_comm host_communicator(void) {
  const moemesh_comm none = {.kind = MOEMESH_COMM_NONE};
  return none;
}

void end_mpi(void) {}

#endif
