// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P15: the selection bias that balances experts.
#include <cmath>
#include <limits>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

// A step of forwards alone: which expert each token of each microbatch goes to.
void run_step(ScaleModel& scale, const std::vector<std::vector<int64_t>>& microbatches) {
  const Floats before = scale.model().bias(0);
  scale.model().begin(static_cast<int32_t>(microbatches.size()));
  for (size_t m = 0; m < microbatches.size(); ++m) {
    const Floats x(microbatches[m].size(), 1.0F);
    Tape tape;
    scale.forward(x, route(microbatches[m], scale.options().experts), &tape, static_cast<int32_t>(m));
    scale.backward_ones(&tape, std::ssize(microbatches[m]));
    EXPECT_TRUE(same_bits(scale.model().bias(0), before)) << "it moves at the step's end";
  }
  EXPECT_EQ(scale.model().update().skipped, 0);
}

// Every token stays where its logits send it: a bias of some hundredths is little beside them.
ScaleOptions options_of(double rate, int64_t experts = 4) {
  return {.experts = experts, .gate = oracle::Gate::raw, .optimizer = sgd(0), .bias_rate = rate};
}

TEST(Case, P15_bias_balance) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({case_mesh(1, 1, 2), case_mesh(1, 2, 1), case_mesh(2, 1, 2), with_expert_tp(case_mesh(2, 2, 1), 1),
                case_mesh(1, 1, 2, 2)},
               [](const Place& place) {
                 ScaleOptions options = options_of(0.01);
                 options.hidden = 1;
                 if (place.mesh.spec().tp > 1) options.hidden = 2;
                 ScaleModel scale(place.mesh, options);
                 const bool first = place.mesh.here().data_shard == 0;
                 const std::vector<int64_t> mine = first ? std::vector<int64_t>{0, 0} : std::vector<int64_t>{1, 2};
                 scale.model().begin(2);
                 for (int32_t m = 0; m < 2; ++m) {
                   const Floats x(2 * static_cast<size_t>(options.hidden), 1.0F), logits = route(mine, 4);
                   Tape tape;
                   scale.forward(x, logits, &tape, m);
                   for (int i = 0; i < 3; ++i)
                     scale.forward(x, route({3, 3}, 4), nullptr, {.training = 0, .microbatch = m});
                   EXPECT_TRUE(same_bits(scale.model().bias(0), Floats(4, 0.0F)));
                   scale.backward_ones(&tape, 2);
                 }
                 EXPECT_EQ(scale.model().update().skipped, 0);
                 const Floats bias = scale.model().bias(0);  // totals 4, 2, 2, 0
                 EXPECT_TRUE(same_bits(bias, {-0.01F, 0.0F, 0.0F, 0.01F})) << ::testing::PrintToString(bias);
                 EXPECT_TRUE(equal_everywhere(place.comm, bias));
               });
}

// Scores .5, .3, .2: a bias of .25 puts the last one first.
TEST(Case, P15_moves_the_selection_and_no_gate) {
  const Floats logits = logs({.5, .3, .2});
  for (const oracle::Score score : {oracle::Score::softmax, oracle::Score::sigmoid})
    for (const oracle::Gate gate : {oracle::Gate::raw, oracle::Gate::renorm, oracle::Gate::softmax_topk})
      on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1)}, [&](const Place& place) {
        ScaleModel scale(place.mesh, {.experts = 3, .top_k = 2, .score = score, .gate = gate, .optimizer = sgd(0)});
        scale.model().set_bias(0, {-1, 0, 0.25F});
        scale.model().begin();
        Tape tape;
        Floats dlogits;
        const Floats x{1.0F};
        const Floats y = scale.forward(x, logits, &tape),
                     no_training = scale.forward(x, logits, nullptr, {.training = 0});
        EXPECT_TRUE(same_bits(y, no_training));
        const Routing routing = scale.model().routing(0, tape, 1);
        EXPECT_EQ(routing.experts, (std::vector<int32_t>{2, 1}));
        const oracle::RouterConfig router{score, gate, 1.0, 2};
        const oracle::Array row(logits.begin(), logits.end());
        const auto gates = oracle::gates_forward(router, row, {2, 1});
        expect_close(routing.gates, gates);
        scale.backward_ones(&tape, 1, &dlogits);
        expect_close(dlogits, oracle::gates_backward(router, row, {2, 1}, {3, 2}));
        EXPECT_EQ(scale.model().update().skipped, 0);
        EXPECT_TRUE(same_bits(scale.model().bias(0), {-1, 0, 0.25F})) << "without a rate it stays";
      });
}

