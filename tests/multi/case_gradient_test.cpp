// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P16, P17, P19, P20, P21: what gradients are divided by and in which order they are added, norms, skips, idle experts.
#include <cmath>
#include <limits>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

// Tokens 1..4, odd ones to expert 0; each mesh's shards get their cut, in `microbatches` pieces. With tp the same in both of
// two columns, as tp splits ffn = hidden: every element of a matrix has the gradient of the case's one.
void expert_grad_scale(const Mesh& mesh, MPI_Comm comm, int32_t objective, int32_t microbatches) {
  const int64_t H = mesh.spec().tp;
  ScaleModel scale(mesh, {.hidden = H, .experts = 2, .scales = {1, 1}, .optimizer = sgd(1)});
  const int64_t shards = mesh.data_shards(), T = 4 / (shards * microbatches);
  scale.model().begin(microbatches, objective);
  for (int32_t m = 0; m < microbatches; ++m) {
    Floats x;
    std::vector<int64_t> experts;
    for (int64_t i = 0; i < T; ++i) {
      const int64_t value = (mesh.here().data_shard * microbatches + m) * T + i + 1;
      x.insert(x.end(), static_cast<size_t>(H), static_cast<float>(value));
      experts.push_back(value % 2 == 1 ? 0 : 1);
    }
    const bool sums = objective == MOEMESH_TOKEN_MEAN;
    if (sums) OK(moemesh_loss_tokens(scale.model().optimizer(), m, T));
    Tape tape;
    EXPECT_EQ(scale.forward(x, route(experts, 2), &tape, m), x);
    const float upstream = sums ? 1.0F : 1.0F / static_cast<float>(T);
    Floats unwanted;
    const Floats dx = scale.model().backward(0, &tape, Floats(x.size(), upstream), &unwanted);
    // dx is the gradient of this shard's own loss; the common factor makes it that of the mean over all.
    const double factor = sums ? 0.25 : 1.0 / static_cast<double>(shards * microbatches);
    for (const float v : dx) EXPECT_EQ(static_cast<double>(v) * factor, 0.25);
  }
  const auto result = scale.model().update();
  EXPECT_EQ(result.tokens, objective == MOEMESH_TOKEN_MEAN ? 4 : 0);
  const auto elements = static_cast<size_t>(H * H);
  EXPECT_EQ(scale.read("w2", MOEMESH_GRADIENT, 0), Floats(elements, 1.0F));
  EXPECT_EQ(scale.read("w2", MOEMESH_GRADIENT, 1), Floats(elements, 1.5F));
  const Floats first = scale.read("w2", MOEMESH_VALUE, 0), second = scale.read("w2", MOEMESH_VALUE, 1);
  EXPECT_EQ(first[0], 0.0F);
  EXPECT_EQ(second[0], -0.5F);
  EXPECT_TRUE(equal_everywhere(comm, first));
  EXPECT_TRUE(equal_everywhere(comm, second));
  EXPECT_NEAR(result.norm, std::sqrt(2 * static_cast<double>(elements) * (1.0 + 2.25)), 1e-6);  // of W1 and W2
}

void expert_grad_scale_of(const Place& place) {
  for (const int32_t objective : {MOEMESH_TOKEN_MEAN, MOEMESH_SHARD_MEAN})
    for (const int32_t microbatches : {1, 2, 4}) {
      if (place.mesh.data_shards() * microbatches > 4) continue;
      SCOPED_TRACE("objective " + std::to_string(objective) + ", M " + std::to_string(microbatches));
      expert_grad_scale(place.mesh, place.comm, objective, microbatches);
    }
}

TEST(Case, P16_expert_grad_scale) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 1, 2), case_mesh(1, 2, 1), case_mesh(1, 2, 2), case_mesh(1, 1, 4)},
               expert_grad_scale_of);
}

// The second run of P17: tp peers have the same tokens, and expert gradients are not doubled, neither where they share the
// experts' width nor where each takes a slice of the tokens.
TEST(Case, P17_same_tokens_on_tp_peers) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({case_mesh(2, 1, 1), case_mesh(4, 1, 1), case_mesh(2, 2, 1), case_mesh(2, 1, 2), case_mesh(2, 2, 2),
                with_expert_tp(case_mesh(2, 1, 1), 1), with_expert_tp(case_mesh(4, 1, 1), 2),
                with_expert_tp(case_mesh(4, 1, 1), 1), with_expert_tp(case_mesh(2, 2, 1), 1),
                with_expert_tp(case_mesh(2, 2, 2), 1), with_expert_tp(case_mesh(4, 1, 2), 2)},
               expert_grad_scale_of);
}

