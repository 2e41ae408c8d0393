// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/runtime.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace moemesh::kernels {
namespace {

TEST(KernelsRuntime, RunsWithTheThreadsAskedFor) {
  EXPECT_EQ(runtime_state(), RuntimeState::running);
  const bool one_thread_backend = runtime_threads() == 1;  // a Kokkos without OpenMP
#ifdef _OPENMP
  EXPECT_FALSE(one_thread_backend);
#endif
  if (!one_thread_backend) {
    EXPECT_EQ(runtime_threads(), 2);
  }
}

TEST(KernelsRuntime, StartAdoptsWhatRuns) {
  const int32_t before = runtime_threads();
  start_runtime(before + 3);
  EXPECT_EQ(runtime_threads(), before);
  EXPECT_THROW(start_runtime(0), std::invalid_argument);
}

TEST(KernelsRuntime, VersionsAgreeWhereKokkosIsOurs) {
  EXPECT_GE(kokkos_version_compiled(), 40500);
  EXPECT_EQ(kokkos_version_loaded(), kokkos_version_compiled());
}

// In a process of its own, which main() starts like this one; a fork of this one would have no OpenMP threads.
TEST(KernelsRuntimeDeathTest, StopFinalizesAndStartThenRefuses) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto stop_and_start = [] {
    stop_runtime();
    stop_runtime();
    if (runtime_state() != RuntimeState::finalized || runtime_threads() != 0) std::_Exit(1);
    try {
      start_runtime(1);
    } catch (const std::logic_error&) {
      std::_Exit(0);
    }
    std::_Exit(2);
  };
  EXPECT_EXIT(stop_and_start(), testing::ExitedWithCode(0), "");
}

#ifdef _OPENMP
TEST(KernelsRuntimeDeathTest, HostsOpenMpThreadCountIsLeftAlone) {
  const auto starting_thread_count = [] {
    // main() has started the runtime with 2 threads; OMP_NUM_THREADS is the host's number.
    std::_Exit(omp_get_max_threads() == 3 && runtime_threads() == 2 ? 0 : 1);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string saved = before == nullptr ? "" : before;
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EXIT(starting_thread_count(), testing::ExitedWithCode(0), "");
  if (before == nullptr) {
    unsetenv("OMP_NUM_THREADS");
  } else {
    setenv("OMP_NUM_THREADS", saved.c_str(), 1);
  }
}
#endif

}  // namespace
}  // namespace moemesh::kernels
