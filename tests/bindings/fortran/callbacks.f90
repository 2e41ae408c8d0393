! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! What the library calls back.
module callbacks
  use, intrinsic :: iso_c_binding
  use moemesh
  implicit none

  character(:), allocatable :: last_log

contains

  subroutine keep_log(user, level, message) bind(c)
    type(c_ptr), value :: user
    integer(c_int32_t), value :: level
    character(kind=c_char), intent(in) :: message(*)
    integer, pointer :: count
    integer :: i
    call c_f_pointer(user, count)
    count = count + 1
    last_log = ""
    i = 1
    do while (message(i) /= c_null_char)
      last_log = last_log // message(i)
      i = i + 1
    end do
    if (level > MOEMESH_LOG_DEBUG) last_log = "?"
  end subroutine

  integer(c_int64_t) function slow_clock(user) bind(c)
    type(c_ptr), value :: user
    integer(c_int64_t), save :: now = 0
    if (c_associated(user)) now = -1000000
    now = now + 1000
    slow_clock = now
  end function

  integer(c_int32_t) function count_actions(user, raw) bind(c)
    type(c_ptr), value :: user
    type(moemesh_pipeline_action_c), intent(in) :: raw
    type(moemesh_pipeline_action) :: action
    integer, pointer :: seen(:)
    call c_f_pointer(user, seen, [2])
    action = moemesh_pipeline_action_of(raw)
    if (action%kind == MOEMESH_ACTION_FORWARD) seen(1) = seen(1) + action%microbatch
    if (action%kind == MOEMESH_ACTION_BACKWARD) seen(2) = seen(2) + action%microbatch
    count_actions = MOEMESH_OK
    if (associated(action%in) .or. associated(action%out)) count_actions = MOEMESH_ERROR_INTERNAL
  end function
end module
