// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/element.hpp"
#include "kernels/memory.hpp"
#include "moemesh.h"

// Checks of the caller's arrays. All throw ERROR_INVALID_ARGUMENT (or NOT_SUPPORTED) naming the argument, the expected and
// the given.
namespace moemesh {

int64_t dtype_bytes(int32_t dtype);  // 0 for an unknown one

// Rows of a matrix: [rows, width], neighbouring elements adjacent, row stride ld >= width.
template <class T>
struct Rows {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t width = 0;
  int64_t ld = 0;
  bool on_host = false;  // the caller's, in memory that kernels do not reach
};

// The same of fp32 or bf16.
struct TypedRows {
  std::byte* data = nullptr;
  kernels::Element element = kernels::Element::float32;
  int64_t rows = 0;
  int64_t width = 0;
  int64_t ld = 0;  // elements
  bool on_host = false;
  int64_t row_bytes() const { return ld * kernels::bytes_of(element); }
  bool is_float() const { return element == kernels::Element::float32; }
  Rows<float> floats() const { return {reinterpret_cast<float*>(data), rows, width, ld, on_host}; }  // where is_float
};

// Any view, with whatever strides.
void check_any(const moemesh_view* view, const char* name);
// rank 2, second extent `width`, of that dtype; rows as below.
TypedRows check_typed_rows(const moemesh_view* view, const char* name, int32_t dtype, int64_t rows, int64_t width);
// fp32, rank 2, second extent `width`; rows: the expected number, or -1 for any.
Rows<float> check_rows(const moemesh_view* view, const char* name, int64_t rows, int64_t width);
// rank 1 of the given dtype and length; returns data and the stride.
struct Vector {
  void* data = nullptr;
  int64_t stride = 1;
  bool on_host = false;
};
Vector check_vector(const moemesh_view* view, const char* name, int32_t dtype, int64_t length);
// Dense row-major, any dtype known to collectives; returns the number of elements.
int64_t check_dense(const moemesh_view* view, const char* name);
// fp32 with exactly `extents`, any non-negative strides.
const float* check_strided(const moemesh_view& view, const char* name, std::span<const int64_t> extents);
// fp32, dense, exactly `extents`.
float* check_dense_shape(const moemesh_view* view, const char* name, std::span<const int64_t> extents);

// Of the arrays that the library hands out.
inline constexpr int32_t library_memory = kernels::separate_memory ? MOEMESH_MEMORY_CUDA : MOEMESH_MEMORY_HOST;

bool overlap(const TypedRows& a, const TypedRows& b);

}  // namespace moemesh