TEST(Case, P15_never_an_expert_without_a_score) {
  constexpr float none = -std::numeric_limits<float>::infinity();
  on_each_mesh({case_mesh(1, 1, 1)}, [&](const Place& place) {
    ScaleModel scale(place.mesh, {.experts = 3, .optimizer = sgd(0)});
    scale.model().set_bias(0, {0, 100, 0});
    scale.model().begin();
    Tape tape;
    scale.forward({1, 1}, {1, none, 2, 0, 0, 3}, &tape);
    EXPECT_EQ(scale.model().routing(0, tape, 2).experts, (std::vector<int32_t>{2, 1}));
    scale.backward_ones(&tape, 2);
    scale.model().update();
  });
}

// Slots of 1 make the kept rows even; what was chosen is not.
TEST(Case, P15_counts_before_the_drop) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 1, 2)}, [](const Place& place) {
    ScaleOptions options = options_of(0.5, 2);
    options.capacity_factor = 0.6;
    ScaleModel scale(place.mesh, options);
    run_step(scale, {{0, 0, 1}});
    EXPECT_EQ(scale.statistics().dropped_rows, 1);
    EXPECT_TRUE(same_bits(scale.model().bias(0), {-0.5F, 0.5F}));
  });
}

TEST(Case, P15_padding_is_not_counted) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 1, 2)}, [](const Place& place) {
    ScaleModel scale(place.mesh, options_of(0.5, 2));
    const std::vector<uint8_t> mask{1, 0, 1};
    scale.model().begin();
    Tape tape;
    scale.forward({1, 1, 1}, route({0, 0, 1}, 2), &tape, {.mask = &mask});
    scale.backward_ones(&tape, 3);
    scale.model().update();
    EXPECT_TRUE(same_bits(scale.model().bias(0), {0, 0}));
  });
}

// Who checkpoints a block of his own runs its forward twice.
TEST(Case, P15_a_microbatch_counts_once) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1)}, [](const Place& place) {
    ScaleModel scale(place.mesh, options_of(0.5, 2));
    scale.model().begin(2);
    for (int32_t m = 0; m < 2; ++m) {
      Tape first, again;
      const Floats logits = route({m}, 2);
      scale.forward({1}, logits, &first, m);
      if (m == 0) scale.forward({1}, logits, &again, m);
      scale.backward_ones(&first, 1);
    }
    scale.model().update();
    EXPECT_TRUE(same_bits(scale.model().bias(0), {0, 0}));
  });
}

// Steps that change nothing move nothing, and their counts are gone: the step after them has its own alone.
TEST(Case, P15_only_updates_move_it) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 1, 2), case_mesh(2, 1, 2)},
               [](const Place& place) {
                 ScaleOptions options = options_of(0.25, 2);
                 options.hidden = place.mesh.spec().tp;
                 ScaleModel scale(place.mesh, options);
                 const auto H = static_cast<size_t>(options.hidden);
                 const Floats x(2 * H, 1.0F), none(2, 0.0F);
                 const auto forward = [&](Tape* tape) { scale.forward(x, route({0, 0}, 2), tape); };
                 for (const bool reduce : {false, true}) {
                   scale.model().begin();
                   Tape tape;
                   forward(&tape);
                   scale.model().end(reduce);
                   EXPECT_TRUE(same_bits(scale.model().bias(0), none)) << "step_end";
                 }
                 scale.model().begin();
                 {
                   Tape tape;
                   Floats dlogits;
                   forward(&tape);
                   scale.model().backward(0, &tape, Floats(x.size(), std::numeric_limits<float>::infinity()), &dlogits);
                 }
                 EXPECT_EQ(scale.model().update().skipped, 1);
                 EXPECT_TRUE(same_bits(scale.model().bias(0), none)) << "skipped";
                 scale.model().begin();
                 {
                   Tape tape;
                   forward(&tape);
                 }
                 auto wrong = with_defaults(moemesh_update_params_init);
                 wrong.learning_rate = place.mesh.rank() == 0 ? std::nan("") : -1;
                 auto result = sized<moemesh_update_result>();
                 EXPECT_NE(moemesh_optimizer_step(scale.model().optimizer(), &wrong, &result), MOEMESH_OK);
                 EXPECT_TRUE(same_bits(scale.model().bias(0), none)) << "dropped";
                 scale.model().begin();
                 {
                   Tape tape;
                   scale.forward(x, route({1, 1}, 2), &tape);
                   scale.backward_ones(&tape, 2);
                 }
                 EXPECT_EQ(scale.model().update().skipped, 0);
                 EXPECT_TRUE(same_bits(scale.model().bias(0), {0.25F, -0.25F}));
               });
}

ModelSpec two_layers() {
  oracle::LayerConfig second, first;
  second.name = "second";
  second.hidden = 8;
  second.ffn = 8;
  second.experts = 6;
  second.top_k = 2;
  second.bias_rate = 0.03;
  first = second;
  first.name = "first";
  first.experts = 5;
  first.score = oracle::Score::sigmoid;
  first.gate = oracle::Gate::raw;
  first.bias_rate = 0.07;
  ModelSpec spec;
  spec.layers = {second, first};
  spec.optimizer = sgd(0.2);
  return spec;
}

