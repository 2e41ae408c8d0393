// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Tests of the communicator across ranks, below the public API. The program knows no MPI: the module is opened and MPI
// is started by the library, as in a host without MPI. Every rank runs every test; rank 0 reports, failures all do.
#include <gtest/gtest.h>

#include <cstdio>

#include "impl/base/error.hpp"
#include "impl/comm/world.hpp"
#include "world.hpp"

namespace moemesh::test {
namespace {
std::unique_ptr<Communicator> shared;
}

Communicator& world() { return *shared; }

Own open_own(double timeout_seconds) {
  auto link = std::make_shared<Link>();
  link->timeout_seconds = timeout_seconds;
  auto comm = open_world(link, {.handle = 0, .kind = MOEMESH_COMM_MPI_WORLD, .reserved = 0}, true);
  return {std::move(link), std::move(comm)};
}

int run() {
  shared = open_own(0).world;
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (shared->rank() != 0) delete listeners.Release(listeners.default_result_printer());
  class Failures : public ::testing::EmptyTestEventListener {
    void OnTestPartResult(const ::testing::TestPartResult& result) override {
      if (result.failed() && shared->rank() != 0)
        std::fprintf(stderr, "rank %d: %s:%d: %s\n", static_cast<int>(shared->rank()),
                     result.file_name() ? result.file_name() : "?", result.line_number(), result.summary());
    }
  };
  listeners.Append(new Failures);
  const int result = RUN_ALL_TESTS();
  shared->close();
  finalize_mpi_if_ours();
  return result;
}

}  // namespace moemesh::test

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  try {
    return moemesh::test::run();
  } catch (const moemesh::Error& error) {
    std::fprintf(stderr, "status %d: %s\n", static_cast<int>(error.status()), error.what());
    return 2;
  }
}
