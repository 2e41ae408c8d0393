// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P12, P13 A and C, P14: the library's own losses.
#include <cmath>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

const std::vector<double> p12{.5, .25, .125, .125, .5, .25, .125, .125, .25, .5, .125, .125, .125, .125, .25, .5};
const std::vector<double> p12_gradient{.078125, -.0234375, -.04296875, -.01171875};  // of token 0

// The rows of P12 by a router: token t of a batch is the unit vector of its row, the router's column the row's logits.
ModelSpec router_spec(double aux_coefficient) {
  oracle::LayerConfig config;
  config.name = "moe";
  config.hidden = config.ffn = config.experts = 4;
  config.activation = oracle::Activation::identity;
  config.gate = oracle::Gate::raw;
  config.aux_coefficient = aux_coefficient;
  ModelSpec spec;
  spec.layers = {config};
  spec.optimizer = sgd(0);
  return spec;
}

struct RouterRun {
  double aux = 0;
  Floats gradient;  // of the router's weight, reduced
};

// Nothing comes back from the caller's loss: what arrives is the balance loss's. `rows`: those of one shard and
// microbatch.
RouterRun router_run(const Mesh& mesh, const std::vector<int64_t>& rows, int32_t objective, int32_t microbatches = 1,
                     double coefficient = 1, double loss_scale = 1) {
  const Model model(mesh, router_spec(coefficient));
  Floats weight(16), x(rows.size() * 4, 0.0F);
  const Floats logits = logs(p12);
  for (size_t e = 0; e < 4; ++e)
    for (size_t h = 0; h < 4; ++h) weight[e * 4 + h] = logits[h * 4 + e];
  for (size_t t = 0; t < rows.size(); ++t) x[t * 4 + static_cast<size_t>(rows[t])] = 1.0F;
  model.write("moe.router", weight);
  model.begin(microbatches, objective, loss_scale);
  RouterRun run;
  for (int32_t m = 0; m < microbatches; ++m) {
    if (objective == MOEMESH_TOKEN_MEAN)
      OK(moemesh_loss_tokens(model.optimizer(), m, static_cast<int64_t>(rows.size())));
    Tape tape;
    model.forward(0, x, &tape, {.microbatch = m});
    run.aux = model.statistics(0).aux_loss;
    const Floats dx = model.backward(0, &tape, Floats(x.size(), 0.0F));
    double moved = 0;
    for (const float value : dx) moved += std::abs(static_cast<double>(value));
    EXPECT_EQ(moved > 0, coefficient > 0) << "the loss flows on to x";
  }
  EXPECT_EQ(model.update().skipped, 0);
  run.gradient = model.read("moe.router", MOEMESH_GRADIENT);
  return run;
}

// In (a) column h of the gradient is the sum of the logit gradients of the tokens with row h.
TEST(Case, P12_aux_scaling) {
  const Session alone(MPI_COMM_NULL);
  const Mesh one(alone, case_mesh(1, 1, 1));
  const std::vector<int64_t> all{0, 1, 2, 3};
  for (const int32_t objective : {MOEMESH_SHARD_MEAN, MOEMESH_TOKEN_MEAN}) {
    const RouterRun a = router_run(one, all, objective);
    EXPECT_NEAR(a.aux, 1.1875, 2e-6);
    std::vector<double> column;
    for (size_t e = 0; e < 4; ++e) column.push_back(static_cast<double>(a.gradient[e * 4]));
    expect_close(Floats(column.begin(), column.end()), p12_gradient, 1e-7);
    const std::vector<double> expected(a.gradient.begin(), a.gradient.end());
    const RouterRun b = router_run(one, all, objective, 2, 1, 8);
    expect_close(b.gradient, expected, 1e-7);
    on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 1, 2), case_mesh(1, 2, 1), case_mesh(2, 1, 1), case_mesh(2, 2, 2)},
                 [&](const Place& place) {
                   const RouterRun found = router_run(place.mesh, all, objective);
                   EXPECT_EQ(found.aux, a.aux);
                   expect_close(found.gradient, expected, 1e-7);
                   EXPECT_TRUE(equal_everywhere(place.comm, found.gradient));
                 });
  }
}

// Tokens split 2/2: each shard balances its own, which is 2 and 1.25, whatever tp and ep are.
TEST(Case, P12_shards_of_their_own) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({case_mesh(1, 1, 2), case_mesh(1, 2, 1), case_mesh(2, 1, 2)}, [](const Place& place) {
    const bool first = place.mesh.here().data_shard == 0;
    const RouterRun run =
        router_run(place.mesh, first ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{2, 3}, MOEMESH_SHARD_MEAN);
    EXPECT_NEAR(run.aux, first ? 2.0 : 1.25, 2e-6);
    double mean = run.aux / 2;
    const auto view = view_of(&mean, {1});
    OK(moemesh_all_reduce(place.mesh.get(), MOEMESH_GROUP_SHARED_GRADIENT, MOEMESH_SUM, &view));
    EXPECT_NEAR(mean, 1.625, 2e-6);
  });
}

