// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// struct_size of every params and result struct. Sizes below are those of the first release: they never change.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support.hpp"

namespace capi_test {
namespace {

// A struct of type P inside a larger block, as a caller with a newer header would have it.
template <class P>
struct Newer {
  P params;
  unsigned char tail[16];
};
static_assert(sizeof(Newer<moemesh_step_params>) == sizeof(moemesh_step_params) + 16);

// `valid` is accepted by `call`; every size that the rules name is tried on copies of it. `call` must have no effect that
// would make the next one fail.
template <class P>
void check_params_sizes(P valid, int64_t first_release, const std::function<int32_t(const P*)>& call) {
  Newer<P> user{};
  user.params = valid;
  const auto with_size = [&](int64_t size) {
    user.params.struct_size = size;
    return call(&user.params);
  };
  constexpr auto size = static_cast<int64_t>(sizeof(P));
  for (const int64_t bad : {int64_t{0}, int64_t{4}, first_release - 1, int64_t{-8}, int64_t{4097},
                            int64_t{0x5ca1ab1e0ddba11}, INT64_MIN, INT64_MAX})
    EXPECT_EQ(with_size(bad), MOEMESH_ERROR_INVALID_STRUCT) << "size " << bad;
  EXPECT_NE(last_error().find("struct_size"), std::string::npos) << last_error();
  EXPECT_EQ(with_size(first_release), MOEMESH_OK) << last_error();
  EXPECT_EQ(with_size(size), MOEMESH_OK) << last_error();
  EXPECT_EQ(with_size(size + 16), MOEMESH_OK) << last_error();
  for (const int place : {0, 7, 15}) {
    std::memset(user.tail, 0, sizeof user.tail);
    user.tail[place] = 1;
    EXPECT_EQ(with_size(size + 16), MOEMESH_ERROR_UNKNOWN_OPTION) << "tail byte " << place;
    EXPECT_EQ(with_size(size), MOEMESH_OK) << "what lies behind the struct is not read: " << last_error();
  }
}

template <class P>
void check_init_sizes(int32_t (*init)(P*, int64_t), int64_t first_release) {
  Newer<P> user;
  std::memset(&user, 0xab, sizeof user);
  const Newer<P> before = user;
  for (const int64_t bad : {int64_t{0}, int64_t{4}, first_release - 1, int64_t{-1}, int64_t{4097}, INT64_MAX}) {
    EXPECT_EQ(init(&user.params, bad), MOEMESH_ERROR_INVALID_STRUCT) << "size " << bad;
    EXPECT_EQ(std::memcmp(&user, &before, sizeof user), 0);
  }
  EXPECT_EQ(init(nullptr, sizeof(P)), MOEMESH_ERROR_INVALID_ARGUMENT);
  constexpr auto size = static_cast<int64_t>(sizeof(P));
  ASSERT_EQ(init(&user.params, size), MOEMESH_OK);
  EXPECT_EQ(user.params.struct_size, size);
  EXPECT_EQ(std::memcmp(user.tail, before.tail, sizeof user.tail), 0) << "wrote behind the struct";
  ASSERT_EQ(init(&user.params, size + 16), MOEMESH_OK);
  EXPECT_EQ(user.params.struct_size, size + 16);
  for (const unsigned char byte : user.tail) EXPECT_EQ(byte, 0);
}

// Result structs: the caller says how much room it has.
template <class R>
void check_result_sizes(int64_t first_release, const std::function<int32_t(R*)>& call) {
  Newer<R> user;
  const auto with_size = [&](int64_t size) {
    std::memset(&user, 0xab, sizeof user);
    user.params.struct_size = size;
    return call(&user.params);
  };
  constexpr auto size = static_cast<int64_t>(sizeof(R));
  for (const int64_t bad : {int64_t{0}, int64_t{4}, first_release - 1, int64_t{-8}, int64_t{4097}, INT64_MAX}) {
    EXPECT_EQ(with_size(bad), MOEMESH_ERROR_INVALID_STRUCT) << "size " << bad;
    Newer<R> untouched;
    std::memset(&untouched, 0xab, sizeof untouched);
    untouched.params.struct_size = bad;
    EXPECT_EQ(std::memcmp(&user, &untouched, sizeof user), 0) << "size " << bad;
  }
  EXPECT_EQ(call(nullptr), MOEMESH_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(with_size(size), MOEMESH_OK) << last_error();
  EXPECT_EQ(user.params.struct_size, size);
  for (const unsigned char byte : user.tail) EXPECT_EQ(byte, 0xab) << "wrote behind the struct";
  const Newer<R> exact = user;
  ASSERT_EQ(with_size(size + 16), MOEMESH_OK) << last_error();
  EXPECT_EQ(user.params.struct_size, size + 16);
  for (const unsigned char byte : user.tail) EXPECT_EQ(byte, 0) << "a field this version does not know is 0";
  EXPECT_EQ(std::memcmp(&user.params.struct_size + 1, &exact.params.struct_size + 1, sizeof(R) - 8), 0);
}

class StructSize : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(model.create(), MOEMESH_OK); }
  Model model;
};

TEST(Case, P39_init_functions) {
  check_init_sizes(moemesh_context_params_init, 112);
  check_init_sizes(moemesh_mesh_params_init, 40);
  check_init_sizes(moemesh_family_params_init, 24);
  check_init_sizes(moemesh_parameter_params_init, 120);
  check_init_sizes(moemesh_layer_params_init, 160);
  check_init_sizes(moemesh_replay_params_init, 32);
  check_init_sizes(moemesh_forward_params_init, 72);
  check_init_sizes(moemesh_backward_params_init, 48);
  check_init_sizes(moemesh_optimizer_params_init, 104);
  check_init_sizes(moemesh_step_params_init, 24);
  check_init_sizes(moemesh_update_params_init, 16);
  check_init_sizes(moemesh_pipeline_params_init, 24);
  check_init_sizes(moemesh_pipeline_run_init, 24);
  check_init_sizes(moemesh_bill_params_init, 72);
  check_init_sizes(moemesh_report_params_init, 48);
}

TEST(Case, P39_context_params) {
  check_params_sizes<moemesh_context_params>(defaults(moemesh_context_params_init), 112,
                                             [](const moemesh_context_params* p) {
                                               moemesh_context context = nullptr;
                                               const int32_t status = moemesh_context_create(p, &context);
                                               EXPECT_EQ(context != nullptr, status == MOEMESH_OK);
                                               if (context) {
                                                 EXPECT_EQ(moemesh_context_finalize(context), MOEMESH_OK);
                                               }
                                               moemesh_context_destroy(&context);
                                               return status;
                                             });
}

TEST_F(StructSize, P39_mesh_params) {
  check_params_sizes<moemesh_mesh_params>(defaults(moemesh_mesh_params_init), 40, [&](const moemesh_mesh_params* p) {
    moemesh_mesh mesh = nullptr, planned = nullptr;
    const int32_t status = moemesh_mesh_create(model.context, p, &mesh);
    EXPECT_EQ(moemesh_mesh_plan(model.context, 1, p, &planned), status);
    EXPECT_EQ(mesh != nullptr, status == MOEMESH_OK);
    EXPECT_EQ(planned != nullptr, status == MOEMESH_OK);
    if (mesh) {
      EXPECT_EQ(moemesh_mesh_finalize(mesh), MOEMESH_OK);
    }
    moemesh_mesh_destroy(&mesh);
    moemesh_mesh_destroy(&planned);
    return status;
  });
}

TEST_F(StructSize, P39_family_params) {
  auto valid = defaults(moemesh_family_params_init);
  valid.kind = MOEMESH_EXPERT;
  check_params_sizes<moemesh_family_params>(valid, 24, [&](const moemesh_family_params* p) {
    moemesh_family family = nullptr;
    const int32_t status = moemesh_family_create(model.mesh, p, &family);
    moemesh_family_destroy(&family);
    return status;
  });
}

// A family with one parameter of three elements, made new for each call.
int32_t register_one(const Model& model, const moemesh_parameter_params* p) {
  auto params = defaults(moemesh_family_params_init);
  params.kind = MOEMESH_SHARED;
  moemesh_family family = nullptr;
  moemesh_parameter parameter = nullptr;
  EXPECT_EQ(moemesh_family_create(model.mesh, &params, &family), MOEMESH_OK);
  const int32_t status = moemesh_parameter_register(family, p, &parameter);
  EXPECT_EQ(parameter != nullptr, status == MOEMESH_OK);
  moemesh_family_destroy(&family);
  return status;
}

TEST_F(StructSize, P39_parameter_params) {
  auto valid = defaults(moemesh_parameter_params_init);
  valid.name = "p";
  valid.rank = 1;
  valid.extents[0] = 3;
  check_params_sizes<moemesh_parameter_params>(
      valid, 120, [&](const moemesh_parameter_params* p) { return register_one(model, p); });
}

TEST_F(StructSize, P39_layer_params) {
  auto valid = defaults(moemesh_layer_params_init);
  valid.name = "layer";
  valid.hidden = valid.ffn = valid.experts = 2;
  valid.top_k = 1;
  check_params_sizes<moemesh_layer_params>(valid, 160, [&](const moemesh_layer_params* p) {
    auto params = defaults(moemesh_family_params_init);
    moemesh_family families[2] = {nullptr, nullptr};
    for (int i = 0; i < 2; ++i) {
      params.kind = i + 1;
      EXPECT_EQ(moemesh_family_create(model.mesh, &params, &families[i]), MOEMESH_OK);
    }
    moemesh_layer layer = nullptr;
    const int32_t status = moemesh_layer_create(model.mesh, families[0], families[1], p, &layer);
    EXPECT_EQ(layer != nullptr, status == MOEMESH_OK);
    moemesh_layer_destroy(&layer);
    for (auto& family : families) moemesh_family_destroy(&family);
    return status;
  });
}

TEST_F(StructSize, P39_forward_params) {
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  const moemesh_view x = model.x_view(), y = model.y_view(), logits = model.logits_view();
  auto valid = defaults(moemesh_forward_params_init);
  valid.x = &x;
  valid.y = &y;
  valid.logits = &logits;
  check_params_sizes<moemesh_forward_params>(valid, 72, [&](const moemesh_forward_params* p) {
    moemesh_tape tape = nullptr;
    const int32_t status = moemesh_layer_forward(model.layer, p, &tape);
    EXPECT_EQ(tape != nullptr, status == MOEMESH_OK);
    moemesh_tape_destroy(&tape);
    return status;
  });
}

TEST_F(StructSize, P39_backward_params) {
  auto step = defaults(moemesh_step_params_init);
  step.microbatches = 100;
  ASSERT_EQ(moemesh_step_begin(model.optimizer, &step), MOEMESH_OK);
  const moemesh_view dy = model.dy_view(), dx = model.dx_view(), dlogits = model.dlogits_view();
  auto valid = defaults(moemesh_backward_params_init);
  valid.dy = &dy;
  valid.dx = &dx;
  valid.dlogits = &dlogits;
  check_params_sizes<moemesh_backward_params>(valid, 48, [&](const moemesh_backward_params* p) {
    moemesh_tape tape = nullptr;
    EXPECT_EQ(model.forward(&tape), MOEMESH_OK);
    const int32_t status = moemesh_layer_backward(&tape, p);
    EXPECT_EQ(tape == nullptr, status == MOEMESH_OK) << "on one rank a wrong argument leaves the tape";
    moemesh_tape_destroy(&tape);
    return status;
  });
}

TEST_F(StructSize, P39_replay_and_bytes) {
  auto step = defaults(moemesh_step_params_init);
  step.microbatches = 100;
  ASSERT_EQ(moemesh_step_begin(model.optimizer, &step), MOEMESH_OK);
  const moemesh_view x = model.x_view(), y = model.y_view();
  auto valid = defaults(moemesh_replay_params_init);
  valid.x = &x;
  valid.y = &y;
  moemesh_tape tape = nullptr;
  ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  check_params_sizes<moemesh_replay_params>(
      valid, 32, [&](const moemesh_replay_params* p) { return moemesh_layer_replay(&tape, p); });
  check_result_sizes<moemesh_tape_bytes>(56, [&](moemesh_tape_bytes* r) { return moemesh_tape_get_bytes(tape, r); });
  check_result_sizes<moemesh_layer_memory>(
      40, [&](moemesh_layer_memory* r) { return moemesh_layer_get_memory(model.layer, r); });
  check_result_sizes<moemesh_layer_load>(
      72, [&](moemesh_layer_load* r) { return moemesh_layer_balanced_load(model.layer, 3, r); });
  auto load = result_struct<moemesh_layer_load>();
  ASSERT_EQ(moemesh_layer_balanced_load(model.layer, 3, &load), MOEMESH_OK);
  auto bytes = result_struct<moemesh_tape_bytes>();
  check_params_sizes<moemesh_layer_load>(
      load, 72, [&](const moemesh_layer_load* l) { return moemesh_layer_plan_bytes(model.layer, l, 0, &bytes); });
  check_result_sizes<moemesh_tape_bytes>(
      56, [&](moemesh_tape_bytes* r) { return moemesh_layer_plan_bytes(model.layer, &load, 0, r); });
  moemesh_tape_destroy(&tape);
}

TEST_F(StructSize, P39_optimizer_params) {
  moemesh_optimizer_destroy(&model.optimizer);
  check_params_sizes<moemesh_optimizer_params>(
      defaults(moemesh_optimizer_params_init), 104, [&](const moemesh_optimizer_params* p) {
        moemesh_optimizer optimizer = nullptr;
        const int32_t status = moemesh_optimizer_create(model.mesh, model.shared, model.expert, p, &optimizer);
        EXPECT_EQ(optimizer != nullptr, status == MOEMESH_OK);
        moemesh_optimizer_destroy(&optimizer);
        return status;
      });
}

TEST_F(StructSize, P39_step_params) {
  check_params_sizes<moemesh_step_params>(defaults(moemesh_step_params_init), 32, [&](const moemesh_step_params* p) {
    const int32_t status = moemesh_step_begin(model.optimizer, p);
    if (status == MOEMESH_OK) {
      EXPECT_EQ(moemesh_step_end(model.optimizer, 0), MOEMESH_OK);
    }
    return status;
  });
}

TEST_F(StructSize, P39_update_params) {
  check_params_sizes<moemesh_update_params>(defaults(moemesh_update_params_init), 24,
                                            [&](const moemesh_update_params* p) {
                                              EXPECT_EQ(model.begin(), MOEMESH_OK);
                                              return moemesh_optimizer_step(model.optimizer, p, nullptr);
                                            });
}

TEST_F(StructSize, P39_optimizer_counters) {
  moemesh_optimizer_counters counters{sizeof counters, 3, 1};
  check_params_sizes<moemesh_optimizer_counters>(counters, 24, [&](const moemesh_optimizer_counters* c) {
    return moemesh_optimizer_set_counters(model.optimizer, c);
  });
  check_result_sizes<moemesh_optimizer_counters>(
      24, [&](moemesh_optimizer_counters* c) { return moemesh_optimizer_get_counters(model.optimizer, c); });
}

TEST_F(StructSize, P39_results_of_context_and_mesh) {
  check_result_sizes<moemesh_context_info>(
      64, [&](moemesh_context_info* r) { return moemesh_context_get_info(model.context, r); });
  check_result_sizes<moemesh_coordinates>(
      72, [&](moemesh_coordinates* r) { return moemesh_mesh_get_coordinates(model.mesh, 0, r); });
  check_result_sizes<moemesh_group>(
      40, [&](moemesh_group* r) { return moemesh_mesh_get_group(model.mesh, MOEMESH_AXIS_EP, 0, r); });
  check_result_sizes<moemesh_axis_report>(
      32, [&](moemesh_axis_report* r) { return moemesh_mesh_get_axis_report(model.mesh, MOEMESH_AXIS_EP, r); });
}

TEST(Case, P39_runtime_info) { check_result_sizes<moemesh_runtime_info>(144, moemesh_runtime_get_info); }

TEST_F(StructSize, P39_results_of_parameters_layers_optimizers) {
  check_result_sizes<moemesh_parameter_info>(
      88, [&](moemesh_parameter_info* r) { return moemesh_parameter_get_info(model.w1, r); });
  check_result_sizes<moemesh_layer_statistics>(
      80, [&](moemesh_layer_statistics* r) { return moemesh_layer_get_statistics(model.layer, r); });
  check_result_sizes<moemesh_optimizer_bytes>(
      88, [&](moemesh_optimizer_bytes* r) { return moemesh_optimizer_get_bytes(model.optimizer, MOEMESH_EXPERT, r); });
}

TEST_F(StructSize, P39_pipeline) {
  auto valid = defaults(moemesh_pipeline_params_init);
  valid.width = 2;
  moemesh_pipeline pipeline = nullptr;
  check_params_sizes<moemesh_pipeline_params>(valid, 24, [&](const moemesh_pipeline_params* p) {
    moemesh_pipeline_destroy(&pipeline);
    const int32_t status = moemesh_pipeline_create(model.mesh, nullptr, p, &pipeline);
    EXPECT_EQ(pipeline != nullptr, status == MOEMESH_OK);
    return status;
  });
  const int64_t rows = 1;
  auto run = defaults(moemesh_pipeline_run_init);
  run.rows = &rows;
  run.training = 0;
  auto action = result_struct<moemesh_pipeline_action>();
  check_params_sizes<moemesh_pipeline_run>(run, 24, [&](const moemesh_pipeline_run* r) {
    const int32_t status = moemesh_pipeline_begin(pipeline, r);
    if (status != MOEMESH_OK) return status;
    EXPECT_EQ(moemesh_pipeline_next(pipeline, &action), MOEMESH_OK);
    EXPECT_EQ(moemesh_pipeline_done(pipeline, MOEMESH_OK), MOEMESH_OK);
    return moemesh_pipeline_next(pipeline, &action);
  });
  check_result_sizes<moemesh_pipeline_action>(
      296, [&](moemesh_pipeline_action* r) { return moemesh_pipeline_next(pipeline, r); });
  check_result_sizes<moemesh_pipeline_info>(
      48, [&](moemesh_pipeline_info* r) { return moemesh_pipeline_get_info(pipeline, r); });
  moemesh_pipeline_destroy(&pipeline);
}

// A bad result struct is an error of the call, not a lost result: the step was dropped, not done. NULL is allowed here.
TEST_F(StructSize, P39_update_result) {
  auto result = result_struct<moemesh_update_result>();
  for (const int64_t bad : {0, 4, 55, 4097}) {
    ASSERT_EQ(model.begin(), MOEMESH_OK);
    result.struct_size = bad;
    EXPECT_EQ(moemesh_optimizer_step(model.optimizer, nullptr, &result), MOEMESH_ERROR_INVALID_STRUCT) << bad;
  }
  auto counters = result_struct<moemesh_optimizer_counters>();
  ASSERT_EQ(moemesh_optimizer_get_counters(model.optimizer, &counters), MOEMESH_OK);
  EXPECT_EQ(counters.steps, 0);
  Newer<moemesh_update_result> newer;
  std::memset(&newer, 0xab, sizeof newer);
  newer.params.struct_size = sizeof newer;
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  ASSERT_EQ(moemesh_optimizer_step(model.optimizer, nullptr, &newer.params), MOEMESH_OK);
  EXPECT_EQ(newer.params.steps, 1);
  for (const unsigned char byte : newer.tail) EXPECT_EQ(byte, 0);
}

TEST(Case, P39_bill) {
  auto sizes = defaults(moemesh_mesh_params_init);
  sizes.ep = 2;
  moemesh_mesh mesh = nullptr;
  ASSERT_EQ(moemesh_mesh_plan(nullptr, 2, &sizes, &mesh), MOEMESH_OK);
  moemesh_bill bill = nullptr;
  check_params_sizes<moemesh_bill_params>(defaults(moemesh_bill_params_init), 72, [&](const moemesh_bill_params* p) {
    moemesh_bill_destroy(&bill);
    const int32_t status = moemesh_bill_create(mesh, p, &bill);
    EXPECT_EQ(bill != nullptr, status == MOEMESH_OK);
    return status;
  });
  auto layer = defaults(moemesh_layer_params_init);
  layer.hidden = layer.ffn = layer.experts = 2;
  layer.top_k = 1;
  std::string name = "layer";
  const int64_t matrix[4] = {0, 1, 2, 3};
  check_params_sizes<moemesh_bill_routing>(moemesh_bill_routing{sizeof(moemesh_bill_routing), matrix, matrix}, 24,
                                           [&](const moemesh_bill_routing* r) {
                                             layer.name = (name += 'x').c_str();
                                             return moemesh_bill_add_layer(bill, 0, &layer, r);
                                           });
  check_params_sizes<moemesh_layer_params>(layer, 160, [&](const moemesh_layer_params* p) {
    moemesh_layer_params copy[2] = {};  // with what lies behind it
    std::memcpy(copy, p, sizeof *p + 16);
    copy[0].name = (name += 'x').c_str();
    return moemesh_bill_add_layer(bill, 0, copy, nullptr);
  });
  auto pipeline = defaults(moemesh_pipeline_params_init);
  pipeline.width = 1;
  check_params_sizes<moemesh_pipeline_params>(
      pipeline, 24, [&](const moemesh_pipeline_params* p) { return moemesh_bill_set_pipeline(bill, p); });
  check_result_sizes<moemesh_ledger_entry>(
      56, [&](moemesh_ledger_entry* r) { return moemesh_bill_get_entry(bill, 1, 0, r); });
  moemesh_bill_destroy(&bill);
  moemesh_mesh_destroy(&mesh);
}

TEST_F(StructSize, P39_report) {
  auto valid = defaults(moemesh_report_params_init);
  valid.events = 8;
  valid.steps = 2;
  moemesh_report report = nullptr;
  check_params_sizes<moemesh_report_params>(valid, 48, [&](const moemesh_report_params* p) {
    moemesh_report made = nullptr;
    const int32_t status = moemesh_report_create(model.mesh, p, &made);
    EXPECT_EQ(made != nullptr, status == MOEMESH_OK);
    if (made) {
      EXPECT_EQ(moemesh_report_stop(made), MOEMESH_OK);
    }
    moemesh_report_destroy(&made);
    return status;
  });
  ASSERT_EQ(moemesh_report_create(model.mesh, &valid, &report), MOEMESH_OK);
  ASSERT_EQ(model.step(), MOEMESH_OK);
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK);
  check_result_sizes<moemesh_report_summary>(
      264, [&](moemesh_report_summary* r) { return moemesh_report_get_summary(report, r); });
  check_result_sizes<moemesh_report_layer>(
      136, [&](moemesh_report_layer* r) { return moemesh_report_get_layer(report, 0, r); });
  check_result_sizes<moemesh_report_step>(
      104, [&](moemesh_report_step* r) { return moemesh_report_get_step(report, 0, r); });
  EXPECT_EQ(moemesh_report_stop(report), MOEMESH_OK);
  moemesh_report_destroy(&report);
}

}  // namespace
}  // namespace capi_test
