// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Tests over several ranks: mpirun -n N multi_tests. Every rank runs every test; rank 0 prints, the others only what
// failed. The program fails everywhere if a test failed anywhere.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "harness.hpp"

namespace {

class Failures : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo& info) override { test_ = &info; }
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s.%s: %s:%d: %s\n", moemesh::test::world_rank(),
                 test_ ? test_->test_suite_name() : "?", test_ ? test_->name() : "?",
                 result.file_name() ? result.file_name() : "?", result.line_number(), result.message());
  }
  const ::testing::TestInfo* test_ = nullptr;
};

int run_tests() {
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (moemesh::test::world_rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures);
  }
  int failed = RUN_ALL_TESTS() != 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  // With MULTIPLE contexts get a progress thread.
  const bool threads = std::getenv("MOEMESH_TEST_THREADS") != nullptr;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  ::testing::InitGoogleTest(&argc, argv);
  const int failed = run_tests();
  MPI_Finalize();
  return failed;
}
