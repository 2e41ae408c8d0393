// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/rows.hpp"

#include "kernels/bfloat16.hpp"
#include "kernels/detail.hpp"

namespace moemesh::kernels {

using detail::for_each;
using detail::for_rows;
using detail::kLanes;

namespace {

KOKKOS_INLINE_FUNCTION bool is_masked(const uint8_t* mask, int64_t stride, int64_t token) {
  return mask != nullptr && mask[token * stride] == 0;
}

// One lane's columns of a row.
KOKKOS_INLINE_FUNCTION void set_row(float* to, int64_t width, int64_t lane, float value) {
  for (int64_t c = lane; c < width; c += kLanes) to[c] = value;
}
KOKKOS_INLINE_FUNCTION void copy_row(const float* from, float* to, int64_t width, int64_t lane) {
  for (int64_t c = lane; c < width; c += kLanes) to[c] = from[c];
}
KOKKOS_INLINE_FUNCTION void add_row(const float* from, float* to, int64_t width, int64_t lane) {
  for (int64_t c = lane; c < width; c += kLanes) to[c] += from[c];
}

// Columns that one lane adds up in registers.
constexpr int64_t kBlock = 32;

// out[:] = the sum of source(i)[:] for i in [begin, end), in order; null rows are left out. add: out[:] comes first.
template <class Source, class To>
KOKKOS_INLINE_FUNCTION void sum_rows(int64_t begin, int64_t end, const Source& source, int64_t width, int64_t lane,
                                     To* out, bool add = false) {
  for (int64_t base = lane; base < width; base += kBlock * kLanes) {
    const int64_t n = detail::smaller(kBlock, detail::ceil_div(width - base, kLanes));
    float sum[kBlock] = {};
    if (add) {
      for (int64_t j = 0; j < n; ++j) sum[j] = to_float(out[base + j * kLanes]);
    }
    for (int64_t i = begin; i < end; ++i) {
      const auto* row = source(i);
      if (row == nullptr) continue;
      if (n == kBlock) {
        for (int64_t j = 0; j < kBlock; ++j) sum[j] += to_float(row[base + j * kLanes]);
      } else {
        for (int64_t j = 0; j < n; ++j) sum[j] += to_float(row[base + j * kLanes]);
      }
    }
    for (int64_t j = 0; j < n; ++j) store(sum[j], out + base + j * kLanes);
  }
}

template <class From, class To>
KOKKOS_INLINE_FUNCTION void convert_row(const From* from, To* to, int64_t width, int64_t lane) {
  for (int64_t c = lane; c < width; c += kLanes) store(to_float(from[c]), to + c);
}

// body(T{}) for the type that elements are stored in.
template <class Body>
void with_type(Element element, const Body& body) {
  if (element == Element::bfloat16)
    body(uint16_t{});
  else
    body(float{});
}

template <class T>
void copy_rows_of(int64_t n, int64_t width, const std::byte* const* from, std::byte* const* to) {
  for_rows(
      "moemesh::copy_rows", n, KOKKOS_LAMBDA(int64_t i, int64_t lane) {
        const T* source = reinterpret_cast<const T*>(from[i]);
        T* target = reinterpret_cast<T*>(to[i]);
        for (int64_t c = lane; c < width; c += kLanes) target[c] = source[c];
      });
}

template <class T>
void gather_rows_of(int64_t rows, int64_t width, const std::byte* const* copies, const int32_t* row_copy, float* out) {
  for_rows(
      "moemesh::gather_rows", rows, KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        convert_row(reinterpret_cast<const T*>(copies[row_copy[r]]), out + r * width, width, lane);
      });
}

template <class T>
void combine_rows_of(int64_t copies, int64_t width, const int64_t* first_tag, const int64_t* position,
                     const float* rows, std::byte* const* out) {
  for_rows(
      "moemesh::combine_rows", copies, KOKKOS_LAMBDA(int64_t c, int64_t lane) {
        const auto row = [=](int64_t i) { return position[i] < 0 ? nullptr : rows + position[i] * width; };
        sum_rows(first_tag[c], first_tag[c + 1], row, width, lane, reinterpret_cast<T*>(out[c]));
      });
}

template <class T>
void sum_copies_of(int64_t tokens, int64_t width, int32_t top_k, const int64_t* copy, const std::byte* const* copies,
                   bool add, float* y, int64_t ldy) {
  for_rows(
      "moemesh::sum_copies", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        const auto row = [=](int64_t a) { return copy[a] < 0 ? nullptr : reinterpret_cast<const T*>(copies[copy[a]]); };
        sum_rows(t * top_k, (t + 1) * top_k, row, width, lane, y + t * ldy, add);
      });
}

template <class T>
void load_rows_of(int64_t tokens, int64_t width, const T* from, int64_t ld_from, const uint8_t* mask, float* to,
                  int64_t ld_to) {
  for_rows(
      "moemesh::load_rows", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        if (is_masked(mask, 1, t)) {
          set_row(to + t * ld_to, width, lane, 0);
        } else {
          convert_row(from + t * ld_from, to + t * ld_to, width, lane);
        }
      });
}

