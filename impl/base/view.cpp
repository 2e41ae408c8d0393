// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/base/view.hpp"

#include <algorithm>
#include <string>

#include "impl/base/error.hpp"

namespace moemesh {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;

std::string text_of(std::span<const int64_t> extents) {
  std::string text;
  for (const int64_t extent : extents) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

std::span<const int64_t> extents_of(const moemesh_view& view) { return {view.extents, static_cast<size_t>(view.rank)}; }

// Of a view that fits (see below). Where an extent is 0 the others may be anything.
int64_t count(const moemesh_view& view) {
  const auto extents = extents_of(view);
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  int64_t elements = 1;
  for (const int64_t extent : extents) elements *= extent;
  return elements;
}

// Neither the array's size nor the distance of its last element may leave 64 bits, counted in bytes.
bool fits(const moemesh_view& view, int64_t bytes) {
  int64_t size = bytes, reach = 0, distance = 0;
  bool too_large = false;
  for (int32_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] == 0) return true;
    too_large |= __builtin_mul_overflow(size, view.extents[i], &size);
    if (view.extents[i] == 1 || view.strides[i] <= 0) continue;
    too_large |= __builtin_mul_overflow(view.extents[i] - 1, view.strides[i], &distance) ||
                 __builtin_mul_overflow(distance, bytes, &distance) || __builtin_add_overflow(reach, distance, &reach);
  }
  return !too_large;
}

// What every view must be, whatever it is for.
void check_view(const moemesh_view* view, const char* name) {
  require(view != nullptr, bad, "{}: expected a view, got NULL", name);
  const int64_t bytes = dtype_bytes(view->dtype);
  require(bytes > 0, bad, "{}.dtype: expected a moemesh_dtype, got {}", name, view->dtype);
  require(view->memory == MOEMESH_MEMORY_HOST || view->memory == MOEMESH_MEMORY_CUDA, bad,
          "{}.memory: expected a moemesh_memory, got {}", name, view->memory);
  require(kernels::separate_memory || view->memory == MOEMESH_MEMORY_HOST, MOEMESH_ERROR_NOT_SUPPORTED,
          "{}.memory: only host memory in this build, got {}", name, view->memory);
  require(view->rank >= 1 && view->rank <= 4, bad, "{}.rank: expected 1..4, got {}", name, view->rank);
  require(view->reserved == 0, bad, "{}.reserved: expected 0, got {}", name, view->reserved);
  for (int32_t i = 0; i < view->rank; ++i)
    require(view->extents[i] >= 0, bad, "{}.extents[{}]: expected >= 0, got {}", name, i, view->extents[i]);
  require(fits(*view, bytes), bad, "{}.extents, strides: expected less than 2^63 bytes, got extents {}, strides {}",
          name, text_of(extents_of(*view)), text_of({view->strides, static_cast<size_t>(view->rank)}));
  require(view->data != nullptr || count(*view) == 0, bad, "{}.data: NULL for {} elements", name, count(*view));
  require(reinterpret_cast<uintptr_t>(view->data) % static_cast<uintptr_t>(bytes) == 0, bad,
          "{}.data: expected an address aligned to {} bytes", name, bytes);
}

void check_dtype(const moemesh_view& view, const char* name, int32_t dtype) {
  require(view.dtype == dtype, bad, "{}.dtype: expected {}, got {}", name, dtype, view.dtype);
}

void check_extents(const moemesh_view& view, const char* name, std::span<const int64_t> extents) {
  const auto got = extents_of(view);
  require(std::equal(got.begin(), got.end(), extents.begin(), extents.end()), bad, "{}.extents: expected {}, got {}",
          name, text_of(extents), text_of(got));
}

bool dense(const moemesh_view& view) {
  int64_t stride = 1;
  for (int32_t i = view.rank - 1; i >= 0; --i) {
    if (view.extents[i] > 1 && view.strides[i] != stride) return false;
    if (__builtin_mul_overflow(stride, view.extents[i], &stride)) return false;  // beside an extent of 0
  }
  return true;
}

