/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#include "loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char* const plugin_flavours[] = {"libmoemesh_cuda.so", "libmoemesh.so", NULL};

static int refuse(plugin* opened, char* why, size_t capacity, const char* path, const char* reason) {
  snprintf(why, capacity, "%s: %s", path, reason);
  if (opened->library) dlclose(opened->library);
  memset(opened, 0, sizeof *opened);
  return 0;
}

/* NULL where the file is another library, has another version of the table, or is older and has a shorter one. */
static const moemesh_api* table_of(void* library) {
  moemesh_get_api_function get_api = NULL;
  const moemesh_api* table;
  *(void**)&get_api = dlsym(library, "moemesh_get_api"); /* as POSIX has it: C converts no pointer to a function's */
  table = get_api ? get_api(MOEMESH_ABI_VERSION) : NULL;
  return table && table->struct_size >= (int64_t)sizeof *table ? table : NULL;
}

/* Not older than what this host was compiled against; until 1.0 each minor version has an ABI of its own. */
static int version_fits(const moemesh_api* api, char* text, size_t capacity) {
  int32_t major = -1, minor = -1, patch = -1;
  if (api->version(&major, &minor, &patch) != MOEMESH_OK) return 0;
  snprintf(text, capacity, "its version is %d.%d.%d, this host was built for %d.%d", major, minor, patch,
           MOEMESH_VERSION_MAJOR, MOEMESH_VERSION_MINOR);
  if (major != MOEMESH_VERSION_MAJOR) return 0;
  return major == 0 ? minor == MOEMESH_VERSION_MINOR : minor >= MOEMESH_VERSION_MINOR;
}

int plugin_open(plugin* opened, const char* folder, const char* flavour, char* why, size_t capacity) {
  char path[4096], text[128];
  memset(opened, 0, sizeof *opened);
  snprintf(path, sizeof path, "%s%s%s", folder ? folder : "", folder ? "/" : "", flavour);
  /* NOW: what is missing is missed here, not in the first step. LOCAL: its names stay out of the way of all others. */
  opened->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!opened->library) return refuse(opened, why, capacity, path, dlerror());
  opened->api = table_of(opened->library);
  if (!opened->api) return refuse(opened, why, capacity, path, "it has no table of functions for this host");
  if (!version_fits(opened->api, text, sizeof text)) return refuse(opened, why, capacity, path, text);
  return 1;
}

int plugin_close(plugin* opened, char* why, size_t capacity) {
  if (!opened->library) return 1;
  if (opened->api->shutdown() != MOEMESH_OK) {
    opened->api->last_error(NULL, why, (int64_t)capacity, NULL);
    return 0;
  }
  dlclose(opened->library);
  memset(opened, 0, sizeof *opened);
  return 1;
}
