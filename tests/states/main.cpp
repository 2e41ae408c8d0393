// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// State of the process: Kokkos and MPI can be started and finalized once, so each check has a process of its own.
// state_tests CHECK runs one; without mpirun. Exit status 0 = right.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "moemesh.h"
#include "moemesh_mpi.h"

namespace {

int failures = 0;

void expect(bool right, const char* what, int line) {
  if (right) return;
  char text[512] = "";
  moemesh_last_error(nullptr, text, sizeof text, nullptr);
  std::fprintf(stderr, "line %d: expected %s; last error: %s\n", line, what, text);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

int32_t create(moemesh_context* context, int32_t kind = MOEMESH_COMM_NONE, int32_t mpi_init = 0,
               int32_t progress = MOEMESH_PROGRESS_AUTO) {
  moemesh_context_params params;
  EXPECT(moemesh_context_params_init(&params, sizeof params) == MOEMESH_OK);
  params.comm.kind = kind;
  params.mpi_init = mpi_init;
  params.progress = progress;
  return moemesh_context_create(&params, context);
}

bool mpi_initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}
bool mpi_finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

// A mesh and an all-reduce of one rank: the context works.
void expect_works(moemesh_context context) {
  moemesh_mesh_params params;
  moemesh_mesh mesh = nullptr;
  EXPECT(moemesh_mesh_params_init(&params, sizeof params) == MOEMESH_OK);
  EXPECT(moemesh_mesh_create(context, &params, &mesh) == MOEMESH_OK);
  float value = 3;
  const int64_t extent = 1;
  moemesh_view view;
  EXPECT(moemesh_view_init(&view, MOEMESH_FLOAT32, 1, &extent, &value) == MOEMESH_OK);
  EXPECT(moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, &view) == MOEMESH_OK);
  EXPECT(value == 3);
  EXPECT(moemesh_mesh_finalize(mesh) == MOEMESH_OK);
  moemesh_mesh_destroy(&mesh);
}

void finish(moemesh_context* context) {
  EXPECT(moemesh_context_finalize(*context) == MOEMESH_OK);
  moemesh_context_destroy(context);
}

void shutdown() {
  moemesh_context context = nullptr, late = nullptr;
  EXPECT(create(&context) == MOEMESH_OK);
  EXPECT(moemesh_shutdown() == MOEMESH_ERROR_INVALID_STATE);  // a context is alive
  expect_works(context);
  finish(&context);
  EXPECT(moemesh_shutdown() == MOEMESH_OK);
  EXPECT(moemesh_shutdown() == MOEMESH_OK);  // nothing is left to do
  EXPECT(create(&late) == MOEMESH_ERROR_KOKKOS_FINALIZED);
  EXPECT(late == nullptr);
  int32_t n = -1;
  EXPECT(moemesh_version(&n, &n, &n) == MOEMESH_OK);
}

void shutdown_before_anything() {
  EXPECT(moemesh_shutdown() == MOEMESH_OK);
  moemesh_context context = nullptr;
  EXPECT(create(&context) == MOEMESH_OK);  // there was nothing that could have been finalized
  expect_works(context);
  finish(&context);
}

// An object that outlives its context's handle keeps the context alive.
void shutdown_with_a_child_alive() {
  moemesh_context context = nullptr;
  moemesh_mesh mesh = nullptr;
  moemesh_mesh_params params;
  EXPECT(moemesh_mesh_params_init(&params, sizeof params) == MOEMESH_OK);
  EXPECT(create(&context) == MOEMESH_OK);
  EXPECT(moemesh_mesh_create(context, &params, &mesh) == MOEMESH_OK);
  moemesh_context_destroy(&context);
  EXPECT(moemesh_shutdown() == MOEMESH_ERROR_INVALID_STATE);
  moemesh_mesh_destroy(&mesh);
  EXPECT(moemesh_shutdown() == MOEMESH_OK);
}

void before_mpi_init() {
  moemesh_context context = nullptr;
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD) == MOEMESH_ERROR_MPI_NOT_INITIALIZED);
  EXPECT(context == nullptr);
  EXPECT(!mpi_initialized());
  MPI_Init(nullptr, nullptr);
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD) == MOEMESH_OK);
  expect_works(context);
  finish(&context);
  MPI_Finalize();
}

void after_mpi_finalize() {
  MPI_Init(nullptr, nullptr);
  MPI_Finalize();
  moemesh_context context = nullptr;
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD) == MOEMESH_ERROR_MPI_FINALIZED);
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD, 1) == MOEMESH_ERROR_MPI_FINALIZED);
  EXPECT(create(&context) == MOEMESH_OK);  // one rank needs no MPI
  expect_works(context);
  finish(&context);
}

