! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! The pipeline in its two forms: moemesh_pipeline_begin, then moemesh_pipeline_next and moemesh_pipeline_done until
! MOEMESH_ACTION_END; or moemesh_pipeline_execute with a function of the program's, which is bind(c).
module moemesh_f_pipelines
  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_float, c_funloc, c_int32_t, c_int64_t, c_loc, &
    c_null_ptr, c_ptr, c_sizeof
  use moemesh_c
  use moemesh_f_base, only: moemesh_finish, moemesh_shape
  use moemesh_f_objects, only: moemesh_handle, moemesh_pipeline
  implicit none
  private

  public :: moemesh_pipeline_action, moemesh_pipeline_action_of, moemesh_pipeline_begin, moemesh_pipeline_execute
  public :: moemesh_pipeline_next

  ! microbatch and chunk are counted from 1. in, out and saved are (width, rows), not associated where C has no view,
  ! and where the rows are bf16: then the views tell where they are.
  type :: moemesh_pipeline_action
    integer(c_int64_t) :: rows = 0
    integer(c_int32_t) :: kind = 0
    integer :: microbatch = 0
    integer :: chunk = 0
    real(c_float), pointer, contiguous :: in(:, :) => null()
    real(c_float), pointer, contiguous :: out(:, :) => null()
    real(c_float), pointer, contiguous :: saved(:, :) => null()
    type(moemesh_view) :: in_view
    type(moemesh_view) :: out_view
    type(moemesh_view) :: saved_view
  end type

contains

  ! For functions of the program's that moemesh_pipeline_execute calls.
  function moemesh_pipeline_action_of(raw) result(action)
    type(moemesh_pipeline_action_c), intent(in) :: raw
    type(moemesh_pipeline_action) :: action
    action%rows = raw%rows
    action%kind = raw%kind
    action%microbatch = raw%microbatch + 1
    action%chunk = raw%chunk + 1
    action%in_view = raw%in
    action%out_view = raw%out
    action%saved_view = raw%saved
    call associate_rows(raw%in, action%in)
    call associate_rows(raw%out, action%out)
    call associate_rows(raw%saved, action%saved)
  end function

  subroutine associate_rows(view, rows)
    type(moemesh_view), intent(in) :: view
    real(c_float), pointer, contiguous, intent(out) :: rows(:, :)
    integer(c_int64_t) :: extents(2)
    nullify (rows)
    if (view%rank /= 2 .or. view%dtype /= MOEMESH_FLOAT32) return
    extents = moemesh_shape(view)
    if (c_associated(view%data)) then
      call c_f_pointer(view%data, rows, extents)
    else
      rows => no_rows(extents(1))
    end if
  end subroutine

  ! An action without rows has arrays without rows, not missing ones.
  function no_rows(width) result(rows)
    integer(c_int64_t), intent(in) :: width
    real(c_float), pointer, contiguous :: rows(:, :)
    real(c_float), target, save :: nothing(1)
    rows(1:width, 1:0) => nothing
  end function

  subroutine fill_run(microbatches, training, rows, copy, run)
    integer, intent(in), optional :: microbatches
    logical, intent(in), optional :: training
    integer, intent(in), optional :: rows(:)
    integer(c_int64_t), allocatable, target, intent(out) :: copy(:)
    type(moemesh_pipeline_run_c), intent(out) :: run
    integer(c_int32_t) :: status
    status = moemesh_pipeline_run_init_c(run, c_sizeof(run))
    if (status /= MOEMESH_OK) run%struct_size = 0 ! the call that follows says so
    if (present(rows)) then
      allocate (copy(max(1, size(rows)))) ! one element at least, as an empty array has no address
      copy = -1
      copy(1:size(rows)) = int(rows, c_int64_t)
      run%rows = c_loc(copy)
      run%microbatches = size(rows)
    end if
    if (present(microbatches)) run%microbatches = microbatches
    if (present(microbatches) .and. present(rows)) then
      if (microbatches /= size(rows)) run%microbatches = -1 ! refused
    end if
    if (present(training)) run%training = merge(1, 0, training)
  end subroutine

  function run_note(microbatches, rows) result(text)
    integer, intent(in), optional :: microbatches
    integer, intent(in), optional :: rows(:)
    character(:), allocatable :: text
    character(60) :: line
    text = ""
    if (present(microbatches) .and. present(rows)) then
      write (line, "(a, i0, a, i0)") "microbatches = ", microbatches, ", rows has ", size(rows)
      text = trim(line)
    end if
  end function

  ! rows(microbatches) as in moemesh_pipeline_run: their number may be left out where rows are given, and the rows where
  ! this is not the first stage. training: .true. unless given.
  subroutine moemesh_pipeline_begin(pipeline, microbatches, rows, training, ierr)
    type(moemesh_pipeline), intent(in) :: pipeline
    integer, intent(in), optional :: microbatches
    integer, intent(in), optional :: rows(:)
    logical, intent(in), optional :: training
    integer, intent(out), optional :: ierr
    type(moemesh_pipeline_run_c) :: run
    integer(c_int64_t), allocatable, target :: copy(:)
    call fill_run(microbatches, training, rows, copy, run)
    call moemesh_finish(moemesh_pipeline_begin_c(moemesh_handle(pipeline), run), "moemesh_pipeline_begin", ierr, &
      run_note(microbatches, rows))
  end subroutine

  subroutine moemesh_pipeline_next(pipeline, action, ierr)
    type(moemesh_pipeline), intent(in) :: pipeline
    type(moemesh_pipeline_action), intent(inout) :: action
    integer, intent(out), optional :: ierr
    type(moemesh_pipeline_action_c) :: raw
    integer(c_int32_t) :: status
    raw%struct_size = c_sizeof(raw)
    status = moemesh_pipeline_next_c(moemesh_handle(pipeline), raw)
    if (status == MOEMESH_OK) action = moemesh_pipeline_action_of(raw)
    call moemesh_finish(status, "moemesh_pipeline_next", ierr)
  end subroutine

  ! action_function gets `user` as it is and the action as C has it: moemesh_pipeline_action_of turns it into Fortran's.
  subroutine moemesh_pipeline_execute(pipeline, action_function, user, microbatches, rows, training, ierr)
    type(moemesh_pipeline), intent(in) :: pipeline
    procedure(moemesh_pipeline_function) :: action_function
    type(c_ptr), intent(in), optional :: user
    integer, intent(in), optional :: microbatches
    integer, intent(in), optional :: rows(:)
    logical, intent(in), optional :: training
    integer, intent(out), optional :: ierr
    type(moemesh_pipeline_run_c) :: run
    integer(c_int64_t), allocatable, target :: copy(:)
    type(c_ptr) :: user_c
    user_c = c_null_ptr
    if (present(user)) user_c = user
    call fill_run(microbatches, training, rows, copy, run)
    call moemesh_finish(moemesh_pipeline_execute_c(moemesh_handle(pipeline), run, c_funloc(action_function), user_c), &
      "moemesh_pipeline_execute", ierr, run_note(microbatches, rows))
  end subroutine
end module
