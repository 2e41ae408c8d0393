# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# multi_tests (over the public API) and multi_internal_tests (of impl/comm), each run once for every world size.

include(CheckCSourceCompiles)

set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_c_source_compiles("#include <mpi.h>\n#ifndef OPEN_MPI\n#error\n#endif\nint main(void) { return 0; }" MOEMESH_OPEN_MPI)
unset(CMAKE_REQUIRED_LIBRARIES)
# More ranks than cores: who waits must leave the core to others. One machine, so no search for a network.
set(rank_environment "OMP_NUM_THREADS=1;${sanitizer_environment}")
set(launch_flags "")
if(MOEMESH_OPEN_MPI)
  set(launch_flags --oversubscribe --mca pml ob1 --mca btl self,vader)
  list(APPEND rank_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
else()
  list(APPEND rank_environment MPIR_CVAR_POLLS_BEFORE_YIELD=1)
endif()

function(moemesh_mpi_program program)
  target_compile_definitions(${program} PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_link_libraries(${program} PRIVATE moemesh_flags MPI::MPI_C)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*address")
    target_sources(${program} PRIVATE keep_modules.c)
  endif()
  # The module, opened while the program runs, must call the counting MPI functions that the program defines.
  set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON)
  add_dependencies(${program} moemesh_mpi)
endfunction()

function(moemesh_multi_rank_test program)
  moemesh_mpi_program(${program})
  target_link_libraries(${program} PRIVATE GTest::gtest)
  foreach(ranks IN LISTS MOEMESH_TEST_RANKS)
    set(name ${program}_${ranks})
    add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${launch_flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
             $<TARGET_FILE:${program}> --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES
      TIMEOUT 900 RUN_SERIAL ON LABELS multi FAIL_REGULAR_EXPRESSION "\\] 0 tests"
      ENVIRONMENT "${rank_environment}")
  endforeach()
endfunction()

file(GLOB multi_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/multi/*.cpp")
if(multi_sources AND TARGET moemesh_oracle)
  add_executable(multi_tests ${multi_sources})
  target_link_libraries(multi_tests PRIVATE moemesh moemesh_oracle)
  target_include_directories(multi_tests PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  moemesh_multi_rank_test(multi_tests)
endif()

file(GLOB internal_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/multi_internal/*.cpp")
if(internal_sources)
  add_executable(multi_internal_tests ${internal_sources} multi/pmpi.cpp)
  target_link_libraries(multi_internal_tests PRIVATE moemesh_objects)
  target_include_directories(multi_internal_tests PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  # The core is inside this program, and looks for the module beside itself.
  set_target_properties(multi_internal_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  moemesh_multi_rank_test(multi_internal_tests)
endif()

# One process for each check of what the process's MPI and Kokkos are in: without mpirun, as a single program is started.
add_executable(state_tests states/main.cpp)
target_link_libraries(state_tests PRIVATE moemesh Threads::Threads)
moemesh_mpi_program(state_tests)
file(STRINGS states/main.cpp state_checks REGEX "{\"[A-Za-z0-9_]+\", [a-z_]+}")
list(TRANSFORM state_checks REPLACE ".*{\"([A-Za-z0-9_]+)\".*" "\\1")
foreach(check IN LISTS state_checks)
  add_test(NAME state_tests_${check} COMMAND state_tests ${check})
  set_tests_properties(state_tests_${check} PROPERTIES
    TIMEOUT 60 LABELS states
    ENVIRONMENT "${rank_environment}")
endforeach()

# The cases once more with every message cut into pieces, as those beyond 2^30 bytes are.
if(TARGET multi_tests)
  add_test(NAME multi_tests_pieces_2 COMMAND ${MPIEXEC_EXECUTABLE} ${launch_flags} ${MPIEXEC_NUMPROC_FLAG} 2
           $<TARGET_FILE:multi_tests> --gtest_brief=1 --gtest_filter=Case.*)
  set_tests_properties(multi_tests_pieces_2 PROPERTIES
    TIMEOUT 900 RUN_SERIAL ON LABELS multi FAIL_REGULAR_EXPRESSION "\\] 0 tests"
    ENVIRONMENT "MOEMESH_MPI_PIECE_BYTES=12;${rank_environment}")
endif()

# With MPI_THREAD_MULTIPLE contexts have a progress thread; here one whose naps are of very different lengths.
if(TARGET multi_tests)
  foreach(ranks IN LISTS MOEMESH_TEST_RANKS)
    if(ranks EQUAL 2 OR ranks EQUAL 4)
      add_test(NAME multi_tests_threads_${ranks}
               COMMAND ${MPIEXEC_EXECUTABLE} ${launch_flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
               $<TARGET_FILE:multi_tests> --gtest_brief=1 --gtest_filter=Overlap*:Prefetch*:Pipeline*:Case.P3*:Bill*:Report*)
      set_tests_properties(multi_tests_threads_${ranks} PROPERTIES
        TIMEOUT 900 RUN_SERIAL ON LABELS multi FAIL_REGULAR_EXPRESSION "\\] 0 tests"
        ENVIRONMENT "MOEMESH_TEST_THREADS=1;MOEMESH_PROGRESS_JITTER_US=400;${rank_environment}")
    endif()
  endforeach()
endif()

# impl/comm/nccl on the fake of tests/fake_nccl, in a build for the host.
if(MOEMESH_DEVICE STREQUAL "host" AND NOT MOEMESH_CHECKED_MEMORY AND NOT MOEMESH_FAKE_DEVICE)
  include(FakeNccl.cmake)
endif()