// The first run: a router of weight 1 whose gradient is a partial sum on each tp rank, 3 and 5, as the tokens are split.
TEST(Case, P17_partial_router_gradients) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(2, 1, 1));
  ModelSpec spec;
  spec.optimizer = sgd(0.1);
  spec.shared = {{.name = "router",
                  .extents = {1},
                  .tp_kind = MOEMESH_TP_PARTIAL,
                  .init_kind = MOEMESH_INIT_CONSTANT,
                  .init_value = 1}};
  const Model model(mesh, spec);
  model.begin();
  Floats partial{mesh.rank() == 0 ? 3.0F : 5.0F};
  const auto view = view_of(partial);
  OK(moemesh_gradient_ready(model.parameter("router"), &view, nullptr));
  EXPECT_DOUBLE_EQ(model.update().norm, 8);
  EXPECT_EQ(model.read("router", MOEMESH_GRADIENT), Floats{8.0F});
  const Floats value = model.read("router");
  expect_close(value, {0.2});
  EXPECT_TRUE(equal_everywhere(ranks.comm(), value));
}

// One shared element and one element for each expert; values 0, gradients as told.
struct Scalars {
  Scalars(const Mesh& mesh, const moemesh_optimizer_params& optimizer) : model(mesh, spec(optimizer)) {}
  static ModelSpec spec(const moemesh_optimizer_params& optimizer) {
    ModelSpec spec;
    spec.shared = {{.name = "shared", .extents = {1}}};
    spec.expert = {{.name = "expert", .extents = {1}, .experts = 2}};
    spec.optimizer = optimizer;
    return spec;
  }
  void ready(const char* name, float gradient) {
    const auto info = model.info(name);
    Floats values(static_cast<size_t>(info.elements), gradient);
    const auto view = info.local_experts > 0 ? view_of(values, {info.local_experts, 1}) : view_of(values);
    OK(moemesh_gradient_ready(model.parameter(name), &view, nullptr));
  }
  Model model;
};

// The reduced gradients are 3, 4 and 12: SHARD_MEAN halves, so the expert's own gradients are twice as much.
void grad_norm(const Mesh& mesh, MPI_Comm comm) {
  auto optimizer = sgd(1);
  optimizer.max_norm = 6.5;
  Scalars scalars(mesh, optimizer);
  scalars.model.begin();
  scalars.ready("shared", 3);
  scalars.ready("expert", mesh.here().ep == 0 ? 8 : 24);
  const auto result = scalars.model.update();
  EXPECT_EQ(result.norm, 13.0);
  EXPECT_EQ(result.coefficient, 0.5);
  EXPECT_EQ(scalars.model.read("shared", MOEMESH_GRADIENT), Floats{3.0F});
  const Floats after{scalars.model.read("shared")[0], scalars.model.read("expert", MOEMESH_VALUE, 0)[0],
                     scalars.model.read("expert", MOEMESH_VALUE, 1)[0]};
  EXPECT_EQ(after, (Floats{-1.5F, -2.0F, -6.0F}));
  EXPECT_EQ(*scalars.model.local_values("shared").as<float>(), -1.5F);
  EXPECT_TRUE(equal_everywhere(comm, after));
  EXPECT_TRUE(equal_everywhere(comm, &result.coefficient, sizeof result.coefficient));
  // Rank 1's expert got no tokens.
  scalars.model.begin();
  scalars.ready("shared", 3);
  if (mesh.here().ep == 0) scalars.ready("expert", 8);
  EXPECT_EQ(scalars.model.update().norm, 5.0);
}

TEST(Case, P19_grad_norm) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({case_mesh(1, 2, 1), case_mesh(2, 2, 1), case_mesh(4, 2, 1)},
               [](const Place& place) { grad_norm(place.mesh, place.comm); });
}

// The agreed skip of P20; the scale itself is the caller's in this release.
TEST(Case, P20_overflow_skip) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 1));
  auto optimizer = with_defaults(moemesh_optimizer_params_init);
  optimizer.max_norm = 1;
  Scalars scalars(mesh, optimizer);
  const auto state = [&] {
    Floats all;
    for (const int32_t quantity : {MOEMESH_VALUE, MOEMESH_MOMENT1, MOEMESH_MOMENT2})
      for (const float value : {scalars.model.read("shared", quantity)[0], scalars.model.read("expert", quantity, 0)[0],
                                scalars.model.read("expert", quantity, 1)[0]})
        all.push_back(value);
    return all;
  };
  const auto step = [&](float expert_gradient) {
    scalars.model.begin(1, MOEMESH_SHARD_MEAN, 1024);
    scalars.ready("shared", 1024);
    scalars.ready("expert", expert_gradient);
    return scalars.model.update();
  };
  EXPECT_EQ(step(2048).skipped, 0);
  const Floats before = state();
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const auto result = step(mesh.rank() == 1 ? bad : 2048);
    EXPECT_EQ(result.skipped, 1);
    EXPECT_EQ(result.steps, 1);
    EXPECT_TRUE(same_bits(state(), before));
  }
  const auto result = step(2048);
  EXPECT_EQ(result.skipped, 0);
  EXPECT_EQ(result.steps, 2);
  EXPECT_EQ(result.skips, 2);
  EXPECT_NEAR(result.norm, std::sqrt(1.0 + 1 + 1), 1e-12);  // the loss scale is divided out
  EXPECT_FALSE(same_bits(state(), before));
}

