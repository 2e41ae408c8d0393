! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! A small model for any mesh: h = tanh(in * x), r = h + moe1(h), s = r + moe2(r), prediction = out * s, squared error.
! With two stages the second MoE layer and what follows is the second's. The global batch is `pieces`, cut over shards
! and microbatches, so that losses do not depend on the mesh.
module small_model
  use, intrinsic :: iso_c_binding, only: c_double, c_f_pointer, c_float, c_int32_t, c_ptr
  use moemesh
  implicit none
  private
  public :: compute, model, model_create, model_destroy, model_step, pieces, run_action, tokens

  integer, parameter :: pieces = 4, tokens = 6, features = 3, hidden = 8, ffn = 12

  type :: saved_microbatch
    type(moemesh_tape) :: tapes(2)
    real(c_float), allocatable :: h(:, :), r(:, :), s(:, :), prediction(:)
  end type

  type :: model
    type(moemesh_mesh) :: mesh
    type(moemesh_family) :: shared, expert
    type(moemesh_layer) :: layers(2)
    type(moemesh_parameter) :: in, out
    type(moemesh_optimizer) :: optimizer
    type(moemesh_pipeline) :: pipeline
    type(saved_microbatch), allocatable :: saved(:)
    logical :: first, last
    integer :: microbatches, shard
    real(c_double) :: loss
  end type

