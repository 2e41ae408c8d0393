/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Fuzzer of the structs: one call whose struct has some fields, those of views among them, and its size changed. */
#include <string.h>

#include "fuzz.h"

static const struct field* changeable(const struct function* function, struct choices* c) {
  const struct field* found[MOST_ARGUMENTS];
  int i, n = 0;
  for (i = 0; i < function->arguments; ++i)
    if (function->argument[i].kind == KIND_IN) found[n++] = &function->argument[i];
  return n == 0 ? NULL : found[choose(c) % n];
}

static const struct function* choose_function(struct choices* c) {
  const int first = choose(c) % function_count;
  int i;
  for (i = 0; i < function_count; ++i) {
    const struct function* function = &functions[(first + i) % function_count];
    struct choices none = {NULL, 0};
    if (function->has_valid && changeable(function, &none)) return function;
  }
  return NULL;
}

static void destroy_made(const struct function* function, const arguments* passed) {
  int i;
  for (i = 0; i < function->arguments; ++i) {
    void** made;
    if (function->argument[i].kind != KIND_NEW_HANDLE) continue;
    memcpy(&made, (const char*)passed + function->argument[i].offset, sizeof made);
    destroy_handle(function->argument[i].handle, made);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  struct choices c = {data, size};
  const struct function* function = choose_function(&c);
  arguments passed;
  limit_memory(1);
  world_enter(function->state);
  world_prepare(function, &passed);
  change_struct(&c, &passed, changeable(function, &c));
  if (!out_of_reach() && checked_call(function, &passed) == MOEMESH_OK) destroy_made(function, &passed);
  world_leave();
  if (strncmp(function->name, "report_", 7) == 0) world_new_report();
  limit_memory(0);
  return 0;
}
