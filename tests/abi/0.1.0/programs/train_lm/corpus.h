/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The text: files joined, cut into blocks of 512 bytes, every tenth of them held out. */
#ifndef TRAIN_LM_CORPUS_H
#define TRAIN_LM_CORPUS_H

#include <stdint.h>

enum { BLOCK_BYTES = 512, HELD_OUT_EVERY = 10, PROBE_BYTES = 64 };

/* Bytes [begin, end) of the text. */
typedef struct Span {
  int64_t begin;
  int64_t end;
} Span;

typedef struct Corpus {
  uint8_t* bytes;
  int64_t size;
  int64_t file_count;
  Span* training; /* what lies between the tenth blocks */
  int64_t training_count;
  int64_t training_bytes;
  Span* held_out; /* blocks that are scored */
  int64_t held_out_count;
  int64_t dropped_count; /* tenth blocks whose middle occurs in the training part: neither trained on nor scored */
} Corpus;

/* file_count = 0: the regular files under /usr/share/common-licenses, each once, by name. */
void corpus_load(Corpus* corpus, char** files, int64_t file_count);
void corpus_free(Corpus* corpus);

/* A hash of all bytes, to find out whether every rank read the same text. */
int64_t corpus_hash(const Corpus* corpus);

#endif
