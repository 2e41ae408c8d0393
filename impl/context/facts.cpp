// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/context/facts.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "impl/base/error.hpp"
#include "impl/comm/mpi_loader.hpp"
#include "impl/comm/nccl_world.hpp"
#include "impl/context/runtime_mutex.hpp"
#include "kernels/gemm.hpp"
#include "kernels/runtime.hpp"

#define MOEMESH_TEXT_OF(number) #number
#define MOEMESH_TEXT(number) MOEMESH_TEXT_OF(number)

namespace moemesh {
namespace {

constexpr const char* version =
    MOEMESH_TEXT(MOEMESH_VERSION_MAJOR) "." MOEMESH_TEXT(MOEMESH_VERSION_MINOR) "." MOEMESH_TEXT(MOEMESH_VERSION_PATCH);

// The file that the loader took this address from; the text is the loader's own.
const char* file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

void describe_build(moemesh_runtime_info& info) {
  info.version = version;
  info.git = MOEMESH_GIT;
  info.device = MOEMESH_DEVICE;
  if (std::strcmp(info.device, "cuda") == 0) info.features |= MOEMESH_FEATURE_CUDA;
  info.build_type = MOEMESH_BUILD_TYPE;
  info.compiler = MOEMESH_COMPILER;
  info.library = file_of(reinterpret_cast<const void*>(&runtime_facts));
}

void describe_kernels(moemesh_runtime_info& info) {
  const std::lock_guard lock(runtime_mutex());
  const bool running = kernels::runtime_state() == kernels::RuntimeState::running;
  info.matrix_library = kernels::gemm_library();
  info.matrix_path = file_of(kernels::gemm_library_code());
  if (std::strncmp(info.matrix_library, "oneDNN", 6) == 0) info.features |= MOEMESH_FEATURE_ONEDNN;
  info.kokkos_backends = kernels::kokkos_backends();
  info.kokkos_path = file_of(kernels::kokkos_code());
  info.kokkos_compiled = kernels::kokkos_version_compiled();
  info.kokkos_shared = kernels::kokkos_shared() ? 1 : 0;
  info.kokkos_loaded = running || !kernels::kokkos_shared() ? kernels::kokkos_version_loaded() : 0;
  info.threads = kernels::runtime_threads();
  const kernels::DeviceVersions device = kernels::device_versions();
  info.cuda_compiled = device.compiled;
  info.cuda_runtime = device.runtime;
  info.cuda_driver = device.driver;
}

void describe_nccl(moemesh_runtime_info& info) {
  const NcclFacts nccl = nccl_facts();
  info.nccl = nccl.version;
  info.nccl_path = nccl.code ? file_of(nccl.code) : "";
  if (nccl.code) info.features |= MOEMESH_FEATURE_NCCL;
}

// A copy that lives on: what was thrown does not. Written again only where another reason was found.
const char* keep_reason(const char* reason) {
  static std::mutex mutex;
  static std::array<char, 1024> kept{};
  const std::lock_guard lock(mutex);
  if (std::strncmp(kept.data(), reason, kept.size() - 1) != 0) std::snprintf(kept.data(), kept.size(), "%s", reason);
  return kept.data();
}

void describe_mpi(moemesh_runtime_info& info) {
  info.mpi_module = info.mpi_library = info.mpi_error = "";
  try {
    const moemesh_transport& transport = mpi_transport();
    info.mpi_module = file_of(&transport);
    info.mpi_library = transport.library;
    info.mpi_kind = transport.kind;
    info.features |= MOEMESH_FEATURE_MPI;
  } catch (const Error& error) {
    info.mpi_error = keep_reason(error.what());
  }
}

}  // namespace

moemesh_runtime_info runtime_facts() {
  moemesh_runtime_info info{};
  describe_build(info);
  describe_kernels(info);
  describe_nccl(info);
  describe_mpi(info);
  return info;
}

}  // namespace moemesh
