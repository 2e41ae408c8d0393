# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# What a user can choose.

set(top_level OFF)
if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
  set(top_level ON)
endif()

option(MOEMESH_BUILD_TESTS "Build the tests" ${top_level})
option(MOEMESH_BUILD_TOOLS "Build moemesh-info" ${top_level})
option(MOEMESH_BUILD_EXAMPLES "Build the examples" ${top_level})
option(MOEMESH_ENABLE_MPI "Build libmoemesh_mpi, the module that talks MPI" ON)
option(MOEMESH_ENABLE_ONEDNN "Use oneDNN for matrix products where it is found" ON)
option(MOEMESH_SHARED_KOKKOS "Link a shared Kokkos, the host program's, instead of a private static one" OFF)
option(MOEMESH_STATIC "Build libmoemesh.a, with Kokkos hidden inside, instead of libmoemesh.so" OFF)
option(MOEMESH_CHECKED_MEMORY
       "For tests: a host build that keeps kernels' memory from everything else, as a device would" OFF)
option(MOEMESH_FAKE_DEVICE
       "For tests: a host build on the CUDA runtime and NCCL of tests/fake_nccl; needs an MPI at MPI_THREAD_MULTIPLE" OFF)
option(MOEMESH_WERROR "Treat warnings as errors" OFF)

# moemesh_name: of the library, its packages and .pc file. Both flavours have one ABI and fit into one prefix.
set(MOEMESH_DEVICE host CACHE STRING "Where kernels run: host (libmoemesh) or cuda (libmoemesh_cuda)")
set_property(CACHE MOEMESH_DEVICE PROPERTY STRINGS host cuda)
if(MOEMESH_DEVICE STREQUAL "host")
  set(moemesh_name moemesh)
elseif(MOEMESH_DEVICE STREQUAL "cuda")
  set(moemesh_name moemesh_cuda)
  option(MOEMESH_ENABLE_NCCL "Link NCCL, for ranks with a GPU each" ON)
  set(MOEMESH_CUDA_ARCHITECTURES 90 CACHE STRING "Compute capability of the GPUs, one, without a dot (Kokkos's too)")
else()
  message(FATAL_ERROR "MOEMESH_DEVICE=${MOEMESH_DEVICE}: expected host or cuda")
endif()

# cmake/install-deps puts a Kokkos there.
set(fetched_kokkos "")
if(EXISTS "${PROJECT_SOURCE_DIR}/.deps/kokkos/CMakeLists.txt")
  set(fetched_kokkos "${PROJECT_SOURCE_DIR}/.deps/kokkos")
endif()
set(MOEMESH_KOKKOS_SOURCE "${fetched_kokkos}" CACHE PATH
    "Kokkos source folder, built static and private where find_package finds no Kokkos that fits")

if(top_level AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
