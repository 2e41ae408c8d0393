// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "capi/call.hpp"
#include "impl/context/facts.hpp"

using namespace moemesh;
using namespace moemesh::capi;

namespace {

using I = moemesh_runtime_info;
static_assert(no_padding(&I::struct_size, &I::features, &I::version, &I::git, &I::device, &I::build_type, &I::compiler,
                         &I::library, &I::matrix_library, &I::matrix_path, &I::kokkos_backends, &I::kokkos_path,
                         &I::mpi_module, &I::mpi_library, &I::mpi_error, &I::nccl_path, &I::mpi_kind,
                         &I::kokkos_compiled, &I::kokkos_loaded, &I::kokkos_shared, &I::threads, &I::cuda_compiled,
                         &I::cuda_runtime, &I::cuda_driver, &I::nccl, &I::reserved));

}  // namespace

int32_t moemesh_runtime_get_info(moemesh_runtime_info* info) {
  return guarded([&](Call&) {
    check_result_struct(info, sizeof *info, "info");
    write_struct(info, runtime_facts());
  });
}
