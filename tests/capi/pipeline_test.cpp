// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// A pipeline of one stage: what is allowed when, wrong arguments, and which failures leave a backward out.
#include <string>

#include "support.hpp"

namespace capi_test {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
constexpr auto state = MOEMESH_ERROR_INVALID_STATE;

class Pipelines : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(model.create(), MOEMESH_OK);
    ASSERT_EQ(create(params(), &pipeline), MOEMESH_OK);
  }
  void TearDown() override { moemesh_pipeline_destroy(&pipeline); }

  static moemesh_pipeline_params params() {
    auto params = defaults(moemesh_pipeline_params_init);
    params.width = 2;
    return params;
  }
  int32_t create(const moemesh_pipeline_params& params, moemesh_pipeline* out) const {
    return moemesh_pipeline_create(model.mesh, model.optimizer, &params, out);
  }
  int32_t begin(const std::vector<int64_t>& rows, int32_t training = 1) const {
    auto run = defaults(moemesh_pipeline_run_init);
    run.rows = rows.data();
    run.microbatches = static_cast<int32_t>(rows.size());
    run.training = training;
    return moemesh_pipeline_begin(pipeline, &run);
  }
  int32_t open_step(int32_t microbatches) const {
    auto params = defaults(moemesh_step_params_init);
    params.microbatches = microbatches;
    return moemesh_step_begin(model.optimizer, &params);
  }
  // The next actions as a text, each of them done with OK: "F0 B0 END".
  std::string rest() {
    std::string text;
    for (;;) {
      auto action = result_struct<moemesh_pipeline_action>();
      if (moemesh_pipeline_next(pipeline, &action) != MOEMESH_OK) return text + "error";
      if (action.kind == MOEMESH_ACTION_END) return text + "END";
      text += action.kind == MOEMESH_ACTION_FORWARD ? "F" : "B";
      text += std::to_string(action.microbatch) + " ";
      EXPECT_EQ(moemesh_pipeline_done(pipeline, MOEMESH_OK), MOEMESH_OK);
    }
  }
  moemesh_pipeline_action next() const {
    auto action = result_struct<moemesh_pipeline_action>();
    EXPECT_EQ(moemesh_pipeline_next(pipeline, &action), MOEMESH_OK) << last_error();
    return action;
  }
  int32_t done(int32_t status = MOEMESH_OK) const { return moemesh_pipeline_done(pipeline, status); }
  // A forward of the layer with a wrong argument.
  int32_t broken_forward() const {
    moemesh_tape tape = nullptr;
    const auto params = defaults(moemesh_forward_params_init);
    return moemesh_layer_forward(model.layer, &params, &tape);
  }

  Model model;
  moemesh_pipeline pipeline = nullptr;
};

TEST_F(Pipelines, WrongParams) {
  moemesh_pipeline other = nullptr;
  for (const int64_t width : {int64_t{0}, int64_t{-1}, INT64_MAX}) {
    auto p = params();
    p.width = width;
    EXPECT_EQ(create(p, &other), bad) << width;
    EXPECT_NE(last_error().find("width"), std::string::npos) << last_error();
  }
  for (const int32_t dtype : {0, -1, int32_t{MOEMESH_FLOAT64}, int32_t{MOEMESH_UINT8}, 7}) {
    auto p = params();
    p.dtype = dtype;
    EXPECT_EQ(create(p, &other), bad) << dtype;
    EXPECT_NE(last_error().find("dtype"), std::string::npos) << last_error();
  }
  for (const int32_t schedule : {0, -1, 3}) {
    auto p = params();
    p.schedule = schedule;
    EXPECT_EQ(create(p, &other), bad) << schedule;
    EXPECT_NE(last_error().find("schedule"), std::string::npos) << last_error();
  }
  EXPECT_EQ(moemesh_pipeline_create(model.mesh, reinterpret_cast<moemesh_optimizer>(model.mesh), nullptr, &other),
            MOEMESH_ERROR_INVALID_HANDLE);
  moemesh_mesh planned = nullptr;
  const auto mesh_params = defaults(moemesh_mesh_params_init);
  ASSERT_EQ(moemesh_mesh_plan(model.context, 1, &mesh_params, &planned), MOEMESH_OK);
  const auto good = params();
  EXPECT_EQ(moemesh_pipeline_create(planned, nullptr, &good, &other), state);
  moemesh_mesh_destroy(&planned);
  EXPECT_EQ(other, nullptr);
}

