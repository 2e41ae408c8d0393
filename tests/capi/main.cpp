// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <cstdio>

#include "support.hpp"

namespace {

// A library for devices gives no context where there is none.
bool no_device() {
  moemesh_context context = nullptr;
  const bool none = moemesh_context_create(nullptr, &context) == MOEMESH_ERROR_NO_DEVICE;
  if (none) std::printf("SKIPPED, no device: %s\n", capi_test::last_error().c_str());
  moemesh_context_destroy(&context);
  return none;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
#ifdef MOEMESH_TEST_CUDA
  if (!GTEST_FLAG_GET(list_tests) && no_device()) return 77;
#else
  (void)no_device;
#endif
  return RUN_ALL_TESTS();
}
