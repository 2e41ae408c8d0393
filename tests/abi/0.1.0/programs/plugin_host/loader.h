/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Loading libmoemesh at run time: for hosts that do not link it, so that they start where it is not installed, and
 * choose among its flavours. See README.md. */
#ifndef LOADER_H
#define LOADER_H

#include <stddef.h>

#include "moemesh.h"

typedef struct plugin {
  const moemesh_api* api; /* every call goes through this table */
  void* library;
} plugin;

/* The flavours' file names, best first; NULL ends the list. */
extern const char* const plugin_flavours[];

/* Opens one flavour. `folder`: where it is; NULL: where the dynamic loader looks. Returns 1, or 0 and in `why` a text
 * that names the file and the reason. */
int plugin_open(plugin* opened, const char* folder, const char* flavour, char* why, size_t capacity);

/* Ends what the library started (its threads' runtime, its MPI if it was asked for one) and unloads it. Every object
 * must be destroyed before. Returns 1, or 0 and the library's text: then it stays loaded. */
int plugin_close(plugin* opened, char* why, size_t capacity);

#endif /* LOADER_H */
