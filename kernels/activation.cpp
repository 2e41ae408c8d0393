// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/activation.hpp"

#include <stdexcept>
#include <string>

#include "kernels/detail.hpp"
#include "kernels/exponential.hpp"

namespace moemesh::kernels {
namespace {

KOKKOS_INLINE_FUNCTION float sigmoid(float x) { return 1 / (1 + detail::clamped_exp(-x)); }

// f(x), and f(x) with its slope f'(x).
struct ValueSlope {
  float value, slope;
};

struct Identity {
  KOKKOS_INLINE_FUNCTION static float value(float x) { return x; }
  KOKKOS_INLINE_FUNCTION static ValueSlope both(float x) { return {x, 1}; }
};

struct Relu {
  // Written so that NaN stays NaN.
  KOKKOS_INLINE_FUNCTION static float value(float x) { return x < 0 ? 0 : x; }
  KOKKOS_INLINE_FUNCTION static ValueSlope both(float x) { return {value(x), x > 0 ? 1.0f : 0.0f}; }
};

struct Silu {
  KOKKOS_INLINE_FUNCTION static float value(float x) { return x * sigmoid(x); }
  KOKKOS_INLINE_FUNCTION static ValueSlope both(float x) {
    const float s = sigmoid(x);
    return {x * s, s + x * s * (1 - s)};
  }
};

// x (1 + tanh u)/2 = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3): this form keeps its digits for negative x.
struct GeluTanh {
  static constexpr float kTwoRootTwoOverPi = 1.5957691216057308f;
  static constexpr float kCubic = 0.044715f;
  KOKKOS_INLINE_FUNCTION static float gate(float x) { return sigmoid(kTwoRootTwoOverPi * (x + kCubic * x * x * x)); }
  KOKKOS_INLINE_FUNCTION static float value(float x) { return x * gate(x); }
  KOKKOS_INLINE_FUNCTION static ValueSlope both(float x) {
    const float s = gate(x);
    return {x * s, s + x * s * (1 - s) * kTwoRootTwoOverPi * (1 + 3 * kCubic * x * x)};
  }
};

// x Phi(x), Phi through erfc, which keeps its digits for negative x.
struct GeluErf {
  static constexpr float kRootHalf = 0.7071067811865476f;
  static constexpr float kDensityAtZero = 0.3989422804014327f;  // 1/sqrt(2 pi)
  KOKKOS_INLINE_FUNCTION static float probability(float x) { return 0.5f * Kokkos::erfc(-x * kRootHalf); }
  KOKKOS_INLINE_FUNCTION static float value(float x) { return x * probability(x); }
  KOKKOS_INLINE_FUNCTION static ValueSlope both(float x) {
    const float p = probability(x);
    return {x * p, p + x * kDensityAtZero * detail::clamped_exp(-0.5f * x * x)};
  }
};

// Calls call(F{}) with the function of `kind`.
template <class Call>
void with_function(Activation kind, const Call& call) {
  switch (kind) {
    case Activation::identity:
      return call(Identity{});
    case Activation::relu:
      return call(Relu{});
    case Activation::gelu_tanh:
      return call(GeluTanh{});
    case Activation::gelu_erf:
    case Activation::geglu:
      return call(GeluErf{});
    case Activation::silu:
    case Activation::swiglu:
      return call(Silu{});
  }
  throw std::invalid_argument("unknown activation " + std::to_string(static_cast<int32_t>(kind)));
}

KOKKOS_INLINE_FUNCTION float row_gate(const float* gate, int64_t row) { return gate == nullptr ? 1.0f : gate[row]; }

template <class Function>
void activate_plain(int64_t rows, int64_t width, const float* h, const float* gate, float* out) {
  detail::for_rows(
      "moemesh::activate", rows, KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        const float factor = row_gate(gate, r);
        for (int64_t c = r * width + lane; c < (r + 1) * width; c += detail::kLanes) {
          out[c] = factor * Function::value(h[c]);
        }
      });
}

template <class Function>
void activate_gated(int64_t rows, int64_t width, const float* h, const float* hg, const float* gate, float* out) {
  detail::for_rows(
      "moemesh::activate", rows, KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        const float factor = row_gate(gate, r);
        for (int64_t c = r * width + lane; c < (r + 1) * width; c += detail::kLanes) {
          out[c] = factor * (Function::value(hg[c]) * h[c]);
        }
      });
}

