// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// A timeline report on one rank: what it refuses, when it may be asked, a scripted clock whose figures are exact, memory and
// files. Ranks that wait for each other are tested in tests/multi.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "support.hpp"

namespace capi_test {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
constexpr auto state = MOEMESH_ERROR_INVALID_STATE;

class ReportTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(model.create(), MOEMESH_OK); }
  void TearDown() override { moemesh_report_destroy(&report); }

  int32_t create(const std::function<void(moemesh_report_params&)>& change = {}) {
    auto params = defaults(moemesh_report_params_init);
    params.events = 64;
    params.steps = 4;
    if (change) change(params);
    moemesh_report made = nullptr;
    const int32_t status = moemesh_report_create(model.mesh, &params, &made);
    EXPECT_EQ(made != nullptr, status == MOEMESH_OK);
    if (made) report = made;
    return status;
  }
  moemesh_report_summary summary() {
    auto result = result_struct<moemesh_report_summary>();
    EXPECT_EQ(moemesh_report_get_summary(report, &result), MOEMESH_OK) << last_error();
    return result;
  }
  std::string write(int32_t output, int64_t step = -1) {
    const auto path = std::filesystem::temp_directory_path() / ("moemesh_report_" + std::to_string(::getpid()));
    EXPECT_EQ(moemesh_report_write(report, output, step, path.c_str()), MOEMESH_OK) << last_error();
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    std::filesystem::remove(path);
    return text.str();
  }

  Model model;
  moemesh_report report = nullptr;
};

TEST_F(ReportTest, Params) {
  using P = moemesh_report_params;
  const auto refused = [&](const char* argument, const std::function<void(P&)>& change) {
    EXPECT_EQ(create(change), bad) << argument;
    EXPECT_NE(last_error().find(argument), std::string::npos) << last_error();
  };
  refused("events", [](P& p) { p.events = -1; });
  refused("events", [](P& p) { p.events = INT64_MAX; });
  refused("steps", [](P& p) { p.steps = 0; });
  refused("steps", [](P& p) { p.steps = INT64_MAX; });
  refused("first_step", [](P& p) { p.first_step = -1; });
  refused("last_step", [](P& p) { p.last_step = -1; });
  refused("start_pings", [](P& p) { p.start_pings = 0; });
  refused("step_pings", [](P& p) { p.step_pings = -1; });
  EXPECT_EQ(create([](P& p) { p.events = p.step_pings = 0; }), MOEMESH_OK);
  EXPECT_EQ(moemesh_report_stop(report), MOEMESH_OK);
}

TEST_F(ReportTest, OneAtATimeAndNotWithinAStep) {
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  EXPECT_EQ(create(), state);
  ASSERT_EQ(moemesh_step_end(model.optimizer, 0), MOEMESH_OK);
  ASSERT_EQ(create(), MOEMESH_OK) << last_error();
  moemesh_report second = nullptr;
  auto params = defaults(moemesh_report_params_init);
  EXPECT_EQ(moemesh_report_create(model.mesh, &params, &second), state);
  EXPECT_NE(last_error().find("another report"), std::string::npos) << last_error();
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  EXPECT_EQ(moemesh_report_collect(report), state);
  EXPECT_EQ(moemesh_report_stop(report), state);
  ASSERT_EQ(model.update(), MOEMESH_OK);
  EXPECT_EQ(moemesh_report_stop(report), MOEMESH_OK);
  EXPECT_EQ(moemesh_report_stop(report), state);
  EXPECT_EQ(moemesh_report_create(model.mesh, &params, &second), MOEMESH_OK);
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK) << "what was recorded stays";
  EXPECT_EQ(summary().steps, 1);
  EXPECT_EQ(moemesh_report_stop(second), MOEMESH_OK);
  moemesh_report_destroy(&second);
}

TEST_F(ReportTest, AStepThatWasDroppedWithItsOptimizerIsNotOpenForEver) {
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  moemesh_optimizer_destroy(&model.optimizer);
  EXPECT_EQ(create(), MOEMESH_OK) << last_error();
}

TEST_F(ReportTest, StepsAreCountedAlsoWhereThereIsNothingToEnd) {
  ASSERT_EQ(create(), MOEMESH_OK);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(model.step(), MOEMESH_OK);
  EXPECT_NE(moemesh_step_end(model.optimizer, 0), MOEMESH_OK);
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  ASSERT_EQ(moemesh_step_end(model.optimizer, 0), MOEMESH_OK);
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK);
  const auto found = summary();
  EXPECT_EQ(found.steps, 5);
  EXPECT_EQ(found.first_step, 1) << "four are kept";
  EXPECT_EQ(found.layers, 1);
  EXPECT_EQ(found.late_rank, -1);
  EXPECT_EQ(found.rows_ratio, 1);
  EXPECT_EQ(found.clock_error, 0);
  auto step = result_struct<moemesh_report_step>();
  EXPECT_EQ(moemesh_report_get_step(report, 0, &step), bad);
  ASSERT_EQ(moemesh_report_get_step(report, 3, &step), MOEMESH_OK);
  EXPECT_EQ(step.seconds, 0) << "no step was open";
  ASSERT_EQ(moemesh_report_get_step(report, 2, &step), MOEMESH_OK);
  EXPECT_GT(step.seconds, 0);
  EXPECT_EQ(step.rows_ratio, 1);
}

