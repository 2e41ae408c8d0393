/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * cuda_load LIBRARY...: what a host of plugins does: opens each library, one beside the other, and creates a context in
 * each. One line for each: its status by name, and its text. A library that can't be opened is the program's failure; a
 * context that can't be created is not. */
#include <dlfcn.h>
#include <moemesh.h>
#include <stdio.h>

#define RESOLVE(library, function) *(void**)&function = dlsym(library, "moemesh_" #function)

static int try_library(const char* file) {
  int32_t (*context_params_init)(moemesh_context_params*, int64_t) = NULL;
  int32_t (*context_create)(const moemesh_context_params*, moemesh_context*) = NULL;
  int32_t (*last_error)(moemesh_context, char*, int64_t, int64_t*) = NULL;
  const char* (*status_name)(int32_t) = NULL;
  char text[512] = "";
  moemesh_context_params params;
  moemesh_context context = NULL;
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    printf("%s: %s\n", file, dlerror());
    return 1;
  }
  RESOLVE(library, context_params_init);
  RESOLVE(library, context_create);
  RESOLVE(library, last_error);
  RESOLVE(library, status_name);
  if (!context_params_init || !context_create || !last_error || !status_name) {
    printf("%s: functions are missing\n", file);
    return 1;
  }
  if (context_params_init(&params, sizeof params) != MOEMESH_OK) return 1;
  for (int attempt = 0; attempt < 2; ++attempt) {  /* a failure must not forbid the next try */
    const int32_t status = context_create(&params, &context);
    if (status != MOEMESH_OK) last_error(NULL, text, sizeof text, NULL);
    printf("%s: %s: %s\n", file, status_name(status), text);
    fflush(stdout);
    if (status == MOEMESH_OK) return 0;
  }
  return 0;
}

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 1; i < argc; ++i) failed |= try_library(argv[i]);
  return failed;
}
