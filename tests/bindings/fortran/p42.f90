! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! Case P42: matrices that arrive transposed, experts that are off by one.
module p42
  use, intrinsic :: iso_c_binding, only: c_float, c_int64_t
  use checks
  use moemesh
  implicit none
  private
  public :: run_p42

  type :: model
    type(moemesh_mesh) :: mesh
    type(moemesh_family) :: shared, expert
    type(moemesh_layer) :: layer
    type(moemesh_optimizer) :: optimizer
  end type

contains

  subroutine build(context, params, made)
    type(moemesh_context), intent(in) :: context
    type(moemesh_layer_params), intent(in) :: params
    type(model), intent(out) :: made
    call moemesh_mesh_create(context, moemesh_mesh_params(), made%mesh)
    call moemesh_family_create(made%mesh, moemesh_family_params(kind=MOEMESH_SHARED), made%shared)
    call moemesh_family_create(made%mesh, moemesh_family_params(kind=MOEMESH_EXPERT), made%expert)
    call moemesh_layer_create(made%mesh, made%shared, made%expert, params, made%layer)
    call moemesh_family_commit(made%shared)
    call moemesh_family_commit(made%expert)
    call moemesh_optimizer_create(made%mesh, made%shared, made%expert, moemesh_optimizer_params(), made%optimizer)
    call moemesh_step_begin(made%optimizer)
  end subroutine

  subroutine destroy(made)
    type(model), intent(inout) :: made
    call moemesh_step_end(made%optimizer, reduce=.false.)
    call moemesh_optimizer_destroy(made%optimizer)
    call moemesh_layer_destroy(made%layer)
    call moemesh_family_destroy(made%expert)
    call moemesh_family_destroy(made%shared)
    call moemesh_mesh_finalize(made%mesh)
    call moemesh_mesh_destroy(made%mesh)
  end subroutine

  subroutine write_matrix(family, name, matrix, expert)
    type(moemesh_family), intent(in) :: family
    character(*), intent(in) :: name
    real(c_float), intent(in), contiguous :: matrix(:, :)
    integer, intent(in) :: expert
    type(moemesh_parameter) :: parameter
    call moemesh_parameter_find(family, name, parameter)
    call moemesh_parameter_write(parameter, MOEMESH_VALUE, matrix, expert)
  end subroutine

  ! One expert whose first matrix is [[1, 2], [3, 4]] as C writes it: row by row, which is column by column here.
  subroutine matrix_and_tokens(context)
    type(moemesh_context), intent(in) :: context
    type(model) :: made
    type(moemesh_tape) :: tape
    real(c_float) :: x(2, 3), y(2, 3), ones(2, 1), image(2, 1), wrong(3, 2), other(3, 2)
    integer :: i, ierr
    call build(context, moemesh_layer_params(name="p42", hidden=2, ffn=2, experts=1, top_k=1, &
      activation=MOEMESH_IDENTITY), made)
    call write_matrix(made%expert, "p42.w1", reshape([1.0, 2.0, 3.0, 4.0], [2, 2]), 1)
    call write_matrix(made%expert, "p42.w2", reshape([1.0, 0.0, 0.0, 1.0], [2, 2]), 1)
    ones = 1
    call moemesh_layer_forward(made%layer, ones, image)
    call check_close([image], [3.0, 7.0], 0.0, "P42: the expert's (1,1) is (3,7)")
    x = reshape([(real(i), i=1, 6)], [2, 3])
    call moemesh_layer_forward(made%layer, x, y, tape)
    call check_close([y], [5.0, 11.0, 11.0, 25.0, 17.0, 39.0], 0.0, "P42: tokens are (1,2) (3,4) (5,6)")
    call moemesh_tape_destroy(tape)
    wrong = 0
    other = -1
    call moemesh_layer_forward(made%layer, wrong, other, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "x|x(3, 2)", "P42: x(3,2) for hidden 2")
    call check_close([other], [(-1.0, i=1, 6)], 0.0, "P42: y untouched")
    call destroy(made)
  end subroutine

  ! Tokens to the first, third and second expert.
  subroutine expert_numbers(context)
    type(moemesh_context), intent(in) :: context
    type(model) :: made
    type(moemesh_tape) :: tape
    type(moemesh_parameter) :: w1
    real(c_float) :: x(2, 3), y(2, 3), logits(3, 3), gates(1, 3), matrix(2, 2)
    integer :: experts(1, 3), ierr, expert
    integer(c_int64_t) :: rows(3), received(3)
    call build(context, moemesh_layer_params(name="p42", hidden=2, ffn=2, experts=3, top_k=1, &
      router=MOEMESH_ROUTER_CALLER, activation=MOEMESH_IDENTITY), made)
    do expert = 1, 3 ! the number of each expert, times x
      call write_matrix(made%expert, "p42.w1", reshape([1.0, 0.0, 0.0, 1.0], [2, 2]), expert)
      call write_matrix(made%expert, "p42.w2", expert * reshape([1.0, 0.0, 0.0, 1.0], [2, 2]), expert)
    end do
    x = 1
    logits = 0
    logits(1, 1) = 5
    logits(3, 2) = 5
    logits(2, 3) = 5
    call moemesh_layer_forward(made%layer, x, y, tape, logits=logits)
    call check_close(y(1, :), [1.0, 3.0, 2.0], 0.0, "P42: the experts that computed")
    call moemesh_tape_get_routing(tape, experts, gates)
    call check(all(experts(1, :) == [1, 3, 2]), "P42: experts are 1, 3, 2")
    call check_close(gates(1, :), [1.0, 1.0, 1.0], 0.0, "P42: gates")
    call moemesh_layer_get_rows(made%layer, rows, received)
    call check(all(rows == 1) .and. all(received == 1), "P42: counts are (1,1,1)")
    call moemesh_tape_destroy(tape)
    call moemesh_parameter_find(made%expert, "p42.w2", w1)
    call moemesh_parameter_read(w1, MOEMESH_VALUE, matrix, expert=3)
    call check_close([matrix], [3.0, 0.0, 0.0, 3.0], 0.0, "P42: expert 3 is the third")
    call moemesh_parameter_read(w1, MOEMESH_VALUE, matrix, expert=0, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "expert|expert = 0, counted from 1", &
      "P42: expert 0 is refused")
    call moemesh_parameter_write(w1, MOEMESH_VALUE, matrix, expert=0, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "expert = 0, counted from 1", "P42: writing expert 0 too")
    call moemesh_parameter_read(w1, MOEMESH_VALUE, matrix, expert=4, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "expert = 4, counted from 1", &
      "P42: expert 4 of 3 is refused")
    call moemesh_parameter_read(w1, MOEMESH_VALUE, matrix, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "expert is missing", "P42: an expert must be named")
    call destroy(made)
  end subroutine

  subroutine run_p42(context)
    type(moemesh_context), intent(in) :: context
    call matrix_and_tokens(context)
    call expert_numbers(context)
  end subroutine
end module
