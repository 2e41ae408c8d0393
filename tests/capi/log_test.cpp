// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The library prints nothing by itself; with a callback it tells errors and warnings.
#include "support.hpp"

namespace capi_test {
namespace {

struct Log {
  struct Line {
    int32_t level;
    std::string text;
  };
  std::vector<Line> lines;

  static void write(void* user, int32_t level, const char* message) {
    static_cast<Log*>(user)->lines.push_back({level, message});
  }
  bool has(int32_t level, const std::string& word) const {
    for (const auto& line : lines)
      if (line.level == level && line.text.find(word) != std::string::npos) return true;
    return false;
  }
};

TEST(Log, SilentByDefault) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    Model model;
    EXPECT_EQ(model.create(), MOEMESH_OK);
    EXPECT_EQ(model.step(), MOEMESH_OK);
    EXPECT_EQ(moemesh_ledger_get_count(model.mesh, nullptr), MOEMESH_ERROR_INVALID_ARGUMENT);
    moemesh_mesh_destroy(&model.mesh);
    moemesh_context_destroy(&model.context);  // without finalize
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Log, TellsErrorsToTheCallbackOfTheirContext) {
  Log log, other;
  Model::Options options;
  options.log = Log::write;
  options.user = &log;
  Model model(options);
  options.user = &other;
  Model silent(options);
  ASSERT_EQ(model.create(), MOEMESH_OK);
  ASSERT_EQ(silent.create(), MOEMESH_OK);
  EXPECT_FALSE(log.has(MOEMESH_LOG_ERROR, ""));
  EXPECT_EQ(model.update(), MOEMESH_ERROR_INVALID_STATE);
  EXPECT_TRUE(log.has(MOEMESH_LOG_ERROR, "MOEMESH_ERROR_INVALID_STATE"));
  EXPECT_TRUE(log.has(MOEMESH_LOG_ERROR, last_error(model.context)));
  EXPECT_FALSE(other.has(MOEMESH_LOG_ERROR, ""));
}

TEST(Log, LevelsAreAFilter) {
  Log log;
  auto params = defaults(moemesh_context_params_init);
  params.log = Log::write;
  params.log_user = &log;
  params.log_level = MOEMESH_LOG_ERROR;
  params.threads = 77;  // the pool has another size already: a warning
  moemesh_context running = nullptr, context = nullptr;
  ASSERT_EQ(moemesh_context_create(nullptr, &running), MOEMESH_OK);
  ASSERT_EQ(moemesh_context_create(&params, &context), MOEMESH_OK);
  moemesh_context_destroy(&context);
  EXPECT_TRUE(log.lines.empty());
  params.log_level = MOEMESH_LOG_WARNING;
  ASSERT_EQ(moemesh_context_create(&params, &context), MOEMESH_OK);
  EXPECT_TRUE(log.has(MOEMESH_LOG_WARNING, "threads"));
  moemesh_context_destroy(&context);
  moemesh_context_destroy(&running);
}

}  // namespace
}  // namespace capi_test
