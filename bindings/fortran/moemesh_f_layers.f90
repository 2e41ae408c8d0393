! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! The layer's calls on Fortran arrays: x(H, T), logits(E, T), experts(k, T), experts counted from 1.
!
! Shapes are checked by the library, on every rank of the exchange, against the layer's H, E and k and against each
! other; the text of an error has them as C and as Fortran write them. Arrays are real(c_float), or integer(c_int16_t),
! which are bf16, or views (moemesh_array) of memory wherever the library can read it.
module moemesh_f_layers
  use, intrinsic :: iso_c_binding, only: c_char, c_float, c_int16_t, c_int32_t, c_int64_t, c_int8_t, c_loc, &
    c_null_ptr, c_ptr, c_sizeof
  use moemesh_c
  use moemesh_f_base, only: moemesh_array, moemesh_fail, moemesh_finish, moemesh_flags, moemesh_shape, &
    moemesh_shape_text
  use moemesh_f_objects
  implicit none
  private

  public :: moemesh_bill_add_layer, moemesh_layer_backward, moemesh_layer_forward, moemesh_layer_get_bias
  public :: moemesh_layer_get_rows, moemesh_layer_replay, moemesh_layer_set_bias, moemesh_tape_get_routing

  ! (layer, x, y [, tape] [, microbatch] [, mask] [, logits] [, sequences] [, sequence_layout] [, ierr]): with a tape it
  ! is a training forward, without one it counts nothing. microbatch: of the open step, counted from 1. mask(T): .false.
  ! is padding. Views also take [, stream] before ierr.
  interface moemesh_layer_forward
    module procedure forward_r4, forward_bf16, forward_view
  end interface

  ! (tape, dy, dx, x [, dlogits] [, ierr]): x is the forward's once more, so that a copy that the compiler made for the
  ! forward need not live on. With views x may be left out: then the forward's memory is read. Gives the tape up.
  interface moemesh_layer_backward
    module procedure backward_r4, backward_bf16, backward_view
  end interface

  ! (tape, x, y [, ierr])
  interface moemesh_layer_replay
    module procedure replay_r4, replay_bf16, replay_view
  end interface

