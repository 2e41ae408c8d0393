# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Whether the Fortran modules are built. AUTO never fails: no compiler, one that does not work, or one that does not know
# what the modules are written in (assumed rank of TS 29113) all mean `no`.

set(MOEMESH_FORTRAN AUTO CACHE STRING "Build the Fortran modules: AUTO (where a compiler that can is found), ON, OFF")
set_property(CACHE MOEMESH_FORTRAN PROPERTY STRINGS AUTO ON OFF)
set(moemesh_fortran OFF)
if(MOEMESH_FORTRAN AND NOT moemesh_name STREQUAL "moemesh")
  if(NOT MOEMESH_FORTRAN STREQUAL "AUTO")
    message(FATAL_ERROR "MOEMESH_FORTRAN=${MOEMESH_FORTRAN}: the modules come with the library for hosts; programs link "
                        "them with -l${moemesh_name} in place of -lmoemesh, which is of the same ABI")
  endif()
  return()
endif()
if(MOEMESH_FORTRAN)
  include(CheckLanguage)
  check_language(Fortran) # tries the compiler in a project of its own
endif()
if(MOEMESH_FORTRAN AND CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  include(CheckFortranSourceCompiles)
  check_fortran_source_compiles("
    module probe
      use, intrinsic :: iso_c_binding
    contains
      function address(array) result(pointer)
        real(c_float), intent(in), target :: array(..)
        type(c_ptr) :: pointer
        pointer = c_null_ptr
        if (size(array) > 0 .and. is_contiguous(array)) pointer = c_loc(array)
      end function
    end module
    program main
      use probe
      real :: x(2)
      if (.not. c_associated(address(x))) stop 1
    end program" MOEMESH_FORTRAN_WORKS SRC_EXT f90)
  set(moemesh_fortran ${MOEMESH_FORTRAN_WORKS})
endif()
if(MOEMESH_FORTRAN AND NOT moemesh_fortran)
  if(MOEMESH_FORTRAN STREQUAL "AUTO")
    message(STATUS "moemesh: no Fortran compiler that knows TS 29113, building without the Fortran modules")
  else()
    message(FATAL_ERROR "MOEMESH_FORTRAN=${MOEMESH_FORTRAN}: no Fortran compiler that works and knows TS 29113")
  endif()
endif()
