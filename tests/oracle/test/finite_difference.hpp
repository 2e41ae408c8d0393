// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Central differences of a scalar function of an array that the function sees.
#pragma once

#include <functional>

#include "../dense.hpp"

namespace oracle {

inline Array finite_difference(Array* values, const std::function<double()>& function, double step = 1e-5) {
  Array gradient;
  for (double& value : *values) {
    const double saved = value;
    value = saved + step;
    const double above = function();
    value = saved - step;
    const double below = function();
    value = saved;
    gradient.push_back((above - below) / (2 * step));
  }
  return gradient;
}

}  // namespace oracle
