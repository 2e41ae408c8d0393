// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// moemesh_runtime_get_info. What needs a process of its own (before any context, without the MPI module): tests/info.
#include <cstring>
#include <string>

#include "support.hpp"

namespace capi_test {
namespace {

moemesh_runtime_info get_info() {
  auto info = result_struct<moemesh_runtime_info>();
  EXPECT_EQ(moemesh_runtime_get_info(&info), MOEMESH_OK) << last_error();
  return info;
}

bool ends_with(const char* text, const std::string& end) {
  const std::string whole(text);
  return whole.size() >= end.size() && whole.compare(whole.size() - end.size(), end.size(), end) == 0;
}

TEST(RuntimeInfo, Build) {
  const auto info = get_info();
  EXPECT_EQ(std::string(info.version), std::to_string(MOEMESH_VERSION_MAJOR) + "." +
                                           std::to_string(MOEMESH_VERSION_MINOR) + "." +
                                           std::to_string(MOEMESH_VERSION_PATCH));
  EXPECT_STREQ(info.device, MOEMESH_TEST_DEVICE);
  EXPECT_STREQ(info.build_type, MOEMESH_TEST_BUILD_TYPE);
  EXPECT_STREQ(info.compiler, MOEMESH_TEST_COMPILER);
  EXPECT_NE(info.git, nullptr);
  EXPECT_TRUE(std::strstr(info.library, MOEMESH_TEST_LIBRARY)) << info.library;
  EXPECT_EQ(info.features & MOEMESH_FEATURE_CUDA, on_device ? MOEMESH_FEATURE_CUDA : 0);
  EXPECT_EQ(info.reserved, 0);
}

TEST(RuntimeInfo, MatrixLibrary) {
  const auto info = get_info();
  const bool onednn = (info.features & MOEMESH_FEATURE_ONEDNN) != 0;
  EXPECT_EQ(onednn, std::strncmp(info.matrix_library, "oneDNN ", 7) == 0) << info.matrix_library;
  if (onednn)
    EXPECT_TRUE(std::strstr(info.matrix_path, "libdnnl")) << info.matrix_path;
  else if (std::strcmp(info.device, "cuda") == 0)
    EXPECT_TRUE(std::strncmp(info.matrix_library, "cuBLAS ", 7) == 0 && std::strstr(info.matrix_path, "libcublas"))
        << info.matrix_library << " " << info.matrix_path;
  else
    EXPECT_STREQ(info.matrix_library, "Kokkos");
}

TEST(RuntimeInfo, Kokkos) {
  const auto info = get_info();
  EXPECT_GE(info.kokkos_compiled, 40500);
  EXPECT_TRUE(std::strstr(info.kokkos_backends, "Serial") || std::strstr(info.kokkos_backends, "OpenMP"))
      << info.kokkos_backends;
  if (info.kokkos_shared) {
    EXPECT_STRNE(info.kokkos_path, info.library);
  } else {
    EXPECT_EQ(info.kokkos_loaded, info.kokkos_compiled);
    EXPECT_STREQ(info.kokkos_path, info.library);
  }
}

TEST(RuntimeInfo, MpiModuleIsOpenedOrSaysWhyNot) {
  const auto info = get_info();
  if (info.features & MOEMESH_FEATURE_MPI) {
    EXPECT_TRUE(ends_with(info.mpi_module, "libmoemesh_mpi.so")) << info.mpi_module;
    EXPECT_STRNE(info.mpi_library, "");
    EXPECT_STREQ(info.mpi_error, "");
    EXPECT_NE(info.mpi_kind, MOEMESH_COMM_NONE);
  } else {
    EXPECT_STREQ(info.mpi_module, "");
    EXPECT_STRNE(info.mpi_error, "");
    EXPECT_EQ(info.mpi_kind, MOEMESH_COMM_NONE);
  }
}

TEST(RuntimeInfo, CudaIsThereOrNot) {
  const auto info = get_info();
  const bool cuda = (info.features & MOEMESH_FEATURE_CUDA) != 0;
  EXPECT_EQ(cuda, std::string(info.device) == "cuda");
  EXPECT_EQ(cuda, info.cuda_compiled > 0);
  EXPECT_EQ(cuda, info.cuda_runtime > 0);
  if (!cuda) {
    EXPECT_EQ(info.cuda_driver, 0);
  }
  EXPECT_EQ((info.features & MOEMESH_FEATURE_NCCL) != 0, info.nccl > 0);
  EXPECT_EQ(info.nccl > 0, *info.nccl_path != 0);
}

TEST(RuntimeInfo, ThreadsAreThoseOfTheContext) {
  Model model;
  ASSERT_EQ(model.create(), MOEMESH_OK);
  auto context = result_struct<moemesh_context_info>();
  ASSERT_EQ(moemesh_context_get_info(model.context, &context), MOEMESH_OK);
  const auto info = get_info();
  EXPECT_EQ(info.threads, context.threads);
  EXPECT_EQ(info.kokkos_loaded, info.kokkos_compiled);
}

}  // namespace
}  // namespace capi_test
