# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# moemesh_objects: all of the core, for the library and for unit tests that look inside.
# moemesh: the library, libmoemesh or libmoemesh_cuda, shared or (libmoemesh) an archive, see MoemeshStatic.cmake.
# moemesh_mpi: the module that the core opens when it is given an MPI communicator; one for both.

file(GLOB kernel_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/kernels/*.cpp")
file(GLOB core_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/impl/*/*.cpp"
     "${PROJECT_SOURCE_DIR}/impl/comm/sockets/*.cpp" "${PROJECT_SOURCE_DIR}/capi/*.cpp")
if(NOT core_sources OR NOT kernel_sources)
  message(FATAL_ERROR "no sources under kernels, impl and capi")
endif()
# A unit of one flavour alone says so in its name, or lies in impl/comm/nccl.
if(MOEMESH_DEVICE STREQUAL "cuda")
  list(FILTER kernel_sources EXCLUDE REGEX "_host\\.cpp$")
  if(MOEMESH_ENABLE_NCCL)
    file(GLOB nccl_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/impl/comm/nccl/*.cpp")
    list(APPEND core_sources ${nccl_sources})
  endif()
elseif(MOEMESH_FAKE_DEVICE)
  list(FILTER kernel_sources EXCLUDE REGEX "/(memory_host|driver_cuda|gemm_cublas)\\.cpp$")
  file(GLOB nccl_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/impl/comm/nccl/*.cpp"
                                           "${PROJECT_SOURCE_DIR}/tests/fake_nccl/*.cpp")
  list(APPEND core_sources ${nccl_sources})
else()
  list(FILTER kernel_sources EXCLUDE REGEX "_(cuda|cublas)\\.cpp$")
endif()

# What every unit of the core sees.
add_library(moemesh_common INTERFACE)
target_include_directories(moemesh_common INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/capi")
target_include_directories(moemesh_common SYSTEM INTERFACE "${MOEMESH_XXHASH_INCLUDE}" "${MOEMESH_JSON_INCLUDE}")
# Its headers alone, without FMT_HEADER_ONLY: impl/base/format.cpp has the one copy of the formatter.
target_include_directories(moemesh_common SYSTEM INTERFACE
  $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(moemesh_common INTERFACE $<$<BOOL:${MOEMESH_SHARED_KOKKOS}>:MOEMESH_SHARED_KOKKOS=1>
  $<$<BOOL:${MOEMESH_CHECKED_MEMORY}>:MOEMESH_CHECKED_MEMORY=1>)
if(MOEMESH_FAKE_DEVICE)
  target_compile_definitions(moemesh_common INTERFACE MOEMESH_FAKE_DEVICE=1 MOEMESH_HAVE_NCCL=1
    OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_include_directories(moemesh_common INTERFACE "${PROJECT_SOURCE_DIR}/tests/fake_nccl"
                                                      "${PROJECT_SOURCE_DIR}/tests/fake_nccl/include")
  target_link_libraries(moemesh_common INTERFACE MPI::MPI_C)
endif()
target_link_libraries(moemesh_common INTERFACE
  $<TARGET_NAME_IF_EXISTS:moemesh_onednn> $<TARGET_NAME_IF_EXISTS:moemesh_cuda_libraries>
  Threads::Threads ${CMAKE_DL_LIBS})

if(MOEMESH_DEVICE STREQUAL "cuda")
  # Kernels alone include Kokkos: they go through nvcc, and its options reach nothing else.
  set_source_files_properties(${kernel_sources} PROPERTIES LANGUAGE CUDA)
  add_library(moemesh_kernels OBJECT ${kernel_sources})
  target_link_libraries(moemesh_kernels PRIVATE moemesh_common Kokkos::kokkos moemesh_cuda_flags)
  add_library(moemesh_objects OBJECT ${core_sources})
  target_link_libraries(moemesh_objects
    PUBLIC moemesh_common INTERFACE $<TARGET_OBJECTS:moemesh_kernels> $<LINK_ONLY:Kokkos::kokkos> PRIVATE moemesh_flags)
  target_link_options(moemesh_objects INTERFACE -Wl,--as-needed)  # drops the driver's library, see driver_cuda.cpp
else()
  add_library(moemesh_objects OBJECT ${kernel_sources} ${core_sources})
  target_link_libraries(moemesh_objects PUBLIC Kokkos::kokkos moemesh_common PRIVATE moemesh_flags)
  # Nothing here reads errno after sqrt; with it the update of AdamW is not vectorized (five times slower).
  set_source_files_properties("${PROJECT_SOURCE_DIR}/kernels/update.cpp" PROPERTIES COMPILE_OPTIONS -fno-math-errno)
endif()

# What moemesh_runtime_get_info tells of the build; one file, so that a new commit compiles one file again.
set(moemesh_git "")
execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" rev-parse --show-toplevel
                OUTPUT_VARIABLE git_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE git_failed)
if(NOT git_failed AND git_folder STREQUAL PROJECT_SOURCE_DIR)  # not of a project that has ours inside
  execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE moemesh_git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(facts "MOEMESH_GIT=\"${moemesh_git}\"" "MOEMESH_DEVICE=\"${MOEMESH_DEVICE}\"" "MOEMESH_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\""
          "MOEMESH_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\"")
set_source_files_properties("${PROJECT_SOURCE_DIR}/impl/context/facts.cpp" PROPERTIES COMPILE_DEFINITIONS "${facts}")

function(moemesh_export_only target map)
  target_link_options(${target} PRIVATE
    -Wl,-Bsymbolic -Wl,--exclude-libs,ALL "-Wl,--version-script=${map}")
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize" OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(${target} PRIVATE -Wl,--no-undefined)  # clang leaves a sanitizer's symbols to the program
  endif()
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${map}")
endfunction()

if(MOEMESH_STATIC)
  include(MoemeshStatic)
else()
  add_library(moemesh SHARED)
  target_link_libraries(moemesh PRIVATE moemesh_objects)
  set(exports "${PROJECT_SOURCE_DIR}/cmake/moemesh.map")
  if(MOEMESH_FAKE_DEVICE)  # programs make ids with the NCCL that the library uses
    file(READ "${exports}" text)
    string(REPLACE "global:" "global:\n    ncclGetUniqueId;" text "${text}")
    set(exports "${CMAKE_BINARY_DIR}/moemesh.map")
    file(WRITE "${exports}" "${text}")
  endif()
  moemesh_export_only(moemesh "${exports}")
  set_target_properties(moemesh PROPERTIES
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}
    INSTALL_RPATH_USE_LINK_PATH ON)  # only folders that are not the system's
endif()
add_library(${moemesh_name}::${moemesh_name} ALIAS moemesh)
set_target_properties(moemesh PROPERTIES OUTPUT_NAME ${moemesh_name} EXPORT_NAME ${moemesh_name})
target_include_directories(moemesh INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/capi> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
if(MOEMESH_DEVICE STREQUAL "cuda")
  # That leaves out folders inside the project, where cmake/install-cuda puts the toolkit.
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${CUDAToolkit_LIBRARY_DIR}" toolkit_inside)
  if(toolkit_inside)
    set_target_properties(moemesh PROPERTIES INSTALL_RPATH "${CUDAToolkit_LIBRARY_DIR}")
  endif()
endif()

file(GLOB mpi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/impl/comm/mpi/*.cpp")
if(MPI_C_FOUND AND mpi_sources)
  add_library(moemesh_mpi MODULE ${mpi_sources})
  target_include_directories(moemesh_mpi PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/capi")
  target_compile_definitions(moemesh_mpi PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_link_libraries(moemesh_mpi PRIVATE MPI::MPI_C moemesh_flags)
  moemesh_export_only(moemesh_mpi "${PROJECT_SOURCE_DIR}/cmake/moemesh_mpi.map")
  set_target_properties(moemesh_mpi PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()
