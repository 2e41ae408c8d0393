// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/rows.hpp"

#include <type_traits>

#include "kernels/bfloat16.hpp"
#include "kernels/detail.hpp"

namespace moemesh::kernels {

using detail::for_each;
using detail::for_rows;
using detail::for_stretches;
using detail::kLanes;
using detail::Pack;

namespace {

KOKKOS_INLINE_FUNCTION bool is_masked(const uint8_t* mask, int64_t stride, int64_t token) {
  return mask != nullptr && mask[token * stride] == 0;
}

// One lane's part of a row.
template <class T>
KOKKOS_INLINE_FUNCTION void zero_row(T* to, int64_t width, int64_t lane) {
  for_stretches(
      0, width, lane, [=](auto at) { at.save(Pack<T, at.size>{}, to); }, to);
}
template <class From, class To>
KOKKOS_INLINE_FUNCTION void convert_row(const From* from, To* to, int64_t width, int64_t lane) {
  const auto move = [=](auto at) {
    if constexpr (std::is_same_v<From, To>)
      at.save(at.load(from), to);
    else
      at.write(at.read(from), to);
  };
  for_stretches(0, width, lane, move, from, to);
}
KOKKOS_INLINE_FUNCTION void add_row(const float* from, float* to, int64_t width, int64_t lane) {
  const auto add = [=](auto at) {
    auto sum = at.load(to);
    const auto more = at.load(from);
    for (int32_t i = 0; i < at.size; ++i) sum[i] += more[i];
    at.save(sum, to);
  };
  for_stretches(0, width, lane, add, from, to);
}

// A sum of rows as a host makes it: of some columns at a time, kept in registers.
template <class Source, class To>
KOKKOS_INLINE_FUNCTION void sum_rows_in_blocks(int64_t begin, int64_t end, const Source& source, int64_t width, To* out,
                                               bool add) {
  constexpr int64_t kBlock = 32;
  for (int64_t base = 0; base < width; base += kBlock) {
    const int64_t n = detail::smaller(kBlock, width - base);
    float sum[kBlock] = {};
    if (add) {
      for (int64_t j = 0; j < n; ++j) sum[j] = to_float(out[base + j]);
    }
    for (int64_t i = begin; i < end; ++i) {
      const auto* row = source(i);
      if (row == nullptr) continue;
      if (n == kBlock) {
        for (int64_t j = 0; j < kBlock; ++j) sum[j] += to_float(row[base + j]);
      } else {
        for (int64_t j = 0; j < n; ++j) sum[j] += to_float(row[base + j]);
      }
    }
    for (int64_t j = 0; j < n; ++j) store(sum[j], out + base + j);
  }
}

// And as a device does: one lane's part, a stretch at a time. Null rows lie right for any pack.
template <class Source, class To>
KOKKOS_INLINE_FUNCTION void sum_rows_in_stretches(int64_t begin, int64_t end, const Source& source, int64_t width,
                                                  int64_t lane, To* out, bool add) {
  using From = std::remove_cvref_t<decltype(*source(begin))>;
  const auto sum_at = [=](auto at) {
    Pack<float, at.size> sum = {};
    if (add) sum = at.read(out);
    for (int64_t i = begin; i < end; ++i) {
      const From* row = source(i);
      if (row == nullptr) continue;
      const Pack<float, at.size> more = at.read(row);
      for (int32_t j = 0; j < at.size; ++j) sum[j] += more[j];
    }
    at.write(sum, out);
  };
  constexpr int32_t n = detail::elements_of_pack<From, To>();
  bool together = detail::bytes_past_boundary(out) == 0;
  for (int64_t i = begin; i < end; ++i) together = together && detail::bytes_past_boundary(source(i)) == 0;
  const int64_t packed = together ? width / n * n : 0;
  for (int64_t c = lane * n; c < packed; c += kLanes * n) sum_at(detail::Stretch<n>{c});
  for (int64_t c = packed + lane; c < width; c += kLanes) sum_at(detail::Stretch<1>{c});
}

// out[:] = the sum of source(i)[:] for i in [begin, end), in order; null rows are left out. add: out[:] comes first.
template <class Source, class To>
KOKKOS_INLINE_FUNCTION void sum_rows(int64_t begin, int64_t end, const Source& source, int64_t width, int64_t lane,
                                     To* out, bool add = false) {
  if constexpr (detail::kOnHost)
    sum_rows_in_blocks(begin, end, source, width, out, add);
  else
    sum_rows_in_stretches(begin, end, source, width, lane, out, add);
}

// body(T{}) for the type that elements are stored in.
template <class Body>
void with_type(Element element, const Body& body) {
  if (element == Element::bfloat16)
    body(uint16_t{});
  else
    body(float{});
}

// The same of two types.
template <class Body>
void with_types(Element from, Element to, const Body& body) {
  with_type(from, [&](auto first) { with_type(to, [&](auto second) { body(first, second); }); });
}

// Bytes moved, of which each kernel here has the minimum of a pass: size is that of an element. Reads and writes width * size
// for each row, and two pointers.
template <class T>
void copy_rows_of(int64_t n, int64_t width, const std::byte* const* from, std::byte* const* to) {
  for_rows(
      "moemesh::copy_rows", n, KOKKOS_LAMBDA(int64_t i, int64_t lane) {
        convert_row(reinterpret_cast<const T*>(from[i]), reinterpret_cast<T*>(to[i]), width, lane);
      });
}

// Reads width * size of T and writes width * size of To for each expert row (a token's row is read once for each of its
// experts here; the caches have most of them), a pointer and 4 bytes.
template <class T, class To>
void gather_rows_of(int64_t rows, int64_t width, const std::byte* const* copies, const int32_t* row_copy, To* out) {
  for_rows(
      "moemesh::gather_rows", rows, KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        convert_row(reinterpret_cast<const T*>(copies[row_copy[r]]), out + r * width, width, lane);
      });
}

// Reads width * size of From for each tag, writes width * size of T for each copy, and 8 bytes a tag.
template <class T, class From>
void combine_rows_of(int64_t copies, int64_t width, const int64_t* first_tag, const int64_t* position, const From* rows,
                     std::byte* const* out) {
  for_rows(
      "moemesh::combine_rows", copies, KOKKOS_LAMBDA(int64_t c, int64_t lane) {
        const auto row = [=](int64_t i) { return position[i] < 0 ? nullptr : rows + position[i] * width; };
        sum_rows(first_tag[c], first_tag[c + 1], row, width, lane, reinterpret_cast<T*>(out[c]));
      });
}

// Reads width * size of T for each copy, writes width * 4 for each token (reads them too where it adds), and 16 bytes a copy.
template <class T>
void sum_copies_of(int64_t tokens, int64_t width, int32_t top_k, const int64_t* copy, const std::byte* const* copies,
                   bool add, float* y, int64_t ldy) {
  for_rows(
      "moemesh::sum_copies", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        const auto row = [=](int64_t a) { return copy[a] < 0 ? nullptr : reinterpret_cast<const T*>(copies[copy[a]]); };
        sum_rows(t * top_k, (t + 1) * top_k, row, width, lane, y + t * ldy, add);
      });
}

