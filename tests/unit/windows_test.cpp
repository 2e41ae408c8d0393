// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/windows.hpp"

#include <gtest/gtest.h>

namespace moemesh {
namespace {

// The shortest window of each place, and the mean time of a chunk.
TEST(Windows, AreMeasuredByPlace) {
  Windows windows(2);
  windows.exchange_begins(5);  // nothing ended before
  windows.exchange_ended(10, 2);
  windows.exchange_begins(110);
  windows.exchange_ended(120, 3);
  windows.exchange_begins(420);
  windows.exchange_ended(430, 2);
  windows.exchange_begins(490);
  windows.forget();
  windows.exchange_begins(491);
  windows.chunk_took(30, true);
  windows.chunk_took(10, false);
  windows.chunk_took(20, false);
  const auto measured = windows.measured();
  EXPECT_EQ(-measured[2], 60);
  EXPECT_EQ(-measured[3], 300);
  EXPECT_EQ(-measured[8], 30);
  EXPECT_EQ(-measured[9], 15);
  windows.agreed(measured);
  EXPECT_EQ(windows.quota(0), Windows::unlimited);  // never seen
  EXPECT_EQ(windows.quota(2), 2);                   // 49 of 60, and 15 go by before the first
  EXPECT_EQ(windows.quota(3), 16);                  // 259 of 300
  EXPECT_EQ(windows.quota(-1), Windows::unlimited);
  EXPECT_EQ(windows.quota(8), Windows::unlimited);
}

TEST(Windows, AChunkTakesAQuarterAtMost) {
  Windows windows(2);
  windows.exchange_ended(0, 0);
  windows.exchange_begins(100);
  windows.chunk_took(26, true);
  windows.agreed(windows.measured());
  EXPECT_EQ(windows.quota(0), 0);
  // Kept out, it is tried again with time.
  int steps = 0;
  for (; windows.quota(0) == 0 && steps < 100; ++steps) {
    windows.exchange_ended(0, 0);
    windows.exchange_begins(100);
    windows.agreed(windows.measured());
  }
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(windows.quota(0), 3);
}

TEST(Windows, WithoutAChunkAllMayGo) {
  Windows windows(2);
  windows.exchange_ended(0, 1);
  windows.exchange_begins(100);
  windows.agreed(windows.measured());
  EXPECT_EQ(windows.quota(1), Windows::unlimited);
}

}  // namespace
}  // namespace moemesh
