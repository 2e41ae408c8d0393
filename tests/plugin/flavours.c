/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * flavours SECOND: the program is linked to libmoemesh and opens a second flavour of it, the file SECOND, which exports
 * the same names; it is opened in the most awkward way too, with its names for everyone (RTLD_GLOBAL). Each must stay
 * inside itself. With a second flavour that is linked without -Bsymbolic this program fails. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "round.h"

static const char* file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

/* Every function in the table, from status_name on, lies in the file that the table lies in. */
static void expect_own_functions(const moemesh_api* api) {
  const char* const file = file_of(api);
  const size_t first = offsetof(moemesh_api, status_name);
  const size_t count = ((size_t)api->struct_size - first) / sizeof(void*);
  for (size_t i = 0; i < count; ++i) {
    const void* function;
    memcpy(&function, (const char*)api + first + i * sizeof function, sizeof function);
    if (strcmp(file_of(function), file) == 0) continue;
    fprintf(stderr, "function %zu of %s is in %s\n", i, file, file_of(function));
    ++failures;
    return;
  }
}

static void expect_own_runtime(const moemesh_api* api) {
  moemesh_runtime_info info = {.struct_size = sizeof info};
  char own[4096], told[4096];
  EXPECT(api->runtime_get_info(&info) == MOEMESH_OK);
  EXPECT(realpath(file_of(api), own) && realpath(info.library, told) && strcmp(own, told) == 0);
  EXPECT(realpath(info.kokkos_path, told) && strcmp(own, told) == 0); /* its Kokkos is inside it */
}

/* Handles, error texts and states of the one mean nothing to the other. */
static void expect_apart(const moemesh_api* one, const moemesh_api* other) {
  problem p;
  moemesh_context_info info = {.struct_size = sizeof info};
  char text[512] = "", before[512] = "";
  int32_t number = 0;
  EXPECT(problem_init(&p, one) == MOEMESH_OK);
  EXPECT(problem_create(&p) == MOEMESH_OK);
  EXPECT(other->context_get_info(p.context, &info) == MOEMESH_ERROR_INVALID_HANDLE);
  EXPECT(one->context_get_info(p.context, &info) == MOEMESH_OK);
  other->last_error(NULL, before, sizeof before, NULL);
  EXPECT(one->version(NULL, &number, &number) == MOEMESH_ERROR_INVALID_ARGUMENT);
  other->last_error(NULL, text, sizeof text, NULL);
  EXPECT(strcmp(before, text) == 0);
  one->last_error(NULL, text, sizeof text, NULL);
  EXPECT(strstr(text, "major") != NULL);
  EXPECT(one->shutdown() == MOEMESH_ERROR_INVALID_STATE); /* its context is alive, the other has none */
  run_steps(other, no_communicator());
  EXPECT(problem_finalize(&p) == MOEMESH_OK);
  problem_destroy(&p);
}

static const moemesh_api* table_of(const char* file, int flags) {
  moemesh_get_api_function get_api = NULL;
  void* const library = dlopen(file, flags);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  if (library) *(void**)&get_api = dlsym(library, "moemesh_get_api");
  return get_api ? get_api(MOEMESH_ABI_VERSION) : NULL;
}

int main(int argc, char** argv) {
  const moemesh_api* const first = moemesh_get_api(MOEMESH_ABI_VERSION);
  const moemesh_api* second;
  if (argc < 2) return 2;
  second = table_of(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (!second) return 2;
  EXPECT(first != second);
  expect_own_functions(first);
  expect_own_functions(second);
  if (failures) return 1; /* what follows would call anything */
  expect_own_runtime(first);
  expect_own_runtime(second);
  expect_apart(first, second);
  expect_apart(second, first);
  EXPECT(second->shutdown() == MOEMESH_OK); /* ends its Kokkos; the first one's goes on */
  EXPECT(try_create(second, no_communicator(), 0, MOEMESH_PROGRESS_AUTO, NULL, 0) == MOEMESH_ERROR_KOKKOS_FINALIZED);
  run_steps(first, no_communicator());
  return failures == 0 ? 0 : 1;
}
