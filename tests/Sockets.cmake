# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# socket_tests: the tests of the communicator over impl/comm/sockets, and those of the sockets; without MPI.

file(GLOB socket_test_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/multi_sockets/*.cpp")
foreach(name agreement exchange reduce world)
  list(APPEND socket_test_sources multi_internal/${name}_test.cpp)
endforeach()
add_executable(socket_tests ${socket_test_sources})
target_include_directories(socket_tests PRIVATE
  "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/multi_sockets" "${CMAKE_CURRENT_SOURCE_DIR}/multi_internal")
target_link_libraries(socket_tests PRIVATE moemesh_objects moemesh_flags GTest::gtest)

foreach(ranks 1 2 3 4 8)
  add_test(NAME socket_tests_${ranks} COMMAND socket_tests --gtest_brief=1 ${ranks})
  set_tests_properties(socket_tests_${ranks} PROPERTIES
    TIMEOUT 300 RUN_SERIAL ON LABELS sockets FAIL_REGULAR_EXPRESSION "\\] 0 tests"
    ENVIRONMENT "OMP_NUM_THREADS=1;${sanitizer_environment}")
endforeach()