// Single and funneled: the thread that started MPI may use it, another one is told that it may not.
void thread_level(int wanted) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, wanted, &provided);
  moemesh_context context = nullptr, other = nullptr;
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD) == MOEMESH_OK);
  expect_works(context);
  finish(&context);
  int32_t status = -100;
  std::thread([&] { status = create(&other, MOEMESH_COMM_MPI_WORLD); }).join();
  if (provided <= MPI_THREAD_FUNNELED) {
    EXPECT(status == MOEMESH_ERROR_MPI_THREAD_LEVEL);
    EXPECT(other == nullptr);
  } else if (other) {
    finish(&other);
  }
  MPI_Finalize();
}
void single() { thread_level(MPI_THREAD_SINGLE); }
void funneled() { thread_level(MPI_THREAD_FUNNELED); }

// A thread of the library's own is refused below MPI_THREAD_MULTIPLE, and nothing is left of the attempt.
void progress_thread(int wanted) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, wanted, &provided);
  moemesh_context context = nullptr;
  const int32_t status = create(&context, MOEMESH_COMM_MPI_WORLD, 0, MOEMESH_PROGRESS_THREAD);
  EXPECT(status == (provided == MPI_THREAD_MULTIPLE ? MOEMESH_OK : MOEMESH_ERROR_MPI_THREAD_LEVEL));
  EXPECT((context != nullptr) == (status == MOEMESH_OK));
  if (!context) {
    EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD, 0, MOEMESH_PROGRESS_CALLS) == MOEMESH_OK);
  }
  expect_works(context);
  finish(&context);
  MPI_Finalize();
}
void progress_thread_single() { progress_thread(MPI_THREAD_SINGLE); }
void progress_thread_multiple() { progress_thread(MPI_THREAD_MULTIPLE); }

// Asked to, the library starts MPI, leaves it up when its contexts go, and finalizes it in shutdown.
void library_starts_mpi() {
  moemesh_context context = nullptr;
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD, 1) == MOEMESH_OK);
  EXPECT(mpi_initialized());
  expect_works(context);
  finish(&context);
  EXPECT(!mpi_finalized());
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD) == MOEMESH_OK);
  finish(&context);
  EXPECT(moemesh_shutdown() == MOEMESH_OK);
  EXPECT(mpi_finalized());
}

// The host's MPI stays the host's.
void shutdown_leaves_the_hosts_mpi() {
  MPI_Init(nullptr, nullptr);
  moemesh_context context = nullptr;
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD, 1) == MOEMESH_OK);
  finish(&context);
  EXPECT(moemesh_shutdown() == MOEMESH_OK);
  EXPECT(!mpi_finalized());
  MPI_Finalize();
}

void host_finalizes_mpi_first() {
  MPI_Init(nullptr, nullptr);
  moemesh_context context = nullptr;
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD) == MOEMESH_OK);
  MPI_Finalize();
  EXPECT(moemesh_context_finalize(context) == MOEMESH_OK);
  moemesh_context_destroy(&context);
  EXPECT(context == nullptr);
}

void no_mpi_module() {
  setenv("MOEMESH_MPI_MODULE", "/nowhere/libmoemesh_mpi.so", 1);
  moemesh_context context = nullptr;
  EXPECT(create(&context, MOEMESH_COMM_MPI_WORLD) == MOEMESH_ERROR_MPI_UNAVAILABLE);
  char text[512] = "";
  EXPECT(moemesh_last_error(nullptr, text, sizeof text, nullptr) == MOEMESH_OK);
  EXPECT(std::strstr(text, "/nowhere/libmoemesh_mpi.so") != nullptr);
  EXPECT(create(&context) == MOEMESH_OK);
  finish(&context);
}

const struct {
  const char* name;
  void (*run)();
} checks[] = {{"shutdown", shutdown},
              {"shutdown_before_anything", shutdown_before_anything},
              {"shutdown_with_a_child_alive", shutdown_with_a_child_alive},
              {"P40_before_mpi_init", before_mpi_init},
              {"P40_after_mpi_finalize", after_mpi_finalize},
              {"P40_single", single},
              {"P40_funneled", funneled},
              {"P40_progress_thread_single", progress_thread_single},
              {"P40_progress_thread_multiple", progress_thread_multiple},
              {"P40_library_starts_mpi", library_starts_mpi},
              {"P40_shutdown_leaves_the_hosts_mpi", shutdown_leaves_the_hosts_mpi},
              {"P40_host_finalizes_mpi_first", host_finalizes_mpi_first},
              {"P40_no_mpi_module", no_mpi_module}};

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc == 2 ? argv[1] : "";
  for (const auto& check : checks) {
    if (wanted != check.name) continue;
    check.run();
    return failures == 0 ? 0 : 1;
  }
  std::fprintf(stderr, "usage: %s CHECK, one of:\n", argv[0]);
  for (const auto& check : checks) std::fprintf(stderr, "  %s\n", check.name);
  return 2;
}