// Step 11 of an expert with m = .1, v = .01; `gradient` for the ranks that saw tokens, NAN for none.
float eleventh_step(const Mesh& mesh, double decay, int32_t stage, float gradient) {
  auto optimizer = with_defaults(moemesh_optimizer_params_init);
  optimizer.learning_rate = 0.01;
  optimizer.weight_decay = decay;
  optimizer.expert_stage = optimizer.shared_stage = stage;
  Scalars scalars(mesh, optimizer);
  for (int64_t e = 0; e < 2; ++e) {
    scalars.model.write("expert", {1.0F}, MOEMESH_VALUE, e);
    scalars.model.write("expert", {0.1F}, MOEMESH_MOMENT1, e);
    scalars.model.write("expert", {0.01F}, MOEMESH_MOMENT2, e);
  }
  moemesh_optimizer_counters counters{sizeof counters, 10, 0};
  OK(moemesh_optimizer_set_counters(scalars.model.optimizer(), &counters));
  scalars.model.begin();
  if (!std::isnan(gradient)) scalars.ready("expert", gradient);
  EXPECT_EQ(scalars.model.update().steps, 11);
  if (std::isnan(gradient)) {
    expect_close(scalars.model.read("expert", MOEMESH_MOMENT1, 1), {0.09}, 1e-7);
    expect_close(scalars.model.read("expert", MOEMESH_MOMENT2, 1), {0.00999}, 1e-9);
  }
  const float first = scalars.model.read("expert", MOEMESH_VALUE, 0)[0],
              second = scalars.model.read("expert", MOEMESH_VALUE, 1)[0];
  EXPECT_EQ(first, second);
  return first;
}

TEST(Case, P21_idle_optimizer) {
  for (const double decay : {0.0, 0.1})
    for (const int32_t stage : {0, 1, 2}) {
      const Session alone(MPI_COMM_NULL);
      const Mesh one(alone, case_mesh(1, 1, 1));
      const float idle = eleventh_step(one, decay, stage, NAN);
      EXPECT_NEAR(idle, decay == 0 ? 0.9986271379 : 0.9976271379, 3e-7);
      const float halved = eleventh_step(one, decay, stage, 0.25F);
      on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 1, 2), case_mesh(1, 2, 2), case_mesh(2, 1, 2)},
                   [&](const Place& place) {
                     const Mesh& mesh = place.mesh;
                     EXPECT_EQ(eleventh_step(mesh, decay, stage, NAN), idle);  // the same bits
                     // Only the other replica saw tokens: the reduced gradient is half of its own.
                     if (mesh.spec().dp == 2 && mesh.spec().ep == 1) {
                       EXPECT_EQ(eleventh_step(mesh, decay, stage, mesh.here().dp == 1 ? 0.5F : 0.0F), halved);
                     }
                   });
    }
}

// In fp32 every order of these four gives other bits: the owner must add them by rank, whoever it is and in every element.
TEST(Reduction, AddsInRankOrder) {
  CASE_RANKS(ranks, 4);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 1, 4));
  const float parts[] = {5.0F, 16777216.0F, 1.0F, -16777216.0F};
  float sum = parts[0];
  for (int r = 1; r < 4; ++r) sum += parts[r];
  for (int first = 1; first < 4; ++first) {
    float rotated = parts[first];
    for (int i = 1; i < 4; ++i) rotated += parts[(first + i) % 4];
    ASSERT_NE(rotated, sum) << "or the test would show nothing";
  }
  ModelSpec spec;
  spec.shared = {{.name = "p", .extents = {13}}};
  for (const int32_t stage : {0, 1, 2}) {
    spec.optimizer->shared_stage = stage;
    const Model model(mesh, spec);
    model.begin();
    Floats gradient(13, parts[mesh.rank()]);
    const auto view = view_of(gradient);
    OK(moemesh_gradient_ready(model.parameter("p"), &view, nullptr));
    model.end(true);
    EXPECT_TRUE(same_bits(model.read("p", MOEMESH_GRADIENT), Floats(13, sum * 0.25F)));
  }
}

}  // namespace
}  // namespace moemesh::test
