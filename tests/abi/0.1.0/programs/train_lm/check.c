/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "check.h"

#include <argp.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1024 };

static moemesh_context current_context;
static int64_t current_rank;

void check_use_context(moemesh_context context, int64_t rank) {
  current_context = context;
  current_rank = rank;
}

static void take_error(int32_t status, char text[TEXT_BYTES]) {
  text[0] = 0;
  moemesh_last_error(current_context, text, TEXT_BYTES, NULL);
  if (text[0] == 0) snprintf(text, TEXT_BYTES, "%s: %s", moemesh_status_name(status), moemesh_status_text(status));
}

void check_status(int32_t status, const char* call) {
  if (status == MOEMESH_OK) return;
  char text[TEXT_BYTES];
  take_error(status, text);
  fail("%.*s: %s", (int)strcspn(call, "("), call, text);
}

void check_options(int32_t status) {
  if (status == MOEMESH_OK) return;
  char text[TEXT_BYTES];
  take_error(status, text);
  fail_option("the library refuses these options: %s", text);
}

/* In one piece: several ranks may write at once. */
__attribute__((format(printf, 2, 0))) static void print_failure(const char* who, const char* format,
                                                                va_list arguments) {
  char message[2048];
  char line[2176];
  vsnprintf(message, sizeof message, format, arguments);
  snprintf(line, sizeof line, "train_lm: %s%s\n", who, message);
  fflush(stdout);
  fputs(line, stderr);
}

void fail(const char* format, ...) {
  char who[32];
  va_list arguments;
  snprintf(who, sizeof who, "rank %" PRId64 ": ", current_rank);
  va_start(arguments, format);
  print_failure(who, format, arguments);
  va_end(arguments);
  exit(EXIT_FAILURE);
}

void fail_option(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_failure("", format, arguments);
  va_end(arguments);
  exit(argp_err_exit_status);
}

void* allocate(int64_t count, size_t size) {
  void* memory = calloc(count > 0 ? (size_t)count : 1, size);
  if (memory == NULL) fail("no memory for %" PRId64 " elements of %zu bytes", count, size);
  return memory;
}
