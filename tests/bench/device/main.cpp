// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// device_bench [--small] [--seconds S]: one MoE layer's forward and backward on the device, in shapes like Mixtral's and
// DeepSeek's, beside a dense product of the same arithmetic, and its kernels and those of a step beside a copy: bytes that
// can't be avoided over the time, so that a kernel of minimum traffic that keeps the memory busy has a ratio of 1. A line as soon
// as it is known; what does not fit into the memory says so. --small: shapes a host can do; --seconds: no case is begun later.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "bench/device/layer.hpp"

namespace {

using namespace bench;
using Clock = std::chrono::steady_clock;

struct Options {
  bool small = false;
  double seconds = 1e9;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--small") == 0)
      options.small = true;
    else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      options.seconds = std::atof(argv[++i]);
    else {
      std::fprintf(stderr, "usage: device_bench [--small] [--seconds S]\n");
      std::exit(2);
    }
  }
  return options;
}

// The shorter ones first.
std::vector<Case> cases(bool small) {
  const int64_t less = small ? 16 : 1;
  const Shape deepseek{"deepseek", 2048 / less, 1408 / less, 64, 6},
      mixtral{"mixtral", 4096 / less, 14336 / less, 8, 2};
  std::vector<Case> all;
  for (const int64_t tokens : {8192, 32768})
    for (const Shape& shape : {deepseek, mixtral})
      for (const Element element : {Element::bfloat16, Element::float32})
        all.push_back({shape, tokens / less, element});
  return all;
}

void print(const Case& what, const LayerTimes& times, const Spread& dense) {
  const double seconds = times.both.median();
  std::printf(
      "layer  | %-8s | %s | %6ld | forward %8.2f ms, backward %8.2f ms | %8.2f ms (%.2f .. %.2f) | %7.2f TFLOP/s",
      what.shape.name.c_str(), what.dtype(), static_cast<long>(what.tokens), 1e3 * times.forward.median(),
      1e3 * times.backward.median(), 1e3 * seconds, 1e3 * times.both.at(0), 1e3 * times.both.at(1),
      1e-12 * what.flops() / seconds);
  if (dense.seconds.empty())
    std::printf(" | no dense product of this type here\n");
  else
    std::printf(" | dense %7.2f TFLOP/s, %.2f of it\n", 1e-12 * what.flops() / dense.median(),
                dense.median() / seconds);
  std::fflush(stdout);
}

// A case that fails leaves the others their turn.
bool measure(const moemesh::context& context, const Case& what, double rate) {
  try {
    print(what, measure_layer(context, what, 4, 10), measure_dense(what, 1, 5));
    measure_kernels(what, rate);
    return true;
  } catch (const std::exception& error) {
    std::printf("failed | %-8s | %s | %6ld | %s\n", what.shape.name.c_str(), what.dtype(),
                static_cast<long>(what.tokens), error.what());
    std::fflush(stdout);
    return false;
  }
}

bool measure_step(int64_t parameters, double rate) {
  try {
    measure_step_kernels(parameters, rate);
    return true;
  } catch (const std::exception& error) {
    std::printf("failed | step     | %ld | %s\n", static_cast<long>(parameters), error.what());
    return false;
  }
}

int run(const Options& options) {
  const auto begin = Clock::now();
  const moemesh::context context = moemesh::context::alone();
  std::printf("device | %s\n", device_name().c_str());
  const double rate = copy_rate(options.small ? int64_t{1} << 26 : int64_t{1} << 32);
  std::printf("copy   | %.1f GB/s, read and written\n", 1e-9 * rate);
  std::fflush(stdout);
  bool good = measure_step(options.small ? int64_t{1} << 22 : int64_t{1} << 28, rate);
  for (const Case& what : cases(options.small)) {
    if (std::chrono::duration<double>(Clock::now() - begin).count() > options.seconds) {
      std::printf("left out for want of time | %s | %s | %ld\n", what.shape.name.c_str(), what.dtype(),
                  static_cast<long>(what.tokens));
      continue;
    }
    good = measure(context, what, rate) && good;
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  try {
    return run(options);
  } catch (const moemesh::error& error) {
    std::printf("device_bench: %s\n", error.what());
    return error.status() == MOEMESH_ERROR_NO_DEVICE ? 77 : 1;
  } catch (const std::exception& error) {
    std::printf("device_bench: %s\n", error.what());
    return 1;
  }
}
