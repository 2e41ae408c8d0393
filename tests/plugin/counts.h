/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What a process holds, for tests that look for growth; and checks that count failures. */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdint.h>

typedef struct counts {
  long resident; /* bytes */
  int threads;
  int descriptors;
  int mappings;      /* of files: loaded libraries show here */
  int communicators; /* made and not freed; 0 in a program without MPI */
} counts;

counts count_process(void);

/* Is a file whose path has `name` in it mapped? */
int is_mapped(const char* name);

extern int failures;
void expect(int right, const char* what, const char* file, int line);
#define EXPECT(condition) expect((condition) != 0, #condition, __FILE__, __LINE__)

/* Made and not freed, and made in all; counted in programs that are linked with communicators.c. */
extern int open_communicators, made_communicators;

#endif /* COUNTS_H */
