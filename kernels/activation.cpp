// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/activation.hpp"

#include <stdexcept>
#include <string>

#include "kernels/bfloat16.hpp"
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

// And with the type that elements are stored in.
template <class Call>
void with_function_and_type(Activation kind, Element element, const Call& call) {
  with_function(kind, [&](auto function) {
    if (element == Element::bfloat16)
      call(function, uint16_t{});
    else
      call(function, float{});
  });
}

KOKKOS_INLINE_FUNCTION float row_gate(const float* gate, int64_t row) { return gate == nullptr ? 1.0f : gate[row]; }

// Reads 1 (plain) or 2 (gated) arrays and writes 1, once.
template <class Function, class T>
void activate_plain(int64_t rows, int64_t width, const T* h, const float* gate, T* out) {
  detail::for_rows(
      "moemesh::activate", rows, KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        const float factor = row_gate(gate, r);
        const auto part = [=](auto at) {
          auto a = at.read(h);
          for (int32_t i = 0; i < at.size; ++i) a[i] = factor * Function::value(a[i]);
          at.write(a, out);
        };
        detail::for_stretches(r * width, (r + 1) * width, lane, part, h, out);
      });
}

template <class Function, class T>
void activate_gated(int64_t rows, int64_t width, const T* h, const T* hg, const float* gate, T* out) {
  detail::for_rows(
      "moemesh::activate", rows, KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        const float factor = row_gate(gate, r);
        const auto part = [=](auto at) {
          auto a = at.read(h);
          const auto g = at.read(hg);
          for (int32_t i = 0; i < at.size; ++i) a[i] = factor * (Function::value(g[i]) * a[i]);
          at.write(a, out);
        };
        detail::for_stretches(r * width, (r + 1) * width, lane, part, h, hg, out);
      });
}

// What backward makes of one element: the new da (and dhg), gate * A, and its term of <da, A>.
struct PlainGradient {
  float da, gated_a, term;
};
struct GatedGradient {
  float da, dhg, gated_a, term;
};

template <class Function>
KOKKOS_INLINE_FUNCTION PlainGradient plain_gradient(float gate, float h, float da) {
  const ValueSlope f = Function::both(h);
  return {gate * da * f.slope, gate * f.value, da * f.value};
}

template <class Function>
KOKKOS_INLINE_FUNCTION GatedGradient gated_gradient(float gate, float h, float hg, float da) {
  const ValueSlope f = Function::both(hg);
  const float a = f.value * h;
  const float gated_da = gate * da;
  return {gated_da * f.value, gated_da * h * f.slope, gate * a, da * a};
}

// On a host one work item goes through a row, in pieces: one loop that vectorizes writes the terms, another adds them up in
// fp64. Calls piece(first, n, terms) for the pieces of row r; returns the sum of all terms.
template <class Piece>
KOKKOS_INLINE_FUNCTION double sum_of_row(int64_t r, int64_t width, const Piece& piece) {
  constexpr int64_t kPiece = 128;
  double sum = 0;
  float terms[kPiece];
  for (int64_t c = 0; c < width; c += kPiece) {
    const int64_t n = detail::smaller(kPiece, width - c);
    piece(r * width + c, n, terms);
    double terms_sum = 0;
    for (int64_t i = 0; i < n; ++i) terms_sum += terms[i];
    sum += terms_sum;
  }
  return sum;
}

// As for_stretches, of the row that begins at `begin`; but the columns of a lane depend on the width alone, so that the bits of
// a sum over them do not depend on where the row lies.
template <class Body, class... T>
KOKKOS_INLINE_FUNCTION void for_columns(int64_t begin, int64_t width, int64_t lane, const Body& body, T*... arrays) {
  constexpr int32_t n = detail::elements_of_pack<T...>();
  const bool packs = ((detail::bytes_past_boundary(arrays + begin) == 0) && ...);
  for (int64_t c = lane * n; c < width; c += detail::kLanes * n) {
    if (packs && c + n <= width)
      body(detail::Stretch<n>{begin + c});
    else
      for (int64_t i = c; i < detail::smaller(c + n, width); ++i) body(detail::Stretch<1>{begin + i});
  }
}

// A lane's part of row r, and its sum of terms.
template <class Function, class T>
KOKKOS_INLINE_FUNCTION double plain_row(int64_t r, int64_t lane, int64_t width, float gate, const T* h, T* da,
                                        T* gated_a) {
  const auto piece = [=](int64_t first, int64_t n, float* terms) {
    for (int64_t i = first; i < first + n; ++i) {
      const PlainGradient made = plain_gradient<Function>(gate, to_float(h[i]), to_float(da[i]));
      terms[i - first] = made.term;
      store(made.gated_a, &gated_a[i]);
      store(made.da, &da[i]);
    }
  };
  double sum = 0;
  const auto part = [=, &sum](auto at) {
    const auto input = at.read(h);
    auto gradient = at.read(da), a = input;
    for (int32_t i = 0; i < at.size; ++i) {
      const PlainGradient made = plain_gradient<Function>(gate, input[i], gradient[i]);
      sum += made.term;
      a[i] = made.gated_a;
      gradient[i] = made.da;
    }
    at.write(a, gated_a);
    at.write(gradient, da);
  };
  if constexpr (detail::kOnHost)
    sum = sum_of_row(r, width, piece);
  else
    for_columns(r * width, width, lane, part, h, da, gated_a);
  return sum;
}

