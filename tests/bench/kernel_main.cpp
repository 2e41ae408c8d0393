// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// kernel_bench T H F E k fp32|bf16 REPETITIONS
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernel_bench.hpp"
#include "kernels/runtime.hpp"
#include "measure.hpp"

namespace bench {

void Table::header(const std::string& title) const {
  std::printf("%s\n  %-34s %10s %10s %8s %8s\n", title.c_str(), "kernel", "MB", "ms", "GB/s", "memcpy");
}

// Two threads, half each.
double Table::copy(int64_t bytes) {
  const auto half = static_cast<size_t>(bytes / 2);
  if (from_.size() < half) {
    from_.assign(half, 1);
    to_.assign(half, 2);
  }
  return seconds([&] {
#pragma omp parallel num_threads(kThreads)
    {
      const size_t part = half / kThreads, first = part * static_cast<size_t>(omp_get_thread_num());
      std::memcpy(to_.data() + first, from_.data() + first, part);
    }
  });
}

void Table::line(const std::string& kernel, double bytes, const std::function<void()>& run) {
  Times times, copies;
  run();
  copy(static_cast<int64_t>(bytes));
  for (int i = 0; i < repetitions_; ++i) {
    times.add(seconds(run));
    copies.add(copy(static_cast<int64_t>(bytes)));
  }
  std::printf("  %-34s %10.3f %10.4f %8.2f %7.2fx\n", kernel.c_str(), bytes * 1e-6, times.median() * 1e3,
              bytes / times.median() * 1e-9, copies.median() / times.median());
}

}  // namespace bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc != 8) {
    std::fprintf(stderr, "kernel_bench: wrong number of arguments; tests/bench/run calls this program\n");
    return 1;
  }
  bench::Sizes sizes;
  sizes.tokens = std::atol(argv[1]);
  sizes.hidden = std::atol(argv[2]);
  sizes.ffn = std::atol(argv[3]);
  sizes.experts = std::atol(argv[4]);
  sizes.top_k = std::atoi(argv[5]);
  if (std::strcmp(argv[6], "bf16") == 0) sizes.element = moemesh::kernels::Element::bfloat16;
  moemesh::kernels::start_runtime(bench::kThreads);
  bench::Table table(std::atoi(argv[7]));
  std::printf("T %s H %s F %s E %s k %s %s\n", argv[1], argv[2], argv[3], argv[4], argv[5], argv[6]);
  bench::measure_rows(sizes, table);
  bench::measure_step(3 * sizes.experts * sizes.hidden * sizes.ffn, table);
  moemesh::kernels::stop_runtime();
}
