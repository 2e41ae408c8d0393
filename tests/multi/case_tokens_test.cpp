// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P03, P04, P08, P18, P33's dropless twin, P37 over ep: tokens that are missing, few, uneven, or oddly laid out.
#include <cmath>
#include <type_traits>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

// One rank has three tokens for expert 1, the other none.
void zero_token_rank(const Mesh& mesh, int64_t full) {
  ScaleModel scale(mesh, {.hidden = 2, .experts = 2, .optimizer = sgd(0)});
  const bool mine = mesh.rank() == full;
  const Floats x = mine ? Floats{1, 2, 3, 4, 5, 6} : Floats{};
  const int64_t T = mine ? 3 : 0;
  Tape tape;
  scale.begin_tokens(mine ? 1 : 0);  // one loss token in all: gradients come out undivided
  EXPECT_EQ(scale.forward(x, mine ? route({1, 1, 1}, 2) : Floats{}, &tape),
            mine ? (Floats{2, 4, 6, 8, 10, 12}) : Floats{});
  EXPECT_EQ(scale.backward_ones(&tape, T), Floats(static_cast<size_t>(2 * T), 2.0F));
  EXPECT_TRUE(std::isfinite(scale.model().update().norm));
  EXPECT_EQ(scale.read("w2", MOEMESH_GRADIENT, 1), (Floats{9, 12, 9, 12}));
  for (const char* matrix : {"w1", "w2"})
    EXPECT_TRUE(same_bits(scale.read(matrix, MOEMESH_GRADIENT, 0), Floats(4, 0.0F)));
}

TEST(Case, P03_zero_token_rank) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 1));
  zero_token_rank(mesh, 0);
  zero_token_rank(mesh, 1);
}

// T does not divide: five tokens over two slices, and over three; with them one rank alone.
TEST(Case, P05_indivisible_tokens) {
  on_each_mesh({case_mesh(1, 1, 1), with_expert_tp(case_mesh(2, 1, 1), 1), with_expert_tp(case_mesh(3, 1, 1), 1),
                with_expert_tp(case_mesh(8, 1, 1), 1)},
               [](const Place& place) {
                 ScaleModel scale(place.mesh, {.hidden = 24, .experts = 2, .optimizer = sgd(0)});
                 Floats x, y;
                 for (const float v : {1.0F, 2.0F, 3.0F, 4.0F, 5.0F}) x.insert(x.end(), 24, v);
                 for (const float v : {1.0F, 4.0F, 3.0F, 8.0F, 5.0F}) y.insert(y.end(), 24, v);
                 Tape tape;
                 scale.begin_tokens(1);
                 EXPECT_EQ(scale.forward(x, route({0, 1, 0, 1, 0}, 2), &tape), y);
                 int64_t received = 0;
                 for (const int64_t rows : scale.rows().second) received += rows;
                 const auto all = view_of(&received, {1});
                 OK(moemesh_all_reduce(place.mesh.get(), MOEMESH_AXIS_TP, MOEMESH_SUM, &all));
                 EXPECT_EQ(received, 5) << "each row is computed once";
                 scale.backward_ones(&tape, 5);
                 scale.model().update();
                 EXPECT_EQ(scale.read("w2", MOEMESH_GRADIENT, 0), Floats(24 * 24, 9.0F));
                 EXPECT_EQ(scale.read("w2", MOEMESH_GRADIENT, 1), Floats(24 * 24, 6.0F));
               });
}

// Step A leaves 1e30 in every buffer that step B uses again. All tokens come from the first rank.
TEST(Case, P04_empty_expert) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 4, 1), case_mesh(2, 1, 1),
                with_expert_tp(case_mesh(2, 1, 1), 1), with_expert_tp(case_mesh(2, 3, 1), 1)},
               [](const Place& place) {
                 const Mesh& mesh = place.mesh;
                 ScaleModel scale(mesh, {.hidden = 2, .experts = 4, .optimizer = sgd(0)});
                 const bool mine = mesh.here().ep == 0;
                 const auto step = [&](const Floats& x, const std::vector<int64_t>& experts) {
                   const auto T = static_cast<int64_t>(mine ? experts.size() : 0);
                   Tape tape;
                   scale.begin_tokens(mine ? 1 : 0);
                   scale.forward(mine ? x : Floats{}, mine ? route(experts, 4) : Floats{}, &tape);
                   scale.backward_ones(&tape, T);
                   return scale.model().update();
                 };
                 step(Floats(16, 1e30F), {0, 0, 1, 1, 2, 2, 3, 3});
                 const auto result = step({1, 1, 2, 2, 3, 3, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}, {0, 0, 0, 2, 2, 2, 2, 2});
                 EXPECT_EQ(scale.read("w2", MOEMESH_GRADIENT, 0), (Floats{6, 6, 6, 6}));
                 EXPECT_EQ(scale.read("w2", MOEMESH_GRADIENT, 2), (Floats{5, 0, 5, 0}));
                 EXPECT_EQ(scale.read("w1", MOEMESH_GRADIENT, 0), (Floats{6, 6, 6, 6}));
                 EXPECT_EQ(scale.read("w1", MOEMESH_GRADIENT, 2), (Floats{15, 0, 15, 0}));
                 for (const int64_t e : {1, 3})
                   for (const char* matrix : {"w1", "w2"})
                     EXPECT_TRUE(same_bits(scale.read(matrix, MOEMESH_GRADIENT, e), Floats(4, 0.0F)))
                         << matrix << " of " << e;
                 EXPECT_NEAR(result.norm, std::sqrt(8 * 36.0 + 2 * 25 + 2 * 225), 1e-9);
               });
}

