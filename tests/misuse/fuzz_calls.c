/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Fuzzer of the order of calls: any functions, with the objects of the world, ones that earlier calls made or destroyed, and arguments
 * that are good or changed. */
#include <string.h>

#include "fuzz.h"

enum { SLOTS = 4, MOST_CALLS = 48 };

/* Handles that calls of this input made, live or stale. */
static void* pool[16][SLOTS];

static void set_handle(struct choices* c, arguments* passed, const struct field* a) {
  const uint8_t choice = choose(c);
  void* handle;
  if (choice < 96) return; /* the world's */
  if (choice < 224)
    handle = pool[a->handle][choice % SLOTS];
  else
    handle = choice < 232 ? NULL : choice < 240 ? world_stale(a->handle) : pool[(a->handle + choice) % handle_kinds][0];
  memcpy((char*)passed + a->offset, &handle, sizeof handle);
}

static void set_handle_place(struct choices* c, arguments* passed, const struct field* a, int made) {
  const uint8_t choice = choose(c);
  void** place = &pool[a->handle][choice % SLOTS];
  if (!made && choice < 96) return;
  if (made && *place && choice % 2) destroy_handle(a->handle, place);
  memcpy((char*)passed + a->offset, &place, sizeof(void*));
}

static void set_integer(struct choices* c, arguments* passed, const struct field* a) {
  int64_t value;
  int32_t narrow;
  if (choose(c) < 160) return;
  value = choose_integer(c);
  narrow = (int32_t)value;
  memcpy((char*)passed + a->offset, a->kind == KIND_INT32 ? (void*)&narrow : (void*)&value, a->size);
}

static void set_argument(struct choices* c, arguments* passed, const struct field* a) {
  switch (a->kind) {
    case KIND_HANDLE:
      set_handle(c, passed, a);
      break;
    case KIND_NEW_HANDLE:
      set_handle_place(c, passed, a, 1);
      break;
    case KIND_HANDLE_AT:
      set_handle_place(c, passed, a, 0);
      break;
    case KIND_INT32:
    case KIND_INT64:
      set_integer(c, passed, a);
      break;
    case KIND_IN:
      if (choose(c) >= 192) change_struct(c, passed, a);
      break;
    default:
      break;
  }
}

/* Its object may be any: destroys of the world's are made as well, by their place. */
static void destroy_of_world(struct choices* c, arguments* passed, const struct function* function) {
  void* place = world_place(function->argument[0].handle);
  if (choose(c) % 4 == 0) memcpy(passed, &place, sizeof place);
}

static void one_call(struct choices* c) {
  const struct function* function = &functions[choose(c) % function_count];
  arguments passed;
  int i;
  if (strcmp(function->name, "shutdown") == 0) return; /* the end of all inputs */
  world_prepare(function, &passed);
  for (i = 0; i < function->arguments; ++i) set_argument(c, &passed, &function->argument[i]);
  if (strstr(function->name, "_destroy")) destroy_of_world(c, &passed, function);
  if (!out_of_reach()) (void)checked_call(function, &passed);
}

static void destroy_pool(int backwards) {
  int i, slot;
  for (i = 0; i < handle_kinds; ++i) {
    const int kind = backwards ? handle_kinds - 1 - i : i;
    for (slot = 0; slot < SLOTS; ++slot) destroy_handle(kind, &pool[kind][slot]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  struct choices c = {data, size};
  const uint8_t first = choose(&c);
  int n = 0;
  memset(pool, 0, sizeof pool);
  limit_memory(1);
  world_begin(first & 1);
  while (c.left > 0 && n++ < MOST_CALLS) one_call(&c);
  destroy_pool(first & 2);
  world_end();
  limit_memory(0);
  return 0;
}
