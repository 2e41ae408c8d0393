// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P34: one rank gets something wrong. Every rank that must know of it gets an error, nobody hangs, and the next valid call
// works. Deadlines are short, so that a hang ends as ERROR_TIMEOUT, which no expectation here accepts.
#include <algorithm>
#include <array>
#include <cmath>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

constexpr double deadline = 20;
constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;

struct Families {
  explicit Families(const Mesh& mesh) {
    auto params = with_defaults(moemesh_family_params_init);
    params.kind = MOEMESH_SHARED;
    OK(moemesh_family_create(mesh.get(), &params, &shared));
    params.kind = MOEMESH_EXPERT;
    OK(moemesh_family_create(mesh.get(), &params, &expert));
  }
  ~Families() {
    moemesh_family_destroy(&shared);
    moemesh_family_destroy(&expert);
  }
  moemesh_family shared = nullptr, expert = nullptr;
};

moemesh_layer_params good_layer(const char* name) {
  auto params = with_defaults(moemesh_layer_params_init);
  params.name = name;
  params.hidden = params.ffn = 8;
  params.experts = 4;
  params.top_k = 2;
  return params;
}

TEST(Case, P34_mesh_and_family_create) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm(), deadline);
  const bool wrong = world_rank() == 1;
  auto mesh_params = with_defaults(moemesh_mesh_params_init);
  mesh_params.ep = 2;
  moemesh_mesh mesh = nullptr;
  EXPECT_STATUS(bad, moemesh_mesh_create(session.get(), wrong ? nullptr : &mesh_params, &mesh));
  if (!wrong) {
    EXPECT_NE(last_error(session.get()).find("rank 1"), std::string::npos) << last_error(session.get());
  }
  auto other = mesh_params;
  other.ep = 1;
  other.dp = 2;
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_mesh_create(session.get(), wrong ? &other : &mesh_params, &mesh));
  other.dp = 3;
  EXPECT_STATUS(MOEMESH_ERROR_MESH_SIZE, moemesh_mesh_create(session.get(), wrong ? &other : &mesh_params, &mesh));
  other = mesh_params;
  other.order = "dp-pp-ep-tp";
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_mesh_create(session.get(), wrong ? &other : &mesh_params, &mesh));
  EXPECT_EQ(mesh, nullptr);
  const Mesh good(session, case_mesh(1, 2, 1));
  auto family_params = with_defaults(moemesh_family_params_init);
  family_params.kind = MOEMESH_SHARED;
  moemesh_family family = nullptr;
  EXPECT_STATUS(bad, moemesh_family_create(good.get(), wrong ? nullptr : &family_params, &family));
  auto kind = family_params;
  kind.kind = MOEMESH_EXPERT;
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_family_create(good.get(), wrong ? &kind : &family_params, &family));
  auto seed = family_params;
  seed.seed = 5;
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_family_create(good.get(), wrong ? &seed : &family_params, &family));
  EXPECT_EQ(family, nullptr);
  OK(moemesh_family_create(good.get(), &family_params, &family));
  moemesh_family_destroy(&family);
}

TEST(Case, P34_layer_create) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm(), deadline);
  const Mesh mesh(session, case_mesh(1, 2, 1));
  const Families families(mesh);
  const bool wrong = mesh.rank() == 1;
  moemesh_layer layer = nullptr;
  const auto create = [&](moemesh_family shared, const moemesh_layer_params* params) {
    return moemesh_layer_create(mesh.get(), shared, families.expert, params, &layer);
  };
  const auto good = good_layer("l");
  auto too_many = good, narrower = good, renamed = good_layer("m"), nameless = good;
  too_many.top_k = 5;
  narrower.hidden = 7;
  nameless.name = nullptr;
  EXPECT_STATUS(bad, create(families.shared, wrong ? &too_many : &good));
  EXPECT_NE(last_error(session.get()).find(wrong ? "top_k" : "rank 1"), std::string::npos) << last_error(session.get());
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, create(families.shared, wrong ? &narrower : &good));
  EXPECT_NE(last_error(session.get()).find("hidden"), std::string::npos) << last_error(session.get());
  EXPECT_NE(last_error(session.get()).find("lowest 7, highest 8"), std::string::npos) << last_error(session.get());
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, create(families.shared, wrong ? &renamed : &good));
  EXPECT_STATUS(bad, create(families.shared, wrong ? &nameless : &good));
  EXPECT_STATUS(bad, create(families.shared, wrong ? nullptr : &good));
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_HANDLE, create(wrong ? nullptr : families.shared, &good));
  EXPECT_EQ(layer, nullptr);
  OK(create(families.shared, &good));  // and none of the failed ones left a parameter behind
  OK(moemesh_family_commit(families.shared));
  OK(moemesh_family_commit(families.expert));
  moemesh_layer_destroy(&layer);
}

