! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! The module moemesh_mpi, on 1 and on 4 ranks.
program ranks
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use checks
  use moemesh_mpi
  use p42, only: run_p42
  use small_model
  implicit none
  type(moemesh_context) :: context, alone
  integer :: rank, size_, ierr, steps
  integer, parameter :: most_steps = 8
  real(c_double) :: reference(most_steps)
  real(c_float), allocatable :: reference_w1(:, :, :)

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size_)
  steps = most_steps
  call run_contexts
  call run_p42(alone)
  call run_collectives
  call run_errors
  call train_alone
  if (size_ == 1) call train_everywhere([1], [1], [1], [1])
  if (size_ == 4) then ! tp, ep, pp, dp
    call train_everywhere([1, 1, 1, 1, 1, 2], [4, 2, 1, 2, 1, 2], [1, 1, 1, 2, 2, 1], [1, 2, 4, 1, 2, 1])
  end if
  call finish_context(alone)
  call finish_context(context)
  call finish_checks("ranks")
  call MPI_Finalize

contains

  subroutine finish_context(made)
    type(moemesh_context), intent(inout) :: made
    call moemesh_context_finalize(made)
    call moemesh_context_destroy(made)
  end subroutine

  ! From both kinds of communicator; the program's own may go.
  subroutine run_contexts
    type(moemesh_context_info) :: info
    type(moemesh_context) :: other
    type(moemesh_context_params) :: params
    type(MPI_Comm) :: mine
    call MPI_Comm_dup(MPI_COMM_WORLD, mine)
    call moemesh_context_create(mine, context, moemesh_context_params(timeout_seconds=200.0_c_double, threads=1))
    call MPI_Comm_free(mine)
    call moemesh_context_get_info(context, info)
    call check(info%rank == rank .and. info%size == size_, "from type(MPI_Comm)")
    call moemesh_context_create(MPI_COMM_SELF%MPI_VAL, alone)
    call moemesh_context_get_info(alone, info)
    call check(info%rank == 0 .and. info%size == 1 .and. info%comm_kind /= MOEMESH_COMM_NONE, "from integer")
    params = moemesh_context_params(comm=moemesh_comm_from_mpi(MPI_COMM_WORLD))
    call moemesh_context_create(other, params)
    call moemesh_context_get_info(other, info)
    call check(info%size == size_, "from a communicator in the parameters")
    call finish_context(other)
    params%comm%kind = MOEMESH_COMM_MPI_ABI
    call moemesh_context_create(other, params, ierr)
    call check(ierr == MOEMESH_ERROR_MPI_KIND .or. ierr == MOEMESH_ERROR_NOT_SUPPORTED, "of another MPI")
  end subroutine

  subroutine run_collectives
    type(moemesh_mesh) :: mesh
    integer(c_int32_t) :: i4(3)
    integer(c_int64_t) :: i8
    real(c_double) :: r8(2, 2, 2)
    real(c_float) :: r4(2, 3), all4(2, 3, size_), part(2), whole(2, size_)
    integer :: i
    call moemesh_mesh_create(context, moemesh_mesh_params(dp=size_), mesh)
    i4 = [rank, 1, -rank]
    call moemesh_all_reduce(mesh, MOEMESH_AXIS_DP, MOEMESH_SUM, i4)
    call check(all(i4 == [size_ * (size_ - 1) / 2, size_, -size_ * (size_ - 1) / 2]), "all_reduce of integers")
    i8 = 2_c_int64_t**40 + rank
    call moemesh_all_reduce(mesh, MOEMESH_AXIS_DP, MOEMESH_MAX, i8)
    call check(i8 == 2_c_int64_t**40 + size_ - 1, "all_reduce of one 64-bit integer")
    r8 = rank + 1
    call moemesh_broadcast(mesh, MOEMESH_AXIS_DP, size_ - 1, r8)
    call check(all(nint(r8) == size_), "broadcast of a rank 3 array")
    r4 = rank
    r4(1, 2) = -rank
    all4 = -99
    call moemesh_all_gather(mesh, MOEMESH_AXIS_DP, r4, all4)
    do i = 1, size_
      call check(all(nint(all4(:, 1, i)) == i - 1) .and. nint(all4(1, 2, i)) == 1 - i, "all_gather adds an extent")
    end do
    do i = 1, size_
      whole(:, i) = [10 * i, 10 * i + 1]
    end do
    call moemesh_reduce_scatter(mesh, MOEMESH_AXIS_DP, MOEMESH_SUM, whole, part)
    call check_close(part, size_ * [10.0 * (rank + 1), 10.0 * (rank + 1) + 1], 0.0, "reduce_scatter")
    call moemesh_all_gather(mesh, MOEMESH_AXIS_DP, r4, whole, ierr)
    call check_status(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "receive of another size")
    ! A section is copied in and out by the compiler.
    call moemesh_all_reduce(mesh, MOEMESH_AXIS_DP, MOEMESH_SUM, r4(1, :))
    call check(nint(r4(1, 1)) == size_ * (size_ - 1) / 2 .and. nint(r4(2, 1)) == rank, "a section")
    call moemesh_mesh_finalize(mesh)
    call moemesh_mesh_destroy(mesh)
  end subroutine

  ! What one rank gets wrong is known to all, and nobody hangs.
  subroutine run_errors
    type(model) :: made
    type(moemesh_layer) :: layer
    type(moemesh_parameter) :: w1
    type(moemesh_mesh_params) :: params
    real(c_float) :: x(8, 5), y(8, 5), turned(5, 8), matrix(8, 12)
    integer :: entries, i, expert
    type(moemesh_ledger_entry) :: entry
    params = moemesh_mesh_params(ep=size_)
    call model_create(context, params, rank, made)
    layer = made%layers(1)
    x = 0.5
    turned = 0
    if (rank == size_ - 1) then
      call moemesh_layer_forward(layer, turned, y, ierr=ierr)
      call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "x|x(5, 8)", "the rank with a wrong shape")
    else
      call moemesh_layer_forward(layer, x, y, ierr=ierr)
      call check_status(ierr, MOEMESH_ERROR_PEER_FAILED, "the others hear of it")
    end if
    call moemesh_layer_forward(layer, x, y)
    call moemesh_parameter_find(made%expert, "moe1.w1", w1)
    expert = merge(0, 1, rank == size_ - 1)
    call moemesh_parameter_read(w1, MOEMESH_VALUE, matrix, expert, ierr)
    if (rank == size_ - 1) then
      call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "expert = 0, counted from 1", "the rank with expert 0")
    else
      call check(ierr /= MOEMESH_OK, "the others hear of it too")
    end if
    call moemesh_parameter_read(w1, MOEMESH_VALUE, matrix, 5)
    call moemesh_ledger_get_count(made%mesh, entries)
    call check((entries > 0) .eqv. (size_ > 1), "the ledger")
    do i = 1, entries
      call moemesh_ledger_get_entry(made%mesh, i, entry)
      call check(entry%calls > 0, "its entries")
    end do
    call moemesh_ledger_get_entry(made%mesh, entries + 1, entry, ierr)
    call check_status(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "no entry after the last")
    call model_destroy(made)
  end subroutine

  subroutine read_experts(made, values)
    type(model), intent(in) :: made
    real(c_float), allocatable, intent(out) :: values(:, :, :)
    type(moemesh_parameter) :: w1
    integer :: expert
    allocate (values(8, 12, 5))
    values = -99
    if (.not. made%first) return
    call moemesh_parameter_find(made%expert, "moe1.w1", w1)
    do expert = 1, 5
      call moemesh_parameter_read(w1, MOEMESH_VALUE, values(:, :, expert), expert)
    end do
  end subroutine

  subroutine train_alone
    type(model), target :: made
    integer :: i
    call model_create(alone, moemesh_mesh_params(), 0, made)
    do i = 1, steps
      call model_step(made, .false., reference(i))
    end do
    call read_experts(made, reference_w1)
    call check(reference(steps) < 0.5 * reference(1), "the loss falls")
    if (rank == 0) print "(a, *(f9.6))", "losses of one rank: ", reference
    call model_destroy(made)
  end subroutine

  subroutine train_everywhere(tp, ep, pp, dp)
    integer, intent(in) :: tp(:), ep(:), pp(:), dp(:)
    integer :: i
    do i = 1, size(tp)
      call train_on(moemesh_mesh_params(tp=tp(i), ep=ep(i), pp=pp(i), dp=dp(i)))
    end do
  end subroutine

  ! Both forms of the pipeline, bit by bit alike; losses and weights as on one rank.
  subroutine train_on(params)
    type(moemesh_mesh_params), intent(in) :: params
    type(model), target :: made
    real(c_double) :: losses(most_steps), loss
    real(c_float), allocatable :: w1(:, :, :)
    character(60) :: name
    integer :: i
    write (name, "(4(a, i0))") "tp ", params%tp, " ep ", params%ep, " pp ", params%pp, " dp ", params%dp
    call model_create(context, params, rank, made)
    do i = 1, steps
      call model_step(made, .false., losses(i))
    end do
    call read_experts(made, w1)
    call model_destroy(made)
    if (rank == 0) print "(2a, es9.2)", trim(name), ": losses differ by", maxval(abs(losses - reference) / reference)
    call check(all(abs(losses - reference) <= 1e-5 * reference), trim(name) // ": losses")
    if (any(w1 > -99)) then
      call check_close([w1], [reference_w1], 2e-5, trim(name) // ": weights of all experts")
    end if
    call model_create(context, params, rank, made)
    do i = 1, 3
      call model_step(made, .true., loss)
      call check(transfer(loss, 0_c_int64_t) == transfer(losses(i), 0_c_int64_t), &
        trim(name) // ": callbacks, same bits")
    end do
    call model_destroy(made)
  end subroutine
end program
