# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# nccl_tests: impl/comm/nccl, which a host build does not have, against a fake of NCCL and of the CUDA runtime. More ranks than
# four show nothing new.

file(GLOB nccl_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/impl/comm/nccl/*.cpp")
file(GLOB fake_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fake_nccl/*.cpp")
file(GLOB nccl_test_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/multi_nccl/*.cpp")

# The core, but for the unit that says whether there is NCCL.
set(which_nccl "${PROJECT_SOURCE_DIR}/impl/comm/nccl_world.cpp")
set_source_files_properties("${which_nccl}" PROPERTIES COMPILE_DEFINITIONS MOEMESH_HAVE_NCCL=1)
add_executable(nccl_tests ${nccl_sources} ${fake_sources} ${nccl_test_sources} "${which_nccl}"
  $<FILTER:$<TARGET_OBJECTS:moemesh_objects>,EXCLUDE,comm/nccl_world[.]cpp>)
target_include_directories(nccl_tests PRIVATE
  "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/fake_nccl" "${CMAKE_CURRENT_SOURCE_DIR}/multi_nccl")
target_include_directories(nccl_tests BEFORE PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/fake_nccl/include")
target_link_libraries(nccl_tests PRIVATE moemesh_common Kokkos::kokkos GTest::gtest Threads::Threads)
# The core is inside this program, and looks for the module beside itself.
set_target_properties(nccl_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
moemesh_mpi_program(nccl_tests)

foreach(ranks 1 2 3 4)
  add_test(NAME nccl_tests_${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${launch_flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
           $<TARGET_FILE:nccl_tests> --gtest_brief=1)
  set_tests_properties(nccl_tests_${ranks} PROPERTIES
    TIMEOUT 300 RUN_SERIAL ON LABELS nccl FAIL_REGULAR_EXPRESSION "\\] 0 tests" ENVIRONMENT "${rank_environment}")
endforeach()

# What stands in for calls that an older NCCL does not have.
add_library(nccl_older OBJECT ${nccl_sources})
target_include_directories(nccl_older BEFORE PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/fake_nccl/include")
target_compile_definitions(nccl_older PRIVATE NCCL_MINOR=19)
target_link_libraries(nccl_older PRIVATE moemesh_common moemesh_flags)