TEST(Case, P34_commit_and_optimizer_create) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm(), deadline);
  const Mesh mesh(session, case_mesh(1, 1, 2));
  const Families families(mesh);
  const bool wrong = mesh.rank() == 1;
  auto described = with_defaults(moemesh_parameter_params_init);
  described.rank = 1;
  described.extents[0] = wrong ? 5 : 4;
  described.name = "p";
  moemesh_parameter parameter = nullptr;
  OK(moemesh_parameter_register(families.shared, &described, &parameter));
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_family_commit(families.shared));
  // One rank has a parameter more.
  const Families uneven(mesh);
  OK(moemesh_parameter_register(uneven.shared, &described, &parameter));
  described.name = "q";
  if (wrong) OK(moemesh_parameter_register(uneven.shared, &described, &parameter));
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_family_commit(uneven.shared));
  // Then the other one gets it too, and all is well.
  const Families even(mesh);
  described.extents[0] = 4;
  OK(moemesh_parameter_register(even.shared, &described, &parameter));
  OK(moemesh_family_commit(even.shared));
  moemesh_optimizer optimizer = nullptr;
  const auto create = [&](const moemesh_optimizer_params* params, moemesh_family family) {
    return moemesh_optimizer_create(mesh.get(), family, nullptr, params, &optimizer);
  };
  const auto good = with_defaults(moemesh_optimizer_params_init);
  auto rate = good, negative = good, stage = good;
  rate.learning_rate = 0.5;
  negative.learning_rate = -1;
  stage.shared_stage = 0;
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, create(wrong ? &rate : &good, even.shared));
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, create(wrong ? &stage : &good, even.shared));
  EXPECT_STATUS(bad, create(wrong ? &negative : &good, even.shared));
  EXPECT_STATUS(bad, create(wrong ? nullptr : &good, even.shared));
  EXPECT_STATUS(bad, create(&good, wrong ? nullptr : even.shared));
  EXPECT_EQ(optimizer, nullptr);
  OK(create(&good, even.shared));
  moemesh_optimizer_destroy(&optimizer);
}

TEST(Case, P34_read_and_collectives) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm(), deadline);
  const Mesh mesh(session, case_mesh(1, 2, 1));
  ScaleModel scale(mesh, {.hidden = 2, .experts = 2, .optimizer = sgd(0)});
  const bool wrong = mesh.rank() == 1;
  Floats data(4, -777.0F);
  const auto view = view_of(data, {2, 2}), flat = view_of(data);
  const auto w1 = scale.model().parameter("moe.w1"), w2 = scale.model().parameter("moe.w2");
  EXPECT_STATUS(bad, moemesh_parameter_read(w1, MOEMESH_VALUE, 0, wrong ? &flat : &view));
  EXPECT_STATUS(bad, moemesh_parameter_read(w1, MOEMESH_VALUE, wrong ? 2 : 0, &view));
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_parameter_read(w1, MOEMESH_VALUE, wrong ? 1 : 0, &view));
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_parameter_read(wrong ? w1 : w2, MOEMESH_VALUE, 0, &view));
  EXPECT_EQ(data, Floats(4, -777.0F));
  OK(moemesh_parameter_read(w2, MOEMESH_VALUE, 1, &view));
  EXPECT_EQ(data, (Floats{2, 0, 0, 2}));
  // The caller's own collectives.
  Floats sum(4, 1.0F), four(4, 1.0F), all(8, 0.0F);
  const auto sum_view = view_of(sum), four_view = view_of(four), all_view = view_of(all);
  constexpr int32_t ep = MOEMESH_AXIS_EP;
  EXPECT_STATUS(bad, moemesh_all_reduce(mesh.get(), ep, MOEMESH_SUM, wrong ? nullptr : &sum_view));
  EXPECT_EQ(sum, Floats(4, 1.0F));
  EXPECT_STATUS(bad, moemesh_all_gather(mesh.get(), ep, &four_view, wrong ? &four_view : &all_view));
  EXPECT_STATUS(bad, moemesh_reduce_scatter(mesh.get(), ep, wrong ? 7 : MOEMESH_SUM, &all_view, &four_view));
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_broadcast(mesh.get(), ep, 0, wrong ? &all_view : &four_view));
  four.assign(4, 1.0F);
  OK(moemesh_all_reduce(mesh.get(), ep, MOEMESH_SUM, &four_view));
  EXPECT_EQ(four, Floats(4, 2.0F));
}

