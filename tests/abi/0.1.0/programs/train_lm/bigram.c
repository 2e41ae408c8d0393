/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "bigram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { BYTES = 256, FOLDS = 10 };

typedef struct Counts {
  double pair[BYTES][BYTES];
  double first[BYTES];  /* pairs that begin with a byte */
  double second[BYTES]; /* pairs that end in it */
  double kinds[BYTES];  /* different bytes that follow it */
  double before[BYTES]; /* different bytes that precede it */
  double pairs;
  double pair_kinds;
} Counts;

/* p(byte | previous) of one smoothing. */
typedef double (*Smoothing)(const Counts* counts, int previous, int byte, double parameter);

typedef struct Candidate {
  const char* name;
  Smoothing smoothing;
  double parameters[8];
} Candidate;

static double unigram(const Counts* counts, int byte) {
  return (counts->second[byte] + 0.5) / (counts->pairs + 0.5 * BYTES);
}

static double continuation(const Counts* counts, int byte) {
  return (counts->before[byte] + 0.5) / (counts->pair_kinds + 0.5 * BYTES);
}

/* `parameter` pseudo-counts, shared out over the bytes as the unigram says. */
static double dirichlet(const Counts* counts, int previous, int byte, double parameter) {
  const double prior = parameter * unigram(counts, byte);
  return (counts->pair[previous][byte] + prior) / (counts->first[previous] + parameter);
}

static double add_constant(const Counts* counts, int previous, int byte, double parameter) {
  return (counts->pair[previous][byte] + parameter) / (counts->first[previous] + parameter * BYTES);
}

/* Takes `parameter` from every seen pair and gives it to a lower order. */
static double discounted(const Counts* counts, int previous, int byte, double parameter, double lower) {
  if (counts->first[previous] == 0) return lower;
  const double kept = fmax(counts->pair[previous][byte] - parameter, 0);
  return (kept + parameter * counts->kinds[previous] * lower) / counts->first[previous];
}

static double absolute_discount(const Counts* counts, int previous, int byte, double parameter) {
  return discounted(counts, previous, byte, parameter, unigram(counts, byte));
}

static double kneser_ney(const Counts* counts, int previous, int byte, double parameter) {
  return discounted(counts, previous, byte, parameter, continuation(counts, byte));
}

static const Candidate candidates[] = {
    {"add-constant", add_constant, {0.003, 0.01, 0.03, 0.1, 0.3, 1, 0, 0}},
    {"Dirichlet prior of the unigram", dirichlet, {1, 3, 10, 30, 100, 300, 0, 0}},
    {"absolute discount to the unigram", absolute_discount, {0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0}},
    {"Kneser-Ney", kneser_ney, {0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0}},
};

static void count_span(Counts* counts, const Corpus* corpus, Span span) {
  for (int64_t i = span.begin + 1; i < span.end; ++i) ++counts->pair[corpus->bytes[i - 1]][corpus->bytes[i]];
}

static void sum_counts(Counts* counts) {
  for (int a = 0; a < BYTES; ++a)
    for (int b = 0; b < BYTES; ++b) {
      const double pairs = counts->pair[a][b];
      counts->first[a] += pairs;
      counts->second[b] += pairs;
      counts->pairs += pairs;
      counts->kinds[a] += pairs > 0;
      counts->before[b] += pairs > 0;
      counts->pair_kinds += pairs > 0;
    }
}

/* Blocks of the training spans, numbered through; fold = number mod FOLDS. inside: that fold; else all others. */
static int64_t for_fold(const Corpus* corpus, int fold, int inside, Span* spans) {
  int64_t count = 0;
  int64_t number = 0;
  for (int64_t i = 0; i < corpus->training_count; ++i)
    for (int64_t begin = corpus->training[i].begin; begin < corpus->training[i].end; begin += BLOCK_BYTES) {
      const int64_t end = begin + BLOCK_BYTES < corpus->training[i].end ? begin + BLOCK_BYTES : corpus->training[i].end;
      if ((number++ % FOLDS == fold) == inside) spans[count++] = (Span){begin, end};
    }
  return count;
}

static double score_spans(const Counts* counts, const Corpus* corpus, const Span* spans, int64_t count,
                          const Candidate* candidate, double parameter) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t at = spans[i].begin + 1; at < spans[i].end; ++at)
      sum -= log(candidate->smoothing(counts, corpus->bytes[at - 1], corpus->bytes[at], parameter));
  return sum;
}

static void fit(Counts* counts, const Corpus* corpus, const Span* spans, int64_t count) {
  memset(counts, 0, sizeof *counts);
  for (int64_t i = 0; i < count; ++i) count_span(counts, corpus, spans[i]);
  sum_counts(counts);
}

typedef struct Choice {
  const Candidate* candidate;
  double parameter;
  double loss;
} Choice;

enum { CANDIDATES = sizeof candidates / sizeof *candidates, PARAMETERS = 8 };

static void add_fold_scores(const Corpus* corpus, int fold, Counts* counts, Span* spans,
                            double scores[CANDIDATES][PARAMETERS]) {
  fit(counts, corpus, spans, for_fold(corpus, fold, 0, spans));
  const int64_t count = for_fold(corpus, fold, 1, spans);
  for (int c = 0; c < CANDIDATES; ++c)
    for (int p = 0; p < PARAMETERS && candidates[c].parameters[p] > 0; ++p)
      scores[c][p] += score_spans(counts, corpus, spans, count, &candidates[c], candidates[c].parameters[p]);
}

static Choice choose(const Corpus* corpus, Counts* counts, Span* spans) {
  double scores[CANDIDATES][PARAMETERS] = {{0}};
  Choice best = {NULL, 0, INFINITY};
  for (int fold = 0; fold < FOLDS; ++fold) add_fold_scores(corpus, fold, counts, spans, scores);
  for (int c = 0; c < CANDIDATES; ++c)
    for (int p = 0; p < PARAMETERS && candidates[c].parameters[p] > 0; ++p)
      if (scores[c][p] < best.loss) best = (Choice){&candidates[c], candidates[c].parameters[p], scores[c][p]};
  if (best.candidate == NULL) fail("no bigram could be fitted");
  return best;
}

BigramResult bigram_score(const Corpus* corpus) {
  Counts* counts = allocate(1, sizeof *counts);
  Span* spans = allocate(corpus->training_bytes / BLOCK_BYTES + corpus->training_count, sizeof *spans);
  const Choice best = choose(corpus, counts, spans);
  fit(counts, corpus, corpus->training, corpus->training_count);
  const double sum =
      score_spans(counts, corpus, corpus->held_out, corpus->held_out_count, best.candidate, best.parameter);
  free(spans);
  free(counts);
  const double scored = (double)(corpus->held_out_count * (BLOCK_BYTES - 1));
  return (BigramResult){sum / scored, best.candidate->name, best.parameter};
}
