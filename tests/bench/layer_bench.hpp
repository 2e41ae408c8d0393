// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "moemesh.h"

namespace bench {

struct Shape {
  int64_t tokens = 0, hidden = 0, ffn = 0, experts = 0;
  int32_t top_k = 0;
  bool bfloat16 = false;

  int64_t rows() const { return tokens * top_k; }
  // Of the expert products alone: three matrices (gated), a multiply and an add, backward twice the forward.
  double flops() const { return 3.0 * 3 * 2 * static_cast<double>(rows() * hidden * ffn); }
  const char* dtype() const { return bfloat16 ? "bf16" : "fp32"; }
};

inline constexpr int32_t kThreads = 2;

// One swiglu layer on one rank, through the public functions alone.
class Layer {
 public:
  Layer(const Shape& shape, int32_t most_repetitions);
  ~Layer();
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  void begin();  // a step of most_repetitions microbatches; zeroes the main gradients
  void run();    // forward and backward of the next microbatch
  void end();    // drops the step
  std::vector<int64_t> rows_per_expert() const;
  // This layer's own weights and main gradients, [E, ...]: the reference works on the same memory.
  moemesh_view weights(const char* name) const;
  float* gradient(const char* name) const;

 private:
  void create();
  moemesh_parameter find(const char* name) const;
  moemesh_view tokens_view(std::vector<float>& floats) const;

  Shape shape_;
  int32_t repetitions_, next_ = 0;
  std::vector<float> x_, y_, dy_, dx_;  // bf16: half of it is used
  moemesh_context context_ = nullptr;
  moemesh_mesh mesh_ = nullptr;
  moemesh_family shared_ = nullptr, expert_ = nullptr;
  moemesh_layer layer_ = nullptr;
  moemesh_optimizer optimizer_ = nullptr;
};

// The products alone that the layer must make, with oneDNN, on the same row counts: forward three for each expert,
// backward six, of which three are added to weight gradients.
class Reference {
 public:
  Reference(const Shape& shape, const Layer& layer);
  void run();
  // Seconds of one product of the fullest expert's rows: widened weights and sgemm, and oneDNN's own bf16 matmul
  // (-1: it has none for this CPU).
  void compare_bfloat16(double& widened, double& native) const;

 private:
  const float* matrix(const moemesh_view& weights, int64_t expert);
  void forward(int64_t expert, int64_t first, int64_t rows);
  void backward(int64_t expert, int64_t first, int64_t rows);

  Shape shape_;
  std::vector<int64_t> counts_;
  moemesh_view w1_, wg_, w2_;
  float *dw1_, *dwg_, *dw2_;
  std::vector<float> x_, h_, hg_, out_, scratch_;
};

// A child process that runs the same layer in PyTorch, one repetition for each call.
class Torch {
 public:
  Torch(const std::string& python, const std::string& script, const Shape& shape);
  ~Torch();
  Torch(const Torch&) = delete;
  Torch& operator=(const Torch&) = delete;
  const std::string& version() const { return version_; }
  double run();  // seconds, as the child measured them

 private:
  std::string line();
  int to_ = -1, from_ = -1, pid_ = -1;
  std::string version_;
};

[[noreturn]] void fail(const std::string& what);

}  // namespace bench
