/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#include "counts.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int failures = 0;
int open_communicators = 0, made_communicators = 0;

void expect(int right, const char* what, const char* file, int line) {
  if (right) return;
  fprintf(stderr, "%s:%d: expected %s\n", file, line, what);
  ++failures;
}

static int entries(const char* folder) {
  int count = 0;
  DIR* const open = opendir(folder);
  if (!open) return -1;
  for (const struct dirent* entry = readdir(open); entry; entry = readdir(open)) count += entry->d_name[0] != '.';
  closedir(open);
  return count;
}

static long resident_bytes(void) {
  long size = 0, resident = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (!file) return -1;
  if (fscanf(file, "%ld %ld", &size, &resident) != 2) resident = -1;
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

/* Lines of the map that have `name` in them. */
static int mapped_lines(const char* name) {
  char line[4096];
  int count = 0;
  FILE* const file = fopen("/proc/self/maps", "r");
  if (!file) return -1;
  while (fgets(line, sizeof line, file)) count += strstr(line, name) != NULL;
  fclose(file);
  return count;
}

int is_mapped(const char* name) { return mapped_lines(name) > 0; }

counts count_process(void) {
  const counts result = {.resident = resident_bytes(),
                         .threads = entries("/proc/self/task"),
                         .descriptors = entries("/proc/self/fd"),
                         .mappings = mapped_lines("/"),
                         .communicators = open_communicators};
  return result;
}
