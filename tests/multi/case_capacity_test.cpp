// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P10, P11, P13 B, P33: experts of limited capacity.
#include "case_support.hpp"

namespace moemesh::test {
namespace {

// One training forward; the statistics and the routing are what the tests look at.
struct Result {
  Floats y, dx, dlogits;
  Routing routing;
  moemesh_layer_statistics statistics{};
};

Result run(const Mesh& mesh, const ScaleOptions& options, const Floats& logits, const std::vector<uint8_t>& mask = {}) {
  ScaleModel scale(mesh, options);
  const auto T = static_cast<int64_t>(logits.size()) / options.experts;
  const Floats x(static_cast<size_t>(T * options.hidden), 1.0F);
  Result result;
  Tape tape;
  scale.begin_tokens(T);
  result.y = scale.forward(x, logits, &tape, {.mask = &mask});
  result.routing = scale.model().routing(0, tape, T);
  result.statistics = scale.statistics();
  result.dx = scale.backward_ones(&tape, T, &result.dlogits);
  EXPECT_EQ(scale.model().update().skipped, 0);
  return result;
}

// Token t prefers the experts t, t+1, ... mod E.
Floats round_robin(int64_t tokens, int64_t experts) {
  Floats logits;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t e = 0; e < experts; ++e)
      logits.push_back(static_cast<float>(experts - (e - t % experts + experts) % experts));
  return logits;
}

TEST(Case, P10_capacity_rounding) {
  const struct {
    int64_t tokens, k, experts;
    double factor;
    int64_t slots;
  } cases[] = {{10, 1, 4, 1.0, 3},  {7, 2, 4, 1.0, 4}, {9, 2, 4, 1.25, 6},
               {50, 2, 2, 1.1, 55}, {6, 2, 4, 2.5, 8}, {3, 1, 8, 1.0, 1}};
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(2, 1, 1)}, [&](const Place& place) {
    for (const auto& c : cases) {
      const ScaleOptions options{.hidden = 2, .experts = c.experts, .top_k = c.k, .capacity_factor = c.factor};
      const auto statistics = run(place.mesh, options, round_robin(c.tokens, c.experts)).statistics;
      EXPECT_EQ(statistics.slots, c.slots) << c.tokens << " tokens, factor " << c.factor;
      EXPECT_EQ(statistics.dropped_rows, 0) << "a balanced batch fits";
      EXPECT_EQ(statistics.rows, c.tokens * c.k);
      // All tokens alike: each of the k experts keeps as many as it has slots.
      Floats alike;
      for (int64_t t = 0; t < c.tokens; ++t)
        for (int64_t e = 0; e < c.experts; ++e) alike.push_back(static_cast<float>(-e));
      const auto crowded = run(place.mesh, options, alike).statistics;
      EXPECT_EQ(crowded.rows, c.k * std::min(c.tokens, c.slots));
      EXPECT_EQ(crowded.dropped_rows, c.tokens * c.k - crowded.rows);
      EXPECT_EQ(crowded.tokens, c.tokens);
    }
  });
}

TEST(Case, P11_drop_gradient) {
  on_each_mesh(
      {case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(2, 1, 1), case_mesh(2, 2, 1)}, [](const Place& place) {
        const auto result =
            run(place.mesh,
                {.hidden = 2, .experts = 2, .gate = oracle::Gate::raw, .scales = {0.5, 1}, .capacity_factor = 0.5},
                {2, 0, 1, 0, 0, 1});
        const double half = 0.880797 / 2, one = 1.462117 / 2;  // H = 2: L is twice as much
        expect_close(result.y, {half, half, 0, 0, one, one});
        expect_close(result.dx, {half, half, 0, 0, one, one});
        expect_close(result.dlogits, {0.104994, -0.104994, 0, 0, -0.393224, 0.393224});
        EXPECT_EQ(result.routing.experts, (std::vector<int32_t>{0, -1, 1}));
        EXPECT_EQ(result.routing.gates[1], 0.0F);
        EXPECT_EQ(result.statistics.slots, 1);
        EXPECT_EQ(result.statistics.dropped_rows, 1);
        EXPECT_EQ(result.statistics.rows, 2);
      });
}

// What is chosen is counted before the drop; the rows that experts computed, after it.
TEST(Case, P11_rows_before_the_drop) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1)}, [](const Place& place) {
    ScaleModel scale(place.mesh, {.experts = 2, .capacity_factor = 0.5});
    Tape tape;
    scale.begin_tokens(4);
    scale.forward(Floats(4, 1.0F), route({0, 0, 0, 1}, 2), &tape);
    const auto [chosen, computed] = scale.rows();
    EXPECT_EQ(chosen, (std::vector<int64_t>{3, 1}));
    const auto shards = place.mesh.data_shards();
    const auto [first, count] = place.mesh.experts(2);
    for (int64_t e = first; e < first + count; ++e) EXPECT_EQ(computed[static_cast<size_t>(e)], shards);
    scale.model().end(false);
    // The same without training drops the same rows and counts nothing.
    const Floats y = scale.forward(Floats(4, 2.0F), route({1, 1, 1, 1}, 2), nullptr, {.training = 0});
    EXPECT_EQ(y, (Floats{4, 0, 0, 0}));
    EXPECT_EQ(scale.rows().first, (std::vector<int64_t>{3, 1}));
  });
}

