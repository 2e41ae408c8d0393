! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! What the tests count.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit
  use moemesh, only: moemesh_last_error, moemesh_status_name
  implicit none
  private
  public :: check, check_close, check_error, check_status, finish_checks

  integer :: failed = 0, passed = 0

contains

  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (ok) then
      passed = passed + 1
    else
      failed = failed + 1
      write (error_unit, "(2a)") "FAILED: ", what
    end if
  end subroutine

  subroutine check_close(got, expected, tolerance, what)
    real, intent(in) :: got(:), expected(:)
    real, intent(in) :: tolerance
    character(*), intent(in) :: what
    if (size(got) /= size(expected)) then
      call check(.false., what // ": sizes differ")
    else if (.not. all(abs(got - expected) <= tolerance * max(1.0, maxval(abs(expected))))) then
      call check(.false., what)
      write (error_unit, *) "  got     ", got
      write (error_unit, *) "  expected", expected
    else
      call check(.true., what)
    end if
  end subroutine

  subroutine check_status(got, expected, what)
    integer, intent(in) :: got, expected
    character(*), intent(in) :: what
    character(:), allocatable :: text
    call check(got == expected, what)
    if (got == expected) return
    call moemesh_last_error(text)
    write (error_unit, "(6a)") "  got ", moemesh_status_name(got), ", expected ", moemesh_status_name(expected), &
      ": ", text
  end subroutine

  ! The call just made failed with `expected`, and its text has all of `words`, which are separated by `|`.
  subroutine check_error(got, expected, words, what)
    integer, intent(in) :: got, expected
    character(*), intent(in) :: words, what
    character(:), allocatable :: text
    integer :: first, last
    call check_status(got, expected, what)
    call moemesh_last_error(text)
    first = 1
    do while (first <= len(words))
      last = index(words(first:) // "|", "|") + first - 2
      call check(index(text, words(first:last)) > 0, what // ": '" // words(first:last) // "' is not in: " // text)
      first = last + 2
    end do
  end subroutine

  subroutine finish_checks(name)
    character(*), intent(in) :: name
    if (failed > 0) then
      write (error_unit, "(a, i0, a)") name // ": ", failed, " checks FAILED"
      error stop 1
    end if
    print "(a, i0, a)", name // ": ", passed, " checks passed"
  end subroutine
end module
