/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * MPI's calls that make and free communicators, counted. The program is linked with -rdynamic, so that the MPI module,
 * which is opened while it runs, calls these. */
#include <mpi.h>

#include "counts.h"

static int made(int code, const MPI_Comm* comm) {
  if (code != MPI_SUCCESS || *comm == MPI_COMM_NULL) return code;
  ++open_communicators;
  ++made_communicators;
  return code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) { return made(PMPI_Comm_dup(comm, copy), copy); }

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* part) {
  return made(PMPI_Comm_create(comm, group, part), part);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* part) {
  return made(PMPI_Comm_create_group(comm, group, tag, part), part);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  return made(PMPI_Comm_split(comm, color, key, part), part);
}

int MPI_Comm_split_type(MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm* part) {
  return made(PMPI_Comm_split_type(comm, kind, key, info, part), part);
}

int MPI_Comm_free(MPI_Comm* comm) {
  --open_communicators;
  return PMPI_Comm_free(comm);
}
