# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Builds a Kokkos with CUDA out of its source while this project is configured, and installs it in the build folder. In a
# build of its own, because all of Kokkos's units go through its nvcc_wrapper, and of ours the kernels alone go through nvcc.

set(kokkos_arch_80 AMPERE80)
set(kokkos_arch_86 AMPERE86)
set(kokkos_arch_89 ADA89)
set(kokkos_arch_90 HOPPER90)
set(kokkos_arch_100 BLACKWELL100)
set(kokkos_arch_120 BLACKWELL120)

# Older ones do not compile with CUDA 13. A source that keeps its version elsewhere is looked at once it is installed.
function(moemesh_check_cuda_kokkos_source source)
  if(NOT EXISTS "${source}/bin/nvcc_wrapper")
    message(FATAL_ERROR "MOEMESH_KOKKOS_SOURCE=${source}: no bin/nvcc_wrapper there, so this is no Kokkos that can do CUDA")
  endif()
  file(STRINGS "${source}/CMakeLists.txt" lines REGEX "^set\\(Kokkos_VERSION_(MAJOR|MINOR) [0-9]+\\)")
  list(TRANSFORM lines REPLACE ".* ([0-9]+)\\)" "\\1")
  list(JOIN lines "." version)
  if(lines AND version VERSION_LESS kokkos_minimum)
    message(FATAL_ERROR "MOEMESH_KOKKOS_SOURCE=${source} is Kokkos ${version}; MOEMESH_DEVICE=cuda needs >= ${kokkos_minimum} "
                        "(installed: ${kokkos_note})")
  endif()
  if(NOT DEFINED kokkos_arch_${MOEMESH_CUDA_ARCHITECTURES})
    message(FATAL_ERROR "MOEMESH_CUDA_ARCHITECTURES=${MOEMESH_CUDA_ARCHITECTURES}: a Kokkos built here can be for one of "
                        "80, 86, 89, 90, 100, 120")
  endif()
endfunction()

function(moemesh_run_kokkos_step what)
  set(log "${PROJECT_BINARY_DIR}/kokkos-cuda-build.log")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "CUDA_ROOT=${CUDAToolkit_BIN_DIR}/.." "NVCC_WRAPPER_DEFAULT_COMPILER=${CMAKE_CXX_COMPILER}"
            "${CMAKE_COMMAND}" ${ARGN}
    OUTPUT_FILE "${log}" ERROR_FILE "${log}" RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "Kokkos could not be ${what}: see ${log}")
  endif()
endfunction()

# Its targets' options are for its nvcc_wrapper as the compiler and the linker of everything; ours are g++ and, for the
# kernels, nvcc.
function(moemesh_use_cuda_kokkos)
  set_property(TARGET Kokkos::kokkoscore PROPERTY INTERFACE_LINK_OPTIONS "")
  if(TARGET Kokkos::CUDA AND TARGET CUDA::cuda_driver)
    # By name, or the folder of the driver's stub would be where the library looks for the driver.
    get_target_property(driver CUDA::cuda_driver IMPORTED_LOCATION)
    get_filename_component(folder "${driver}" DIRECTORY)
    set_property(TARGET Kokkos::CUDA PROPERTY INTERFACE_LINK_LIBRARIES CUDA::cudart -lcuda)
    set_property(TARGET Kokkos::CUDA PROPERTY INTERFACE_LINK_OPTIONS "-L${folder}")
  endif()
  if("OPENMP" IN_LIST Kokkos_DEVICES)
    target_compile_options(moemesh_cuda_flags INTERFACE "-Xcompiler=${OpenMP_CXX_FLAGS}")
  endif()
endfunction()

function(moemesh_stamp_is file stamp result)
  set(text "")
  if(EXISTS "${file}")
    file(READ "${file}" text)
  endif()
  set(${result} OFF PARENT_SCOPE)
  if(text STREQUAL stamp)
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# moemesh_build_cuda_kokkos(SOURCE PREFIX): nothing where PREFIX has it already.
function(moemesh_build_cuda_kokkos source prefix)
  moemesh_check_cuda_kokkos_source("${source}")
  set(stamp "${source} sm_${MOEMESH_CUDA_ARCHITECTURES} ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}")
  moemesh_stamp_is("${prefix}/stamp" "${stamp}" done)
  if(done)
    return()
  endif()
  message(STATUS "moemesh: building Kokkos with CUDA from ${source} (minutes)")
  find_package(OpenMP COMPONENTS CXX QUIET)
  set(build "${PROJECT_BINARY_DIR}/kokkos-cuda-build")
  moemesh_stamp_is("${build}/stamp" "${stamp}" begun)  # and interrupted: what is compiled is good
  if(NOT begun)
    file(REMOVE_RECURSE "${build}" "${prefix}")
    file(WRITE "${build}/stamp" "${stamp}")
  endif()
  moemesh_run_kokkos_step(configured -S "${source}" -B "${build}" -G "${CMAKE_GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${source}/bin/nvcc_wrapper" "-DCMAKE_BUILD_TYPE=Release" "-DCMAKE_CXX_STANDARD=20"
    "-DCMAKE_POSITION_INDEPENDENT_CODE=ON" "-DCMAKE_CXX_VISIBILITY_PRESET=hidden" "-DCMAKE_VISIBILITY_INLINES_HIDDEN=ON"
    "-DBUILD_SHARED_LIBS=OFF" "-DCMAKE_INSTALL_PREFIX=${prefix}" "-DCMAKE_INSTALL_LIBDIR=lib"
    "-DCUDAToolkit_ROOT=${CUDAToolkit_BIN_DIR}/.." "-DKokkos_ENABLE_CUDA=ON" "-DKokkos_ENABLE_SERIAL=ON"
    "-DKokkos_ENABLE_OPENMP=${OpenMP_CXX_FOUND}" "-DKokkos_ARCH_${kokkos_arch_${MOEMESH_CUDA_ARCHITECTURES}}=ON")
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  moemesh_run_kokkos_step(built --build "${build}" --parallel "${cores}")
  moemesh_run_kokkos_step(installed --install "${build}")
  file(WRITE "${prefix}/stamp" "${stamp}")
endfunction()
