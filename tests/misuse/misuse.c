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

/* Of a number out of range. */
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
    if (fnmatch(rules[i].pattern, name, FNM_EXTMATCH) != 0) continue;
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
  static const char sentinel[] = "major: expected a pointer";
  char what[256], text[1024] = "";
  if (!matches(expected, status)) {
    snprintf(what, sizeof what, "expected %s, got %s",
             expected == REFUSED ? "a refusal" : moemesh_status_name(expected), moemesh_status_name(status));
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

static void set_pointer(void* place, const void* value) { memcpy(place, &value, sizeof value); }

/* ---- places */

/* What is spoiled: the argument itself, something in the struct that it points to, or in one that this struct points to. */
struct place {
  const struct field* argument;
  enum { ITSELF, IN_STRUCT, IN_NESTED } where;
  size_t nested; /* offset of the pointer to the nested struct */
  size_t offset;
  enum kind kind;
  char name[200];
};

/* Makes valid arguments and returns where in them the place is. */
static char* reach(const struct place* p) {
  char* target;
  world_prepare(now, &passed);
  if (p->where == ITSELF) return (char*)&passed + p->argument->offset;
  memcpy(&target, (char*)&passed + p->argument->offset, sizeof target);
  if (p->where == IN_NESTED) memcpy(&target, target + p->nested, sizeof target);
  return target + p->offset;
}

static void spoil_with(const struct place* p, const char* probe, const void* value, size_t bytes, int32_t expected) {
  char name[256];
  if (skipped()) return;
  snprintf(name, sizeof name, "%s=%s", p->name, probe);
  memcpy(reach(p), value, bytes);
  call(name, expected);
}

/* ---- numbers and plain pointers */

static void spoil_integer(const struct place* p) {
  const size_t count = sizeof integers / sizeof integers[0] - (p->kind == KIND_INT32 ? 2 : 0);
  const int32_t expected = now->fails ? REFUSED : MOEMESH_OK;
  size_t i;
  for (i = 0; i < count; ++i) {
    const int32_t narrow = (int32_t)integers[i];
    if (p->kind == KIND_INT32)
      spoil_with(p, integer_names[i], &narrow, sizeof narrow, expected);
    else
      spoil_with(p, integer_names[i], &integers[i], sizeof integers[i], expected);
  }
}

static void spoil_double(const struct place* p) {
  const double values[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e300};
  const char* const names[] = {"nan", "inf", "-inf", "-1", "0", "huge"};
  size_t i;
  for (i = 0; i < sizeof values / sizeof values[0]; ++i) spoil_with(p, names[i], &values[i], sizeof values[i], REFUSED);
}

static void spoil_pointer(const struct place* p) {
  const void* null = NULL;
  const void* stream = &w;
  if (p->kind == KIND_STREAM)
    spoil_with(p, "1", &stream, sizeof stream, MOEMESH_ERROR_NOT_SUPPORTED);
  else
    spoil_with(p, "null", &null, sizeof null, p->kind == KIND_ANY ? MOEMESH_OK : MOEMESH_ERROR_INVALID_ARGUMENT);
}

/* ---- handles */

static void bad_handle(const struct place* p, const char* what, void* value) {
  const int destroys = strstr(now->name, "_destroy") != NULL;
  void* holder = value; /* where a function that takes a handle's address finds it */
  void* const address = &holder;
  const int direct = p->kind == KIND_HANDLE;
  spoil_with(p, what, direct ? &value : (void* const*)&address, sizeof value,
             destroys ? MOEMESH_OK : MOEMESH_ERROR_INVALID_HANDLE);
  if (parts == 1 && holder != (destroys ? NULL : value)) complain(p->name, "the handle is not what it should be");
}

static void spoil_handle(const struct place* p) {
  char what[64];
  int kind;
  bad_handle(p, p->kind == KIND_HANDLE ? "null" : "to-null", NULL);
  bad_handle(p, "stale", world_stale(p->argument->handle));
  bad_handle(p, "made-up", (void*)(uintptr_t)1);
  bad_handle(p, "address", &w.v.array);
  bad_handle(p, "huge", (void*)UINTPTR_MAX);
  for (kind = 0; kind < handle_kinds; ++kind) {
    if (kind == p->argument->handle || !world_live(kind)) continue;
    snprintf(what, sizeof what, "a-%s", handle_names[kind]);
    bad_handle(p, what, world_live(kind));
  }
}

/* ---- structs */

static void spoil_fields(const struct place* outer, const struct type* type);

static void spoil_field(const struct place* p, const struct type* type) {
  struct place nested = *p;
  switch (p->kind) {
    case KIND_INT32:
    case KIND_INT64:
      spoil_integer(p);
      break;
    case KIND_DOUBLE:
      spoil_double(p);
      break;
    case KIND_STRUCT:
      spoil_fields(p, type);
      break;
    case KIND_IN:
      spoil_pointer(p);
      nested.where = IN_NESTED;
      nested.nested = p->offset;
      nested.offset = 0;
      spoil_fields(&nested, type);
      break;
    default:
      spoil_pointer(p);
  }
}

static void spoil_fields(const struct place* outer, const struct type* type) {
  int i, j;
  for (i = type->sized; i < type->fields; ++i) {
    const struct field* f = &type->field[i];
    for (j = 0; j < f->count; ++j) {
      struct place p = *outer;
      p.kind = f->kind;
      p.offset += f->offset + (size_t)j * f->size;
      snprintf(p.name, sizeof p.name, f->count > 1 ? "%.150s.%s.%d" : "%.150s.%s", outer->name, f->name, j);
      spoil_field(&p, f->type);
    }
  }
}

/* P39. `tail`: which byte behind the struct is set, or -1. */
static void one_size(const struct field* a, const char* what, int64_t size, int tail, int32_t expected) {
  char name[256];
  char* longer = (char*)w.v.longer[0];
  const char* valid;
  if (skipped()) return;
  snprintf(name, sizeof name, "%s.%s.struct_size=%s", now->name, a->name, what);
  world_prepare(now, &passed);
  memcpy(&valid, (char*)&passed + a->offset, sizeof valid);
  memcpy(longer, valid, a->type->size);
  memcpy(longer, &size, sizeof size);
  if (tail >= 0) longer[a->type->size + (size_t)tail] = 1;
  set_pointer((char*)&passed + a->offset, longer);
  call(name, expected);
}

static void spoil_size(const struct field* a) {
  const int64_t size = (int64_t)a->type->size, first = (int64_t)a->type->first_size;
  const int32_t bad = MOEMESH_ERROR_INVALID_STRUCT,
                tail = a->kind == KIND_IN ? MOEMESH_ERROR_UNKNOWN_OPTION : MOEMESH_OK;
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

static void spoil_init_size(const struct place* p) {
  const struct type* type = now->argument[0].type;
  const int64_t size = (int64_t)type->size, first = (int64_t)type->first_size;
  const int64_t bad[] = {0, 4, first - 1, 4097, -1, INT64_MIN, INT64_MAX}, good[] = {first, size, size + 16};
  const char* const bad_names[] = {"0", "4", "first-1", "4097", "-1", "min", "max"};
  const char* const good_names[] = {"first", "same", "longer"};
  size_t i;
  for (i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    spoil_with(p, bad_names[i], &bad[i], sizeof bad[i], MOEMESH_ERROR_INVALID_STRUCT);
  for (i = 0; i < sizeof good / sizeof good[0]; ++i) spoil_with(p, good_names[i], &good[i], sizeof good[i], MOEMESH_OK);
}

/* ---- functions */

static int takes_size(void) { return now->argument[now->arguments - 1].kind == KIND_SIZE; }

static void spoil(const struct field* a) {
  struct place p = {a, ITSELF, 0, 0, a->kind, ""};
  snprintf(p.name, sizeof p.name, "%s.%s", now->name, a->name);
  switch (a->kind) {
    case KIND_HANDLE:
      spoil_handle(&p);
      return;
    case KIND_INT32:
    case KIND_INT64:
      spoil_integer(&p);
      return;
    case KIND_SIZE:
      spoil_init_size(&p);
      return;
    default:
      spoil_pointer(&p);
  }
  if (a->kind == KIND_HANDLE_AT) spoil_handle(&p);
  if ((a->kind == KIND_IN || a->kind == KIND_OUT) && a->type->sized && !takes_size()) spoil_size(a);
  p.where = IN_STRUCT;
  if (a->kind == KIND_IN) spoil_fields(&p, a->type);
}

static void valid_call(void) {
  if (!now->has_valid) return;
  world_prepare(now, &passed);
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
