# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# examples_agree: the small example of every language that is built prints the same bytes, on one rank and on more.
# main_job_environment: see MainJob.cmake; it is there whenever these programs and the MPI module are.

set(small_programs "")
foreach(language c cpp fortran rust)
  if(TARGET small_${language})
    list(APPEND small_programs $<TARGET_FILE:small_${language}>)
  endif()
endforeach()

if(small_programs)
  add_test(NAME examples_agree COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/examples-agree" ${small_programs})
  set_tests_properties(examples_agree PROPERTIES TIMEOUT 120 ENVIRONMENT "OMP_NUM_THREADS=2;${sanitizer_environment}")
endif()
if(small_programs AND TARGET moemesh_mpi)
  foreach(ranks IN LISTS MOEMESH_TEST_RANKS)
    if(ranks EQUAL 2 OR ranks EQUAL 4)
      add_test(NAME examples_agree_${ranks} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/examples-agree" ${small_programs} --
               ${MPIEXEC_EXECUTABLE} ${launch_flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks})
      set_tests_properties(examples_agree_${ranks} PROPERTIES
        TIMEOUT 240 RUN_SERIAL ON LABELS main_job ENVIRONMENT "${main_job_environment}")
    endif()
  endforeach()
endif()
