/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * misuse FOLDER [PART PARTS]: every function of the header with every argument spoiled in turn: NULL, stale, foreign and made-up
 * handles, numbers out of range, every field of every struct and of the arrays that it points to, every struct_size. Each
 * call must return the status that is expected, say something about it, leave every byte of its arguments, and leave the objects
 * as they were: the same valid calls succeed, and training computes the same bits. With PART, each PARTS-th call alone.
 * FOLDER: where files may be written. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "world.h"

/* Expected where no rule says otherwise; REFUSED stands for any of refusals[]. */
enum { REFUSED = 1000 };
static const int32_t refusals[] = {MOEMESH_ERROR_INVALID_ARGUMENT, MOEMESH_ERROR_NOT_SUPPORTED, MOEMESH_ERROR_MESH_SIZE,
                                   MOEMESH_ERROR_NOT_FOUND};
static const int64_t integers[] = {-1, 0, 99, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX};
static const char* const integer_names[] = {"-1", "0", "99", "min32", "max32", "min64", "max64"};

static long calls = 0, failures = 0, turn = 0, part = 0, parts = 1;
static int verbose = 0;
static const struct function* now;
static arguments passed;
static struct values before;

static void complain(const char* name, const char* what) {
  char text[1024] = "";
  moemesh_last_error(NULL, text, sizeof text, NULL);
  printf("%s: %s; last error: %s\n", name, what, text);
  ++failures;
}

static int matches(int32_t expected, int32_t status) {
  size_t i;
  if (expected != REFUSED) return status == expected;
  for (i = 0; i < sizeof refusals / sizeof refusals[0]; ++i)
    if (status == refusals[i]) return 1;
  return 0;
}

static int32_t expected_of(const char* name, int32_t otherwise) {
  int i;
  for (i = 0; i < rule_count; ++i) {
    if (fnmatch(rules[i].pattern, name, 0) != 0) continue;
    rules[i].used = 1;
    return rules[i].status;
  }
  return otherwise;
}

static void destroy_made(void) {
  int i;
  for (i = 0; i < now->arguments; ++i) {
    const struct field* a = &now->argument[i];
    void** made;
    if (a->kind != KIND_NEW_HANDLE) continue;
    memcpy(&made, (char*)&passed + a->offset, sizeof made);
    if (made) destroy_handle(a->handle, made);
  }
}

static void renew(int32_t status) {
  if (status == MOEMESH_OK) destroy_made();
  if (status != MOEMESH_OK && !now->spends) return;
  world_leave();
  if (strncmp(now->name, "report_", 7) == 0) world_new_report();
  world_enter(now->state);
}

static void check(const char* name, int32_t expected, int32_t status) {
  static const char sentinel[] = "major";
  char what[256], text[1024] = "";
  if (!matches(expected, status)) {
    snprintf(what, sizeof what, "expected %s, got %s", expected == REFUSED ? "a refusal" : moemesh_status_name(expected),
             moemesh_status_name(status));
    complain(name, what);
  }
  if (status == MOEMESH_OK) return;
  if (memcmp(&before, &w.v, sizeof before) != 0) complain(name, "it failed and wrote into its arguments");
  moemesh_last_error(NULL, text, sizeof text, NULL);
  if (strstr(text, sentinel) && strncmp(now->name, "version", 7) != 0) complain(name, "it failed and said nothing");
  if (!strstr(text, moemesh_status_name(status))) complain(name, "the text is of another error");
}

/* The call as `passed` and w.v are now. */
static void call(const char* name, int32_t otherwise) {
  const int32_t expected = expected_of(name, otherwise);
  int32_t status;
  if (expected == SKIPPED) return;
  ++calls;
  if (verbose) fprintf(stderr, "%s\n", name);
  before = w.v;
  (void)moemesh_version(NULL, NULL, NULL); /* a text that must go */
  status = now->call(&passed);
  check(name, expected, status);
  renew(status);
}

static int skipped(void) { return turn++ % parts != part; }

