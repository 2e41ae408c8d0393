/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The public header as data, so that one loop can call every function and spoil every argument. tables.c is written by
 * generate.py. */
#ifndef REFLECT_H
#define REFLECT_H

#include <moemesh.h>
#include <stddef.h>

enum kind {
  KIND_INT32,
  KIND_INT64,
  KIND_DOUBLE,
  KIND_SIZE,    /* struct_size as an argument */
  KIND_STREAM,  /* void* stream: NULL on hosts */
  KIND_ANY,     /* a pointer that the library only hands on: NULL is as good as any */
  KIND_POINTER, /* to plain data or a function: NULL is wrong unless a rule says otherwise */
  KIND_STRUCT,  /* a struct by value within another one */
  KIND_IN,      /* const struct* */
  KIND_OUT,     /* struct*, filled by the call; struct_size is the caller's where it has one */
  KIND_RESULT,  /* int32_t*, int64_t*, char*: written by the call */
  KIND_HANDLE,
  KIND_NEW_HANDLE, /* handle*, written by the call */
  KIND_HANDLE_AT   /* handle*, read, and set to NULL where it is consumed */
};

/* An argument or a field. */
struct field {
  const char* name;
  enum kind kind;
  size_t offset;
  size_t size;             /* of one element */
  int count;               /* of elements: 1, or an array's */
  int handle;              /* which kind of handle */
  const struct type* type; /* of the struct, or of the one pointed to */
};

struct type {
  const char* name;
  size_t size;
  size_t first_size; /* in the first release */
  int sized;         /* starts with struct_size */
  int fields;
  const struct field* field;
};

struct function {
  const char* name; /* without moemesh_ */
  int state;        /* enum state: where its valid call is right */
  int has_valid;    /* it can be called without an end to something that is needed */
  int fails;        /* it returns a status */
  int spends;       /* it changes that state even where it fails */
  int arguments;
  const struct field* argument;
  void (*set_valid)(void* arguments);
  int32_t (*call)(const void* arguments);
};

#define MOST_ARGUMENTS 8
/* Arguments lie in a struct of the function's own, at most this large. */
typedef union {
  int64_t words[2 * MOST_ARGUMENTS];
  void* pointers[2 * MOST_ARGUMENTS];
} arguments;

extern const struct function functions[];
extern const int function_count;
extern const char* const handle_names[];
extern const int handle_kinds;
/* Destroys *handle, of that kind, as its owner should; does nothing where there is no destroy. */
void destroy_handle(int kind, void** handle);

#endif
