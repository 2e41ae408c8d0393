// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The caller's allocator: everything it gave comes back, and a failing one is an error and nothing worse.
#include <cstdlib>
#include <map>

#include "support.hpp"

namespace capi_test {
namespace {

// Counts, checks what is freed, and fails once at call number `fail_at` (counted from 1; 0 = never).
struct Tracker {
  std::map<void*, int64_t> live;
  int64_t calls = 0;
  int64_t fail_at = 0;
  int64_t allocated = 0;
  int64_t freed = 0;
  int64_t wrong = 0;

  static void* allocate(void* user, int64_t bytes, int64_t alignment) {
    auto& tracker = *static_cast<Tracker*>(user);
    if (bytes <= 0 || alignment <= 0 || (alignment & (alignment - 1)) != 0) ++tracker.wrong;
    if (++tracker.calls == tracker.fail_at) return nullptr;
    const int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* pointer = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(rounded));
    tracker.live[pointer] = bytes;
    tracker.allocated += bytes;
    return pointer;
  }
  static void release(void* user, void* pointer, int64_t bytes) {
    auto& tracker = *static_cast<Tracker*>(user);
    const auto found = tracker.live.find(pointer);
    if (found == tracker.live.end() || found->second != bytes) {
      ++tracker.wrong;
      return;
    }
    tracker.live.erase(found);
    tracker.freed += bytes;
    std::free(pointer);
  }
  Model::Options options() {
    Model::Options options;
    options.user = this;
    options.allocate = allocate;
    options.free = release;
    options.kind = MOEMESH_ADAMW;
    options.capacity_factor = 1;  // 3 slots for 5 tokens: nothing is dropped, but it has to be looked at
    options.aux_coefficient = 1;
    return options;
  }
  void expect_all_returned() const {
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(live.empty());
    EXPECT_EQ(allocated, freed);
  }
};

TEST(Allocator, EverythingComesBack) {
  Tracker tracker;
  {
    Model model(tracker.options());
    ASSERT_EQ(model.create(), MOEMESH_OK);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(model.step(), MOEMESH_OK);
      model.expect_right();
    }
    EXPECT_TRUE(on_device || tracker.allocated > 0);
    EXPECT_TRUE(on_device || tracker.allocated > tracker.freed);
  }
  tracker.expect_all_returned();
}

TEST(Allocator, ASteadyStepAllocatesNothing) {
  Tracker tracker;
  Model model(tracker.options());
  ASSERT_EQ(model.create(), MOEMESH_OK);
  ASSERT_EQ(model.step(), MOEMESH_OK);
  const int64_t calls = tracker.calls;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(model.step(), MOEMESH_OK);
  EXPECT_EQ(tracker.calls, calls);
}

TEST(Allocator, ATapeThatIsAliveHoldsMemoryUntilItGoes) {
  Tracker tracker;
  moemesh_tape tape = nullptr;
  {
    Model model(tracker.options());
    ASSERT_EQ(model.create(), MOEMESH_OK);
    ASSERT_EQ(model.begin(), MOEMESH_OK);
    ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
  }
  EXPECT_TRUE(on_device || !tracker.live.empty());
  moemesh_tape_destroy(&tape);
  tracker.expect_all_returned();
}

// One attempt at everything; the first status that is not OK.
int32_t create_and_step(Model& model) {
  const int32_t status = model.create();
  return status == MOEMESH_OK ? model.step() : status;
}

TEST(Allocator, FailsInCreateAtEveryCall) {
  int64_t n = 1;
  for (int32_t status = MOEMESH_ERROR_OUT_OF_MEMORY; status != MOEMESH_OK; ++n) {
    ASSERT_LT(n, 1000);
    Tracker tracker;
    tracker.fail_at = n;
    {
      Model model(tracker.options());
      status = create_and_step(model);
      if (tracker.calls < n) break;  // nothing failed any more
      // A failure inside the open step is told by its own call; update would say STEP_FAILED.
      ASSERT_EQ(status, MOEMESH_ERROR_OUT_OF_MEMORY) << "call " << n << ": " << last_error();
      EXPECT_NE(last_error().find("MOEMESH_ERROR_OUT_OF_MEMORY"), std::string::npos) << last_error();
    }
    tracker.expect_all_returned();
  }
  EXPECT_TRUE(on_device || n > 10) << n;
}

// The model stands; every allocation of a forward fails in turn. On one rank that call alone has failed: made again, it
// works, and so does the rest of the step.
TEST(Allocator, FailsInForwardAtEveryCallAndTheForwardCanBeMadeAgain) {
  int64_t n = 1;
  for (bool reached = true; reached; ++n) {
    ASSERT_LT(n, 1000);
    Tracker tracker;
    {
      Model model(tracker.options());
      moemesh_tape tape = nullptr;
      ASSERT_EQ(model.create(), MOEMESH_OK);
      ASSERT_EQ(model.begin(), MOEMESH_OK);
      tracker.fail_at = tracker.calls + n;
      const int32_t status = model.forward(&tape);
      reached = tracker.calls >= tracker.fail_at;
      tracker.fail_at = 0;
      ASSERT_EQ(status, reached ? MOEMESH_ERROR_OUT_OF_MEMORY : MOEMESH_OK) << "call " << n << ": " << last_error();
      ASSERT_EQ(tape == nullptr, reached);
      if (reached) {
        ASSERT_EQ(model.forward(&tape), MOEMESH_OK) << "call " << n << ": " << last_error();
      }
      ASSERT_EQ(model.backward(&tape), MOEMESH_OK) << "call " << n << ": " << last_error();
      ASSERT_EQ(model.update(), MOEMESH_OK);
      model.expect_right();
    }
    tracker.expect_all_returned();
  }
  EXPECT_TRUE(on_device || n > 5) << n;
}

