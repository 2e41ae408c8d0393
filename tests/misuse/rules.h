/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What spoiled calls return where it is not what their kind of argument says (misuse.c), and why. */
#ifndef RULES_H
#define RULES_H

#include <stdint.h>

/* A call that can't be made safely: the caller's memory would have to be that large. */
enum { SKIPPED = 1001 };

struct rule {
  const char* pattern; /* fnmatch, of function.argument.field=probe */
  int32_t status;
  const char* why;
  int used;
};

extern struct rule rules[];
extern const int rule_count;

#endif
