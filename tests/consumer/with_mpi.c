/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * A program with an MPI of its own, one of mpirun's ranks. */
#include <moemesh_mpi.h>

static int use(moemesh_context context) {
  int size = 0;
  moemesh_context_info info = {.struct_size = sizeof info};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (moemesh_context_get_info(context, &info) != MOEMESH_OK || info.size != size) return 2;
  return moemesh_context_finalize(context) == MOEMESH_OK ? 0 : 3;
}

int main(int argc, char** argv) {
  moemesh_context_params params;
  moemesh_context context = NULL;
  int result = 1;
  MPI_Init(&argc, &argv);
  moemesh_context_params_init(&params, sizeof params);
  params.comm = moemesh_comm_from_mpi(MPI_COMM_WORLD);
  if (moemesh_context_create(&params, &context) == MOEMESH_OK) result = use(context);
  moemesh_context_destroy(&context);
  MPI_Finalize();
  return result;
}
