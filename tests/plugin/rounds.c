/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * P44. rounds FOLDER COUNT [abruptly]: opens the library, trains, destroys everything, closes it, COUNT times, and
 * looks at what the process holds; `abruptly`: without moemesh_shutdown before dlclose. Built with HAVE_MPI it is one
 * of mpirun's ranks, whose MPI is its own; without, MPI is not there. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "host_mpi.h"
#include "round.h"

/* The first rounds fill what stays: MPI's and oneDNN's own caches, the allocator's free lists. */
enum { WARM_UP = 5 };
/* Bytes that a round may leave after them: Kokkos never frees the object that holds its OpenMP threads' scratch memory,
 * 29 kB. */
static const long most_a_round = 64 << 10;

static int abruptly = 0;

static void open_and_close(const char* folder, int with_calls) {
  plugin library;
  if (!open_library(&library, folder)) return;
  if (with_calls) run_steps(library.api, host_communicator());
  if (abruptly)
    dlclose(library.library);
  else
    close_library(&library);
}

/* With an object alive the loader refuses to unload the library, and says why. */
static void refuse_to_close(const char* folder) {
  plugin library;
  problem p;
  char why[512] = "";
  if (!open_library(&library, folder)) return;
  EXPECT(problem_init(&p, library.api) == MOEMESH_OK);
  p.context_params.comm = host_communicator();
  EXPECT(problem_create(&p) == MOEMESH_OK);
  EXPECT(!plugin_close(&library, why, sizeof why));
  EXPECT(strstr(why, "INVALID_STATE") != NULL);
  EXPECT(problem_finalize(&p) == MOEMESH_OK);
  problem_destroy(&p);
  close_library(&library);
}

static void compare(counts before, counts after, int rounds) {
  EXPECT(after.resident - before.resident <= rounds * most_a_round);
  EXPECT(after.threads == before.threads);
  EXPECT(after.descriptors == before.descriptors);
  EXPECT(after.mappings == before.mappings);
  EXPECT(after.communicators == before.communicators);
}

static void* nothing(void* argument) { return argument; }

/* A thread that ends runs what libraries left for that moment. */
static void create_and_join_a_thread(void) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, nothing, NULL) == 0);
  EXPECT(pthread_join(thread, NULL) == 0);
}

static void rounds(const char* folder, int count) {
  counts before = count_process(), warm = before, after = before;
  open_and_close(folder, 0);
  for (int i = 0; i < count; ++i) {
    open_and_close(folder, 1);
    if (i + 1 == WARM_UP) warm = count_process();
  }
  open_and_close(folder, 0);
  after = count_process();
  compare(warm, after, count - WARM_UP);
  EXPECT(after.communicators == before.communicators);
  printf(
      "%d rounds: resident %+ld kB after the first %d, threads %d -> %d -> %d, descriptors %d -> %d -> %d, "
      "communicators %d -> %d, unloaded %s\n",
      count, (after.resident - warm.resident) / 1024, WARM_UP, before.threads, warm.threads, after.threads,
      before.descriptors, warm.descriptors, after.descriptors, before.communicators, after.communicators,
      is_mapped("libmoemesh.so") ? "no" : "yes");
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  abruptly = argc > 3;
  start_mpi();
  refuse_to_close(argv[1]);
  rounds(argv[1], atoi(argv[2]));
  create_and_join_a_thread();
#ifdef HAVE_MPI
  EXPECT(made_communicators > 0); /* or the counting is not in the way */
#endif
  end_mpi();
  return failures == 0 ? 0 : 1;
}
