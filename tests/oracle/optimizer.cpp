// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace oracle {
namespace {

bool all_finite(const std::vector<NamedArray>& arrays) {
  for (const NamedArray& array : arrays) {
    for (double value : *array.values) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

void require_pairs(const std::vector<NamedArray>& parameters, const std::vector<NamedArray>& gradients) {
  bool same = parameters.size() == gradients.size();
  for (std::size_t i = 0; same && i < parameters.size(); ++i) {
    same = parameters[i].name == gradients[i].name && parameters[i].expert == gradients[i].expert &&
           parameters[i].values->size() == gradients[i].values->size();
  }
  if (!same) throw std::invalid_argument("oracle: parameters and gradients do not go together");
}

Scales scales_of(const OptimizerConfig& config, const std::string& name) {
  const auto found = config.scales.find(name);
  return found == config.scales.end() ? Scales() : found->second;
}

Array scaled(const Array& values, double factor) {
  Array result = values;
  for (double& value : result) value *= factor;
  return result;
}

}  // namespace

double gradient_norm(const std::vector<NamedArray>& gradients) {
  double sum = 0;
  for (const NamedArray& gradient : gradients) sum += dot(*gradient.values, *gradient.values);
  return std::sqrt(sum);
}

double clip_coefficient(double max_norm, double norm) {
  return max_norm > 0 && norm > 0 ? std::min(1.0, max_norm / norm) : 1.0;
}

void Optimizer::prepare(const std::vector<NamedArray>& parameters) {
  if (!moment1.empty()) return;
  for (const NamedArray& parameter : parameters) {
    moment1.emplace_back(parameter.values->size(), 0.0);
    moment2.emplace_back(parameter.values->size(), 0.0);
  }
}

UpdateResult Optimizer::update(const std::vector<NamedArray>& parameters, const std::vector<NamedArray>& gradients,
                               double learning_rate) {
  require_pairs(parameters, gradients);
  prepare(parameters);
  UpdateResult result;
  result.norm = gradient_norm(gradients);
  result.skipped = !all_finite(gradients);
  if (result.skipped) {
    ++skips;
    return result;
  }
  ++steps;
  result.coefficient = clip_coefficient(config.max_norm, result.norm);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Scales scales = scales_of(config, parameters[i].name);
    const double rate = (learning_rate < 0 ? config.learning_rate : learning_rate) * scales.learning_rate;
    const double decay = config.weight_decay * scales.decay;
    const Array gradient = scaled(*gradients[i].values, result.coefficient);
    if (config.kind == OptimizerKind::adamw) update_adamw(i, parameters[i].values, gradient, rate, decay);
    if (config.kind == OptimizerKind::sgd) update_sgd(i, parameters[i].values, gradient, rate, decay);
  }
  return result;
}

void Optimizer::update_adamw(std::size_t index, Array* values, const Array& gradient, double rate, double decay) {
  const double correction1 = 1.0 - std::pow(config.beta1, static_cast<double>(steps));
  const double correction2 = 1.0 - std::pow(config.beta2, static_cast<double>(steps));
  for (std::size_t i = 0; i < values->size(); ++i) {
    double& m = moment1.at(index)[i];
    double& v = moment2.at(index)[i];
    m = config.beta1 * m + (1.0 - config.beta1) * gradient[i];
    v = config.beta2 * v + (1.0 - config.beta2) * gradient[i] * gradient[i];
    const double direction = (m / correction1) / (std::sqrt(v / correction2) + config.epsilon);
    (*values)[i] -= rate * direction + rate * decay * (*values)[i];
  }
}

void Optimizer::update_sgd(std::size_t index, Array* values, const Array& gradient, double rate, double decay) {
  for (std::size_t i = 0; i < values->size(); ++i) {
    double& m = moment1.at(index)[i];
    m = config.momentum * m + gradient[i];
    (*values)[i] -= rate * m + rate * decay * (*values)[i];
  }
}

}  // namespace oracle