// In a backward the tape is gone and gradients may be there in part: the step is dropped, and the next one is right.
TEST(Allocator, FailsInBackwardAtEveryCallAndTheNextStepIsRight) {
  int64_t n = 1;
  for (bool reached = true; reached; ++n) {
    ASSERT_LT(n, 1000);
    Tracker tracker;
    {
      Model model(tracker.options());
      moemesh_tape tape = nullptr;
      ASSERT_EQ(model.create(), MOEMESH_OK);
      ASSERT_EQ(model.begin(), MOEMESH_OK);
      ASSERT_EQ(model.forward(&tape), MOEMESH_OK);
      tracker.fail_at = tracker.calls + n;
      const int32_t status = model.backward(&tape);
      reached = tracker.calls >= tracker.fail_at;
      tracker.fail_at = 0;
      ASSERT_EQ(status, reached ? MOEMESH_ERROR_OUT_OF_MEMORY : MOEMESH_OK) << "call " << n << ": " << last_error();
      ASSERT_EQ(tape, nullptr);
      ASSERT_EQ(model.update(), reached ? MOEMESH_ERROR_STEP_FAILED : MOEMESH_OK) << "call " << n;
      ASSERT_EQ(model.step(), MOEMESH_OK) << "call " << n << ": " << last_error();
      model.expect_right();
    }
    tracker.expect_all_returned();
  }
  EXPECT_TRUE(on_device || n > 3) << n;
}

// Stage 2's bucket too is used again.
TEST(Allocator, ASteadyStepOfStage2AllocatesNothing) {
  Tracker tracker;
  Model model(tracker.options());
  ASSERT_EQ(model.create(), MOEMESH_OK);
  moemesh_optimizer_destroy(&model.optimizer);
  auto params = defaults(moemesh_optimizer_params_init);
  params.learning_rate = 0;
  params.shared_stage = params.expert_stage = 2;
  ASSERT_EQ(moemesh_optimizer_create(model.mesh, model.shared, model.expert, &params, &model.optimizer), MOEMESH_OK);
  ASSERT_EQ(model.step(), MOEMESH_OK);
  const int64_t calls = tracker.calls;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(model.step(), MOEMESH_OK);
  EXPECT_EQ(tracker.calls, calls);
}

// Commit that ran out of memory can be called again.
TEST(Allocator, CommitCanBeRepeated) {
  if (on_device) GTEST_SKIP() << "the device's memory is not the allocator's";
  Tracker tracker;
  Model model(tracker.options());
  ASSERT_EQ(model.create(), MOEMESH_OK);
  auto params = defaults(moemesh_family_params_init);
  params.kind = MOEMESH_SHARED;
  moemesh_family family = nullptr;
  ASSERT_EQ(moemesh_family_create(model.mesh, &params, &family), MOEMESH_OK);
  auto described = defaults(moemesh_parameter_params_init);
  described.name = "p";
  described.rank = 1;
  described.extents[0] = 5;
  described.init_value = 3;
  moemesh_parameter parameter = nullptr;
  ASSERT_EQ(moemesh_parameter_register(family, &described, &parameter), MOEMESH_OK);
  tracker.fail_at = tracker.calls + 1;
  EXPECT_EQ(moemesh_family_commit(family), MOEMESH_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(moemesh_family_commit(family), MOEMESH_OK);
  std::vector<float> values(5);
  const moemesh_view view = dense(MOEMESH_FLOAT32, {5}, values.data());
  ASSERT_EQ(moemesh_parameter_read(parameter, MOEMESH_VALUE, 0, &view), MOEMESH_OK);
  EXPECT_EQ(values, std::vector<float>(5, 3.0F));
  moemesh_family_destroy(&family);
}

// The out-of-memory read leaves the caller's array.
TEST(Allocator, ReadLeavesTheArray) {
  if (on_device) GTEST_SKIP() << "the device's memory is not the allocator's";
  Tracker tracker;
  Model model(tracker.options());
  ASSERT_EQ(model.create(), MOEMESH_OK);
  std::vector<float> values(4, -777.0F);
  const moemesh_view view = dense(MOEMESH_FLOAT32, {2, 2}, values.data());
  tracker.fail_at = tracker.calls + 1;
  EXPECT_EQ(moemesh_parameter_read(model.w1, MOEMESH_VALUE, 0, &view), MOEMESH_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(values, std::vector<float>(4, -777.0F));
  EXPECT_EQ(moemesh_parameter_read(model.w1, MOEMESH_VALUE, 0, &view), MOEMESH_OK);
  EXPECT_EQ(values, (std::vector<float>{1, 0, 0, 1}));
}

}  // namespace
}  // namespace capi_test
