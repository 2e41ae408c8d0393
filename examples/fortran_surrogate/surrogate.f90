! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! surrogate [STEPS]: trains a small mixture of experts in place of the sphere's drag curve (sphere_drag.f90), from
! Fortran arrays, under mpirun with as many ranks as there are experts at most:
!
!   log10 Cd = out * (h + moe(h)),  h = tanh(in * x),  x = 1, u, sin and cos of some multiples of u,
!   u = log10 Re brought to [-1, 1]
!
! `in` and `out` are the program's own: registered with the library, which reduces their gradients and updates them; the
! MoE layer between them is the library's, its experts spread over the ranks. Prints what is left of the error in each
! range of the curve, at points that were not trained on, and which experts serve it. The same output from each run; the
! time goes to the standard error unit. (The largest errors lie at Re = 4e5, where the correlation jumps by a quarter.)
program surrogate
  use, intrinsic :: iso_c_binding, only: c_double, c_float
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use moemesh_mpi
  use sphere_drag
  implicit none
  integer, parameter :: waves = 4, features = 2 + 2 * waves, hidden = 24, ffn = 32, experts = 6, top_k = 1, points = 960
  real(c_double), parameter :: lowest = -2.5_c_double, highest = 6.7_c_double ! of log10 Re
  type(moemesh_context) :: context
  type(moemesh_mesh) :: mesh
  type(moemesh_family) :: shared, expert
  type(moemesh_layer) :: moe
  type(moemesh_parameter) :: in, out
  type(moemesh_optimizer) :: optimizer
  type(moemesh_coordinates) :: place
  integer :: rank, ranks, steps, share, step
  real(c_double) :: seconds
  real(c_double), allocatable :: log_re(:)
  real(c_float), allocatable :: x(:, :), target(:)
  real(c_float) :: loss

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (ranks > experts .or. mod(points, ranks) /= 0) error stop "surrogate: 1, 2, 3, 4, 5 or 6 ranks"
  steps = asked_steps()
  call build
  share = points / ranks
  allocate (log_re(share), x(features, share), target(share))
  call training_points
  seconds = MPI_Wtime()
  do step = 1, steps
    call train(loss)
    if (rank == 0 .and. (step == 1 .or. mod(step, steps / 5) == 0)) then
      print "(a, i6, a, es10.3)", "step", step, "   mean squared error of log10 Cd", loss
    end if
  end do
  if (rank == 0) write (error_unit, "(i0, a, f0.1, a)") steps, " steps in ", MPI_Wtime() - seconds, " s"
  call evaluate
  call tear_down
  call MPI_Finalize

