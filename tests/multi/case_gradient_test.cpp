// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P16, P19, P21, P22, P23: what gradients are divided by, norms, idle experts, initial weights, shards that don't divide.
#include <cmath>
#include <cstdlib>
#include <map>

#include "case_support.hpp"
#include "moemesh_mpi.h"

namespace moemesh::test {
namespace {

// Tokens 1..4, odd ones to expert 0; each mesh's shards get their cut, in `microbatches` pieces.
void expert_grad_scale(const Mesh& mesh, MPI_Comm comm, int32_t objective, int32_t microbatches) {
  ScaleModel scale(mesh, {.experts = 2, .scales = {1, 1}, .optimizer = sgd(1)});
  const int64_t shards = mesh.data_shards(), T = 4 / (shards * microbatches);
  scale.model().begin(microbatches, objective);
  for (int32_t m = 0; m < microbatches; ++m) {
    Floats x;
    std::vector<int64_t> experts;
    for (int64_t i = 0; i < T; ++i) {
      const int64_t value = (mesh.here().data_shard * microbatches + m) * T + i + 1;
      x.push_back(static_cast<float>(value));
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
  EXPECT_EQ(scale.read("w2", MOEMESH_GRADIENT, 0), Floats{1.0F});
  EXPECT_EQ(scale.read("w2", MOEMESH_GRADIENT, 1), Floats{1.5F});
  const Floats updated{scale.read("w2", MOEMESH_VALUE, 0)[0], scale.read("w2", MOEMESH_VALUE, 1)[0]};
  EXPECT_EQ(updated, (Floats{0.0F, -0.5F}));
  EXPECT_TRUE(equal_everywhere(comm, updated));
  EXPECT_NEAR(result.norm, std::sqrt(2 * (1.0 + 2.25)), 1e-6);  // of W1 and W2
}

TEST(Case, P16_expert_grad_scale) {
  for (const MeshSpec& spec : {case_mesh(1, 1, 1), case_mesh(1, 1, 2), case_mesh(1, 2, 1), case_mesh(1, 2, 2), case_mesh(1, 1, 4)}) {
    if (ranks_of(spec) > world_size()) continue;
    const Ranks ranks(ranks_of(spec));
    if (!ranks.inside()) continue;
    const Session session(ranks.comm());
    const Mesh mesh(session, spec);
    for (const int32_t objective : {MOEMESH_TOKEN_MEAN, MOEMESH_SHARD_MEAN})
      for (const int32_t microbatches : {1, 2, 4}) {
        if (ranks_of(spec) * microbatches > 4) continue;
        SCOPED_TRACE(to_string(spec) + ", objective " + std::to_string(objective) + ", M " + std::to_string(microbatches));
        expert_grad_scale(mesh, ranks.comm(), objective, microbatches);
      }
  }
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
  EXPECT_EQ(*static_cast<float*>(scalars.model.local_values("shared").data), -1.5F);
  EXPECT_TRUE(equal_everywhere(comm, after));
  EXPECT_TRUE(equal_everywhere(comm, &result.coefficient, sizeof result.coefficient));
  // Rank 1's expert got no tokens.
  scalars.model.begin();
  scalars.ready("shared", 3);
  if (mesh.here().ep == 0) scalars.ready("expert", 8);
  EXPECT_EQ(scalars.model.update().norm, 5.0);
}

TEST(Case, P19_grad_norm) {
  for (const MeshSpec& spec : {case_mesh(1, 2, 1), case_mesh(2, 2, 1), case_mesh(4, 2, 1)}) {
    if (ranks_of(spec) > world_size()) continue;
    const Ranks ranks(ranks_of(spec));
    if (!ranks.inside()) continue;
    SCOPED_TRACE(to_string(spec));
    const Session session(ranks.comm());
    const Mesh mesh(session, spec);
    grad_norm(mesh, ranks.comm());
  }
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
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
  const float first = scalars.model.read("expert", MOEMESH_VALUE, 0)[0], second = scalars.model.read("expert", MOEMESH_VALUE, 1)[0];
  EXPECT_EQ(first, second);
  return first;
}

TEST(Case, P21_idle_optimizer) {
  for (const double decay : {0.0, 0.1})
    for (const int32_t stage : {0, 1}) {
      const Session alone(MPI_COMM_NULL);
      const Mesh one(alone, case_mesh(1, 1, 1));
      const float idle = eleventh_step(one, decay, stage, NAN);
      EXPECT_NEAR(idle, decay == 0 ? 0.9986271379 : 0.9976271379, 1e-6);
      const float halved = eleventh_step(one, decay, stage, 0.25F);
      on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 1, 2), case_mesh(1, 2, 2), case_mesh(2, 1, 2)},
                   [&](const Mesh& mesh, const Session&) {
                     EXPECT_EQ(eleventh_step(mesh, decay, stage, NAN), idle);  // the same bits
                     // Only the other replica saw tokens: the reduced gradient is half of its own.
                     if (mesh.spec().dp == 2 && mesh.spec().ep == 1) {
                       EXPECT_EQ(eleventh_step(mesh, decay, stage, mesh.here().dp == 1 ? 0.5F : 0.0F), halved);
                     }
                   });
    }
}

oracle::LayerConfig init_layer() {
  oracle::LayerConfig config{"moe", 4, 8, 4, 8, 2};
  config.activation = oracle::Activation::swiglu;
  return config;
}

using Weights = std::map<std::string, Floats>;

Weights initial_weights(const Mesh& mesh, int64_t seed) {
  ModelSpec spec;
  spec.layers = {init_layer()};
  spec.seed = seed;
  spec.optimizer = std::nullopt;
  const Model model(mesh, spec);
  Weights weights;
  for (const char* name : {"moe.router", "moe.shared.w1", "moe.shared.wg", "moe.shared.w2"}) weights[name] = model.read(name);
  for (const std::string name : {"moe.w1", "moe.wg", "moe.w2"}) {
    for (int64_t e = 0; e < 4; ++e) weights[name + std::to_string(e)] = model.read(name, MOEMESH_VALUE, e);
    // Not what the owner has, but what each replica holds itself.
    const auto info = model.info(name);
    const auto view = model.local_values(name);
    const auto* local = static_cast<const float*>(view.data);
    const bool rows_cut = name != "moe.w2";
    const int64_t tp = mesh.spec().tp, rows = view.extents[1], columns = view.extents[2];
    for (int64_t i = 0; i < info.local_experts; ++i) {
      const Floats& whole = weights[name + std::to_string(info.first_expert + i)];
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          const int64_t row = rows_cut ? mesh.here().tp * rows + r : r, column = rows_cut ? c : mesh.here().tp * columns + c;
          const int64_t width = rows_cut ? columns : columns * tp;
          EXPECT_EQ(local[(i * rows + r) * columns + c], whole[static_cast<size_t>(row * width + column)]);
        }
    }
  }
  return weights;
}

