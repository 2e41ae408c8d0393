// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <memory>
#include <vector>

#include "job.hpp"
#include "options.hpp"

namespace contention {

// When the reductions of the dense parts' gradients may use the network.
struct Policy {
  std::string name;
  bool reduces = true;  // false: the dense parts are no parameters of the library, so there is nothing to reduce
  int32_t overlap = 0;  // of moemesh_optimizer_params
  bool whole = false;   // a bucket goes in one piece
};
// Those of `names`. Exits where a name is unknown.
std::vector<Policy> policies_of(const std::vector<std::string>& names);

// Seconds of one step on this rank.
struct Times {
  double step = 0;
  double layers = 0;   // in the MoE layers' calls: exchanges, and the experts' products
  double dense = 0;    // in the dense parts' products
  double waiting = 0;  // for parameters to be gathered
  double end = 0;      // in optimizer_step
};

// `layers` times a dense part and an MoE layer, both with a residual, trained by SGD on one microbatch a step. Every policy has
// a model of its own with the same weights and inputs, so that all must end at the same bits.
class Model {
 public:
  Model(const Job& job, const Options& options, const Policy& policy);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();

  Times step();
  void drain();          // waits for what the last step left on its way
  double fingerprint();  // of the dense parts' values, the same bits the same number

 private:
  struct Dense;
  struct Block;
  void create_families();
  void create_block(int64_t index);
  void forward(Block& block, const std::vector<float>& in, std::vector<float>& out);
  void backward(Block& block, std::vector<float>& gradient);
  void dense_forward(Block& block, const std::vector<float>& in);
  void dense_products(Block& block, const float* w_in, const float* w_out);
  void dense_backward(Block& block, std::vector<float>& gradient);
  void layer_forward(Block& block, std::vector<float>& out);
  void layer_backward(Block& block, std::vector<float>& gradient);
  const float* acquire(Dense& dense);
  void release(Dense& dense);
  float* gradient_of(Dense& dense);
  void ready(Dense& dense);
  moemesh_view rows(std::vector<float>& array, int64_t width) const;

  const Job& job_;
  const Options& options_;
  Policy policy_;
  Times times_;
  moemesh_family shared_ = nullptr, expert_ = nullptr;
  moemesh_optimizer optimizer_ = nullptr;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::vector<float>> streams_;  // the input of each block, and the last one's output
  std::vector<float> loss_gradient_, dx_, dlogits_, transposed_, hidden_gradient_;
};

}  // namespace contention