TEST_F(ReportTest, LayersHaveNamesAndRows) {
  ASSERT_EQ(create(), MOEMESH_OK);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(model.step(), MOEMESH_OK);
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK);
  auto layer = result_struct<moemesh_report_layer>();
  ASSERT_EQ(moemesh_report_get_layer(report, 0, &layer), MOEMESH_OK);
  EXPECT_GT(std::string(layer.name).size(), 0U);
  EXPECT_EQ(layer.rows, 2.0 * static_cast<double>(model.tokens() * model.options.top_k));
  EXPECT_EQ(layer.rows_ratio, 1);
  EXPECT_EQ(layer.late_rank, -1);
  EXPECT_EQ(layer.idle_seconds, 0);
  EXPECT_GT(layer.expert_seconds, 0);
}

TEST_F(ReportTest, Marks) {
  ASSERT_EQ(create([](moemesh_report_params& p) { p.events = 200; }), MOEMESH_OK);
  EXPECT_EQ(moemesh_report_mark_end(report), state);
  for (int depth = 0; depth < 16; ++depth) EXPECT_EQ(moemesh_report_mark_begin(report, "deep"), MOEMESH_OK);
  EXPECT_EQ(moemesh_report_mark_begin(report, "deep"), state);
  for (int depth = 0; depth < 16; ++depth) EXPECT_EQ(moemesh_report_mark_end(report), MOEMESH_OK);
  for (int name = 1; name < 64; ++name) {
    ASSERT_EQ(moemesh_report_mark_begin(report, ("name " + std::to_string(name)).c_str()), MOEMESH_OK);
    ASSERT_EQ(moemesh_report_mark_end(report), MOEMESH_OK);
  }
  EXPECT_EQ(moemesh_report_mark_begin(report, "one too many"), state);
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK);
  EXPECT_EQ(summary().events, 16 + 63);
  const std::string trace = write(MOEMESH_REPORT_TRACE);
  EXPECT_NE(trace.find("\"name\":\"deep\""), std::string::npos);
  EXPECT_NE(trace.find("\"name\":\"name 63\""), std::string::npos);
  ASSERT_EQ(moemesh_report_stop(report), MOEMESH_OK);
  EXPECT_EQ(moemesh_report_mark_end(report), MOEMESH_OK) << "nothing after stop";
  EXPECT_EQ(moemesh_report_mark_begin(report, "after"), MOEMESH_OK);
}

TEST_F(ReportTest, EventsAreOverwrittenAndCounted) {
  ASSERT_EQ(create([](moemesh_report_params& p) { p.events = 3; }), MOEMESH_OK);
  for (int i = 0; i < 7; ++i) {
    ASSERT_EQ(moemesh_report_mark_begin(report, ("mark " + std::to_string(i)).c_str()), MOEMESH_OK);
    ASSERT_EQ(moemesh_report_mark_end(report), MOEMESH_OK);
  }
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK);
  EXPECT_EQ(summary().events, 3);
  EXPECT_EQ(summary().lost_events, 4);
  const std::string trace = write(MOEMESH_REPORT_TRACE);
  EXPECT_EQ(trace.find("mark 3"), std::string::npos);
  EXPECT_NE(trace.find("mark 4"), std::string::npos);
}

TEST_F(ReportTest, OnlyTheStepsThatWereAskedForAreKeptInDetail) {
  ASSERT_EQ(create([](moemesh_report_params& p) {
              p.first_step = 1;
              p.last_step = 1;
            }),
            MOEMESH_OK);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(model.step(), MOEMESH_OK);
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK);
  const std::string trace = write(MOEMESH_REPORT_TRACE);
  EXPECT_EQ(trace.find("\"step\":0"), std::string::npos);
  EXPECT_NE(trace.find("\"step\":1"), std::string::npos);
  EXPECT_EQ(trace.find("\"step\":2"), std::string::npos);
  EXPECT_NE(write(MOEMESH_REPORT_TIMELINE).find("step 1:"), std::string::npos);
  EXPECT_EQ(write(MOEMESH_REPORT_TRACE, 0).find("\"step\":"), std::string::npos);
}

