// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Tests of impl/comm/nccl on the fake NCCL, across ranks. Every rank runs every test; rank 0 reports, failures all do. A test
// fails where the fake has something to complain of that the test did not expect.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "fake.hpp"
#include "impl/comm/world.hpp"
#include "nccl_world.hpp"

namespace moemesh::test {
namespace {

std::unique_ptr<Communicator> shared;

class Listener : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (result.failed() && shared->rank() != 0)
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", static_cast<int>(shared->rank()),
                   result.file_name() ? result.file_name() : "?", result.line_number(), result.summary());
  }
  void OnTestEnd(const ::testing::TestInfo&) override {
    for (const std::string& complaint : fake::take_complaints()) ADD_FAILURE() << "the fake complains: " << complaint;
  }
};

}  // namespace

Communicator& world() { return *shared; }

Own open_own(double timeout_seconds) {
  auto link = std::make_shared<Link>();
  link->timeout_seconds = timeout_seconds;
  auto comm = open_world(link, {.handle = 0, .kind = MOEMESH_COMM_MPI_WORLD, .reserved = 0}, true);
  return {std::move(link), std::move(comm)};
}

void expect_complaint(const std::string& part) {
  const auto complaints = fake::take_complaints();
  EXPECT_EQ(complaints.size(), 1u) << "there is to be one: " << part;
  for (const std::string& complaint : complaints) EXPECT_NE(complaint.find(part), std::string::npos) << complaint;
}

int run() {
  shared = open_own(0).world;
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (shared->rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Listener);
  const int result = RUN_ALL_TESTS();
  std::vector<int64_t> all(1, result);
  shared->agree_max(all, Purpose{});  // nobody's device stops before the others are through with it
  fake::shutdown();
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
