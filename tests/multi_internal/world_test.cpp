// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "impl/base/error.hpp"
#include "world.hpp"

namespace moemesh::test {
namespace {

TEST(World, OneNodeOnOneMachine) {
  if (std::getenv("MOEMESH_FAKE_NODES")) GTEST_SKIP() << "nodes are faked";
  EXPECT_EQ(world().nodes(), std::vector<int64_t>(world().size(), 0));
}

TEST(World, FakeNodesOfTwo) {
  const char* const before = std::getenv("MOEMESH_FAKE_NODES");
  const std::string saved = before ? before : "";
  setenv("MOEMESH_FAKE_NODES", "2", 1);
  Own own = open_own(0);
  before ? setenv("MOEMESH_FAKE_NODES", saved.c_str(), 1) : unsetenv("MOEMESH_FAKE_NODES");
  for (int64_t rank = 0; rank < own.world->size(); ++rank) EXPECT_EQ(own.world->nodes()[rank], rank / 2);
  own.world->close();
}

TEST(World, RefusesAfterClose) {
  if (world().size() == 1) GTEST_SKIP();
  Own own = open_own(0);
  own.world->close();
  own.world->close();  // again does nothing
  int32_t one = 1;
  try {
    (void)own.world->all_reduce(&one, 1, Communicator::Op::sum, reduction);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MOEMESH_ERROR_INVALID_STATE);
  }
}

// The last rank stays away. Whoever waits for it gets the named error soon after the deadline, and then only refusals.
TEST(World, DeadlineOfALostRank) {
  const int64_t size = world().size();
  if (size == 1) GTEST_SKIP();
  Own own = open_own(0.5);
  if (own.world->rank() != size - 1) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<float> data(300000, 1);
    int32_t status = 0, next = 0;
    std::string text;
    try {
      (void)own.world->all_reduce(data.data(), std::ssize(data), Communicator::Op::sum, reduction);
    } catch (const Error& error) {
      status = error.status();
      text = error.what();
    }
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(status, MOEMESH_ERROR_TIMEOUT);
    EXPECT_TRUE(text.ends_with(std::to_string(size - 1))) << text;  // the highest of those waited for
    EXPECT_GE(waited.count(), 0.5);
    EXPECT_LT(waited.count(), 20);
    EXPECT_TRUE(own.link->broken);
    try {
      own.world->agree_max(std::span<int64_t>(), Purpose{});
    } catch (const Error& error) {
      next = error.status();
    }
    EXPECT_EQ(next, MOEMESH_ERROR_COMMUNICATION);
    own.world->close();  // local: the peers may be gone
  }
  int32_t alive = 1;  // other communicators of the process still work
  EXPECT_FALSE(world().all_reduce(&alive, 1, Communicator::Op::sum, reduction));
  EXPECT_EQ(alive, size);
}

// A message that is longer than expected is an error of both texts, not a crash and no hang.
TEST(World, RanksThatDisagreeOnSizes) {
  const int64_t size = world().size();
  if (size != 2) GTEST_SKIP() << "two ranks show it";
  Own own = open_own(1);
  std::vector<float> data(own.world->rank() == 0 ? 10 : 20);
  int32_t status = 0;
  try {
    if (own.world->all_reduce(data.data(), std::ssize(data), Communicator::Op::sum, reduction))
      status = MOEMESH_ERROR_PEER_FAILED;
  } catch (const Error& error) {
    status = error.status();
  }
  EXPECT_NE(status, MOEMESH_OK);
}

}  // namespace
}  // namespace moemesh::test
