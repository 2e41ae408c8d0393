# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Kokkos::kokkos: an installed one that fits, else built from a source folder. It is static and private unless
# MOEMESH_SHARED_KOKKOS is on, because two shared Kokkos versions in one process crash.

set(kokkos_minimum 4.5)
set(kokkos_wanted_device host)
if(MOEMESH_DEVICE STREQUAL "cuda")
  set(kokkos_minimum 4.7)
  set(kokkos_wanted_device "cuda sm_${MOEMESH_CUDA_ARCHITECTURES}")
  include(MoemeshKokkosCuda)
endif()
if(MOEMESH_SHARED_KOKKOS)
  set(kokkos_wanted_type SHARED_LIBRARY)
else()
  set(kokkos_wanted_type STATIC_LIBRARY)
endif()

# A function, so that the many variables that Kokkos looks at and sets are its own.
function(moemesh_build_kokkos source)
  set(BUILD_SHARED_LIBS OFF)
  set(BUILD_TESTING OFF)
  set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
  find_package(OpenMP COMPONENTS CXX QUIET)
  set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "")
  set(Kokkos_ENABLE_OPENMP ${OpenMP_CXX_FOUND} CACHE BOOL "")
  set(Kokkos_ENABLE_TESTS OFF CACHE BOOL "")
  set(Kokkos_ENABLE_EXAMPLES OFF CACHE BOOL "")
  set(Kokkos_ENABLE_DEPRECATED_CODE_4 OFF CACHE BOOL "")
  set(system "")
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.25)
    set(system SYSTEM)  # its warnings are not ours
  endif()
  add_subdirectory("${source}" "${PROJECT_BINARY_DIR}/kokkos" EXCLUDE_FROM_ALL ${system})
endfunction()

add_subdirectory("${PROJECT_SOURCE_DIR}/cmake/kokkos-probe" "${PROJECT_BINARY_DIR}/kokkos-probe" EXCLUDE_FROM_ALL)
set(kokkos_note "none was found")
set(kokkos_fits OFF)
if(found_kokkos_type)
  set(kokkos_note
      "the one in ${found_kokkos_dir} is ${found_kokkos_version}, ${found_kokkos_type}, for ${found_kokkos_device}")
  if(found_kokkos_type STREQUAL kokkos_wanted_type AND found_kokkos_version VERSION_GREATER_EQUAL kokkos_minimum
     AND found_kokkos_device STREQUAL kokkos_wanted_device)
    set(kokkos_fits ON)
  endif()
endif()

# A macro: what find_package sets is the project's.
macro(moemesh_find_kokkos folder)
  set(Kokkos_LAUNCH_COMPILER OFF)
  find_package(Kokkos CONFIG REQUIRED PATHS "${folder}" NO_DEFAULT_PATH)
  if(MOEMESH_DEVICE STREQUAL "cuda")
    moemesh_use_cuda_kokkos()
  endif()
endmacro()

if(TARGET Kokkos::kokkos)
  message(STATUS "moemesh: Kokkos of the enclosing project")
elseif(kokkos_fits)
  moemesh_find_kokkos("${found_kokkos_dir}")
  message(STATUS "moemesh: Kokkos ${Kokkos_VERSION} from ${Kokkos_DIR}")
elseif(MOEMESH_KOKKOS_SOURCE AND NOT MOEMESH_SHARED_KOKKOS)
  if(MOEMESH_DEVICE STREQUAL "cuda")
    moemesh_build_cuda_kokkos("${MOEMESH_KOKKOS_SOURCE}" "${PROJECT_BINARY_DIR}/kokkos-cuda")
    unset(Kokkos_DIR CACHE)
    moemesh_find_kokkos("${PROJECT_BINARY_DIR}/kokkos-cuda")
    unset(Kokkos_DIR CACHE)  # so that the next configure looks whether it is still the one that is wanted
  else()
    moemesh_build_kokkos("${MOEMESH_KOKKOS_SOURCE}")
  endif()
  message(STATUS "moemesh: Kokkos built from ${MOEMESH_KOKKOS_SOURCE} (installed: ${kokkos_note})")
else()
  message(FATAL_ERROR
    "moemesh needs Kokkos >= ${kokkos_minimum} as a ${kokkos_wanted_type} for ${kokkos_wanted_device}; ${kokkos_note}. "
    "Two ways to give it one:\n"
    "  an installed one: -DKokkos_ROOT=PREFIX (static and position independent, or shared with "
    "-DMOEMESH_SHARED_KOKKOS=ON)\n"
    "  its source, built in half a minute (minutes with CUDA): -DMOEMESH_KOKKOS_SOURCE=DIR (cmake/install-deps fetches one "
    "for the host)")
endif()
