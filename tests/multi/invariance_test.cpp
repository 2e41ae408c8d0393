// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Every mesh of the world's ranks gives what the oracle gives, on the same global batches from the same weights.

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

#include "invariance_case.hpp"

namespace moemesh::test {
namespace {

// Of relative norms, and the distance from ties that makes decisions sure.
double tolerance_of(const Case& setting) { return setting.dtype == MOEMESH_BFLOAT16 ? 2e-2 : 1e-5; }
double margin_of(const Case& setting) { return setting.dtype == MOEMESH_BFLOAT16 ? 2e-2 : 1e-3; }
constexpr double tolerance = 1e-5;

// The meshes of a world take turns through all pairs of stages, another one first in each case.
RunOptions stages_of(const Case& setting, size_t number) {
  constexpr int32_t pairs[][2] = {{1, 1}, {2, 2}, {0, 1}, {2, 1}, {1, 0}, {1, 2}, {0, 2}, {2, 0}, {0, 0}};
  const auto& pair = pairs[(setting.name.size() + number) % std::size(pairs)];
  return {.shared_stage = pair[0], .expert_stage = pair[1]};
}

// MOEMESH_TEST_SHARE=n: each case takes every n-th mesh, for slow machines and for a second MPI.
size_t share() {
  const char* text = std::getenv("MOEMESH_TEST_SHARE");
  return text ? static_cast<size_t>(std::max(1, std::atoi(text))) : 1;
}

class MeshInvariance : public ::testing::TestWithParam<std::string> {};

TEST_P(MeshInvariance, AgreesWithTheOracleOnEveryMesh) {
  const Expected expected = oracle_run(case_of(GetParam()));
  for (size_t l = 0; l < expected.setting.layers.size(); ++l) {
    const oracle::Array& bias = expected.phases[0].steps[0].biases[l];
    EXPECT_EQ(expected.setting.layers[l].bias_rate > 0, oracle::dot(bias, bias) > 0) << "no bias moved in layer " << l;
  }
  for (const ExpectedPhase& phase : expected.phases)
    for (const ExpectedStep& step : phase.steps) {
      EXPECT_GE(step.result.margin, margin_of(expected.setting)) << "the batch is too near to a tie of the router";
      EXPECT_LT(step.update.coefficient, 1.0) << "clipping is not active";
      for (const auto& layer : expected.setting.layers) {
        EXPECT_TRUE(layer.capacity_factor == 0 || step.result.dropped > 0) << "nothing is dropped";
        EXPECT_TRUE(layer.aux_coefficient == 0 || step.result.balance > 0) << "no balance loss";
      }
    }
  const Session session;
  const std::vector<MeshSpec> meshes = meshes_of(world_size());
  for (size_t i = expected.setting.name.size() % share(); i < meshes.size(); i += share()) {
    SCOPED_TRACE(to_string(meshes[i]));
    const Mesh mesh(session, meshes[i]);
    const RunOptions options = stages_of(expected.setting, i);
    SCOPED_TRACE("stages " + std::to_string(options.shared_stage) + ", " + std::to_string(options.expert_stage));
    expect_agreement(library_run(mesh, expected, options), expected, tolerance_of(expected.setting));
  }
}

// The same with the layers on different stages (some have none), through a pipeline. Each case takes a third of the meshes.
TEST_P(MeshInvariance, AgreesWithTheOracleThroughAPipeline) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const Expected expected = oracle_run(case_of(GetParam()));
  const Session session;
  const std::vector<MeshSpec> meshes = staged_meshes_of(world_size());
  const size_t step = (meshes.size() > 3 ? 3 : 1) * share();
  for (size_t i = expected.setting.name.size() % step; i < meshes.size(); i += step) {
    SCOPED_TRACE(to_string(meshes[i]));
    const Mesh mesh(session, meshes[i]);
    RunOptions options = stages_of(expected.setting, i);
    options.schedule = i % 2 == 0 ? MOEMESH_SCHEDULE_1F1B : MOEMESH_SCHEDULE_GPIPE;
    SCOPED_TRACE("stages " + std::to_string(options.shared_stage) + ", " + std::to_string(options.expert_stage));
    expect_agreement(library_run(mesh, expected, options), expected, tolerance_of(expected.setting));
  }
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Case& setting : invariance_cases()) names.push_back(setting.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, MeshInvariance, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

// With the axes in other orders the shards lie on other ranks; nothing else changes.
TEST(MeshOrder, AgreesWithTheOracle) {
  if (world_size() != 8) GTEST_SKIP() << "needs 8 ranks";
  const Expected expected = oracle_run(case_of("renorm_and_raw"));
  const Session session;
  for (const char* order : {"dp-pp-ep-tp", "ep-tp-dp-pp", "pp-dp-tp-ep"}) {
    for (const MeshSpec& spec : {MeshSpec{.tp = 2, .ep = 2, .pp = 1, .dp = 2, .order = order},
                                 MeshSpec{.tp = 2, .ep = 2, .pp = 1, .dp = 2, .expert_tp = 1, .order = order},
                                 MeshSpec{.tp = 4, .ep = 2, .pp = 1, .dp = 1, .expert_tp = 2, .order = order}}) {
      SCOPED_TRACE(to_string(spec));
      const Mesh mesh(session, spec);
      expect_agreement(library_run(mesh, expected), expected, tolerance);
    }
  }
}

// P22: initial weights depend on the seed, the name and the global expert, never on the mesh.
TEST(InitialWeights, AreTheSameBitsOnEveryMesh) {
  const ModelSpec spec = model_spec(case_of("sigmoid_many_choices"));
  const Session alone(MPI_COMM_NULL);
  const Mesh one(alone, {});
  const Model reference(one, spec);
  const auto weights = read_list(reference, MOEMESH_VALUE);
  EXPECT_EQ(std::set<Floats>(weights.begin(), weights.end()).size(), weights.size()) << "two matrices are equal";
  const Session session;
  for (const MeshSpec& mesh_spec : meshes_of(world_size())) {
    SCOPED_TRACE(to_string(mesh_spec));
    const Mesh mesh(session, mesh_spec);
    const auto here = read_list(Model(mesh, spec), MOEMESH_VALUE);
    ASSERT_EQ(here.size(), weights.size());
    for (size_t i = 0; i < here.size(); ++i) EXPECT_TRUE(same_bits(here[i], weights[i])) << "array " << i;
  }
}

TEST(InitialWeights, OfAnotherSeedDiffer) {
  ModelSpec spec = model_spec(case_of("sigmoid_many_choices"));
  const Session session;
  const Mesh mesh(session, {.ep = world_size()});
  const Floats first = Model(mesh, spec).read("a.w1", MOEMESH_VALUE, 3);
  spec.seed += 1;
  const Floats second = Model(mesh, spec).read("a.w1", MOEMESH_VALUE, 3);
  for (size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], second[i]) << i;
}

}  // namespace
}  // namespace moemesh::test
