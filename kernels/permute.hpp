// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

// Integer work of dispatch: which token goes where, in which order. Everything is stable and deterministic whatever the
// number of threads.
//
// At the source an "assignment" is one of the T*k (token, choice) pairs; a "copy" is one (token, destination) pair and
// lists its rows by RowTags, in order of choice. At the expert's rank tags arrive in (source, copy) order; a "row" is a
// tag's place after sorting by local expert.
namespace moemesh::kernels {

// One row on the wire: the global expert and its gate (or, on the way back, the gate's gradient). The last row of a copy
// has ~expert (negative) instead of expert, so that no lengths travel.
struct RowTag {
  int32_t expert;
  float gate;
};
static_assert(sizeof(RowTag) == 8);

// Stable counting sort: item i with key[i] >= 0 gets position[i] among all items, ordered by key then index; negative
// keys are left out (position -1). offsets[buckets+1] starts each bucket. workspace: sort_workspace(n, buckets) int64.
int64_t sort_workspace(int64_t n, int64_t buckets);
void stable_sort(int64_t n, const int32_t* key, int64_t buckets, int64_t* position, int64_t* offsets,
                 int64_t* workspace);

// to[i] = from[index[i]]
void pick(int64_t n, const int64_t* from, const int64_t* index, int64_t* to);

// sums[i] = values[0] + ... + values[i-1], n+1 of them.
void exclusive_sum(int64_t n, const int32_t* values, int64_t* sums);

// owner[e] = destination of expert e. destination[t*k+j] = owner of choice j if j is the first choice of token t that goes
// there (it stands for the copy), else -1. Rows with chosen = -1 go nowhere.
void copy_destinations(int64_t tokens, int32_t top_k, const int32_t* chosen, const int32_t* owner,
                       int32_t* destination);

// copy: the position of each assignment's copy as sorted by destination (-1 where destination is -1).
// copy_token[c] = its token; copy_rows[c] = number of its rows.
void describe_copies(int64_t tokens, int32_t top_k, const int32_t* chosen, const int32_t* owner, const int64_t* copy,
                     int32_t* copy_token, int32_t* copy_rows);

// first_tag[c]: exclusive_sum of copy_rows. tags[i] in copy order; slot[i] = the assignment of tag i.
void write_tags(int64_t tokens, int32_t top_k, const int32_t* chosen, const float* gates, const int32_t* owner,
                const int64_t* copy, const int64_t* first_tag, RowTag* tags, int32_t* slot);

// At the expert's rank: key[i] = local expert of tag i (or -1 if the tag names an expert outside [first_expert,
// first_expert + local_experts)), last[i] = 1 for the last row of a copy.
void read_tags(int64_t n, const RowTag* tags, int64_t first_expert, int64_t local_experts, int32_t* key, int32_t* last);

// copy_of_tag: exclusive_sum of last. position: stable_sort by key. row_copy[row], row_gate[row]; first_tag[c] = first tag of
// copy c, copies+1 of them.
void index_rows(int64_t n, const RowTag* tags, const int64_t* copy_of_tag, const int64_t* position, int64_t copies,
                int32_t* row_copy, float* row_gate, int64_t* first_tag);

// index[to[i]] = first + from[i]: where the i-th row, first to be found at from[i] behind `first` others, goes.
void invert_order(int64_t n, const int64_t* from, int64_t first, const int64_t* to, int64_t* index);

// Gate gradients on their way back: tags[i].gate = dgate[position[i]] (ids unchanged).
void write_gate_gradients(int64_t n, const int64_t* position, const float* row_dgate, RowTag* tags);
// And at the source: dgates[slot[i]] = tags[i].gate; dgates of other assignments must be 0 already.
void read_gate_gradients(int64_t n, const int32_t* slot, const RowTag* tags, float* dgates);

}  // namespace moemesh::kernels
