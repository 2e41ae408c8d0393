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

using detail::for_flat;
using detail::for_stretches;

// `to` is the masters' bf16 array, or the masters themselves where there is none.
template <class Stretch, class Numbers>
KOKKOS_INLINE_FUNCTION void round_numbers(Stretch at, const Numbers& numbers, uint16_t* to) {
  at.write(numbers, to);
}
template <class Stretch, class Numbers>
KOKKOS_INLINE_FUNCTION void round_numbers(Stretch, const Numbers&, float*) {}

template <class To>
void sgd_plain(const SgdScalars& scalars, int64_t n, const float* gradient, float* parameter, To* rounded) {
  const SgdScalars captured = scalars;
  for_flat(
      "moemesh::sgd", n, KOKKOS_LAMBDA(int64_t begin, int64_t end, int64_t lane) {
        const SgdScalars rule = captured;  // a local one stays in registers
        for_stretches(
            begin, end, lane,
            [=](auto at) {
              const auto g = at.load(gradient);
              auto p = at.load(parameter);
              for (int32_t i = 0; i < at.size; ++i) rule.step(g[i] * rule.coefficient, p[i]);
              at.save(p, parameter);
              round_numbers(at, p, rounded);
            },
            gradient, parameter, rounded);
      });
}

template <class To>
void sgd_momentum(const SgdScalars& scalars, int64_t n, const float* gradient, float* parameter, float* moment,
                  To* rounded) {
  const SgdScalars captured = scalars;
  for_flat(
      "moemesh::sgd", n, KOKKOS_LAMBDA(int64_t begin, int64_t end, int64_t lane) {
        const SgdScalars rule = captured;
        for_stretches(
            begin, end, lane,
            [=](auto at) {
              const auto g = at.load(gradient);
              auto p = at.load(parameter), m = at.load(moment);
              for (int32_t i = 0; i < at.size; ++i) rule.update(g[i], p[i], m[i]);
              at.save(p, parameter);
              at.save(m, moment);
              round_numbers(at, p, rounded);
            },
            gradient, parameter, moment, rounded);
      });
}

template <class To>
void adamw_of(const AdamWScalars& scalars, int64_t n, const float* gradient, float* parameter, float* moment1,
              float* moment2, To* rounded) {
  const AdamWScalars captured = scalars;
  for_flat(
      "moemesh::adamw", n, KOKKOS_LAMBDA(int64_t begin, int64_t end, int64_t lane) {
        const AdamWScalars rule = captured;
        for_stretches(
            begin, end, lane,
            [=](auto at) {
              const auto g = at.load(gradient);
              auto p = at.load(parameter), m = at.load(moment1), v = at.load(moment2);
              for (int32_t i = 0; i < at.size; ++i) rule.update(g[i], p[i], m[i], v[i]);
              at.save(p, parameter);
              at.save(m, moment1);
              at.save(v, moment2);
              round_numbers(at, p, rounded);
            },
            gradient, parameter, moment1, moment2, rounded);
      });
}

}  // namespace

// Reads 16 and writes 12 bytes of a parameter, and writes 2 where there is a bf16 one: the minimum.
void adamw(const AdamW& rule, int64_t n, const float* gradient, float* parameter, float* moment1, float* moment2,
           uint16_t* rounded) {
  const AdamWScalars scalars = as_scalars(rule);
  if (rounded == nullptr) {
    adamw_of(scalars, n, gradient, parameter, moment1, moment2, parameter);
  } else {
    adamw_of(scalars, n, gradient, parameter, moment1, moment2, rounded);
  }
}

namespace {

template <class To>
void sgd_of(const SgdScalars& scalars, int64_t n, const float* gradient, float* parameter, float* moment, To* rounded) {
  if (moment == nullptr) {
    sgd_plain(scalars, n, gradient, parameter, rounded);
  } else {
    sgd_momentum(scalars, n, gradient, parameter, moment, rounded);
  }
}

}  // namespace

// Reads 8 and writes 4 bytes of a parameter, 12 and 8 with momentum, and writes 2 where there is a bf16 one: the minimum.
void sgd(const Sgd& rule, int64_t n, const float* gradient, float* parameter, float* moment, uint16_t* rounded) {
  const SgdScalars scalars = {static_cast<float>(rule.learning_rate), static_cast<float>(rule.momentum),
                              static_cast<float>(rule.learning_rate * rule.weight_decay), rule.coefficient};
  if (rounded == nullptr) {
    sgd_of(scalars, n, gradient, parameter, moment, parameter);
  } else {
    sgd_of(scalars, n, gradient, parameter, moment, rounded);
  }
}

}  // namespace moemesh::kernels
