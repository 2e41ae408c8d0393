// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

// Which rows an expert of limited capacity takes. Deterministic whatever the number of threads.
namespace moemesh::kernels {

enum class Drop : int32_t { by_position = 1, by_gate = 2 };

struct Capacity {
  int64_t experts = 0;
  int64_t slots = 0;  // of each expert, >= 1
  Drop drop = Drop::by_position;
};

// int64 elements of scratch that limit_rows wants for n assignments.
int64_t limit_workspace(int64_t n, int64_t experts);

// chosen [n]: the expert of each assignment, in token order, -1 for none; an expert at most once for each token. kept
// [n]: the same with -1 for the rows beyond the slots, whose gates become 0. By position the first rows of an expert
// are kept; by gate those of the largest gates, of equal ones the earlier. Returns the number of rows dropped.
int64_t limit_rows(const Capacity& capacity, int64_t n, const int32_t* chosen, float* gates, int32_t* kept,
                   int64_t* workspace);

}  // namespace moemesh::kernels
