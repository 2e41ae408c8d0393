# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# moemesh as an archive for C programs. All objects and what they use of Kokkos become one object, in which only
# moemesh_* stays global: a program may have another Kokkos, even a static one. Of the other libraries the archive needs
# the shared ones, which are named in moemesh_static_libraries (names as after -l) and moemesh_static_folders.

if(NOT MOEMESH_DEVICE STREQUAL "host")
  message(FATAL_ERROR "MOEMESH_STATIC: libmoemesh_cuda is built shared only")
endif()
if(MOEMESH_SHARED_KOKKOS)
  message(FATAL_ERROR "MOEMESH_STATIC and MOEMESH_SHARED_KOKKOS exclude each other: Kokkos is inside the archive")
endif()
if(NOT CMAKE_OBJCOPY OR NOT CMAKE_NM)
  message(FATAL_ERROR "MOEMESH_STATIC needs objcopy and nm (binutils)")
endif()

set(kokkos_archives "")
foreach(part IN ITEMS kokkoscontainers kokkosalgorithms kokkossimd kokkoscore)
  if(TARGET Kokkos::${part})
    get_target_property(kind Kokkos::${part} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
      list(APPEND kokkos_archives $<TARGET_FILE:Kokkos::${part}>)
    endif()
  endif()
endforeach()

# Section groups would be merged by name with those of the program's own Kokkos, and names that are local now with them.
set(whole "${PROJECT_BINARY_DIR}/moemesh_whole.o")
add_custom_command(
  OUTPUT "${whole}"
  COMMAND "${CMAKE_CXX_COMPILER}" -nostdlib -r -Wl,--force-group-allocation -o "${whole}"
          "$<TARGET_OBJECTS:moemesh_objects>" ${kokkos_archives}
  COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DOBJCOPY=${CMAKE_OBJCOPY}" "-DOBJECT=${whole}"
          -P "${PROJECT_SOURCE_DIR}/cmake/localize.cmake"
  DEPENDS "${PROJECT_SOURCE_DIR}/cmake/localize.cmake" moemesh_objects "$<TARGET_OBJECTS:moemesh_objects>"
          ${kokkos_archives}
  COMMENT "One object of moemesh and its Kokkos" COMMAND_EXPAND_LISTS VERBATIM)
add_library(moemesh STATIC "${whole}")
set_source_files_properties("${whole}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set_target_properties(moemesh PROPERTIES LINKER_LANGUAGE C)

# Programs of this build find the MPI module as those of a user do: in their own folder, or where the loader looks.
set(CMAKE_BUILD_RPATH "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")

# The C++ runtime, as far as a C compiler does not link it anyway.
set(moemesh_static_libraries ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM moemesh_static_libraries ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
set(moemesh_static_folders "")

# Folders that the linker does not look in by itself are named.
function(moemesh_static_needs library)
  get_filename_component(folder "${library}" DIRECTORY)
  get_filename_component(folder "${folder}" REALPATH)
  get_filename_component(name "${library}" NAME_WE)
  string(REGEX REPLACE "^lib" "" name "${name}")
  set(known "")
  foreach(one IN LISTS CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    get_filename_component(one "${one}" REALPATH)
    list(APPEND known "${one}")
  endforeach()
  if(folder AND NOT folder IN_LIST known)
    set(moemesh_static_folders ${moemesh_static_folders} "${folder}" PARENT_SCOPE)
  endif()
  set(moemesh_static_libraries ${moemesh_static_libraries} "${name}" PARENT_SCOPE)
endfunction()

if(TARGET moemesh_onednn)
  moemesh_static_needs("${MOEMESH_ONEDNN_LIBRARY}")
endif()
find_package(OpenMP COMPONENTS CXX QUIET)
if(Kokkos_ENABLE_OPENMP OR "OPENMP" IN_LIST Kokkos_DEVICES)
  foreach(name IN LISTS OpenMP_CXX_LIB_NAMES)
    moemesh_static_needs("${OpenMP_${name}_LIBRARY}")
  endforeach()
endif()
list(APPEND moemesh_static_libraries m ${CMAKE_DL_LIBS})
if(CMAKE_THREAD_LIBS_INIT)
  string(REGEX REPLACE "^-l" "" thread_library "${CMAKE_THREAD_LIBS_INIT}")
  list(APPEND moemesh_static_libraries "${thread_library}")
endif()
list(REMOVE_DUPLICATES moemesh_static_libraries)
list(REMOVE_DUPLICATES moemesh_static_folders)
target_link_directories(moemesh INTERFACE ${moemesh_static_folders})
target_link_libraries(moemesh INTERFACE ${moemesh_static_libraries})
message(STATUS "moemesh: libmoemesh.a, needs ${moemesh_static_libraries} ${moemesh_static_folders}")
