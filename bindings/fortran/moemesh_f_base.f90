! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! What every other file needs: how a call ends, texts, and the library's view of an array.
!
! A call without ierr that fails writes its name and the library's text to the standard error unit and stops the program
! with `error stop 1`. With ierr it sets ierr to the status, MOEMESH_OK = 0, and leaves the rest to the program.
module moemesh_f_base
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_float, c_int16_t, c_int32_t, &
    c_int64_t, c_int8_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  use moemesh_c
  implicit none
  private

  public :: moemesh_array, moemesh_c_text, moemesh_counted, moemesh_fail, moemesh_finish, moemesh_flags
  public :: moemesh_library_error, moemesh_own_error, moemesh_shape, moemesh_shape_text
  public :: moemesh_text_from_c, moemesh_text_to_c

  ! What these modules have to say about this thread's last error. Threads have one each where this file was compiled
  ! with OpenMP; else they share it.
  character(512), save :: own_text = ""
  logical, save :: own_alone = .false.
  !$omp threadprivate(own_text, own_alone)

  ! A view of a host array: moemesh_array(x). x(H, T) is the C array [T][H]: extents are reversed. x must be contiguous
  ! (else the view is one that every call refuses) and a target while the view is used. integer(c_int16_t) are bf16,
  ! integer(c_int8_t) are UINT8. A view of memory elsewhere, shape as Fortran has it:
  ! moemesh_array(pointer, dtype, shape [, memory]).
  interface moemesh_array
    module procedure array_r4, array_r8, array_i4, array_i8, array_bf16, array_u8, array_at
  end interface

  interface
    pure function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! The end of a call of C's. note: what the Fortran program wrote, where the library's text has other numbers for it.
  subroutine moemesh_finish(status, call, ierr, note)
    integer(c_int32_t), intent(in) :: status
    character(*), intent(in) :: call
    integer, intent(out), optional :: ierr
    character(*), intent(in), optional :: note
    if (status == MOEMESH_OK) then
      if (present(ierr)) ierr = 0
      return
    end if
    own_text = ""
    own_alone = .false.
    if (present(note)) own_text = note
    ! Sizes are set here and by the inits: what C refuses is a type that no init has seen.
    if (status == MOEMESH_ERROR_INVALID_STRUCT) then
      own_text = "made without the library's defaults, which the type's init or constructor gives; " // &
        "was an argument of another kind?"
    end if
    call end_failed(status, call, ierr)
  end subroutine

  ! An error that was found here, by local calls alone: a call of all ranks must reach C on all of them.
  subroutine moemesh_fail(call, text, ierr)
    character(*), intent(in) :: call, text
    integer, intent(out), optional :: ierr
    own_text = text
    own_alone = .true.
    call end_failed(MOEMESH_ERROR_INVALID_ARGUMENT, call, ierr)
  end subroutine

  subroutine end_failed(status, call, ierr)
    integer(c_int32_t), intent(in) :: status
    character(*), intent(in) :: call
    integer, intent(out), optional :: ierr
    if (present(ierr)) then
      ierr = int(status)
    else
      write (error_unit, "(6a)") "moemesh: ", call, ": ", moemesh_c_text(moemesh_status_name_c(status)), ": ", &
        moemesh_own_error()
      error stop 1
    end if
  end subroutine

  ! The text of the last error, with what these modules add.
  function moemesh_own_error() result(text)
    character(:), allocatable :: text
    if (own_alone) then
      text = trim(own_text)
    else
      text = moemesh_library_error(c_null_ptr)
      if (own_text /= "") text = text // " (in Fortran: " // trim(own_text) // ")"
    end if
  end function

  function moemesh_library_error(context) result(text)
    type(c_ptr), intent(in) :: context
    character(:), allocatable :: text
    character(kind=c_char), allocatable, target :: buffer(:)
    integer(c_int64_t) :: length
    integer(c_int32_t) :: status
    length = 0
    status = moemesh_last_error_c(context, c_null_ptr, 0_c_int64_t, length)
    allocate (buffer(length + 1))
    buffer = c_null_char
    if (status == MOEMESH_OK) status = moemesh_last_error_c(context, c_loc(buffer), length + 1)
    text = moemesh_c_text(c_loc(buffer))
  end function

  ! ------------------------------------------------------------------------------------------------ texts

  ! The Fortran text of a C text that is not NULL.
  function moemesh_c_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(pointer, letters, [c_strlen(pointer)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  ! `copy` holds the text that `pointer` then points to. Not allocated: NULL. Blanks at the end do not count.
  subroutine moemesh_text_to_c(text, copy, pointer)
    character(:), allocatable, intent(in) :: text
    character(kind=c_char), allocatable, target, intent(inout) :: copy(:)
    type(c_ptr), intent(out) :: pointer
    integer :: i
    pointer = c_null_ptr
    if (.not. allocated(text)) return
    if (allocated(copy)) deallocate (copy)
    allocate (copy(len_trim(text) + 1))
    do i = 1, len_trim(text)
      copy(i) = text(i:i)
    end do
    copy(size(copy)) = c_null_char
    pointer = c_loc(copy)
  end subroutine

  subroutine moemesh_text_from_c(pointer, text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable, intent(inout) :: text
    if (allocated(text)) deallocate (text)
    if (c_associated(pointer)) text = moemesh_c_text(pointer)
  end subroutine

  ! Notes of errors.
  function moemesh_counted(name, number) result(text)
    character(*), intent(in) :: name
    integer, intent(in) :: number
    character(:), allocatable :: text
    character(20) :: digits
    write (digits, "(i0)") number
    text = name // " = " // trim(digits) // ", counted from 1"
  end function

  function moemesh_shape_text(name, extents) result(text)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: extents(:)
    character(:), allocatable :: text
    character(20) :: digits
    integer :: i
    text = name // "("
    do i = 1, size(extents)
      write (digits, "(i0)") extents(i)
      if (i > 1) text = text // ", "
      text = text // trim(digits)
    end do
    text = text // ")"
  end function

  ! ------------------------------------------------------------------------------------------------ arrays

  ! Fortran's shape of a view.
  function moemesh_shape(view) result(extents)
    type(moemesh_view), intent(in) :: view
    integer(c_int64_t), allocatable :: extents(:)
    integer :: rank
    rank = max(0, min(int(view%rank), 4))
    extents = view%extents(rank:1:-1)
  end function

  ! Dense, row-major for C: the extents of Fortran from the last to the first.
  function dense_view(dtype, memory, extents, data) result(view)
    integer(c_int32_t), intent(in) :: dtype, memory
    integer(c_int64_t), intent(in) :: extents(:)
    type(c_ptr), intent(in) :: data
    type(moemesh_view) :: view
    integer(c_int64_t) :: stride
    integer :: dimension, last
    view%dtype = dtype
    view%memory = memory
    view%rank = int(size(extents), c_int32_t)
    view%data = data
    last = min(size(extents), 4)
    stride = 1
    do dimension = 1, last
      view%extents(last + 1 - dimension) = extents(dimension)
      view%strides(last + 1 - dimension) = stride
      stride = stride * max(extents(dimension), 1_c_int64_t)
    end do
  end function

  function host_view(dtype, extents, data, contiguous) result(view)
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: extents(:)
    type(c_ptr), intent(in) :: data
    logical, intent(in) :: contiguous
    type(moemesh_view) :: view
    if (.not. contiguous) return ! rank 0: refused wherever it goes
    if (size(extents) == 0) then
      view = dense_view(dtype, MOEMESH_MEMORY_HOST, [1_c_int64_t], data)
    else
      view = dense_view(dtype, MOEMESH_MEMORY_HOST, extents, data)
    end if
  end function

  function array_at(data, dtype, shape, memory) result(view)
    type(c_ptr), intent(in) :: data
    integer(c_int32_t), intent(in) :: dtype
    integer, intent(in) :: shape(:)
    integer(c_int32_t), intent(in), optional :: memory
    type(moemesh_view) :: view
    integer(c_int32_t) :: place
    place = MOEMESH_MEMORY_HOST
    if (present(memory)) place = memory
    view = dense_view(dtype, place, int(shape, c_int64_t), data)
  end function

  ! Flags as the library wants a mask.
  function moemesh_flags(flags) result(bytes)
    logical, intent(in) :: flags(:)
    integer(c_int8_t), allocatable :: bytes(:)
    bytes = int(merge(1, 0, flags), c_int8_t)
  end function

  function array_r4(array) result(view)
    real(c_float), intent(in), target :: array(..)
    type(moemesh_view) :: view
    type(c_ptr) :: data
    data = c_null_ptr ! an array without elements has no address
    if (size(array) > 0) data = c_loc(array)
    view = host_view(MOEMESH_FLOAT32, shape(array, c_int64_t), data, is_contiguous(array))
  end function

  function array_r8(array) result(view)
    real(c_double), intent(in), target :: array(..)
    type(moemesh_view) :: view
    type(c_ptr) :: data
    data = c_null_ptr ! an array without elements has no address
    if (size(array) > 0) data = c_loc(array)
    view = host_view(MOEMESH_FLOAT64, shape(array, c_int64_t), data, is_contiguous(array))
  end function

  function array_i4(array) result(view)
    integer(c_int32_t), intent(in), target :: array(..)
    type(moemesh_view) :: view
    type(c_ptr) :: data
    data = c_null_ptr ! an array without elements has no address
    if (size(array) > 0) data = c_loc(array)
    view = host_view(MOEMESH_INT32, shape(array, c_int64_t), data, is_contiguous(array))
  end function

  function array_i8(array) result(view)
    integer(c_int64_t), intent(in), target :: array(..)
    type(moemesh_view) :: view
    type(c_ptr) :: data
    data = c_null_ptr ! an array without elements has no address
    if (size(array) > 0) data = c_loc(array)
    view = host_view(MOEMESH_INT64, shape(array, c_int64_t), data, is_contiguous(array))
  end function

  function array_bf16(array) result(view)
    integer(c_int16_t), intent(in), target :: array(..)
    type(moemesh_view) :: view
    type(c_ptr) :: data
    data = c_null_ptr ! an array without elements has no address
    if (size(array) > 0) data = c_loc(array)
    view = host_view(MOEMESH_BFLOAT16, shape(array, c_int64_t), data, is_contiguous(array))
  end function

  function array_u8(array) result(view)
    integer(c_int8_t), intent(in), target :: array(..)
    type(moemesh_view) :: view
    type(c_ptr) :: data
    data = c_null_ptr ! an array without elements has no address
    if (size(array) > 0) data = c_loc(array)
    view = host_view(MOEMESH_UINT8, shape(array, c_int64_t), data, is_contiguous(array))
  end function
end module
