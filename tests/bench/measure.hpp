// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace bench {

// On a machine with other work the seconds of all threads of this process say more than those on the wall, provided that
// waiting threads sleep (tests/bench/run --busy sets both). They do not see a thread that waits for another.
inline bool counts_processor_time() { return std::getenv("MOEMESH_BENCH_BUSY") != nullptr; }

inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds that body() takes.
template <class Body>
double seconds(const Body& body) {
  if (counts_processor_time()) {
    const double begin = processor_seconds();
    body();
    return processor_seconds() - begin;
  }
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
