! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! The module moemesh on one rank, without MPI. With an argument: a call without ierr fails, or a
! constructor has an argument that does not fit.
program serial
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int16, int64, int8
  use callbacks, only: count_actions, keep_log, last_log, slow_clock
  use checks
  use moemesh
  use p42, only: run_p42
  implicit none
  type(moemesh_context) :: context
  integer, parameter :: hidden = 4, ffn = 6, tokens = 5, experts = 3

  call run_statuses
  if (command_argument_count() > 0) call run_stop
  call run_params
  call run_kinds
  call run_context
  call run_p42(context)
  call run_plan
  call run_parameters
  call run_step
  call run_shapes
  call run_bfloat16
  call run_pipeline
  call run_report
  call run_bill
  call moemesh_context_finalize(context)
  call moemesh_context_destroy(context)
  call moemesh_shutdown
  call finish_checks("serial")

contains

  subroutine run_statuses
    type(moemesh_runtime_info) :: runtime
    integer :: major, minor, patch
    call check(moemesh_status_name(MOEMESH_OK) == "MOEMESH_OK", "status name")
    call check(moemesh_status_name(MOEMESH_ERROR_TIMEOUT) == "MOEMESH_ERROR_TIMEOUT", "a negative status's name")
    call check(moemesh_status_name(999) == "MOEMESH_UNKNOWN", "an unknown status's name")
    call check(moemesh_status_text(MOEMESH_OK) == "ok", "status text")
    call moemesh_version(major, minor, patch)
    call check(all([major, minor, patch] == [MOEMESH_VERSION_MAJOR, MOEMESH_VERSION_MINOR, MOEMESH_VERSION_PATCH]), &
      "the library has the version that these modules were made from")
    call moemesh_runtime_get_info(runtime)
    call check(index(runtime%library, "libmoemesh") > 0 .and. runtime%version /= "" .and. runtime%threads == 0, &
      "what is running")
  end subroutine

  ! Ends the program: what it prints is looked at from outside.
  subroutine run_stop
    type(moemesh_mesh) :: mesh
    type(moemesh_layer_params) :: layer
    type(moemesh_context_params) :: made
    type(moemesh_parameter_params) :: parameter
    character(20) :: which
    call get_command_argument(1, which)
    select case (which)
    case ("stop")
      call moemesh_mesh_plan(6, moemesh_mesh_params(ep=4), mesh)
    case ("real")
      layer = moemesh_layer_params(hidden=4.0)
    case ("text")
      layer = moemesh_layer_params(gate_scale="1")
    case ("range")
      layer = moemesh_layer_params(top_k=3000000000_int64)
    case ("flag")
      made = moemesh_context_params(mpi_init=1)
    case ("shape")
      parameter = moemesh_parameter_params(shape=[2.0, 3.0])
    case ("extent")
      parameter = moemesh_parameter_params(shape=[2_int64, -2147483649_int64])
    end select
    print "(a)", "this line is not reached"
    stop
  end subroutine

  subroutine run_params
    type(moemesh_mesh_params) :: never_filled
    type(moemesh_layer_params) :: layer
    type(moemesh_report_params) :: report
    type(moemesh_mesh) :: mesh
    integer :: ierr
    call moemesh_mesh_plan(1, never_filled, mesh, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_STRUCT, "struct_size|made without the library's defaults", &
      "parameters that were never filled")
    mesh = moemesh_mesh()
    call moemesh_mesh_plan(1, moemesh_mesh_params(struct_size=0), mesh, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_STRUCT, "an argument of another kind?", "the type's own constructor")
    layer = moemesh_layer_params(name="a", hidden=7, capacity_factor=1.25_c_double)
    call check(layer%name == "a" .and. layer%hidden == 7 .and. layer%capacity_factor == 1.25, "fields by name")
    call check(layer%activation == MOEMESH_SWIGLU .and. layer%gate_scale == 1 .and. layer%chunks == 1, "defaults")
    call moemesh_layer_params_init(layer, ierr)
    call check(ierr == 0 .and. .not. allocated(layer%name), "init forgets what was there")
    call moemesh_report_params_init(report)
    call check(report%last_step == huge(0_int64) .and. report%events == 32768, "64-bit defaults")
  end subroutine

  ! Whatever kind the arguments have, it is the library's constructor that is called.
  subroutine run_kinds
    type(moemesh_layer_params) :: layer
    type(moemesh_family_params) :: family
    type(moemesh_optimizer_params) :: optimizer
    type(moemesh_context_params) :: made
    type(moemesh_parameter_params) :: parameter
    integer(int64) :: extents(4)
    integer(int64), parameter :: large = 2_int64**40
    call moemesh_optimizer_params_init(optimizer)
    call check(optimizer%beta1 > 0 .and. optimizer%chunk_bytes > 0, "defaults that are not 0")
    optimizer = moemesh_optimizer_params(learning_rate=0.5, beta2=0.75_c_double, momentum=1, max_norm=2_int64, &
      bucket_bytes=large, overlap=1_int8, prefetch=.true._c_bool)
    call check(optimizer%learning_rate == 0.5 .and. optimizer%beta2 == 0.75_c_double, "reals of both kinds")
    call check(optimizer%momentum == 1 .and. optimizer%max_norm == 2, "integers for reals")
    call check(optimizer%bucket_bytes == large .and. optimizer%overlap == 1 .and. optimizer%prefetch, "8 and 64 bits")
    call check(optimizer%struct_size > 0 .and. optimizer%beta1 > 0 .and. optimizer%chunk_bytes > 0, "the other fields")
    family = moemesh_family_params(seed=5_c_int64_t, dtype=int(MOEMESH_FLOAT32, int64))
    call check(family%struct_size > 0 .and. family%seed == 5 .and. family%dtype == MOEMESH_FLOAT32, "a 64-bit seed")
    extents = [2, 3, 5, 7]
    layer = moemesh_layer_params(hidden=extents(4), ffn=6_int16, top_k=extents(1))
    call check(layer%struct_size > 0 .and. layer%hidden == 7 .and. layer%ffn == 6 .and. layer%top_k == 2, "16 bits")
    parameter = moemesh_parameter_params(shape=[3_c_int64_t], init_value=0.25, tp_dim=1_int64, tied=.true._c_bool)
    call check(parameter%struct_size > 0 .and. all(parameter%shape == [3]) .and. parameter%tp_dim == 1 .and. &
      parameter%tied .and. parameter%init_value == 0.25, "a 64-bit shape")
    parameter = moemesh_parameter_params(shape=extents(4:1:-2))
    call check(size(parameter%shape) == 2 .and. all(parameter%shape == [7, 3]), "a shape out of an array")
    parameter = moemesh_parameter_params(shape=[2_int8, 9_int8])
    call check(all(parameter%shape == [2, 9]), "an 8-bit shape")
    made = moemesh_context_params(timeout_seconds=90, threads=1_int64, mpi_init=.false._c_bool)
    call check(made%struct_size > 0 .and. made%timeout_seconds == 90 .and. made%threads == 1 .and. &
      .not. made%mpi_init, "context_params")
  end subroutine

  subroutine run_context
    type(moemesh_context_info) :: info
    type(moemesh_context_params) :: params
    type(moemesh_context) :: never, other
    integer, target :: logged
    integer :: ierr
    logged = 0
    call moemesh_context_get_info(never, info, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_HANDLE, "context", "a handle that was never created")
    params = moemesh_context_params(threads=1)
    params%clock = c_funloc(slow_clock)
    call moemesh_context_create(context, params)
    call moemesh_context_get_info(context, info)
    call check(info%rank == 0 .and. info%size == 1 .and. info%comm_kind == MOEMESH_COMM_NONE, "one rank")
    params = moemesh_context_params(threads=7, log_user=c_loc(logged), log_level=MOEMESH_LOG_DEBUG)
    params%log = c_funloc(keep_log)
    call moemesh_context_create(other, params)
    call check(logged > 0 .and. len(last_log) > 0, "another number of threads is logged: " // last_log)
    call moemesh_context_finalize(other)
    call moemesh_context_destroy(other)
    call check(.not. c_associated(moemesh_handle(other)), "destroy forgets the handle")
    call moemesh_context_destroy(other)
  end subroutine

  subroutine run_plan
    type(moemesh_mesh) :: mesh
    type(moemesh_coordinates) :: place
    type(moemesh_group) :: group
    type(moemesh_axis_report) :: axis
    integer :: member, first, count, ierr
    call moemesh_mesh_plan(8, moemesh_mesh_params(ep=2, pp=2, dp=2, ranks_per_node=4), mesh)
    call moemesh_mesh_get_coordinates(mesh, 5, place)
    call check(place%ep == 1 .and. place%pp == 0 .and. place%dp == 1 .and. place%data_shard == 3, &
      "coordinates of rank 5")
    call moemesh_mesh_get_group(mesh, MOEMESH_GROUP_EXPERT_GRADIENT, 1, group)
    call check(group%size == 2 .and. group%position == 0 .and. group%groups == 4 .and. group%node_crossing, "group")
    call moemesh_mesh_get_group_member(mesh, MOEMESH_GROUP_EXPERT_GRADIENT, 1, 1, member)
    call check(member == 5, "its second rank")
    call moemesh_mesh_get_axis_report(mesh, MOEMESH_AXIS_EP, axis)
    call check(axis%size == 2 .and. axis%stride == 1 .and. .not. axis%node_crossing, "axis")
    call moemesh_mesh_get_experts(mesh, 5, 0, first, count)
    call check(first == 1 .and. count == 3, "experts 1 to 3 of 5")
    call moemesh_mesh_get_experts(mesh, 5, 1, first, count)
    call check(first == 4 .and. count == 2, "experts 4 and 5 of 5")
    call moemesh_mesh_destroy(mesh)
    call moemesh_mesh_plan(6, moemesh_mesh_params(ep=4), mesh, context, ierr)
    call check_error(ierr, MOEMESH_ERROR_MESH_SIZE, "4|6", "sizes that do not factor")
    call moemesh_mesh_plan(6, moemesh_mesh_params(ep=2, dp=3, order="dp-ep-pp-tp  "), mesh)
    call moemesh_mesh_get_coordinates(mesh, 1, place)
    call check(place%dp == 1 .and. place%ep == 0, "an order, with blanks behind it")
    call moemesh_mesh_destroy(mesh)
  end subroutine

  ! A parameter of the program's own: shapes are Fortran's, whatever its extents are called in C.
  subroutine run_parameters
    type(moemesh_mesh) :: mesh
    type(moemesh_family) :: shared
    type(moemesh_parameter) :: weight, vector, lent, found
    type(moemesh_parameter_info) :: info
    type(moemesh_optimizer) :: optimizer
    type(moemesh_update_result) :: result
    type(moemesh_optimizer_bytes) :: bytes
    type(moemesh_optimizer_counters) :: counters
    real(c_float), target :: borrowed(2, 2), gradient(3, 2), read(3, 2), wrong(2, 3)
    real(c_float), pointer :: values(:, :), line(:)
    integer(c_int16_t), pointer :: halves(:, :)
    type(moemesh_view) :: view
    integer :: ierr
    borrowed = reshape([1.0, 2.0, 3.0, 4.0], [2, 2])
    call moemesh_mesh_create(context, moemesh_mesh_params(), mesh)
    call moemesh_family_create(mesh, moemesh_family_params(kind=MOEMESH_SHARED), shared)
    call moemesh_parameter_register(shared, moemesh_parameter_params(name="weight", shape=[3, 2], &
      init_value=0.5_c_double, &
      tp_kind=MOEMESH_TP_SHARDED, tp_dim=1), weight)
    call moemesh_parameter_register(shared, moemesh_parameter_params(name="vector", shape=[2]), vector)
    call moemesh_parameter_register(shared, moemesh_parameter_params(name="lent", shape=[2, 2], &
      data=c_loc(borrowed)), lent)
    call moemesh_parameter_register(shared, moemesh_parameter_params(name="bad", shape=[3, 2], &
      tp_kind=MOEMESH_TP_SHARDED, tp_dim=0), found, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "tp_dim = 0, counted from 1", "dimension 0")
    call moemesh_parameter_register(shared, moemesh_parameter_params(name="bad"), found, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "shape is not allocated", "no shape")
    call moemesh_family_commit(shared)
    call moemesh_optimizer_create(mesh, shared, moemesh_family_none(), moemesh_optimizer_params(kind=MOEMESH_SGD, &
      learning_rate=1.0_c_double), optimizer)
    call moemesh_parameter_find(shared, "weight", found)
    call moemesh_parameter_get_info(found, info)
    call check(all(info%shape == [3, 2]) .and. info%tp_dim == 1 .and. info%elements == 6, "what was registered")
    call check(info%first_expert == 0 .and. info%family == MOEMESH_SHARED, "SHARED has no experts")
    call moemesh_parameter_acquire(weight, values)
    call check(all(shape(values) == [3, 2]) .and. all(values == 0.5), "values in Fortran's shape")
    call moemesh_parameter_release(weight)
    call moemesh_parameter_acquire(vector, values, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "rank 1|rank 2", "a pointer of another rank")
    call moemesh_parameter_acquire(weight, halves, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "real(c_float)|c_int16_t", "a pointer of another type")
    call moemesh_parameter_acquire(vector, line)
    call check(size(line) == 2, "a vector")
    call moemesh_parameter_release(vector)
    call moemesh_parameter_acquire(lent, view)
    call check(c_associated(view%data, c_loc(borrowed)), "borrowed memory stays where it is")
    wrong = 0
    call moemesh_view_copy(view, moemesh_array(wrong(:, 1:2)))
    call check_close([wrong(:, 1:2)], [borrowed], 0.0, "values by a view, wherever they are")
    call moemesh_parameter_release(lent)

    call moemesh_step_begin(optimizer)
    gradient = reshape([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])
    call moemesh_gradient_ready(weight, wrong, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "gradient|gradient(2, 3)", "a gradient of another shape")
    call moemesh_gradient_ready(weight, gradient)
    call moemesh_gradient_ready(weight, gradient, ierr)
    call check_status(ierr, MOEMESH_ERROR_INVALID_STATE, "twice")
    call moemesh_parameter_get_gradient(vector, line)
    line = 7
    call moemesh_gradient_ready(vector)
    call moemesh_optimizer_step(optimizer, result=result)
    call check(abs(result%norm - sqrt(91.0 + 98.0)) < 1e-6 .and. .not. result%skipped .and. result%steps == 1, &
      "the norm")
    call moemesh_parameter_read(weight, MOEMESH_VALUE, read)
    call check_close([read], 0.5 - [gradient], 0.0, "the update")
    call moemesh_parameter_read(weight, MOEMESH_GRADIENT, read)
    call check_close([read], [gradient], 0.0, "the gradient")
    call moemesh_parameter_read(weight, MOEMESH_VALUE, wrong, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "array(2, 3)", "reading into another shape")
    call moemesh_parameter_read(weight, MOEMESH_VALUE, read, expert=1, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "of a SHARED parameter", "no expert of SHARED")
    call moemesh_parameter_read(weight, MOEMESH_MOMENT2, read, ierr=ierr)
    call check_status(ierr, MOEMESH_ERROR_NOT_FOUND, "SGD has no second moment")
    call moemesh_parameter_write(weight, MOEMESH_VALUE, gradient)
    call moemesh_parameters_changed(shared)
    call moemesh_parameter_read(weight, MOEMESH_MASTER, moemesh_array(c_loc(read), MOEMESH_FLOAT32, [3, 2]))
    call check_close([read], [gradient], 0.0, "write, and a view by pointer and shape")
    call moemesh_parameter_read(weight, MOEMESH_VALUE, moemesh_array(c_loc(read), MOEMESH_FLOAT32, [3, 2], &
      MOEMESH_MEMORY_CUDA), ierr=ierr)
    call check(ierr == MOEMESH_ERROR_NOT_SUPPORTED .or. ierr == MOEMESH_ERROR_INVALID_ARGUMENT, "device memory")
    call moemesh_parameter_read(vector, MOEMESH_VALUE, moemesh_array(borrowed(1, :)), ierr=ierr)
    call check_status(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "a view of what is not contiguous")
    call moemesh_view_copy(moemesh_array(gradient), moemesh_array(read))
    call check_close([read], [gradient], 0.0, "a copy of a view")
    call moemesh_view_copy(moemesh_array(gradient), moemesh_array(wrong), ierr)
    call check_status(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "a copy into another shape")
    call moemesh_optimizer_get_bytes(optimizer, MOEMESH_SHARED, bytes)
    call check(bytes%elements == 12 .and. bytes%actual > 0, "bytes")
    call moemesh_optimizer_get_counters(optimizer, counters)
    call check(counters%steps == 1 .and. counters%skips == 0, "counters")
    counters%steps = 41
    call moemesh_optimizer_set_counters(optimizer, counters)
    counters%steps = 0
    call moemesh_optimizer_get_counters(optimizer, counters)
    call check(counters%steps == 41, "counters set")
    call moemesh_optimizer_destroy(optimizer)
    call moemesh_family_destroy(shared)
    call moemesh_mesh_finalize(mesh)
    call moemesh_mesh_destroy(mesh)
  end subroutine

  type(moemesh_family) function moemesh_family_none()
    moemesh_family_none = moemesh_family()
  end function

  subroutine make_model(mesh, shared, expert, layer, optimizer, params, dtype)
    type(moemesh_mesh), intent(inout) :: mesh
    type(moemesh_family), intent(inout) :: shared, expert
    type(moemesh_layer), intent(inout) :: layer
    type(moemesh_optimizer), intent(inout) :: optimizer
    type(moemesh_layer_params), intent(in) :: params
    integer, intent(in) :: dtype
    call moemesh_mesh_create(context, moemesh_mesh_params(), mesh)
    call moemesh_family_create(mesh, moemesh_family_params(kind=MOEMESH_SHARED, seed=3, dtype=dtype), shared)
    call moemesh_family_create(mesh, moemesh_family_params(kind=MOEMESH_EXPERT, seed=3, dtype=dtype), expert)
    call moemesh_layer_create(mesh, shared, expert, params, layer)
    call moemesh_family_commit(shared)
    call moemesh_family_commit(expert)
    call moemesh_optimizer_create(mesh, shared, expert, moemesh_optimizer_params(), optimizer)
  end subroutine

  subroutine drop_model(mesh, shared, expert, layer, optimizer)
    type(moemesh_mesh), intent(inout) :: mesh
    type(moemesh_family), intent(inout) :: shared, expert
    type(moemesh_layer), intent(inout) :: layer
    type(moemesh_optimizer), intent(inout) :: optimizer
    call moemesh_optimizer_destroy(optimizer)
    call moemesh_layer_destroy(layer)
    call moemesh_family_destroy(expert)
    call moemesh_family_destroy(shared)
    call moemesh_mesh_finalize(mesh)
    call moemesh_mesh_destroy(mesh)
  end subroutine

  subroutine run_step
    type(moemesh_mesh) :: mesh
    type(moemesh_family) :: shared, expert
    type(moemesh_layer) :: layer
    type(moemesh_optimizer) :: optimizer
    type(moemesh_tape) :: tape
    type(moemesh_step_params) :: step
    type(moemesh_update_result) :: result
    type(moemesh_layer_statistics) :: statistics
    type(moemesh_layer_load) :: load
    type(moemesh_tape_bytes) :: bytes, planned
    type(moemesh_layer_memory) :: memory
    type(moemesh_parameter) :: w1
    type(moemesh_parameter_info) :: info
    real(c_float), pointer :: stack(:, :, :)
    real(c_float) :: x(hidden, tokens), y(hidden, tokens), again(hidden, tokens), dx(hidden, tokens), bias(experts)
    real(c_float) :: wide(2 * hidden, tokens)
    integer :: chosen(2, tokens), before(2, tokens), i, microbatch, ierr, entries
    logical :: mask(tokens)
    call make_model(mesh, shared, expert, layer, optimizer, moemesh_layer_params(name="moe", hidden=hidden, ffn=ffn, &
      experts=experts, top_k=2, recompute=MOEMESH_RECOMPUTE_FULL, init_std_router=1.0_c_double), MOEMESH_FLOAT32)
    x = reshape([(sin(real(i)), i=1, hidden * tokens)], [hidden, tokens])
    mask = .true.
    mask(4) = .false.
    step = moemesh_step_params(microbatches=2)
    call moemesh_step_begin(optimizer, step)
    do microbatch = 1, 2
      y = 0
      call moemesh_layer_forward(layer, x, y, tape, microbatch=microbatch, mask=mask)
      call moemesh_layer_replay(tape, x, again)
      call check_close([again], [y], 0.0, "replay has the forward's bits")
      call moemesh_tape_get_bytes(tape, bytes)
      call check(bytes%total > 0, "a tape's bytes")
      chosen = -1
      call moemesh_tape_get_routing(tape, chosen)
      call check(all(chosen(:, 4) == 0) .and. all(y(:, 4) == 0), "a masked token goes to expert 0: nowhere")
      call check(all(chosen(:, 1) >= 1 .and. chosen(:, 1) <= experts), "others to experts from 1")
      call moemesh_layer_backward(tape, y, dx, x)
      call check(all(dx(:, 4) == 0) .and. any(dx(:, 1) /= 0), "dx")
      call check(.not. c_associated(moemesh_handle(tape)), "the tape is given up")
    end do
    call moemesh_layer_forward(layer, x, y, tape, microbatch=0, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "microbatch 0, counted from 1", "microbatch 0")
    call moemesh_layer_get_statistics(layer, statistics)
    call check(statistics%tokens == 4 .and. statistics%rows == 8, "statistics")
    call moemesh_optimizer_step(optimizer, moemesh_update_params(learning_rate=0.01_c_double), result)
    call check(result%steps == 1 .and. result%norm > 0, "a step")
    call moemesh_layer_balanced_load(layer, 6, load)
    call check(load%tokens == 6 .and. load%rows_sent == 12, "a balanced load")
    call moemesh_layer_plan_bytes(layer, load, 0, planned)
    call check(planned%total > 0 .and. planned%hidden == 0, "planned bytes")
    call moemesh_layer_get_memory(layer, memory)
    call check(memory%tapes == 0 .and. memory%peak > 0, "memory of tapes")

    ! Sections of larger arrays are copied by the compiler: the library sees them dense.
    wide = -5
    wide(1:hidden, :) = x
    call moemesh_layer_forward(layer, wide(1:hidden, :), wide(hidden + 1:, :))
    call moemesh_layer_forward(layer, x, y)
    call check_close([wide(hidden + 1:, :)], [y], 0.0, "sections in and out")

    ! The second expert is chosen by all, once its bias is large.
    bias = [0.0, 100.0, 0.0]
    call moemesh_layer_set_bias(layer, bias)
    bias = 0
    call moemesh_layer_get_bias(layer, bias)
    call check_close(bias, [0.0, 100.0, 0.0], 0.0, "bias")
    call moemesh_step_begin(optimizer)
    call moemesh_layer_forward(layer, x, y, tape)
    before = 0
    call moemesh_tape_get_routing(tape, experts=before)
    call check(all(before(1, :) == 2), "the biased expert is number 2")
    call moemesh_tape_destroy(tape)
    call moemesh_loss_tokens(optimizer, 0, 5, ierr)
    call check(ierr /= MOEMESH_OK, "loss tokens of microbatch 0")
    call moemesh_step_end(optimizer, reduce=.true.)

    call moemesh_parameter_find(expert, "moe.w1", w1)
    call moemesh_parameter_get_info(w1, info)
    call check(all(info%shape == [hidden, ffn]) .and. info%first_expert == 1 .and. info%local_experts == experts, &
      "w1 is (hidden, ffn), its experts start at 1")
    call moemesh_parameter_acquire(w1, stack)
    call check(all(shape(stack) == [hidden, ffn, experts]), "the stack of experts")
    call moemesh_parameter_release(w1)
    call moemesh_parameter_get_gradient(w1, stack)
    call check(all(shape(stack) == [hidden, ffn, experts]), "and its gradient")
    call moemesh_ledger_get_count(mesh, entries)
    call check(entries == 0, "one rank sends nothing")
    call moemesh_ledger_reset(mesh)
    call drop_model(mesh, shared, expert, layer, optimizer)
  end subroutine

  subroutine run_shapes
    type(moemesh_mesh) :: mesh
    type(moemesh_family) :: shared, expert
    type(moemesh_layer) :: layer
    type(moemesh_optimizer) :: optimizer
    type(moemesh_tape) :: tape
    real(c_float) :: x(hidden, tokens), y(hidden, tokens), dx(hidden, tokens), logits(experts, tokens), fewer(hidden, 3)
    real(c_float) :: gates(2, tokens), biases(2), dlogits(experts, tokens)
    integer(c_int64_t) :: rows(2)
    integer :: ierr, chosen(tokens, 2)
    logical :: mask(3)
    call make_model(mesh, shared, expert, layer, optimizer, moemesh_layer_params(name="moe", hidden=hidden, ffn=ffn, &
      experts=experts, top_k=2, router=MOEMESH_ROUTER_CALLER), MOEMESH_FLOAT32)
    x = 1
    logits = 0
    mask = .true.
    call moemesh_layer_forward(layer, x, fewer, logits=logits, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "y|y(4, 3)", "y of fewer tokens")
    call moemesh_layer_forward(layer, x, y, logits=logits(:, 1:3), ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "logits|logits(3, 3)", "logits of fewer tokens")
    call moemesh_layer_forward(layer, x, y, logits=transpose(logits), ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "logits|logits(5, 3)", "logits transposed")
    call moemesh_layer_forward(layer, x, y, logits=logits, mask=mask, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "mask|mask(3)", "a short mask")
    call moemesh_layer_forward(layer, x, y, ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "logits", "no logits")
    call moemesh_step_begin(optimizer)
    call moemesh_layer_forward(layer, x, y, tape, logits=logits)
    call moemesh_tape_get_routing(tape, chosen, gates, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "experts|experts(5, 2)", "experts transposed")
    call moemesh_layer_backward(tape, y, fewer, x, dlogits, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "dx|dx(4, 3)", "dx of fewer tokens")
    call moemesh_layer_backward(tape, y, dx, fewer, dlogits, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "x|x(4, 3)", "another x")
    call moemesh_layer_backward(tape, y, dx, x, dlogits)
    call moemesh_step_end(optimizer, reduce=.false.)
    call moemesh_layer_get_rows(layer, rows, ierr=ierr)
    call check_status(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "rows of fewer experts")
    call moemesh_layer_get_bias(layer, biases, ierr)
    call check_status(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "bias of fewer experts")
    call moemesh_layer_forward(layer, x(:, 1:0), y(:, 1:0), logits=logits(:, 1:0))
    call drop_model(mesh, shared, expert, layer, optimizer)
  end subroutine

  ! 1.0 in bf16 is 3F80.
  subroutine run_bfloat16
    type(moemesh_mesh) :: mesh
    type(moemesh_family) :: shared, expert
    type(moemesh_layer) :: layer
    type(moemesh_optimizer) :: optimizer
    type(moemesh_tape) :: tape
    type(moemesh_parameter) :: w1
    integer(c_int16_t), pointer :: stack(:, :, :)
    integer(c_int16_t) :: x(2, 3), y(2, 3), dx(2, 3)
    real(c_float) :: unit(2, 2)
    call make_model(mesh, shared, expert, layer, optimizer, moemesh_layer_params(name="half", hidden=2, ffn=2, &
      experts=1, &
      top_k=1, activation=MOEMESH_IDENTITY), MOEMESH_BFLOAT16)
    unit = reshape([1.0, 0.0, 0.0, 1.0], [2, 2])
    call moemesh_parameter_find(expert, "half.w2", w1)
    call moemesh_parameter_write(w1, MOEMESH_VALUE, unit, expert=1)
    call moemesh_parameter_find(expert, "half.w1", w1)
    call moemesh_parameter_write(w1, MOEMESH_VALUE, unit, expert=1)
    call moemesh_parameter_acquire(w1, stack)
    call check(all(stack(:, 1, 1) == [int(z'3F80', c_int16_t), 0_c_int16_t]), "bf16 values")
    call moemesh_parameter_release(w1)
    x = int(z'3F80', c_int16_t)
    x(2, :) = 0
    call moemesh_step_begin(optimizer)
    call moemesh_layer_forward(layer, x, y, tape)
    call check(all(y == x), "bf16 tokens")
    call moemesh_layer_replay(tape, x, y)
    call moemesh_layer_backward(tape, x, dx, x)
    call check(all(dx == x), "and their gradient")
    call moemesh_step_end(optimizer, reduce=.false.)
    call drop_model(mesh, shared, expert, layer, optimizer)
  end subroutine

  ! One stage: rows come from nowhere and go nowhere. Between stages: ranks.f90.
  subroutine run_pipeline
    type(moemesh_mesh) :: mesh
    type(moemesh_family) :: shared, expert
    type(moemesh_layer) :: layer
    type(moemesh_optimizer) :: optimizer
    type(moemesh_pipeline) :: pipeline
    type(moemesh_pipeline_action) :: action
    type(moemesh_pipeline_info) :: info
    integer, target :: seen(2)
    integer :: ierr, kinds
    call make_model(mesh, shared, expert, layer, optimizer, moemesh_layer_params(name="moe", hidden=hidden, ffn=ffn, &
      experts=experts, top_k=1), MOEMESH_FLOAT32)
    call moemesh_pipeline_create(mesh, optimizer, moemesh_pipeline_params(width=hidden), pipeline)
    call moemesh_step_begin(optimizer, moemesh_step_params(microbatches=3))
    seen = 0
    call moemesh_pipeline_execute(pipeline, count_actions, c_loc(seen), rows=[tokens, 0, tokens])
    call check(all(seen == 6), "microbatches 1 to 3, forward and backward")
    call moemesh_step_end(optimizer, reduce=.false.)
    call moemesh_pipeline_begin(pipeline, rows=[tokens, tokens], training=.false.)
    kinds = 0
    do
      call moemesh_pipeline_next(pipeline, action)
      if (action%kind == MOEMESH_ACTION_END) exit
      kinds = kinds + action%kind * action%microbatch
      call check(action%rows == tokens .and. action%chunk == 1, "rows of an action")
      call moemesh_pipeline_done(pipeline, MOEMESH_OK)
    end do
    call check(kinds == MOEMESH_ACTION_FORWARD * 3, "forwards alone")
    call moemesh_pipeline_get_info(pipeline, info)
    call check(info%live == 0, "pipeline info")
    call moemesh_pipeline_begin(pipeline, microbatches=3, rows=[1, 2], training=.false., ierr=ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "microbatches = 3, rows has 2", "rows of other microbatches")
    call moemesh_pipeline_destroy(pipeline)
    call drop_model(mesh, shared, expert, layer, optimizer)
  end subroutine

  subroutine run_report
    type(moemesh_mesh) :: mesh
    type(moemesh_family) :: shared, expert
    type(moemesh_layer) :: layer
    type(moemesh_optimizer) :: optimizer
    type(moemesh_report) :: report
    type(moemesh_report_summary) :: summary
    type(moemesh_report_layer) :: figures
    type(moemesh_report_step) :: step
    integer :: ierr
    call make_model(mesh, shared, expert, layer, optimizer, moemesh_layer_params(name="moe", hidden=hidden, ffn=ffn, &
      experts=experts, top_k=1), MOEMESH_FLOAT32)
    call moemesh_report_create(mesh, moemesh_report_params(events=16), report)
    call moemesh_report_mark_begin(report, "mine")
    call moemesh_step_begin(optimizer)
    call moemesh_optimizer_step(optimizer)
    call moemesh_report_mark_end(report)
    call moemesh_report_collect(report)
    call moemesh_report_get_summary(report, summary)
    call check(summary%steps == 1 .and. summary%layers == 1 .and. summary%seconds > 0, "summary")
    call check(summary%wait(MOEMESH_REPORT_EXCHANGE) == 0 .and. ubound(summary%wait, 1) == MOEMESH_REPORT_CLASSES - 1, &
      "its classes")
    call moemesh_report_get_layer(report, 1, figures)
    call check(figures%name == "moe" .and. figures%late_rank == -1, "the first layer")
    call moemesh_report_get_layer(report, 0, figures, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "index = 0, counted from 1", "layer 0")
    call moemesh_report_get_step(report, 0, step)
    call check(step%seconds > 0, "the first step is step 0")
    call moemesh_report_stop(report)
    call moemesh_report_write(report, MOEMESH_REPORT_TABLE, -1, "/no/such/folder/table", ierr)
    call check_error(ierr, MOEMESH_ERROR_FILE, "/no/such/folder/table", "a file that can't be written")
    call moemesh_report_destroy(report)
    call drop_model(mesh, shared, expert, layer, optimizer)
  end subroutine

  subroutine run_bill
    type(moemesh_mesh) :: mesh
    type(moemesh_bill) :: bill
    type(moemesh_ledger_entry) :: entry, first
    integer(c_int64_t) :: copies(2, 2), wrong(2, 3)
    integer :: count, i, ierr
    copies = reshape([3_int64, 1_int64, 2_int64, 4_int64], [2, 2])
    wrong = 1
    call moemesh_mesh_plan(2, moemesh_mesh_params(ep=2), mesh)
    call moemesh_bill_create(mesh, moemesh_bill_params(tokens=4), bill)
    call moemesh_bill_add_layer(bill, 0, moemesh_layer_params(name="moe", hidden=hidden, ffn=ffn, experts=2, top_k=1), &
      mesh, copies, copies)
    call moemesh_bill_add_layer(bill, 0, moemesh_layer_params(name="other", hidden=hidden, ffn=ffn, experts=2, &
      top_k=1), &
      mesh, wrong, wrong, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "copies(2, 2)|copies(2, 3)", "a matrix of another shape")
    call moemesh_bill_add_parameter(bill, 0, MOEMESH_SHARED, moemesh_parameter_params(name="bias", shape=[7]))
    call moemesh_bill_set_pipeline(bill, moemesh_pipeline_params(width=hidden))
    call moemesh_bill_get_count(bill, 0, count)
    do i = 1, count
      call moemesh_bill_get_entry(bill, 0, i, entry)
      if (entry%collective == MOEMESH_COLLECTIVE_ALL_TO_ALL .and. entry%phase == MOEMESH_PHASE_FORWARD) first = entry
    end do
    ! Rank 0 sends copies(2, 1) = 1 to its peer: 4 floats and 8 bytes; and combines copies(1, 2) = 2 of it: 4 floats
    ! each.
    call check(first%bytes == 1 * (4 * hidden + 8) + 2 * 4 * hidden, "copies(to, from)")
    call moemesh_bill_get_entry(bill, 0, 0, entry, ierr)
    call check_error(ierr, MOEMESH_ERROR_INVALID_ARGUMENT, "index = 0, counted from 1", "entry 0")
    call moemesh_bill_destroy(bill)
    call moemesh_mesh_destroy(mesh)
  end subroutine
end program