/* Valid arguments, of which the caller spoils one. `struct_of`: the argument's struct moves to where there is room for more. */
static void* fresh(const struct field* argument) {
  void* target;
  world_fill();
  memset(&passed, 0, sizeof passed);
  now->set_valid(&passed);
  for (int i = 0; i < now->arguments; ++i) {
    const struct field* a = &now->argument[i];
    void* out;
    if (a->kind != KIND_OUT || !a->type->sized || strstr(now->name, "_params_init") || strstr(now->name, "_run_init")) continue;
    memcpy(&out, (char*)&passed + a->offset, sizeof out);
    *(int64_t*)out = (int64_t)a->type->size;
  }
  memcpy(&target, (char*)&passed + argument->offset, sizeof target);
  return target;
}

static void set_pointer(void* place, const void* value) { memcpy(place, &value, sizeof value); }

/* ---- handles */

static void bad_handle(const struct field* a, const char* what, void* value) {
  const int destroys = strstr(now->name, "_destroy") != NULL;
  void* place = value; /* where a function that takes a handle's address finds it */
  char name[256];
  if (skipped()) return;
  snprintf(name, sizeof name, "%s.%s=%s", now->name, a->name, what);
  fresh(a);
  set_pointer((char*)&passed + a->offset, a->kind == KIND_HANDLE ? value : (void*)&place);
  call(name, destroys ? MOEMESH_OK : MOEMESH_ERROR_INVALID_HANDLE);
  if (place != (destroys ? NULL : value)) complain(name, destroys ? "the handle is not NULL" : "the handle was written");
}

static void spoil_handle(const struct field* a) {
  char what[64];
  int kind;
  bad_handle(a, "null", NULL);
  bad_handle(a, "stale", world_stale(a->handle));
  bad_handle(a, "made-up", (void*)(uintptr_t)1);
  bad_handle(a, "address", &w.v.array);
  bad_handle(a, "huge", (void*)UINTPTR_MAX);
  for (kind = 0; kind < handle_kinds; ++kind) {
    if (kind == a->handle || !world_live(kind)) continue;
    snprintf(what, sizeof what, "a-%s", handle_names[kind]);
    bad_handle(a, what, world_live(kind));
  }
}

/* ---- numbers */

static void spoil_integer(const struct field* a, const char* prefix, const struct field* f, size_t offset, int in_struct) {
  const size_t count = sizeof integers / sizeof integers[0];
  const int narrow = f->kind == KIND_INT32;
  char name[256];
  size_t i;
  for (i = 0; i < count - (narrow ? 2 : 0); ++i) {
    const int32_t small = (int32_t)integers[i];
    char* target;
    if (skipped()) continue;
    snprintf(name, sizeof name, "%s=%s", prefix, integer_names[i]);
    target = fresh(a);
    if (!in_struct) target = (char*)&passed + a->offset;
    memcpy(target + offset, narrow ? (const void*)&small : (const void*)&integers[i], narrow ? 4 : 8);
    call(name, REFUSED);
  }
}

static void spoil_double(const struct field* a, const char* prefix, size_t offset) {
  const double values[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e300};
  const char* const names[] = {"nan", "inf", "-inf", "-1", "0", "huge"};
  char name[256];
  size_t i;
  for (i = 0; i < sizeof values / sizeof values[0]; ++i) {
    if (skipped()) continue;
    snprintf(name, sizeof name, "%s=%s", prefix, names[i]);
    memcpy((char*)fresh(a) + offset, &values[i], sizeof values[i]);
    call(name, REFUSED);
  }
}

/* ---- structs */

static void spoil_fields(const struct field* a, const char* prefix, const struct type* type, size_t offset, size_t through);

/* `through`: offset of the pointer in the argument's struct by which the spoiled one is reached, or SIZE_MAX. */
static char* reach(const struct field* a, size_t through) {
  char* target = fresh(a);
  if (through != SIZE_MAX) memcpy(&target, target + through, sizeof target);
  return target;
}