// The backward functions give a row to one work item, since dgate is a sum over it. They go through it in pieces: one
// loop that vectorizes writes the terms, another adds them up in fp64.
constexpr int64_t kPiece = 128;

KOKKOS_INLINE_FUNCTION double sum_terms(int64_t n, const float* terms) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += terms[i];
  return sum;
}

template <class Function>
KOKKOS_INLINE_FUNCTION void plain_piece(int64_t n, float gate, const float* h, float* da, float* gated_a,
                                        float* terms) {
  for (int64_t i = 0; i < n; ++i) {
    const ValueSlope f = Function::both(h[i]);
    terms[i] = da[i] * f.value;
    gated_a[i] = gate * f.value;
    da[i] = gate * da[i] * f.slope;
  }
}

template <class Function>
KOKKOS_INLINE_FUNCTION void gated_piece(int64_t n, float gate, const float* h, const float* hg, float* da, float* dhg,
                                        float* gated_a, float* terms) {
  for (int64_t i = 0; i < n; ++i) {
    const ValueSlope f = Function::both(hg[i]);
    const float a = f.value * h[i];
    const float gated_da = gate * da[i];
    terms[i] = da[i] * a;
    dhg[i] = gated_da * h[i] * f.slope;
    gated_a[i] = gate * a;
    da[i] = gated_da * f.value;
  }
}

// Calls piece(first, n, terms) for the pieces of row r; returns the sum of all terms.
template <class Piece>
KOKKOS_INLINE_FUNCTION double sum_of_row(int64_t r, int64_t width, const Piece& piece) {
  double sum = 0;
  float terms[kPiece];
  for (int64_t c = 0; c < width; c += kPiece) {
    const int64_t n = detail::smaller(kPiece, width - c);
    piece(r * width + c, n, terms);
    sum += sum_terms(n, terms);
  }
  return sum;
}

template <class Function>
void backward_plain(int64_t rows, int64_t width, const float* h, const float* gate, float* da, float* gated_a,
                    float* dgate) {
  detail::for_each(
      "moemesh::activate_backward", rows, KOKKOS_LAMBDA(int64_t r) {
        const double sum = sum_of_row(r, width, [=](int64_t first, int64_t n, float* terms) {
          plain_piece<Function>(n, row_gate(gate, r), h + first, da + first, gated_a + first, terms);
        });
        if (dgate != nullptr) dgate[r] = static_cast<float>(sum);
      });
}

template <class Function>
void backward_gated(int64_t rows, int64_t width, const float* h, const float* hg, const float* gate, float* da,
                    float* dhg, float* gated_a, float* dgate) {
  detail::for_each(
      "moemesh::activate_backward", rows, KOKKOS_LAMBDA(int64_t r) {
        const double sum = sum_of_row(r, width, [=](int64_t first, int64_t n, float* terms) {
          gated_piece<Function>(n, row_gate(gate, r), h + first, hg + first, da + first, dhg + first, gated_a + first,
                                terms);
        });
        if (dgate != nullptr) dgate[r] = static_cast<float>(sum);
      });
}

}  // namespace

bool is_gated(Activation kind) { return kind == Activation::swiglu || kind == Activation::geglu; }

void activate(Activation kind, int64_t rows, int64_t width, const float* h, const float* hg, const float* gate,
              float* out) {
  with_function(kind, [&](auto function) {
    using Function = decltype(function);
    if (is_gated(kind)) {
      activate_gated<Function>(rows, width, h, hg, gate, out);
    } else {
      activate_plain<Function>(rows, width, h, gate, out);
    }
  });
}

void activate_backward(Activation kind, int64_t rows, int64_t width, const float* h, const float* hg, const float* gate,
                       float* da, float* dhg, float* gated_a, float* dgate) {
  with_function(kind, [&](auto function) {
    using Function = decltype(function);
    if (is_gated(kind)) {
      backward_gated<Function>(rows, width, h, hg, gate, da, dhg, gated_a, dgate);
    } else {
      backward_plain<Function>(rows, width, h, gate, da, gated_a, dgate);
    }
  });
}

}  // namespace moemesh::kernels