// A forward or backward in which one rank's view is wrong. Every rank of its block must get an error by the end of the step,
// all others at the step's end.
enum class Where { forward, backward, router, replay };
struct Mode {
  int32_t recompute = MOEMESH_RECOMPUTE_NONE, chunks = 1;
};

void one_rank_fails(const Mesh& mesh, Where where, int64_t failing, const Mode& mode) {
  const int32_t tp = mesh.spec().tp;
  ScaleModel scale(mesh, {.hidden = 2,
                          .experts = 4,
                          .top_k = 2,
                          .gate = oracle::Gate::raw,
                          .optimizer = sgd(0),
                          .recompute = mode.recompute,
                          .chunks = mode.chunks});
  // NaN logits belong to a shard: all its tp peers have them, as they have the same tokens.
  const bool wrong =
      where == Where::router ? mesh.here().data_shard == mesh.at(failing).data_shard : mesh.rank() == failing;
  const bool same_block = mesh.here().dp == mesh.at(failing).dp;
  Floats x(6, 1.0F), y(6, 0.0F), dx(6, 0.0F), dlogits(12, 0.0F), logits = route({0, 1, 2}, 4);
  for (size_t t = 0; t < 3; ++t) logits[t * 4 + 3] = 2.0F;
  if (where == Where::router && wrong) logits[5] = NAN;
  const auto good = view_of(x, {3, 2}), y_view = view_of(y, {3, 2}), dx_view = view_of(dx, {3, 2});
  const auto logits_view = view_of(logits, {3, 4}), dlogits_view = view_of(dlogits, {3, 4});
  auto broken = good;
  broken.strides[1] = 3;
  auto forward = with_defaults(moemesh_forward_params_init);
  forward.x = wrong && where == Where::forward ? &broken : &good;
  forward.y = &y_view;
  forward.logits = &logits_view;
  auto backward = with_defaults(moemesh_backward_params_init);
  backward.dy = wrong && where == Where::backward ? &broken : &good;
  backward.dx = &dx_view;
  backward.dlogits = &dlogits_view;
  Tape tape;
  scale.begin_tokens(3);
  const int32_t status = moemesh_layer_forward(scale.model().layer(0), &forward, tape.out());
  const bool forward_fails = where != Where::backward && where != Where::replay && same_block;
  auto replay = with_defaults(moemesh_replay_params_init);
  replay.x = wrong && where == Where::replay ? &broken : &good;
  replay.y = &y_view;
  if (!forward_fails && where == Where::replay) {
    const int32_t expected = !same_block ? MOEMESH_OK : wrong ? bad : MOEMESH_ERROR_PEER_FAILED;
    const int32_t ended = moemesh_layer_replay(tape.out(), &replay);
    EXPECT_STREQ(moemesh_status_name(ended), moemesh_status_name(expected)) << last_error();
    EXPECT_EQ(tape.get() == nullptr, same_block);
    if (!same_block) OK(moemesh_layer_backward(tape.out(), &backward));
  } else if (!forward_fails) {
    EXPECT_STREQ(moemesh_status_name(status), "MOEMESH_OK") << last_error();
    const int32_t ended = moemesh_layer_backward(tape.out(), &backward);
    EXPECT_EQ(tape.get(), nullptr);
    const bool backward_fails = where == Where::backward && same_block;
    const int32_t expected = !backward_fails ? MOEMESH_OK : wrong ? bad : MOEMESH_ERROR_PEER_FAILED;
    EXPECT_STREQ(moemesh_status_name(ended), moemesh_status_name(expected)) << last_error();
  } else {
    EXPECT_EQ(tape.get(), nullptr);
    const int32_t own = where == Where::router ? MOEMESH_ERROR_NONFINITE_ROUTER : bad;
    const int32_t peers =
        where == Where::router && tp == 1 ? MOEMESH_ERROR_NONFINITE_ROUTER : MOEMESH_ERROR_PEER_FAILED;
    if (where == Where::router && !wrong &&
        tp > 1)  // by way of ep it stays itself, by way of tp it is a peer's failure
      EXPECT_TRUE(status == MOEMESH_ERROR_NONFINITE_ROUTER || status == MOEMESH_ERROR_PEER_FAILED) << status;
    else
      EXPECT_STREQ(moemesh_status_name(status), moemesh_status_name(wrong ? own : peers)) << last_error();
  }
  auto result = sized<moemesh_update_result>();
  const auto before = scale.read("w2", MOEMESH_VALUE, 0);
  EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, moemesh_optimizer_step(scale.model().optimizer(), nullptr, &result));
  EXPECT_EQ(result.steps, 0);
  EXPECT_TRUE(same_bits(scale.read("w2", MOEMESH_VALUE, 0), before));
  scale.expect_good_step();
  scale.expect_good_step();
}

