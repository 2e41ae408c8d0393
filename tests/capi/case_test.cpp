// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The parts of P06 and P35 that want one rank: ties with the whole thread pool, and sizes beyond 32 bits.
#include "support.hpp"

namespace capi_test {
namespace {

// As many threads as the process's pool has (the test suite runs this program with 2); the multi-rank twin has 1.
TEST(Case, P06_topk_ties_with_threads) {
  Model::Options options;
  options.experts = 4;
  options.top_k = 2;
  Model model(options);
  ASSERT_EQ(model.create(), MOEMESH_OK);
  model.logits.assign(model.logits.size(), 0.0F);
  std::vector<int32_t> experts(10);
  std::vector<float> gates(10), first;
  const moemesh_view experts_view = dense(MOEMESH_INT32, {5, 2}, experts.data());
  const moemesh_view gates_view = dense(MOEMESH_FLOAT32, {5, 2}, gates.data());
  for (int run = 0; run < 50; ++run) {
    moemesh_tape tape = nullptr;
    ASSERT_EQ(model.begin(), MOEMESH_OK);
    ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
    ASSERT_EQ(moemesh_tape_get_routing(tape, &experts_view, &gates_view), MOEMESH_OK);
    moemesh_tape_destroy(&tape);
    ASSERT_EQ(moemesh_step_end(model.optimizer, 0), MOEMESH_OK);
    ASSERT_EQ(experts, (std::vector<int32_t>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1})) << "run " << run;
    ASSERT_EQ(gates, std::vector<float>(10, 0.5F)) << "run " << run;
    if (run == 0) first = model.y;
    ASSERT_EQ(model.y, first) << "run " << run;
  }
}

// The routing that is read is what a capacity left.
TEST(Case, P11_routing_after_the_drop) {
  Model model(Model::Options{.capacity_factor = 0.8});  // 2 slots for 5 tokens
  ASSERT_EQ(model.create(), MOEMESH_OK);
  model.logits.assign(model.logits.size(), 0.0F);
  std::vector<int32_t> experts(5, -77);
  std::vector<float> gates(5, -77.0F);
  const moemesh_view experts_view = dense(MOEMESH_INT32, {5, 1}, experts.data());
  const moemesh_view gates_view = dense(MOEMESH_FLOAT32, {5, 1}, gates.data());
  auto statistics = result_struct<moemesh_layer_statistics>();
  for (int run = 0; run < 2; ++run) {  // the second one reuses the tape
    moemesh_tape tape = nullptr;
    ASSERT_EQ(model.begin(), MOEMESH_OK);
    ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
    ASSERT_EQ(moemesh_tape_get_routing(tape, &experts_view, &gates_view), MOEMESH_OK);
    EXPECT_EQ(experts, (std::vector<int32_t>{0, 0, -1, -1, -1}));
    EXPECT_EQ(gates, (std::vector<float>{1, 1, 0, 0, 0}));
    ASSERT_EQ(moemesh_layer_get_statistics(model.layer, &statistics), MOEMESH_OK);
    EXPECT_EQ(statistics.slots, 2);
    EXPECT_EQ(statistics.dropped_rows, 3);
    EXPECT_EQ(statistics.rows, 2);
    EXPECT_EQ(statistics.tokens, 5);
    ASSERT_EQ(model.backward(&tape), MOEMESH_OK);
    for (size_t i = 0; i < model.x.size(); ++i) {
      EXPECT_EQ(model.y[i], i < 4 ? model.x[i] : 0.0F) << i;
      EXPECT_EQ(model.dx[i], i < 4 ? 1.0F : 0.0F) << i;
    }
    ASSERT_EQ(model.update(), MOEMESH_OK);
  }
}

// 38000 tokens of 8 experts each, hidden 7168: 304000 rows. Nothing of it is allocated before commit.
TEST(Case, P35_sizes_of_parameters) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  auto family_params = defaults(moemesh_family_params_init);
  family_params.kind = MOEMESH_EXPERT;
  moemesh_family family = nullptr;
  ASSERT_EQ(moemesh_family_create(model.mesh, &family_params, &family), MOEMESH_OK);
  auto params = defaults(moemesh_parameter_params_init);
  params.name = "large";
  params.experts = 8;
  params.rank = 2;
  params.extents[0] = 38000;
  params.extents[1] = 7168;
  moemesh_parameter parameter = nullptr;
  ASSERT_EQ(moemesh_parameter_register(family, &params, &parameter), MOEMESH_OK);
  auto info = result_struct<moemesh_parameter_info>();
  ASSERT_EQ(moemesh_parameter_get_info(parameter, &info), MOEMESH_OK);
  EXPECT_EQ(info.elements, 2179072000);
  params.name = "too large";
  params.experts = int64_t{1} << 40;
  params.extents[0] = int64_t{1} << 20;
  params.extents[1] = int64_t{1} << 2;
  EXPECT_EQ(moemesh_parameter_register(family, &params, &parameter), MOEMESH_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(last_error().find("extents"), std::string::npos) << last_error();
  moemesh_family_destroy(&family);
}

TEST(Case, P35_sizes_of_views) {
  const moemesh_view view = dense(MOEMESH_BFLOAT16, {38000, 8, 7168}, nullptr);
  EXPECT_EQ(view.strides[0] * view.extents[0], 2179072000);
  EXPECT_EQ(view.strides[1] * 299593, 2147482624);
  EXPECT_EQ(view.strides[1] * 299594, 2147489792);
}

TEST(Case, P35_sizes_of_layers) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  auto params = defaults(moemesh_layer_params_init);
  params.name = "l";
  params.hidden = params.ffn = int64_t{1} << 31;
  params.experts = 4;
  params.top_k = 1;
  moemesh_layer layer = nullptr;
  moemesh_family families[2] = {nullptr, nullptr};
  auto family_params = defaults(moemesh_family_params_init);
  for (int i = 0; i < 2; ++i) {
    family_params.kind = i + 1;
    ASSERT_EQ(moemesh_family_create(model.mesh, &family_params, &families[i]), MOEMESH_OK);
  }
  EXPECT_EQ(moemesh_layer_create(model.mesh, families[0], families[1], &params, &layer),
            MOEMESH_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(last_error().find("2^63"), std::string::npos) << last_error();
  EXPECT_EQ(layer, nullptr);
  // The refused layer has registered nothing: its name is free.
  params.hidden = params.ffn = 2;
  EXPECT_EQ(moemesh_layer_create(model.mesh, families[0], families[1], &params, &layer), MOEMESH_OK);
  moemesh_layer_destroy(&layer);
  for (auto& family : families) moemesh_family_destroy(&family);
}

}  // namespace
}  // namespace capi_test
