// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The kernels of a layer's forward and backward but the products, of one rank whose copies are all its own.
#include <random>

#include "bench/device/line.hpp"
#include "kernels/activation.hpp"
#include "kernels/balance.hpp"
#include "kernels/capacity.hpp"
#include "kernels/flat.hpp"
#include "kernels/gemm.hpp"
#include "kernels/memory.hpp"
#include "kernels/permute.hpp"
#include "kernels/router.hpp"
#include "kernels/rows.hpp"

namespace bench {
namespace {

namespace kernels = moemesh::kernels;

size_t count(int64_t n) { return static_cast<size_t>(n); }

// Which row of which token each expert has: k distinct experts a token, chosen evenly, rows sorted by expert.
struct Plan {
  std::vector<int32_t> row_copy;
  std::vector<int64_t> position, first_tag;
};

std::vector<int32_t> choices(const Case& what) {
  const auto experts = static_cast<uint32_t>(what.shape.experts);
  std::mt19937 engine(1);
  std::vector<int32_t> chosen, order(count(what.shape.experts));
  for (uint32_t e = 0; e < experts; ++e) order[e] = static_cast<int32_t>(e);
  for (int64_t t = 0; t < what.tokens; ++t)
    for (uint32_t j = 0; j < static_cast<uint32_t>(what.shape.top_k); ++j) {
      std::swap(order[j], order[j + engine() % (experts - j)]);
      chosen.push_back(order[j]);
    }
  return chosen;
}

Plan make_plan(const Case& what) {
  const std::vector<int32_t> chosen = choices(what);
  std::vector<int64_t> next(count(what.shape.experts) + 1);
  for (const int32_t e : chosen) ++next[count(e) + 1];
  for (size_t e = 1; e < next.size(); ++e) next[e] += next[e - 1];
  Plan plan{std::vector<int32_t>(chosen.size()), {}, {}};
  for (size_t i = 0; i < chosen.size(); ++i) {
    plan.position.push_back(next[count(chosen[i])]++);
    plan.row_copy[count(plan.position[i])] = static_cast<int32_t>(i / count(what.shape.top_k));
  }
  for (int64_t t = 0; t <= what.tokens; ++t) plan.first_tag.push_back(t * what.shape.top_k);
  return plan;
}

std::vector<std::byte*> rows_at(const Array& array, const Case& what) {
  std::vector<std::byte*> pointers;
  for (int64_t t = 0; t < what.tokens; ++t)
    pointers.push_back(array.as<std::byte>() + t * what.shape.hidden * kernels::bytes_of(what.element));
  return pointers;
}

void measure_movement(const Case& what, double rate) {
  const int64_t T = what.tokens, R = what.rows(), H = what.shape.hidden;
  const Plan plan = make_plan(what);
  const kernels::Element element = kernels::row_element(what.element);
  const Array tokens(T * H * kernels::bytes_of(what.element)), rows(kernels::bytes_of(element) * R * H),
      pointers(8 * T), row_copy(4 * R), position(8 * R), first_tag(8 * (T + 1));
  const kernels::Array expert_rows(rows.as<std::byte>(), element);
  const std::vector<std::byte*> places = rows_at(tokens, what);
  send(places, pointers);
  send(plan.row_copy, row_copy);
  send(plan.position, position);
  send(plan.first_tag, first_tag);
  kernels::zero(rows.as<float>(), R * H * kernels::bytes_of(element) / 4);
  kernels::finish();
  const double token_bytes = static_cast<double>(T * H * kernels::bytes_of(what.element));
  const double row_bytes = static_cast<double>(kernels::bytes_of(element) * R * H);
  line(what, "permute", token_bytes + row_bytes, rate, [&] {
    kernels::gather_rows(R, H, what.element, pointers.as<const std::byte* const>(), row_copy.as<int32_t>(),
                         expert_rows);
  });
  line(what, "combine", token_bytes + row_bytes, rate, [&] {
    kernels::combine_rows(T, H, first_tag.as<int64_t>(), position.as<int64_t>(), expert_rows, what.element,
                          pointers.as<std::byte* const>());
  });
}

void measure_activation(const Case& what, double rate) {
  const int64_t R = what.rows(), F = what.shape.ffn;
  const kernels::Element element = kernels::row_element(what.element);
  const int64_t size = kernels::bytes_of(element) * R * F;
  const Array h(size), hg(size), a(size), da(size), dhg(size), gate(4 * R), dgate(4 * R);
  const auto rows = [&](const Array& array) { return kernels::Array(array.as<std::byte>(), element); };
  for (const Array* array : {&h, &hg, &da}) kernels::zero(array->as<float>(), size / 4);
  kernels::zero(gate.as<float>(), R);
  kernels::finish();
  const auto bytes = static_cast<double>(size);
  constexpr auto kind = kernels::Activation::swiglu;
  line(what, "activate", 3 * bytes, rate,
       [&] { kernels::activate(kind, R, F, rows(h), rows(hg), gate.as<float>(), rows(a)); });
  line(what, "activate_backward", 6 * bytes, rate, [&] {
    kernels::activate_backward(kind, R, F, rows(h), rows(hg), gate.as<float>(), rows(da), rows(dhg), rows(a),
                               dgate.as<float>());
  });
}

// The decision of a router, and what it is turned into. Most of it is short: a launch is what it takes.
struct Decision {
  explicit Decision(const Case& what)
      : T(what.tokens),
        R(what.rows()),
        E(what.shape.experts),
        rule{E, what.shape.top_k, kernels::Score::softmax, kernels::Gate::renorm, 1},
        logits(4 * T * E),
        dlogits(4 * T * E),
        chosen(4 * R),
        gates(4 * R),
        kept(4 * R),
        position(8 * R),
        offsets(8 * (E + 1)),
        scratch(8 * (kernels::limit_workspace(R, E) + kernels::balance_workspace(T))),
        counts(8 * (E + 2)),
        sums(16) {
    kernels::initialize(kernels::Distribution::normal, 1, 7, {1, T * E, 1, 0, T * E}, logits.as<float>());
    kernels::zero(dlogits.as<float>(), T * E);
    kernels::finish();
  }
  double of_logits(double bytes) const { return bytes * static_cast<double>(T * E); }
  double of_rows(double bytes) const { return bytes * static_cast<double>(R); }
  int64_t T, R, E;
  kernels::RouterConfig rule;
  Array logits, dlogits, chosen, gates, kept, position, offsets, scratch, counts, sums;
};

void measure_router(const Case& what, double rate, const Decision& d) {
  line(what, "route", d.of_logits(4) + d.of_rows(8), rate, [&] {
    kernels::route(d.rule, d.T, d.logits.as<float>(), d.E, nullptr, 1, d.chosen.as<int32_t>(), d.gates.as<float>());
  });
  line(what, "route_backward", d.of_logits(4) + d.of_rows(12), rate, [&] {
    kernels::route_backward(d.rule, d.T, d.logits.as<float>(), d.E, d.chosen.as<int32_t>(), d.gates.as<float>(),
                            d.dlogits.as<float>());
  });
  line(what, "count_experts", d.of_rows(4), rate,
       [&] { kernels::count_experts(d.R, d.chosen.as<int32_t>(), d.E, d.counts.as<int64_t>()); });
  const double weight = 1e-2;
  const kernels::Sequences whole{1, d.T, false};
  send(std::vector<double>{weight}, d.sums);
  line(what, "balance_backward", d.of_logits(12), rate, [&] {
    kernels::balance_backward(d.rule, whole, d.T, d.logits.as<float>(), d.chosen.as<int32_t>(), d.counts.as<int64_t>(),
                              d.sums.as<double>(), 0, d.dlogits.as<float>());
  });
}

void measure_plan(const Case& what, double rate, const Decision& d) {
  line(what, "stable_sort", d.of_rows(12), rate, [&] {
    kernels::stable_sort(d.R, d.chosen.as<int32_t>(), d.E, d.position.as<int64_t>(), d.offsets.as<int64_t>(),
                         d.scratch.as<int64_t>());
  });
  line(what, "exclusive_sum", d.of_rows(12), rate,
       [&] { kernels::exclusive_sum(d.R - 1, d.chosen.as<int32_t>(), d.position.as<int64_t>()); });
  const kernels::Capacity fair{d.E, (d.R + d.E - 1) / d.E, kernels::Drop::by_gate};
  line(what, "limit_rows by gate", d.of_rows(20), rate, [&] {
    kernels::limit_rows(fair, d.R, d.chosen.as<int32_t>(), d.gates.as<float>(), d.kept.as<int32_t>(),
                        d.scratch.as<int64_t>());
  });
}

}  // namespace

double copy_rate(int64_t bytes) {
  const Array from(bytes), to(bytes);
  const kernels::DeviceScope here;
  const kernels::StreamScope stream(nullptr);
  const Spread spread = repeat(kLimit, kMost, [&] { copy(to.as<void>(), from.as<void>(), bytes); });
  return 2 * static_cast<double>(bytes) / spread.median();
}

void measure_kernels(const Case& what, double rate) {
  measure_movement(what, rate);
  measure_activation(what, rate);
  const Decision decision(what);
  measure_router(what, rate, decision);
  measure_plan(what, rate, decision);
}

}  // namespace bench
