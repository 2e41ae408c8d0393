// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What only the MPI module can refuse.
#include <gtest/gtest.h>
#include <mpi.h>

#include <thread>

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

}  // namespace
}  // namespace moemesh::test
