/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * drive CORPUS SECONDS SEED: a fuzzer without libFuzzer: runs the inputs of CORPUS (a line of hexadecimal digits each), then random
 * ones and changed ones of the corpus until the time is up. A fault prints the input, for a line of the corpus. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

enum { MOST_INPUTS = 4096, MOST_BYTES = 512 };
static struct {
  uint8_t bytes[MOST_BYTES];
  size_t size;
} inputs[MOST_INPUTS], now;
static int count = 0;
static uint64_t random_state;

static uint32_t draw(void) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 33);
}

/* Also what sanitizers call before they end the process. */
static void show(void) {
  size_t i;
  fprintf(stderr, "the input:\n");
  for (i = 0; i < now.size; ++i) fprintf(stderr, "%02x", now.bytes[i]);
  fprintf(stderr, "\n");
}
void __asan_on_error(void);
void __asan_on_error(void) { show(); }
static void on_signal(int number) {
  show();
  signal(number, SIG_DFL);
  raise(number);
}

static void read_corpus(const char* path) {
  static char line[2 * MOST_BYTES + 2];
  FILE* file = fopen(path, "r");
  if (!file) return; /* none was kept */
  while (count < MOST_INPUTS && fgets(line, sizeof line, file)) {
    unsigned byte;
    size_t n = 0;
    if (line[0] == '#') continue;
    while (n < MOST_BYTES && sscanf(line + 2 * n, "%2x", &byte) == 1) inputs[count].bytes[n++] = (uint8_t)byte;
    inputs[count++].size = n;
  }
  fclose(file);
}

static void make_input(void) {
  size_t i, changes = draw() % 8;
  if (count > 0 && draw() % 4 != 0) {
    now = inputs[draw() % (unsigned)count];
    for (i = 0; i < changes && now.size > 0; ++i) now.bytes[draw() % now.size] = (uint8_t)draw();
    if (draw() % 4 == 0) now.size = now.size * (draw() % 100) / 100;
    return;
  }
  now.size = draw() % MOST_BYTES;
  for (i = 0; i < now.size; ++i) now.bytes[i] = (uint8_t)draw();
}

int main(int argc, char** argv) {
  long runs = 0;
  time_t end;
  int i;
  if (argc != 4) return fprintf(stderr, "usage: drive CORPUS SECONDS SEED\n"), 2;
  read_corpus(argv[1]);
  random_state = strtoull(argv[3], NULL, 10);
  signal(SIGABRT, on_signal);
  LLVMFuzzerInitialize(&argc, &argv);
  for (i = 0; i < count; ++i, ++runs) now = inputs[i], LLVMFuzzerTestOneInput(now.bytes, now.size);
  end = time(NULL) + atol(argv[2]);
  for (; time(NULL) < end; ++runs) make_input(), LLVMFuzzerTestOneInput(now.bytes, now.size);
  world_destroy();
  printf("%d inputs of the corpus, %ld runs from seed %s\n", count, runs, argv[3]);
  return 0;
}
