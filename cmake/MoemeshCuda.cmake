# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# What the CUDA flavour needs beyond the host's: nvcc as CMake's CUDA language, for kernels/ alone, and the target
# moemesh_cuda_libraries. A host build does not come here.

set(fetched_toolkit "")
if(EXISTS "${PROJECT_SOURCE_DIR}/.deps/cuda/bin/nvcc")
  set(fetched_toolkit "${PROJECT_SOURCE_DIR}/.deps/cuda")  # cmake/install-cuda puts one there
endif()
set(CUDAToolkit_ROOT "${fetched_toolkit}" CACHE PATH "Folder of the CUDA toolkit")

find_program(CMAKE_CUDA_COMPILER nvcc HINTS "${CUDAToolkit_ROOT}/bin" PATHS ENV CUDA_PATH /usr/local/cuda
             PATH_SUFFIXES bin)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "MOEMESH_DEVICE=cuda needs nvcc >= 12.2: -DCUDAToolkit_ROOT=FOLDER (cmake/install-cuda fetches one)")
endif()
set(CMAKE_CUDA_ARCHITECTURES "${MOEMESH_CUDA_ARCHITECTURES}")
if(NOT CMAKE_CUDA_HOST_COMPILER)
  set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY None)  # named below: Kokkos brings the shared one, and there must be one alone
enable_language(CUDA)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.25.2 does not know that nvcc has it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()

find_package(CUDAToolkit REQUIRED)
foreach(library cudart cublas cublasLt)
  if(NOT TARGET CUDA::${library})
    message(FATAL_ERROR "the CUDA toolkit in ${CUDAToolkit_BIN_DIR} has no lib${library} to link")
  endif()
endforeach()

add_library(moemesh_cuda_libraries INTERFACE)
target_link_libraries(moemesh_cuda_libraries INTERFACE CUDA::cudart CUDA::cublas CUDA::cublasLt)
target_compile_definitions(moemesh_cuda_libraries INTERFACE MOEMESH_DEVICE_CUDA=1)
if(MOEMESH_ENABLE_NCCL)
  find_package(NCCL 2.19)
  if(NOT NCCL_FOUND)
    message(FATAL_ERROR "NCCL >= 2.19 was not found: -DNCCL_ROOT=FOLDER (cmake/install-cuda fetches one with the "
                        "toolkit), or -DMOEMESH_ENABLE_NCCL=OFF")
  endif()
  target_link_libraries(moemesh_cuda_libraries INTERFACE NCCL::NCCL)
  target_compile_definitions(moemesh_cuda_libraries INTERFACE MOEMESH_HAVE_NCCL=1)
  message(STATUS "moemesh: NCCL ${NCCL_VERSION} from ${NCCL_LIBRARY}")
endif()
message(STATUS "moemesh: CUDA ${CUDAToolkit_VERSION} for sm_${MOEMESH_CUDA_ARCHITECTURES}, ${CMAKE_CUDA_COMPILER}")

# What moemesh_flags is to C++.
add_library(moemesh_cuda_flags INTERFACE)
target_compile_options(moemesh_cuda_flags INTERFACE
  --extended-lambda --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-fno-gnu-unique
  $<$<BOOL:${MOEMESH_WERROR}>:-Werror=all-warnings>)
