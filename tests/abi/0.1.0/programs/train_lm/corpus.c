/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#define _GNU_SOURCE
#include "corpus.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"

static const char licence_folder[] = "/usr/share/common-licenses";

typedef struct PathList {
  char** paths;
  int64_t count;
} PathList;

static void append_file(Corpus* corpus, const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) fail("cannot open %s: %s", path, strerror(errno));
  uint8_t part[65536];
  size_t count;
  while ((count = fread(part, 1, sizeof part, file)) > 0) {
    uint8_t* bytes = realloc(corpus->bytes, (size_t)corpus->size + count);
    if (bytes == NULL) fail("no memory for the text of %s", path);
    memcpy(bytes + corpus->size, part, count);
    corpus->bytes = bytes;
    corpus->size += (int64_t)count;
  }
  if (ferror(file)) fail("cannot read %s: %s", path, strerror(errno));
  fclose(file);
  ++corpus->file_count;
}

/* The real path of a folder's entry if that is a regular file, else NULL; to be freed. */
static char* real_file(const char* folder, const char* name) {
  char path[PATH_MAX];
  struct stat status;
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return NULL;
  char* real = realpath(path, NULL);
  if (real != NULL && stat(real, &status) == 0 && S_ISREG(status.st_mode)) return real;
  free(real);
  return NULL;
}

static int compare_paths(const void* left, const void* right) {
  return strcmp(*(char* const*)left, *(char* const*)right);
}

static PathList list_folder(const char* folder) {
  PathList list = {NULL, 0};
  DIR* directory = opendir(folder);
  if (directory == NULL) fail("cannot open %s: %s; name text files on the command line", folder, strerror(errno));
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
    char* real = real_file(folder, entry->d_name);
    if (real == NULL) continue;
    list.paths = realloc(list.paths, (size_t)(list.count + 1) * sizeof *list.paths);
    if (list.paths == NULL) fail("no memory for the list of files");
    list.paths[list.count++] = real;
  }
  closedir(directory);
  if (list.count > 0) qsort(list.paths, (size_t)list.count, sizeof *list.paths, compare_paths);
  return list;
}

/* Symbolic links (GPL -> GPL-3) would bring a text in twice: equal real paths stand side by side after the sort. */
static void load_folder(Corpus* corpus, const char* folder) {
  PathList list = list_folder(folder);
  for (int64_t i = 0; i < list.count; ++i)
    if (i == 0 || strcmp(list.paths[i - 1], list.paths[i]) != 0) append_file(corpus, list.paths[i]);
  for (int64_t i = 0; i < list.count; ++i) free(list.paths[i]);
  free(list.paths);
}

static int is_tenth(int64_t block) { return block % HELD_OUT_EVERY == HELD_OUT_EVERY - 1; }

/* The last, incomplete block is never held out. */
static void cut_training(Corpus* corpus) {
  const int64_t period = (int64_t)HELD_OUT_EVERY * BLOCK_BYTES;
  corpus->training = allocate(corpus->size / period + 1, sizeof *corpus->training);
  for (int64_t begin = 0; begin < corpus->size; begin += period) {
    const int whole = begin + period <= corpus->size;
    const int64_t end = whole ? begin + period - BLOCK_BYTES : corpus->size;
    corpus->training[corpus->training_count++] = (Span){begin, end};
    corpus->training_bytes += end - begin;
  }
}

static int occurs_in_training(const Corpus* corpus, const uint8_t* probe) {
  for (int64_t i = 0; i < corpus->training_count; ++i) {
    const Span span = corpus->training[i];
    if (memmem(corpus->bytes + span.begin, (size_t)(span.end - span.begin), probe, PROBE_BYTES) != NULL) return 1;
  }
  return 0;
}

static void cut_held_out(Corpus* corpus) {
  const int64_t blocks = corpus->size / BLOCK_BYTES;
  corpus->held_out = allocate(blocks / HELD_OUT_EVERY + 1, sizeof *corpus->held_out);
  for (int64_t block = 0; block < blocks; ++block) {
    if (!is_tenth(block)) continue;
    const int64_t begin = block * BLOCK_BYTES;
    if (occurs_in_training(corpus, corpus->bytes + begin + (BLOCK_BYTES - PROBE_BYTES) / 2))
      ++corpus->dropped_count;
    else
      corpus->held_out[corpus->held_out_count++] = (Span){begin, begin + BLOCK_BYTES};
  }
}

void corpus_load(Corpus* corpus, char** files, int64_t file_count) {
  memset(corpus, 0, sizeof *corpus);
  for (int64_t i = 0; i < file_count; ++i) append_file(corpus, files[i]);
  if (file_count == 0) load_folder(corpus, licence_folder);
  if (corpus->size < HELD_OUT_EVERY * BLOCK_BYTES)
    fail("the text is shorter than %d bytes", HELD_OUT_EVERY * BLOCK_BYTES);
  cut_training(corpus);
  cut_held_out(corpus);
  if (corpus->held_out_count == 0) fail("every tenth block of the text occurs in the rest: nothing is left to score");
}

void corpus_free(Corpus* corpus) {
  free(corpus->bytes);
  free(corpus->training);
  free(corpus->held_out);
  memset(corpus, 0, sizeof *corpus);
}

int64_t corpus_hash(const Corpus* corpus) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (int64_t i = 0; i < corpus->size; ++i) hash = (hash ^ corpus->bytes[i]) * 1099511628211u;
  return (int64_t)(hash & INT64_MAX);
}
