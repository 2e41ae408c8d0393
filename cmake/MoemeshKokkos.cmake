# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Kokkos::kokkos: an installed one that fits, else built from a source folder. It is static and private unless
# MOEMESH_SHARED_KOKKOS is on, because two shared Kokkos versions in one process crash.

set(kokkos_minimum 4.5)
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
  set(kokkos_note "the one in ${found_kokkos_dir} is ${found_kokkos_version}, ${found_kokkos_type}")
  if(found_kokkos_type STREQUAL kokkos_wanted_type AND found_kokkos_version VERSION_GREATER_EQUAL kokkos_minimum)
    set(kokkos_fits ON)
  endif()
endif()

if(TARGET Kokkos::kokkos)
  message(STATUS "moemesh: Kokkos of the enclosing project")
elseif(kokkos_fits)
  find_package(Kokkos CONFIG REQUIRED PATHS "${found_kokkos_dir}" NO_DEFAULT_PATH)
  message(STATUS "moemesh: Kokkos ${Kokkos_VERSION} from ${Kokkos_DIR}")
elseif(MOEMESH_KOKKOS_SOURCE AND NOT MOEMESH_SHARED_KOKKOS)
  moemesh_build_kokkos("${MOEMESH_KOKKOS_SOURCE}")
  message(STATUS "moemesh: Kokkos built from ${MOEMESH_KOKKOS_SOURCE} (installed: ${kokkos_note})")
else()
  message(FATAL_ERROR
    "moemesh needs Kokkos >= ${kokkos_minimum} as a ${kokkos_wanted_type}; ${kokkos_note}. Two ways to give it one:\n"
    "  an installed one: -DKokkos_ROOT=PREFIX (static and position independent, or shared with "
    "-DMOEMESH_SHARED_KOKKOS=ON)\n"
    "  its source, built in half a minute: -DMOEMESH_KOKKOS_SOURCE=DIR (cmake/install-deps fetches one)")
endif()
