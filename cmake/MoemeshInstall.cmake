# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Headers, library, module, CMake package and .pc file, of the library's name: moemesh or moemesh_cuda. Both fit into one
# prefix, where headers and the MPI module are the same of either. Nothing of Kokkos: it is inside.

include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/${moemesh_name}")
install(TARGETS moemesh EXPORT ${moemesh_name}-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT moemesh
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT moemesh NAMELINK_COMPONENT moemesh)
if(TARGET moemesh_mpi)
  install(TARGETS moemesh_mpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT moemesh)
endif()
install(FILES capi/moemesh.h capi/moemesh.hpp capi/moemesh_mpi.h
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT moemesh)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT moemesh)
install(FILES docs/moemesh.7 DESTINATION "${CMAKE_INSTALL_MANDIR}/man7" COMPONENT moemesh)

install(EXPORT ${moemesh_name}-targets NAMESPACE ${moemesh_name}:: DESTINATION "${package_folder}" COMPONENT moemesh)
set(has_mpi_module OFF)
if(TARGET moemesh_mpi)
  set(has_mpi_module ON)
endif()
configure_package_config_file(cmake/MoemeshConfig.cmake.in "${PROJECT_BINARY_DIR}/${moemesh_name}Config.cmake"
                              INSTALL_DESTINATION "${package_folder}")
# Until 1.0 a minor version may change the ABI.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/${moemesh_name}ConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/${moemesh_name}Config.cmake" "${PROJECT_BINARY_DIR}/${moemesh_name}ConfigVersion.cmake"
        DESTINATION "${package_folder}" COMPONENT moemesh)

# The .pc file finds its prefix from where it lies, so that an installed tree can be moved.
set(pc_folder "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_prefix "${pc_folder}" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH pc_libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH pc_includedir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
# What `pkg-config --static` adds. The shared library needs nothing: it names its own.
set(pc_private "")
foreach(folder IN LISTS moemesh_static_folders)
  string(APPEND pc_private " -L${folder}")
endforeach()
foreach(library IN LISTS moemesh_static_libraries)
  string(APPEND pc_private " -l${library}")
endforeach()
configure_file(cmake/moemesh.pc.in "${PROJECT_BINARY_DIR}/${moemesh_name}.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/${moemesh_name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT moemesh)