TEST_F(Pipelines, WrongRuns) {
  EXPECT_EQ(begin({1}), state) << "no open step";
  ASSERT_EQ(open_step(2), MOEMESH_OK);
  EXPECT_EQ(begin({}), bad);
  EXPECT_EQ(begin({}, 0), bad);
  EXPECT_EQ(begin({1}), bad) << "the step has two microbatches";
  EXPECT_NE(last_error().find("expected the open step's 2, got 1"), std::string::npos) << last_error();
  EXPECT_EQ(begin({1, -1}), bad);
  EXPECT_NE(last_error().find("rows[1]"), std::string::npos) << last_error();
  EXPECT_EQ(begin({1, INT64_MAX / 4}), bad);
  EXPECT_EQ(begin({1, 1}, 2), bad);
  auto run = defaults(moemesh_pipeline_run_init);
  run.microbatches = -1;
  EXPECT_EQ(moemesh_pipeline_begin(pipeline, &run), bad);
  auto action = result_struct<moemesh_pipeline_action>();
  EXPECT_EQ(moemesh_pipeline_next(pipeline, &action), state) << "none of them began a run";
  ASSERT_EQ(begin({3, 0}), MOEMESH_OK);
  EXPECT_EQ(rest(), "F0 B0 F1 B1 END");
}

TEST_F(Pipelines, CallsOutOfOrder) {
  auto action = result_struct<moemesh_pipeline_action>();
  EXPECT_EQ(moemesh_pipeline_next(pipeline, &action), state);
  EXPECT_EQ(done(), state);
  ASSERT_EQ(open_step(1), MOEMESH_OK);
  ASSERT_EQ(begin({4}), MOEMESH_OK);
  EXPECT_EQ(done(), state);
  const auto first = next();
  EXPECT_EQ(first.kind, MOEMESH_ACTION_FORWARD);
  EXPECT_EQ(first.rows, 4);
  EXPECT_EQ(first.in.rank + first.out.rank + first.saved.rank, 0);  // one stage: nothing comes or goes
  EXPECT_EQ(moemesh_pipeline_next(pipeline, &action), state);
  EXPECT_EQ(action.kind, 0);
  EXPECT_EQ(begin({4}), state);
  EXPECT_EQ(done(), MOEMESH_OK);
  EXPECT_EQ(done(), state);
  EXPECT_EQ(begin({4}), state);
  EXPECT_EQ(rest(), "B0 END");
  EXPECT_EQ(rest(), "END");
  EXPECT_EQ(done(), state);
  EXPECT_EQ(model.update(), MOEMESH_OK);
  EXPECT_EQ(rest(), "END");
  // The end of its step ends a run.
  ASSERT_EQ(open_step(1), MOEMESH_OK);
  ASSERT_EQ(begin({4}), MOEMESH_OK);
  next();
  ASSERT_EQ(moemesh_step_end(model.optimizer, 0), MOEMESH_OK);
  EXPECT_EQ(done(), state);
  EXPECT_EQ(moemesh_pipeline_next(pipeline, &action), state);
  ASSERT_EQ(open_step(1), MOEMESH_OK);
  EXPECT_EQ(moemesh_pipeline_next(pipeline, &action), state) << "of another step";
  ASSERT_EQ(begin({4}), MOEMESH_OK);
  EXPECT_EQ(rest(), "F0 B0 END");
}

TEST_F(Pipelines, InfoOfARun) {
  auto info = result_struct<moemesh_pipeline_info>();
  ASSERT_EQ(open_step(2), MOEMESH_OK);
  ASSERT_EQ(begin({4, 4}), MOEMESH_OK);
  next();
  ASSERT_EQ(done(), MOEMESH_OK);
  ASSERT_EQ(moemesh_pipeline_get_info(pipeline, &info), MOEMESH_OK);
  EXPECT_EQ(info.live, 1);
  EXPECT_EQ(info.peak, 1);
  EXPECT_EQ(rest(), "B0 F1 B1 END");
  ASSERT_EQ(moemesh_pipeline_get_info(pipeline, &info), MOEMESH_OK);
  EXPECT_EQ(info.live + info.bytes + info.sends + info.bytes_sent, 0);
  EXPECT_EQ(info.peak, 1);
}

