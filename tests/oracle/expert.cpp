// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "expert.hpp"

#include <cmath>

namespace oracle {
namespace {

const double pi = std::acos(-1.0);

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double normal_cdf(double x) { return 0.5 * (1.0 + std::erf(x / std::sqrt(2.0))); }

double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * pi); }

double gelu_tanh(double x) { return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / pi) * (x + 0.044715 * x * x * x))); }

double gelu_tanh_derivative(double x) {
  const double t = std::tanh(std::sqrt(2.0 / pi) * (x + 0.044715 * x * x * x));
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * std::sqrt(2.0 / pi) * (1.0 + 3.0 * 0.044715 * x * x);
}

// What lies between the matrices: up = W1 x, gate = Wg x (empty unless gated), inner = the input of W2.
struct Inner {
  Array up;
  Array gate;
  Array inner;
};

Inner inner_forward(Activation activation, const ExpertWeights& weights, const Array& x) {
  Inner result;
  result.up = multiply(*weights.w1, x);
  if (is_gated(activation)) result.gate = multiply(*weights.wg, x);
  for (std::size_t f = 0; f < result.up.size(); ++f) {
    const double u = result.up[f];
    result.inner.push_back(is_gated(activation) ? activate(activation, result.gate[f]) * u : activate(activation, u));
  }
  return result;
}

}  // namespace

bool is_gated(Activation activation) { return activation == Activation::swiglu || activation == Activation::geglu; }

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::identity:
      return x;
    case Activation::relu:
      return x > 0 ? x : 0.0;
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::gelu_erf:
    case Activation::geglu:
      return x * normal_cdf(x);
    case Activation::silu:
    case Activation::swiglu:
      return x * sigmoid(x);
  }
  return std::nan("");
}

double activate_derivative(Activation activation, double x) {
  switch (activation) {
    case Activation::identity:
      return 1.0;
    case Activation::relu:
      return x > 0 ? 1.0 : 0.0;
    case Activation::gelu_tanh:
      return gelu_tanh_derivative(x);
    case Activation::gelu_erf:
    case Activation::geglu:
      return normal_cdf(x) + x * normal_density(x);
    case Activation::silu:
    case Activation::swiglu:
      return sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x)));
  }
  return std::nan("");
}

Array expert_forward(Activation activation, const ExpertWeights& weights, const Array& x) {
  return multiply(*weights.w2, inner_forward(activation, weights, x).inner);
}

Array expert_backward(Activation activation, const ExpertWeights& weights, const Array& x, const Array& dy,
                      const ExpertGradients& gradients) {
  const Inner saved = inner_forward(activation, weights, x);
  const Array d_inner = multiply_transposed(*weights.w2, dy);
  add_outer(gradients.w2, dy, saved.inner);
  Array d_up = d_inner;
  if (!is_gated(activation)) {
    for (std::size_t f = 0; f < d_up.size(); ++f) d_up[f] *= activate_derivative(activation, saved.up[f]);
  } else {
    for (std::size_t f = 0; f < d_up.size(); ++f) d_up[f] *= activate(activation, saved.gate[f]);
  }
  add_outer(gradients.w1, d_up, x);
  Array dx = multiply_transposed(*weights.w1, d_up);
  if (!is_gated(activation)) return dx;
  Array d_gate = d_inner;
  for (std::size_t f = 0; f < d_gate.size(); ++f) {
    d_gate[f] *= saved.up[f] * activate_derivative(activation, saved.gate[f]);
  }
  add_outer(gradients.wg, d_gate, x);
  add_to(&dx, multiply_transposed(*weights.wg, d_gate));
  return dx;
}

}  // namespace oracle
