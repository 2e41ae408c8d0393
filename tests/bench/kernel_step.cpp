// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The kernels that run over all parameters once a step.
#include <algorithm>

#include "kernel_bench.hpp"
#include "kernels/flat.hpp"

namespace bench {

using namespace moemesh::kernels;

void measure_step(int64_t elements, Table& table) {
  const int64_t n = std::min<int64_t>(elements, 1 << 26);
  const auto size = static_cast<size_t>(n);
  std::vector<float> gradient(size, 1e-3F), parameter(size, 0.5F), first(size), second(size);
  std::vector<uint16_t> rounded(size);
  const auto bytes = [&](double each) { return each * static_cast<double>(n); };
  table.header("one step, " + std::to_string(n) + " parameters");
  table.line("zero", bytes(4), [&] { zero(gradient.data(), n); });
  table.line("add_strided (dense)", bytes(12), [&] {
    const int64_t stride = 1;
    add_strided(1, &n, parameter.data(), &stride, gradient.data());
  });
  table.line("ordered_sum of 2 parts", bytes(12), [&] {
    const float* parts[] = {gradient.data(), parameter.data()};
    ordered_sum(n, 2, parts, 0.5F, gradient.data());
  });
  std::vector<double> sums(static_cast<size_t>(square_blocks(n)));
  table.line("sum_squares", bytes(4), [&] { sum_squares(gradient.data(), n, nullptr, sums.data()); });
  table.line("adamw", bytes(28), [&] {
    adamw({1e-3, 0.9, 0.999, 1e-8, 0.01, 10, 1.0F}, n, gradient.data(), parameter.data(), first.data(), second.data());
  });
  table.line("adamw of bf16", bytes(30), [&] {
    adamw({1e-3, 0.9, 0.999, 1e-8, 0.01, 10, 1.0F}, n, gradient.data(), parameter.data(), first.data(), second.data(),
          rounded.data());
  });
  table.line("sgd", bytes(12), [&] { sgd({1e-3, 0, 0.01, 1.0F}, n, gradient.data(), parameter.data(), nullptr); });
  table.line("sgd with momentum", bytes(20), [&] {
    sgd({1e-3, 0.9, 0.01, 1.0F}, n, gradient.data(), parameter.data(), first.data());
  });
  table.line("round_to_bfloat16", bytes(6), [&] { round_to_bfloat16(n, parameter.data(), rounded.data()); });
  table.line("widen_bfloat16", bytes(6), [&] { widen_bfloat16(n, rounded.data(), first.data()); });
  table.line("refresh_masters", bytes(6), [&] { refresh_masters(n, rounded.data(), parameter.data()); });
}

}  // namespace bench
