// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The kernels that run over all parameters once a step: sums of gradients, their norm, the update.
#include "bench/device/line.hpp"
#include "kernels/flat.hpp"

namespace bench {
namespace {

namespace kernels = moemesh::kernels;

// Of the ranks whose gradients are added up.
constexpr int32_t kParts = 4;

struct Parameters {
  explicit Parameters(int64_t elements)
      : n(elements), gradient(4 * n), master(4 * n), moment1(4 * n), moment2(4 * n), values(2 * n) {
    for (const Array* array : {&gradient, &master, &moment1, &moment2}) kernels::zero(array->as<float>(), n);
    kernels::finish();
  }
  double bytes(double each) const { return each * static_cast<double>(n); }
  int64_t n;
  Array gradient, master, moment1, moment2, values;
};

void measure_gradients(const Case& what, const Parameters& p, double rate) {
  const int64_t stride = 1;
  line(what, "zero", p.bytes(4), rate, [&] { kernels::zero(p.gradient.as<float>(), p.n); });
  line(what, "add_strided", p.bytes(12), rate,
       [&] { kernels::add_strided(1, &p.n, p.master.as<float>(), &stride, p.gradient.as<float>()); });
  const int64_t part = p.n / kParts;
  const float* parts[kParts];
  for (int32_t i = 0; i < kParts; ++i) parts[i] = p.gradient.as<float>() + i * part;
  line(what, "ordered_sum of 4", 4.0 * (kParts + 1) * static_cast<double>(part), rate,
       [&] { kernels::ordered_sum(part, kParts, parts, 0.25F, p.moment1.as<float>()); });
  const Array workspace(8 * kernels::squares_workspace(p.n) + 8), sums(8 * kernels::square_blocks(p.n));
  line(what, "sum_squares", p.bytes(4), rate,
       [&] { kernels::sum_squares(p.gradient.as<float>(), p.n, workspace.as<double>(), sums.as<double>()); });
}

void measure_update(const Case& what, const Parameters& p, double rate, uint16_t* values) {
  const kernels::AdamW adamw{1e-3, 0.9, 0.999, 1e-8, 0.01, 10, 1};
  const kernels::Sgd sgd{1e-3, 0.9, 0.01, 1};
  const double rounded = values == nullptr ? 0 : 2;
  auto *gradient = p.gradient.as<float>(), *master = p.master.as<float>(), *moment = p.moment1.as<float>();
  line(what, "adamw", p.bytes(28 + rounded), rate,
       [&] { kernels::adamw(adamw, p.n, gradient, master, moment, p.moment2.as<float>(), values); });
  line(what, "sgd with momentum", p.bytes(20 + rounded), rate,
       [&] { kernels::sgd(sgd, p.n, gradient, master, moment, values); });
  line(what, "sgd", p.bytes(12 + rounded), rate, [&] { kernels::sgd(sgd, p.n, gradient, master, nullptr, values); });
}

void measure_rounding(const Case& what, const Parameters& p, double rate) {
  auto* values = p.values.as<uint16_t>();
  line(what, "round_to_bfloat16", p.bytes(6), rate,
       [&] { kernels::round_to_bfloat16(p.n, p.master.as<float>(), values); });
  line(what, "widen_bfloat16", p.bytes(6), rate, [&] { kernels::widen_bfloat16(p.n, values, p.master.as<float>()); });
  line(what, "refresh_masters", p.bytes(6), rate, [&] { kernels::refresh_masters(p.n, values, p.master.as<float>()); });
}

}  // namespace

void measure_step_kernels(int64_t n, double rate) {
  const Parameters p(n);
  Case what{{"step", 0, 0, 0, 0}, n, Element::float32};
  measure_gradients(what, p, rate);
  measure_update(what, p, rate, nullptr);
  what.element = Element::bfloat16;
  measure_update(what, p, rate, p.values.as<uint16_t>());
  measure_rounding(what, p, rate);
}

}  // namespace bench
