// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Tied parameters: those of one name on the first and the last stage are one.
#include <cmath>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

// A tied matrix on both ends, and another parameter on each stage, so that the families differ in size.
ModelSpec spec_of(const Mesh& mesh, int32_t stage, int32_t tp_kind, int32_t dtype) {
  const int64_t pp = mesh.here().pp, last = mesh.spec().pp - 1;
  ModelSpec spec;
  spec.dtype = dtype;
  spec.optimizer->shared_stage = stage;
  spec.optimizer->learning_rate = 0.125;
  if (pp == 0 || pp == last)
    spec.shared.push_back({.name = "m.tied",
                           .extents = {7, 6},
                           .tp_kind = tp_kind,
                           .tp_dim = 1,
                           .init_kind = MOEMESH_INIT_NORMAL,
                           .init_value = 1,
                           .tied = 1});
  spec.shared.push_back({.name = "own", .extents = {3 + 2 * pp}, .init_value = 1});
  if (pp == 0) spec.shared.push_back({.name = "z", .extents = {5}});
  return spec;
}

// The gradient that one rank hands in of element i of the unsplit matrix: small integers, all sums exact.
float gradient_of(const moemesh_coordinates& at, int64_t i) {
  return static_cast<float>(1 + i % 5 + 3 * at.data_shard + 16 * at.pp);
}

void hand_in(const Mesh& mesh, const Model& model, const std::string& name, int64_t extra, bool partial) {
  const auto about = model.info(name);
  const auto here = mesh.here();
  const bool cut = about.tp_kind == MOEMESH_TP_SHARDED;
  std::vector<int64_t> extents(about.extents, about.extents + about.rank);
  if (cut) extents[1] /= mesh.spec().tp;
  Floats gradient;
  for (const int64_t place : model.local_places(name))
    gradient.push_back(gradient_of(here, place + extra) * (partial && here.tp != 0 ? 0.0F : 1.0F));
  if (gradient.empty())
    for (int64_t i = 0; i < about.elements; ++i) gradient.push_back(gradient_of(here, i + extra));
  const auto view = view_of(gradient, extents);
  OK(moemesh_gradient_ready(model.parameter(name), &view, nullptr));
}

// The mean over shards of a stage's gradient of element i.
double mean_of(const Mesh& mesh, int64_t stage, int64_t i) {
  double sum = 0;
  for (int64_t shard = 0; shard < mesh.data_shards(); ++shard) {
    moemesh_coordinates at{};
    at.pp = stage;
    at.data_shard = shard;
    sum += gradient_of(at, i);
  }
  return sum / static_cast<double>(mesh.data_shards());
}

bool at_ends(const Mesh& mesh) { return mesh.here().pp == 0 || mesh.here().pp == mesh.spec().pp - 1; }

// Whether all ranks at the ends have these bits; those between them hand in anything.
void expect_equal_at_ends(const Place& place, const Floats& mine) {
  Floats first(42, 0.0F), low(42), high(42);
  const bool counts = at_ends(place.mesh);
  low = counts ? mine : Floats(42, INFINITY);
  high = counts ? mine : Floats(42, -INFINITY);
  MPI_Allreduce(MPI_IN_PLACE, low.data(), 42, MPI_FLOAT, MPI_MIN, place.comm);
  MPI_Allreduce(MPI_IN_PLACE, high.data(), 42, MPI_FLOAT, MPI_MAX, place.comm);
  EXPECT_TRUE(same_bits(low, high));
}

void one_step(const Place& place, const Model& model, int32_t microbatches, int32_t tp_kind) {
  const Mesh& mesh = place.mesh;
  model.begin(microbatches);
  for (int32_t m = 0; m < microbatches; ++m) {
    if (at_ends(mesh)) hand_in(mesh, model, "m.tied", m, tp_kind == MOEMESH_TP_PARTIAL);
    hand_in(mesh, model, "own", m, false);
  }
  const auto result = model.update();
  const auto mean = [&](int64_t stage, int64_t i) {
    double sum = 0;
    for (int32_t m = 0; m < microbatches; ++m) sum += mean_of(mesh, stage, i + m);
    return sum / microbatches;
  };
  const int64_t last = mesh.spec().pp - 1;
  double squares = 0;
  std::vector<double> tied;
  for (int64_t i = 0; i < 42; ++i) {
    tied.push_back(mean(0, i) + (last > 0 ? mean(last, i) : 0));
    squares += tied.back() * tied.back();
  }
  for (int64_t stage = 0; stage <= last; ++stage)
    for (int64_t i = 0; i < 3 + 2 * stage; ++i) squares += mean(stage, i) * mean(stage, i);
  EXPECT_NEAR(result.norm, std::sqrt(squares), 1e-5 * std::sqrt(squares)) << "tied elements count once";
  Floats value;
  if (at_ends(mesh)) {
    const Floats gradient = model.read("m.tied", MOEMESH_GRADIENT);
    for (size_t i = 0; i < tied.size(); ++i) EXPECT_NEAR(gradient[i], tied[i], 1e-5 * tied[i]) << i;
    value = model.read("m.tied");
  }
  expect_equal_at_ends(place, value);
}

