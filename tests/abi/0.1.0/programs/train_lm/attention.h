/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Causal multi-head attention without its projections, on the heads of this tp rank. */
#ifndef TRAIN_LM_ATTENTION_H
#define TRAIN_LM_ATTENTION_H

#include <stdint.h>

/* Arrays of rows = sequences*sequence lines hold the heads side by side: [rows, heads*head_size]. */
typedef struct AttentionShape {
  int64_t sequences;
  int64_t sequence;
  int64_t heads;
  int64_t head_size;
} AttentionShape;

/* Floats for the probabilities that attention keeps for its backward. */
int64_t attention_count_probabilities(const AttentionShape* shape);

/* mixed = softmax(query key^T / sqrt(head_size), each row up to itself) value, head by head */
void attention(const AttentionShape* shape, const float* query, const float* key, const float* value,
               float* probabilities, float* mixed);

/* Overwrites dquery, dkey and dvalue. */
void attention_backward(const AttentionShape* shape, const float* query, const float* key, const float* value,
                        const float* probabilities, const float* dmixed, float* dquery, float* dkey, float* dvalue);

#endif