static void spoil_nested_integer(const struct field* a, const char* prefix, const struct field* f, size_t offset, size_t through) {
  const size_t count = sizeof integers / sizeof integers[0] - (f->kind == KIND_INT32 ? 2 : 0);
  char name[256];
  size_t i;
  for (i = 0; i < count; ++i) {
    const int32_t small = (int32_t)integers[i];
    if (skipped()) continue;
    snprintf(name, sizeof name, "%s=%s", prefix, integer_names[i]);
    memcpy(reach(a, through) + offset, f->kind == KIND_INT32 ? (const void*)&small : (const void*)&integers[i], f->size);
    call(name, REFUSED);
  }
}

static void spoil_pointer(const struct field* a, const char* prefix, const struct field* f, size_t offset, size_t through) {
  char name[256];
  if (skipped()) return;
  snprintf(name, sizeof name, "%s=%s", prefix, f->kind == KIND_STREAM ? "1" : "null");
  set_pointer(reach(a, through) + offset, f->kind == KIND_STREAM ? &w : NULL);
  call(name, f->kind == KIND_STREAM ? MOEMESH_ERROR_NOT_SUPPORTED : f->kind == KIND_ANY ? MOEMESH_OK : REFUSED);
}

static void spoil_field(const struct field* a, const char* prefix, const struct field* f, size_t offset, size_t through) {
  switch (f->kind) {
    case KIND_INT32:
    case KIND_INT64: spoil_nested_integer(a, prefix, f, offset, through); break;
    case KIND_DOUBLE: spoil_double(a, prefix, offset); break;
    case KIND_STRUCT: spoil_fields(a, prefix, f->type, offset, through); break;
    case KIND_IN:
      spoil_pointer(a, prefix, f, offset, through);
      spoil_fields(a, prefix, f->type, 0, offset);
      break;
    default: spoil_pointer(a, prefix, f, offset, through);
  }
}

static void spoil_fields(const struct field* a, const char* prefix, const struct type* type, size_t offset, size_t through) {
  char name[256];
  int i, j;
  for (i = type->sized; i < type->fields; ++i) {
    const struct field* f = &type->field[i];
    for (j = 0; j < f->count; ++j) {
      snprintf(name, sizeof name, f->count > 1 ? "%s.%s[%d]" : "%s.%s", prefix, f->name, j);
      spoil_field(a, name, f, offset + f->offset + (size_t)j * f->size, through);
    }
  }
}

/* P39. Which byte behind the struct is set, or -1. */
static void one_size(const struct field* a, const char* what, int64_t size, int tail, int32_t expected) {
  char name[256];
  char* longer = (char*)w.v.longer[0];
  const char* valid;
  if (skipped()) return;
  snprintf(name, sizeof name, "%s.%s.struct_size=%s", now->name, a->name, what);
  valid = fresh(a);
  memcpy(longer, valid, a->type->size);
  memcpy(longer, &size, sizeof size);
  if (tail >= 0) longer[a->type->size + (size_t)tail] = 1;
  set_pointer((char*)&passed + a->offset, longer);
  call(name, expected);
}

static void spoil_size(const struct field* a) {
  const int64_t size = (int64_t)a->type->size, first = (int64_t)a->type->first_size;
  const int32_t bad = MOEMESH_ERROR_INVALID_STRUCT, tail = a->kind == KIND_IN ? MOEMESH_ERROR_UNKNOWN_OPTION : MOEMESH_OK;
  one_size(a, "0", 0, -1, bad);
  one_size(a, "4", 4, -1, bad);
  one_size(a, "first-1", first - 1, -1, bad);
  one_size(a, "first", first, -1, MOEMESH_OK);
  one_size(a, "same", size, -1, MOEMESH_OK);
  one_size(a, "same,tail", size, 0, MOEMESH_OK);
  one_size(a, "longer", size + 16, -1, MOEMESH_OK);
  one_size(a, "longer,tail", size + 16, 0, tail);
  one_size(a, "longer,tail-end", size + 16, 15, tail);
  one_size(a, "4097", 4097, -1, bad);
  one_size(a, "random", INT64_C(0x5ca1ab1e0ddba11), -1, bad);
  one_size(a, "-8", -8, -1, bad);
  one_size(a, "min", INT64_MIN, -1, bad);
  one_size(a, "max", INT64_MAX, -1, bad);
}

