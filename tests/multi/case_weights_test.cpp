// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P22, P23: initial weights, and optimizer shards that don't divide.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "case_support.hpp"
#include "moemesh_mpi.h"

namespace moemesh::test {
namespace {

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
  for (const char* name : {"moe.router", "moe.shared.w1", "moe.shared.wg", "moe.shared.w2"})
    weights[name] = model.read(name);
  for (const std::string name : {"moe.w1", "moe.wg", "moe.w2"}) {
    for (int64_t e = 0; e < 4; ++e) weights[name + std::to_string(e)] = model.read(name, MOEMESH_VALUE, e);
    // Not what the owner has, but what each replica holds itself.
    const auto info = model.info(name);
    const auto array = model.local_values(name);
    const moemesh_view& view = array.view;
    const auto* local = array.as<float>();
    const bool rows_cut = name != "moe.w2";
    const int64_t tp = mesh.spec().tp, rows = view.extents[1], columns = view.extents[2];
    for (int64_t i = 0; i < info.local_experts; ++i) {
      const Floats& whole = weights[name + std::to_string(info.first_expert + i)];
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          const int64_t row = rows_cut ? mesh.here().tp * rows + r : r,
                        column = rows_cut ? c : mesh.here().tp * columns + c;
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
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(1, 4, 1), case_mesh(1, 2, 2), case_mesh(2, 2, 1),
                case_mesh(2, 2, 2)},
               [&](const Place& place) {
                 const Weights found = initial_weights(place.mesh, 7);
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
