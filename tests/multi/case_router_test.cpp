// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P06, P07, P09: ties, rows that are not finite, and which gate is meant.
#include <cmath>
#include <limits>
#include <set>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// 50 runs: always experts 0 and 1 in that order, one set of bits on all ranks. (2 threads: the same case in capi_tests.)
void ties(const Mesh& mesh, MPI_Comm comm, oracle::Gate gate, float expected) {
  ScaleModel scale(mesh, {.hidden = 2, .experts = 4, .top_k = 2, .gate = gate, .optimizer = sgd(0)});
  const Floats x{1, 1, 2, 2, 3, 3}, logits(12, 0.0F);
  Floats first;
  for (int run = 0; run < 50; ++run) {
    Tape tape;
    scale.begin_tokens(3);
    const Floats y = scale.forward(x, logits, &tape);
    const Routing routing = scale.model().routing(0, tape, 3);
    ASSERT_EQ(routing.experts, (std::vector<int32_t>{0, 1, 0, 1, 0, 1})) << "run " << run;
    ASSERT_EQ(routing.gates, Floats(6, expected)) << "run " << run;
    if (run == 0) first = y;
    ASSERT_TRUE(same_bits(y, first)) << "run " << run;
    scale.model().end(false);
  }
  EXPECT_TRUE(equal_everywhere(comm, first));
  expect_close(first, {3 * expected, 3 * expected, 6 * expected, 6 * expected, 9 * expected, 9 * expected});
}

TEST(Case, P06_topk_ties) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(2, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 4, 1)},
               [](const Place& place) {
                 ties(place.mesh, place.comm, oracle::Gate::raw, 0.25F);
                 ties(place.mesh, place.comm, oracle::Gate::renorm, 0.5F);
               });
}

Floats p07_logits(bool with_bad_row, float bad) {
  Floats logits{1, 0, 0, 0, 0, 1, 0, 0};
  if (with_bad_row) logits.insert(logits.end(), {bad, 0, 0, 0});
  logits.insert(logits.end(), {0, 0, 0, 1});
  return logits;
}

// (a) all ranks agree on the error, whatever makes the row bad; the next step works.
TEST(Case, P07_nan_is_an_error_everywhere) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 1));
  ScaleModel scale(mesh, {.experts = 4, .top_k = 2, .gate = oracle::Gate::raw, .optimizer = sgd(0)});
  const bool mine = mesh.rank() == 0;
  const Floats few{0, -infinity, -infinity, -infinity};
  for (int kind = 0; kind < 3; ++kind) {
    Floats logits = p07_logits(mine, kind == 0 ? NAN : infinity);
    if (mine && kind == 2) std::copy(few.begin(), few.end(), logits.begin() + 8);
    const auto T = static_cast<int64_t>(logits.size()) / 4;
    const Floats x(static_cast<size_t>(T), 1.0F);
    Floats y(static_cast<size_t>(T), -1.0F);
    const auto x_view = view_of(x, {T, 1}), y_view = view_of(y, {T, 1}), logits_view = view_of(logits, {T, 4});
    auto params = with_defaults(moemesh_forward_params_init);
    params.x = &x_view;
    params.y = &y_view;
    params.logits = &logits_view;
    Tape tape;
    scale.begin_tokens(T);
    EXPECT_STATUS(MOEMESH_ERROR_NONFINITE_ROUTER, moemesh_layer_forward(scale.model().layer(0), &params, tape.out()));
    if (mine) {
      EXPECT_NE(last_error(session.get()).find("token 2"), std::string::npos) << last_error(session.get());
    }
    EXPECT_EQ(tape.get(), nullptr);
    EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, moemesh_optimizer_step(scale.model().optimizer(), nullptr, nullptr));
    scale.expect_good_step();
  }
}

