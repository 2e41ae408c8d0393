// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// When gradients are reduced and values gathered changes no bit, whoever is late.

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "case_support.hpp"
#include "invariance_case.hpp"

namespace moemesh::test {
namespace {

// Each rank sleeps before its calls, now and then for longer than a layer takes.
class LateRanks {
 public:
  explicit LateRanks(uint32_t seed) : random_(seed * 1000 + static_cast<uint32_t>(world_rank()) + 1) {
    before_calls = [this] {
      const auto draw = random_() % 8;
      if (draw < 3) std::this_thread::sleep_for(std::chrono::microseconds(draw == 0 ? 2000 : 100 * draw));
    };
  }
  LateRanks(const LateRanks&) = delete;
  LateRanks& operator=(const LateRanks&) = delete;
  ~LateRanks() { before_calls = nullptr; }

 private:
  std::minstd_rand random_;
};

std::vector<MeshSpec> some_meshes() {
  switch (world_size()) {
    case 1:
      return {{}};
    case 2:
      return {{.ep = 2}, {.dp = 2}, {.tp = 2}};
    case 4:
      return {{.ep = 2, .dp = 2}, {.tp = 2, .dp = 2}, {.ep = 2, .pp = 2}, {.tp = 2, .ep = 2, .expert_tp = 1}};
    default:
      return {{.tp = 2, .ep = 2, .dp = 2}, {.ep = 2, .pp = 2, .dp = 2}, {.ep = 4, .dp = 2}};
  }
}

// The smallest are thousands of messages: not on slow machines (MOEMESH_TEST_SHARE, see invariance_test.cpp).
std::vector<int64_t> chunk_sizes() {
  if (std::getenv("MOEMESH_TEST_SHARE")) return {900};
  return world_size() < 8 ? std::vector<int64_t>{4, 52, 1 << 18} : std::vector<int64_t>{52};
}

std::string text_of(const RunOptions& o) {
  std::ostringstream text;
  text << "stage " << o.shared_stage << " overlap " << o.overlap << " prefetch " << o.prefetch << " chunks of "
       << o.chunk_bytes << " buckets of " << o.bucket_bytes;
  return text.str();
}

// bucket_bytes: the norm adds up by owners, so its bits may differ between ways to cut.
void compare(const std::string& name, int64_t bucket_bytes) {
  const Expected expected = oracle_run(case_of(name));
  const Session session;
  uint32_t seed = 0;
  for (const MeshSpec& spec : some_meshes()) {
    SCOPED_TRACE(to_string(spec));
    const Mesh mesh(session, spec);
    RunOptions options{.overlap = MOEMESH_OVERLAP_AFTER, .bucket_bytes = bucket_bytes};
    const RunRecord first = library_run(mesh, expected, options);
    expect_agreement(first, expected, 1e-5);
    for (const int32_t overlap : {MOEMESH_OVERLAP_AFTER, MOEMESH_OVERLAP_EAGER, MOEMESH_OVERLAP_GAPS})
      for (const int64_t chunk : chunk_sizes())
        for (const int32_t prefetch : {0, 1}) {
          options.overlap = overlap;
          options.chunk_bytes = chunk;
          options.prefetch = prefetch;
          options.shared_stage = options.expert_stage = (prefetch + overlap) % 2;
          SCOPED_TRACE(text_of(options));
          const LateRanks late(++seed);
          expect_same_bits(library_run(mesh, expected, options), first);
        }
  }
}

TEST(Overlap, ChangesNoBit) { compare("renorm_and_raw", 0); }
TEST(Overlap, ChangesNoBitWithABucketForEachParameter) { compare("padding_few_experts", 1); }
TEST(Overlap, ChangesNoBitWithBucketsOfSeveralParameters) { compare("sigmoid_many_choices", 900); }

// ---- values that come while the next step has begun

ModelSpec model_spec(int32_t prefetch, int32_t overlap) {
  ModelSpec spec;
  oracle::LayerConfig layer;
  layer.name = "moe";
  layer.hidden = 12;
  layer.ffn = 24;
  layer.experts = 4;
  layer.top_k = 2;
  spec.layers = {layer};
  for (const char* name : {"a1", "a2", "a10"})
    spec.shared.push_back({.name = name, .extents = {50}, .init_value = 0.5});
  spec.optimizer = sgd(0.5);
  spec.optimizer->prefetch = prefetch;
  spec.optimizer->overlap = overlap;
  spec.optimizer->bucket_bytes = 1;
  spec.optimizer->chunk_bytes = 16;
  return spec;
}

void step(const Model& model, int64_t shard) {
  const Floats x(3 * 12, 0.25F);
  Floats gradient(50);
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(i) + static_cast<float>(shard);
  const auto view = view_of(gradient, {50});
  model.begin();
  Tape tape;
  (void)model.forward(0, x, &tape);
  (void)model.backward(0, &tape, x);
  for (const char* name : {"a10", "a2", "a1"}) OK(moemesh_gradient_ready(model.parameter(name), &view, nullptr));
  model.update();
}

TEST(Prefetch, AcquireWaitsForTheValues) {
  const Session session;
  for (const MeshSpec& spec : {MeshSpec{.dp = world_size()}, MeshSpec{.ep = world_size()}})
    for (const int32_t overlap : {MOEMESH_OVERLAP_AFTER, MOEMESH_OVERLAP_EAGER, MOEMESH_OVERLAP_GAPS}) {
      const Mesh mesh(session, spec);
      const int64_t shards = spec.dp * spec.ep;
      const Model model(mesh, model_spec(1, overlap));
      for (int i = 1; i <= 3; ++i) {
        step(model, mesh.here().data_shard);
        for (const char* name : {"a2", "a1", "a10"}) {
          const Floats values = model.local_matrix(name);
          for (size_t e = 0; e < values.size(); ++e) {
            const float mean = static_cast<float>(e) + static_cast<float>(shards - 1) / 2;
            EXPECT_FLOAT_EQ(values[e], 0.5F - 0.5F * static_cast<float>(i) * mean) << name << " " << e;
          }
        }
      }
    }
}

// Destroyed, replaced and written while values are on their way.
TEST(Prefetch, EndsWithItsOptimizer) {
  const Session session;
  const Mesh mesh(session, {.dp = world_size()});
  Model model(mesh, model_spec(1, MOEMESH_OVERLAP_GAPS));
  step(model, mesh.here().data_shard);
  model.replace_optimizer(mesh, *model_spec(1, MOEMESH_OVERLAP_EAGER).optimizer);
  const Floats once = model.local_matrix("a10");
  EXPECT_FLOAT_EQ(once[7], 0.5F - 0.5F * (7 + static_cast<float>(world_size() - 1) / 2));
  step(model, mesh.here().data_shard);
  const Floats fresh(50, 3.0F);
  model.write("a2", fresh);
  EXPECT_EQ(model.local_matrix("a2"), fresh);
}

// One rank is in an exchange, where it begins no chunk, while another still waits for values: only for those that it asked for,
// or the two would wait for each other.
TEST(Prefetch, AWaitForOneBucketWaitsForNoOther) {
  const Session session;
  const Mesh mesh(session, {.ep = world_size()});
  ModelSpec spec = model_spec(1, MOEMESH_OVERLAP_GAPS);
  spec.shared.clear();
  spec.layers.clear();
  for (const char* name : {"moe0", "moe1", "moe2", "moe3"}) {
    oracle::LayerConfig layer;
    layer.name = name;
    layer.hidden = 24;
    layer.ffn = 16;
    layer.experts = 8;
    layer.top_k = 2;
    layer.shared_ffn = 16;
    spec.layers.push_back(layer);
  }
  spec.optimizer->bucket_bytes = 2000;
  spec.optimizer->chunk_bytes = 64;
  const Model model(mesh, spec);
  const Floats x(size_t{5} * 24, 0.25F);
  for (int i = 0; i < 60; ++i) {
    const LateRanks late(static_cast<uint32_t>(i));
    model.begin();
    std::vector<Tape> tapes(4);
    for (size_t l = 0; l < 4; ++l) (void)model.forward(l, x, &tapes[l]);
    for (size_t l = 4; l-- > 0;) (void)model.backward(l, &tapes[l], x);
    model.update();
  }
}

// A rank that leaves its layers out in a step goes to the step's end, where it takes part in what others wait for.
TEST(Prefetch, TheStepsEndGathersWhatOthersWaitFor) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const Session session;
  for (const int32_t overlap : {MOEMESH_OVERLAP_AFTER, MOEMESH_OVERLAP_EAGER, MOEMESH_OVERLAP_GAPS}) {
    const Mesh mesh(session, {.dp = world_size()});
    const Model model(mesh, model_spec(1, overlap));
    step(model, mesh.here().data_shard);
    model.begin();
    if (mesh.rank() == 0) (void)model.local_matrix("a10");
    model.update();
  }
}

// Half of the gradients are in and on their way when a rank fails: all of them hear of it, and the next step works.
TEST(Overlap, AStepThatFailsOnTheWayEndsEverywhere) {
  const Session session;
  for (const int32_t overlap : {MOEMESH_OVERLAP_EAGER, MOEMESH_OVERLAP_GAPS}) {
    const Mesh mesh(session, {.dp = world_size()});
    const Model model(mesh, model_spec(0, overlap));
    for (int round = 0; round < 3; ++round) {
      const Floats gradient(50, 1), x(3 * 12, 0.25F);
      const auto view = view_of(gradient, {50});
      model.begin();
      Tape tape;
      (void)model.forward(0, x, &tape);
      OK(moemesh_gradient_ready(model.parameter("a10"), &view, nullptr));
      const bool bad = round == 1 && mesh.rank() == world_size() - 1;
      if (!bad) OK(moemesh_gradient_ready(model.parameter("a2"), &view, nullptr));
      (void)model.backward(0, &tape, x);
      auto params = with_defaults(moemesh_update_params_init);
      if (bad) params.learning_rate = std::nan("");
      auto result = sized<moemesh_update_result>();
      const int32_t status = moemesh_optimizer_step(model.optimizer(), &params, &result);
      if (round == 1)
        EXPECT_NE(status, MOEMESH_OK);
      else
        EXPECT_EQ(status, MOEMESH_OK);
    }
    // A rank that did not begin the step takes part all the same.
    if (mesh.rank() > 0) model.begin();
    auto result = sized<moemesh_update_result>();
    EXPECT_EQ(moemesh_optimizer_step(model.optimizer(), nullptr, &result),
              mesh.rank() == 0 ? MOEMESH_ERROR_INVALID_STATE : MOEMESH_ERROR_STEP_FAILED);
    step(model, 0);
  }
}

// Dropped with gradients on their way.
TEST(Overlap, AStepIsDroppedOnTheWay) {
  const Session session;
  const Mesh mesh(session, {.dp = world_size()});
  const Model model(mesh, model_spec(0, MOEMESH_OVERLAP_EAGER));
  const Floats gradient(50, 1);
  const auto view = view_of(gradient, {50});
  const Floats before = model.local_matrix("a1");
  for (int i = 0; i < 2; ++i) {
    model.begin();
    OK(moemesh_gradient_ready(model.parameter("a1"), &view, nullptr));
    model.end(false);
  }
  EXPECT_EQ(model.local_matrix("a1"), before);
  step(model, 0);
}

// An optimizer that one rank refuses leaves no trace in how the others read parameters.
TEST(Buckets, ARefusedOptimizerLeavesTheFamiliesAsTheyWere) {
  const Session session;
  const Mesh mesh(session, {.dp = world_size()});
  ModelSpec spec = model_spec(0, MOEMESH_OVERLAP_GAPS);
  spec.shared.push_back({.name = "b", .extents = {37}, .init_kind = MOEMESH_INIT_NORMAL, .init_value = 1});
  const auto params = *spec.optimizer;
  spec.optimizer.reset();
  const Model model(mesh, spec);
  const Floats before = model.read("b"), first = model.read("a1");
  auto bad = params;
  if (mesh.rank() == world_size() - 1) bad.momentum = 2;
  moemesh_optimizer optimizer = nullptr;
  EXPECT_EQ(moemesh_optimizer_create(mesh.get(), model.shared(), model.expert(), &bad, &optimizer),
            MOEMESH_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(model.read("b"), before);
  EXPECT_EQ(model.read("a1"), first);  // of which the last rank has nothing where all are one bucket
  EXPECT_EQ(model.local_matrix("b"), before);
}

}  // namespace
}  // namespace moemesh::test
