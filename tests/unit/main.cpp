// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "kernels/runtime.hpp"

// Unit tests look inside the library, so they start its kernels themselves: two threads, however many cores there are.
// Where a build for a device finds none nothing runs, and the exit status says skipped.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const bool lists = GTEST_FLAG_GET(list_tests);
  const std::string problem = lists ? std::string() : moemesh::kernels::start_runtime(2);
  if (!problem.empty()) {
    std::printf("SKIPPED, no device: %s\n", problem.c_str());
    return 77;
  }
  const int status = RUN_ALL_TESTS();
  moemesh::kernels::stop_runtime();
  return status;
}
