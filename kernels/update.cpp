// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <cmath>

#include "kernels/detail.hpp"
#include "kernels/flat.hpp"

// The optimizers' rules. Elements are fp32; what is the same for all of them is made in fp64 and rounded once. An
// element's result depends on nothing but its own inputs, so sharding can't change a bit.
namespace moemesh::kernels {
namespace {

struct AdamWScalars {
  float keep1, take1, keep2, take2, rate, unbias2, epsilon, decay, coefficient;

  KOKKOS_FUNCTION void update(float g, float& parameter, float& moment1, float& moment2) const {
    g *= coefficient;
    moment1 = keep1 * moment1 + take1 * g;
    moment2 = keep2 * moment2 + take2 * g * g;
    const float decayed = parameter - decay * parameter;
    parameter = decayed - rate * moment1 / (Kokkos::sqrt(moment2) * unbias2 + epsilon);
  }
};

AdamWScalars as_scalars(const AdamW& rule) {
  const double step = static_cast<double>(rule.step);
  return {.keep1 = static_cast<float>(rule.beta1),
          .take1 = static_cast<float>(1 - rule.beta1),
          .keep2 = static_cast<float>(rule.beta2),
          .take2 = static_cast<float>(1 - rule.beta2),
          .rate = static_cast<float>(rule.learning_rate / (1 - std::pow(rule.beta1, step))),
          .unbias2 = static_cast<float>(1 / std::sqrt(1 - std::pow(rule.beta2, step))),
          .epsilon = static_cast<float>(rule.epsilon),
          .decay = static_cast<float>(rule.learning_rate * rule.weight_decay),
          .coefficient = rule.coefficient};
}

struct SgdScalars {
  float rate, momentum, decay, coefficient;

  KOKKOS_FUNCTION void step(float velocity, float& parameter) const {
    const float decayed = parameter - decay * parameter;
    parameter = decayed - rate * velocity;
  }
  KOKKOS_FUNCTION void update(float g, float& parameter, float& moment) const {
    moment = momentum * moment + g * coefficient;
    step(moment, parameter);
  }
};

void sgd_plain(const SgdScalars& scalars, int64_t n, const float* gradient, float* parameter) {
  const SgdScalars captured = scalars;
  detail::for_tiles(
      "moemesh::sgd", n, KOKKOS_LAMBDA(int64_t i, int64_t end) {
        const SgdScalars rule = captured;  // a local one stays in registers
        for (; i < end; i += detail::kLanes) rule.step(gradient[i] * rule.coefficient, parameter[i]);
      });
}

void sgd_momentum(const SgdScalars& scalars, int64_t n, const float* gradient, float* parameter, float* moment) {
  const SgdScalars captured = scalars;
  detail::for_tiles(
      "moemesh::sgd", n, KOKKOS_LAMBDA(int64_t i, int64_t end) {
        const SgdScalars rule = captured;
        for (; i < end; i += detail::kLanes) rule.update(gradient[i], parameter[i], moment[i]);
      });
}

}  // namespace

void adamw(const AdamW& rule, int64_t n, const float* gradient, float* parameter, float* moment1, float* moment2) {
  const AdamWScalars captured = as_scalars(rule);
  detail::for_tiles(
      "moemesh::adamw", n, KOKKOS_LAMBDA(int64_t i, int64_t end) {
        const AdamWScalars scalars = captured;
        for (; i < end; i += detail::kLanes) scalars.update(gradient[i], parameter[i], moment1[i], moment2[i]);
      });
}

void sgd(const Sgd& rule, int64_t n, const float* gradient, float* parameter, float* moment) {
  const SgdScalars scalars = {static_cast<float>(rule.learning_rate), static_cast<float>(rule.momentum),
                              static_cast<float>(rule.learning_rate * rule.weight_decay), rule.coefficient};
  if (moment == nullptr) {
    sgd_plain(scalars, n, gradient, parameter);
  } else {
    sgd_momentum(scalars, n, gradient, parameter, moment);
  }
}

}  // namespace moemesh::kernels
