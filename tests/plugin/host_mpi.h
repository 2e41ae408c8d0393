/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The MPI of a program, where it is built with HAVE_MPI; else it has none and is alone. */
#ifndef HOST_MPI_H
#define HOST_MPI_H

#include "moemesh.h"

void start_mpi(void);
/* The program's world, or no communicator. */
moemesh_comm host_communicator(void);
void end_mpi(void);

#endif /* HOST_MPI_H */
