// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// NULL for every pointer and every handle of every function, one at a time, the other arguments good.
#include "support.hpp"

namespace capi_test {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
constexpr auto dead = MOEMESH_ERROR_INVALID_HANDLE;

// The status, and that the text names the argument.
#define EXPECT_REFUSED(expected, argument, call)                                                \
  do {                                                                                          \
    EXPECT_STREQ(moemesh_status_name(call), moemesh_status_name(expected)) << #call;            \
    EXPECT_NE(last_error().find(argument), std::string::npos) << #call << ": " << last_error(); \
  } while (false)

class Null : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(model.create(), MOEMESH_OK); }

  Model model;
  float value = 0;
  const moemesh_view view = dense(MOEMESH_FLOAT32, {1}, &value);
};

TEST(Case, P38_null_version_and_view) {
  int32_t n = 0;
  const int64_t extent = 1;
  moemesh_view view;
  EXPECT_REFUSED(bad, "major", moemesh_version(nullptr, &n, &n));
  EXPECT_REFUSED(bad, "minor", moemesh_version(&n, nullptr, &n));
  EXPECT_REFUSED(bad, "patch", moemesh_version(&n, &n, nullptr));
  EXPECT_REFUSED(bad, "view", moemesh_view_init(nullptr, MOEMESH_FLOAT32, 1, &extent, nullptr));
  EXPECT_REFUSED(bad, "extents", moemesh_view_init(&view, MOEMESH_FLOAT32, 1, nullptr, nullptr));
  EXPECT_REFUSED(bad, "buffer", moemesh_last_error(nullptr, nullptr, 8, nullptr));
  EXPECT_EQ(moemesh_last_error(nullptr, nullptr, 0, nullptr), MOEMESH_OK);
}

TEST(Case, P38_null_runtime_info) { EXPECT_REFUSED(bad, "info", moemesh_runtime_get_info(nullptr)); }

TEST_F(Null, P38_context) {
  auto info = result_struct<moemesh_context_info>();
  EXPECT_REFUSED(bad, "context", moemesh_context_create(nullptr, nullptr));
  EXPECT_REFUSED(dead, "context", moemesh_context_get_info(nullptr, &info));
  EXPECT_REFUSED(bad, "info", moemesh_context_get_info(model.context, nullptr));
  EXPECT_REFUSED(dead, "context", moemesh_context_finalize(nullptr));
  moemesh_context second = nullptr;  // params NULL = defaults
  ASSERT_EQ(moemesh_context_create(nullptr, &second), MOEMESH_OK);
  EXPECT_EQ(moemesh_context_finalize(second), MOEMESH_OK);
  moemesh_context_destroy(&second);
}

TEST_F(Null, P38_mesh) {
  const auto params = defaults(moemesh_mesh_params_init);
  moemesh_mesh mesh = nullptr;
  EXPECT_REFUSED(dead, "context", moemesh_mesh_create(nullptr, &params, &mesh));
  EXPECT_REFUSED(bad, "mesh_params", moemesh_mesh_create(model.context, nullptr, &mesh));
  EXPECT_REFUSED(bad, "mesh", moemesh_mesh_create(model.context, &params, nullptr));
  EXPECT_REFUSED(bad, "mesh_params", moemesh_mesh_plan(nullptr, 1, nullptr, &mesh));
  EXPECT_REFUSED(bad, "mesh", moemesh_mesh_plan(nullptr, 1, &params, nullptr));
  EXPECT_EQ(mesh, nullptr);
  EXPECT_REFUSED(dead, "mesh", moemesh_mesh_finalize(nullptr));
}

