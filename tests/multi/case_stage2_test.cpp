// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Stage 2: gradient_ready is collective, so ranks may be found in different calls, or a rank may fail or stay away. Nobody
// hangs (deadlines are short), every rank's step ends in STEP_FAILED, and the next step is right.
#include <functional>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

constexpr double deadline = 20;

struct Sums {
  explicit Sums(const Mesh& the_mesh) : mesh(the_mesh), model(the_mesh, spec()) {}
  static ModelSpec spec() {
    ModelSpec spec;
    spec.shared = {{.name = "a", .extents = {5}}, {.name = "b", .extents = {3}}, {.name = "c", .extents = {7}}};
    spec.expert = {{.name = "e", .extents = {4}, .experts = 3}};
    spec.optimizer = sgd(1);
    spec.optimizer->shared_stage = spec.optimizer->expert_stage = 2;
    return spec;
  }
  int32_t ready(const char* name, float value = 1) const {
    const auto about = model.info(name);
    const Floats gradient(static_cast<size_t>(about.elements), value);
    const bool expert = about.family == MOEMESH_EXPERT;
    const auto view = expert ? view_of(gradient, {about.local_experts, 4}) : view_of(gradient, {about.elements});
    return moemesh_gradient_ready(model.parameter(name), &view, nullptr);
  }
  int32_t end(bool update) const {
    return update ? moemesh_optimizer_step(model.optimizer(), nullptr, nullptr)
                  : moemesh_step_end(model.optimizer(), 1);
  }
  void expect_good_step() const {
    model.begin(2);
    for (int m = 0; m < 2; ++m)
      for (const char* name : {"a", "e", "b", "c"}) OK(ready(name, static_cast<float>(m + 1)));
    OK(end(false));
    EXPECT_EQ(model.read("a", MOEMESH_GRADIENT), Floats(5, 1.5F));
    EXPECT_EQ(model.read("c", MOEMESH_GRADIENT), Floats(7, 1.5F));
    EXPECT_EQ(model.read("e", MOEMESH_GRADIENT, 2), Floats(4, 1.5F / static_cast<float>(mesh.spec().ep)));
  }
  const Mesh& mesh;
  Model model;
};

const std::vector<MeshSpec>& stage2_meshes() {
  static const std::vector<MeshSpec> meshes{case_mesh(1, 1, 2), case_mesh(1, 2, 1), case_mesh(1, 2, 2),
                                            case_mesh(2, 1, 2), case_mesh(1, 1, 4), case_mesh(2, 2, 2)};
  return meshes;
}

// body(sums, whether this rank is the odd one); then the step must be lost everywhere, and the next good.
void lost_step(const std::function<void(const Sums&, bool)>& body) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh(
      stage2_meshes(),
      [&](const Place& place) {
        const Sums sums(place.mesh);
        for (const bool update : {true, false}) {
          sums.model.begin(2);
          // The odd ones: one data shard, all its tp peers.
          const int64_t odd = update ? place.mesh.data_shards() - 1 : 0;
          body(sums, place.mesh.here().data_shard == odd);
          EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, sums.end(update));
          sums.expect_good_step();
        }
      },
      deadline);
}

TEST(Stage2, CallsInAnotherOrder) {
  lost_step([](const Sums& sums, bool odd) {
    OK(sums.ready("a"));
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, sums.ready(odd ? "c" : "b"));
    EXPECT_NE(last_error().find("gradient_ready(b)"), std::string::npos) << last_error();
    EXPECT_NE(last_error().find("gradient_ready(c)"), std::string::npos) << last_error();
    OK(sums.ready(odd ? "b" : "c"));  // the step is lost, nothing is summed any more
    OK(sums.ready("a"));
  });
}

// The groups of the two families are not the same ranks: two of them could wait for each other.
TEST(Stage2, CallsOfTheFamiliesInAnotherOrder) {
  lost_step([](const Sums& sums, bool odd) {
    const bool experts_alone = sums.mesh.spec().dp == 1;  // of each expert there is one copy: no sum, no round
    EXPECT_STATUS(experts_alone ? MOEMESH_OK : MOEMESH_ERROR_MISMATCH, sums.ready(odd ? "e" : "a"));
    OK(sums.ready(odd ? "a" : "e"));
    if (experts_alone) EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, sums.ready(odd ? "b" : "c"));
  });
}

