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
  if (text[0] == 0) snprintf(text, sizeof text, "%s: %s", moemesh_status_name(status), moemesh_status_text(status));
  fail("%.*s: %s", (int)strcspn(call, "("), call, text);
}

/* In one piece: several ranks may write at once. */
void fail(const char* format, ...) {
  char message[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  fflush(stdout);
  char line[2176];
  snprintf(line, sizeof line, "train_lm: rank %" PRId64 ": %s\n", current_rank, message);
  fputs(line, stderr);
  exit(EXIT_FAILURE);
}

void* allocate(int64_t count, size_t size) {
  void* memory = calloc(count > 0 ? (size_t)count : 1, size);
  if (memory == NULL) fail("no memory for %" PRId64 " elements of %zu bytes", count, size);
  return memory;
}
