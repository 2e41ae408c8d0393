// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// layer_bench T H F E k fp32|bf16 REPETITIONS [PYTHON SCRIPT]: the layer, the reference and torch in turn.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "layer_bench.hpp"
#include "measure.hpp"

namespace bench {

void fail(const std::string& what) {
  std::fprintf(stderr, "layer_bench: %s\n", what.c_str());
  std::exit(1);
}

namespace {

void print(const char* what, const Times& times, double flops) {
  std::printf("  %-10s %9.2f ms  (quartiles %.2f .. %.2f, best %.2f)  %6.1f GFLOP/s\n", what, times.median() * 1e3,
              times.quantile(0.25) * 1e3, times.quantile(0.75) * 1e3, times.quantile(0) * 1e3,
              flops / times.median() * 1e-9);
}

// How much the load of a noisy machine changes the ratio: the same from each pair of neighbours in time.
void print_ratio(const char* what, const Times& other, const Times& layer) {
  Times pairs;
  for (size_t i = 0; i < layer.all.size(); ++i) pairs.add(other.all[i] / layer.all[i]);
  std::printf("  ratio %s / layer: %.2f of medians; of pairs: median %.2f, quartiles %.2f .. %.2f\n", what,
              other.median() / layer.median(), pairs.median(), pairs.quantile(0.25), pairs.quantile(0.75));
}

void say_bfloat16(const Reference& reference) {
  double widened = 0, native = 0;
  reference.compare_bfloat16(widened, native);
  std::printf("  one bf16 product: widened + sgemm %.2f ms, oneDNN's bf16 matmul ", widened * 1e3);
  if (native < 0)
    std::printf("there is none for this CPU; the reference widens\n");
  else
    std::printf("%.2f ms; the reference widens%s\n", native * 1e3, native < widened ? ", THOUGH IT IS SLOWER" : "");
}

void measure(const Shape& shape, int32_t repetitions, const char* python, const char* script) {
  std::printf("T %ld H %ld F %ld E %ld k %d swiglu %s, %d threads\n", static_cast<long>(shape.tokens),
              static_cast<long>(shape.hidden), static_cast<long>(shape.ffn), static_cast<long>(shape.experts),
              shape.top_k, shape.dtype(), kThreads);
  Layer layer(shape, repetitions + 1);
  layer.begin();
  layer.run();  // warm; also makes the row counts known
  Reference reference(shape, layer);
  reference.run();
  if (shape.bfloat16) say_bfloat16(reference);
  std::optional<Torch> torch;
  if (python) torch.emplace(python, script, shape);
  if (torch) torch->run();
  Times of_layer, of_reference, of_torch;
  for (int32_t i = 0; i < repetitions; ++i) {
    of_layer.add(seconds([&] { layer.run(); }));
    of_reference.add(seconds([&] { reference.run(); }));
    if (torch) of_torch.add(torch->run());
  }
  layer.end();
  const double zeroing = seconds([&] { layer.begin(); });
  layer.end();
  print("layer", of_layer, shape.flops());
  print("products", of_reference, shape.flops());
  if (torch) print("torch", of_torch, shape.flops());
  std::printf("  step_begin (zeroes the gradients, once a step): %.2f ms\n", zeroing * 1e3);
  print_ratio("products", of_reference, of_layer);
  if (torch) print_ratio("torch", of_torch, of_layer);
  if (torch) std::printf("  torch: %s\n", torch->version().c_str());
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc != 8 && argc != 10) bench::fail("wrong number of arguments; tests/bench/run calls this program");
  bench::Shape shape;
  shape.tokens = std::atol(argv[1]);
  shape.hidden = std::atol(argv[2]);
  shape.ffn = std::atol(argv[3]);
  shape.experts = std::atol(argv[4]);
  shape.top_k = std::atoi(argv[5]);
  shape.bfloat16 = std::string(argv[6]) == "bf16";
  bench::measure(shape, std::atoi(argv[7]), argc == 10 ? argv[8] : nullptr, argc == 10 ? argv[9] : nullptr);
}
