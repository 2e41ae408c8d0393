// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Handles: destroyed twice, stale, foreign, and parents that go before their children.
#include <utility>

#include "support.hpp"

namespace capi_test {
namespace {

template <class Handle>
void destroy_twice(void (*destroy)(Handle*), Handle handle) {
  ASSERT_NE(handle, nullptr);
  destroy(&handle);
  EXPECT_EQ(handle, nullptr);
  destroy(&handle);
  EXPECT_EQ(handle, nullptr);
  destroy(nullptr);
}

TEST(Case, P38_destroy_twice_or_null) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  moemesh_tape tape = nullptr;
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  destroy_twice(moemesh_tape_destroy, tape);
  const moemesh_optimizer optimizer = std::exchange(model.optimizer, nullptr);
  destroy_twice(moemesh_optimizer_destroy, optimizer);
  destroy_twice(moemesh_layer_destroy, std::exchange(model.layer, nullptr));
  destroy_twice(moemesh_family_destroy, std::exchange(model.shared, nullptr));
  destroy_twice(moemesh_family_destroy, std::exchange(model.expert, nullptr));
  ASSERT_EQ(moemesh_mesh_finalize(model.mesh), MOEMESH_OK);
  destroy_twice(moemesh_mesh_destroy, std::exchange(model.mesh, nullptr));
  ASSERT_EQ(moemesh_context_finalize(model.context), MOEMESH_OK);
  destroy_twice(moemesh_context_destroy, std::exchange(model.context, nullptr));
}

// Everything above the optimizer, the layer and a tape is destroyed; they go on to work.
TEST(Case, P38_parents_outlive_children) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  moemesh_context_destroy(&model.context);
  moemesh_mesh_destroy(&model.mesh);
  moemesh_family_destroy(&model.shared);
  moemesh_family_destroy(&model.expert);
  ASSERT_EQ(model.step(), MOEMESH_OK);
  model.expect_right();
  // A tape keeps its layer.
  moemesh_tape tape = nullptr;
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  moemesh_layer_destroy(&model.layer);
  ASSERT_EQ(model.backward(&tape), MOEMESH_OK);
  EXPECT_EQ(tape, nullptr);
  ASSERT_EQ(model.update(), MOEMESH_OK);
}

// An optimizer that goes leaves its families free for another one.
TEST(Case, P38_families_outlive_their_optimizer) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  moemesh_tape tape = nullptr;
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  const auto params = defaults(moemesh_optimizer_params_init);
  moemesh_optimizer second = nullptr;
  EXPECT_EQ(moemesh_optimizer_create(model.mesh, model.shared, model.expert, &params, &second),
            MOEMESH_ERROR_INVALID_STATE);
  moemesh_optimizer_destroy(&model.optimizer);
  EXPECT_EQ(model.backward(&tape), MOEMESH_ERROR_INVALID_STATE);  // its step is gone
  moemesh_tape_destroy(&tape);
  ASSERT_EQ(moemesh_optimizer_create(model.mesh, model.shared, model.expert, &params, &model.optimizer), MOEMESH_OK);
  ASSERT_EQ(model.step(), MOEMESH_OK);
  model.expect_right();
}

TEST(Case, P38_stale_copies) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  moemesh_tape tape = nullptr;
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  moemesh_tape tape_copy = tape;
  const moemesh_layer layer = model.layer;
  const moemesh_optimizer optimizer = model.optimizer;
  const moemesh_family family = model.expert;
  const moemesh_parameter parameter = model.w1;
  const moemesh_mesh mesh = model.mesh;
  const moemesh_context context = model.context;
  moemesh_tape_destroy(&tape);
  model.destroy();
  auto statistics = result_struct<moemesh_layer_statistics>();
  auto info = result_struct<moemesh_context_info>();
  moemesh_parameter found = nullptr;
  moemesh_view view;
  int64_t count = 0;
  constexpr auto dead = MOEMESH_ERROR_INVALID_HANDLE;
  EXPECT_EQ(model.backward(&tape_copy), dead);
  EXPECT_EQ(moemesh_layer_get_statistics(layer, &statistics), dead);
  EXPECT_EQ(moemesh_optimizer_step(optimizer, nullptr, nullptr), dead);
  EXPECT_EQ(moemesh_step_begin(optimizer, nullptr), dead);
  EXPECT_EQ(moemesh_parameter_find(family, "moe.w1", &found), dead);
  EXPECT_EQ(moemesh_family_commit(family), dead);
  EXPECT_EQ(moemesh_parameter_acquire(parameter, nullptr, &view), dead);
  EXPECT_EQ(moemesh_ledger_get_count(mesh, &count), dead);
  EXPECT_EQ(moemesh_mesh_finalize(mesh), dead);
  EXPECT_EQ(moemesh_context_get_info(context, &info), dead);
  EXPECT_EQ(moemesh_context_finalize(context), dead);
  int64_t length = 0;
  EXPECT_EQ(moemesh_last_error(context, nullptr, 0, &length), dead);
  // Through the copies nothing happens, and new objects do not get old handles.
  moemesh_context copy = context;
  moemesh_context_destroy(&copy);
  EXPECT_EQ(copy, nullptr);
  Model second;
  ASSERT_EQ(second.create(), MOEMESH_OK);
  EXPECT_NE(second.context, context);
  EXPECT_EQ(moemesh_context_get_info(context, &info), dead);
}

