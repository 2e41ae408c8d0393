// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// Made from moemesh.h by bindings/rust/generate; not to be edited.

pub unsafe fn moemesh_status_name(
    status: i32,
) -> *const ::core::ffi::c_char {
    match member!(status_name) {
        Some(call) => unsafe { call(status) },
        None => missing(),
    }
}
pub unsafe fn moemesh_status_text(
    status: i32,
) -> *const ::core::ffi::c_char {
    match member!(status_text) {
        Some(call) => unsafe { call(status) },
        None => missing(),
    }
}
pub unsafe fn moemesh_version(
    major: *mut i32,
    minor: *mut i32,
    patch: *mut i32,
) -> i32 {
    match member!(version) {
        Some(call) => unsafe { call(major, minor, patch) },
        None => missing(),
    }
}
pub unsafe fn moemesh_last_error(
    context: moemesh_context,
    buffer: *mut ::core::ffi::c_char,
    capacity: i64,
    length: *mut i64,
) -> i32 {
    match member!(last_error) {
        Some(call) => unsafe { call(context, buffer, capacity, length) },
        None => missing(),
    }
}
pub unsafe fn moemesh_shutdown(
) -> i32 {
    match member!(shutdown) {
        Some(call) => unsafe { call() },
        None => missing(),
    }
}
pub unsafe fn moemesh_view_init(
    view: *mut moemesh_view,
    dtype: i32,
    rank: i32,
    extents: *const i64,
    data: *mut ::core::ffi::c_void,
) -> i32 {
    match member!(view_init) {
        Some(call) => unsafe { call(view, dtype, rank, extents, data) },
        None => missing(),
    }
}
pub unsafe fn moemesh_view_copy(
    from: *const moemesh_view,
    to: *const moemesh_view,
) -> i32 {
    match member!(view_copy) {
        Some(call) => unsafe { call(from, to) },
        None => missing(),
    }
}
pub unsafe fn moemesh_context_params_init(
    params: *mut moemesh_context_params,
    struct_size: i64,
) -> i32 {
    match member!(context_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_context_create(
    params: *const moemesh_context_params,
    context: *mut moemesh_context,
) -> i32 {
    match member!(context_create) {
        Some(call) => unsafe { call(params, context) },
        None => missing(),
    }
}
pub unsafe fn moemesh_context_get_info(
    context: moemesh_context,
    info: *mut moemesh_context_info,
) -> i32 {
    match member!(context_get_info) {
        Some(call) => unsafe { call(context, info) },
        None => missing(),
    }
}
pub unsafe fn moemesh_context_finalize(
    context: moemesh_context,
) -> i32 {
    match member!(context_finalize) {
        Some(call) => unsafe { call(context) },
        None => missing(),
    }
}
pub unsafe fn moemesh_context_destroy(
    context: *mut moemesh_context,
) {
    match member!(context_destroy) {
        Some(call) => unsafe { call(context) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_params_init(
    params: *mut moemesh_mesh_params,
    struct_size: i64,
) -> i32 {
    match member!(mesh_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_create(
    context: moemesh_context,
    params: *const moemesh_mesh_params,
    mesh: *mut moemesh_mesh,
) -> i32 {
    match member!(mesh_create) {
        Some(call) => unsafe { call(context, params, mesh) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_plan(
    context: moemesh_context,
    world: i64,
    params: *const moemesh_mesh_params,
    mesh: *mut moemesh_mesh,
) -> i32 {
    match member!(mesh_plan) {
        Some(call) => unsafe { call(context, world, params, mesh) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_get_coordinates(
    mesh: moemesh_mesh,
    rank: i64,
    coordinates: *mut moemesh_coordinates,
) -> i32 {
    match member!(mesh_get_coordinates) {
        Some(call) => unsafe { call(mesh, rank, coordinates) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_get_group(
    mesh: moemesh_mesh,
    axes: i32,
    rank: i64,
    group: *mut moemesh_group,
) -> i32 {
    match member!(mesh_get_group) {
        Some(call) => unsafe { call(mesh, axes, rank, group) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_get_group_member(
    mesh: moemesh_mesh,
    axes: i32,
    rank: i64,
    position: i64,
    member: *mut i64,
) -> i32 {
    match member!(mesh_get_group_member) {
        Some(call) => unsafe { call(mesh, axes, rank, position, member) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_get_axis_report(
    mesh: moemesh_mesh,
    axis: i32,
    report: *mut moemesh_axis_report,
) -> i32 {
    match member!(mesh_get_axis_report) {
        Some(call) => unsafe { call(mesh, axis, report) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_get_experts(
    mesh: moemesh_mesh,
    experts: i64,
    rank: i64,
    first: *mut i64,
    count: *mut i64,
) -> i32 {
    match member!(mesh_get_experts) {
        Some(call) => unsafe { call(mesh, experts, rank, first, count) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_finalize(
    mesh: moemesh_mesh,
) -> i32 {
    match member!(mesh_finalize) {
        Some(call) => unsafe { call(mesh) },
        None => missing(),
    }
}
pub unsafe fn moemesh_mesh_destroy(
    mesh: *mut moemesh_mesh,
) {
    match member!(mesh_destroy) {
        Some(call) => unsafe { call(mesh) },
        None => missing(),
    }
}
pub unsafe fn moemesh_all_reduce(
    mesh: moemesh_mesh,
    axes: i32,
    op: i32,
    array: *const moemesh_view,
) -> i32 {
    match member!(all_reduce) {
        Some(call) => unsafe { call(mesh, axes, op, array) },
        None => missing(),
    }
}
pub unsafe fn moemesh_all_gather(
    mesh: moemesh_mesh,
    axes: i32,
    send: *const moemesh_view,
    receive: *const moemesh_view,
) -> i32 {
    match member!(all_gather) {
        Some(call) => unsafe { call(mesh, axes, send, receive) },
        None => missing(),
    }
}
pub unsafe fn moemesh_reduce_scatter(
    mesh: moemesh_mesh,
    axes: i32,
    op: i32,
    send: *const moemesh_view,
    receive: *const moemesh_view,
) -> i32 {
    match member!(reduce_scatter) {
        Some(call) => unsafe { call(mesh, axes, op, send, receive) },
        None => missing(),
    }
}
pub unsafe fn moemesh_broadcast(
    mesh: moemesh_mesh,
    axes: i32,
    root: i64,
    array: *const moemesh_view,
) -> i32 {
    match member!(broadcast) {
        Some(call) => unsafe { call(mesh, axes, root, array) },
        None => missing(),
    }
}
pub unsafe fn moemesh_ledger_get_count(
    mesh: moemesh_mesh,
    count: *mut i64,
) -> i32 {
    match member!(ledger_get_count) {
        Some(call) => unsafe { call(mesh, count) },
        None => missing(),
    }
}
pub unsafe fn moemesh_ledger_get_entry(
    mesh: moemesh_mesh,
    index: i64,
    entry: *mut moemesh_ledger_entry,
) -> i32 {
    match member!(ledger_get_entry) {
        Some(call) => unsafe { call(mesh, index, entry) },
        None => missing(),
    }
}
pub unsafe fn moemesh_ledger_reset(
    mesh: moemesh_mesh,
) -> i32 {
    match member!(ledger_reset) {
        Some(call) => unsafe { call(mesh) },
        None => missing(),
    }
}
pub unsafe fn moemesh_family_params_init(
    params: *mut moemesh_family_params,
    struct_size: i64,
) -> i32 {
    match member!(family_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_family_create(
    mesh: moemesh_mesh,
    params: *const moemesh_family_params,
    family: *mut moemesh_family,
) -> i32 {
    match member!(family_create) {
        Some(call) => unsafe { call(mesh, params, family) },
        None => missing(),
    }
}
pub unsafe fn moemesh_family_destroy(
    family: *mut moemesh_family,
) {
    match member!(family_destroy) {
        Some(call) => unsafe { call(family) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameter_params_init(
    params: *mut moemesh_parameter_params,
    struct_size: i64,
) -> i32 {
    match member!(parameter_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameter_register(
    family: moemesh_family,
    params: *const moemesh_parameter_params,
    parameter: *mut moemesh_parameter,
) -> i32 {
    match member!(parameter_register) {
        Some(call) => unsafe { call(family, params, parameter) },
        None => missing(),
    }
}
pub unsafe fn moemesh_family_commit(
    family: moemesh_family,
) -> i32 {
    match member!(family_commit) {
        Some(call) => unsafe { call(family) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameter_find(
    family: moemesh_family,
    name: *const ::core::ffi::c_char,
    parameter: *mut moemesh_parameter,
) -> i32 {
    match member!(parameter_find) {
        Some(call) => unsafe { call(family, name, parameter) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameter_get_info(
    parameter: moemesh_parameter,
    info: *mut moemesh_parameter_info,
) -> i32 {
    match member!(parameter_get_info) {
        Some(call) => unsafe { call(parameter, info) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameter_acquire(
    parameter: moemesh_parameter,
    stream: *mut ::core::ffi::c_void,
    view: *mut moemesh_view,
) -> i32 {
    match member!(parameter_acquire) {
        Some(call) => unsafe { call(parameter, stream, view) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameter_release(
    parameter: moemesh_parameter,
) -> i32 {
    match member!(parameter_release) {
        Some(call) => unsafe { call(parameter) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameter_get_gradient(
    parameter: moemesh_parameter,
    view: *mut moemesh_view,
) -> i32 {
    match member!(parameter_get_gradient) {
        Some(call) => unsafe { call(parameter, view) },
        None => missing(),
    }
}
pub unsafe fn moemesh_gradient_ready(
    parameter: moemesh_parameter,
    gradient: *const moemesh_view,
    stream: *mut ::core::ffi::c_void,
) -> i32 {
    match member!(gradient_ready) {
        Some(call) => unsafe { call(parameter, gradient, stream) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameters_changed(
    family: moemesh_family,
) -> i32 {
    match member!(parameters_changed) {
        Some(call) => unsafe { call(family) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameter_read(
    parameter: moemesh_parameter,
    quantity: i32,
    expert: i64,
    array: *const moemesh_view,
) -> i32 {
    match member!(parameter_read) {
        Some(call) => unsafe { call(parameter, quantity, expert, array) },
        None => missing(),
    }
}
pub unsafe fn moemesh_parameter_write(
    parameter: moemesh_parameter,
    quantity: i32,
    expert: i64,
    array: *const moemesh_view,
) -> i32 {
    match member!(parameter_write) {
        Some(call) => unsafe { call(parameter, quantity, expert, array) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_params_init(
    params: *mut moemesh_layer_params,
    struct_size: i64,
) -> i32 {
    match member!(layer_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_create(
    mesh: moemesh_mesh,
    shared: moemesh_family,
    expert: moemesh_family,
    params: *const moemesh_layer_params,
    layer: *mut moemesh_layer,
) -> i32 {
    match member!(layer_create) {
        Some(call) => unsafe { call(mesh, shared, expert, params, layer) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_destroy(
    layer: *mut moemesh_layer,
) {
    match member!(layer_destroy) {
        Some(call) => unsafe { call(layer) },
        None => missing(),
    }
}
pub unsafe fn moemesh_forward_params_init(
    params: *mut moemesh_forward_params,
    struct_size: i64,
) -> i32 {
    match member!(forward_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_backward_params_init(
    params: *mut moemesh_backward_params,
    struct_size: i64,
) -> i32 {
    match member!(backward_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_forward(
    layer: moemesh_layer,
    params: *const moemesh_forward_params,
    tape: *mut moemesh_tape,
) -> i32 {
    match member!(layer_forward) {
        Some(call) => unsafe { call(layer, params, tape) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_backward(
    tape: *mut moemesh_tape,
    params: *const moemesh_backward_params,
) -> i32 {
    match member!(layer_backward) {
        Some(call) => unsafe { call(tape, params) },
        None => missing(),
    }
}
pub unsafe fn moemesh_replay_params_init(
    params: *mut moemesh_replay_params,
    struct_size: i64,
) -> i32 {
    match member!(replay_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_replay(
    tape: *mut moemesh_tape,
    params: *const moemesh_replay_params,
) -> i32 {
    match member!(layer_replay) {
        Some(call) => unsafe { call(tape, params) },
        None => missing(),
    }
}
pub unsafe fn moemesh_tape_get_bytes(
    tape: moemesh_tape,
    bytes: *mut moemesh_tape_bytes,
) -> i32 {
    match member!(tape_get_bytes) {
        Some(call) => unsafe { call(tape, bytes) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_plan_bytes(
    layer: moemesh_layer,
    load: *const moemesh_layer_load,
    recompute: i32,
    bytes: *mut moemesh_tape_bytes,
) -> i32 {
    match member!(layer_plan_bytes) {
        Some(call) => unsafe { call(layer, load, recompute, bytes) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_balanced_load(
    layer: moemesh_layer,
    tokens: i64,
    load: *mut moemesh_layer_load,
) -> i32 {
    match member!(layer_balanced_load) {
        Some(call) => unsafe { call(layer, tokens, load) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_get_memory(
    layer: moemesh_layer,
    memory: *mut moemesh_layer_memory,
) -> i32 {
    match member!(layer_get_memory) {
        Some(call) => unsafe { call(layer, memory) },
        None => missing(),
    }
}
pub unsafe fn moemesh_tape_destroy(
    tape: *mut moemesh_tape,
) {
    match member!(tape_destroy) {
        Some(call) => unsafe { call(tape) },
        None => missing(),
    }
}
pub unsafe fn moemesh_tape_get_routing(
    tape: moemesh_tape,
    experts: *const moemesh_view,
    gates: *const moemesh_view,
) -> i32 {
    match member!(tape_get_routing) {
        Some(call) => unsafe { call(tape, experts, gates) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_get_statistics(
    layer: moemesh_layer,
    statistics: *mut moemesh_layer_statistics,
) -> i32 {
    match member!(layer_get_statistics) {
        Some(call) => unsafe { call(layer, statistics) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_get_rows(
    layer: moemesh_layer,
    rows_per_expert: *const moemesh_view,
    rows_received: *const moemesh_view,
) -> i32 {
    match member!(layer_get_rows) {
        Some(call) => unsafe { call(layer, rows_per_expert, rows_received) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_get_bias(
    layer: moemesh_layer,
    bias: *const moemesh_view,
) -> i32 {
    match member!(layer_get_bias) {
        Some(call) => unsafe { call(layer, bias) },
        None => missing(),
    }
}
pub unsafe fn moemesh_layer_set_bias(
    layer: moemesh_layer,
    bias: *const moemesh_view,
) -> i32 {
    match member!(layer_set_bias) {
        Some(call) => unsafe { call(layer, bias) },
        None => missing(),
    }
}
pub unsafe fn moemesh_optimizer_params_init(
    params: *mut moemesh_optimizer_params,
    struct_size: i64,
) -> i32 {
    match member!(optimizer_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_optimizer_create(
    mesh: moemesh_mesh,
    shared: moemesh_family,
    expert: moemesh_family,
    params: *const moemesh_optimizer_params,
    optimizer: *mut moemesh_optimizer,
) -> i32 {
    match member!(optimizer_create) {
        Some(call) => unsafe { call(mesh, shared, expert, params, optimizer) },
        None => missing(),
    }
}
pub unsafe fn moemesh_optimizer_destroy(
    optimizer: *mut moemesh_optimizer,
) {
    match member!(optimizer_destroy) {
        Some(call) => unsafe { call(optimizer) },
        None => missing(),
    }
}
pub unsafe fn moemesh_step_params_init(
    params: *mut moemesh_step_params,
    struct_size: i64,
) -> i32 {
    match member!(step_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_step_begin(
    optimizer: moemesh_optimizer,
    params: *const moemesh_step_params,
) -> i32 {
    match member!(step_begin) {
        Some(call) => unsafe { call(optimizer, params) },
        None => missing(),
    }
}
pub unsafe fn moemesh_loss_tokens(
    optimizer: moemesh_optimizer,
    microbatch: i32,
    tokens: i64,
) -> i32 {
    match member!(loss_tokens) {
        Some(call) => unsafe { call(optimizer, microbatch, tokens) },
        None => missing(),
    }
}
pub unsafe fn moemesh_update_params_init(
    params: *mut moemesh_update_params,
    struct_size: i64,
) -> i32 {
    match member!(update_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_optimizer_step(
    optimizer: moemesh_optimizer,
    params: *const moemesh_update_params,
    result: *mut moemesh_update_result,
) -> i32 {
    match member!(optimizer_step) {
        Some(call) => unsafe { call(optimizer, params, result) },
        None => missing(),
    }
}
pub unsafe fn moemesh_step_end(
    optimizer: moemesh_optimizer,
    reduce: i32,
) -> i32 {
    match member!(step_end) {
        Some(call) => unsafe { call(optimizer, reduce) },
        None => missing(),
    }
}
pub unsafe fn moemesh_optimizer_get_bytes(
    optimizer: moemesh_optimizer,
    family: i32,
    bytes: *mut moemesh_optimizer_bytes,
) -> i32 {
    match member!(optimizer_get_bytes) {
        Some(call) => unsafe { call(optimizer, family, bytes) },
        None => missing(),
    }
}
pub unsafe fn moemesh_optimizer_get_counters(
    optimizer: moemesh_optimizer,
    counters: *mut moemesh_optimizer_counters,
) -> i32 {
    match member!(optimizer_get_counters) {
        Some(call) => unsafe { call(optimizer, counters) },
        None => missing(),
    }
}
pub unsafe fn moemesh_optimizer_set_counters(
    optimizer: moemesh_optimizer,
    counters: *const moemesh_optimizer_counters,
) -> i32 {
    match member!(optimizer_set_counters) {
        Some(call) => unsafe { call(optimizer, counters) },
        None => missing(),
    }
}
pub unsafe fn moemesh_pipeline_params_init(
    params: *mut moemesh_pipeline_params,
    struct_size: i64,
) -> i32 {
    match member!(pipeline_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_pipeline_run_init(
    run: *mut moemesh_pipeline_run,
    struct_size: i64,
) -> i32 {
    match member!(pipeline_run_init) {
        Some(call) => unsafe { call(run, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_pipeline_create(
    mesh: moemesh_mesh,
    optimizer: moemesh_optimizer,
    params: *const moemesh_pipeline_params,
    pipeline: *mut moemesh_pipeline,
) -> i32 {
    match member!(pipeline_create) {
        Some(call) => unsafe { call(mesh, optimizer, params, pipeline) },
        None => missing(),
    }
}
pub unsafe fn moemesh_pipeline_destroy(
    pipeline: *mut moemesh_pipeline,
) {
    match member!(pipeline_destroy) {
        Some(call) => unsafe { call(pipeline) },
        None => missing(),
    }
}
pub unsafe fn moemesh_pipeline_begin(
    pipeline: moemesh_pipeline,
    run: *const moemesh_pipeline_run,
) -> i32 {
    match member!(pipeline_begin) {
        Some(call) => unsafe { call(pipeline, run) },
        None => missing(),
    }
}
pub unsafe fn moemesh_pipeline_next(
    pipeline: moemesh_pipeline,
    action: *mut moemesh_pipeline_action,
) -> i32 {
    match member!(pipeline_next) {
        Some(call) => unsafe { call(pipeline, action) },
        None => missing(),
    }
}
pub unsafe fn moemesh_pipeline_done(
    pipeline: moemesh_pipeline,
    status: i32,
) -> i32 {
    match member!(pipeline_done) {
        Some(call) => unsafe { call(pipeline, status) },
        None => missing(),
    }
}
pub unsafe fn moemesh_pipeline_execute(
    pipeline: moemesh_pipeline,
    run: *const moemesh_pipeline_run,
    function: moemesh_pipeline_function,
    user: *mut ::core::ffi::c_void,
) -> i32 {
    match member!(pipeline_execute) {
        Some(call) => unsafe { call(pipeline, run, function, user) },
        None => missing(),
    }
}
pub unsafe fn moemesh_pipeline_get_info(
    pipeline: moemesh_pipeline,
    info: *mut moemesh_pipeline_info,
) -> i32 {
    match member!(pipeline_get_info) {
        Some(call) => unsafe { call(pipeline, info) },
        None => missing(),
    }
}
pub unsafe fn moemesh_bill_params_init(
    params: *mut moemesh_bill_params,
    struct_size: i64,
) -> i32 {
    match member!(bill_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_bill_create(
    mesh: moemesh_mesh,
    params: *const moemesh_bill_params,
    bill: *mut moemesh_bill,
) -> i32 {
    match member!(bill_create) {
        Some(call) => unsafe { call(mesh, params, bill) },
        None => missing(),
    }
}
pub unsafe fn moemesh_bill_destroy(
    bill: *mut moemesh_bill,
) {
    match member!(bill_destroy) {
        Some(call) => unsafe { call(bill) },
        None => missing(),
    }
}
pub unsafe fn moemesh_bill_add_layer(
    bill: moemesh_bill,
    stage: i64,
    params: *const moemesh_layer_params,
    routing: *const moemesh_bill_routing,
) -> i32 {
    match member!(bill_add_layer) {
        Some(call) => unsafe { call(bill, stage, params, routing) },
        None => missing(),
    }
}
pub unsafe fn moemesh_bill_add_parameter(
    bill: moemesh_bill,
    stage: i64,
    family: i32,
    params: *const moemesh_parameter_params,
) -> i32 {
    match member!(bill_add_parameter) {
        Some(call) => unsafe { call(bill, stage, family, params) },
        None => missing(),
    }
}
pub unsafe fn moemesh_bill_set_pipeline(
    bill: moemesh_bill,
    params: *const moemesh_pipeline_params,
) -> i32 {
    match member!(bill_set_pipeline) {
        Some(call) => unsafe { call(bill, params) },
        None => missing(),
    }
}
pub unsafe fn moemesh_bill_get_count(
    bill: moemesh_bill,
    rank: i64,
    count: *mut i64,
) -> i32 {
    match member!(bill_get_count) {
        Some(call) => unsafe { call(bill, rank, count) },
        None => missing(),
    }
}
pub unsafe fn moemesh_bill_get_entry(
    bill: moemesh_bill,
    rank: i64,
    index: i64,
    entry: *mut moemesh_ledger_entry,
) -> i32 {
    match member!(bill_get_entry) {
        Some(call) => unsafe { call(bill, rank, index, entry) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_params_init(
    params: *mut moemesh_report_params,
    struct_size: i64,
) -> i32 {
    match member!(report_params_init) {
        Some(call) => unsafe { call(params, struct_size) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_create(
    mesh: moemesh_mesh,
    params: *const moemesh_report_params,
    report: *mut moemesh_report,
) -> i32 {
    match member!(report_create) {
        Some(call) => unsafe { call(mesh, params, report) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_stop(
    report: moemesh_report,
) -> i32 {
    match member!(report_stop) {
        Some(call) => unsafe { call(report) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_destroy(
    report: *mut moemesh_report,
) {
    match member!(report_destroy) {
        Some(call) => unsafe { call(report) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_mark_begin(
    report: moemesh_report,
    name: *const ::core::ffi::c_char,
) -> i32 {
    match member!(report_mark_begin) {
        Some(call) => unsafe { call(report, name) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_mark_end(
    report: moemesh_report,
) -> i32 {
    match member!(report_mark_end) {
        Some(call) => unsafe { call(report) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_collect(
    report: moemesh_report,
) -> i32 {
    match member!(report_collect) {
        Some(call) => unsafe { call(report) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_get_summary(
    report: moemesh_report,
    summary: *mut moemesh_report_summary,
) -> i32 {
    match member!(report_get_summary) {
        Some(call) => unsafe { call(report, summary) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_get_layer(
    report: moemesh_report,
    index: i64,
    layer: *mut moemesh_report_layer,
) -> i32 {
    match member!(report_get_layer) {
        Some(call) => unsafe { call(report, index, layer) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_get_step(
    report: moemesh_report,
    index: i64,
    step: *mut moemesh_report_step,
) -> i32 {
    match member!(report_get_step) {
        Some(call) => unsafe { call(report, index, step) },
        None => missing(),
    }
}
pub unsafe fn moemesh_report_write(
    report: moemesh_report,
    output: i32,
    step: i64,
    path: *const ::core::ffi::c_char,
) -> i32 {
    match member!(report_write) {
        Some(call) => unsafe { call(report, output, step, path) },
        None => missing(),
    }
}
pub unsafe fn moemesh_runtime_get_info(
    info: *mut moemesh_runtime_info,
) -> i32 {
    match member!(runtime_get_info) {
        Some(call) => unsafe { call(info) },
        None => missing(),
    }
}
