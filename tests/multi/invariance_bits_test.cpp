// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Runs that must not differ in a single bit: another stage, the same again, forwards without training in between.

#include "invariance_case.hpp"

namespace moemesh::test {
namespace {

// Meshes that between them have every axis wide and narrow.
std::vector<MeshSpec> some_meshes() {
  if (world_size() < 8) return meshes_of(world_size());
  return {{.tp = 2, .ep = 2, .dp = 2}, {.ep = 2, .dp = 4}, {.tp = 2, .ep = 4}, {.tp = 4, .ep = 2, .expert_tp = 2}};
}

class Bits : public ::testing::TestWithParam<std::string> {};

TEST_P(Bits, DoNotDependOnTheStage) {
  const Expected expected = oracle_run(case_of(GetParam()));
  const Session session;
  for (const MeshSpec& spec : some_meshes()) {
    SCOPED_TRACE(to_string(spec));
    const Mesh mesh(session, spec);
    const RunRecord stage0 = library_run(mesh, expected, {.shared_stage = 0, .expert_stage = 0});
    expect_same_bits(library_run(mesh, expected, {.shared_stage = 1, .expert_stage = 1}), stage0);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Bits, ::testing::Values("renorm_and_raw", "padding_few_experts", "biased"),
                         [](const auto& test) { return test.param; });

TEST(Repeat, GivesTheSameBits) {
  const Expected expected = oracle_run(case_of("sigmoid_many_choices"));
  const Session session;
  for (const MeshSpec& spec : some_meshes()) {
    SCOPED_TRACE(to_string(spec));
    const Mesh mesh(session, spec);
    const RunRecord first = library_run(mesh, expected);
    expect_same_bits(library_run(mesh, expected), first);
  }
}

TEST(ForwardWithoutTraining, GivesTheSameOutputAndChangesNothing) {
  const Session session;
  for (const char* name : {"padding_few_experts", "biased"}) {
    const Expected expected = oracle_run(case_of(name));
    for (const MeshSpec& spec : some_meshes()) {
      SCOPED_TRACE(to_string(spec));
      const Mesh mesh(session, spec);
      const RunRecord plain = library_run(mesh, expected);
      expect_same_bits(library_run(mesh, expected, {.extra_inference = true}), plain);
    }
  }
}

TEST(ForwardWithoutTraining, NeedsNoStepAndCountsNothing) {
  const Session session;
  const Mesh mesh(session, {.ep = world_size()});
  const Model model(mesh, model_spec(case_of("sigmoid_many_choices")));
  const auto width = static_cast<size_t>(model.spec().layers[0].hidden);
  const Floats three(3 * width, 0.5F), five(5 * width, 0.25F);
  {
    Model trained(mesh, model_spec(case_of("sigmoid_many_choices")));
    trained.replace_optimizer(mesh, with_defaults(moemesh_optimizer_params_init));
    trained.begin();
    Tape tape;
    const Floats y = trained.forward(0, three, &tape);
    EXPECT_TRUE(same_bits(model.forward(0, three, nullptr, {.training = 0}), y));
    trained.forward(0, five, nullptr, {.training = 0});
    auto statistics = sized<moemesh_layer_statistics>();
    OK(moemesh_layer_get_statistics(trained.layer(0), &statistics));
    EXPECT_EQ(statistics.tokens, 3);
    EXPECT_EQ(statistics.rows, 3 * trained.spec().layers[0].top_k);
    trained.end(false);
  }
}

// Tapes of several layers and microbatches, taken back in every order.
TEST(Tapes, BackwardInAnyOrderGivesTheSameInputGradients) {
  const Session session;
  const Mesh mesh(session, {.ep = world_size()});
  Model model(mesh, model_spec(case_of("sigmoid_many_choices")));
  model.replace_optimizer(mesh, with_defaults(moemesh_optimizer_params_init));
  const auto width = static_cast<size_t>(model.spec().layers[0].hidden);
  std::vector<Floats> x;
  oracle::Random random(static_cast<uint64_t>(world_rank()) + 5);
  for (size_t m = 0; m < 3; ++m)
    x.push_back(to_floats(random.uniform_array(static_cast<int64_t>((2 + m) * width), -1, 1)));
  std::vector<Floats> first(3);
  for (const std::vector<size_t>& order : std::vector<std::vector<size_t>>{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    model.begin(3);
    std::vector<Tape> tapes(3);
    for (size_t m = 0; m < 3; ++m) model.forward(0, x[m], &tapes[m], {.microbatch = static_cast<int32_t>(m)});
    for (const size_t m : order) {
      const Floats dx = model.backward(0, &tapes[m], x[m]);
      if (first[m].empty()) first[m] = dx;
      EXPECT_TRUE(same_bits(dx, first[m])) << "microbatch " << m;
    }
    model.end(false);
  }
}

}  // namespace
}  // namespace moemesh::test
