! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! How `p = X(name=value, ...)` takes its values: numbers of any kind. With arguments of one kind alone a call with another
! kind would not be an error: X is a type too, and the compiler would make one with its own constructor, without the
! library's defaults. A value that does not fit stops the program, as every error without ierr does.
module moemesh_f_numbers
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int32_t, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, int8
  use moemesh_f_base, only: moemesh_fail
  implicit none
  private

  public :: moemesh_set

  ! (field, value, call, name): `call` and `name` are what an error names.
  interface moemesh_set
    module procedure set_i4, set_i8, set_r8, set_logical, set_list
  end interface

contains

  subroutine set_i4(field, value, call, name)
    integer(c_int32_t), intent(inout) :: field
    class(*), intent(in) :: value
    character(*), intent(in) :: call, name
    integer(int64) :: number
    number = to_integer(value, call, name)
    call check_range(number, int(huge(field), int64), call, name)
    field = int(number, c_int32_t)
  end subroutine

  subroutine set_i8(field, value, call, name)
    integer(c_int64_t), intent(inout) :: field
    class(*), intent(in) :: value
    character(*), intent(in) :: call, name
    field = to_integer(value, call, name)
  end subroutine

  subroutine set_r8(field, value, call, name)
    real(c_double), intent(inout) :: field
    class(*), intent(in) :: value
    character(*), intent(in) :: call, name
    select type (value)
    type is (real(c_double))
      field = value
    type is (real(c_float))
      field = real(value, c_double)
    class default
      field = real(to_integer(value, call, name, "a real(c_float), a real(c_double) or an integer"), c_double)
    end select
  end subroutine

  subroutine set_logical(field, value, call, name)
    logical, intent(inout) :: field
    class(*), intent(in) :: value
    character(*), intent(in) :: call, name
    select type (value) ! logicals have the kinds of integers
    type is (logical(int8))
      field = logical(value)
    type is (logical(int16))
      field = logical(value)
    type is (logical(int32))
      field = logical(value)
    type is (logical(int64))
      field = logical(value)
    class default
      call refuse("a logical", call, name)
    end select
  end subroutine

  subroutine set_list(field, value, call, name)
    integer, allocatable, intent(inout) :: field(:)
    class(*), intent(in) :: value(:)
    character(*), intent(in) :: call, name
    integer(int64) :: numbers(size(value))
    integer :: i
    call get_integers(value, numbers, call, name)
    do i = 1, size(numbers)
      call check_range(numbers(i), int(huge(field), int64), call, name)
    end do
    field = int(numbers)
  end subroutine

  function to_integer(value, call, name, expected) result(number)
    class(*), intent(in) :: value
    character(*), intent(in) :: call, name
    character(*), intent(in), optional :: expected
    integer(int64) :: number
    number = 0
    select type (value)
    type is (integer(int8))
      number = int(value, int64)
    type is (integer(int16))
      number = int(value, int64)
    type is (integer(int32))
      number = int(value, int64)
    type is (integer(int64))
      number = value
    class default
      if (present(expected)) call refuse(expected, call, name)
      call refuse("an integer", call, name)
    end select
  end function

  subroutine get_integers(values, numbers, call, name)
    class(*), intent(in) :: values(:)
    integer(int64), intent(out) :: numbers(:)
    character(*), intent(in) :: call, name
    select type (values)
    type is (integer(int8))
      numbers = int(values, int64)
    type is (integer(int16))
      numbers = int(values, int64)
    type is (integer(int32))
      numbers = int(values, int64)
    type is (integer(int64))
      numbers = values
    class default
      numbers = 0
      call refuse("integers", call, name)
    end select
  end subroutine

  subroutine check_range(number, largest, call, name)
    integer(int64), intent(in) :: number, largest
    character(*), intent(in) :: call, name
    character(80) :: text
    if (number >= -largest - 1 .and. number <= largest) return
    write (text, "(a, i0, a, i0, a, i0)") " = ", number, " is not within ", -largest - 1, "..", largest
    call moemesh_fail(call, name // trim(text))
  end subroutine

  subroutine refuse(expected, call, name)
    character(*), intent(in) :: expected, call, name
    call moemesh_fail(call, name // ": expected " // expected // ", got another type or kind")
  end subroutine
end module