TEST(Case, P12_linear_in_the_coefficient) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1)}, [](const Place& place) {
    const auto run = [&](double alpha) { return router_run(place.mesh, {0, 1, 2, 3}, MOEMESH_TOKEN_MEAN, 1, alpha); };
    const RouterRun none = run(0), little = run(0.01), more = run(0.02);
    EXPECT_EQ(none.aux, 0.0);
    EXPECT_TRUE(same_bits(none.gradient, Floats(16, 0.0F)));
    EXPECT_NEAR(more.aux, 0.02 * 1.1875, 1e-7);
    EXPECT_GT(std::abs(little.gradient[0]), 7e-4F);
    std::vector<double> twice;
    for (const float value : little.gradient) twice.push_back(2.0 * static_cast<double>(value));
    expect_close(more.gradient, twice, 1e-9);
  });
}

// One forward and backward with the caller's logits and without a loss of the caller's.
struct CallerRun {
  moemesh_layer_statistics statistics{};
  Floats dx, dlogits;
  moemesh_update_result update{};
};

CallerRun caller_run(const Mesh& mesh, const ScaleOptions& options, const Floats& logits,
                     const std::vector<uint8_t>& mask, const oracle::Sequences& sequences = {}, double loss_scale = 1) {
  ScaleModel scale(mesh, options);
  const auto T = logits.size() / static_cast<size_t>(options.experts);
  const Floats x(T, 1.0F), dy(T, 0.0F);
  CallerRun run;
  Tape tape;
  scale.model().begin(1, MOEMESH_SHARD_MEAN, loss_scale);
  scale.forward(x, logits, &tape, {.mask = &mask, .sequences = sequences});
  run.statistics = scale.statistics();
  run.dx = scale.model().backward(0, &tape, dy, &run.dlogits);
  run.update = scale.model().update();
  return run;
}

TEST(Case, P13_padding_mask) {
  std::vector<double> rows = p12;
  for (int t = 0; t < 4; ++t) rows.insert(rows.end(), p12.begin() + 12, p12.end());
  Floats logits = logs(rows);
  const ScaleOptions options{.experts = 4, .gate = oracle::Gate::raw, .aux_coefficient = 1, .z_coefficient = 1};
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1)}, [&](const Place& place) {
    EXPECT_NEAR(caller_run(place.mesh, options, logits, {}).statistics.aux_loss, 1.234375, 2e-6);
    const CallerRun masked = caller_run(place.mesh, options, logits, {1, 1, 1, 1, 0, 0, 0, 0});
    EXPECT_NEAR(masked.statistics.aux_loss, 1.1875, 2e-6);
    EXPECT_NEAR(masked.statistics.z_loss, 0.0, 1e-12);
    expect_close(Floats(masked.dlogits.begin(), masked.dlogits.begin() + 4), p12_gradient, 5e-7);
    for (size_t i = 16; i < 32; ++i) EXPECT_EQ(masked.dlogits[i], 0.0F) << i;
    // Padding logits of 0 would have made z 0.96; alone and real they do.
    Floats zeros = logits;
    std::fill(zeros.begin() + 16, zeros.end(), 0.0F);
    EXPECT_NEAR(caller_run(place.mesh, options, zeros, {1, 1, 1, 1, 0, 0, 0, 0}).statistics.z_loss, 0.0, 1e-12);
    EXPECT_NEAR(caller_run(place.mesh, options, zeros, {}).statistics.z_loss, 0.960906, 1e-6);
    const CallerRun none = caller_run(place.mesh, options, logits, std::vector<uint8_t>(8, 0));
    EXPECT_EQ(none.statistics.aux_loss, 0.0);
    EXPECT_EQ(none.statistics.z_loss, 0.0);
    EXPECT_TRUE(same_bits(none.dlogits, Floats(32, 0.0F)));
    EXPECT_EQ(none.update.norm, 0.0);
  });
}

// A loss scale multiplies the gradients that come back, not the values.
TEST(Case, P13_loss_scale) {
  const ScaleOptions options{.experts = 4, .gate = oracle::Gate::raw, .aux_coefficient = 1};
  on_each_mesh({case_mesh(1, 1, 1)}, [&](const Place& place) {
    const CallerRun run = caller_run(place.mesh, options, logs(p12), {}, {}, 64);
    EXPECT_NEAR(run.statistics.aux_loss, 1.1875, 2e-6);
    std::vector<double> expected = p12_gradient;
    for (double& value : expected) value *= 64;
    expect_close(Floats(run.dlogits.begin(), run.dlogits.begin() + 4), expected, 1e-6);
  });
}

TEST(Case, P14_aux_of_sequences) {
  const Floats major = logs({.75, .25, .75, .25, .25, .75, .25, .75});
  const Floats interleaved = logs({.75, .25, .25, .75, .75, .25, .25, .75});
  const ScaleOptions options{
      .experts = 2, .gate = oracle::Gate::raw, .aux_coefficient = 1, .aux_scope = oracle::AuxScope::sequence};
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1)}, [&](const Place& place) {
    const auto aux = [&](const Floats& logits, const oracle::Sequences& sequences) {
      return caller_run(place.mesh, options, logits, {}, sequences).statistics.aux_loss;
    };
    EXPECT_NEAR(aux(major, {2, false}), 1.5, 2e-6);
    EXPECT_NEAR(aux(interleaved, {2, true}), 1.5, 2e-6);
    EXPECT_NEAR(aux(interleaved, {2, false}), 1.0, 2e-6) << "declared wrongly";
    EXPECT_NEAR(aux(major, {1, false}), 1.0, 2e-6) << "as one sequence";
  });
}

}  // namespace
}  // namespace moemesh::test