const std::vector<MeshSpec>& failure_meshes() {
  static const std::vector<MeshSpec> meshes{case_mesh(1, 2, 1),
                                            case_mesh(2, 1, 1),
                                            case_mesh(2, 2, 1),
                                            case_mesh(1, 2, 2),
                                            case_mesh(1, 4, 1),
                                            case_mesh(2, 2, 2),
                                            with_expert_tp(case_mesh(2, 1, 1), 1),
                                            with_expert_tp(case_mesh(4, 2, 1), 2),
                                            with_expert_tp(case_mesh(2, 4, 1), 1),
                                            with_expert_tp(case_mesh(2, 3, 1), 1)};
  return meshes;
}

void fail_on_each_mesh(Where where, const Mode& mode = {}) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  SCOPED_TRACE("recompute " + std::to_string(mode.recompute) + " chunks " + std::to_string(mode.chunks));
  on_each_mesh(
      failure_meshes(),
      [&](const Place& place) {
        for (const int64_t failing : {int64_t{0}, int64_t{ranks_of(place.mesh.spec())} - 1}) {
          SCOPED_TRACE("rank " + std::to_string(failing) + " fails");
          one_rank_fails(place.mesh, where, failing, mode);
        }
      },
      deadline);
}

TEST(Case, P34_bad_view_in_forward) { fail_on_each_mesh(Where::forward); }
TEST(Case, P34_bad_view_in_backward) { fail_on_each_mesh(Where::backward); }
TEST(Case, P34_nonfinite_row) { fail_on_each_mesh(Where::router); }

// Two more exchanges under way when the failure is heard of, and others to come.
TEST(Case, P34_chunks) {
  for (const Where where : {Where::forward, Where::router, Where::backward})
    fail_on_each_mesh(where, {.recompute = MOEMESH_RECOMPUTE_SELECTIVE, .chunks = 3});
  fail_on_each_mesh(Where::backward, {.recompute = MOEMESH_RECOMPUTE_FULL, .chunks = 2});
}

TEST(Case, P34_replay) {
  fail_on_each_mesh(Where::replay, {.recompute = MOEMESH_RECOMPUTE_FULL});
  fail_on_each_mesh(Where::replay, {.recompute = MOEMESH_RECOMPUTE_NONE, .chunks = 3});
}

