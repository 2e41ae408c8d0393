/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Turns the MPI_Comm of the mpi.h that the caller compiles with into a moemesh_comm. Header only: linking moemesh needs no
 * MPI, a program that includes this needs its own. */
#ifndef MOEMESH_MPI_H
#define MOEMESH_MPI_H

#include <mpi.h>

#include "moemesh.h"

/* The communicator stays the caller's; moemesh_context_create duplicates it. */
static inline moemesh_comm moemesh_comm_from_mpi(MPI_Comm comm) {
  moemesh_comm result;
  result.handle = (int64_t)MPI_Comm_c2f(comm);
#if defined(OPEN_MPI)
  result.kind = MOEMESH_COMM_OPENMPI;
#elif defined(MPICH_VERSION) || defined(MPICH_NUMVERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
  result.kind = MOEMESH_COMM_MPICH_ABI;
#else
  result.kind = MOEMESH_COMM_MPI_ABI;
#endif
  result.reserved = 0;
  return result;
}

#endif /* MOEMESH_MPI_H */