// The second of two renormalised gates is dropped: the first stays as it is, and both scores get its gradient.
TEST(Case, P11_kept_gates_are_not_renormalised) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1)}, [](const Place& place) {
    // Experts 0 and 1, then 2 and 1: one slot each.
    const Floats logits = logs({4, 2, 1, 1, 2, 4});
    const auto result = run(place.mesh, {.experts = 3, .top_k = 2, .capacity_factor = 0.75}, logits);
    EXPECT_EQ(result.statistics.slots, 1);
    EXPECT_EQ(result.routing.experts, (std::vector<int32_t>{0, 1, 2, -1}));
    expect_close(result.routing.gates, {2.0 / 3, 1.0 / 3, 2.0 / 3, 0});
    expect_close(result.y, {2.0 / 3 + 2.0 / 3, 2.0});
    // y1 = 3*g, g = 2/3: dy/dl = 3*g*(1-g) for the kept, the reverse for the dropped.
    expect_close(result.dlogits, {-2.0 / 9, 2.0 / 9, 0, 0, -2.0 / 3, 2.0 / 3});
  });
}

// The largest gates are kept whatever their place; of equal ones the earlier.
TEST(Case, P11_drop_by_gate) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(2, 1, 1)}, [](const Place& place) {
    const ScaleOptions options{
        .hidden = 2, .experts = 2, .gate = oracle::Gate::raw, .capacity_factor = 1, .drop = oracle::Drop::gate};
    const auto result = run(place.mesh, options, {1, 0, 3, 0, 2, 0, 2, 0});
    EXPECT_EQ(result.routing.experts, (std::vector<int32_t>{-1, 0, 0, -1}));
    expect_close(result.y, {0, 0, 0.952574, 0.952574, 0.880797, 0.880797, 0, 0});
    EXPECT_EQ(result.statistics.dropped_rows, 2);
  });
}

TEST(Case, P13_padding_takes_no_slot) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1)}, [](const Place& place) {
    const auto result = run(place.mesh, {.experts = 2, .capacity_factor = 2}, route({0, 0, 0, 0}, 2), {0, 0, 1, 1});
    EXPECT_EQ(result.y, (Floats{0, 0, 1, 1}));
    EXPECT_EQ(result.statistics.slots, 2);
    EXPECT_EQ(result.statistics.tokens, 2);
    EXPECT_EQ(result.statistics.rows, 2);
    EXPECT_EQ(result.statistics.dropped_rows, 0);
    // One slot: the first real token's, though two paddings come before it.
    const auto one = run(place.mesh, {.experts = 2, .capacity_factor = 1}, route({0, 0, 0, 0}, 2), {0, 0, 1, 1});
    EXPECT_EQ(one.y, (Floats{0, 0, 1, 0}));
    EXPECT_EQ(one.statistics.slots, 1);
  });
}

// Slots of 2 here and 1 there: each rank knows its own, and what it sends comes with the counts.
TEST(Case, P33_differing_capacities) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 1));
  const std::vector<int64_t> experts =
      mesh.rank() == 0 ? std::vector<int64_t>{0, 0, 1, 1, 2, 2, 3, 3} : std::vector<int64_t>{0, 1, 2, 3};
  Floats x;
  for (size_t t = 0; t < experts.size(); ++t)
    x.push_back(static_cast<float>(10 * mesh.rank()) + static_cast<float>(t + 1));
  Floats y[2];
  for (const bool limited : {false, true}) {
    ScaleModel scale(mesh, {.experts = 4, .optimizer = sgd(0), .capacity_factor = limited ? 1.0 : 0.0});
    Tape tape;
    scale.begin_tokens(static_cast<int64_t>(x.size()));
    y[limited ? 1 : 0] = scale.forward(x, route(experts, 4), &tape);
    const auto statistics = scale.statistics();
    EXPECT_EQ(statistics.slots, !limited ? 0 : mesh.rank() == 0 ? 2 : 1);
    EXPECT_EQ(statistics.dropped_rows, 0);
    EXPECT_EQ(scale.rows().second,
              mesh.rank() == 0 ? (std::vector<int64_t>{3, 3, 0, 0}) : (std::vector<int64_t>{0, 0, 3, 3}));
    scale.backward_ones(&tape, static_cast<int64_t>(x.size()));
    scale.model().update();
  }
  EXPECT_TRUE(same_bits(y[0], y[1]));
}

}  // namespace
}  // namespace moemesh::test
