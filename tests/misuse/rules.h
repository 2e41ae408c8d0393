/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What spoiled calls return where it is not what their kind of argument says (misuse.c), and why. */
#ifndef RULES_H
#define RULES_H

#include <stdint.h>

/* A call that can't be made safely: the caller's memory would have to be that large. */
enum { SKIPPED = 1001 };
/* Any of the statuses that say so (misuse.c). */
enum { REFUSED = 1000 };

struct rule {
  const char* pattern; /* fnmatch with FNM_EXTMATCH, of function.argument.field=probe */
  int32_t status;
  const char* why;
  int used;
};

extern struct rule rules[];
extern const int rule_count;

#endif