TEST_F(ReportTest, WriteRefusesAndNamesTheFile) {
  ASSERT_EQ(create(), MOEMESH_OK);
  EXPECT_EQ(moemesh_report_write(report, MOEMESH_REPORT_TABLE, -1, "x"), state) << "not collected";
  ASSERT_EQ(model.step(), MOEMESH_OK);
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK);
  for (const int32_t output : {0, 6, -1}) EXPECT_EQ(moemesh_report_write(report, output, -1, "x"), bad);
  EXPECT_EQ(moemesh_report_write(report, MOEMESH_REPORT_SERIES, 0, "x"), bad);
  EXPECT_EQ(moemesh_report_write(report, MOEMESH_REPORT_TIMELINE, 1, "x"), bad);
  EXPECT_EQ(moemesh_report_write(report, MOEMESH_REPORT_TIMELINE, -2, "x"), bad);
  for (const int32_t output : {1, 2, 3, 4, 5}) {
    EXPECT_EQ(moemesh_report_write(report, output, -1, "/nowhere/at/all"), MOEMESH_ERROR_FILE);
    EXPECT_NE(last_error().find("\"/nowhere/at/all\": No such file"), std::string::npos) << last_error();
    EXPECT_FALSE(write(output).empty());
  }
  EXPECT_EQ(moemesh_report_write(report, MOEMESH_REPORT_TABLE, -1, "/dev/full"), MOEMESH_ERROR_FILE) << last_error();
}

// ---- a clock that the test moves

struct ScriptedClock {
  int64_t now = 1'000'000'000;
  static int64_t read(void* user) { return static_cast<ScriptedClock*>(user)->now; }
};

TEST(ReportClock, FiguresAreExactlyTheScriptedClocks) {
  ScriptedClock clock;
  auto context_params = defaults(moemesh_context_params_init);
  context_params.clock = ScriptedClock::read;
  context_params.clock_user = &clock;
  moemesh_context context = nullptr;
  ASSERT_EQ(moemesh_context_create(&context_params, &context), MOEMESH_OK);
  const auto mesh_params = defaults(moemesh_mesh_params_init);
  moemesh_mesh mesh = nullptr;
  ASSERT_EQ(moemesh_mesh_create(context, &mesh_params, &mesh), MOEMESH_OK);
  auto params = defaults(moemesh_report_params_init);
  params.events = 10;
  moemesh_report report = nullptr;
  ASSERT_EQ(moemesh_report_create(mesh, &params, &report), MOEMESH_OK);
  clock.now += 2'000;
  ASSERT_EQ(moemesh_report_mark_begin(report, "mark"), MOEMESH_OK);
  clock.now += 5'500;
  ASSERT_EQ(moemesh_report_mark_end(report), MOEMESH_OK);
  ASSERT_EQ(moemesh_report_collect(report), MOEMESH_OK);
  const auto path = std::filesystem::temp_directory_path() / ("moemesh_clock_" + std::to_string(::getpid()));
  ASSERT_EQ(moemesh_report_write(report, MOEMESH_REPORT_TRACE, -1, path.c_str()), MOEMESH_OK);
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  std::filesystem::remove(path);
  EXPECT_NE(text.str().find("\"ts\":2.0,\"dur\":5.5"), std::string::npos) << text.str();
  ASSERT_EQ(moemesh_report_stop(report), MOEMESH_OK);
  moemesh_report_destroy(&report);
  ASSERT_EQ(moemesh_mesh_finalize(mesh), MOEMESH_OK);
  moemesh_mesh_destroy(&mesh);
  ASSERT_EQ(moemesh_context_finalize(context), MOEMESH_OK);
  moemesh_context_destroy(&context);
}

// ---- memory

struct FailingAllocator {
  int64_t calls = 0, fail_at = 0;
  static void* allocate(void* user, int64_t bytes, int64_t alignment) {
    auto& self = *static_cast<FailingAllocator*>(user);
    if (++self.calls == self.fail_at) return nullptr;
    return std::aligned_alloc(static_cast<size_t>(alignment),
                              static_cast<size_t>((bytes + alignment - 1) / alignment * alignment));
  }
  static void release(void*, void* pointer, int64_t) { std::free(pointer); }
};

TEST(ReportMemory, CreateFailsAtEveryCallAndCanBeMadeAgainAndRecordedStepsAskForNothing) {
  FailingAllocator allocator;
  Model::Options options;
  options.user = &allocator;
  options.allocate = FailingAllocator::allocate;
  options.free = FailingAllocator::release;
  Model model(options);
  ASSERT_EQ(model.create(), MOEMESH_OK);
  ASSERT_EQ(model.step(), MOEMESH_OK);
  const auto params = defaults(moemesh_report_params_init);
  moemesh_report report = nullptr;
  int64_t n = 1;
  for (;; ++n) {
    ASSERT_LT(n, 100);
    allocator.fail_at = allocator.calls + n;
    const int32_t status = moemesh_report_create(model.mesh, &params, &report);
    const bool reached = allocator.calls >= allocator.fail_at;
    ASSERT_EQ(status, reached ? MOEMESH_ERROR_OUT_OF_MEMORY : MOEMESH_OK) << "call " << n << ": " << last_error();
    ASSERT_EQ(report == nullptr, reached);
    if (!reached) break;
    ASSERT_EQ(model.step(), MOEMESH_OK);
  }
  EXPECT_GT(n, 4);
  allocator.fail_at = 0;
  const int64_t calls = allocator.calls;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(model.step(), MOEMESH_OK);
  EXPECT_EQ(allocator.calls, calls);
  ASSERT_EQ(moemesh_report_stop(report), MOEMESH_OK);
  moemesh_report_destroy(&report);
}

}  // namespace
}  // namespace capi_test