static void spoil_init_size(const struct field* a) {
  const struct type* type = now->argument[0].type;
  const int64_t sizes[] = {0, 4, (int64_t)type->first_size - 1, (int64_t)type->first_size, (int64_t)type->size,
                           (int64_t)type->size + 16, 4097, -1, INT64_MIN, INT64_MAX};
  const char* const names[] = {"0", "4", "first-1", "first", "same", "longer", "4097", "-1", "min", "max"};
  char name[256];
  size_t i;
  for (i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    if (skipped()) continue;
    snprintf(name, sizeof name, "%s.struct_size=%s", now->name, names[i]);
    fresh(a);
    memcpy((char*)&passed + a->offset, &sizes[i], sizeof sizes[i]);
    call(name, i >= 3 && i <= 5 ? MOEMESH_OK : MOEMESH_ERROR_INVALID_STRUCT);
  }
}

static void spoil_argument_pointer(const struct field* a) {
  char name[256];
  if (skipped()) return;
  snprintf(name, sizeof name, "%s.%s=%s", now->name, a->name, a->kind == KIND_STREAM ? "1" : "null");
  fresh(a);
  set_pointer((char*)&passed + a->offset, a->kind == KIND_STREAM ? &w : NULL);
  call(name, a->kind == KIND_STREAM ? MOEMESH_ERROR_NOT_SUPPORTED
             : a->kind == KIND_ANY  ? MOEMESH_OK
                                    : MOEMESH_ERROR_INVALID_ARGUMENT);
}

static void spoil(const struct field* a) {
  char prefix[128];
  snprintf(prefix, sizeof prefix, "%s.%s", now->name, a->name);
  switch (a->kind) {
    case KIND_HANDLE: spoil_handle(a); return;
    case KIND_INT32:
    case KIND_INT64: spoil_integer(a, prefix, a, 0, 0); return;
    case KIND_SIZE: spoil_init_size(a); return;
    default: break;
  }
  spoil_argument_pointer(a);
  if (a->kind == KIND_HANDLE_AT) spoil_handle(a);
  if ((a->kind == KIND_IN || a->kind == KIND_OUT) && a->type->sized && now->argument[now->arguments - 1].kind != KIND_SIZE)
    spoil_size(a);
  if (a->kind == KIND_IN) spoil_fields(a, prefix, a->type, 0, SIZE_MAX);
}

static void valid_call(void) {
  static const struct field nothing = {"", KIND_ANY, 0, 0, 0, 0, NULL};
  if (strstr(now->name, "_destroy") || strcmp(now->name, "shutdown") == 0) return;
  fresh(&nothing);
  call(now->name, MOEMESH_OK);
}

static void try_function(const struct function* function) {
  int i;
  now = function;
  world_enter(function->state);
  valid_call();
  for (i = 0; i < function->arguments; ++i) spoil(&function->argument[i]);
  valid_call();
  world_leave();
}

static void look_for_unused_rules(void) {
  int i;
  for (i = 0; i < rule_count && parts == 1; ++i)
    if (!rules[i].used) complain(rules[i].pattern, "a rule that nothing needs");
}

int main(int argc, char** argv) {
  uint64_t hash;
  int i;
  if (argc != 2 && argc != 4) return fprintf(stderr, "usage: misuse FOLDER [PART PARTS]\n"), 2;
  if (argc == 4) part = atol(argv[2]), parts = atol(argv[3]);
  verbose = getenv("MISUSE_VERBOSE") != NULL;
  world_create(argv[1]);
  hash = world_step();
  for (i = 0; i < function_count; ++i) {
    if (getenv("MISUSE_ONLY") && fnmatch(getenv("MISUSE_ONLY"), functions[i].name, 0) != 0) continue;
    try_function(&functions[i]);
    if (world_step() != hash) complain(functions[i].name, "training computes other numbers after it");
  }
  look_for_unused_rules();
  world_destroy();
  printf("%d functions, %ld calls, %ld failures\n", function_count, calls, failures);
  return failures == 0 ? 0 : 1;
}
