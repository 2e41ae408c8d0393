// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The order of a pipeline's microbatches: complete, in order, with few microbatches alive, and free of deadlock.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "impl/schedule/schedule.hpp"

namespace moemesh {
namespace {

void for_each_schedule(const std::function<void(const Schedule&)>& f) {
  for (const auto kind : {Schedule::one_forward_one_backward, Schedule::all_forward_all_backward})
    for (int64_t stages = 1; stages <= 8; ++stages)
      for (int64_t microbatches = 1; microbatches <= 12; ++microbatches) {
        SCOPED_TRACE("kind " + std::to_string(kind) + " stages " + std::to_string(stages) + " microbatches " +
                     std::to_string(microbatches));
        f({kind, stages, 0, microbatches, true});
      }
}

std::vector<Schedule::Action> actions(const Schedule& schedule) {
  std::vector<Schedule::Action> list;
  for (int64_t place = 0; place < schedule.size(); ++place) list.push_back(schedule.action(place));
  return list;
}

TEST(Schedule, EachMicrobatchOnceInEachDirectionAndInOrder) {
  for_each_schedule([](Schedule schedule) {
    for (; schedule.stage < schedule.stages; ++schedule.stage) {
      int64_t next_forward = 0, next_backward = 0;
      for (const auto& action : actions(schedule)) {
        int64_t& next = action.forward ? next_forward : next_backward;
        EXPECT_EQ(action.microbatch, next++);
        EXPECT_LE(next_backward, next_forward) << "a backward before its forward";
      }
      EXPECT_EQ(next_forward, schedule.microbatches);
      EXPECT_EQ(next_backward, schedule.microbatches);
    }
  });
}

TEST(Schedule, LiveMicrobatchesReachTheirBoundAndNoMore) {
  for_each_schedule([](Schedule schedule) {
    for (; schedule.stage < schedule.stages; ++schedule.stage) {
      int64_t live = 0, peak = 0;
      for (const auto& action : actions(schedule)) {
        live += action.forward ? 1 : -1;
        peak = std::max(peak, live);
      }
      const bool pairs = schedule.kind == Schedule::one_forward_one_backward;
      EXPECT_EQ(peak,
                pairs ? std::min(schedule.microbatches, schedule.stages - schedule.stage) : schedule.microbatches);
    }
  });
}

// Every stage as far as its messages let it, until nothing moves: all must be at their end.
TEST(Schedule, NoStageWaitsForEver) {
  for_each_schedule([](Schedule schedule) {
    const auto n = static_cast<size_t>(schedule.stages);
    std::vector<std::vector<Schedule::Action>> todo(n);
    for (; schedule.stage < schedule.stages; ++schedule.stage)
      todo[static_cast<size_t>(schedule.stage)] = actions(schedule);
    std::vector<size_t> place(n);
    const auto has_done = [&](size_t stage, const Schedule::Action& action) {
      const auto end = todo[stage].begin() + static_cast<std::ptrdiff_t>(place[stage]);
      return std::find(todo[stage].begin(), end, action) != end;
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t stage = 0; stage < n; ++stage) {
        if (place[stage] == todo[stage].size()) continue;
        const auto& action = todo[stage][place[stage]];
        const bool source = action.forward ? stage == 0 : stage == n - 1;
        if (!source && !has_done(action.forward ? stage - 1 : stage + 1, action)) continue;
        ++place[stage];
        moved = true;
      }
    }
    for (size_t stage = 0; stage < n; ++stage) EXPECT_EQ(place[stage], todo[stage].size()) << "stage " << stage;
  });
}

TEST(Schedule, TheOrderOfThePaper) {
  // Four stages, the second one: two forwards, then pairs.
  const Schedule schedule{Schedule::one_forward_one_backward, 4, 1, 5, true};
  std::string order;
  for (const auto& action : actions(schedule))
    order.append(action.forward ? "F" : "B").append(std::to_string(action.microbatch));
  EXPECT_EQ(order, "F0F1F2B0F3B1F4B2B3B4");
}

TEST(Schedule, ForwardsAlone) {
  const Schedule schedule{Schedule::one_forward_one_backward, 4, 2, 3, false};
  ASSERT_EQ(schedule.size(), 3);
  for (int64_t m = 0; m < 3; ++m) EXPECT_EQ(schedule.action(m), (Schedule::Action{true, m}));
}

}  // namespace
}  // namespace moemesh
