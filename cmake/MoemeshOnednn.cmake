# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Sets the target moemesh_onednn where oneDNN's header and library are found. oneDNN's own package file is not used: on
# some systems it also asks for OpenCL's headers, which moemesh has no need of.

find_path(MOEMESH_ONEDNN_INCLUDE dnnl.hpp)
find_library(MOEMESH_ONEDNN_LIBRARY dnnl)
mark_as_advanced(MOEMESH_ONEDNN_INCLUDE MOEMESH_ONEDNN_LIBRARY)

if(MOEMESH_ONEDNN_INCLUDE AND MOEMESH_ONEDNN_LIBRARY)
  add_library(moemesh_onednn INTERFACE)
  target_include_directories(moemesh_onednn SYSTEM INTERFACE "${MOEMESH_ONEDNN_INCLUDE}")
  target_link_libraries(moemesh_onednn INTERFACE "${MOEMESH_ONEDNN_LIBRARY}")
  target_compile_definitions(moemesh_onednn INTERFACE MOEMESH_HAVE_ONEDNN=1)
  message(STATUS "moemesh: oneDNN ${MOEMESH_ONEDNN_LIBRARY}")
else()
  message(STATUS "moemesh: no oneDNN found, using the portable matrix product")
endif()