// Every rank keeps its tokens, so no rows cross the network: the peers of a rank that fails in its backward must learn of it
// in that call all the same, or they would wait for it in the next layer.
TEST(Case, P34_peers_without_traffic_hear_of_a_failure) {
  CASE_RANKS(ranks, 4);
  const Session session(ranks.comm(), deadline);
  const Mesh mesh(session, case_mesh(1, 4, 1));
  ScaleModel scale(mesh, {.hidden = 2, .experts = 4, .optimizer = sgd(0)});
  const auto own = static_cast<int>(mesh.here().ep);
  const bool wrong = mesh.rank() == 2;
  Floats x(4, 1.0F), y(4, 0.0F), dx(4, 0.0F), dlogits(8, 0.0F), logits = route({own, own}, 4);
  const auto x_view = view_of(x, {2, 2}), y_view = view_of(y, {2, 2}), dx_view = view_of(dx, {2, 2});
  const auto logits_view = view_of(logits, {2, 4}), dlogits_view = view_of(dlogits, {2, 4});
  auto broken = x_view;
  broken.strides[1] = 3;
  auto forward = with_defaults(moemesh_forward_params_init);
  forward.x = &x_view;
  forward.y = &y_view;
  forward.logits = &logits_view;
  auto backward = with_defaults(moemesh_backward_params_init);
  backward.dy = wrong ? &broken : &x_view;
  backward.dx = &dx_view;
  backward.dlogits = &dlogits_view;
  Tape tape;
  scale.begin_tokens(2);
  OK(moemesh_layer_forward(scale.model().layer(0), &forward, tape.out()));
  auto statistics = sized<moemesh_layer_statistics>();
  OK(moemesh_layer_get_statistics(scale.model().layer(0), &statistics));
  EXPECT_EQ(statistics.copies_sent, 0);
  EXPECT_STATUS(wrong ? bad : MOEMESH_ERROR_PEER_FAILED, moemesh_layer_backward(tape.out(), &backward));
  EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, moemesh_optimizer_step(scale.model().optimizer(), nullptr, nullptr));
  scale.expect_good_step();
}

// The three calls of a layer on the same arrays: x is also dy, out is y and dx.
struct LayerCalls {
  LayerCalls(const moemesh_view& x, const moemesh_view& out, const moemesh_view& dlogits) {
    forward.x = replay.x = backward.dy = &x;
    forward.y = replay.y = backward.dx = &out;
    backward.dlogits = &dlogits;
  }
  moemesh_forward_params forward = with_defaults(moemesh_forward_params_init);
  moemesh_replay_params replay = with_defaults(moemesh_replay_params_init);
  moemesh_backward_params backward = with_defaults(moemesh_backward_params_init);
};

// Two microbatches on their way; one rank gives their tapes back in the other order. Each rank of its block is told, and has no
// gradient of a mixture of both. The rows of the two are as many, or not.
void one_rank_takes_the_other_tape(const Mesh& mesh, bool replays, int64_t second_tokens) {
  ScaleModel scale(mesh, {.hidden = 2, .experts = 4, .top_k = 2, .gate = oracle::Gate::raw, .optimizer = sgd(0)});
  const bool wrong = mesh.rank() == 0;
  const bool same_block = mesh.here().dp == mesh.at(0).dp;
  const int64_t tokens[] = {3, second_tokens};
  Floats x(2 * 8, 1.0F);
  std::array<Tape, 2> tapes;
  scale.model().begin(2);
  for (int32_t m = 0; m < 2; ++m) {
    const int64_t n = tokens[m];
    Floats logits = route({0, 1, 2, 3, 0, 1, 2, 3}, 4);
    logits.resize(static_cast<size_t>(n) * 4);
    (void)scale.forward(Floats(static_cast<size_t>(n) * 2, 1.0F), logits, &tapes[static_cast<size_t>(m)], m);
  }
  for (const size_t turn : {size_t{0}, size_t{1}}) {
    const size_t which = wrong ? 1 - turn : turn;
    const int64_t n = tokens[which];
    Floats out(static_cast<size_t>(n) * 2, NAN), dlogits(static_cast<size_t>(n) * 4, NAN);
    const auto x_view = view_of(x, {n, 2}), out_view = view_of(out, {n, 2}), dlogits_view = view_of(dlogits, {n, 4});
    const LayerCalls calls(x_view, out_view, dlogits_view);
    moemesh_tape* const tape = tapes[which].out();
    EXPECT_STATUS(same_block ? MOEMESH_ERROR_MISMATCH : MOEMESH_OK,
                  replays ? moemesh_layer_replay(tape, &calls.replay) : moemesh_layer_backward(tape, &calls.backward));
    if (same_block) EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](float value) { return std::isnan(value); }));
    if (!same_block && replays) OK(moemesh_layer_backward(tape, &calls.backward));
  }
  EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, moemesh_optimizer_step(scale.model().optimizer(), nullptr, nullptr));
  scale.expect_good_step();
}

TEST(Case, P34_tapes_in_another_order) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh(
      {case_mesh(1, 2, 1), case_mesh(1, 2, 2), case_mesh(1, 4, 1)},
      [](const Place& place) {
        for (const bool replays : {false, true})
          for (const int64_t second : {3, 8, 0}) one_rank_takes_the_other_tape(place.mesh, replays, second);
      },
      deadline);
}