TEST(Stage2, ACallThatOneRankLeavesOut) {
  lost_step([](const Sums& sums, bool odd) {
    OK(sums.ready("a"));
    if (!odd) {
      EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, sums.ready("b"));
      OK(sums.ready("c"));
    }
  });
}

TEST(Stage2, AMicrobatchThatOneRankLeavesOut) {
  lost_step([](const Sums& sums, bool odd) {
    for (int m = 0; m < (odd ? 1 : 2); ++m)
      for (const char* name : {"a", "e", "b", "c"}) {
        const int32_t status = sums.ready(name);
        EXPECT_STATUS(m == 1 && name[0] == 'a' ? MOEMESH_ERROR_MISMATCH : MOEMESH_OK, status);
      }
  });
}

TEST(Stage2, AnArrayOfOneRankIsWrong) {
  lost_step([](const Sums& sums, bool odd) {
    OK(sums.ready("a"));
    Floats gradient(4, 1.0F);
    const auto wrong = view_of(gradient);
    const int32_t status = odd ? moemesh_gradient_ready(sums.model.parameter("b"), &wrong, nullptr) : sums.ready("b");
    EXPECT_STATUS(odd ? MOEMESH_ERROR_INVALID_ARGUMENT : MOEMESH_OK, status);
    for (const char* name : {"c", "e", "a", "b"}) OK(sums.ready(name));
  });
}

// A rank may fail far ahead of the others, and leave any number of calls out: nobody waits for it.
TEST(Stage2, ARankThatHasFailedIsNotWaitedFor) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm(), deadline);
  const Mesh mesh(session, case_mesh(1, 1, 2));
  const Sums sums(mesh);
  sums.model.begin(2);
  if (mesh.rank() == 1) {
    Floats gradient(4, 1.0F);
    const auto wrong = view_of(gradient);
    EXPECT_STATUS(MOEMESH_ERROR_INVALID_ARGUMENT, moemesh_gradient_ready(sums.model.parameter("b"), &wrong, nullptr));
    MPI_Barrier(ranks.comm());
  } else {
    for (const char* name : {"a", "b", "c", "e", "a", "b", "c", "e"}) OK(sums.ready(name));
    MPI_Barrier(ranks.comm());
  }
  EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, sums.end(true));
  sums.expect_good_step();
}

TEST(Stage2, ARankWithoutAnOpenStep) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh(
      stage2_meshes(),
      [](const Place& place) {
        const Sums sums(place.mesh);
        const bool odd = place.mesh.here().data_shard == 0;
        if (!odd) {
          sums.model.begin(1);
          EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, sums.ready("a"));
        }
        EXPECT_STATUS(odd ? MOEMESH_ERROR_INVALID_STATE : MOEMESH_ERROR_STEP_FAILED, sums.end(true));
        sums.expect_good_step();
      },
      deadline);
}

// More calls than microbatches, and calls outside a step, are this rank's own: the others need not hear of them.
TEST(Stage2, OneCallTooMany) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 1, 2)}, [](const Place& place) {
    const Sums sums(place.mesh);
    EXPECT_STATUS(MOEMESH_ERROR_INVALID_STATE, sums.ready("a"));
    sums.model.begin(1);
    OK(sums.ready("a"));
    EXPECT_STATUS(MOEMESH_ERROR_INVALID_STATE, sums.ready("a"));
    OK(sums.ready("b"));
    OK(sums.end(false));
    EXPECT_EQ(sums.model.read("a", MOEMESH_GRADIENT), Floats(5, 1.0F));
  });
}