// (b) the token goes nowhere and is counted; all others are right.
TEST(Case, P07_nan_is_dropped_on_request) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 1));
  ScaleModel scale(
      mesh,
      {.experts = 4, .top_k = 2, .gate = oracle::Gate::raw, .nonfinite = MOEMESH_NONFINITE_DROP, .optimizer = sgd(0)});
  const bool mine = mesh.rank() == 0;
  const Floats logits = p07_logits(mine, NAN);
  const int64_t T = mine ? 4 : 3;
  Tape tape;
  scale.begin_tokens(T);
  const Floats y = scale.forward(Floats(static_cast<size_t>(T), 1.0F), logits, &tape);
  expect_close(y, mine ? std::vector<double>{0.825122, 1.125611, 0, 2.076345}
                       : std::vector<double>{0.825122, 1.125611, 2.076345});
  const Routing routing = scale.model().routing(0, tape, T);
  for (int64_t t = 0; t < T; ++t) {
    const bool bad = mine && t == 2;
    std::set<int32_t> distinct;
    for (size_t j = static_cast<size_t>(2 * t); j < static_cast<size_t>(2 * t + 2); ++j) {
      distinct.insert(routing.experts[j]);
      EXPECT_TRUE(bad ? routing.experts[j] == -1 : routing.experts[j] >= 0 && routing.experts[j] < 4);
      if (bad) {
        EXPECT_EQ(routing.gates[j], 0.0F);
      }
    }
    EXPECT_EQ(distinct.size(), bad ? 1U : 2U);
  }
  EXPECT_EQ(scale.statistics().nonfinite_tokens, mine ? 1 : 0);
  EXPECT_EQ(scale.statistics().tokens, 3);
  Floats dlogits;
  const Floats dx = scale.backward_ones(&tape, T, &dlogits);
  for (const float v : dlogits) EXPECT_TRUE(std::isfinite(v));
  if (mine) {
    EXPECT_EQ(dx[2], 0.0F);
    for (size_t e = 8; e < 12; ++e) EXPECT_EQ(dlogits[e], 0.0F);
  }
  EXPECT_EQ(scale.model().update().skipped, 0);
}

// Single -inf logits are legal: those experts are never chosen, and get no gradient.
TEST(Case, P07_minus_infinity_is_legal) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1)}, [](const Place& place) {
    const Mesh& mesh = place.mesh;
    ScaleModel scale(mesh, {.experts = 4, .top_k = 2, .gate = oracle::Gate::raw, .optimizer = sgd(0)});
    Tape tape;
    scale.begin_tokens(1);
    const Floats y = scale.forward({1}, {-infinity, 0, -infinity, 0}, &tape);
    expect_close(y, {0.5 * 2 + 0.5 * 4});
    EXPECT_EQ(scale.model().routing(0, tape, 1).experts, (std::vector<int32_t>{1, 3}));
    Floats dlogits;
    scale.backward_ones(&tape, 1, &dlogits);
    expect_close(dlogits, {0, -0.5, 0, 0.5});
    scale.model().end(false);
  });
}

struct Renorm {
  Floats y, dlogits;
};

Renorm p09(const Mesh& mesh, oracle::Gate gate) {
  ScaleModel scale(mesh, {.experts = 4, .top_k = 2, .gate = gate, .optimizer = sgd(0)});
  Tape tape;
  Renorm result;
  scale.begin_tokens(1);
  result.y = scale.forward({1}, logs({4, 2, 1, 1}), &tape);
  const Routing routing = scale.model().routing(0, tape, 1);
  EXPECT_EQ(routing.experts, (std::vector<int32_t>{0, 1}));
  expect_close(routing.gates,
               gate == oracle::Gate::raw ? std::vector<double>{0.5, 0.25} : std::vector<double>{2.0 / 3, 1.0 / 3});
  scale.backward_ones(&tape, 1, &result.dlogits);
  scale.model().update();
  return result;
}

// The same bits with ep = 2 and 4 (where both chosen experts are on one rank, and on two) as on one rank alone.
TEST(Case, P09_gate_renorm) {
  for (const auto gate : {oracle::Gate::raw, oracle::Gate::renorm}) {
    const Session alone(MPI_COMM_NULL);
    const Mesh one(alone, case_mesh(1, 1, 1));
    const Renorm expected = p09(one, gate);
    const bool raw = gate == oracle::Gate::raw;
    expect_close(expected.y, {raw ? 1.0 : 4.0 / 3});
    expect_close(expected.dlogits,
                 raw ? std::vector<double>{0, 0.25, -0.125, -0.125} : std::vector<double>{-2.0 / 9, 2.0 / 9, 0, 0});
    if (!raw) {
      EXPECT_TRUE(same_bits({expected.dlogits[2], expected.dlogits[3]}, {0.0F, 0.0F}))
          << "an unchosen logit gets exactly 0";
    }
    on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 4, 1)}, [&](const Place& place) {
      const Mesh& mesh = place.mesh;
      const Renorm found = p09(mesh, gate);
      EXPECT_TRUE(same_bits(found.y, expected.y));
      EXPECT_TRUE(same_bits(found.dlogits, expected.dlogits));
    });
  }
}

}  // namespace
}  // namespace moemesh::test