// A layer that failed has left no tape: no backward. What the caller got wrong itself, it can answer for.
TEST_F(Pipelines, ALostMicrobatchHasNoBackward) {
  ASSERT_EQ(open_step(2), MOEMESH_OK);
  ASSERT_EQ(begin({4, 4}), MOEMESH_OK);
  next();
  const int32_t status = broken_forward();
  EXPECT_EQ(status, bad);
  EXPECT_EQ(done(status), MOEMESH_OK);
  EXPECT_EQ(rest(), "F1 B1 END");
  EXPECT_EQ(model.update(), MOEMESH_ERROR_STEP_FAILED);
  // Repaired: a rank that is its own block can call the layer again.
  ASSERT_EQ(open_step(1), MOEMESH_OK);
  ASSERT_EQ(begin({4}), MOEMESH_OK);
  next();
  EXPECT_EQ(broken_forward(), bad);
  moemesh_tape tape = nullptr;
  EXPECT_EQ(model.forward(&tape), MOEMESH_OK);
  EXPECT_EQ(done(), MOEMESH_OK);
  EXPECT_EQ(next().kind, MOEMESH_ACTION_BACKWARD);
  EXPECT_EQ(model.backward(&tape), MOEMESH_OK);
  EXPECT_EQ(done(), MOEMESH_OK);
  EXPECT_EQ(rest(), "END");
  EXPECT_EQ(model.update(), MOEMESH_OK);
  // The caller's own failures, also with numbers that mean something else here.
  for (const int32_t own : {-3, 1, 8, 11, 12345}) {
    ASSERT_EQ(open_step(1), MOEMESH_OK);
    ASSERT_EQ(begin({4}), MOEMESH_OK);
    next();
    EXPECT_EQ(done(own), MOEMESH_OK);
    EXPECT_EQ(rest(), "B0 END");
    EXPECT_EQ(model.update(), MOEMESH_ERROR_STEP_FAILED) << own;
    EXPECT_NE(last_error().find("status " + std::to_string(own)), std::string::npos) << last_error();
  }
  EXPECT_EQ(model.step(), MOEMESH_OK);
}

int32_t count(void* user, const moemesh_pipeline_action* action) {
  *static_cast<int32_t*>(user) += action->kind;
  return MOEMESH_OK;
}
int32_t refuse(void*, const moemesh_pipeline_action*) { return 5; }

TEST_F(Pipelines, Execute) {
  const int64_t rows[] = {1, 2};
  auto run = defaults(moemesh_pipeline_run_init);
  run.rows = rows;
  run.microbatches = 2;
  int32_t kinds = 0;
  ASSERT_EQ(open_step(2), MOEMESH_OK);
  EXPECT_EQ(moemesh_pipeline_execute(pipeline, &run, count, &kinds), MOEMESH_OK);
  EXPECT_EQ(kinds, 6);
  EXPECT_EQ(model.update(), MOEMESH_OK);
  ASSERT_EQ(open_step(2), MOEMESH_OK);
  EXPECT_EQ(moemesh_pipeline_execute(pipeline, &run, refuse, nullptr), MOEMESH_OK);
  EXPECT_EQ(model.update(), MOEMESH_ERROR_STEP_FAILED);
  run.training = 0;
  EXPECT_EQ(moemesh_pipeline_execute(pipeline, &run, refuse, nullptr), MOEMESH_ERROR_UNKNOWN_OPTION)
      << "the own status";
  EXPECT_EQ(rest(), "END");
}

// The pipeline keeps what it needs.
TEST_F(Pipelines, OutlivesTheHandlesOfItsParents) {
  ASSERT_EQ(open_step(1), MOEMESH_OK);
  moemesh_optimizer_destroy(&model.optimizer);
  ASSERT_EQ(begin({4}), MOEMESH_OK);
  EXPECT_EQ(rest(), "F0 B0 END");
  const moemesh_pipeline copy = pipeline;
  moemesh_pipeline_destroy(&pipeline);
  auto action = result_struct<moemesh_pipeline_action>();
  EXPECT_EQ(moemesh_pipeline_next(copy, &action), MOEMESH_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace capi_test
