// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/element.hpp"

namespace bench {

inline constexpr int kThreads = 2;

// Prints one line for each kernel: the bytes that it can't avoid to read or write, its time, and the time of a memcpy by
// two threads that moves as many (half read, half written), both measured in turn.
class Table {
 public:
  explicit Table(int repetitions) : repetitions_(repetitions) {}
  void header(const std::string& title) const;
  void line(const std::string& kernel, double bytes, const std::function<void()>& run);

 private:
  double copy(int64_t bytes);
  int repetitions_;
  std::vector<char> from_, to_;
};

struct Sizes {
  int64_t tokens = 0, hidden = 0, ffn = 0, experts = 0;
  int32_t top_k = 0;
  moemesh::kernels::Element element = moemesh::kernels::Element::float32;
  int64_t rows() const { return tokens * top_k; }
};

void measure_rows(const Sizes& sizes, Table& table);  // of a layer's forward and backward
void measure_step(int64_t n, Table& table);           // of gradients and optimizer, on n elements

}  // namespace bench
