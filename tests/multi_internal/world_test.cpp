// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include <mpi.h>

#include "impl/base/error.hpp"
#include "impl/comm/mpi_loader.hpp"
#include "impl/comm/world.hpp"
#include "world.hpp"

namespace moemesh::test {
namespace {

int32_t status_of_open(const moemesh_comm& comm) {
  try {
    (void)open_world(std::make_shared<Link>(), comm, false);
  } catch (const Error& error) {
    return error.status();
  }
  return MOEMESH_OK;
}

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

TEST(World, RefusesAnotherMpisCommunicator) {
  const int32_t own = mpi_transport().kind;
  for (const int32_t kind : {MOEMESH_COMM_OPENMPI, MOEMESH_COMM_MPICH_ABI, MOEMESH_COMM_MPI_ABI})
    if (kind != own) {
      EXPECT_EQ(status_of_open({.handle = 0, .kind = kind, .reserved = 0}), MOEMESH_ERROR_MPI_KIND);
    }
}

TEST(World, RefusesWhatIsNoCommunicator) {
  const int32_t own = mpi_transport().kind;
  const auto null = static_cast<int64_t>(MPI_Comm_c2f(MPI_COMM_NULL));
  EXPECT_EQ(status_of_open({.handle = null, .kind = own, .reserved = 0}), MOEMESH_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of_open({.handle = int64_t{1} << 40, .kind = own, .reserved = 0}), MOEMESH_ERROR_INVALID_ARGUMENT);
}

TEST(World, RefusesAnotherThreadBelowSerialized) {
  moemesh_transport_state state{};
  ASSERT_EQ(mpi_transport().state(&state), 0);
  ASSERT_EQ(state.main_thread, 1);
  if (state.thread_level >= 2) GTEST_SKIP() << "MPI allows every thread";
  int32_t status = 0;
  std::thread([&] { status = status_of_open({.handle = 0, .kind = MOEMESH_COMM_MPI_WORLD, .reserved = 0}); }).join();
  EXPECT_EQ(status, MOEMESH_ERROR_MPI_THREAD_LEVEL);
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