// Reads and writes width * size for each row, and 8 bytes.
template <class T>
void gather_dense_of(int64_t n, int64_t width, const T* from, const int64_t* index, T* to) {
  for_rows(
      "moemesh::gather_dense", n,
      KOKKOS_LAMBDA(int64_t i, int64_t lane) { convert_row(from + index[i] * width, to + i * width, width, lane); });
}

// Reads width * size of T for each token that counts, writes width * size of To for each.
template <class T, class To>
void load_rows_of(int64_t tokens, int64_t width, const T* from, int64_t ld_from, const uint8_t* mask, To* to,
                  int64_t ld_to) {
  for_rows(
      "moemesh::load_rows", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        if (is_masked(mask, 1, t)) {
          zero_row(to + t * ld_to, width, lane);
        } else {
          convert_row(from + t * ld_from, to + t * ld_to, width, lane);
        }
      });
}

// Reads width * 4 and writes width * size of T for each token.
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
                 const Array& out) {
  with_types(element, out.element, [&](auto from, auto to) {
    gather_rows_of<decltype(from)>(rows, width, copies, row_copy, out.as<decltype(to)>());
  });
}

void combine_rows(int64_t copies, int64_t width, const int64_t* first_tag, const int64_t* position,
                  const ConstArray& rows, Element element, std::byte* const* out) {
  with_types(rows.element, element, [&](auto from, auto to) {
    combine_rows_of<decltype(to)>(copies, width, first_tag, position, rows.as<decltype(from)>(), out);
  });
}

void sum_copies(int64_t tokens, int64_t width, int32_t top_k, const int64_t* copy, Element element,
                const std::byte* const* copies, bool add, float* y, int64_t ldy) {
  with_type(element,
            [&](auto type) { sum_copies_of<decltype(type)>(tokens, width, top_k, copy, copies, add, y, ldy); });
}

void gather_dense(int64_t n, int64_t width, const ConstArray& from, const int64_t* index, const Array& to) {
  with_type(from.element, [&](auto type) {
    using T = decltype(type);
    gather_dense_of(n, width, from.as<T>(), index, to.as<T>());
  });
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
               const uint8_t* mask, const Array& to, int64_t ld_to) {
  with_types(element, to.element, [&](auto stored, auto loaded) {
    load_rows_of(tokens, width, reinterpret_cast<const decltype(stored)*>(from), ld_from, mask,
                 to.as<decltype(loaded)>(), ld_to);
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
          zero_row(to + t * ld_to, width, lane);
        } else {
          convert_row(from + t * ld_from, to + t * ld_to, width, lane);
        }
      });
}

void zero_masked(int64_t tokens, int64_t width, const uint8_t* mask, int64_t mask_stride, float* rows, int64_t ld) {
  if (mask == nullptr) return;
  for_rows(
      "moemesh::zero_masked", tokens, KOKKOS_LAMBDA(int64_t t, int64_t lane) {
        if (is_masked(mask, mask_stride, t)) zero_row(rows + t * ld, width, lane);
      });
}

void add_rows(int64_t tokens, int64_t width, const float* from, int64_t ld_from, float* to, int64_t ld_to) {
  for_rows(
      "moemesh::add_rows", tokens,
      KOKKOS_LAMBDA(int64_t t, int64_t lane) { add_row(from + t * ld_from, to + t * ld_to, width, lane); });
}

}  // namespace moemesh::kernels