TEST(Case, P22_init) {
  const Session alone(MPI_COMM_NULL);
  const Mesh one(alone, case_mesh(1, 1, 1));
  const Weights expected = initial_weights(one, 7);
  for (auto a = expected.begin(); a != expected.end(); ++a) {
    for (auto b = std::next(a); b != expected.end(); ++b) {
      EXPECT_FALSE(same_bits(a->second, b->second)) << a->first << " = " << b->first;
    }
  }
  const Weights other_seed = initial_weights(one, 8);
  for (const auto& [name, values] : expected) EXPECT_FALSE(same_bits(values, other_seed.at(name))) << name;
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 4, 1), case_mesh(1, 2, 2), case_mesh(2, 2, 1), case_mesh(2, 2, 2)},
               [&](const Mesh& mesh, const Session&) {
                 const Weights found = initial_weights(mesh, 7);
                 for (const auto& [name, values] : expected) EXPECT_TRUE(same_bits(values, found.at(name))) << name;
               });
}

// Fills all that the library gets with 1e6, so that padding that leaks is seen.
void* poisoned(void*, int64_t bytes, int64_t alignment) {
  auto* data = static_cast<float*>(std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(bytes)));
  std::fill_n(data, bytes / 4, 1e6F);
  return data;
}
void release(void*, void* pointer, int64_t) { std::free(pointer); }

struct PoisonedContext {
  explicit PoisonedContext(MPI_Comm comm) {
    auto params = with_defaults(moemesh_context_params_init);
    if (comm != MPI_COMM_NULL) params.comm = moemesh_comm_from_mpi(comm);
    params.allocate = poisoned;
    params.free = release;
    params.threads = 1;
    params.timeout_seconds = 60;
    OK(moemesh_context_create(&params, &context));
  }
  ~PoisonedContext() { moemesh_context_destroy(&context); }
  moemesh_context context = nullptr;
};

