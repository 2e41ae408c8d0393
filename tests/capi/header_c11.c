/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The header in a C11 translation unit: every kind of declaration is used once, and a call is made. */
#include "moemesh.h"

#include <stddef.h>

_Static_assert(sizeof(moemesh_view) == 88, "fixed for ever");
_Static_assert(sizeof(moemesh_comm) == 16, "part of context_params");
_Static_assert(offsetof(moemesh_context_params, struct_size) == 0, "struct_size comes first");
_Static_assert(MOEMESH_OK == 0 && MOEMESH_ERROR_INTERNAL < 0, "statuses keep their values");

static int count_statuses(void) {
  int count = 0;
#define COUNT(name, value, text) ++count;
  MOEMESH_STATUS_LIST(COUNT)
#undef COUNT
  return count;
}

/* 0, or the line of the first thing that is wrong. */
int header_c11_check(void);
int header_c11_check(void) {
  moemesh_context_params params;
  moemesh_context context = NULL;
  moemesh_context_info info = {.struct_size = sizeof info};
  if (count_statuses() != 26) return __LINE__;
  if (moemesh_context_params_init(&params, sizeof params) != MOEMESH_OK) return __LINE__;
  if (moemesh_context_create(&params, &context) != MOEMESH_OK) return __LINE__;
  if (moemesh_context_get_info(context, &info) != MOEMESH_OK || info.size != 1) return __LINE__;
  if (moemesh_context_finalize(context) != MOEMESH_OK) return __LINE__;
  moemesh_context_destroy(&context);
  return context == NULL ? 0 : __LINE__;
}