TEST(Case, P38_foreign_and_wild_handles) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  auto info = result_struct<moemesh_context_info>();
  int64_t count = 0;
  EXPECT_EQ(moemesh_context_get_info(reinterpret_cast<moemesh_context>(model.mesh), &info),
            MOEMESH_ERROR_INVALID_HANDLE);
  EXPECT_EQ(moemesh_ledger_get_count(reinterpret_cast<moemesh_mesh>(model.layer), &count),
            MOEMESH_ERROR_INVALID_HANDLE);
  EXPECT_EQ(moemesh_ledger_get_count(reinterpret_cast<moemesh_mesh>(&count), &count), MOEMESH_ERROR_INVALID_HANDLE);
  EXPECT_EQ(moemesh_ledger_get_count(reinterpret_cast<moemesh_mesh>(uintptr_t{1}), &count),
            MOEMESH_ERROR_INVALID_HANDLE);
  // Destroy with a handle of another kind leaves the object.
  auto foreign = reinterpret_cast<moemesh_context>(model.mesh);
  moemesh_context_destroy(&foreign);
  EXPECT_EQ(moemesh_ledger_get_count(model.mesh, &count), MOEMESH_OK);
}

TEST(Case, P38_backward_before_forward_and_twice) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  moemesh_tape tape = nullptr;
  EXPECT_EQ(model.backward(&tape), MOEMESH_ERROR_INVALID_HANDLE);
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  moemesh_tape copy = tape;
  ASSERT_EQ(model.backward(&tape), MOEMESH_OK);
  EXPECT_EQ(tape, nullptr);
  EXPECT_EQ(model.backward(&tape), MOEMESH_ERROR_INVALID_HANDLE);
  EXPECT_EQ(model.backward(&copy), MOEMESH_ERROR_INVALID_HANDLE);
  ASSERT_EQ(model.update(), MOEMESH_OK);
  model.expect_right();
}

// The parameter handles of a destroyed family that nothing keeps are dead, not dangling.
TEST(Case, P38_parameters_die_with_their_family) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  auto params = defaults(moemesh_family_params_init);
  params.kind = MOEMESH_SHARED;
  moemesh_family family = nullptr;
  ASSERT_EQ(moemesh_family_create(model.mesh, &params, &family), MOEMESH_OK);
  auto described = defaults(moemesh_parameter_params_init);
  described.name = "p";
  described.rank = 1;
  described.extents[0] = 3;
  moemesh_parameter parameter = nullptr;
  ASSERT_EQ(moemesh_parameter_register(family, &described, &parameter), MOEMESH_OK);
  auto info = result_struct<moemesh_parameter_info>();
  EXPECT_EQ(moemesh_parameter_get_info(parameter, &info), MOEMESH_OK);
  moemesh_family_destroy(&family);
  EXPECT_EQ(moemesh_parameter_get_info(parameter, &info), MOEMESH_ERROR_INVALID_HANDLE);
}

TEST(Lifecycle, CallsInTheWrongState) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  constexpr auto state = MOEMESH_ERROR_INVALID_STATE;
  moemesh_tape tape = nullptr;
  EXPECT_EQ(model.forward(&tape), state);  // no step
  EXPECT_EQ(model.update(), state);
  EXPECT_EQ(moemesh_step_end(model.optimizer, 0), state);
  EXPECT_EQ(moemesh_loss_tokens(model.optimizer, 0, 1), state);
  EXPECT_EQ(moemesh_gradient_ready(model.w1, nullptr, nullptr), state);
  EXPECT_EQ(moemesh_family_commit(model.expert), state);
  EXPECT_EQ(moemesh_parameter_release(model.w1), state);
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  EXPECT_EQ(model.begin(), state);
  EXPECT_EQ(moemesh_loss_tokens(model.optimizer, 0, 1), state);  // not TOKEN_MEAN
  const auto counters = result_struct<moemesh_optimizer_counters>();
  EXPECT_EQ(moemesh_optimizer_set_counters(model.optimizer, &counters), state);
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  ASSERT_EQ(model.backward(&tape), MOEMESH_OK);
  EXPECT_EQ(moemesh_gradient_ready(model.w1, nullptr, nullptr), state);  // once per microbatch
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  EXPECT_EQ(model.backward(&tape), state);  // a second backward of a step of one microbatch
  moemesh_tape_destroy(&tape);
}

