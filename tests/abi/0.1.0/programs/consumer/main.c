/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The smallest program: plain C, no MPI, no moemesh build tree. With an argument it is one of mpirun's two ranks. */
#include <moemesh.h>
#include <stdio.h>

static int check(int32_t status, const char* call) {
  char text[512] = "";
  if (status == MOEMESH_OK) return 0;
  moemesh_last_error(NULL, text, sizeof text, NULL);
  fprintf(stderr, "%s: %s: %s\n", call, moemesh_status_name(status), text);
  return 1;
}

/* 512 ranks, without a communicator: the expert gradients are summed over dp, the shared ones over dp x ep. */
static int plan(void) {
  moemesh_mesh_params params;
  moemesh_mesh mesh = NULL;
  moemesh_group expert = {.struct_size = sizeof expert};
  moemesh_group shared = {.struct_size = sizeof shared};
  if (check(moemesh_mesh_params_init(&params, sizeof params), "mesh_params_init")) return 1;
  params.tp = params.ep = params.dp = 8;
  if (check(moemesh_mesh_plan(NULL, 512, &params, &mesh), "mesh_plan")) return 1;
  if (check(moemesh_mesh_get_group(mesh, MOEMESH_GROUP_EXPERT_GRADIENT, 0, &expert), "mesh_get_group")) return 1;
  if (check(moemesh_mesh_get_group(mesh, MOEMESH_GROUP_SHARED_GRADIENT, 0, &shared), "mesh_get_group")) return 1;
  moemesh_mesh_destroy(&mesh);
  return expert.size != 8 || shared.size != 64;
}

static int context(int mpi) {
  moemesh_context_params params;
  moemesh_context context = NULL;
  moemesh_context_info info = {.struct_size = sizeof info};
  if (check(moemesh_context_params_init(&params, sizeof params), "context_params_init")) return 1;
  if (mpi) {
    params.comm.kind = MOEMESH_COMM_MPI_WORLD;
    params.mpi_init = 1;
  }
  if (check(moemesh_context_create(&params, &context), "context_create")) return 1;
  if (check(moemesh_context_get_info(context, &info), "context_get_info")) return 1;
  if (check(moemesh_context_finalize(context), "context_finalize")) return 1;
  moemesh_context_destroy(&context);
  if (check(moemesh_shutdown(), "shutdown")) return 1;
  return info.size != (mpi ? 2 : 1);
}

int main(int argc, char** argv) {
  int32_t major = -1, minor = -1, patch = -1;
  (void)argv;
  if (check(moemesh_version(&major, &minor, &patch), "version")) return 1;
  if (major != MOEMESH_VERSION_MAJOR || minor != MOEMESH_VERSION_MINOR || patch != MOEMESH_VERSION_PATCH) return 2;
  if (plan()) return 3;
  return context(argc > 1) ? 4 : 0;
}
