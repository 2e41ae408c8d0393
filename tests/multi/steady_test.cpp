// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Steps like the ones before allocate nothing: neither activations, gradients and state nor the small arrays of plans,
// exchanges and handles. The learning rate is 0, so that the routing, and with it every size, stays what it was.
#include "allocations.hpp"
#include "case_support.hpp"

namespace moemesh::test {
namespace {

struct SteadyCase {
  int32_t kind = MOEMESH_SGD;
  int32_t stage = 0;
  int32_t dtype = MOEMESH_FLOAT32;
  int32_t objective = MOEMESH_SHARD_MEAN;
  int32_t recompute = MOEMESH_RECOMPUTE_NONE, chunks = 1, products = MOEMESH_PRODUCTS_FAST;
  bool replay = false;
};

ModelSpec model_spec(const SteadyCase& c) {
  oracle::LayerConfig layer;
  layer.hidden = 12;
  layer.ffn = 16;
  layer.experts = 8;
  layer.shared_ffn = 8;
  layer.top_k = 3;
  layer.aux_coefficient = 0.01;
  layer.capacity_factor = 1.5;
  layer.bias_rate = 1e-30;  // too little to move anything
  ModelSpec spec;
  spec.layers = {layer};
  spec.shared = {{.name = "scale", .extents = {3, 7}}};
  spec.dtype = c.dtype;
  spec.recompute = c.recompute;
  spec.chunks = c.chunks;
  spec.products = c.products;
  spec.optimizer->kind = c.kind;
  spec.optimizer->momentum = c.kind == MOEMESH_SGD ? 0.5 : 0;
  spec.optimizer->shared_stage = spec.optimizer->expert_stage = c.stage;
  spec.optimizer->learning_rate = 0;
  spec.optimizer->max_norm = 1;
  return spec;
}

Floats numbers(int64_t n, int64_t seed) {
  Floats values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>((i * 37 + seed * 101) % 53) / 26.5F - 1);
  return values;
}

void step(const Model& model, const SteadyCase& c, int64_t tokens) {
  const Floats x = numbers(tokens * 12, world_rank()), dy = numbers(tokens * 12, 7);
  Floats gradient(21, 0.25F);
  const auto view = view_of(gradient, {3, 7});
  model.begin(2, c.objective);
  for (int32_t m = 0; m < 2; ++m) {
    Tape tape;
    (void)model.forward(0, x, &tape, {.microbatch = m});
    if (c.replay) (void)model.replay(0, &tape, x);
    (void)model.backward(0, &tape, dy);
    OK(moemesh_gradient_ready(model.parameter("scale"), &view, nullptr));
    if (c.objective == MOEMESH_TOKEN_MEAN) OK(moemesh_loss_tokens(model.optimizer(), m, tokens));
  }
  EXPECT_EQ(model.update().skipped, 0);
}

void expect_steady(const MeshSpec& mesh_spec, const SteadyCase& c) {
  SCOPED_TRACE(testing::Message() << "mesh " << mesh_spec << " kind " << c.kind << " stage " << c.stage << " dtype "
                                  << c.dtype << " objective " << c.objective << " recompute " << c.recompute
                                  << " chunks " << c.chunks << " replay " << c.replay);
  const Session session;
  const Mesh mesh(session, mesh_spec);
  const Model model(mesh, model_spec(c));
  int64_t at_first = 0;
  {
    const AllocationCounter counter;
    step(model, c, 24);
    at_first = AllocationCounter::count();
  }
  EXPECT_GT(at_first, 0) << "the counter does not count";
  for (int i = 0; i < 2; ++i) step(model, c, 24);
  const AllocationCounter counter;
  step(model, c, 24);
  step(model, c, 9);
  step(model, c, 24);
  EXPECT_EQ(AllocationCounter::count(), 0) << "first by" << AllocationCounter::first();
}

std::vector<MeshSpec> meshes() {
  const auto n = static_cast<int32_t>(world_size());
  std::vector<MeshSpec> all = {{.ep = n}};
  if (n > 1) all.push_back({.dp = n});
  if (n == 2) all.push_back({.tp = 2});
  if (n == 4) all.push_back({.tp = 2, .ep = 2, .expert_tp = 1});
  return all;
}

TEST(Steady, StepsAllocateNothing) {
  if (!AllocationCounter::available()) GTEST_SKIP() << "a sanitizer has its own malloc";
  for (const MeshSpec& mesh : meshes())
    for (const int32_t kind : {MOEMESH_SGD, MOEMESH_ADAMW})
      for (const int32_t stage : {0, 1, 2}) expect_steady(mesh, {.kind = kind, .stage = stage});
}

TEST(Steady, RecomputeAndChunksAllocateNothing) {
  if (!AllocationCounter::available()) GTEST_SKIP() << "a sanitizer has its own malloc";
  for (const MeshSpec& mesh : meshes()) {
    expect_steady(mesh, {.recompute = MOEMESH_RECOMPUTE_SELECTIVE, .chunks = 2});
    expect_steady(mesh, {.dtype = MOEMESH_BFLOAT16,
                         .recompute = MOEMESH_RECOMPUTE_FULL,
                         .chunks = 3,
                         .products = MOEMESH_PRODUCTS_ROW_STABLE});
    expect_steady(mesh, {.recompute = MOEMESH_RECOMPUTE_FULL, .replay = true});
    expect_steady(mesh, {.recompute = MOEMESH_RECOMPUTE_SELECTIVE, .chunks = 3, .replay = true});
  }
}

TEST(Steady, Bfloat16StepsAllocateNothing) {
  if (!AllocationCounter::available()) GTEST_SKIP() << "a sanitizer has its own malloc";
  for (const int32_t stage : {1, 2})
    expect_steady(meshes().front(),
                  {.kind = MOEMESH_ADAMW, .stage = stage, .dtype = MOEMESH_BFLOAT16, .objective = MOEMESH_TOKEN_MEAN});
}

}  // namespace
}  // namespace moemesh::test
