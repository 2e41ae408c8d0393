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

// Two layers, two buckets; a further chunk takes 10, a first one 20.
Windows with_buckets() {
  Windows windows(2, 2);
  windows.exchange_ended(0, 4);
  windows.bucket_complete(300, 1);
  windows.exchange_begins(400);
  windows.exchange_ended(500, 5);
  windows.chunk_took(20, true);
  windows.chunk_took(10, false);
  windows.agreed(windows.measured());
  return windows;
}

TEST(Windows, ABucketsCompletionHasTheRestOfItsWindow) {
  Windows windows = with_buckets();
  EXPECT_EQ(windows.quota(4), 34);  // 350 of 400, 10 before the first
  windows.forget();
  EXPECT_EQ(windows.take(1000), 1000);
  windows.exchange_ended(0, 4);
  EXPECT_EQ(windows.take(3), 3);
  windows.bucket_complete(1, 1);
  EXPECT_EQ(windows.take(1000), 7);  // 84 of 100, 10 before the first
  EXPECT_EQ(windows.take(1000), 0);
  windows.bucket_complete(1, 0);      // never seen within a window
  EXPECT_EQ(windows.take(1000), 24);  // what the window has left
  EXPECT_EQ(windows.take(1000), 0);
  windows.exchange_ended(0, 5);  // nothing came after it
  EXPECT_EQ(windows.take(1000), 1000);
}

// What comes after the last exchange, or before the first one, is no window.
TEST(Windows, OnlyWhatAnExchangeEndsIsMeasured) {
  Windows windows(1, 1);
  windows.exchange_ended(0, 0);
  windows.bucket_complete(10, 0);
  windows.forget();
  windows.exchange_begins(400);
  windows.chunk_took(20, true);
  windows.agreed(windows.measured());
  windows.exchange_ended(0, 0);
  EXPECT_EQ(windows.take(1000), 1000);
  windows.bucket_complete(1, 0);
  EXPECT_EQ(windows.take(1000), 1000);
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
