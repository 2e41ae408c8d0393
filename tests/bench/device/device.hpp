// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/element.hpp"

// The device that the library works on, as the benchmark needs it: its memory, its clock, its own matrix product. On a host
// build the host stands in for it, so that the benchmark can be tried without a device.
namespace bench {

using moemesh::kernels::Element;

std::string device_name();

class Array {
 public:
  explicit Array(int64_t bytes);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

template <class T>
int64_t bytes_in(const std::vector<T>& values) {
  return static_cast<int64_t>(values.size() * sizeof(T));
}

void copy(void* to, const void* from, int64_t bytes);
template <class T>
void send(const std::vector<T>& values, const Array& to) {
  copy(to.as<T>(), values.data(), bytes_in(values));
}

// Seconds between two places in the device's default stream.
class Timer {
 public:
  Timer();
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  void start();
  double stop();  // waits

 private:
  void *begin_ = nullptr, *end_ = nullptr;
  double host_begin_ = 0;
};

// C [m, n] = op(A) op(B), dense and row-major, all of one element, added up in fp32 (not in TF32).
struct Product {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
};
bool multiplies(Element element);  // whether there is one of that element
void multiply(const Product& product, Element element, const Array& a, const Array& b, const Array& c);

// Repetitions of one thing.
struct Spread {
  std::vector<double> seconds;
  double at(double q) const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
  }
  double median() const { return at(0.5); }
};

// body() as often as fits into `limit` seconds, 3 to `most` times after one that does not count.
template <class Body>
Spread repeat(double limit, int most, const Body& body) {
  Timer timer;
  const auto once = [&] {
    timer.start();
    body();
    return timer.stop();
  };
  const double first = once();
  const int fits = first > 0 ? static_cast<int>(std::min(limit / first, 1e6)) : most;
  Spread spread;
  for (int i = 0; i < std::clamp(fits, 3, most); ++i) spread.seconds.push_back(once());
  return spread;
}

struct Shape {
  std::string name;
  int64_t hidden, ffn, experts;
  int32_t top_k;
};
struct Case {
  Shape shape;
  int64_t tokens;
  Element element;
  int64_t rows() const { return tokens * shape.top_k; }
  const char* dtype() const { return element == Element::bfloat16 ? "bf16" : "fp32"; }
  // Of the experts' products, forward and backward: three matrices, three products each.
  double flops() const {
    return 18.0 * static_cast<double>(rows()) * static_cast<double>(shape.hidden) * static_cast<double>(shape.ffn);
  }
};

// Bytes per second of a copy within the device, read and written ones.
double copy_rate(int64_t bytes);
// The line of each kernel of a layer but the products, beside that rate.
void measure_kernels(const Case& what, double rate);
// And of each that runs over n parameters once a step.
void measure_step_kernels(int64_t n, double rate);

}  // namespace bench
