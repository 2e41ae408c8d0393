/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * valid [FOLDER]: calls every function as it should be, twice over. Releases keep it (tests/abi): compiled with an old header,
 * it must run with a newer library. FOLDER: where a file may be written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* world.c's contexts ask for these. */
void* limited_allocate(void* user, int64_t bytes, int64_t alignment) {
  (void)user;
  return aligned_alloc((size_t)alignment, (size_t)((bytes + alignment - 1) / alignment * alignment));
}
void limited_free(void* user, void* pointer, int64_t bytes) {
  (void)user;
  (void)bytes;
  free(pointer);
}

/* On one rank the ledger has no entry. */
static int succeeds(const struct function* function) { return strcmp(function->name, "ledger_get_entry") != 0; }

static void destroy_made(const struct function* function, const arguments* passed) {
  int i;
  for (i = 0; i < function->arguments; ++i) {
    void** made;
    if (function->argument[i].kind != KIND_NEW_HANDLE) continue;
    memcpy(&made, (const char*)passed + function->argument[i].offset, sizeof made);
    destroy_handle(function->argument[i].handle, made);
  }
}

static void call(const struct function* function) {
  arguments passed;
  world_enter(function->state);
  world_prepare(function, &passed);
  must(function->call(&passed), function->name);
  destroy_made(function, &passed);
  world_leave();
  if (strncmp(function->name, "report_", 7) == 0) world_new_report();
}

int main(int argc, char** argv) {
  uint64_t hash;
  int i, round, called = 0;
  world_create(argc > 1 ? argv[1] : "/tmp");
  hash = world_step();
  for (round = 0; round < 2; ++round)
    for (i = 0; i < function_count; ++i)
      if (functions[i].has_valid && succeeds(&functions[i])) call(&functions[i]), ++called;
  if (world_step() != hash) return fprintf(stderr, "training computes other numbers\n"), 1;
  world_destroy();
  must(moemesh_shutdown(), "shutdown");
  printf("%d calls\n", called);
  return 0;
}
