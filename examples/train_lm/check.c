/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static moemesh_context current_context;
static int64_t current_rank;

void check_use_context(moemesh_context context, int64_t rank) {
  current_context = context;
  current_rank = rank;
}

void check_status(int32_t status, const char* call) {
  if (status == MOEMESH_OK) return;
  char text[1024] = "";
  moemesh_last_error(current_context, text, (int64_t)sizeof text, NULL);
  fail("%.*s: %s (%s): %s", (int)strcspn(call, "("), call, moemesh_status_name(status), moemesh_status_text(status),
       text);
}

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fflush(stdout);
  fprintf(stderr, "train_lm: rank %" PRId64 ": ", current_rank);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(EXIT_FAILURE);
}

void* allocate(int64_t count, size_t size) {
  void* memory = calloc(count > 0 ? (size_t)count : 1, size);
  if (memory == NULL) fail("no memory for %" PRId64 " elements of %zu bytes", count, size);
  return memory;
}
