// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "dense.hpp"

#include <stdexcept>

namespace oracle {

void require_size(const Array& array, std::int64_t elements, const std::string& what) {
  if (static_cast<std::int64_t>(array.size()) == elements) return;
  throw std::invalid_argument("oracle: " + what + " has " + std::to_string(array.size()) + " elements, expected " +
                              std::to_string(elements));
}

Array row_of(const Array& array, std::int64_t row, std::int64_t width) {
  const auto first = array.begin() + row * width;
  return Array(first, first + width);
}

void add_to_row(Array* array, std::int64_t row, const Array& values, double scale) {
  double* out = array->data() + row * static_cast<std::int64_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out[i] += scale * values[i];
}

void add_to(Array* sum, const Array& values, double scale) {
  require_size(*sum, static_cast<std::int64_t>(values.size()), "a sum");
  for (std::size_t i = 0; i < values.size(); ++i) (*sum)[i] += scale * values[i];
}

double dot(const Array& a, const Array& b) {
  require_size(a, static_cast<std::int64_t>(b.size()), "a factor of a dot product");
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Array multiply(const Array& matrix, const Array& x) {
  const std::size_t cols = x.size();
  Array y(matrix.size() / cols, 0.0);
  for (std::size_t r = 0; r < y.size(); ++r) {
    for (std::size_t c = 0; c < cols; ++c) y[r] += matrix[r * cols + c] * x[c];
  }
  return y;
}

Array multiply_transposed(const Array& matrix, const Array& y) {
  const std::size_t cols = matrix.size() / y.size();
  Array x(cols, 0.0);
  for (std::size_t r = 0; r < y.size(); ++r) {
    for (std::size_t c = 0; c < cols; ++c) x[c] += matrix[r * cols + c] * y[r];
  }
  return x;
}

void add_outer(Array* matrix, const Array& column, const Array& row) {
  for (std::size_t r = 0; r < column.size(); ++r) {
    for (std::size_t c = 0; c < row.size(); ++c) (*matrix)[r * row.size() + c] += column[r] * row[c];
  }
}

}  // namespace oracle
