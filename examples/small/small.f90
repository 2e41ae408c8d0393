! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! A mixture-of-experts layer learns a function of 64 tokens: 8 numbers each, 4 experts, 2 of them for a token. Alone, or
! with the argument mpi as 1, 2 or 4 ranks of mpirun, over which tokens and experts are cut: the numbers are the same.
program small
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int64_t
  use moemesh
  implicit none
  integer, parameter :: tokens = 64, hidden = 8, experts = 4
  type(moemesh_context) :: context
  type(moemesh_context_params) :: params
  type(moemesh_context_info) :: me
  type(moemesh_mesh) :: mesh
  type(moemesh_family) :: shared, expert
  type(moemesh_layer) :: layer
  type(moemesh_optimizer) :: optimizer
  type(moemesh_tape) :: tape
  real(c_float), allocatable :: x(:, :), y(:, :), dy(:, :), dx(:, :), error(:, :)
  real(c_double) :: loss
  integer(c_int64_t) :: rows(experts)
  integer :: n, first, t, h, step
  character(3) :: argument

  call get_command_argument(1, argument)
  params = moemesh_context_params(mpi_init=argument == "mpi")
  if (argument == "mpi") params%comm%kind = MOEMESH_COMM_MPI_WORLD
  call moemesh_context_create(context, params) ! without ierr: an error prints its text and stops
  call moemesh_context_get_info(context, me)
  call moemesh_mesh_create(context, moemesh_mesh_params(ep=int(me%size)), mesh) ! experts and tokens over all ranks
  ! Weights that all ranks have (here the router's), and the experts'.
  call moemesh_family_create(mesh, moemesh_family_params(kind=MOEMESH_SHARED), shared)
  call moemesh_family_create(mesh, moemesh_family_params(kind=MOEMESH_EXPERT), expert)
  call moemesh_layer_create(mesh, shared, expert, moemesh_layer_params(name="moe", hidden=hidden, ffn=16, &
    experts=experts, top_k=2, init_std_router=0.4_c_double, init_std_in=0.4_c_double, init_std_out=0.4_c_double, &
    aux_coefficient=0.01_c_double, aux_scope=MOEMESH_AUX_SEQUENCE), layer) ! SwiGLU; balances each of 4 sequences
  call moemesh_family_commit(shared)
  call moemesh_family_commit(expert)
  call moemesh_optimizer_create(mesh, shared, expert, moemesh_optimizer_params(learning_rate=0.02_c_double), optimizer)

  n = tokens / int(me%size)
  first = int(me%rank) * n ! this rank's tokens
  allocate (x(hidden, n), y(hidden, n), dy(hidden, n), dx(hidden, n))
  do t = 0, n - 1
    x(:, t + 1) = [(real(mod(7 * (first + t) + (3 + first + t) * h, 11) - 5) / 4, h=0, hidden - 1)]
  end do
  do step = 1, 40
    call moemesh_step_begin(optimizer)
    call moemesh_layer_forward(layer, x, y, tape, sequences=4 / int(me%size))
    error = y - x * x(hidden:1:-1, :) ! target of h: x(h) * x(9 - h)
    loss = sum(real(error, c_double)**2 / (tokens * hidden))
    dy = 2 * error / (n * hidden) ! the gradient of this rank's own mean
    call moemesh_layer_backward(tape, dy, dx, x)
    call moemesh_optimizer_step(optimizer)
    call moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, loss)
    if (me%rank == 0 .and. (step == 1 .or. mod(step, 10) == 0)) print "(a, i2, a, f8.6)", "step ", step, "  loss ", loss
  end do
  call moemesh_layer_get_rows(layer, rows)
  call moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, rows)
  if (me%rank == 0) print "(a, 4i4)", "rows per expert", rows

  call moemesh_optimizer_destroy(optimizer)
  call moemesh_layer_destroy(layer)
  call moemesh_family_destroy(shared)
  call moemesh_family_destroy(expert)
  call moemesh_mesh_finalize(mesh)
  call moemesh_mesh_destroy(mesh)
  call moemesh_context_finalize(context)
  call moemesh_context_destroy(context)
  call moemesh_shutdown
end program
