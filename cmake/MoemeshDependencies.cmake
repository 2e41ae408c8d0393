# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

find_path(MOEMESH_XXHASH_INCLUDE xxhash.h)
mark_as_advanced(MOEMESH_XXHASH_INCLUDE)
if(NOT MOEMESH_XXHASH_INCLUDE)
  message(FATAL_ERROR "xxhash.h was not found: install libxxhash-dev (Debian) or xxhash (Spack)")
endif()

find_path(MOEMESH_JSON_INCLUDE nlohmann/json.hpp)
mark_as_advanced(MOEMESH_JSON_INCLUDE)
if(NOT MOEMESH_JSON_INCLUDE)
  message(FATAL_ERROR "nlohmann/json.hpp was not found: install nlohmann-json3-dev (Debian) or nlohmann-json (Spack)")
endif()

if(MOEMESH_DEVICE STREQUAL "cuda")
  include(MoemeshCuda)
endif()
include(MoemeshKokkos)

if(MOEMESH_ENABLE_ONEDNN AND MOEMESH_DEVICE STREQUAL "host")
  include(MoemeshOnednn)
endif()

if(MOEMESH_ENABLE_MPI)
  # C alone: the C++ component would add a library that no MPI of today needs.
  find_package(MPI COMPONENTS C)
  if(NOT MPI_C_FOUND)
    message(STATUS "moemesh: no MPI found, building without the MPI module (one rank only)")
  endif()
endif()