contains

  subroutine model_create(context, params, rank, made)
    type(moemesh_context), intent(in) :: context
    type(moemesh_mesh_params), intent(in) :: params
    integer, intent(in) :: rank
    type(model), intent(out) :: made
    type(moemesh_coordinates) :: place
    call moemesh_mesh_create(context, params, made%mesh)
    call moemesh_mesh_get_coordinates(made%mesh, rank, place)
    made%first = place%pp == 0
    made%last = place%pp == params%pp - 1
    made%shard = int(place%data_shard)
    made%microbatches = pieces / (params%dp * params%ep)
    allocate (made%saved(made%microbatches))
    call moemesh_family_create(made%mesh, moemesh_family_params(kind=MOEMESH_SHARED, seed=11), made%shared)
    call moemesh_family_create(made%mesh, moemesh_family_params(kind=MOEMESH_EXPERT, seed=11), made%expert)
    if (made%first) then
      call make_layer("moe1", made%layers(1), made)
      call moemesh_parameter_register(made%shared, weight("in", [features, hidden]), made%in)
    end if
    if (made%last) then
      call make_layer("moe2", made%layers(2), made)
      call moemesh_parameter_register(made%shared, weight("out", [hidden]), made%out)
    end if
    call moemesh_family_commit(made%shared)
    call moemesh_family_commit(made%expert)
    call moemesh_optimizer_create(made%mesh, made%shared, made%expert, &
      moemesh_optimizer_params(learning_rate=0.02_c_double, max_norm=1.0_c_double), made%optimizer)
    call moemesh_pipeline_create(made%mesh, made%optimizer, moemesh_pipeline_params(width=hidden), made%pipeline)
  end subroutine

  subroutine make_layer(name, layer, made)
    character(*), intent(in) :: name
    type(moemesh_layer), intent(inout) :: layer
    type(model), intent(in) :: made
    type(moemesh_layer_params) :: params
    params = moemesh_layer_params(name=name, hidden=hidden, ffn=ffn, experts=5, top_k=2, &
      aux_coefficient=0.01_c_double, &
      init_std_router=0.5_c_double, init_std_in=0.4_c_double, init_std_out=0.3_c_double)
    call moemesh_layer_create(made%mesh, made%shared, made%expert, params, layer)
  end subroutine

  function weight(name, extents) result(params)
    character(*), intent(in) :: name
    integer, intent(in) :: extents(:)
    type(moemesh_parameter_params) :: params
    params = moemesh_parameter_params(name=name, shape=extents, init_kind=MOEMESH_INIT_NORMAL, init_value=0.6_c_double)
  end function

  subroutine model_destroy(made)
    type(model), intent(inout) :: made
    call moemesh_pipeline_destroy(made%pipeline)
    call moemesh_optimizer_destroy(made%optimizer)
    call moemesh_layer_destroy(made%layers(1))
    call moemesh_layer_destroy(made%layers(2))
    call moemesh_family_destroy(made%expert)
    call moemesh_family_destroy(made%shared)
    call moemesh_mesh_finalize(made%mesh)
    call moemesh_mesh_destroy(made%mesh)
  end subroutine

  ! Piece 0 .. pieces-1 of the data.
  subroutine get_data(piece, x, target)
    integer, intent(in) :: piece
    real(c_float), intent(out) :: x(features, tokens), target(tokens)
    integer :: t, f
    do t = 1, tokens
      do f = 1, features
        x(f, t) = sin(1.7 * (piece * tokens + t) * f + f)
      end do
      target(t) = x(1, t) * x(2, t) + 0.3 * x(3, t)
    end do
  end subroutine

  ! One action of the pipeline. What another stage has no part in is skipped.
  subroutine compute(made, action)
    type(model), intent(inout), target :: made
    type(moemesh_pipeline_action), intent(in) :: action
    integer :: m
    m = action%microbatch
    if (action%kind == MOEMESH_ACTION_FORWARD) then
      call forward(made, made%saved(m), m, action)
    else
      call backward(made, made%saved(m), m, action)
    end if
  end subroutine

  subroutine forward(made, saved, m, action)
    type(model), intent(inout) :: made
    type(saved_microbatch), intent(inout) :: saved
    integer, intent(in) :: m
    type(moemesh_pipeline_action), intent(in) :: action
    real(c_float) :: x(features, tokens), target(tokens)
    real(c_float), pointer :: in(:, :), out(:)
    call get_data(made%shard * made%microbatches + m - 1, x, target)
    if (made%first) then
      call moemesh_parameter_acquire(made%in, in)
      saved%h = tanh(matmul(transpose(in), x))
      call moemesh_parameter_release(made%in)
      saved%r = saved%h
      call moemesh_layer_forward(made%layers(1), saved%h, saved%r, saved%tapes(1), microbatch=m)
      saved%r = saved%r + saved%h
    else
      saved%r = action%in
    end if
    if (.not. made%last) then
      action%out = saved%r
      return
    end if
    saved%s = saved%r
    call moemesh_layer_forward(made%layers(2), saved%r, saved%s, saved%tapes(2), microbatch=m)
    saved%s = saved%s + saved%r
    call moemesh_parameter_acquire(made%out, out)
    saved%prediction = matmul(out, saved%s)
    call moemesh_parameter_release(made%out)
    made%loss = made%loss + sum((saved%prediction - target)**2) / tokens
  end subroutine

  subroutine backward(made, saved, m, action)
    type(model), intent(inout) :: made
    type(saved_microbatch), intent(inout) :: saved
    integer, intent(in) :: m
    type(moemesh_pipeline_action), intent(in) :: action
    real(c_float) :: x(features, tokens), target(tokens), d(tokens)
    real(c_float) :: ds(hidden, tokens), dr(hidden, tokens), dh(hidden, tokens)
    real(c_float), pointer :: out(:)
    integer :: t
    call get_data(made%shard * made%microbatches + m - 1, x, target)
    if (made%last) then
      d = 2 * (saved%prediction - target) / tokens
      call moemesh_gradient_ready(made%out, matmul(saved%s, d))
      call moemesh_parameter_acquire(made%out, out)
      do t = 1, tokens
        ds(:, t) = out * d(t)
      end do
      call moemesh_parameter_release(made%out)
      call moemesh_layer_backward(saved%tapes(2), ds, dr, saved%r)
      dr = dr + ds
    else
      dr = action%in
    end if
    if (.not. made%first) then
      action%out = dr
      return
    end if
    call moemesh_layer_backward(saved%tapes(1), dr, dh, saved%h)
    dh = (dh + dr) * (1 - saved%h**2)
    call moemesh_gradient_ready(made%in, matmul(x, transpose(dh)))
  end subroutine

  ! For moemesh_pipeline_execute. user: the model.
  integer(c_int32_t) function run_action(user, raw) bind(c)
    type(c_ptr), value :: user
    type(moemesh_pipeline_action_c), intent(in) :: raw
    type(model), pointer :: made
    call c_f_pointer(user, made)
    call compute(made, moemesh_pipeline_action_of(raw))
    run_action = MOEMESH_OK
  end function

  ! One optimizer step; the loss is the same on every rank. by_callback: see moemesh_pipeline_execute.
  subroutine model_step(made, by_callback, loss)
    use, intrinsic :: iso_c_binding, only: c_loc
    type(model), intent(inout), target :: made
    logical, intent(in) :: by_callback
    real(c_double), intent(out) :: loss
    type(moemesh_pipeline_action) :: action
    integer :: rows(made%microbatches)
    rows = tokens
    made%loss = 0
    call moemesh_step_begin(made%optimizer, moemesh_step_params(microbatches=made%microbatches))
    if (by_callback) then
      call moemesh_pipeline_execute(made%pipeline, run_action, c_loc(made), rows=rows)
    else
      call moemesh_pipeline_begin(made%pipeline, rows=rows)
      do
        call moemesh_pipeline_next(made%pipeline, action)
        if (action%kind == MOEMESH_ACTION_END) exit
        call compute(made, action)
        call moemesh_pipeline_done(made%pipeline, MOEMESH_OK)
      end do
    end if
    call moemesh_optimizer_step(made%optimizer)
    loss = made%loss / pieces
    call moemesh_all_reduce(made%mesh, MOEMESH_GROUP_SHARED_GRADIENT, MOEMESH_SUM, loss)
    call moemesh_all_reduce(made%mesh, MOEMESH_AXIS_PP, MOEMESH_MAX, loss) ! 0 where there is no loss
  end subroutine
end module
