// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The kernels of a layer's forward and backward on one rank, on arrays as the layer hands them in, in its order.
#include <random>

#include "kernel_bench.hpp"
#include "kernels/activation.hpp"
#include "kernels/flat.hpp"
#include "kernels/gemm.hpp"
#include "kernels/permute.hpp"
#include "kernels/router.hpp"
#include "kernels/rows.hpp"

namespace bench {
namespace {

using namespace moemesh::kernels;
using Floats = std::vector<float>;

struct Arrays {
  Floats x, y, logits, gates, dgates, dlogits, x_rows, h, hg, active, dhg, row_gate, row_dgate;
  std::vector<std::byte> x_element, copies, weights;
  std::vector<int32_t> chosen, owner, key, copy_token, copy_rows, row_copy, slot, last;
  std::vector<int64_t> position, offsets, copy_of_choice, copy_offsets, first_tag, tag_first, copy_of_tag, workspace,
      counts;
  std::vector<RowTag> tags;
  std::vector<std::byte*> from;
};

size_t count(int64_t n) { return static_cast<size_t>(n); }

Arrays make(const Sizes& s) {
  Arrays a;
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  const int64_t T = s.tokens, R = s.rows();
  a.x.resize(count(T * s.hidden));
  a.logits.resize(count(T * s.experts));
  a.h.resize(count(R * s.ffn));
  for (auto* array : {&a.x, &a.logits, &a.h})
    for (float& value : *array) value = normal(generator);
  a.hg = a.active = a.dhg = a.h;
  a.y = a.x;
  a.dlogits = a.logits;
  a.gates = a.dgates = a.row_gate = a.row_dgate = Floats(count(R), 0.5F);
  a.x_rows.resize(count(R * s.hidden));
  a.x_element.resize(count(T * s.hidden * bytes_of(s.element)));
  a.copies.resize(a.x_element.size());
  a.weights.resize(count(s.hidden * s.ffn * bytes_of(s.element)));
  for (auto* array : {&a.chosen, &a.key, &a.copy_token, &a.copy_rows, &a.row_copy, &a.slot, &a.last})
    array->resize(count(R));
  a.owner.assign(count(s.experts), 0);
  for (auto* array : {&a.position, &a.copy_of_choice, &a.first_tag, &a.tag_first, &a.copy_of_tag, &a.workspace})
    array->resize(count(R + s.experts + 1));
  a.offsets.resize(count(s.experts + 1));
  a.copy_offsets.resize(2);
  a.counts.resize(count(s.experts));
  a.tags.resize(count(R));
  a.from.resize(count(T));
  return a;
}

double floats(int64_t n) { return 4.0 * static_cast<double>(n); }

void routing(const Sizes& s, Arrays& a, Table& table) {
  const int64_t T = s.tokens, R = s.rows(), E = s.experts;
  const int32_t k = s.top_k;
  RouterConfig config;
  config.experts = E;
  config.top_k = k;
  table.line("route", floats(T * E + 2 * R),
             [&] { route(config, T, a.logits.data(), E, nullptr, 1, a.chosen.data(), a.gates.data()); });
  table.line("count_experts", floats(R + 2 * E), [&] { count_experts(R, a.chosen.data(), E, a.counts.data()); });
  table.line("copy_destinations", floats(2 * R),
             [&] { copy_destinations(T, k, a.chosen.data(), a.owner.data(), a.key.data()); });
  table.line("stable_sort by destination", floats(3 * R), [&] {
    stable_sort(R, a.key.data(), 1, a.copy_of_choice.data(), a.copy_offsets.data(), a.workspace.data());
  });
  table.line("describe_copies", floats(3 * R + 2 * T), [&] {
    describe_copies(T, k, a.chosen.data(), a.owner.data(), a.copy_of_choice.data(), a.copy_token.data(),
                    a.copy_rows.data());
  });
  table.line("exclusive_sum of copies", floats(3 * T),
             [&] { exclusive_sum(T, a.copy_rows.data(), a.first_tag.data()); });
  table.line("write_tags", floats(7 * R + 2 * T), [&] {
    write_tags(T, k, a.chosen.data(), a.gates.data(), a.owner.data(), a.copy_of_choice.data(), a.first_tag.data(),
               a.tags.data(), a.slot.data());
  });
  table.line("read_tags", floats(4 * R), [&] { read_tags(R, a.tags.data(), 0, E, a.key.data(), a.last.data()); });
  table.line("exclusive_sum of tags", floats(3 * R), [&] { exclusive_sum(R, a.last.data(), a.copy_of_tag.data()); });
  table.line("stable_sort by expert", floats(3 * R),
             [&] { stable_sort(R, a.key.data(), E, a.position.data(), a.offsets.data(), a.workspace.data()); });
  table.line("index_rows", floats(8 * R + 2 * T), [&] {
    index_rows(R, a.tags.data(), a.copy_of_tag.data(), a.position.data(), T, a.row_copy.data(), a.row_gate.data(),
               a.tag_first.data());
  });
  table.line("token_pointers", floats(3 * T), [&] {
    token_pointers(T, a.copy_token.data(), a.x_element.data(), s.hidden * bytes_of(s.element), a.from.data());
  });
}

void movement(const Sizes& s, Arrays& a, Table& table) {
  const int64_t T = s.tokens, R = s.rows(), H = s.hidden;
  const auto element = static_cast<double>(bytes_of(s.element));
  const double token_bytes = element * static_cast<double>(T * H);
  table.line("gather_rows", token_bytes + floats(R * H),
             [&] { gather_rows(R, H, s.element, a.from.data(), a.row_copy.data(), a.x_rows.data()); });
  std::vector<std::byte*> to(count(T));
  for (int64_t t = 0; t < T; ++t) to[count(t)] = a.copies.data() + t * H * bytes_of(s.element);
  table.line("combine_rows", floats(R * H) + token_bytes,
             [&] { combine_rows(T, H, a.tag_first.data(), a.position.data(), a.x_rows.data(), s.element, to.data()); });
  table.line("sum_copies", token_bytes + floats(T * H),
             [&] { sum_copies(T, H, s.top_k, a.copy_of_choice.data(), s.element, to.data(), false, a.y.data(), H); });
  if (s.element == Element::float32) return;
  table.line("load_rows", token_bytes + floats(T * H),
             [&] { load_rows(T, H, s.element, a.x_element.data(), H, nullptr, a.y.data(), H); });
  table.line("store_rows", token_bytes + floats(T * H),
             [&] { store_rows(T, H, a.y.data(), H, s.element, a.x_element.data(), H); });
  Floats scratch(count(H * s.ffn));
  table.line("widened (one matrix)", (element + 4) * static_cast<double>(H * s.ffn), [&] {
    widened({a.weights.data(), s.element, scratch.data()}, 0, H * s.ffn);
  });
}

void activations(const Sizes& s, Arrays& a, Table& table) {
  const int64_t R = s.rows(), F = s.ffn;
  table.line("activate swiglu", floats(3 * R * F),
             [&] { activate(Activation::swiglu, R, F, a.h.data(), a.hg.data(), a.row_gate.data(), a.active.data()); });
  Floats da(a.h.size(), 0.5F);  // also the output; a fixed point of nothing, but it stays small
  table.line("activate_backward swiglu", floats(6 * R * F), [&] {
    activate_backward(Activation::swiglu, R, F, a.h.data(), a.hg.data(), a.row_gate.data(), da.data(), a.dhg.data(),
                      a.active.data(), a.row_dgate.data());
  });
}

void way_back(const Sizes& s, Arrays& a, Table& table) {
  const int64_t T = s.tokens, R = s.rows(), E = s.experts;
  RouterConfig config;
  config.experts = E;
  config.top_k = s.top_k;
  table.line("write_gate_gradients", floats(4 * R),
             [&] { write_gate_gradients(R, a.position.data(), a.row_dgate.data(), a.tags.data()); });
  table.line("read_gate_gradients", floats(4 * R),
             [&] { read_gate_gradients(R, a.slot.data(), a.tags.data(), a.dgates.data()); });
  table.line("route_backward", floats(2 * T * E + 2 * R), [&] {
    route_backward(config, T, a.logits.data(), E, a.chosen.data(), a.dgates.data(), a.dlogits.data());
  });
}

}  // namespace

void measure_rows(const Sizes& sizes, Table& table) {
  Arrays a = make(sizes);
  table.header("one layer, forward and backward, but for the products");
  routing(sizes, a, table);
  movement(sizes, a, table);
  activations(sizes, a, table);
  way_back(sizes, a, table);
}

}  // namespace bench
