! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! Parameters: Fortran's shape, experts counted from 1.
!
! A parameter of shape [m, n] here is the C parameter of extents {n, m}: w(m, n) of Fortran and w[n][m] of C lie alike
! in memory. So the library's W1 [ffn, hidden] is w1(hidden, ffn), and W1 x is matmul(transpose(w1), x). A stack of
! experts has one more extent, the last.
module moemesh_f_parameters
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int32_t, c_int64_t, c_null_ptr, c_ptr, c_sizeof
  use moemesh_c
  use moemesh_f_base, only: moemesh_array, moemesh_counted, moemesh_finish, moemesh_shape, moemesh_shape_text, &
    moemesh_text_from_c, moemesh_text_to_c
  use moemesh_f_numbers, only: moemesh_set
  use moemesh_f_objects
  implicit none
  private

  public :: moemesh_bill_add_parameter, moemesh_parameter_get_info, moemesh_parameter_info, moemesh_parameter_params
  public :: moemesh_parameter_params_init, moemesh_parameter_read, moemesh_parameter_register, moemesh_parameter_write

  type :: moemesh_parameter_params
    integer(c_int64_t) :: struct_size = 0 ! set by its init, which every one needs
    character(:), allocatable :: name
    integer(c_int64_t) :: experts = 0 ! EXPERT: how many in all; SHARED: 0
    integer, allocatable :: shape(:) ! of the unsplit parameter, of one expert for EXPERT
    type(c_ptr) :: data = c_null_ptr ! c_loc of a borrowed array, or null
    type(c_ptr) :: gradient = c_null_ptr
    real(c_double) :: init_value = 0
    real(c_double) :: decay_scale = 0
    real(c_double) :: learning_rate_scale = 0
    integer(c_int32_t) :: dtype = 0
    integer(c_int32_t) :: tp_kind = 0
    integer :: tp_dim = 0 ! of SHARDED: which extent of shape is cut, counted from 1
    integer(c_int32_t) :: init_kind = 0
    logical :: tied = .false.
  end type

  type :: moemesh_parameter_info
    integer(c_int64_t) :: experts = 0
    integer(c_int64_t) :: first_expert = 0 ! of EXPERT: counted from 1; else 0
    integer(c_int64_t) :: local_experts = 0
    integer(c_int64_t) :: elements = 0
    integer(c_int64_t), allocatable :: shape(:) ! unsplit, as registered
    integer(c_int32_t) :: family = 0
    integer(c_int32_t) :: tp_kind = 0
    integer :: tp_dim = 0 ! of SHARDED: counted from 1; else 0
  end type

  interface moemesh_parameter_params
    module procedure new_parameter_params
  end interface

  ! (parameter, quantity, array [, expert] [, ierr]): array of the registered shape, real(c_float), or a view. expert:
  ! of EXPERT parameters, counted from 1; not of SHARED ones.
  interface moemesh_parameter_read
    module procedure read_r4, read_view
  end interface

  interface moemesh_parameter_write
    module procedure write_r4, write_view
  end interface

