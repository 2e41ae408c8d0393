// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Norm, clipping, AdamW and SGD on lists of named arrays (see named_arrays).
#pragma once

#include <map>
#include <utility>

#include "step.hpp"

namespace oracle {

enum class OptimizerKind { adamw, sgd };

// Per-parameter multipliers of the weight decay and of the learning rate.
struct Scales {
  double decay = 1.0;
  double learning_rate = 1.0;
};

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::adamw;
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;               // decoupled: p -= learning_rate * weight_decay * p
  double momentum = 0;                   // SGD: m = momentum*m + g
  double max_norm = 0;                   // 0 = no clipping
  std::map<std::string, Scales> scales;  // by parameter name; names that are not in it have scales of 1
};

struct UpdateResult {
  double norm = 0;         // before clipping
  double coefficient = 1;  // min(1, max_norm/norm)
  bool skipped = false;    // a gradient was not finite: nothing changed
};

// 2-norm over all elements of all arrays. Each parameter is in the list once, so nothing is counted twice.
double gradient_norm(const std::vector<NamedArray>& gradients);

// min(1, max_norm/norm); 1 without clipping or with a norm of 0.
double clip_coefficient(double max_norm, double norm);

// The state is public so that tests can start from any moments and step count.
class Optimizer {
 public:
  explicit Optimizer(OptimizerConfig settings) : config(std::move(settings)) {}

  // The two lists go together, and are the same at every call. A negative learning rate means the configured one.
  UpdateResult update(const std::vector<NamedArray>& parameters, const std::vector<NamedArray>& gradients,
                      double learning_rate = -1.0);

  // Makes the moments (zeros) if there are none yet; update calls it.
  void prepare(const std::vector<NamedArray>& parameters);

  OptimizerConfig config;
  std::int64_t steps = 0;
  std::int64_t skips = 0;
  std::vector<Array> moment1;  // per array of the list; SGD's momentum
  std::vector<Array> moment2;  // AdamW only

 private:
  void update_adamw(std::size_t index, Array* values, const Array& gradient, double rate, double decay);
  void update_sgd(std::size_t index, Array* values, const Array& gradient, double rate, double decay);
};

}  // namespace oracle
