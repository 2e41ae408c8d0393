// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

// Seconds that body() takes.
template <class Body>
double seconds(const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Repetitions of one thing: the median is what counts, the quartiles say how much to trust it.
struct Times {
  std::vector<double> all;

  void add(double time) { all.push_back(time); }
  double quantile(double q) const {
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
  }
  double median() const { return quantile(0.5); }
};

}  // namespace bench