contains

  subroutine moemesh_parameter_params_init(params, ierr)
    type(moemesh_parameter_params), intent(inout) :: params
    integer, intent(out), optional :: ierr
    type(moemesh_parameter_params_c) :: raw
    integer(c_int32_t) :: status
    status = moemesh_parameter_params_init_c(raw, c_sizeof(raw))
    if (status == MOEMESH_OK) call set_defaults(raw, params)
    call moemesh_finish(status, "moemesh_parameter_params_init", ierr)
  end subroutine

  subroutine set_defaults(raw, params)
    type(moemesh_parameter_params_c), intent(in) :: raw
    type(moemesh_parameter_params), intent(inout) :: params
    params%struct_size = raw%struct_size
    call moemesh_text_from_c(raw%name, params%name)
    params%experts = raw%experts
    if (allocated(params%shape)) deallocate (params%shape)
    params%data = raw%data
    params%gradient = raw%gradient
    params%init_value = raw%init_value
    params%decay_scale = raw%decay_scale
    params%learning_rate_scale = raw%learning_rate_scale
    params%dtype = raw%dtype
    params%tp_kind = raw%tp_kind
    params%tp_dim = 0
    params%init_kind = raw%init_kind
    params%tied = raw%tied /= 0
  end subroutine

  function new_parameter_params(name, shape, experts, data, gradient, init_value, decay_scale, learning_rate_scale, &
      dtype, tp_kind, tp_dim, init_kind, tied) result(params)
    character(*), intent(in), optional :: name
    class(*), intent(in), optional :: shape(:)
    class(*), intent(in), optional :: experts, dtype, tp_kind, tp_dim, init_kind
    type(c_ptr), intent(in), optional :: data, gradient
    class(*), intent(in), optional :: init_value, decay_scale, learning_rate_scale
    class(*), intent(in), optional :: tied
    type(moemesh_parameter_params) :: params
    character(*), parameter :: me = "moemesh_parameter_params"
    call moemesh_parameter_params_init(params)
    if (present(name)) params%name = name
    if (present(shape)) call moemesh_set(params%shape, shape, me, "shape")
    if (present(experts)) call moemesh_set(params%experts, experts, me, "experts")
    if (present(data)) params%data = data
    if (present(gradient)) params%gradient = gradient
    if (present(init_value)) call moemesh_set(params%init_value, init_value, me, "init_value")
    if (present(decay_scale)) call moemesh_set(params%decay_scale, decay_scale, me, "decay_scale")
    if (present(learning_rate_scale)) then
      call moemesh_set(params%learning_rate_scale, learning_rate_scale, me, "learning_rate_scale")
    end if
    if (present(dtype)) call moemesh_set(params%dtype, dtype, me, "dtype")
    if (present(tp_kind)) call moemesh_set(params%tp_kind, tp_kind, me, "tp_kind")
    if (present(tp_dim)) call moemesh_set(params%tp_dim, tp_dim, me, "tp_dim")
    if (present(init_kind)) call moemesh_set(params%init_kind, init_kind, me, "init_kind")
    if (present(tied)) call moemesh_set(params%tied, tied, me, "tied")
  end function

  subroutine parameter_to_c(params, raw, text)
    type(moemesh_parameter_params), intent(in) :: params
    type(moemesh_parameter_params_c), intent(out) :: raw
    character(kind=c_char), allocatable, target, intent(inout) :: text(:)
    integer :: rank
    raw%struct_size = params%struct_size
    call moemesh_text_to_c(params%name, text, raw%name)
    raw%experts = params%experts
    rank = 0
    if (allocated(params%shape)) rank = size(params%shape)
    raw%rank = int(rank, c_int32_t) ! the library refuses 0, and what is above 4
    if (rank >= 1 .and. rank <= 4) raw%extents(1:rank) = params%shape(rank:1:-1)
    raw%data = params%data
    raw%gradient = params%gradient
    raw%init_value = params%init_value
    raw%decay_scale = params%decay_scale
    raw%learning_rate_scale = params%learning_rate_scale
    raw%dtype = params%dtype
    raw%tp_kind = params%tp_kind
    if (params%tp_kind == MOEMESH_TP_SHARDED) raw%tp_dim = int(rank - params%tp_dim, c_int32_t)
    raw%init_kind = params%init_kind
    raw%tied = merge(1, 0, params%tied)
  end subroutine

  function params_note(params) result(text)
    type(moemesh_parameter_params), intent(in) :: params
    character(:), allocatable :: text
    text = "shape is not allocated"
    if (allocated(params%shape)) text = moemesh_shape_text("shape", int(params%shape, c_int64_t))
    if (params%tp_kind == MOEMESH_TP_SHARDED) text = text // ", " // moemesh_counted("tp_dim", params%tp_dim)
  end function

  subroutine moemesh_parameter_register(family, params, parameter, ierr)
    type(moemesh_family), intent(in) :: family
    type(moemesh_parameter_params), intent(in) :: params
    type(moemesh_parameter), intent(inout) :: parameter
    integer, intent(out), optional :: ierr
    type(moemesh_parameter_params_c) :: raw
    character(kind=c_char), allocatable, target :: text(:)
    type(c_ptr) :: handle
    integer(c_int32_t) :: status
    call parameter_to_c(params, raw, text)
    handle = moemesh_handle(parameter)
    status = moemesh_parameter_register_c(moemesh_handle(family), raw, handle)
    call moemesh_set_handle(parameter, handle)
    call moemesh_finish(status, "moemesh_parameter_register", ierr, params_note(params))
  end subroutine

  subroutine moemesh_bill_add_parameter(bill, stage, family, params, ierr)
    type(moemesh_bill), intent(in) :: bill
    integer, intent(in) :: stage
    integer(c_int32_t), intent(in) :: family
    type(moemesh_parameter_params), intent(in) :: params
    integer, intent(out), optional :: ierr
    type(moemesh_parameter_params_c) :: raw
    character(kind=c_char), allocatable, target :: text(:)
    call parameter_to_c(params, raw, text)
    call moemesh_finish(moemesh_bill_add_parameter_c(moemesh_handle(bill), int(stage, c_int64_t), family, raw), &
      "moemesh_bill_add_parameter", ierr, params_note(params))
  end subroutine

  subroutine moemesh_parameter_get_info(parameter, info, ierr)
    type(moemesh_parameter), intent(in) :: parameter
    type(moemesh_parameter_info), intent(inout) :: info
    integer, intent(out), optional :: ierr
    type(moemesh_parameter_info_c) :: raw
    integer(c_int32_t) :: status
    raw%struct_size = c_sizeof(raw)
    status = moemesh_parameter_get_info_c(moemesh_handle(parameter), raw)
    if (status == MOEMESH_OK) then
      info%experts = raw%experts
      info%first_expert = raw%first_expert
      if (raw%family == MOEMESH_EXPERT) info%first_expert = raw%first_expert + 1
      info%local_experts = raw%local_experts
      info%elements = raw%elements
      info%shape = raw%extents(raw%rank:1:-1)
      info%family = raw%family
      info%tp_kind = raw%tp_kind
      info%tp_dim = 0
      if (raw%tp_kind == MOEMESH_TP_SHARDED) info%tp_dim = raw%rank - raw%tp_dim
    end if
    call moemesh_finish(status, "moemesh_parameter_get_info", ierr)
  end subroutine

  ! What C gets for `expert`, -1 where it is missing or too much: C refuses that, and other ranks, which may wait in the
  ! same call, hear of it.
  subroutine find_expert(parameter, expert, index, note)
    type(moemesh_parameter), intent(in) :: parameter
    integer, intent(in), optional :: expert
    integer(c_int64_t), intent(out) :: index
    character(:), allocatable, intent(out) :: note
    type(moemesh_parameter_info_c) :: info
    logical :: stacked
    info%struct_size = c_sizeof(info)
    index = -1
    note = ""
    if (moemesh_parameter_get_info_c(moemesh_handle(parameter), info) /= MOEMESH_OK) return
    stacked = info%family == MOEMESH_EXPERT
    if (present(expert) .and. stacked) then
      index = int(expert, c_int64_t) - 1
      note = moemesh_counted("expert", expert)
    else if (stacked) then
      note = "expert is missing"
    else if (present(expert)) then
      note = moemesh_counted("expert", expert) // ", of a SHARED parameter"
    else
      index = 0
    end if
  end subroutine

  subroutine read_view(parameter, quantity, array, expert, ierr)
    type(moemesh_parameter), intent(in) :: parameter
    integer(c_int32_t), intent(in) :: quantity
    type(moemesh_view), intent(in) :: array
    integer, intent(in), optional :: expert
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: index
    character(:), allocatable :: note
    call find_expert(parameter, expert, index, note)
    call moemesh_finish(moemesh_parameter_read_c(moemesh_handle(parameter), quantity, index, array), &
      "moemesh_parameter_read", ierr, moemesh_shape_text("array", moemesh_shape(array)) // " " // note)
  end subroutine

  subroutine read_r4(parameter, quantity, array, expert, ierr)
    type(moemesh_parameter), intent(in) :: parameter
    integer(c_int32_t), intent(in) :: quantity
    real(c_float), intent(inout), target, contiguous :: array(..)
    integer, intent(in), optional :: expert
    integer, intent(out), optional :: ierr
    call read_view(parameter, quantity, moemesh_array(array), expert, ierr)
  end subroutine

  subroutine write_view(parameter, quantity, array, expert, ierr)
    type(moemesh_parameter), intent(in) :: parameter
    integer(c_int32_t), intent(in) :: quantity
    type(moemesh_view), intent(in) :: array
    integer, intent(in), optional :: expert
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: index
    character(:), allocatable :: note
    call find_expert(parameter, expert, index, note)
    call moemesh_finish(moemesh_parameter_write_c(moemesh_handle(parameter), quantity, index, array), &
      "moemesh_parameter_write", ierr, moemesh_shape_text("array", moemesh_shape(array)) // " " // note)
  end subroutine

  subroutine write_r4(parameter, quantity, array, expert, ierr)
    type(moemesh_parameter), intent(in) :: parameter
    integer(c_int32_t), intent(in) :: quantity
    real(c_float), intent(in), target, contiguous :: array(..)
    integer, intent(in), optional :: expert
    integer, intent(out), optional :: ierr
    call write_view(parameter, quantity, moemesh_array(array), expert, ierr)
  end subroutine
end module
