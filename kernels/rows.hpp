// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/element.hpp"

// Movement of rows of `width` elements between tokens, copies and expert rows. A copy's place is a pointer, since own copies
// stay in the caller's arrays and others lie in message buffers. Tokens, copies and expert rows are fp32 or bf16.
namespace moemesh::kernels {

// pointers[c] = segment_base[s] + (c - offsets[s]) * row_bytes for c in segment s, segments with a null base are skipped.
// offsets [segments+1] and segment_base are host arrays.
void segment_pointers(int64_t segments, const int64_t* offsets, std::byte* const* segment_base, int64_t row_bytes,
                      std::byte** pointers);
// pointers[i] = base + token[i] * row_bytes
void token_pointers(int64_t n, const int32_t* token, std::byte* base, int64_t row_bytes, std::byte** pointers);

// to[i][:] = from[i][:], both of the same element
void copy_rows(int64_t n, int64_t width, Element element, const std::byte* const* from, std::byte* const* to);
// out[r, :] = copies[row_copy[r]][:], in fp32 or as it is
void gather_rows(int64_t rows, int64_t width, Element element, const std::byte* const* copies, const int32_t* row_copy,
                 const Array& out);
// out[c][:] = sum over tags i of copy c, in tag order, of rows[position[i], :]; added in fp32
void combine_rows(int64_t copies, int64_t width, const int64_t* first_tag, const int64_t* position,
                  const ConstArray& rows, Element element, std::byte* const* out);
// y[t, :] = sum over choices j with copy[t*k+j] >= 0 of copies[copy[t*k+j]][:], in order of j; tokens without copies get 0.
// add: y[t, :] + that, the copies added one after the other.
void sum_copies(int64_t tokens, int64_t width, int32_t top_k, const int64_t* copy, Element element,
                const std::byte* const* copies, bool add, float* y, int64_t ldy);
// to[i, :] = from[index[i], :], all dense and of one element
void gather_dense(int64_t n, int64_t width, const ConstArray& from, const int64_t* index, const Array& to);

// kept[t] = 1 where token t is real: mask null = all, else its stride in elements.
void keep_mask(int64_t tokens, const uint8_t* mask, int64_t mask_stride, uint8_t* kept);
// mask[t] = 0 where token t has no decision.
void mask_undecided(int64_t tokens, int32_t top_k, const int32_t* chosen, uint8_t* mask);

// Rows with row strides (elements). mask null = all; masked rows (0) of `to` become 0.
void copy_masked(int64_t tokens, int64_t width, const float* from, int64_t ld_from, const uint8_t* mask,
                 int64_t mask_stride, float* to, int64_t ld_to);
// The same from, or to, an array of `element`: to fp32 or as it is, from fp32.
void load_rows(int64_t tokens, int64_t width, Element element, const std::byte* from, int64_t ld_from,
               const uint8_t* mask, const Array& to, int64_t ld_to);
void store_rows(int64_t tokens, int64_t width, const float* from, int64_t ld_from, Element element, std::byte* to,
                int64_t ld_to);
void zero_masked(int64_t tokens, int64_t width, const uint8_t* mask, int64_t mask_stride, float* rows, int64_t ld);
// to += from
void add_rows(int64_t tokens, int64_t width, const float* from, int64_t ld_from, float* to, int64_t ld_to);

}  // namespace moemesh::kernels