// 8 pieces of the batch whatever the mesh, as in the invariance tests.
void train(const Mesh& mesh, const Model& model, int first_step, int steps) {
  const auto microbatches = static_cast<int32_t>(8 / mesh.data_shards());
  for (int step = first_step; step < first_step + steps; ++step) {
    model.begin(microbatches);
    for (int32_t m = 0; m < microbatches; ++m) {
      const int64_t piece = m * mesh.data_shards() + mesh.here().data_shard;
      oracle::Random random(static_cast<uint64_t>(1000 * step + piece));
      const Floats x = to_floats(random.uniform_array((3 + piece % 3) * 8, -1, 1));
      for (size_t l = 0; l < 2; ++l) {
        Tape tape;
        const Floats y = model.forward(l, x, &tape, {.microbatch = m});
        model.backward(l, &tape, y);
      }
    }
    EXPECT_EQ(model.update().skipped, 0);
  }
}

struct State {
  std::vector<Floats> values, biases;
};
State state_of(const Model& model) {
  State state;
  oracle::Parameters all = model.read_all();
  for (const auto& array : oracle::named_arrays(model.oracle_model(), all))
    state.values.push_back(to_floats(*array.values));
  for (size_t l = 0; l < 2; ++l) state.biases.push_back(model.bias(l));
  return state;
}
void restore(const Model& model, const State& state) {
  oracle::Parameters shapes = model.read_all();
  size_t i = 0;
  for (const auto& array : oracle::named_arrays(model.oracle_model(), shapes))
    model.write(array.name, state.values[i++], MOEMESH_VALUE, array.expert);
  for (size_t l = 0; l < 2; ++l) model.set_bias(l, state.biases[l]);
}

// Also: the biases of all meshes have the same bits, as choices do not depend on the mesh.
TEST(Case, P15_resumed_from_what_was_read) {
  const Session alone(MPI_COMM_NULL);
  const Mesh one(alone, case_mesh(1, 1, 1));
  const Model reference(one, two_layers());
  train(one, reference, 0, 4);
  const State expected = state_of(reference);
  for (const Floats& bias : expected.biases) {
    double moved = 0;
    for (const float value : bias) moved += std::abs(static_cast<double>(value));
    EXPECT_GT(moved, 0.05);
  }
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 1, 2), case_mesh(2, 2, 2), case_mesh(1, 2, 4),
                with_expert_tp(case_mesh(4, 2, 1), 2)},
               [&](const Place& place) {
                 const Model whole(place.mesh, two_layers());
                 train(place.mesh, whole, 0, 2);
                 const State half_way = state_of(whole);
                 train(place.mesh, whole, 2, 2);
                 const Model resumed(place.mesh, two_layers());
                 restore(resumed, half_way);
                 train(place.mesh, resumed, 2, 2);
                 const State a = state_of(whole), b = state_of(resumed);
                 for (size_t i = 0; i < a.values.size(); ++i) EXPECT_TRUE(same_bits(a.values[i], b.values[i])) << i;
                 for (size_t l = 0; l < 2; ++l) {
                   EXPECT_TRUE(same_bits(a.biases[l], b.biases[l]));
                   EXPECT_TRUE(same_bits(a.biases[l], expected.biases[l]));
                   EXPECT_TRUE(equal_everywhere(place.comm, a.biases[l]));
                 }
               });
}

// One sum for all layers, of 8 bytes for each expert; none where no layer has a rate.
TEST(Case, P15_one_sum_a_step) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({case_mesh(1, 2, 1), case_mesh(1, 1, 2), case_mesh(2, 2, 2)}, [](const Place& place) {
    const LedgerFilter filter{.axes = MOEMESH_GROUP_SHARED_GRADIENT,
                              .family = 0,
                              .phase = MOEMESH_PHASE_UPDATE,
                              .collective = MOEMESH_COLLECTIVE_ALL_REDUCE};
    const Model model(place.mesh, two_layers());
    place.mesh.reset_ledger();
    train(place.mesh, model, 0, 3);
    const auto entry = total(place.mesh.ledger(), filter);
    const int64_t shards = place.mesh.data_shards(), part = (11 + shards - 1) / shards;
    const int64_t own = std::min<int64_t>(part, 11 - part * place.mesh.group(filter.axes).position);
    EXPECT_EQ(entry.calls, 3);
    EXPECT_EQ(entry.messages, 3 * 2 * (shards - 1));
    EXPECT_EQ(entry.bytes, 3 * 8 * ((11 - own) + own * (shards - 1)));
    ModelSpec without = two_layers();
    for (auto& layer : without.layers) layer.bias_rate = 0;
    const Model unbiased(place.mesh, without);
    place.mesh.reset_ledger();
    train(place.mesh, unbiased, 0, 1);
    EXPECT_EQ(total(place.mesh.ledger(), filter).calls, 0);
  });
}

}  // namespace
}  // namespace moemesh::test