contains

  integer function asked_steps() result(number)
    character(20) :: text
    number = 1500
    call get_command_argument(1, text)
    if (text /= "") read (text, *) number
    number = max(5, number)
  end function

  subroutine build
    call moemesh_context_create(MPI_COMM_WORLD, context, moemesh_context_params(timeout_seconds=60.0_c_double))
    call moemesh_mesh_create(context, moemesh_mesh_params(ep=ranks), mesh)
    call moemesh_mesh_get_coordinates(mesh, rank, place)
    call moemesh_family_create(mesh, moemesh_family_params(kind=MOEMESH_SHARED, seed=1), shared)
    call moemesh_family_create(mesh, moemesh_family_params(kind=MOEMESH_EXPERT, seed=1), expert)
    call moemesh_layer_create(mesh, shared, expert, moemesh_layer_params(name="moe", hidden=hidden, ffn=ffn, &
      experts=experts, top_k=top_k, activation=MOEMESH_GELU_ERF, gate=MOEMESH_GATE_RAW, &
        aux_coefficient=0.002_c_double, &
      init_std_router=0.5_c_double, init_std_in=0.3_c_double, init_std_out=0.2_c_double), moe)
    call moemesh_parameter_register(shared, moemesh_parameter_params(name="in", shape=[features, hidden], &
      init_kind=MOEMESH_INIT_NORMAL, init_value=0.5_c_double), in)
    call moemesh_parameter_register(shared, moemesh_parameter_params(name="out", shape=[hidden], &
      init_kind=MOEMESH_INIT_NORMAL, init_value=0.2_c_double), out)
    call moemesh_family_commit(shared)
    call moemesh_family_commit(expert)
    call moemesh_optimizer_create(mesh, shared, expert, &
      moemesh_optimizer_params(kind=MOEMESH_ADAMW, learning_rate=0.01_c_double, max_norm=1.0_c_double), optimizer)
  end subroutine

  ! Every ranks-th point is this rank's, so that each rank has points of every range.
  subroutine training_points
    integer :: i
    log_re = [(at(real(int(place%data_shard) + (i - 1) * ranks, c_double)), i=1, share)]
    call to_inputs(log_re, x)
    target = real(log10(drag_coefficient(10**log_re)), c_float)
  end subroutine

  pure real(c_double) function at(position) result(z)
    real(c_double), intent(in) :: position
    z = lowest + (highest - lowest) * position / points
  end function

  subroutine to_inputs(z, inputs)
    real(c_double), intent(in) :: z(:)
    real(c_float), intent(out) :: inputs(:, :)
    real(c_double) :: u(size(z))
    integer :: i
    u = (2 * z - lowest - highest) / (highest - lowest)
    inputs(1, :) = 1
    inputs(2, :) = real(u, c_float)
    do i = 1, waves
      inputs(2 * i + 1, :) = real(sin(2.0_c_double**i * u), c_float)
      inputs(2 * i + 2, :) = real(cos(2.0_c_double**i * u), c_float)
    end do
  end subroutine

  ! h, r = h + moe(h), and the prediction.
  subroutine forward(inputs, h, r, prediction, tape)
    real(c_float), intent(in) :: inputs(:, :)
    real(c_float), allocatable, intent(out) :: h(:, :), r(:, :), prediction(:)
    type(moemesh_tape), intent(inout) :: tape
    real(c_float), pointer :: w_in(:, :), w_out(:)
    call moemesh_parameter_acquire(in, w_in)
    h = tanh(matmul(transpose(w_in), inputs))
    call moemesh_parameter_release(in)
    allocate (r(hidden, size(inputs, 2)))
    call moemesh_layer_forward(moe, h, r, tape)
    r = r + h
    call moemesh_parameter_acquire(out, w_out)
    prediction = matmul(w_out, r)
    call moemesh_parameter_release(out)
  end subroutine

  ! Back-propagates this rank's mean squared error; the library takes the mean over ranks.
  subroutine train(mean)
    real(c_float), intent(out) :: mean
    type(moemesh_tape) :: tape
    real(c_float), allocatable :: h(:, :), r(:, :), prediction(:), dr(:, :), dh(:, :)
    real(c_float), pointer :: w_out(:)
    real(c_float) :: d(share)
    type(moemesh_update_params) :: update
    integer :: i
    call moemesh_step_begin(optimizer)
    call forward(x, h, r, prediction, tape)
    d = 2 * (prediction - target) / share
    call moemesh_gradient_ready(out, matmul(r, d))
    allocate (dr(hidden, share), dh(hidden, share))
    call moemesh_parameter_acquire(out, w_out)
    do i = 1, share
      dr(:, i) = w_out * d(i)
    end do
    call moemesh_parameter_release(out)
    call moemesh_layer_backward(tape, dr, dh, h)
    dh = (dh + dr) * (1 - h**2)
    call moemesh_gradient_ready(in, matmul(x, transpose(dh)))
    update = moemesh_update_params(learning_rate=0.01_c_double * (1 + cos(acos(-1.0_c_double) * step / steps)) / 2)
    call moemesh_optimizer_step(optimizer, update)
    mean = sum((prediction - target)**2) / points
    call moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, mean)
  end subroutine

  ! Between the trained points. Errors are of Cd itself, in parts of it.
  subroutine evaluate
    type(moemesh_tape) :: tape
    real(c_float), allocatable :: h(:, :), r(:, :), prediction(:)
    real(c_double) :: z(share), cd(share), error(share), squares(regimes), largest(regimes)
    integer :: chosen(top_k, share), used(experts, regimes), samples(regimes), i, regime
    z = [(at(place%data_shard + (i - 1) * ranks + 0.5_c_double), i=1, share)]
    call to_inputs(z, x)
    call moemesh_step_begin(optimizer) ! a tape, which knows the routing, needs a step
    call forward(x, h, r, prediction, tape)
    call moemesh_tape_get_routing(tape, chosen)
    call moemesh_tape_destroy(tape)
    call moemesh_step_end(optimizer, reduce=.false.)
    cd = drag_coefficient(10**z)
    error = abs(10**real(prediction, c_double) / cd - 1)
    squares = 0
    largest = 0
    used = 0
    samples = 0
    do i = 1, share
      regime = regime_of(10**z(i))
      samples(regime) = samples(regime) + 1
      squares(regime) = squares(regime) + error(i)**2
      largest(regime) = max(largest(regime), error(i))
      used(chosen(:, i), regime) = used(chosen(:, i), regime) + 1
    end do
    call moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, samples)
    call moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, squares)
    call moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_MAX, largest)
    call moemesh_all_reduce(mesh, MOEMESH_GROUP_WORLD, MOEMESH_SUM, used)
    if (rank == 0) call print_table(samples, squares, largest, used)
  end subroutine

  subroutine print_table(samples, squares, largest, used)
    integer, intent(in) :: samples(:), used(:, :)
    real(c_double), intent(in) :: squares(:), largest(:)
    integer :: i
    print "(/, a, t53, a)", "range of Re from   points  error of Cd  largest", "its tokens by expert 1 .. 6, %"
    do i = 1, regimes
      if (samples(i) == 0) cycle
      print "(es14.2, i10, 2(f10.2, ' %'), t50, *(i5))", regime_starts(i), samples(i), &
        100 * sqrt(squares(i) / samples(i)), 100 * largest(i), nint(100.0 * used(:, i) / (top_k * samples(i)))
    end do
    print "(a, i10, 2(f10.2, ' %'))", "           all", sum(samples), 100 * sqrt(sum(squares) / sum(samples)), &
      100 * maxval(largest)
  end subroutine

  subroutine tear_down
    call moemesh_optimizer_destroy(optimizer)
    call moemesh_layer_destroy(moe)
    call moemesh_family_destroy(expert)
    call moemesh_family_destroy(shared)
    call moemesh_mesh_finalize(mesh)
    call moemesh_mesh_destroy(mesh)
    call moemesh_context_finalize(context)
    call moemesh_context_destroy(context)
  end subroutine
end program