template <class Function, class T>
KOKKOS_INLINE_FUNCTION double gated_row(int64_t r, int64_t lane, int64_t width, float gate, const T* h, const T* hg,
                                        T* da, T* dhg, T* gated_a) {
  const auto piece = [=](int64_t first, int64_t n, float* terms) {
    for (int64_t i = first; i < first + n; ++i) {
      const GatedGradient made = gated_gradient<Function>(gate, to_float(h[i]), to_float(hg[i]), to_float(da[i]));
      terms[i - first] = made.term;
      store(made.dhg, &dhg[i]);
      store(made.gated_a, &gated_a[i]);
      store(made.da, &da[i]);
    }
  };
  double sum = 0;
  const auto part = [=, &sum](auto at) {
    const auto input = at.read(h), gate_input = at.read(hg);
    auto gradient = at.read(da), a = input, gate_gradient = input;
    for (int32_t i = 0; i < at.size; ++i) {
      const GatedGradient made = gated_gradient<Function>(gate, input[i], gate_input[i], gradient[i]);
      sum += made.term;
      gate_gradient[i] = made.dhg;
      a[i] = made.gated_a;
      gradient[i] = made.da;
    }
    at.write(gate_gradient, dhg);
    at.write(a, gated_a);
    at.write(gradient, da);
  };
  if constexpr (detail::kOnHost)
    sum = sum_of_row(r, width, piece);
  else
    for_columns(r * width, width, lane, part, h, hg, da, dhg, gated_a);
  return sum;
}

// On a device the lanes of a row are a warp, which adds up its sums without any memory.
using Team = Kokkos::TeamPolicy<detail::Space, Kokkos::IndexType<int64_t>>;
#ifdef MOEMESH_DEVICE_CUDA
constexpr int kTeamRows = 4;
#else
constexpr int kTeamRows = 1;  // a host that stands in for a device: its teams have no more threads than it has
#endif

template <class Body>
struct RowOfTeam {
  Body body;
  int64_t rows;
  float* sums;
  KOKKOS_FUNCTION void operator()(const Team::member_type& team) const {
    const int64_t row = team.league_rank() * kTeamRows + team.team_rank();
    if (row >= rows) return;
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, detail::kLanes), [&](int64_t lane, double& part) { part += body(row, lane); },
        sum);
    if (sums != nullptr) Kokkos::single(Kokkos::PerThread(team), [&] { sums[row] = static_cast<float>(sum); });
  }
};

template <class Body>
struct RowOfHost {
  Body body;
  float* sums;
  KOKKOS_FUNCTION void operator()(int64_t row) const {
    const double sum = body(row, 0);
    if (sums != nullptr) sums[row] = static_cast<float>(sum);
  }
};

// sums[row] = body(row, lane) over the lanes of a row; sums null = not wanted.
template <class Body>
void sum_over_rows(const char* name, int64_t rows, const Body& body, float* sums) {
  if constexpr (detail::kOnHost) {
    detail::for_each(name, rows, RowOfHost<Body>{body, sums});
  } else {
    static const std::string label(name);
    if (rows <= 0) return;
    const detail::Unlocked access;
    const auto teams = static_cast<int>(detail::ceil_div(rows, kTeamRows));
    Kokkos::parallel_for(label, Team(detail::space(), teams, kTeamRows, static_cast<int>(detail::kLanes)),
                         RowOfTeam<Body>{body, rows, sums});
  }
}

// Reads 2 arrays and writes 2 (plain), or 3 and 3 (gated), once, and 4 bytes a row.
template <class Function, class T>
void backward_plain(int64_t rows, int64_t width, const T* h, const float* gate, T* da, T* gated_a, float* dgate) {
  sum_over_rows(
      "moemesh::activate_backward", rows,
      KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        return plain_row<Function>(r, lane, width, row_gate(gate, r), h, da, gated_a);
      },
      dgate);
}

template <class Function, class T>
void backward_gated(int64_t rows, int64_t width, const T* h, const T* hg, const float* gate, T* da, T* dhg, T* gated_a,
                    float* dgate) {
  sum_over_rows(
      "moemesh::activate_backward", rows,
      KOKKOS_LAMBDA(int64_t r, int64_t lane) {
        return gated_row<Function>(r, lane, width, row_gate(gate, r), h, hg, da, dhg, gated_a);
      },
      dgate);
}

}  // namespace

bool is_gated(Activation kind) { return kind == Activation::swiglu || kind == Activation::geglu; }

void activate(Activation kind, int64_t rows, int64_t width, const ConstArray& h, const ConstArray& hg,
              const float* gate, const Array& out) {
  with_function_and_type(kind, out.element, [&](auto function, auto type) {
    using Function = decltype(function);
    using T = decltype(type);
    if (is_gated(kind)) {
      activate_gated<Function>(rows, width, h.as<T>(), hg.as<T>(), gate, out.as<T>());
    } else {
      activate_plain<Function>(rows, width, h.as<T>(), gate, out.as<T>());
    }
  });
}

void activate_backward(Activation kind, int64_t rows, int64_t width, const ConstArray& h, const ConstArray& hg,
                       const float* gate, const Array& da, const Array& dhg, const Array& gated_a, float* dgate) {
  with_function_and_type(kind, da.element, [&](auto function, auto type) {
    using Function = decltype(function);
    using T = decltype(type);
    if (is_gated(kind)) {
      backward_gated<Function>(rows, width, h.as<T>(), hg.as<T>(), gate, da.as<T>(), dhg.as<T>(), gated_a.as<T>(),
                               dgate);
    } else {
      backward_plain<Function>(rows, width, h.as<T>(), gate, da.as<T>(), gated_a.as<T>(), dgate);
    }
  });
}

}  // namespace moemesh::kernels
