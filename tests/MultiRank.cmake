# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# multi_tests: one program, run once for every world size.

include(CheckCSourceCompiles)

add_executable(multi_tests ${multi_sources})
target_compile_definitions(multi_tests PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
target_link_libraries(multi_tests PRIVATE moemesh moemesh_oracle moemesh_flags GTest::gtest MPI::MPI_C)
# The module, opened while the program runs, must call the counting MPI functions that the program defines.
set_target_properties(multi_tests PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(multi_tests moemesh_mpi)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*address")
  target_sources(multi_tests PRIVATE keep_modules.c)
endif()

set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_c_source_compiles("#include <mpi.h>\n#ifndef OPEN_MPI\n#error\n#endif\nint main(void) { return 0; }" MOEMESH_OPEN_MPI)
set(launch_flags "")
if(MOEMESH_OPEN_MPI)
  # More ranks than cores; one machine, so no search for a network.
  set(launch_flags --oversubscribe --mca pml ob1 --mca btl self,vader)
endif()

foreach(ranks IN LISTS MOEMESH_TEST_RANKS)
  set(name multi_tests_${ranks})
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${launch_flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
           $<TARGET_FILE:multi_tests>)
  set_tests_properties(${name} PROPERTIES
    TIMEOUT 300 RUN_SERIAL ON LABELS multi
    ENVIRONMENT "OMP_NUM_THREADS=1;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;${sanitizer_environment}")
endforeach()