TEST(Lifecycle, ATapeEndsWithItsStep) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  moemesh_tape tape = nullptr;
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  ASSERT_EQ(model.update(), MOEMESH_OK);
  EXPECT_EQ(model.backward(&tape), MOEMESH_ERROR_INVALID_STATE);  // no step
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  EXPECT_EQ(model.backward(&tape), MOEMESH_ERROR_INVALID_STATE);  // another step
  ASSERT_NE(tape, nullptr);
  moemesh_tape_destroy(&tape);
  ASSERT_EQ(model.update(), MOEMESH_OK);
}

TEST(Lifecycle, FinalizeOrder) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  EXPECT_EQ(moemesh_context_finalize(model.context), MOEMESH_ERROR_INVALID_STATE);  // the mesh is not
  ASSERT_EQ(moemesh_mesh_finalize(model.mesh), MOEMESH_OK);
  EXPECT_EQ(moemesh_mesh_finalize(model.mesh), MOEMESH_ERROR_INVALID_STATE);
  EXPECT_EQ(model.begin(), MOEMESH_ERROR_INVALID_STATE);  // of a finalized mesh only destroy is left
  ASSERT_EQ(moemesh_context_finalize(model.context), MOEMESH_OK);
  EXPECT_EQ(moemesh_context_finalize(model.context), MOEMESH_ERROR_INVALID_STATE);
  moemesh_mesh_destroy(&model.mesh);
  moemesh_context_destroy(&model.context);
}

TEST(Lifecycle, APlannedMeshOnlyAnswers) {
  auto params = defaults(moemesh_mesh_params_init);
  params.ep = 4;
  params.dp = 2;
  moemesh_mesh mesh = nullptr;
  ASSERT_EQ(moemesh_mesh_plan(nullptr, 8, &params, &mesh), MOEMESH_OK);
  auto group = result_struct<moemesh_group>();
  EXPECT_EQ(moemesh_mesh_get_group(mesh, MOEMESH_GROUP_EXPERT_GRADIENT, 5, &group), MOEMESH_OK);
  EXPECT_EQ(group.size, 2);
  constexpr auto state = MOEMESH_ERROR_INVALID_STATE;
  auto family_params = defaults(moemesh_family_params_init);
  family_params.kind = MOEMESH_SHARED;
  moemesh_family family = nullptr;
  float value = 0;
  const moemesh_view view = dense(MOEMESH_FLOAT32, {1}, &value);
  EXPECT_EQ(moemesh_family_create(mesh, &family_params, &family), state);
  EXPECT_EQ(moemesh_all_reduce(mesh, MOEMESH_AXIS_EP, MOEMESH_SUM, &view), state);
  EXPECT_EQ(moemesh_mesh_finalize(mesh), state);
  EXPECT_EQ(family, nullptr);
  int64_t count = -777;
  EXPECT_EQ(moemesh_ledger_get_count(mesh, &count), state);
  EXPECT_EQ(count, -777);
  EXPECT_EQ(moemesh_ledger_reset(mesh), state);
  moemesh_mesh_destroy(&mesh);
}

TEST(Lifecycle, SeveralContextsAtOnce) {
  Model a, b, c;
  for (Model* model : {&a, &b, &c}) ASSERT_EQ(model->create(), MOEMESH_OK);
  for (Model* model : {&c, &a, &b}) ASSERT_EQ(model->step(), MOEMESH_OK);
  // Objects of different contexts do not mix.
  moemesh_optimizer optimizer = nullptr;
  const auto params = defaults(moemesh_optimizer_params_init);
  EXPECT_EQ(moemesh_optimizer_create(a.mesh, b.shared, b.expert, &params, &optimizer), MOEMESH_ERROR_INVALID_ARGUMENT);
  b.destroy();
  for (Model* model : {&a, &c}) {
    ASSERT_EQ(model->step(), MOEMESH_OK);
    model->expect_right();
  }
}

TEST(Lifecycle, TwentyContextsOneAfterTheOther) {
  for (int round = 0; round < 20; ++round) {
    Model model;
    ASSERT_EQ(model.create(), MOEMESH_OK) << "round " << round;
    ASSERT_EQ(model.step(), MOEMESH_OK) << "round " << round;
    model.expect_right();
  }
}

}  // namespace
}  // namespace capi_test