// One rank is in a forward, whose first message is longer, where the others are in the backward or replay of a tape.
void one_rank_goes_forward(const Mesh& mesh, bool replays) {
  ScaleModel scale(
      mesh, {.hidden = 2, .experts = 4, .top_k = 2, .gate = oracle::Gate::raw, .optimizer = sgd(0), .chunks = 3});
  const bool wrong = mesh.rank() == 0, same_block = mesh.here().dp == mesh.at(0).dp;
  Floats x(6, 1.0F), out(6, NAN), dlogits(12, NAN), logits = route({0, 1, 2}, 4);
  const auto x_view = view_of(x, {3, 2}), out_view = view_of(out, {3, 2});
  const auto logits_view = view_of(logits, {3, 4}), dlogits_view = view_of(dlogits, {3, 4});
  LayerCalls calls(x_view, out_view, dlogits_view);
  calls.forward.logits = &logits_view;
  Tape tape, other;
  scale.model().begin(2);
  OK(moemesh_layer_forward(scale.model().layer(0), &calls.forward, tape.out()));
  calls.forward.microbatch = 1;
  const auto call = [&] {
    if (wrong) return moemesh_layer_forward(scale.model().layer(0), &calls.forward, other.out());
    return replays ? moemesh_layer_replay(tape.out(), &calls.replay)
                   : moemesh_layer_backward(tape.out(), &calls.backward);
  };
  EXPECT_STATUS(same_block ? MOEMESH_ERROR_MISMATCH : MOEMESH_OK, call());
  EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, moemesh_optimizer_step(scale.model().optimizer(), nullptr, nullptr));
  scale.expect_good_step();
}

TEST(Case, P34_forward_meets_backward) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh(
      {case_mesh(1, 2, 1), case_mesh(1, 2, 2), case_mesh(1, 4, 1)},
      [](const Place& place) {
        for (const bool replays : {false, true}) one_rank_goes_forward(place.mesh, replays);
      },
      deadline);
}

// What is compared at the step's end.
TEST(Case, P34_step_end) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm(), deadline);
  const Mesh mesh(session, case_mesh(1, 1, 2));
  ScaleModel scale(mesh, {.hidden = 2, .experts = 2, .optimizer = sgd(0)});
  const bool wrong = mesh.rank() == 1;
  const auto update = [&](const moemesh_update_params* params = nullptr) {
    return moemesh_optimizer_step(scale.model().optimizer(), params, nullptr);
  };
  scale.model().begin(wrong ? 2 : 1);
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, update());
  EXPECT_NE(last_error(session.get()).find("microbatches"), std::string::npos) << last_error(session.get());
  scale.model().begin(1, MOEMESH_SHARD_MEAN, wrong ? 2 : 1);
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, update());
  scale.model().begin(1, wrong ? MOEMESH_SHARD_MEAN : MOEMESH_TOKEN_MEAN);
  if (!wrong) OK(moemesh_loss_tokens(scale.model().optimizer(), 0, 1));
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, update());
  // Loss tokens of one microbatch are missing on one rank.
  scale.model().begin(2, MOEMESH_TOKEN_MEAN);
  OK(moemesh_loss_tokens(scale.model().optimizer(), 0, 1));
  if (!wrong) OK(moemesh_loss_tokens(scale.model().optimizer(), 1, 1));
  EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, update());
  // Another learning rate, a bad one, and another call.
  auto params = with_defaults(moemesh_update_params_init);
  params.learning_rate = wrong ? 0.5 : 0.25;
  scale.model().begin();
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, update(&params));
  params.learning_rate = wrong ? NAN : 0.25;
  scale.model().begin();
  EXPECT_NE(update(&params), MOEMESH_OK);
  scale.model().begin();
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, wrong ? moemesh_step_end(scale.model().optimizer(), 1) : update());
  // One rank has opened no step.
  if (!wrong) scale.model().begin();
  EXPECT_NE(update(), MOEMESH_OK);
  scale.expect_good_step();
  auto counters = sized<moemesh_optimizer_counters>();
  OK(moemesh_optimizer_get_counters(scale.model().optimizer(), &counters));
  EXPECT_EQ(counters.steps, 1);
}

}  // namespace
}  // namespace moemesh::test