contains

  ! ------------------------------------------------------------------------------------------------ forward

  subroutine forward_view(layer, x, y, tape, microbatch, mask, logits, sequences, sequence_layout, stream, ierr)
    type(moemesh_layer), intent(in) :: layer
    type(moemesh_view), intent(in), target :: x, y
    type(moemesh_tape), intent(inout), optional :: tape
    integer, intent(in), optional :: microbatch
    type(moemesh_view), intent(in), optional, target :: mask, logits
    integer, intent(in), optional :: sequences, sequence_layout
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: ierr
    type(moemesh_forward_params_c) :: params
    type(c_ptr) :: handle
    integer(c_int32_t) :: status
    status = moemesh_forward_params_init_c(params, c_sizeof(params))
    params%x = c_loc(x)
    params%y = c_loc(y)
    if (present(mask)) params%mask = c_loc(mask)
    if (present(logits)) params%logits = c_loc(logits)
    if (present(stream)) params%stream = stream
    if (present(sequences)) params%sequences = sequences
    if (present(sequence_layout)) params%sequence_layout = sequence_layout
    if (present(microbatch)) params%microbatch = microbatch - 1
    params%training = merge(1, 0, present(tape))
    handle = c_null_ptr
    if (present(tape)) handle = moemesh_handle(tape)
    status = moemesh_layer_forward_c(moemesh_handle(layer), params, handle)
    if (present(tape)) call moemesh_set_handle(tape, handle)
    if (status == MOEMESH_OK) then
      if (present(ierr)) ierr = 0
    else
      call moemesh_finish(status, "moemesh_layer_forward", ierr, forward_note(x, y, mask, logits, microbatch))
    end if
  end subroutine

  function forward_note(x, y, mask, logits, microbatch) result(text)
    type(moemesh_view), intent(in) :: x, y
    type(moemesh_view), intent(in), optional :: mask, logits
    integer, intent(in), optional :: microbatch
    character(:), allocatable :: text
    character(12) :: digits
    text = shape_note("x", x) // " " // shape_note("y", y)
    if (present(mask)) text = text // " " // shape_note("mask", mask)
    if (present(logits)) text = text // " " // shape_note("logits", logits)
    if (.not. present(microbatch)) return
    write (digits, "(i0)") microbatch
    text = text // " microbatch " // trim(digits) // ", counted from 1"
  end function

  function shape_note(name, view) result(text)
    character(*), intent(in) :: name
    type(moemesh_view), intent(in) :: view
    character(:), allocatable :: text
    text = moemesh_shape_text(name, moemesh_shape(view))
  end function

  subroutine forward_r4(layer, x, y, tape, microbatch, mask, logits, sequences, sequence_layout, ierr)
    type(moemesh_layer), intent(in) :: layer
    real(c_float), intent(in), target, contiguous :: x(:, :)
    real(c_float), intent(inout), target, contiguous :: y(:, :)
    type(moemesh_tape), intent(inout), optional :: tape
    integer, intent(in), optional :: microbatch
    logical, intent(in), optional :: mask(:)
    real(c_float), intent(in), target, contiguous, optional :: logits(:, :)
    integer, intent(in), optional :: sequences, sequence_layout
    integer, intent(out), optional :: ierr
    call forward_masked(layer, moemesh_array(x), moemesh_array(y), tape, microbatch, mask, logits, sequences, &
      sequence_layout, ierr)
  end subroutine

  subroutine forward_bf16(layer, x, y, tape, microbatch, mask, logits, sequences, sequence_layout, ierr)
    type(moemesh_layer), intent(in) :: layer
    integer(c_int16_t), intent(in), target, contiguous :: x(:, :)
    integer(c_int16_t), intent(inout), target, contiguous :: y(:, :)
    type(moemesh_tape), intent(inout), optional :: tape
    integer, intent(in), optional :: microbatch
    logical, intent(in), optional :: mask(:)
    real(c_float), intent(in), target, contiguous, optional :: logits(:, :)
    integer, intent(in), optional :: sequences, sequence_layout
    integer, intent(out), optional :: ierr
    call forward_masked(layer, moemesh_array(x), moemesh_array(y), tape, microbatch, mask, logits, sequences, &
      sequence_layout, ierr)
  end subroutine

  ! The library reads mask and logits within the call only, so copies of ours will do.
  subroutine forward_masked(layer, x, y, tape, microbatch, mask, logits, sequences, sequence_layout, ierr)
    type(moemesh_layer), intent(in) :: layer
    type(moemesh_view), intent(in) :: x, y
    type(moemesh_tape), intent(inout), optional :: tape
    integer, intent(in), optional :: microbatch
    logical, intent(in), optional :: mask(:)
    real(c_float), intent(in), target, contiguous, optional :: logits(:, :)
    integer, intent(in), optional :: sequences, sequence_layout
    integer, intent(out), optional :: ierr
    integer(c_int8_t), allocatable, target :: flags(:)
    type(moemesh_view), target :: mask_view, logits_view
    type(moemesh_view), pointer :: mask_given, logits_given
    nullify (mask_given, logits_given)
    if (present(mask)) then
      allocate (flags(size(mask)))
      flags = moemesh_flags(mask)
      mask_view = moemesh_array(flags)
      mask_given => mask_view
    end if
    if (present(logits)) then
      logits_view = moemesh_array(logits)
      logits_given => logits_view
    end if
    ! A pointer to nothing is an argument that is absent.
    call forward_view(layer, x, y, tape, microbatch, mask_given, logits_given, sequences, sequence_layout, ierr=ierr)
  end subroutine

  ! ------------------------------------------------------------------------------------------------ backward

  subroutine backward_view(tape, dy, dx, x, dlogits, stream, ierr)
    type(moemesh_tape), intent(inout) :: tape
    type(moemesh_view), intent(in), target :: dy, dx
    type(moemesh_view), intent(in), target, optional :: x, dlogits
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: ierr
    type(moemesh_backward_params_c) :: params
    type(c_ptr) :: handle
    integer(c_int32_t) :: status
    status = moemesh_backward_params_init_c(params, c_sizeof(params))
    params%dy = c_loc(dy)
    params%dx = c_loc(dx)
    if (present(x)) params%x = c_loc(x)
    if (present(dlogits)) params%dlogits = c_loc(dlogits)
    if (present(stream)) params%stream = stream
    handle = moemesh_handle(tape)
    status = moemesh_layer_backward_c(handle, params)
    call moemesh_set_handle(tape, handle)
    if (status == MOEMESH_OK) then
      if (present(ierr)) ierr = 0
    else
      call moemesh_finish(status, "moemesh_layer_backward", ierr, backward_note(dy, dx, x, dlogits))
    end if
  end subroutine

  function backward_note(dy, dx, x, dlogits) result(text)
    type(moemesh_view), intent(in) :: dy, dx
    type(moemesh_view), intent(in), optional :: x, dlogits
    character(:), allocatable :: text
    text = shape_note("dy", dy) // " " // shape_note("dx", dx)
    if (present(x)) text = text // " " // shape_note("x", x)
    if (present(dlogits)) text = text // " " // shape_note("dlogits", dlogits)
  end function

  subroutine backward_r4(tape, dy, dx, x, dlogits, ierr)
    type(moemesh_tape), intent(inout) :: tape
    real(c_float), intent(in), target, contiguous :: dy(:, :), x(:, :)
    real(c_float), intent(inout), target, contiguous :: dx(:, :)
    real(c_float), intent(inout), target, contiguous, optional :: dlogits(:, :)
    integer, intent(out), optional :: ierr
    if (present(dlogits)) then
      call backward_view(tape, moemesh_array(dy), moemesh_array(dx), moemesh_array(x), moemesh_array(dlogits), &
        ierr=ierr)
    else
      call backward_view(tape, moemesh_array(dy), moemesh_array(dx), moemesh_array(x), ierr=ierr)
    end if
  end subroutine

  subroutine backward_bf16(tape, dy, dx, x, dlogits, ierr)
    type(moemesh_tape), intent(inout) :: tape
    integer(c_int16_t), intent(in), target, contiguous :: dy(:, :), x(:, :)
    integer(c_int16_t), intent(inout), target, contiguous :: dx(:, :)
    real(c_float), intent(inout), target, contiguous, optional :: dlogits(:, :)
    integer, intent(out), optional :: ierr
    if (present(dlogits)) then
      call backward_view(tape, moemesh_array(dy), moemesh_array(dx), moemesh_array(x), moemesh_array(dlogits), &
        ierr=ierr)
    else
      call backward_view(tape, moemesh_array(dy), moemesh_array(dx), moemesh_array(x), ierr=ierr)
    end if
  end subroutine

  ! ------------------------------------------------------------------------------------------------ replay

  subroutine replay_view(tape, x, y, stream, ierr)
    type(moemesh_tape), intent(inout) :: tape
    type(moemesh_view), intent(in), target :: x, y
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: ierr
    type(moemesh_replay_params_c) :: params
    type(c_ptr) :: handle
    integer(c_int32_t) :: status
    status = moemesh_replay_params_init_c(params, c_sizeof(params))
    params%x = c_loc(x)
    params%y = c_loc(y)
    if (present(stream)) params%stream = stream
    handle = moemesh_handle(tape)
    status = moemesh_layer_replay_c(handle, params)
    call moemesh_set_handle(tape, handle)
    call moemesh_finish(status, "moemesh_layer_replay", ierr, shape_note("x", x) // " " // shape_note("y", y))
  end subroutine

  subroutine replay_r4(tape, x, y, ierr)
    type(moemesh_tape), intent(inout) :: tape
    real(c_float), intent(in), target, contiguous :: x(:, :)
    real(c_float), intent(inout), target, contiguous :: y(:, :)
    integer, intent(out), optional :: ierr
    call replay_view(tape, moemesh_array(x), moemesh_array(y), ierr=ierr)
  end subroutine

  subroutine replay_bf16(tape, x, y, ierr)
    type(moemesh_tape), intent(inout) :: tape
    integer(c_int16_t), intent(in), target, contiguous :: x(:, :)
    integer(c_int16_t), intent(inout), target, contiguous :: y(:, :)
    integer, intent(out), optional :: ierr
    call replay_view(tape, moemesh_array(x), moemesh_array(y), ierr=ierr)
  end subroutine

  ! ------------------------------------------------------------------------------------------------ queries

  ! experts(k, T), counted from 1, 0 for tokens that go nowhere and for dropped rows; gates(k, T).
  subroutine moemesh_tape_get_routing(tape, experts, gates, ierr)
    type(moemesh_tape), intent(in) :: tape
    integer(c_int32_t), intent(inout), target, contiguous, optional :: experts(:, :)
    real(c_float), intent(inout), target, contiguous, optional :: gates(:, :)
    integer, intent(out), optional :: ierr
    type(moemesh_view), target :: experts_view, gates_view
    type(moemesh_view), pointer :: experts_given, gates_given
    integer(c_int32_t) :: status
    nullify (experts_given, gates_given)
    if (present(experts)) then
      experts_view = moemesh_array(experts)
      experts_given => experts_view
    end if
    if (present(gates)) then
      gates_view = moemesh_array(gates)
      gates_given => gates_view
    end if
    status = moemesh_tape_get_routing_c(moemesh_handle(tape), experts_given, gates_given)
    if (status == MOEMESH_OK .and. present(experts)) experts = experts + 1
    call moemesh_finish(status, "moemesh_tape_get_routing", ierr, shape_note("experts", experts_view) // " " // &
      shape_note("gates", gates_view))
  end subroutine

  ! rows_per_expert(E), rows_received(E)
  subroutine moemesh_layer_get_rows(layer, rows_per_expert, rows_received, ierr)
    type(moemesh_layer), intent(in) :: layer
    integer(c_int64_t), intent(inout), target, contiguous :: rows_per_expert(:)
    integer(c_int64_t), intent(inout), target, contiguous, optional :: rows_received(:)
    integer, intent(out), optional :: ierr
    type(moemesh_view) :: rows
    integer(c_int32_t) :: status
    rows = moemesh_array(rows_per_expert)
    if (present(rows_received)) then
      status = moemesh_layer_get_rows_c(moemesh_handle(layer), rows, moemesh_array(rows_received))
    else
      status = moemesh_layer_get_rows_c(moemesh_handle(layer), rows)
    end if
    call moemesh_finish(status, "moemesh_layer_get_rows", ierr)
  end subroutine

  ! bias(E)
  subroutine moemesh_layer_get_bias(layer, bias, ierr)
    type(moemesh_layer), intent(in) :: layer
    real(c_float), intent(inout), target, contiguous :: bias(:)
    integer, intent(out), optional :: ierr
    call moemesh_finish(moemesh_layer_get_bias_c(moemesh_handle(layer), moemesh_array(bias)), &
      "moemesh_layer_get_bias", ierr)
  end subroutine

  subroutine moemesh_layer_set_bias(layer, bias, ierr)
    type(moemesh_layer), intent(in) :: layer
    real(c_float), intent(in), target, contiguous :: bias(:)
    integer, intent(out), optional :: ierr
    call moemesh_finish(moemesh_layer_set_bias_c(moemesh_handle(layer), moemesh_array(bias)), &
      "moemesh_layer_set_bias", ierr)
  end subroutine

  ! copies(ep, ranks of the stage), rows alike: both or none, and with them the mesh that the bill was made for, which
  ! tells what their shapes must be.
  subroutine moemesh_bill_add_layer(bill, stage, params, mesh, copies, rows, ierr)
    type(moemesh_bill), intent(in) :: bill
    integer, intent(in) :: stage
    type(moemesh_layer_params), intent(in) :: params
    type(moemesh_mesh), intent(in), optional :: mesh
    integer(c_int64_t), intent(in), target, contiguous, optional :: copies(:, :), rows(:, :)
    integer, intent(out), optional :: ierr
    type(moemesh_layer_params_c) :: raw
    type(moemesh_bill_routing_c) :: routing
    character(kind=c_char), allocatable, target :: text(:)
    character(:), allocatable :: wrong
    wrong = ""
    if (present(copies)) wrong = wrong_routing("copies", shape(copies, c_int64_t), mesh)
    if (present(rows) .and. wrong == "") wrong = wrong_routing("rows", shape(rows, c_int64_t), mesh)
    if (wrong /= "") then
      call moemesh_fail("moemesh_bill_add_layer", wrong, ierr)
      return
    end if
    call moemesh_to_c(params, raw, text)
    routing%struct_size = c_sizeof(routing)
    if (present(copies)) routing%copies = c_loc(copies)
    if (present(rows)) routing%rows = c_loc(rows)
    call moemesh_finish(moemesh_bill_add_layer_c(moemesh_handle(bill), int(stage, c_int64_t), raw, routing), &
      "moemesh_bill_add_layer", ierr)
  end subroutine

  ! C gets a bare pointer, so that this is the only place where a wrong shape can be seen.
  function wrong_routing(name, extents, mesh) result(text)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: extents(:)
    type(moemesh_mesh), intent(in), optional :: mesh
    character(:), allocatable :: text
    type(moemesh_axis_report_c) :: ep
    type(moemesh_group_c) :: stage
    integer(c_int32_t) :: status
    text = name // " needs mesh"
    if (.not. present(mesh)) return
    ep%struct_size = c_sizeof(ep)
    stage%struct_size = c_sizeof(stage)
    text = "mesh has no groups"
    status = moemesh_mesh_get_axis_report_c(moemesh_handle(mesh), MOEMESH_AXIS_EP, ep)
    if (status == MOEMESH_OK) then
      status = moemesh_mesh_get_group_c(moemesh_handle(mesh), MOEMESH_GROUP_STAGE, 0_c_int64_t, stage)
    end if
    if (status /= MOEMESH_OK) return
    text = ""
    if (any(extents /= [ep%size, stage%size])) then
      text = "expected " // moemesh_shape_text(name, [ep%size, stage%size]) // ", got " // &
        moemesh_shape_text(name, extents)
    end if
  end function
end module
