# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# examples_agree: the small example of every language that is built prints the same bytes, on one rank and on more.

# As for the main job, MPI comes and goes with the library's module.
set(example_environment "${sanitizer_environment};${rank_environment}")
list(FILTER example_environment EXCLUDE REGEX "^ASAN_OPTIONS=")
list(APPEND example_environment "ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1")

# moemesh_info: what moemesh-info prints.
if(TARGET moemesh-info)
  set(info_launcher "")
  if(TARGET moemesh_mpi)
    set(info_launcher ${MPIEXEC_EXECUTABLE} ${launch_flags})
  endif()
  add_test(NAME moemesh_info COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/info" $<TARGET_FILE:moemesh-info> ${PROJECT_VERSION}
           ${info_launcher})
  set_tests_properties(moemesh_info PROPERTIES
    TIMEOUT 120 RUN_SERIAL ON ENVIRONMENT "${example_environment}")
endif()

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
        TIMEOUT 240 RUN_SERIAL ON ENVIRONMENT "${example_environment}")
    endif()
  endforeach()
endif()
