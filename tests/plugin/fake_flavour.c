/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Stands in for a libmoemesh_cuda.so that can be loaded and does not work: on a machine without a device, or, with
 * -DMINOR=..., of another version; -DTABLE_BYTES=... has a shorter table, -DNO_ENTRY none at all. */
#include <stdio.h>

#include "moemesh.h"

#ifndef MINOR
#define MINOR MOEMESH_VERSION_MINOR
#endif
#ifndef TABLE_BYTES
#define TABLE_BYTES sizeof(moemesh_api)
#endif

static int32_t version(int32_t* major, int32_t* minor, int32_t* patch) {
  *major = MOEMESH_VERSION_MAJOR;
  *minor = MINOR;
  *patch = 0;
  return MOEMESH_OK;
}

static int32_t last_error(moemesh_context context, char* buffer, int64_t capacity, int64_t* length) {
  (void)context;
  (void)length;
  snprintf(buffer, (size_t)capacity, "no device in this machine");
  return MOEMESH_OK;
}

static int32_t context_params_init(moemesh_context_params* params, int64_t struct_size) {
  (void)params;
  (void)struct_size;
  return MOEMESH_OK;
}

static int32_t context_create(const moemesh_context_params* params, moemesh_context* context) {
  (void)params;
  (void)context;
  return MOEMESH_ERROR_NOT_SUPPORTED;
}

static int32_t shutdown_nothing(void) { return MOEMESH_OK; }

static void context_destroy(moemesh_context* object) { (void)object; }
static void mesh_destroy(moemesh_mesh* object) { (void)object; }
static void family_destroy(moemesh_family* object) { (void)object; }
static void layer_destroy(moemesh_layer* object) { (void)object; }
static void optimizer_destroy(moemesh_optimizer* object) { (void)object; }

#ifndef NO_ENTRY
const moemesh_api* moemesh_get_api(int32_t abi_version) {
  static const moemesh_api table = {.struct_size = TABLE_BYTES,
                                    .abi_version = MOEMESH_ABI_VERSION,
                                    .version = version,
                                    .last_error = last_error,
                                    .shutdown = shutdown_nothing,
                                    .context_params_init = context_params_init,
                                    .context_create = context_create,
                                    .context_destroy = context_destroy,
                                    .mesh_destroy = mesh_destroy,
                                    .family_destroy = family_destroy,
                                    .layer_destroy = layer_destroy,
                                    .optimizer_destroy = optimizer_destroy};
  return abi_version == MOEMESH_ABI_VERSION ? &table : NULL;
}
#endif