template <class T>
void store_rows_of(int64_t tokens, int64_t width, const float* from, int64_t ld_from, T* to, int64_t ld_to) {
  for_rows(
      "moemesh::store_rows", tokens,
      KOKKOS_LAMBDA(int64_t t, int64_t lane) { convert_row(from + t * ld_from, to + t * ld_to, width, lane); });
}

}  // namespace

void segment_pointers(int64_t segments, const int64_t* offsets, std::byte* const* segment_base, int64_t row_bytes,
                      std::byte** pointers) {
  for (int64_t s = 0; s < segments; ++s) {
    std::byte* base = segment_base[s];
    if (base == nullptr) continue;
    std::byte** first = pointers + offsets[s];
    for_each(
        "moemesh::segment_pointers", offsets[s + 1] - offsets[s],
        KOKKOS_LAMBDA(int64_t i) { first[i] = base + i * row_bytes; });
  }
}

void token_pointers(int64_t n, const int32_t* token, std::byte* base, int64_t row_bytes, std::byte** pointers) {
  for_each(
      "moemesh::token_pointers", n, KOKKOS_LAMBDA(int64_t i) { pointers[i] = base + token[i] * row_bytes; });
}

void copy_rows(int64_t n, int64_t width, Element element, const std::byte* const* from, std::byte* const* to) {
  with_type(element, [&](auto type) { copy_rows_of<decltype(type)>(n, width, from, to); });
}

void gather_rows(int64_t rows, int64_t width, Element element, const std::byte* const* copies, const int32_t* row_copy,
                 float* out) {
  with_type(element, [&](auto type) { gather_rows_of<decltype(type)>(rows, width, copies, row_copy, out); });
}

void combine_rows(int64_t copies, int64_t width, const int64_t* first_tag, const int64_t* position, const float* rows,
                  Element element, std::byte* const* out) {
  with_type(element,
            [&](auto type) { combine_rows_of<decltype(type)>(copies, width, first_tag, position, rows, out); });
}

void sum_copies(int64_t tokens, int64_t width, int32_t top_k, const int64_t* copy, Element element,
                const std::byte* const* copies, bool add, float* y, int64_t ldy) {
  with_type(element,
            [&](auto type) { sum_copies_of<decltype(type)>(tokens, width, top_k, copy, copies, add, y, ldy); });
}

void gather_dense(int64_t n, int64_t width, const float* from, const int64_t* index, float* to) {
  for_rows(
      "moemesh::gather_dense", n,
      KOKKOS_LAMBDA(int64_t i, int64_t lane) { copy_row(from + index[i] * width, to + i * width, width, lane); });
}

void keep_mask(int64_t tokens, const uint8_t* mask, int64_t mask_stride, uint8_t* kept) {
  for_each(
      "moemesh::keep_mask", tokens,
      KOKKOS_LAMBDA(int64_t t) { kept[t] = mask == nullptr ? 1 : mask[t * mask_stride]; });
}

void mask_undecided(int64_t tokens, int32_t top_k, const int32_t* chosen, uint8_t* mask) {
  for_each(
      "moemesh::mask_undecided", tokens, KOKKOS_LAMBDA(int64_t t) {
        if (chosen[t * top_k] < 0) mask[t] = 0;
      });
}

void load_rows(int64_t tokens, int64_t width, Element element, const std::byte* from, int64_t ld_from,
               const uint8_t* mask, float* to, int64_t ld_to) {
  with_type(element, [&](auto type) {
    load_rows_of(tokens, width, reinterpret_cast<const decltype(type)*>(from), ld_from, mask, to, ld_to);
  });
}

void store_rows(int64_t tokens, int64_t width, const float* from, int64_t ld_from, Element element, std::byte* to,
                int64_t ld_to) {
  with_type(element, [&](auto type) {
    store_rows_of(tokens, width, from, ld_from, reinterpret_cast<decltype(type)*>(to), ld_to);
  });
}

void copy_masked(int64_t tokens, int64_t width, const float* from, int64_t ld_from, const uint8_t* mask,
                 int64_t mask_stride, float* to, int64_t ld_to) {
  for_rows(
      "moemesh::copy_masked", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        if (is_masked(mask, mask_stride, t)) {
          set_row(to + t * ld_to, width, lane, 0);
        } else {
          copy_row(from + t * ld_from, to + t * ld_to, width, lane);
        }
      });
}

void zero_masked(int64_t tokens, int64_t width, const uint8_t* mask, int64_t mask_stride, float* rows, int64_t ld) {
  if (mask == nullptr) return;
  for_rows(
      "moemesh::zero_masked", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        if (is_masked(mask, mask_stride, t)) set_row(rows + t * ld, width, lane, 0);
      });
}

void add_rows(int64_t tokens, int64_t width, const float* from, int64_t ld_from, float* to, int64_t ld_to) {
  for_rows(
      "moemesh::add_rows", tokens,
      KOKKOS_LAMBDA(int64_t t, int64_t lane) { add_row(from + t * ld_from, to + t * ld_to, width, lane); });
}

}  // namespace moemesh::kernels
