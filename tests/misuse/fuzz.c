/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#define _GNU_SOURCE
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint8_t choose(struct choices* c) {
  if (c->left == 0) return 0;
  --c->left;
  return *c->next++;
}

static void choose_bytes(struct choices* c, void* to, size_t bytes) {
  uint8_t* p = to;
  while (bytes-- > 0) *p++ = choose(c);
}

int64_t choose_integer(struct choices* c) {
  static const int64_t usual[] = {0,    -1,        99,        255,       1024,      1025,
                                  4096, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_C(1) << 32};
  const uint8_t first = choose(c);
  int64_t value = 0;
  if (first < 128) return first % 16;
  if (first < 240) return usual[first % (sizeof usual / sizeof usual[0])];
  choose_bytes(c, &value, first % 8 + 1);
  return value;
}

static double choose_double(struct choices* c) {
  const double usual[] = {0, 1, -1, 0.5, 1e-4, 1e-300, 1e12, 1e300, INFINITY, -INFINITY, NAN, 1e-9};
  const uint8_t first = choose(c);
  double value = 0;
  if (first < 224) return usual[first % (sizeof usual / sizeof usual[0])];
  choose_bytes(c, &value, sizeof value);
  return value;
}

static const char* choose_text(struct choices* c) {
  static char longest[257], too_long[258];
  static const char* const usual[] = {"",           "p",     "moe",    "moe.w1",      "another",    "%s%n%d",
                                      "\x01\xff\"", longest, too_long, "tp-ep-dp-pp", "pp-dp-ep-tp"};
  memset(longest, 'x', 255);
  memset(too_long, 'x', 256);
  return usual[choose(c) % (sizeof usual / sizeof usual[0])];
}

/* ---- structs */

static void change_fields(struct choices* c, char* target, const struct type* type, int depth);

static void change_pointer(struct choices* c, char* place, const struct field* f) {
  const void* value = NULL;
  if (strcmp(f->name, "name") == 0 || strcmp(f->name, "order") == 0) value = choose_text(c);
  memcpy(place, &value, sizeof value);
}

static void change_field(struct choices* c, char* place, const struct field* f, int depth) {
  const int64_t integer = f->kind == KIND_INT32 || f->kind == KIND_INT64 ? choose_integer(c) : 0;
  const double real = f->kind == KIND_DOUBLE ? choose_double(c) : 0;
  const int32_t narrow = (int32_t)integer;
  char* pointed;
  switch (f->kind) {
    case KIND_INT32:
      memcpy(place, &narrow, sizeof narrow);
      break;
    case KIND_INT64:
      memcpy(place, &integer, sizeof integer);
      break;
    case KIND_DOUBLE:
      memcpy(place, &real, sizeof real);
      break;
    case KIND_STRUCT:
      change_fields(c, place, f->type, depth + 1);
      break;
    case KIND_IN:
      memcpy(&pointed, place, sizeof pointed);
      if (pointed && choose(c) % 8 != 0)
        change_fields(c, pointed, f->type, depth + 1);
      else
        change_pointer(c, place, f);
      break;
    default:
      change_pointer(c, place, f);
  }
}

static void change_fields(struct choices* c, char* target, const struct type* type, int depth) {
  int n = choose(c) % (depth > 0 ? 2 : 6) + (depth > 0);
  while (n-- > 0) {
    const int i = type->sized + choose(c) % (type->fields - type->sized);
    const struct field* f = &type->field[i];
    change_field(c, target + f->offset + (size_t)(choose(c) % f->count) * f->size, f, depth);
  }
}

static void change_size(struct choices* c, arguments* passed, const struct field* a, char* target) {
  char* longer = (char*)w.v.longer[0];
  const int64_t size = choose(c) % 2 ? choose_integer(c) : (int64_t)a->type->size + choose(c) % 64 - 16;
  void* pointer = longer;
  memcpy(longer, target, a->type->size);
  memcpy(longer, &size, sizeof size);
  longer[a->type->size + choose(c) % 64] = (char)choose(c);
  memcpy((char*)passed + a->offset, &pointer, sizeof pointer);
}

void change_struct(struct choices* c, arguments* passed, const struct field* a) {
  char* target;
  memcpy(&target, (char*)passed + a->offset, sizeof target);
  if (!target) return;
  change_fields(c, target, a->type, 0);
  if (a->type->sized && choose(c) % 16 == 1) change_size(c, passed, a, target);
}

static int reaches_too_far(const moemesh_view* view) {
  double last = 0;
  int i;
  if (!view->data || view->rank < 1 || view->rank > 4) return 0;
  for (i = 0; i < view->rank; ++i) {
    if (view->extents[i] <= 0) return 0;
    if (view->strides[i] > 0) last += (double)(view->extents[i] - 1) * (double)view->strides[i];
  }
  /* Beyond 2^59 elements the library itself must see it. */
  return last * 2 >= ROOM && last < 5e17;
}

int out_of_reach(void) {
  const moemesh_view* view;
  for (view = &w.v.x; view <= &w.v.more; ++view)
    if (reaches_too_far(view)) return 1;
  return w.v.run.microbatches > ROOM;
}

/* ---- calls */

static int is_status(int32_t status) {
  return status == MOEMESH_OK || (status > 0 && strcmp(moemesh_status_name(status), "MOEMESH_UNKNOWN") != 0);
}

int32_t checked_call(const struct function* function, const arguments* passed) {
  static struct values before;
  char text[1024] = "";
  int32_t status;
  before = w.v;
  if (getenv("FUZZ_VERBOSE")) fprintf(stderr, "%s\n", function->name);
  status = function->call(passed);
  if (getenv("FUZZ_VERBOSE")) fprintf(stderr, "  %s\n", moemesh_status_name(status));
  moemesh_last_error(NULL, text, sizeof text, NULL);
  if (!is_status(status)) {
    fprintf(stderr, "%s: status %d (%s): %s\n", function->name, status, moemesh_status_name(status), text);
    abort();
  }
  if (status == MOEMESH_OK) return status;
  if (memcmp(&before, &w.v, sizeof before) != 0) {
    /* A forward that comes to fail in the middle leaves y as it likes, a pipeline's rows are the library's. */
    if (strncmp(function->name, "layer_", 6) == 0) return status;
    fprintf(stderr, "%s: failed and wrote into its arguments: %s\n", function->name, text);
    abort();
  }
  if (!strstr(text, moemesh_status_name(status))) {
    fprintf(stderr, "%s: returned %s and said: %s\n", function->name, moemesh_status_name(status), text);
    abort();
  }
  return status;
}

/* limit.cpp */
extern size_t limited_most;
void limit_memory(int on) { limited_most = on ? (size_t)16 << 20 : SIZE_MAX; }

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  limit_memory(0); /* libFuzzer's own requests go through there as well */
  setenv("MOEMESH_MPI_MODULE", "/nowhere/at/all", 1);
  world_create("/nowhere/at/all");
  return 0;
}
