# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Headers, library, module, CMake package `moemesh` and moemesh.pc. Nothing of Kokkos: it is inside.

include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/moemesh")
install(TARGETS moemesh EXPORT moemesh-targets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT moemesh NAMELINK_COMPONENT moemesh)
if(TARGET moemesh_mpi)
  install(TARGETS moemesh_mpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT moemesh)
endif()
install(FILES docs/moemesh.7 DESTINATION "${CMAKE_INSTALL_MANDIR}/man7" COMPONENT moemesh)
install(FILES capi/moemesh.h capi/moemesh_mpi.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT moemesh)

install(EXPORT moemesh-targets NAMESPACE moemesh:: DESTINATION "${package_folder}" COMPONENT moemesh)
configure_package_config_file(cmake/MoemeshConfig.cmake.in "${PROJECT_BINARY_DIR}/moemeshConfig.cmake"
                              INSTALL_DESTINATION "${package_folder}")
# Until 1.0 a minor version may change the ABI.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/moemeshConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/moemeshConfig.cmake" "${PROJECT_BINARY_DIR}/moemeshConfigVersion.cmake"
        DESTINATION "${package_folder}" COMPONENT moemesh)

# The .pc file finds its prefix from where it lies, so that an installed tree can be moved.
set(pc_folder "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_prefix "${pc_folder}" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH pc_libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH pc_includedir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file(cmake/moemesh.pc.in "${PROJECT_BINARY_DIR}/moemesh.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/moemesh.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT moemesh)