TEST(Case, P08_hot_expert) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 1));
  ScaleModel scale(mesh, {.experts = 4, .gate = oracle::Gate::raw, .optimizer = sgd(0), .aux_coefficient = 1});
  Floats logits;
  for (int t = 0; t < 6; ++t) logits.insert(logits.end(), {0, 0, 0, 3});
  Tape tape;
  scale.begin_tokens(6);
  expect_close(scale.forward(Floats(6, 1.0F), logits, &tape), std::vector<double>(6, 3.480194));
  const auto statistics = scale.statistics();
  EXPECT_EQ(statistics.tokens, 6);
  EXPECT_EQ(statistics.rows, 6);
  EXPECT_EQ(statistics.copies_sent, mesh.rank() == 0 ? 6 : 0);  // rank 1's own six do not travel
  EXPECT_EQ(statistics.rows_received, mesh.rank() == 0 ? 0 : 12);
  EXPECT_EQ(statistics.dropped_rows, 0);
  EXPECT_NEAR(statistics.aux_loss, 3.480194, 2e-6);
  const auto [chosen, computed] = scale.rows();
  EXPECT_EQ(chosen, (std::vector<int64_t>{0, 0, 0, 6}));
  EXPECT_EQ(computed, (std::vector<int64_t>{0, 0, 0, mesh.rank() == 0 ? 0 : 12}));
  scale.backward_ones(&tape, 6);
  scale.model().update();
  // Balanced afterwards.
  scale.begin_tokens(4);
  expect_close(scale.forward(Floats(4, 1.0F), route({0, 1, 2, 3}, 4), &tape),
               {0.9479149 * 1, 0.9479149 * 2, 0.9479149 * 3, 0.9479149 * 4}, 2e-6);
  scale.backward_ones(&tape, 4);
  scale.model().update();
  EXPECT_EQ(scale.rows().second,
            mesh.rank() == 0 ? (std::vector<int64_t>{2, 2, 0, 0}) : (std::vector<int64_t>{0, 0, 2, 2}));
}

// Rank 0 sends [1, 2] rows, rank 1 [3, 1]; each token's gradient comes back to its own place. The ledger shows the splits:
// forward by the counts, backward by their transpose.
TEST(Case, P18_a2a_backward) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 1));
  ScaleModel scale(mesh, {.experts = 2, .scales = {1, 1}, .optimizer = sgd(0)});
  const bool first = mesh.rank() == 0;
  const int64_t T = first ? 3 : 4;
  Floats x;
  for (int64_t i = 0; i < T; ++i) x.push_back(static_cast<float>(100 * mesh.rank() + i));
  mesh.reset_ledger();
  Tape tape;
  scale.begin_tokens(T);
  EXPECT_EQ(scale.forward(x, route(first ? std::vector<int64_t>{1, 0, 1} : std::vector<int64_t>{0, 1, 0, 0}, 2), &tape),
            x);
  const auto statistics = scale.statistics();
  EXPECT_EQ(statistics.copies_sent, first ? 2 : 3);
  EXPECT_EQ(statistics.rows_received, first ? 4 : 3);
  Floats dlogits;
  EXPECT_EQ(scale.model().backward(0, &tape, x, &dlogits), x);
  // H*4 bytes a row, 8 more with its expert and gate (or gate gradient): own rows never travel.
  const int64_t out = first ? 2 : 3, in = first ? 3 : 2;
  const auto bytes = [&](int32_t phase) {
    return total(mesh.ledger(), {.phase = phase, .collective = MOEMESH_COLLECTIVE_ALL_TO_ALL}).bytes;
  };
  EXPECT_EQ(bytes(MOEMESH_PHASE_FORWARD), out * 12 + in * 4);
  EXPECT_EQ(bytes(MOEMESH_PHASE_BACKWARD), out * 4 + in * 12);
  scale.model().update();
  double expected = 0;  // dW2 of this rank's expert: sum of x*x over its rows of both ranks, over the 7 tokens
  for (const double value : first ? std::vector<double>{1, 100, 102, 103} : std::vector<double>{0, 2, 101})
    expected += value * value;
  expect_close(scale.read("w2", MOEMESH_GRADIENT, 0), {first ? expected / 7 : (1.0 + 10000 + 10404 + 10609) / 7});
  expect_close(scale.read("w2", MOEMESH_GRADIENT, 1), {first ? (0.0 + 4 + 10201) / 7 : expected / 7});
}