// Kernels of a host reach all of it.
bool out_of_reach(const moemesh_view& view) { return kernels::separate_memory && view.memory == MOEMESH_MEMORY_HOST; }

}  // namespace

void check_any(const moemesh_view* view, const char* name) { check_view(view, name); }

int64_t dtype_bytes(int32_t dtype) {
  switch (dtype) {
    case MOEMESH_FLOAT32:
    case MOEMESH_INT32:
      return 4;
    case MOEMESH_FLOAT64:
    case MOEMESH_INT64:
      return 8;
    case MOEMESH_BFLOAT16:
      return 2;
    case MOEMESH_UINT8:
      return 1;
    default:
      return 0;
  }
}

Rows<float> check_rows(const moemesh_view* view, const char* name, int64_t rows, int64_t width) {
  return check_typed_rows(view, name, MOEMESH_FLOAT32, rows, width).floats();
}

TypedRows check_typed_rows(const moemesh_view* view, const char* name, int32_t dtype, int64_t rows, int64_t width) {
  check_view(view, name);
  check_dtype(*view, name, dtype);
  require(view->rank == 2, bad, "{}.rank: expected 2, got {}", name, view->rank);
  const int64_t expected[] = {rows < 0 ? view->extents[0] : rows, width};
  check_extents(*view, name, expected);
  require(width <= 1 || view->strides[1] == 1, bad, "{}.strides[1]: expected 1, got {}", name, view->strides[1]);
  const int64_t ld = view->extents[0] > 1 ? view->strides[0] : width;
  require(ld >= width, bad, "{}.strides[0]: expected >= {}, got {}", name, width, ld);
  return {static_cast<std::byte*>(view->data),
          static_cast<kernels::Element>(dtype),
          view->extents[0],
          width,
          ld,
          out_of_reach(*view)};
}

Vector check_vector(const moemesh_view* view, const char* name, int32_t dtype, int64_t length) {
  check_view(view, name);
  check_dtype(*view, name, dtype);
  check_extents(*view, name, {&length, 1});
  require(length <= 1 || view->strides[0] >= 1, bad, "{}.strides[0]: expected >= 1, got {}", name, view->strides[0]);
  return {view->data, length > 1 ? view->strides[0] : 1, out_of_reach(*view)};
}

int64_t check_dense(const moemesh_view* view, const char* name) {
  check_view(view, name);
  require(dense(*view), bad, "{}.strides: expected a dense row-major array", name);
  return count(*view);
}

const float* check_strided(const moemesh_view& view, const char* name, std::span<const int64_t> extents) {
  check_view(&view, name);
  check_dtype(view, name, MOEMESH_FLOAT32);
  check_extents(view, name, extents);
  for (int32_t i = 0; i < view.rank; ++i)
    require(view.extents[i] <= 1 || view.strides[i] >= 0, bad, "{}.strides[{}]: expected >= 0, got {}", name, i,
            view.strides[i]);
  return static_cast<const float*>(view.data);
}

float* check_dense_shape(const moemesh_view* view, const char* name, std::span<const int64_t> extents) {
  check_dense(view, name);
  check_dtype(*view, name, MOEMESH_FLOAT32);
  check_extents(*view, name, extents);
  return static_cast<float*>(view->data);
}

bool overlap(const TypedRows& a, const TypedRows& b) {
  if (a.rows == 0 || b.rows == 0) return false;
  const auto end = [](const TypedRows& r) {
    return r.data + (r.rows - 1) * r.row_bytes() + r.width * kernels::bytes_of(r.element);
  };
  if (!(a.data < end(b) && b.data < end(a))) return false;
  if (a.ld != b.ld || a.element != b.element) return true;
  // Two column ranges of one wider array share no element.
  const int64_t stride = a.row_bytes(), shift = ((b.data - a.data) % stride + stride) % stride;
  const int64_t size = kernels::bytes_of(a.element);
  return !(shift >= a.width * size && shift + b.width * size <= stride);
}

}  // namespace moemesh
