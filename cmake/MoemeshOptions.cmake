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
option(MOEMESH_WERROR "Treat warnings as errors" OFF)

set(MOEMESH_DEVICE host CACHE STRING "Where kernels run: host")
set_property(CACHE MOEMESH_DEVICE PROPERTY STRINGS host cuda)
if(NOT MOEMESH_DEVICE STREQUAL "host")
  message(FATAL_ERROR "MOEMESH_DEVICE=${MOEMESH_DEVICE} is not supported in this release: only 'host' is")
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
