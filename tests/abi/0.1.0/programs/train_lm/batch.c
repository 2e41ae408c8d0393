/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

void batch_create(Batch* batch, int64_t sequences, int64_t sequence) {
  batch->sequences = sequences;
  batch->sequence = sequence;
  batch->input = allocate(sequences * sequence, 1);
  batch->target = allocate(sequences * sequence, 1);
  batch->scored = allocate(sequences * sequence, 1);
}

void batch_free(Batch* batch) {
  free(batch->input);
  free(batch->target);
  free(batch->scored);
  memset(batch, 0, sizeof *batch);
}

/* Row `row` predicts text[1..count] from text[0..count-1]. */
static void fill_row(Batch* batch, int64_t row, const uint8_t* text, int64_t count) {
  const int64_t at = row * batch->sequence;
  memset(batch->input + at, 0, (size_t)batch->sequence);
  memset(batch->target + at, 0, (size_t)batch->sequence);
  memcpy(batch->input + at, text, (size_t)count);
  memcpy(batch->target + at, text + 1, (size_t)count);
  memset(batch->scored + at, 0, (size_t)batch->sequence);
  memset(batch->scored + at, 1, (size_t)count);
}

static int64_t starts_of(Span span, int64_t sequence) {
  const int64_t starts = span.end - span.begin - sequence;
  return starts > 0 ? starts : 0;
}

int64_t batch_count_starts(const Corpus* corpus, int64_t sequence) {
  int64_t starts = 0;
  for (int64_t i = 0; i < corpus->training_count; ++i) starts += starts_of(corpus->training[i], sequence);
  return starts;
}

static int64_t find_start(const Corpus* corpus, int64_t sequence, int64_t index) {
  for (int64_t i = 0; i < corpus->training_count; ++i) {
    const int64_t starts = starts_of(corpus->training[i], sequence);
    if (index < starts) return corpus->training[i].begin + index;
    index -= starts;
  }
  fail("no start of a sequence has that index");
}

static uint64_t mix(uint64_t state, uint64_t value) {
  state = (state ^ value) + 0x9e3779b97f4a7c15u;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

/* Counter-based: no state runs from draw to draw, so it doesn't matter which rank draws what. */
static int64_t draw(int64_t seed, int64_t step, int64_t piece, int64_t row, int64_t below) {
  uint64_t bits = mix(mix(mix(mix(0, (uint64_t)seed), (uint64_t)step), (uint64_t)piece), (uint64_t)row);
  return (int64_t)(bits % (uint64_t)below);
}

void batch_draw_piece(Batch* batch, const Corpus* corpus, int64_t sequences, int64_t seed, int64_t step,
                      int64_t piece) {
  const int64_t starts = batch_count_starts(corpus, batch->sequence);
  batch->sequences = sequences;
  for (int64_t row = 0; row < sequences; ++row) {
    const int64_t start = find_start(corpus, batch->sequence, draw(seed, step, piece, row, starts));
    fill_row(batch, row, corpus->bytes + start, batch->sequence);
  }
}

static int64_t windows_per_block(int64_t sequence) { return (BLOCK_BYTES - 1 + sequence - 1) / sequence; }

int64_t batch_count_windows(const Corpus* corpus, int64_t sequence) {
  return corpus->held_out_count * windows_per_block(sequence);
}

void batch_take_windows(Batch* batch, const Corpus* corpus, int64_t first, int64_t sequences) {
  const int64_t per_block = windows_per_block(batch->sequence);
  batch->sequences = sequences;
  for (int64_t row = 0; row < sequences; ++row) {
    const int64_t begin = (first + row) % per_block * batch->sequence;
    const int64_t left = BLOCK_BYTES - 1 - begin;
    const uint8_t* block = corpus->bytes + corpus->held_out[(first + row) / per_block].begin;
    fill_row(batch, row, block + begin, left < batch->sequence ? left : batch->sequence);
  }
}