TEST_F(Null, P38_mesh_queries) {
  auto coordinates = result_struct<moemesh_coordinates>();
  auto group = result_struct<moemesh_group>();
  auto report = result_struct<moemesh_axis_report>();
  int64_t n = 0;
  EXPECT_REFUSED(dead, "mesh", moemesh_mesh_get_coordinates(nullptr, 0, &coordinates));
  EXPECT_REFUSED(bad, "coordinates", moemesh_mesh_get_coordinates(model.mesh, 0, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_mesh_get_group(nullptr, MOEMESH_AXIS_EP, 0, &group));
  EXPECT_REFUSED(bad, "group", moemesh_mesh_get_group(model.mesh, MOEMESH_AXIS_EP, 0, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_mesh_get_group_member(nullptr, MOEMESH_AXIS_EP, 0, 0, &n));
  EXPECT_REFUSED(bad, "member", moemesh_mesh_get_group_member(model.mesh, MOEMESH_AXIS_EP, 0, 0, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_mesh_get_axis_report(nullptr, MOEMESH_AXIS_EP, &report));
  EXPECT_REFUSED(bad, "report", moemesh_mesh_get_axis_report(model.mesh, MOEMESH_AXIS_EP, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_mesh_get_experts(nullptr, 4, 0, &n, &n));
  EXPECT_REFUSED(bad, "first", moemesh_mesh_get_experts(model.mesh, 4, 0, nullptr, &n));
  EXPECT_REFUSED(bad, "count", moemesh_mesh_get_experts(model.mesh, 4, 0, &n, nullptr));
}

TEST_F(Null, P38_collectives_and_ledger) {
  auto entry = result_struct<moemesh_ledger_entry>();
  int64_t count = 0;
  constexpr int32_t ep = MOEMESH_AXIS_EP;
  EXPECT_REFUSED(dead, "mesh", moemesh_all_reduce(nullptr, ep, MOEMESH_SUM, &view));
  EXPECT_REFUSED(bad, "array", moemesh_all_reduce(model.mesh, ep, MOEMESH_SUM, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_all_gather(nullptr, ep, &view, &view));
  EXPECT_REFUSED(bad, "send", moemesh_all_gather(model.mesh, ep, nullptr, &view));
  EXPECT_REFUSED(bad, "receive", moemesh_all_gather(model.mesh, ep, &view, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_reduce_scatter(nullptr, ep, MOEMESH_SUM, &view, &view));
  EXPECT_REFUSED(bad, "send", moemesh_reduce_scatter(model.mesh, ep, MOEMESH_SUM, nullptr, &view));
  EXPECT_REFUSED(bad, "receive", moemesh_reduce_scatter(model.mesh, ep, MOEMESH_SUM, &view, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_broadcast(nullptr, ep, 0, &view));
  EXPECT_REFUSED(bad, "array", moemesh_broadcast(model.mesh, ep, 0, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_ledger_get_count(nullptr, &count));
  EXPECT_REFUSED(bad, "count", moemesh_ledger_get_count(model.mesh, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_ledger_get_entry(nullptr, 0, &entry));
  EXPECT_REFUSED(bad, "entry", moemesh_ledger_get_entry(model.mesh, 0, nullptr));
  EXPECT_REFUSED(dead, "mesh", moemesh_ledger_reset(nullptr));
}

TEST_F(Null, P38_families) {
  auto params = defaults(moemesh_family_params_init);
  params.kind = MOEMESH_SHARED;
  moemesh_family family = nullptr;
  EXPECT_REFUSED(dead, "mesh", moemesh_family_create(nullptr, &params, &family));
  EXPECT_REFUSED(bad, "family_params", moemesh_family_create(model.mesh, nullptr, &family));
  EXPECT_REFUSED(bad, "family", moemesh_family_create(model.mesh, &params, nullptr));
  EXPECT_EQ(family, nullptr);
  EXPECT_REFUSED(dead, "family", moemesh_family_commit(nullptr));
  EXPECT_REFUSED(dead, "family", moemesh_parameters_changed(nullptr));
  ASSERT_EQ(moemesh_family_create(model.mesh, &params, &family), MOEMESH_OK);
  auto described = defaults(moemesh_parameter_params_init);
  described.rank = 1;
  described.extents[0] = 1;
  moemesh_parameter parameter = nullptr;
  EXPECT_REFUSED(bad, "name", moemesh_parameter_register(family, &described, &parameter));
  described.name = "p";
  EXPECT_REFUSED(dead, "family", moemesh_parameter_register(nullptr, &described, &parameter));
  EXPECT_REFUSED(bad, "parameter_params", moemesh_parameter_register(family, nullptr, &parameter));
  EXPECT_REFUSED(bad, "parameter", moemesh_parameter_register(family, &described, nullptr));
  EXPECT_EQ(parameter, nullptr);
  // None of the refused calls has left a parameter of that name.
  EXPECT_EQ(moemesh_parameter_register(family, &described, &parameter), MOEMESH_OK);
  moemesh_family_destroy(&family);
}

TEST_F(Null, P38_parameters) {
  moemesh_parameter parameter = nullptr;
  auto info = result_struct<moemesh_parameter_info>();
  moemesh_view out;
  EXPECT_REFUSED(dead, "family", moemesh_parameter_find(nullptr, "moe.w1", &parameter));
  EXPECT_REFUSED(bad, "name", moemesh_parameter_find(model.expert, nullptr, &parameter));
  EXPECT_REFUSED(bad, "parameter", moemesh_parameter_find(model.expert, "moe.w1", nullptr));
  EXPECT_REFUSED(MOEMESH_ERROR_NOT_FOUND, "moe.w3", moemesh_parameter_find(model.expert, "moe.w3", &parameter));
  EXPECT_EQ(parameter, nullptr);
  EXPECT_REFUSED(dead, "parameter", moemesh_parameter_get_info(nullptr, &info));
  EXPECT_REFUSED(bad, "info", moemesh_parameter_get_info(model.w1, nullptr));
  EXPECT_REFUSED(dead, "parameter", moemesh_parameter_acquire(nullptr, nullptr, &out));
  EXPECT_REFUSED(bad, "view", moemesh_parameter_acquire(model.w1, nullptr, nullptr));
  EXPECT_REFUSED(dead, "parameter", moemesh_parameter_release(nullptr));
  EXPECT_EQ(moemesh_parameter_release(model.w1), MOEMESH_ERROR_INVALID_STATE);  // the refused acquire took nothing
  EXPECT_REFUSED(dead, "parameter", moemesh_parameter_get_gradient(nullptr, &out));
  EXPECT_REFUSED(bad, "view", moemesh_parameter_get_gradient(model.w1, nullptr));
  EXPECT_REFUSED(dead, "parameter", moemesh_gradient_ready(nullptr, nullptr, nullptr));
  EXPECT_REFUSED(dead, "parameter", moemesh_parameter_read(nullptr, MOEMESH_VALUE, 0, &view));
  EXPECT_REFUSED(bad, "array", moemesh_parameter_read(model.w1, MOEMESH_VALUE, 0, nullptr));
  EXPECT_REFUSED(dead, "parameter", moemesh_parameter_write(nullptr, MOEMESH_VALUE, 0, &view));
  EXPECT_REFUSED(bad, "array", moemesh_parameter_write(model.w1, MOEMESH_VALUE, 0, nullptr));
}

TEST_F(Null, P38_layer_create) {
  auto family_params = defaults(moemesh_family_params_init);
  moemesh_family shared = nullptr, expert = nullptr;
  family_params.kind = MOEMESH_SHARED;
  ASSERT_EQ(moemesh_family_create(model.mesh, &family_params, &shared), MOEMESH_OK);
  family_params.kind = MOEMESH_EXPERT;
  ASSERT_EQ(moemesh_family_create(model.mesh, &family_params, &expert), MOEMESH_OK);
  auto params = defaults(moemesh_layer_params_init);
  params.hidden = params.ffn = params.experts = params.top_k = 1;
  moemesh_layer layer = nullptr;
  EXPECT_REFUSED(bad, "name", moemesh_layer_create(model.mesh, shared, expert, &params, &layer));
  params.name = "l";
  EXPECT_REFUSED(dead, "mesh", moemesh_layer_create(nullptr, shared, expert, &params, &layer));
  EXPECT_REFUSED(dead, "shared", moemesh_layer_create(model.mesh, nullptr, expert, &params, &layer));
  EXPECT_REFUSED(dead, "expert", moemesh_layer_create(model.mesh, shared, nullptr, &params, &layer));
  EXPECT_REFUSED(bad, "layer_params", moemesh_layer_create(model.mesh, shared, expert, nullptr, &layer));
  EXPECT_REFUSED(bad, "layer", moemesh_layer_create(model.mesh, shared, expert, &params, nullptr));
  EXPECT_EQ(layer, nullptr);
  EXPECT_EQ(moemesh_layer_create(model.mesh, shared, expert, &params, &layer), MOEMESH_OK);
  moemesh_layer_destroy(&layer);
  moemesh_family_destroy(&shared);
  moemesh_family_destroy(&expert);
}

TEST_F(Null, P38_layer_forward) {
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  const moemesh_view x = model.x_view(), y = model.y_view(), logits = model.logits_view();
  auto good = defaults(moemesh_forward_params_init);
  good.x = &x;
  good.y = &y;
  good.logits = &logits;
  moemesh_tape tape = nullptr;
  EXPECT_REFUSED(dead, "layer", moemesh_layer_forward(nullptr, &good, &tape));
  EXPECT_REFUSED(bad, "forward_params", moemesh_layer_forward(model.layer, nullptr, &tape));
  EXPECT_REFUSED(bad, "tape", moemesh_layer_forward(model.layer, &good, nullptr));
  auto params = good;
  params.x = nullptr;
  EXPECT_REFUSED(bad, "x", moemesh_layer_forward(model.layer, &params, &tape));
  params = good;
  params.y = nullptr;
  EXPECT_REFUSED(bad, "y", moemesh_layer_forward(model.layer, &params, &tape));
  params = good;
  params.logits = nullptr;
  EXPECT_REFUSED(bad, "logits", moemesh_layer_forward(model.layer, &params, &tape));
  EXPECT_EQ(tape, nullptr);
  for (const float v : model.y) EXPECT_TRUE(v != v) << "y was written by a refused call";
  params = good;
  params.training = 0;  // then the tape may be NULL
  EXPECT_EQ(moemesh_layer_forward(model.layer, &params, nullptr), MOEMESH_OK);
  EXPECT_EQ(moemesh_layer_forward(model.layer, &good, &tape), MOEMESH_OK);
  moemesh_tape_destroy(&tape);
}

TEST_F(Null, P38_layer_backward) {
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  moemesh_tape tape = nullptr, none = nullptr;
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  const moemesh_view dy = model.dy_view(), dx = model.dx_view(), dlogits = model.dlogits_view();
  auto good = defaults(moemesh_backward_params_init);
  good.dy = &dy;
  good.dx = &dx;
  good.dlogits = &dlogits;
  EXPECT_REFUSED(bad, "tape", moemesh_layer_backward(nullptr, &good));
  EXPECT_REFUSED(dead, "tape", moemesh_layer_backward(&none, &good));
  EXPECT_REFUSED(bad, "backward_params", moemesh_layer_backward(&tape, nullptr));
  auto params = good;
  params.dy = nullptr;
  EXPECT_REFUSED(bad, "dy", moemesh_layer_backward(&tape, &params));
  params = good;
  params.dx = nullptr;
  EXPECT_REFUSED(bad, "dx", moemesh_layer_backward(&tape, &params));
  params = good;
  params.dlogits = nullptr;
  EXPECT_REFUSED(bad, "dlogits", moemesh_layer_backward(&tape, &params));
  for (const float v : model.dx) EXPECT_TRUE(v != v) << "dx was written by a refused call";
  ASSERT_NE(tape, nullptr);  // on one rank a wrong argument leaves the tape
  EXPECT_EQ(moemesh_layer_backward(&tape, &good), MOEMESH_OK);
  EXPECT_EQ(model.update(), MOEMESH_OK);
}

TEST_F(Null, P38_layer_replay_and_bytes) {
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  moemesh_tape tape = nullptr, none = nullptr;
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  const moemesh_view x = model.x_view(), y = model.y_view();
  auto good = defaults(moemesh_replay_params_init);
  good.x = &x;
  good.y = &y;
  EXPECT_REFUSED(bad, "tape", moemesh_layer_replay(nullptr, &good));
  EXPECT_REFUSED(dead, "tape", moemesh_layer_replay(&none, &good));
  EXPECT_REFUSED(bad, "replay_params", moemesh_layer_replay(&tape, nullptr));
  auto params = good;
  params.x = nullptr;
  EXPECT_REFUSED(bad, "x", moemesh_layer_replay(&tape, &params));
  params = good;
  params.y = nullptr;
  EXPECT_REFUSED(bad, "y", moemesh_layer_replay(&tape, &params));
  params.y = &x;
  EXPECT_REFUSED(bad, "overlaps", moemesh_layer_replay(&tape, &params));
  ASSERT_NE(tape, nullptr);  // on one rank a wrong argument leaves the tape
  auto bytes = result_struct<moemesh_tape_bytes>();
  auto load = result_struct<moemesh_layer_load>();
  auto memory = result_struct<moemesh_layer_memory>();
  EXPECT_REFUSED(dead, "tape", moemesh_tape_get_bytes(none, &bytes));
  EXPECT_REFUSED(bad, "bytes", moemesh_tape_get_bytes(tape, nullptr));
  EXPECT_REFUSED(dead, "layer", moemesh_layer_balanced_load(nullptr, 3, &load));
  EXPECT_REFUSED(bad, "layer_load", moemesh_layer_balanced_load(model.layer, 3, nullptr));
  EXPECT_REFUSED(bad, "tokens", moemesh_layer_balanced_load(model.layer, -1, &load));
  ASSERT_EQ(moemesh_layer_balanced_load(model.layer, 3, &load), MOEMESH_OK);
  EXPECT_REFUSED(dead, "layer", moemesh_layer_plan_bytes(nullptr, &load, 0, &bytes));
  EXPECT_REFUSED(bad, "layer_load", moemesh_layer_plan_bytes(model.layer, nullptr, 0, &bytes));
  EXPECT_REFUSED(bad, "recompute", moemesh_layer_plan_bytes(model.layer, &load, 4, &bytes));
  EXPECT_REFUSED(bad, "bytes", moemesh_layer_plan_bytes(model.layer, &load, 0, nullptr));
  EXPECT_REFUSED(dead, "layer", moemesh_layer_get_memory(nullptr, &memory));
  EXPECT_REFUSED(bad, "memory", moemesh_layer_get_memory(model.layer, nullptr));
  EXPECT_EQ(moemesh_layer_replay(&tape, &good), MOEMESH_OK);
  EXPECT_EQ(model.backward(&tape), MOEMESH_OK);
  EXPECT_EQ(model.update(), MOEMESH_OK);
}

TEST_F(Null, P38_layer_queries) {
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  moemesh_tape tape = nullptr;
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  std::vector<int64_t> rows(2, -1);
  const moemesh_view counts = dense(MOEMESH_INT64, {2}, rows.data());
  auto statistics = result_struct<moemesh_layer_statistics>();
  EXPECT_REFUSED(dead, "tape", moemesh_tape_get_routing(nullptr, nullptr, nullptr));
  EXPECT_EQ(moemesh_tape_get_routing(tape, nullptr, nullptr), MOEMESH_OK);  // either may be NULL
  EXPECT_REFUSED(dead, "layer", moemesh_layer_get_statistics(nullptr, &statistics));
  EXPECT_REFUSED(bad, "statistics", moemesh_layer_get_statistics(model.layer, nullptr));
  EXPECT_REFUSED(dead, "layer", moemesh_layer_get_rows(nullptr, &counts, nullptr));
  EXPECT_REFUSED(bad, "rows_per_expert", moemesh_layer_get_rows(model.layer, nullptr, &counts));
  EXPECT_EQ(rows, (std::vector<int64_t>{-1, -1}));
  EXPECT_EQ(moemesh_layer_get_rows(model.layer, &counts, nullptr), MOEMESH_OK);
  EXPECT_EQ(rows, (std::vector<int64_t>{3, 2}));
  float values[2];
  const moemesh_view bias = dense(MOEMESH_FLOAT32, {2}, values);
  EXPECT_REFUSED(dead, "layer", moemesh_layer_get_bias(nullptr, &bias));
  EXPECT_REFUSED(bad, "bias", moemesh_layer_get_bias(model.layer, nullptr));
  EXPECT_REFUSED(dead, "layer", moemesh_layer_set_bias(nullptr, &bias));
  EXPECT_REFUSED(bad, "bias", moemesh_layer_set_bias(model.layer, nullptr));
  moemesh_tape_destroy(&tape);
}

TEST_F(Null, P38_optimizer) {
  moemesh_optimizer_destroy(&model.optimizer);
  const auto params = defaults(moemesh_optimizer_params_init);
  auto bytes = result_struct<moemesh_optimizer_bytes>();
  auto counters = result_struct<moemesh_optimizer_counters>();
  moemesh_optimizer optimizer = nullptr;
  EXPECT_REFUSED(dead, "mesh", moemesh_optimizer_create(nullptr, model.shared, model.expert, &params, &optimizer));
  EXPECT_REFUSED(bad, "families", moemesh_optimizer_create(model.mesh, nullptr, nullptr, &params, &optimizer));
  EXPECT_REFUSED(bad, "optimizer_params",
                 moemesh_optimizer_create(model.mesh, model.shared, model.expert, nullptr, &optimizer));
  EXPECT_REFUSED(bad, "optimizer", moemesh_optimizer_create(model.mesh, model.shared, model.expert, &params, nullptr));
  EXPECT_EQ(optimizer, nullptr);
  ASSERT_EQ(moemesh_optimizer_create(model.mesh, nullptr, model.expert, &params, &model.optimizer), MOEMESH_OK);
  EXPECT_REFUSED(dead, "optimizer", moemesh_step_begin(nullptr, nullptr));
  EXPECT_REFUSED(dead, "optimizer", moemesh_loss_tokens(nullptr, 0, 0));
  EXPECT_REFUSED(dead, "optimizer", moemesh_optimizer_step(nullptr, nullptr, nullptr));
  EXPECT_REFUSED(dead, "optimizer", moemesh_step_end(nullptr, 0));
  EXPECT_REFUSED(dead, "optimizer", moemesh_optimizer_get_bytes(nullptr, MOEMESH_EXPERT, &bytes));
  EXPECT_REFUSED(bad, "bytes", moemesh_optimizer_get_bytes(model.optimizer, MOEMESH_EXPERT, nullptr));
  EXPECT_REFUSED(MOEMESH_ERROR_NOT_FOUND, "family",
                 moemesh_optimizer_get_bytes(model.optimizer, MOEMESH_SHARED, &bytes));
  EXPECT_REFUSED(dead, "optimizer", moemesh_optimizer_get_counters(nullptr, &counters));
  EXPECT_REFUSED(bad, "counters", moemesh_optimizer_get_counters(model.optimizer, nullptr));
  EXPECT_REFUSED(dead, "optimizer", moemesh_optimizer_set_counters(nullptr, &counters));
  EXPECT_REFUSED(bad, "counters", moemesh_optimizer_set_counters(model.optimizer, nullptr));
  // step, update params and result NULL are good.
  EXPECT_EQ(moemesh_step_begin(model.optimizer, nullptr), MOEMESH_OK);
  EXPECT_EQ(moemesh_optimizer_step(model.optimizer, nullptr, nullptr), MOEMESH_OK);
}

TEST_F(Null, P38_pipeline) {
  auto params = defaults(moemesh_pipeline_params_init);
  params.width = 2;
  moemesh_pipeline pipeline = nullptr;
  EXPECT_REFUSED(dead, "mesh", moemesh_pipeline_create(nullptr, model.optimizer, &params, &pipeline));
  EXPECT_REFUSED(bad, "pipeline_params", moemesh_pipeline_create(model.mesh, model.optimizer, nullptr, &pipeline));
  EXPECT_REFUSED(bad, "pipeline", moemesh_pipeline_create(model.mesh, model.optimizer, &params, nullptr));
  EXPECT_EQ(pipeline, nullptr);
  ASSERT_EQ(moemesh_pipeline_create(model.mesh, nullptr, &params, &pipeline), MOEMESH_OK);  // no optimizer is good
  auto run = defaults(moemesh_pipeline_run_init);
  run.training = 0;
  auto action = result_struct<moemesh_pipeline_action>();
  auto info = result_struct<moemesh_pipeline_info>();
  const auto function = [](void*, const moemesh_pipeline_action*) { return int32_t{MOEMESH_OK}; };
  EXPECT_REFUSED(dead, "pipeline", moemesh_pipeline_begin(nullptr, &run));
  EXPECT_REFUSED(bad, "pipeline_run", moemesh_pipeline_begin(pipeline, nullptr));
  EXPECT_REFUSED(bad, "rows", moemesh_pipeline_begin(pipeline, &run));
  EXPECT_REFUSED(dead, "pipeline", moemesh_pipeline_next(nullptr, &action));
  EXPECT_REFUSED(bad, "action", moemesh_pipeline_next(pipeline, nullptr));
  EXPECT_REFUSED(dead, "pipeline", moemesh_pipeline_done(nullptr, MOEMESH_OK));
  EXPECT_REFUSED(dead, "pipeline", moemesh_pipeline_execute(nullptr, &run, function, nullptr));
  EXPECT_REFUSED(bad, "pipeline_run", moemesh_pipeline_execute(pipeline, nullptr, function, nullptr));
  const int64_t rows = 1;
  run.rows = &rows;
  EXPECT_REFUSED(bad, "function", moemesh_pipeline_execute(pipeline, &run, nullptr, nullptr));
  EXPECT_EQ(moemesh_pipeline_execute(pipeline, &run, function, nullptr), MOEMESH_OK);  // the refused one began nothing
  EXPECT_REFUSED(dead, "pipeline", moemesh_pipeline_get_info(nullptr, &info));
  EXPECT_REFUSED(bad, "info", moemesh_pipeline_get_info(pipeline, nullptr));
  moemesh_pipeline_destroy(nullptr);
  moemesh_pipeline_destroy(&pipeline);
  EXPECT_EQ(pipeline, nullptr);
  moemesh_pipeline_destroy(&pipeline);
}

TEST_F(Null, P38_bill) {
  auto params = defaults(moemesh_bill_params_init);
  moemesh_bill bill = nullptr;
  EXPECT_REFUSED(dead, "mesh", moemesh_bill_create(nullptr, &params, &bill));
  EXPECT_REFUSED(bad, "bill_params", moemesh_bill_create(model.mesh, nullptr, &bill));
  EXPECT_REFUSED(bad, "bill", moemesh_bill_create(model.mesh, &params, nullptr));
  EXPECT_EQ(bill, nullptr);
  ASSERT_EQ(moemesh_bill_create(model.mesh, &params, &bill), MOEMESH_OK);
  auto layer = defaults(moemesh_layer_params_init);
  EXPECT_REFUSED(dead, "bill", moemesh_bill_add_layer(nullptr, 0, &layer, nullptr));
  EXPECT_REFUSED(bad, "layer_params", moemesh_bill_add_layer(bill, 0, nullptr, nullptr));
  EXPECT_REFUSED(bad, "name", moemesh_bill_add_layer(bill, 0, &layer, nullptr));
  auto parameter = defaults(moemesh_parameter_params_init);
  EXPECT_REFUSED(dead, "bill", moemesh_bill_add_parameter(nullptr, 0, MOEMESH_SHARED, &parameter));
  EXPECT_REFUSED(bad, "parameter_params", moemesh_bill_add_parameter(bill, 0, MOEMESH_SHARED, nullptr));
  EXPECT_REFUSED(bad, "name", moemesh_bill_add_parameter(bill, 0, MOEMESH_SHARED, &parameter));
  auto pipeline = defaults(moemesh_pipeline_params_init);
  EXPECT_REFUSED(dead, "bill", moemesh_bill_set_pipeline(nullptr, &pipeline));
  EXPECT_REFUSED(bad, "pipeline_params", moemesh_bill_set_pipeline(bill, nullptr));
  int64_t count = 0;
  auto entry = result_struct<moemesh_ledger_entry>();
  EXPECT_REFUSED(dead, "bill", moemesh_bill_get_count(nullptr, 0, &count));
  EXPECT_REFUSED(bad, "count", moemesh_bill_get_count(bill, 0, nullptr));
  EXPECT_REFUSED(dead, "bill", moemesh_bill_get_entry(nullptr, 0, 0, &entry));
  EXPECT_REFUSED(bad, "entry", moemesh_bill_get_entry(bill, 0, 0, nullptr));
  moemesh_bill_destroy(nullptr);
  const moemesh_bill stale = bill;
  moemesh_bill_destroy(&bill);
  EXPECT_EQ(bill, nullptr);
  moemesh_bill_destroy(&bill);
  EXPECT_REFUSED(dead, "bill", moemesh_bill_get_count(stale, 0, &count));
}

TEST_F(Null, P38_report) {
  auto params = defaults(moemesh_report_params_init);
  moemesh_report report = nullptr;
  EXPECT_REFUSED(dead, "mesh", moemesh_report_create(nullptr, &params, &report));
  EXPECT_REFUSED(bad, "report_params", moemesh_report_create(model.mesh, nullptr, &report));
  EXPECT_REFUSED(bad, "report", moemesh_report_create(model.mesh, &params, nullptr));
  EXPECT_EQ(report, nullptr);
  ASSERT_EQ(moemesh_report_create(model.mesh, &params, &report), MOEMESH_OK);
  EXPECT_REFUSED(dead, "report", moemesh_report_collect(nullptr));
  EXPECT_REFUSED(dead, "report", moemesh_report_mark_begin(nullptr, "x"));
  EXPECT_REFUSED(bad, "name", moemesh_report_mark_begin(report, nullptr));
  EXPECT_REFUSED(dead, "report", moemesh_report_mark_end(nullptr));
  auto summary = result_struct<moemesh_report_summary>();
  EXPECT_REFUSED(MOEMESH_ERROR_INVALID_STATE, "collected", moemesh_report_get_summary(report, &summary));
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK);
  auto layer = result_struct<moemesh_report_layer>();
  auto step = result_struct<moemesh_report_step>();
  EXPECT_REFUSED(dead, "report", moemesh_report_get_summary(nullptr, &summary));
  EXPECT_REFUSED(bad, "summary", moemesh_report_get_summary(report, nullptr));
  EXPECT_REFUSED(dead, "report", moemesh_report_get_layer(nullptr, 0, &layer));
  EXPECT_REFUSED(bad, "layer", moemesh_report_get_layer(report, 0, nullptr));
  EXPECT_REFUSED(bad, "index", moemesh_report_get_layer(report, 1, &layer));
  EXPECT_REFUSED(bad, "index", moemesh_report_get_layer(report, -1, &layer));
  EXPECT_REFUSED(dead, "report", moemesh_report_get_step(nullptr, 0, &step));
  EXPECT_REFUSED(bad, "step", moemesh_report_get_step(report, 0, nullptr));
  EXPECT_REFUSED(bad, "index", moemesh_report_get_step(report, 0, &step));
  EXPECT_REFUSED(dead, "report", moemesh_report_write(nullptr, MOEMESH_REPORT_TABLE, -1, "x"));
  EXPECT_REFUSED(bad, "path", moemesh_report_write(report, MOEMESH_REPORT_TABLE, -1, nullptr));
  EXPECT_REFUSED(bad, "path", moemesh_report_write(report, MOEMESH_REPORT_TABLE, -1, ""));
  EXPECT_REFUSED(dead, "report", moemesh_report_stop(nullptr));
  ASSERT_EQ(moemesh_report_stop(report), MOEMESH_OK);
  const moemesh_report stale = report;
  moemesh_report_destroy(&report);
  EXPECT_EQ(report, nullptr);
  moemesh_report_destroy(&report);
  moemesh_report_destroy(nullptr);
  EXPECT_REFUSED(dead, "report", moemesh_report_collect(stale));
}

}  // namespace
}  // namespace capi_test
