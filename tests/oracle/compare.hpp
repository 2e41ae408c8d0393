// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Comparing arrays by relative norm. Failing inputs (other size, NaN) give infinity or NaN, which no EXPECT_LE accepts.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace oracle {

// |a - b| / max(|b|, floor) in 2-norms; b is the reference, the element types may differ. With a floor of 0 and a
// reference of exact zeros the result is 0 where a is zero too, infinity elsewhere.
template <typename A, typename B>
double relative_distance(const std::vector<A>& a, const std::vector<B>& b, double floor = 0.0) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double difference = 0;
  double reference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double delta = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += delta * delta;
    reference += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  if (difference == 0) return 0.0;
  return std::sqrt(difference) / std::max(std::sqrt(reference), floor);
}

// |a - b| / max(|b|, floor) for single numbers.
inline double relative_distance(double a, double b, double floor = 0.0) {
  return relative_distance(std::vector<double>{a}, std::vector<double>{b}, floor);
}

// The displacement after - before: what is compared of masters, whose own size would hide an error of the update.
template <typename A, typename B>
std::vector<double> displacement(const std::vector<A>& after, const std::vector<B>& before) {
  if (after.size() != before.size()) return {};
  std::vector<double> result;
  for (std::size_t i = 0; i < after.size(); ++i) {
    result.push_back(static_cast<double>(after[i]) - static_cast<double>(before[i]));
  }
  return result;
}

}  // namespace oracle
