// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The few dense operations that the oracle is made of, as plain loops in double precision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace oracle {

// Every array is dense and row-major; its shape is stated where it is used.
using Array = std::vector<double>;

// Throws std::invalid_argument naming `what` unless the array has exactly `elements` elements.
void require_size(const Array& array, std::int64_t elements, const std::string& what);

// One row of a [rows, width] array.
Array row_of(const Array& array, std::int64_t row, std::int64_t width);

// array[row, :] += scale * values
void add_to_row(Array* array, std::int64_t row, const Array& values, double scale = 1.0);

// sum += scale * values, elementwise.
void add_to(Array* sum, const Array& values, double scale = 1.0);

double dot(const Array& a, const Array& b);

// matrix[rows, cols] * x[cols], with cols = x.size().
Array multiply(const Array& matrix, const Array& x);

// transpose(matrix[rows, cols]) * y[rows], with rows = y.size().
Array multiply_transposed(const Array& matrix, const Array& y);

// matrix[rows, cols] += column[rows] * row[cols]: the weight gradient of one token.
void add_outer(Array* matrix, const Array& column, const Array& row);

}  // namespace oracle
