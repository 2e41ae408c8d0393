/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#ifndef INTERIM_API_H
#define INTERIM_API_H
#include <dlfcn.h>
#include "moemesh.h"
#define INTERIM(X) X(status_name) X(version) X(last_error) X(shutdown) X(view_init) X(context_params_init) X(context_create) \
  X(context_get_info) X(context_finalize) X(context_destroy) X(mesh_params_init) X(mesh_create) X(mesh_finalize) X(mesh_destroy) \
  X(family_params_init) X(family_create) X(family_destroy) X(family_commit) X(layer_params_init) X(layer_create) X(layer_destroy) \
  X(forward_params_init) X(backward_params_init) X(layer_forward) X(layer_backward) X(optimizer_params_init) X(optimizer_create) \
  X(optimizer_destroy) X(step_begin) X(optimizer_step) X(all_reduce) X(tape_destroy) X(layer_get_rows)
typedef struct moemesh_api {
  int64_t struct_size; int32_t abi;
#define FIELD(n) __typeof__(moemesh_##n)* n;
  INTERIM(FIELD)
#undef FIELD
} moemesh_api;
#define MOEMESH_API_VERSION 1
static inline const moemesh_api* interim_api(void* library) {
  moemesh_api* t = (moemesh_api*)__builtin_malloc(sizeof *t); 
#define FIELD(k) *(void**)(&t->k) = dlsym(library, "moemesh_" #k); if (!t->k) return 0;
  INTERIM(FIELD)
#undef FIELD
  return t;
}
#ifdef LINKED
static inline const moemesh_api* linked_api(void) {
  moemesh_api* t = (moemesh_api*)__builtin_malloc(sizeof *t);
#define FIELD(k) t->k = moemesh_##k;
  INTERIM(FIELD)
#undef FIELD
  return t;
}
#endif
#endif
