# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# NCCL has no CMake package of its own. NCCL_ROOT names its folder; one in the CUDA toolkit's is found too.
# Sets NCCL_FOUND, NCCL_VERSION (out of nccl.h), NCCL_INCLUDE_DIR, NCCL_LIBRARY and the target NCCL::NCCL.

find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} "${CUDAToolkit_ROOT}/include")
find_library(NCCL_LIBRARY nccl HINTS "${CUDAToolkit_LIBRARY_DIR}" "${CUDAToolkit_ROOT}" PATH_SUFFIXES lib64 lib)
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)

set(NCCL_VERSION "")
if(NCCL_INCLUDE_DIR)
  file(STRINGS "${NCCL_INCLUDE_DIR}/nccl.h" nccl_lines REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
  list(TRANSFORM nccl_lines REPLACE "^#define NCCL_[A-Z]+ +([0-9]+).*" "\\1")
  list(JOIN nccl_lines "." NCCL_VERSION)
  unset(nccl_lines)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR VERSION_VAR NCCL_VERSION)

if(NCCL_FOUND AND NOT TARGET NCCL::NCCL)
  add_library(NCCL::NCCL UNKNOWN IMPORTED)
  set_target_properties(NCCL::NCCL PROPERTIES
    IMPORTED_LOCATION "${NCCL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR}")
endif()
