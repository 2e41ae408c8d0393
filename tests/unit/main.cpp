// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <gtest/gtest.h>

#include "kernels/runtime.hpp"

// Unit tests look inside the library, so they start its kernels themselves: two threads, however many cores there are.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  moemesh::kernels::start_runtime(2);
  const int status = RUN_ALL_TESTS();
  moemesh::kernels::stop_runtime();
  return status;
}
