// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// One expert (or the shared expert) on one token: W2 act(W1 x), and for gated kinds W2 (act(Wg x) * W1 x).
#pragma once

#include "dense.hpp"

namespace oracle {

// swiglu: act = silu, geglu: act = erf gelu, both gated; the others are not.
enum class Activation { identity, relu, gelu_tanh, gelu_erf, silu, swiglu, geglu };

bool is_gated(Activation activation);

// The scalar function and its derivative; of a gated kind, the ones applied to Wg x. relu'(0) = 0.
double activate(Activation activation, double x);
double activate_derivative(Activation activation, double x);

// Views of one expert's matrices: w1 and wg [ffn, hidden], w2 [hidden, ffn]; wg is null unless the kind is gated.
struct ExpertWeights {
  const Array* w1;
  const Array* wg;
  const Array* w2;
};
struct ExpertGradients {
  Array* w1;
  Array* wg;
  Array* w2;
};

// x[hidden] -> y[hidden]
Array expert_forward(Activation activation, const ExpertWeights& weights, const Array& x);

// Adds the weight gradients of one token and returns dx[hidden]. Everything is computed again from x.
Array expert_backward(Activation activation, const ExpertWeights& weights, const Array& x, const Array& dy,
                      const ExpertGradients& gradients);

}  // namespace oracle