struct AdamStep {
  Floats values;  // 10
  double norm = 0;
  moemesh_optimizer_bytes bytes{};
};

// Ten elements, p = g = 1..10, one AdamW step on dp ranks.
AdamStep ten_elements(MPI_Comm comm, int32_t dp, int32_t stage) {
  const PoisonedContext owner(comm);
  auto mesh_params = with_defaults(moemesh_mesh_params_init);
  mesh_params.dp = dp;
  mesh_params.order = "tp-ep-dp-pp";
  moemesh_mesh mesh = nullptr;
  OK(moemesh_mesh_create(owner.context, &mesh_params, &mesh));
  auto family_params = with_defaults(moemesh_family_params_init);
  family_params.kind = MOEMESH_EXPERT;
  moemesh_family family = nullptr;
  OK(moemesh_family_create(mesh, &family_params, &family));
  auto described = with_defaults(moemesh_parameter_params_init);
  described.name = "ten";
  described.experts = 1;
  described.rank = 1;
  described.extents[0] = 10;
  moemesh_parameter parameter = nullptr;
  OK(moemesh_parameter_register(family, &described, &parameter));
  OK(moemesh_family_commit(family));
  auto params = with_defaults(moemesh_optimizer_params_init);
  params.learning_rate = 0.1;
  params.expert_stage = stage;
  moemesh_optimizer optimizer = nullptr;
  OK(moemesh_optimizer_create(mesh, nullptr, family, &params, &optimizer));
  AdamStep step;
  for (int i = 1; i <= 10; ++i) step.values.push_back(static_cast<float>(i));
  const auto whole = view_of(step.values), stacked = view_of(step.values, {1, 10});
  OK(moemesh_parameter_write(parameter, MOEMESH_VALUE, 0, &whole));
  OK(moemesh_step_begin(optimizer, nullptr));
  OK(moemesh_gradient_ready(parameter, &stacked, nullptr));  // the same on each rank: the mean is i again
  auto result = sized<moemesh_update_result>();
  OK(moemesh_optimizer_step(optimizer, nullptr, &result));
  step.norm = result.norm;
  step.bytes = sized<moemesh_optimizer_bytes>();
  OK(moemesh_optimizer_get_bytes(optimizer, MOEMESH_EXPERT, &step.bytes));
  OK(moemesh_parameter_read(parameter, MOEMESH_VALUE, 0, &whole));
  moemesh_optimizer_destroy(&optimizer);
  moemesh_family_destroy(&family);
  OK(moemesh_mesh_finalize(mesh));
  moemesh_mesh_destroy(&mesh);
  OK(moemesh_context_finalize(owner.context));
  return step;
}

// 10 elements on 2, 3 and 4 ranks; the saved state of the case waits for checkpoints.
TEST(Case, P23_shard_padding) {
  const AdamStep alone = ten_elements(MPI_COMM_NULL, 1, 0);
  for (size_t i = 0; i < 10; ++i) EXPECT_NEAR(alone.values[i], static_cast<double>(i + 1) - 0.1, 1e-6);
  const std::map<int32_t, std::vector<int64_t>> shards{{1, {10}}, {2, {5, 5}}, {3, {4, 4, 2}}, {4, {3, 3, 3, 1}}};
  for (const auto& [dp, elements] : shards) {
    if (dp > world_size()) continue;
    const Ranks ranks(dp);
    if (!ranks.inside()) continue;
    SCOPED_TRACE(dp);
    for (const int32_t stage : {0, 1}) {
      const AdamStep step = ten_elements(ranks.comm(), dp, stage);
      EXPECT_NEAR(step.norm, std::sqrt(385.0), 1e-12);
      EXPECT_TRUE(same_bits(step.values, alone.values));
      EXPECT_EQ(step.bytes.shard_width, dp);
      EXPECT_EQ(step.bytes.elements, 10);
      EXPECT_EQ(step.bytes.moments, 8 * (stage == 0 ? 10 : elements.at(static_cast<size_t>(world_rank()))));
    }
  }
}

}  // namespace
}  // namespace moemesh::test
