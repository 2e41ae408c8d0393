// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

// Flat arrays: gradients and optimizer state.
namespace moemesh::kernels {

void zero(float* data, int64_t n);
// to[...] += from[...] over up to 4 dimensions: to is dense row-major, from has strides (elements).
void add_strided(int32_t rank, const int64_t* extents, const float* from, const int64_t* strides, float* to);
// out[i] = (parts[0][i] + parts[1][i] + ... in this order) * factor; out may be parts[0]. parts: host.
void ordered_sum(int64_t n, int32_t count, const float* const* parts, float factor, float* out);
// The same bits, on the calling thread and of memory that the host reads, where out may be any of the parts: for threads
// that must not launch kernels.
void ordered_sum_here(int64_t n, int32_t count, const float* const* parts, float factor, float* out);
// fp64 sums of squares of blocks of 4096 elements, each in a fixed order: the same bits for every number of threads and
// wherever the array lies. NaN or inf if an element is. sums: square_blocks(n), which the host reads after finish() and adds
// up in order; workspace: squares_workspace(n) doubles of the kernels' memory, none on a host.
inline constexpr int64_t square_block = 4096;
constexpr int64_t square_blocks(int64_t n) { return (n + square_block - 1) / square_block; }
int64_t squares_workspace(int64_t n);
void sum_squares(const float* data, int64_t n, double* workspace, double* sums);

struct AdamW {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  int64_t step;       // 1-based, for the bias correction
  float coefficient;  // gradient is multiplied by it (clipping)
};
// m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; p -= lr*wd*p; p -= lr * (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps)
// (Loshchilov & Hutter 2019, as PyTorch's AdamW: decay first, from the old p.)
// rounded null, or the bf16 array of which p are the masters: gets their rounding.
void adamw(const AdamW& rule, int64_t n, const float* gradient, float* parameter, float* moment1, float* moment2,
           uint16_t* rounded = nullptr);

struct Sgd {
  double learning_rate, momentum, weight_decay;
  float coefficient;
};
// m = momentum*m + g (moment null: m = g); p -= lr*wd*p; p -= lr*m
void sgd(const Sgd& rule, int64_t n, const float* gradient, float* parameter, float* moment,
         uint16_t* rounded = nullptr);

// Initial values that depend on (key, element index in the unsplit array) alone: a counter-based generator (Philox4x32-10,
// Salmon et al. 2011). The unsplit array is [outer, dim, inner]; the local one has dim entries [first, first + local).
enum class Distribution : int32_t { constant = 1, normal = 2, uniform = 3 };
struct Slice {
  int64_t outer = 1, dim = 1, inner = 1, first = 0, local = 1;
};
void initialize(Distribution distribution, double value, uint64_t key, const Slice& slice, float* out);
// The same numbers, rounded.
void initialize_bfloat16(Distribution distribution, double value, uint64_t key, const Slice& slice, uint16_t* out);

// bf16 arrays, as their bits, and their fp32 masters.
void round_to_bfloat16(int64_t n, const float* from, uint16_t* to);
void widen_bfloat16(int64_t n, const uint16_t* from, float* to);
// A master whose rounding is another value than the one here becomes that value.
void refresh_masters(int64_t n, const uint16_t* values, float* masters);

}  // namespace moemesh::kernels
