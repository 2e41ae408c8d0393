/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "attention.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "matmul.h"

/* Rows that are computed together: a band needs the columns up to its last row only, together about half the square. */
enum { BAND = 32 };

static int64_t band_rows(int64_t sequence, int64_t begin) { return sequence - begin < BAND ? sequence - begin : BAND; }

/* Where head `head` of sequence `s` begins. */
static int64_t head_offset(const AttentionShape* shape, int64_t s, int64_t head) {
  return s * shape->sequence * shape->heads * shape->head_size + head * shape->head_size;
}

static int64_t square_offset(const AttentionShape* shape, int64_t s, int64_t head) {
  return (s * shape->heads + head) * shape->sequence * shape->sequence;
}

int64_t attention_count_probabilities(const AttentionShape* shape) {
  return shape->sequences * shape->heads * shape->sequence * shape->sequence;
}

/* Softmax of row `row` over columns 0..row; the band's other columns become 0. */
static void causal_softmax(float* scores, int64_t row, int64_t columns, float scale) {
  float largest = scores[0];
  for (int64_t j = 1; j <= row; ++j) largest = scores[j] > largest ? scores[j] : largest;
  float sum = 0;
  for (int64_t j = 0; j <= row; ++j) sum += scores[j] = expf((scores[j] - largest) * scale);
  for (int64_t j = 0; j <= row; ++j) scores[j] /= sum;
  for (int64_t j = row + 1; j < columns; ++j) scores[j] = 0;
}

/* One head of one sequence; lines of query, value and mixed are `ld` apart, key_transposed is [head_size, sequence]. */
static void attend(int64_t sequence, int64_t size, int64_t ld, const float* query, const float* key_transposed,
                   const float* value, float* probabilities, float* mixed) {
  for (int64_t begin = 0; begin < sequence; begin += BAND) {
    const int64_t rows = band_rows(sequence, begin);
    const int64_t columns = begin + rows;
    float* band = probabilities + begin * sequence;
    matmul(rows, columns, size, query + begin * ld, ld, key_transposed, sequence, band, sequence, 0);
    for (int64_t i = 0; i < rows; ++i) causal_softmax(band + i * sequence, begin + i, columns, 1 / sqrtf((float)size));
    matmul(rows, size, columns, band, sequence, value, ld, mixed + begin * ld, ld, 0);
  }
}

void attention(const AttentionShape* shape, const float* query, const float* key, const float* value,
               float* probabilities, float* mixed) {
  const int64_t ld = shape->heads * shape->head_size;
  float* key_transposed = allocate(shape->head_size * shape->sequence, sizeof *key_transposed);
  for (int64_t s = 0; s < shape->sequences; ++s)
    for (int64_t head = 0; head < shape->heads; ++head) {
      const int64_t at = head_offset(shape, s, head);
      transpose(shape->sequence, shape->head_size, key + at, ld, key_transposed);
      attend(shape->sequence, shape->head_size, ld, query + at, key_transposed, value + at,
             probabilities + square_offset(shape, s, head), mixed + at);
    }
  free(key_transposed);
}

/* d(score) of a row from d(probability), in place: p * (dp - sum(p * dp)) * scale. */
static void softmax_backward(const float* probabilities, float* gradient, int64_t columns, float scale) {
  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += probabilities[j] * gradient[j];
  for (int64_t j = 0; j < columns; ++j) gradient[j] = probabilities[j] * (gradient[j] - sum) * scale;
}

/* dscores [sequence, sequence]; value_transposed is [head_size, sequence]. Writes the bands' columns only. */
static void scores_backward(int64_t sequence, int64_t size, int64_t ld, const float* value_transposed,
                            const float* probabilities, const float* dmixed, float* dscores) {
  for (int64_t begin = 0; begin < sequence; begin += BAND) {
    const int64_t rows = band_rows(sequence, begin);
    const int64_t columns = begin + rows;
    float* band = dscores + begin * sequence;
    matmul(rows, columns, size, dmixed + begin * ld, ld, value_transposed, sequence, band, sequence, 0);
    for (int64_t i = 0; i < rows; ++i)
      softmax_backward(probabilities + (begin + i) * sequence, band + i * sequence, columns, 1 / sqrtf((float)size));
  }
}

/* to[j] = sum over rows i of square[i, j] * from[i]: only rows from j's band on have anything in column j. */
static void spread_to_keys(int64_t sequence, int64_t size, int64_t ld, const float* square, const float* from,
                           float* to) {
  for (int64_t begin = 0; begin < sequence; begin += BAND)
    matmul_left_transposed(band_rows(sequence, begin), size, sequence - begin, square + begin * sequence + begin,
                           sequence, from + begin * ld, ld, to + begin * ld, ld, 0);
}

static void gather_from_keys(int64_t sequence, int64_t size, int64_t ld, const float* square, const float* from,
                             float* to) {
  for (int64_t begin = 0; begin < sequence; begin += BAND) {
    const int64_t rows = band_rows(sequence, begin);
    matmul(rows, size, begin + rows, square + begin * sequence, sequence, from, ld, to + begin * ld, ld, 0);
  }
}

void attention_backward(const AttentionShape* shape, const float* query, const float* key, const float* value,
                        const float* probabilities, const float* dmixed, float* dquery, float* dkey, float* dvalue) {
  const int64_t sequence = shape->sequence;
  const int64_t size = shape->head_size;
  const int64_t ld = shape->heads * size;
  float* value_transposed = allocate(size * sequence, sizeof *value_transposed);
  float* dscores = allocate(sequence * sequence, sizeof *dscores);
  for (int64_t s = 0; s < shape->sequences; ++s)
    for (int64_t head = 0; head < shape->heads; ++head) {
      const int64_t at = head_offset(shape, s, head);
      const float* square = probabilities + square_offset(shape, s, head);
      transpose(sequence, size, value + at, ld, value_transposed);
      scores_backward(sequence, size, ld, value_transposed, square, dmixed + at, dscores);
      spread_to_keys(sequence, size, ld, square, dmixed + at, dvalue + at);
      gather_from_keys(sequence, size, ld, dscores, key + at, dquery + at);
      spread_to_keys(sequence, size, ld, dscores, query + at, dkey + at);
    }
  free(dscores);
  free(value_transposed);
}