// Token counts of P33 without a capacity: 8 tokens here, 4 there, nothing dropped.
TEST(Case, P33_uneven_tokens_dropless) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 1));
  ScaleModel scale(mesh, {.experts = 4, .optimizer = sgd(0)});
  const std::vector<int64_t> experts =
      mesh.rank() == 0 ? std::vector<int64_t>{0, 0, 1, 1, 2, 2, 3, 3} : std::vector<int64_t>{0, 1, 2, 3};
  Floats x, y;
  for (size_t t = 0; t < experts.size(); ++t) {
    x.push_back(static_cast<float>(10 * mesh.rank()) + static_cast<float>(t + 1));
    y.push_back(x.back() * static_cast<float>(experts[t] + 1));
  }
  Tape tape;
  scale.begin_tokens(static_cast<int64_t>(x.size()));
  EXPECT_EQ(scale.forward(x, route(experts, 4), &tape), y);
  scale.backward_ones(&tape, static_cast<int64_t>(x.size()));
  scale.model().update();
  EXPECT_EQ(scale.rows().second,
            mesh.rank() == 0 ? (std::vector<int64_t>{3, 3, 0, 0}) : (std::vector<int64_t>{0, 0, 3, 3}));
}

template <class T>
std::vector<T> stored(const Floats& values) {
  if constexpr (std::is_same_v<T, float>)
    return values;
  else
    return to_halves(values);
}

// x, y, dy and dx begin one element past an aligned address, each with a row stride of its own; all numbers are exact in bf16.
template <class T>
void strided_buffers(const Mesh& mesh) {
  ScaleModel scale(mesh, {.hidden = 4, .experts = 2, .dtype = dtype_of<T>(), .optimizer = sgd(0)});
  Floats x(32, -768.0F), dy = x, y_expected = x, dx_expected = x, dlogits(6, NAN), logits = route({1, 0, 1}, 2);
  for (size_t t = 0; t < 3; ++t)
    for (size_t h = 0; h < 4; ++h) {
      const float s = t == 1 ? 1.0F : 2.0F;
      x[1 + 7 * t + h] = static_cast<float>(10 * t + h);
      dy[1 + 5 * t + h] = 1.0F;
      y_expected[1 + 6 * t + h] = s * static_cast<float>(10 * t + h);
      dx_expected[1 + 9 * t + h] = s;
    }
  auto x_data = stored<T>(x), dy_data = stored<T>(dy), y_data = stored<T>(Floats(32, -768.0F)), dx_data = y_data;
  const auto strided = [](std::vector<T>& data, int64_t stride) {
    auto view = view_of(data.data() + 1, {3, 4});
    view.strides[0] = stride;
    return view;
  };
  const auto x_view = strided(x_data, 7), y_view = strided(y_data, 6), dy_view = strided(dy_data, 5),
             dx_view = strided(dx_data, 9);
  const auto logits_view = view_of(logits, {3, 2}), dlogits_view = view_of(dlogits, {3, 2});
  auto forward = with_defaults(moemesh_forward_params_init);
  forward.x = &x_view;
  forward.y = &y_view;
  forward.logits = &logits_view;
  auto backward = with_defaults(moemesh_backward_params_init);
  backward.dy = &dy_view;
  backward.dx = &dx_view;
  backward.dlogits = &dlogits_view;
  Tape tape;
  scale.begin_tokens(3);
  OK(moemesh_layer_forward(scale.model().layer(0), &forward, tape.out()));
  OK(moemesh_layer_backward(tape.out(), &backward));
  scale.model().update();
  EXPECT_EQ(y_data, stored<T>(y_expected));
  EXPECT_EQ(dx_data, stored<T>(dx_expected));
  EXPECT_EQ(x_data, stored<T>(x));
  EXPECT_EQ(dy_data, stored<T>(dy));
}

// The case's arrays on both ranks of ep = 2 and of tp = 2 (whole and sliced), so that strided rows go over the network.
TEST(Case, P37_buffers) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(2, 1, 1), case_mesh(2, 2, 1),
                with_expert_tp(case_mesh(2, 1, 1), 1)},
               [](const Place& place) {
                 strided_buffers<float>(place.mesh);
                 strided_buffers<uint16_t>(place.mesh);
               });
}

}  // namespace
}  // namespace moemesh::test