// A block that fails in its forward has no backward for that microbatch, nor later for the others if it likes; its data-parallel
// peers go on with theirs.
void lost_block(const Mesh& mesh, bool goes_on) {
  auto optimizer = sgd(0);
  optimizer.shared_stage = optimizer.expert_stage = 2;
  ScaleModel scale(mesh, {.hidden = 2, .experts = 4, .optimizer = optimizer});
  const bool lost = mesh.here().dp == 1, wrong = lost && mesh.here().ep == 0 && mesh.here().tp == 0;
  Floats x(4, 1.0F), y(4, 0.0F), logits = route({0, 3}, 4);
  const auto good = view_of(x, {2, 2}), y_view = view_of(y, {2, 2}), logits_view = view_of(logits, {2, 4});
  auto broken = good;
  broken.strides[1] = 3;
  scale.model().begin(3);
  for (int32_t m = 0; m < 3; ++m) {
    if (m == 1 && lost) {
      auto forward = with_defaults(moemesh_forward_params_init);
      forward.x = wrong ? &broken : &good;
      forward.y = &y_view;
      forward.logits = &logits_view;
      forward.microbatch = m;
      Tape tape;
      EXPECT_STATUS(wrong ? MOEMESH_ERROR_INVALID_ARGUMENT : MOEMESH_ERROR_PEER_FAILED,
                    moemesh_layer_forward(scale.model().layer(0), &forward, tape.out()));
      if (!goes_on) break;
      continue;
    }
    Tape tape;
    scale.forward(x, logits, &tape, m);
    scale.backward_ones(&tape, 2);
  }
  EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, moemesh_optimizer_step(scale.model().optimizer(), nullptr, nullptr));
  scale.expect_good_step();
}

TEST(Stage2, ABlockLosesAMicrobatch) {
  if (world_size() < 4) GTEST_SKIP() << "needs 4 ranks";
  on_each_mesh(
      {case_mesh(1, 2, 2), case_mesh(2, 1, 2), case_mesh(2, 2, 2)},
      [](const Place& place) {
        lost_block(place.mesh, true);
        lost_block(place.mesh, false);
      },
      deadline);
}

// What the caller accumulates in is zero at first, goes with gradient_ready, and is zeroed by the next step too.
TEST(Stage2, TheMainGradientIsOfTheMicrobatch) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 1, 2), case_mesh(1, 2, 1)}, [](const Place& place) {
    const Sums sums(place.mesh);
    const Model& model = sums.model;
    const auto early = model.local_gradient("b");
    early.as<float>()[0] = 77;  // before the step: zeroed by its begin
    early.store();
    model.begin(2);
    for (int m = 0; m < 2; ++m) {
      const auto main = model.local_gradient("a");
      EXPECT_EQ(model.local_gradient("a").library.data, main.library.data);
      auto* values = main.as<float>();
      for (int i = 0; i < 5; ++i) EXPECT_EQ(values[i], 0.0F);
      for (int i = 0; i < 5; ++i) values[i] += static_cast<float>(i + m);
      main.store();
      OK(moemesh_gradient_ready(model.parameter("a"), nullptr, nullptr));
      OK(moemesh_gradient_ready(model.parameter("b"), nullptr, nullptr));
    }
    OK(sums.end(false));
    EXPECT_EQ(model.read("a", MOEMESH_GRADIENT), (Floats{0.5F, 1.5F, 2.5F, 3.5F, 4.5F}));
    EXPECT_EQ(model.read("b", MOEMESH_GRADIENT), Floats(3, 0.0F));
    auto bytes = sized<moemesh_optimizer_bytes>();
    OK(moemesh_optimizer_get_bytes(model.optimizer(), MOEMESH_SHARED, &bytes));
    EXPECT_EQ(bytes.bucket, (5 + 3) * 4) << "both were in use at a time, and are used again";
  });
}

// Longer than what one exchange carries (2^18 elements of each owner), next to another one in the same shards.
TEST(Stage2, ALongParameterGoesInSeveralPieces) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 1, 2), case_mesh(1, 1, 3)}, [](const Place& place) {
    constexpr int64_t n = 1000003;
    ModelSpec spec;
    spec.shared = {{.name = "a", .extents = {5}}, {.name = "long", .extents = {n}}};
    spec.optimizer = sgd(1);
    spec.optimizer->shared_stage = 2;
    const Model model(place.mesh, spec);
    Floats gradient(n), expected(n);
    for (size_t i = 0; i < gradient.size(); ++i) {
      expected[i] = static_cast<float>(i % 1021);
      gradient[i] = expected[i] + static_cast<float>(2 * place.mesh.rank() + 1 - place.mesh.spec().dp);
    }
    const auto view = view_of(gradient);
    model.begin();
    OK(moemesh_gradient_ready(model.parameter("long"), &view, nullptr));
    model.update();
    const Floats found = model.read("long", MOEMESH_GRADIENT), values = model.read("long");
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-4) << i;
      ASSERT_EQ(values[i], -found[i]) << i;
    }
    EXPECT_EQ(model.read("a", MOEMESH_GRADIENT), Floats(5, 0.0F));
  });
}

}  // namespace
}  // namespace moemesh::test