void train(const Place& place, int32_t stage, int32_t kind, int32_t tp_kind, int32_t dtype) {
  SCOPED_TRACE("stage " + std::to_string(stage) + " kind " + std::to_string(kind) + " tp " + std::to_string(tp_kind) +
               " dtype " + std::to_string(dtype));
  ModelSpec spec = spec_of(place.mesh, stage, tp_kind, dtype);
  spec.optimizer->kind = kind;
  const Model model(place.mesh, spec);
  const bool here = at_ends(place.mesh);
  const Floats before = here ? model.read("m.tied", MOEMESH_MASTER) : Floats();
  one_step(place, model, 1, tp_kind);
  if (here && kind == MOEMESH_SGD) {
    const Floats after = model.read("m.tied", MOEMESH_MASTER), gradient = model.read("m.tied", MOEMESH_GRADIENT);
    for (size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i], before[i] - 0.125F * gradient[i]);
  }
  one_step(place, model, 2, tp_kind);
  one_step(place, model, 2, tp_kind);
}

TEST(Tied, OneParameterOnTwoStages) {
  on_each_mesh({case_mesh(1, 1, 1, 2), case_mesh(1, 1, 2, 2), case_mesh(1, 2, 1, 2), case_mesh(2, 1, 1, 2),
                case_mesh(2, 1, 2, 2), case_mesh(1, 2, 2, 2), case_mesh(1, 1, 1, 4), case_mesh(1, 1, 2, 4),
                case_mesh(1, 1, 1, 1), case_mesh(1, 1, 2, 1), MeshSpec{.pp = 2, .dp = 2}},
               [](const Place& place) {
                 for (const int32_t stage : {0, 1, 2})
                   for (const int32_t kind : {MOEMESH_SGD, MOEMESH_ADAMW})
                     for (const int32_t tp : {MOEMESH_TP_REPLICA, MOEMESH_TP_SHARDED, MOEMESH_TP_PARTIAL})
                       if (tp == MOEMESH_TP_REPLICA || place.mesh.spec().tp > 1)
                         train(place, stage, kind, tp, tp == MOEMESH_TP_REPLICA ? MOEMESH_BFLOAT16 : MOEMESH_FLOAT32);
                 train(place, 1, MOEMESH_SGD, MOEMESH_TP_REPLICA, MOEMESH_FLOAT32);
               });
}

// Registers "t" of the given extent on this rank (0: not at all) and commits.
int32_t commit(const Mesh& mesh, const char* name, int64_t extent, int32_t tied, float* borrowed = nullptr) {
  auto family_params = with_defaults(moemesh_family_params_init);
  family_params.kind = MOEMESH_SHARED;
  moemesh_family family = nullptr;
  OK(moemesh_family_create(mesh.get(), &family_params, &family));
  auto params = with_defaults(moemesh_parameter_params_init);
  params.name = name;
  params.rank = 1;
  params.extents[0] = extent;
  params.tied = tied;
  params.data = borrowed;
  moemesh_parameter parameter = nullptr;
  if (extent > 0) OK(moemesh_parameter_register(family, &params, &parameter));
  const int32_t status = moemesh_family_commit(family);
  moemesh_family_destroy(&family);
  return status;
}

TEST(Tied, BothStagesMustRegisterItAlike) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({case_mesh(1, 1, 1, 2), case_mesh(1, 1, 2, 2), case_mesh(1, 1, 1, 4)}, [](const Place& place) {
    const Mesh& mesh = place.mesh;
    const int64_t pp = mesh.here().pp, last = mesh.spec().pp - 1;
    const bool ends = at_ends(mesh);
    OK(commit(mesh, "t", ends ? 4 : 0, 1));
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, commit(mesh, "t", !ends ? 0 : pp == 0 ? 4 : 5, 1));
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, commit(mesh, pp == 0 ? "t" : "u", ends ? 4 : 0, 1));
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, commit(mesh, "t", pp == last ? 4 : 0, 1));
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, commit(mesh, "t", ends ? 4 : 0, pp == 0 ? 1 : 0));
    if (last > 1) EXPECT_STATUS(MOEMESH_ERROR_INVALID_ARGUMENT, commit(mesh, "t", 4, 1));
    OK(commit(mesh, "t", ends ? 4 : 0, 1));
  });
}

TEST(Tied, BorrowedValuesMustBeEqual) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({case_mesh(1, 1, 1, 2), case_mesh(1, 2, 1, 2)}, [](const Place& place) {
    const bool first = place.mesh.here().pp == 0;
    Floats values{1, 2, 3, 4};
    OK(commit(place.mesh, "t", 4, 1, values.data()));
    if (!first) values[3] = 5;
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, commit(place.mesh, "t", 4, 1, values.data()));
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, commit(place.mesh, "t", 4, 1, first ? values.data() : nullptr));
  });
}

}  // namespace
}  // namespace moemesh::test
