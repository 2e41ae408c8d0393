// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// Made from moemesh.h by bindings/rust/generate; not to be edited.

pub const MOEMESH_VERSION_MAJOR: u32 = 0;
pub const MOEMESH_VERSION_MINOR: u32 = 1;
pub const MOEMESH_VERSION_PATCH: u32 = 0;
pub const MOEMESH_ABI_VERSION: u32 = 1;
pub const MOEMESH_OK: moemesh_status = 0;
pub const MOEMESH_ERROR_INVALID_ARGUMENT: moemesh_status = 1;
pub const MOEMESH_ERROR_INVALID_HANDLE: moemesh_status = 2;
pub const MOEMESH_ERROR_INVALID_STATE: moemesh_status = 3;
pub const MOEMESH_ERROR_INVALID_STRUCT: moemesh_status = 4;
pub const MOEMESH_ERROR_UNKNOWN_OPTION: moemesh_status = 5;
pub const MOEMESH_ERROR_NOT_SUPPORTED: moemesh_status = 6;
pub const MOEMESH_ERROR_OUT_OF_MEMORY: moemesh_status = 7;
pub const MOEMESH_ERROR_MISMATCH: moemesh_status = 8;
pub const MOEMESH_ERROR_MESH_SIZE: moemesh_status = 9;
pub const MOEMESH_ERROR_NONFINITE_ROUTER: moemesh_status = 10;
pub const MOEMESH_ERROR_PEER_FAILED: moemesh_status = 11;
pub const MOEMESH_ERROR_NOT_FOUND: moemesh_status = 12;
pub const MOEMESH_ERROR_MPI_UNAVAILABLE: moemesh_status = 13;
pub const MOEMESH_ERROR_MPI_NOT_INITIALIZED: moemesh_status = 14;
pub const MOEMESH_ERROR_MPI_FINALIZED: moemesh_status = 15;
pub const MOEMESH_ERROR_MPI_KIND: moemesh_status = 16;
pub const MOEMESH_ERROR_MPI_THREAD_LEVEL: moemesh_status = 17;
pub const MOEMESH_ERROR_KOKKOS_FINALIZED: moemesh_status = 18;
pub const MOEMESH_ERROR_KOKKOS_VERSION: moemesh_status = 19;
pub const MOEMESH_ERROR_STEP_FAILED: moemesh_status = 20;
pub const MOEMESH_ERROR_FILE: moemesh_status = 21;
pub const MOEMESH_ERROR_NO_DEVICE: moemesh_status = 22;
pub const MOEMESH_ERROR_INTERNAL: moemesh_status = -1;
pub const MOEMESH_ERROR_COMMUNICATION: moemesh_status = -2;
pub const MOEMESH_ERROR_TIMEOUT: moemesh_status = -3;
pub type moemesh_status = ::core::ffi::c_int;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_context_handle {
    _unused: [u8; 0],
}
pub type moemesh_context = *mut moemesh_context_handle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_mesh_handle {
    _unused: [u8; 0],
}
pub type moemesh_mesh = *mut moemesh_mesh_handle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_family_handle {
    _unused: [u8; 0],
}
pub type moemesh_family = *mut moemesh_family_handle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_parameter_handle {
    _unused: [u8; 0],
}
pub type moemesh_parameter = *mut moemesh_parameter_handle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_layer_handle {
    _unused: [u8; 0],
}
pub type moemesh_layer = *mut moemesh_layer_handle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_tape_handle {
    _unused: [u8; 0],
}
pub type moemesh_tape = *mut moemesh_tape_handle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_optimizer_handle {
    _unused: [u8; 0],
}
pub type moemesh_optimizer = *mut moemesh_optimizer_handle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_pipeline_handle {
    _unused: [u8; 0],
}
pub type moemesh_pipeline = *mut moemesh_pipeline_handle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_bill_handle {
    _unused: [u8; 0],
}
pub type moemesh_bill = *mut moemesh_bill_handle;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_report_handle {
    _unused: [u8; 0],
}
pub type moemesh_report = *mut moemesh_report_handle;
pub const MOEMESH_FLOAT32: moemesh_dtype = 1;
pub const MOEMESH_FLOAT64: moemesh_dtype = 2;
pub const MOEMESH_BFLOAT16: moemesh_dtype = 3;
pub const MOEMESH_INT32: moemesh_dtype = 4;
pub const MOEMESH_INT64: moemesh_dtype = 5;
pub const MOEMESH_UINT8: moemesh_dtype = 6;
pub type moemesh_dtype = ::core::ffi::c_uint;
pub const MOEMESH_MEMORY_HOST: moemesh_memory = 1;
pub const MOEMESH_MEMORY_CUDA: moemesh_memory = 2;
pub type moemesh_memory = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_view {
    pub dtype: i32,
    pub memory: i32,
    pub rank: i32,
    pub reserved: i32,
    pub extents: [i64; 4usize],
    pub strides: [i64; 4usize],
    pub data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of moemesh_view"][::core::mem::size_of::<moemesh_view>() - 88usize];
    ["Alignment of moemesh_view"][::core::mem::align_of::<moemesh_view>() - 8usize];
    [
        "Offset of field: moemesh_view::dtype",
    ][::core::mem::offset_of!(moemesh_view, dtype) - 0usize];
    [
        "Offset of field: moemesh_view::memory",
    ][::core::mem::offset_of!(moemesh_view, memory) - 4usize];
    [
        "Offset of field: moemesh_view::rank",
    ][::core::mem::offset_of!(moemesh_view, rank) - 8usize];
    [
        "Offset of field: moemesh_view::reserved",
    ][::core::mem::offset_of!(moemesh_view, reserved) - 12usize];
    [
        "Offset of field: moemesh_view::extents",
    ][::core::mem::offset_of!(moemesh_view, extents) - 16usize];
    [
        "Offset of field: moemesh_view::strides",
    ][::core::mem::offset_of!(moemesh_view, strides) - 48usize];
    [
        "Offset of field: moemesh_view::data",
    ][::core::mem::offset_of!(moemesh_view, data) - 80usize];
};
pub const MOEMESH_COMM_NONE: moemesh_comm_kind = 0;
pub const MOEMESH_COMM_OPENMPI: moemesh_comm_kind = 1;
pub const MOEMESH_COMM_MPICH_ABI: moemesh_comm_kind = 2;
pub const MOEMESH_COMM_MPI_ABI: moemesh_comm_kind = 3;
pub const MOEMESH_COMM_MPI_WORLD: moemesh_comm_kind = 4;
pub const MOEMESH_COMM_NCCL: moemesh_comm_kind = 5;
pub type moemesh_comm_kind = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_nccl_comm {
    pub struct_size: i64,
    pub rank: i64,
    pub size: i64,
    pub id: [i64; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_nccl_comm",
    ][::core::mem::size_of::<moemesh_nccl_comm>() - 152usize];
    [
        "Alignment of moemesh_nccl_comm",
    ][::core::mem::align_of::<moemesh_nccl_comm>() - 8usize];
    [
        "Offset of field: moemesh_nccl_comm::struct_size",
    ][::core::mem::offset_of!(moemesh_nccl_comm, struct_size) - 0usize];
    [
        "Offset of field: moemesh_nccl_comm::rank",
    ][::core::mem::offset_of!(moemesh_nccl_comm, rank) - 8usize];
    [
        "Offset of field: moemesh_nccl_comm::size",
    ][::core::mem::offset_of!(moemesh_nccl_comm, size) - 16usize];
    [
        "Offset of field: moemesh_nccl_comm::id",
    ][::core::mem::offset_of!(moemesh_nccl_comm, id) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_comm {
    pub handle: i64,
    pub kind: i32,
    pub reserved: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of moemesh_comm"][::core::mem::size_of::<moemesh_comm>() - 16usize];
    ["Alignment of moemesh_comm"][::core::mem::align_of::<moemesh_comm>() - 8usize];
    [
        "Offset of field: moemesh_comm::handle",
    ][::core::mem::offset_of!(moemesh_comm, handle) - 0usize];
    [
        "Offset of field: moemesh_comm::kind",
    ][::core::mem::offset_of!(moemesh_comm, kind) - 8usize];
    [
        "Offset of field: moemesh_comm::reserved",
    ][::core::mem::offset_of!(moemesh_comm, reserved) - 12usize];
};
pub const MOEMESH_LOG_ERROR: moemesh_log_level = 1;
pub const MOEMESH_LOG_WARNING: moemesh_log_level = 2;
pub const MOEMESH_LOG_INFO: moemesh_log_level = 3;
pub const MOEMESH_LOG_DEBUG: moemesh_log_level = 4;
pub type moemesh_log_level = ::core::ffi::c_uint;
pub type moemesh_log_function = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        level: i32,
        message: *const ::core::ffi::c_char,
    ),
>;
pub type moemesh_allocate_function = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        bytes: i64,
        alignment: i64,
    ) -> *mut ::core::ffi::c_void,
>;
pub type moemesh_free_function = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        pointer: *mut ::core::ffi::c_void,
        bytes: i64,
    ),
>;
pub type moemesh_clock_function = ::core::option::Option<
    unsafe extern "C" fn(user: *mut ::core::ffi::c_void) -> i64,
>;
pub const MOEMESH_PROGRESS_AUTO: moemesh_progress = 0;
pub const MOEMESH_PROGRESS_THREAD: moemesh_progress = 1;
pub const MOEMESH_PROGRESS_CALLS: moemesh_progress = 2;
pub type moemesh_progress = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_context_params {
    pub struct_size: i64,
    pub comm: moemesh_comm,
    pub log: moemesh_log_function,
    pub log_user: *mut ::core::ffi::c_void,
    pub allocate: moemesh_allocate_function,
    pub free: moemesh_free_function,
    pub allocator_user: *mut ::core::ffi::c_void,
    pub clock: moemesh_clock_function,
    pub clock_user: *mut ::core::ffi::c_void,
    pub timeout_seconds: f64,
    pub log_level: i32,
    pub mpi_init: i32,
    pub threads: i32,
    pub progress: i32,
    pub device: i32,
    pub reserved: i32,
    pub deterministic: i32,
    pub reserved2: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_context_params",
    ][::core::mem::size_of::<moemesh_context_params>() - 120usize];
    [
        "Alignment of moemesh_context_params",
    ][::core::mem::align_of::<moemesh_context_params>() - 8usize];
    [
        "Offset of field: moemesh_context_params::struct_size",
    ][::core::mem::offset_of!(moemesh_context_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_context_params::comm",
    ][::core::mem::offset_of!(moemesh_context_params, comm) - 8usize];
    [
        "Offset of field: moemesh_context_params::log",
    ][::core::mem::offset_of!(moemesh_context_params, log) - 24usize];
    [
        "Offset of field: moemesh_context_params::log_user",
    ][::core::mem::offset_of!(moemesh_context_params, log_user) - 32usize];
    [
        "Offset of field: moemesh_context_params::allocate",
    ][::core::mem::offset_of!(moemesh_context_params, allocate) - 40usize];
    [
        "Offset of field: moemesh_context_params::free",
    ][::core::mem::offset_of!(moemesh_context_params, free) - 48usize];
    [
        "Offset of field: moemesh_context_params::allocator_user",
    ][::core::mem::offset_of!(moemesh_context_params, allocator_user) - 56usize];
    [
        "Offset of field: moemesh_context_params::clock",
    ][::core::mem::offset_of!(moemesh_context_params, clock) - 64usize];
    [
        "Offset of field: moemesh_context_params::clock_user",
    ][::core::mem::offset_of!(moemesh_context_params, clock_user) - 72usize];
    [
        "Offset of field: moemesh_context_params::timeout_seconds",
    ][::core::mem::offset_of!(moemesh_context_params, timeout_seconds) - 80usize];
    [
        "Offset of field: moemesh_context_params::log_level",
    ][::core::mem::offset_of!(moemesh_context_params, log_level) - 88usize];
    [
        "Offset of field: moemesh_context_params::mpi_init",
    ][::core::mem::offset_of!(moemesh_context_params, mpi_init) - 92usize];
    [
        "Offset of field: moemesh_context_params::threads",
    ][::core::mem::offset_of!(moemesh_context_params, threads) - 96usize];
    [
        "Offset of field: moemesh_context_params::progress",
    ][::core::mem::offset_of!(moemesh_context_params, progress) - 100usize];
    [
        "Offset of field: moemesh_context_params::device",
    ][::core::mem::offset_of!(moemesh_context_params, device) - 104usize];
    [
        "Offset of field: moemesh_context_params::reserved",
    ][::core::mem::offset_of!(moemesh_context_params, reserved) - 108usize];
    [
        "Offset of field: moemesh_context_params::deterministic",
    ][::core::mem::offset_of!(moemesh_context_params, deterministic) - 112usize];
    [
        "Offset of field: moemesh_context_params::reserved2",
    ][::core::mem::offset_of!(moemesh_context_params, reserved2) - 116usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_context_info {
    pub struct_size: i64,
    pub rank: i64,
    pub size: i64,
    pub node: i64,
    pub nodes: i64,
    pub comm_kind: i32,
    pub threads: i32,
    pub progress: i32,
    pub memory: i32,
    pub device: i32,
    pub reserved: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_context_info",
    ][::core::mem::size_of::<moemesh_context_info>() - 64usize];
    [
        "Alignment of moemesh_context_info",
    ][::core::mem::align_of::<moemesh_context_info>() - 8usize];
    [
        "Offset of field: moemesh_context_info::struct_size",
    ][::core::mem::offset_of!(moemesh_context_info, struct_size) - 0usize];
    [
        "Offset of field: moemesh_context_info::rank",
    ][::core::mem::offset_of!(moemesh_context_info, rank) - 8usize];
    [
        "Offset of field: moemesh_context_info::size",
    ][::core::mem::offset_of!(moemesh_context_info, size) - 16usize];
    [
        "Offset of field: moemesh_context_info::node",
    ][::core::mem::offset_of!(moemesh_context_info, node) - 24usize];
    [
        "Offset of field: moemesh_context_info::nodes",
    ][::core::mem::offset_of!(moemesh_context_info, nodes) - 32usize];
    [
        "Offset of field: moemesh_context_info::comm_kind",
    ][::core::mem::offset_of!(moemesh_context_info, comm_kind) - 40usize];
    [
        "Offset of field: moemesh_context_info::threads",
    ][::core::mem::offset_of!(moemesh_context_info, threads) - 44usize];
    [
        "Offset of field: moemesh_context_info::progress",
    ][::core::mem::offset_of!(moemesh_context_info, progress) - 48usize];
    [
        "Offset of field: moemesh_context_info::memory",
    ][::core::mem::offset_of!(moemesh_context_info, memory) - 52usize];
    [
        "Offset of field: moemesh_context_info::device",
    ][::core::mem::offset_of!(moemesh_context_info, device) - 56usize];
    [
        "Offset of field: moemesh_context_info::reserved",
    ][::core::mem::offset_of!(moemesh_context_info, reserved) - 60usize];
};
pub const MOEMESH_AXIS_TP: _bindgen_ty_1 = 1;
pub const MOEMESH_AXIS_EP: _bindgen_ty_1 = 2;
pub const MOEMESH_AXIS_PP: _bindgen_ty_1 = 4;
pub const MOEMESH_AXIS_DP: _bindgen_ty_1 = 8;
pub const MOEMESH_AXIS_EXPERT_TP: _bindgen_ty_1 = 16;
pub const MOEMESH_AXIS_EXPERT_EP: _bindgen_ty_1 = 32;
pub const MOEMESH_AXIS_EXPERT_DP: _bindgen_ty_1 = 64;
pub const MOEMESH_GROUP_WORLD: _bindgen_ty_1 = 15;
pub const MOEMESH_GROUP_STAGE: _bindgen_ty_1 = 11;
pub const MOEMESH_GROUP_SHARED_GRADIENT: _bindgen_ty_1 = 10;
pub const MOEMESH_GROUP_EXPERT_GRADIENT: _bindgen_ty_1 = 64;
pub const MOEMESH_GROUP_EXPERT_EXCHANGE: _bindgen_ty_1 = 32;
pub type _bindgen_ty_1 = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_mesh_params {
    pub struct_size: i64,
    pub tp: i32,
    pub ep: i32,
    pub pp: i32,
    pub dp: i32,
    pub expert_tp: i32,
    pub ranks_per_node: i32,
    pub order: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_mesh_params",
    ][::core::mem::size_of::<moemesh_mesh_params>() - 40usize];
    [
        "Alignment of moemesh_mesh_params",
    ][::core::mem::align_of::<moemesh_mesh_params>() - 8usize];
    [
        "Offset of field: moemesh_mesh_params::struct_size",
    ][::core::mem::offset_of!(moemesh_mesh_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_mesh_params::tp",
    ][::core::mem::offset_of!(moemesh_mesh_params, tp) - 8usize];
    [
        "Offset of field: moemesh_mesh_params::ep",
    ][::core::mem::offset_of!(moemesh_mesh_params, ep) - 12usize];
    [
        "Offset of field: moemesh_mesh_params::pp",
    ][::core::mem::offset_of!(moemesh_mesh_params, pp) - 16usize];
    [
        "Offset of field: moemesh_mesh_params::dp",
    ][::core::mem::offset_of!(moemesh_mesh_params, dp) - 20usize];
    [
        "Offset of field: moemesh_mesh_params::expert_tp",
    ][::core::mem::offset_of!(moemesh_mesh_params, expert_tp) - 24usize];
    [
        "Offset of field: moemesh_mesh_params::ranks_per_node",
    ][::core::mem::offset_of!(moemesh_mesh_params, ranks_per_node) - 28usize];
    [
        "Offset of field: moemesh_mesh_params::order",
    ][::core::mem::offset_of!(moemesh_mesh_params, order) - 32usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_coordinates {
    pub struct_size: i64,
    pub tp: i64,
    pub ep: i64,
    pub pp: i64,
    pub dp: i64,
    pub expert_tp: i64,
    pub expert_ep: i64,
    pub expert_dp: i64,
    pub data_shard: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_coordinates",
    ][::core::mem::size_of::<moemesh_coordinates>() - 72usize];
    [
        "Alignment of moemesh_coordinates",
    ][::core::mem::align_of::<moemesh_coordinates>() - 8usize];
    [
        "Offset of field: moemesh_coordinates::struct_size",
    ][::core::mem::offset_of!(moemesh_coordinates, struct_size) - 0usize];
    [
        "Offset of field: moemesh_coordinates::tp",
    ][::core::mem::offset_of!(moemesh_coordinates, tp) - 8usize];
    [
        "Offset of field: moemesh_coordinates::ep",
    ][::core::mem::offset_of!(moemesh_coordinates, ep) - 16usize];
    [
        "Offset of field: moemesh_coordinates::pp",
    ][::core::mem::offset_of!(moemesh_coordinates, pp) - 24usize];
    [
        "Offset of field: moemesh_coordinates::dp",
    ][::core::mem::offset_of!(moemesh_coordinates, dp) - 32usize];
    [
        "Offset of field: moemesh_coordinates::expert_tp",
    ][::core::mem::offset_of!(moemesh_coordinates, expert_tp) - 40usize];
    [
        "Offset of field: moemesh_coordinates::expert_ep",
    ][::core::mem::offset_of!(moemesh_coordinates, expert_ep) - 48usize];
    [
        "Offset of field: moemesh_coordinates::expert_dp",
    ][::core::mem::offset_of!(moemesh_coordinates, expert_dp) - 56usize];
    [
        "Offset of field: moemesh_coordinates::data_shard",
    ][::core::mem::offset_of!(moemesh_coordinates, data_shard) - 64usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_group {
    pub struct_size: i64,
    pub size: i64,
    pub position: i64,
    pub groups: i64,
    pub node_crossing: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of moemesh_group"][::core::mem::size_of::<moemesh_group>() - 40usize];
    ["Alignment of moemesh_group"][::core::mem::align_of::<moemesh_group>() - 8usize];
    [
        "Offset of field: moemesh_group::struct_size",
    ][::core::mem::offset_of!(moemesh_group, struct_size) - 0usize];
    [
        "Offset of field: moemesh_group::size",
    ][::core::mem::offset_of!(moemesh_group, size) - 8usize];
    [
        "Offset of field: moemesh_group::position",
    ][::core::mem::offset_of!(moemesh_group, position) - 16usize];
    [
        "Offset of field: moemesh_group::groups",
    ][::core::mem::offset_of!(moemesh_group, groups) - 24usize];
    [
        "Offset of field: moemesh_group::node_crossing",
    ][::core::mem::offset_of!(moemesh_group, node_crossing) - 32usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_axis_report {
    pub struct_size: i64,
    pub size: i64,
    pub stride: i64,
    pub node_crossing: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_axis_report",
    ][::core::mem::size_of::<moemesh_axis_report>() - 32usize];
    [
        "Alignment of moemesh_axis_report",
    ][::core::mem::align_of::<moemesh_axis_report>() - 8usize];
    [
        "Offset of field: moemesh_axis_report::struct_size",
    ][::core::mem::offset_of!(moemesh_axis_report, struct_size) - 0usize];
    [
        "Offset of field: moemesh_axis_report::size",
    ][::core::mem::offset_of!(moemesh_axis_report, size) - 8usize];
    [
        "Offset of field: moemesh_axis_report::stride",
    ][::core::mem::offset_of!(moemesh_axis_report, stride) - 16usize];
    [
        "Offset of field: moemesh_axis_report::node_crossing",
    ][::core::mem::offset_of!(moemesh_axis_report, node_crossing) - 24usize];
};
pub const MOEMESH_SUM: moemesh_reduce_op = 1;
pub const MOEMESH_MAX: moemesh_reduce_op = 2;
pub type moemesh_reduce_op = ::core::ffi::c_uint;
pub const MOEMESH_COLLECTIVE_ALL_TO_ALL: moemesh_collective = 1;
pub const MOEMESH_COLLECTIVE_COUNT_EXCHANGE: moemesh_collective = 2;
pub const MOEMESH_COLLECTIVE_ALL_REDUCE: moemesh_collective = 3;
pub const MOEMESH_COLLECTIVE_ALL_GATHER: moemesh_collective = 4;
pub const MOEMESH_COLLECTIVE_REDUCE_SCATTER: moemesh_collective = 5;
pub const MOEMESH_COLLECTIVE_BROADCAST: moemesh_collective = 6;
pub const MOEMESH_COLLECTIVE_AGREEMENT: moemesh_collective = 7;
pub const MOEMESH_COLLECTIVE_PIPELINE: moemesh_collective = 8;
pub const MOEMESH_COLLECTIVE_CLOCK: moemesh_collective = 9;
pub type moemesh_collective = ::core::ffi::c_uint;
pub const MOEMESH_PHASE_SETUP: moemesh_phase = 1;
pub const MOEMESH_PHASE_FORWARD: moemesh_phase = 2;
pub const MOEMESH_PHASE_BACKWARD: moemesh_phase = 3;
pub const MOEMESH_PHASE_REDUCTION: moemesh_phase = 4;
pub const MOEMESH_PHASE_UPDATE: moemesh_phase = 5;
pub const MOEMESH_PHASE_CALLER: moemesh_phase = 6;
pub const MOEMESH_PHASE_RECOMPUTE: moemesh_phase = 7;
pub type moemesh_phase = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_ledger_entry {
    pub struct_size: i64,
    pub calls: i64,
    pub messages: i64,
    pub bytes: i64,
    pub bytes_internode: i64,
    pub axes: i32,
    pub family: i32,
    pub phase: i32,
    pub collective: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_ledger_entry",
    ][::core::mem::size_of::<moemesh_ledger_entry>() - 56usize];
    [
        "Alignment of moemesh_ledger_entry",
    ][::core::mem::align_of::<moemesh_ledger_entry>() - 8usize];
    [
        "Offset of field: moemesh_ledger_entry::struct_size",
    ][::core::mem::offset_of!(moemesh_ledger_entry, struct_size) - 0usize];
    [
        "Offset of field: moemesh_ledger_entry::calls",
    ][::core::mem::offset_of!(moemesh_ledger_entry, calls) - 8usize];
    [
        "Offset of field: moemesh_ledger_entry::messages",
    ][::core::mem::offset_of!(moemesh_ledger_entry, messages) - 16usize];
    [
        "Offset of field: moemesh_ledger_entry::bytes",
    ][::core::mem::offset_of!(moemesh_ledger_entry, bytes) - 24usize];
    [
        "Offset of field: moemesh_ledger_entry::bytes_internode",
    ][::core::mem::offset_of!(moemesh_ledger_entry, bytes_internode) - 32usize];
    [
        "Offset of field: moemesh_ledger_entry::axes",
    ][::core::mem::offset_of!(moemesh_ledger_entry, axes) - 40usize];
    [
        "Offset of field: moemesh_ledger_entry::family",
    ][::core::mem::offset_of!(moemesh_ledger_entry, family) - 44usize];
    [
        "Offset of field: moemesh_ledger_entry::phase",
    ][::core::mem::offset_of!(moemesh_ledger_entry, phase) - 48usize];
    [
        "Offset of field: moemesh_ledger_entry::collective",
    ][::core::mem::offset_of!(moemesh_ledger_entry, collective) - 52usize];
};
pub const MOEMESH_SHARED: moemesh_family_kind = 1;
pub const MOEMESH_EXPERT: moemesh_family_kind = 2;
pub type moemesh_family_kind = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_family_params {
    pub struct_size: i64,
    pub seed: i64,
    pub kind: i32,
    pub dtype: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_family_params",
    ][::core::mem::size_of::<moemesh_family_params>() - 24usize];
    [
        "Alignment of moemesh_family_params",
    ][::core::mem::align_of::<moemesh_family_params>() - 8usize];
    [
        "Offset of field: moemesh_family_params::struct_size",
    ][::core::mem::offset_of!(moemesh_family_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_family_params::seed",
    ][::core::mem::offset_of!(moemesh_family_params, seed) - 8usize];
    [
        "Offset of field: moemesh_family_params::kind",
    ][::core::mem::offset_of!(moemesh_family_params, kind) - 16usize];
    [
        "Offset of field: moemesh_family_params::dtype",
    ][::core::mem::offset_of!(moemesh_family_params, dtype) - 20usize];
};
pub const MOEMESH_TP_REPLICA: moemesh_tp_kind = 1;
pub const MOEMESH_TP_SHARDED: moemesh_tp_kind = 2;
pub const MOEMESH_TP_PARTIAL: moemesh_tp_kind = 3;
pub type moemesh_tp_kind = ::core::ffi::c_uint;
pub const MOEMESH_INIT_CONSTANT: moemesh_init_kind = 1;
pub const MOEMESH_INIT_NORMAL: moemesh_init_kind = 2;
pub const MOEMESH_INIT_UNIFORM: moemesh_init_kind = 3;
pub type moemesh_init_kind = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_parameter_params {
    pub struct_size: i64,
    pub name: *const ::core::ffi::c_char,
    pub experts: i64,
    pub extents: [i64; 4usize],
    pub data: *mut ::core::ffi::c_void,
    pub gradient: *mut ::core::ffi::c_void,
    pub init_value: f64,
    pub decay_scale: f64,
    pub learning_rate_scale: f64,
    pub rank: i32,
    pub dtype: i32,
    pub tp_kind: i32,
    pub tp_dim: i32,
    pub init_kind: i32,
    pub tied: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_parameter_params",
    ][::core::mem::size_of::<moemesh_parameter_params>() - 120usize];
    [
        "Alignment of moemesh_parameter_params",
    ][::core::mem::align_of::<moemesh_parameter_params>() - 8usize];
    [
        "Offset of field: moemesh_parameter_params::struct_size",
    ][::core::mem::offset_of!(moemesh_parameter_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_parameter_params::name",
    ][::core::mem::offset_of!(moemesh_parameter_params, name) - 8usize];
    [
        "Offset of field: moemesh_parameter_params::experts",
    ][::core::mem::offset_of!(moemesh_parameter_params, experts) - 16usize];
    [
        "Offset of field: moemesh_parameter_params::extents",
    ][::core::mem::offset_of!(moemesh_parameter_params, extents) - 24usize];
    [
        "Offset of field: moemesh_parameter_params::data",
    ][::core::mem::offset_of!(moemesh_parameter_params, data) - 56usize];
    [
        "Offset of field: moemesh_parameter_params::gradient",
    ][::core::mem::offset_of!(moemesh_parameter_params, gradient) - 64usize];
    [
        "Offset of field: moemesh_parameter_params::init_value",
    ][::core::mem::offset_of!(moemesh_parameter_params, init_value) - 72usize];
    [
        "Offset of field: moemesh_parameter_params::decay_scale",
    ][::core::mem::offset_of!(moemesh_parameter_params, decay_scale) - 80usize];
    [
        "Offset of field: moemesh_parameter_params::learning_rate_scale",
    ][::core::mem::offset_of!(moemesh_parameter_params, learning_rate_scale) - 88usize];
    [
        "Offset of field: moemesh_parameter_params::rank",
    ][::core::mem::offset_of!(moemesh_parameter_params, rank) - 96usize];
    [
        "Offset of field: moemesh_parameter_params::dtype",
    ][::core::mem::offset_of!(moemesh_parameter_params, dtype) - 100usize];
    [
        "Offset of field: moemesh_parameter_params::tp_kind",
    ][::core::mem::offset_of!(moemesh_parameter_params, tp_kind) - 104usize];
    [
        "Offset of field: moemesh_parameter_params::tp_dim",
    ][::core::mem::offset_of!(moemesh_parameter_params, tp_dim) - 108usize];
    [
        "Offset of field: moemesh_parameter_params::init_kind",
    ][::core::mem::offset_of!(moemesh_parameter_params, init_kind) - 112usize];
    [
        "Offset of field: moemesh_parameter_params::tied",
    ][::core::mem::offset_of!(moemesh_parameter_params, tied) - 116usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_parameter_info {
    pub struct_size: i64,
    pub experts: i64,
    pub first_expert: i64,
    pub local_experts: i64,
    pub elements: i64,
    pub extents: [i64; 4usize],
    pub rank: i32,
    pub family: i32,
    pub tp_kind: i32,
    pub tp_dim: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_parameter_info",
    ][::core::mem::size_of::<moemesh_parameter_info>() - 88usize];
    [
        "Alignment of moemesh_parameter_info",
    ][::core::mem::align_of::<moemesh_parameter_info>() - 8usize];
    [
        "Offset of field: moemesh_parameter_info::struct_size",
    ][::core::mem::offset_of!(moemesh_parameter_info, struct_size) - 0usize];
    [
        "Offset of field: moemesh_parameter_info::experts",
    ][::core::mem::offset_of!(moemesh_parameter_info, experts) - 8usize];
    [
        "Offset of field: moemesh_parameter_info::first_expert",
    ][::core::mem::offset_of!(moemesh_parameter_info, first_expert) - 16usize];
    [
        "Offset of field: moemesh_parameter_info::local_experts",
    ][::core::mem::offset_of!(moemesh_parameter_info, local_experts) - 24usize];
    [
        "Offset of field: moemesh_parameter_info::elements",
    ][::core::mem::offset_of!(moemesh_parameter_info, elements) - 32usize];
    [
        "Offset of field: moemesh_parameter_info::extents",
    ][::core::mem::offset_of!(moemesh_parameter_info, extents) - 40usize];
    [
        "Offset of field: moemesh_parameter_info::rank",
    ][::core::mem::offset_of!(moemesh_parameter_info, rank) - 72usize];
    [
        "Offset of field: moemesh_parameter_info::family",
    ][::core::mem::offset_of!(moemesh_parameter_info, family) - 76usize];
    [
        "Offset of field: moemesh_parameter_info::tp_kind",
    ][::core::mem::offset_of!(moemesh_parameter_info, tp_kind) - 80usize];
    [
        "Offset of field: moemesh_parameter_info::tp_dim",
    ][::core::mem::offset_of!(moemesh_parameter_info, tp_dim) - 84usize];
};
pub const MOEMESH_VALUE: moemesh_quantity = 1;
pub const MOEMESH_GRADIENT: moemesh_quantity = 2;
pub const MOEMESH_MASTER: moemesh_quantity = 3;
pub const MOEMESH_MOMENT1: moemesh_quantity = 4;
pub const MOEMESH_MOMENT2: moemesh_quantity = 5;
pub type moemesh_quantity = ::core::ffi::c_uint;
pub const MOEMESH_SCORE_SOFTMAX: moemesh_score = 1;
pub const MOEMESH_SCORE_SIGMOID: moemesh_score = 2;
pub type moemesh_score = ::core::ffi::c_uint;
pub const MOEMESH_GATE_RAW: moemesh_gate = 1;
pub const MOEMESH_GATE_RENORM: moemesh_gate = 2;
pub const MOEMESH_GATE_SOFTMAX_TOPK: moemesh_gate = 3;
pub type moemesh_gate = ::core::ffi::c_uint;
pub const MOEMESH_IDENTITY: moemesh_activation = 1;
pub const MOEMESH_RELU: moemesh_activation = 2;
pub const MOEMESH_GELU_TANH: moemesh_activation = 3;
pub const MOEMESH_GELU_ERF: moemesh_activation = 4;
pub const MOEMESH_SILU: moemesh_activation = 5;
pub const MOEMESH_SWIGLU: moemesh_activation = 6;
pub const MOEMESH_GEGLU: moemesh_activation = 7;
pub type moemesh_activation = ::core::ffi::c_uint;
pub const MOEMESH_ROUTER_LINEAR: moemesh_router_kind = 1;
pub const MOEMESH_ROUTER_CALLER: moemesh_router_kind = 2;
pub type moemesh_router_kind = ::core::ffi::c_uint;
pub const MOEMESH_NONFINITE_ERROR: moemesh_nonfinite = 1;
pub const MOEMESH_NONFINITE_DROP: moemesh_nonfinite = 2;
pub type moemesh_nonfinite = ::core::ffi::c_uint;
pub const MOEMESH_DROP_BY_POSITION: moemesh_drop = 1;
pub const MOEMESH_DROP_BY_GATE: moemesh_drop = 2;
pub type moemesh_drop = ::core::ffi::c_uint;
pub const MOEMESH_AUX_SHARD: moemesh_aux_scope = 1;
pub const MOEMESH_AUX_SEQUENCE: moemesh_aux_scope = 2;
pub const MOEMESH_AUX_GLOBAL: moemesh_aux_scope = 3;
pub type moemesh_aux_scope = ::core::ffi::c_uint;
pub const MOEMESH_SEQUENCE_MAJOR: moemesh_sequence_layout = 1;
pub const MOEMESH_POSITION_MAJOR: moemesh_sequence_layout = 2;
pub type moemesh_sequence_layout = ::core::ffi::c_uint;
pub const MOEMESH_RECOMPUTE_NONE: moemesh_recompute = 1;
pub const MOEMESH_RECOMPUTE_SELECTIVE: moemesh_recompute = 2;
pub const MOEMESH_RECOMPUTE_FULL: moemesh_recompute = 3;
pub type moemesh_recompute = ::core::ffi::c_uint;
pub const MOEMESH_PRODUCTS_FAST: moemesh_products = 1;
pub const MOEMESH_PRODUCTS_ROW_STABLE: moemesh_products = 2;
pub type moemesh_products = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_layer_params {
    pub struct_size: i64,
    pub name: *const ::core::ffi::c_char,
    pub hidden: i64,
    pub ffn: i64,
    pub experts: i64,
    pub shared_ffn: i64,
    pub gate_scale: f64,
    pub init_std_router: f64,
    pub init_std_in: f64,
    pub init_std_out: f64,
    pub capacity_factor: f64,
    pub aux_coefficient: f64,
    pub z_coefficient: f64,
    pub bias_rate: f64,
    pub top_k: i32,
    pub activation: i32,
    pub score: i32,
    pub gate: i32,
    pub router: i32,
    pub nonfinite: i32,
    pub drop: i32,
    pub aux_scope: i32,
    pub combine_dtype: i32,
    pub recompute: i32,
    pub chunks: i32,
    pub products: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_layer_params",
    ][::core::mem::size_of::<moemesh_layer_params>() - 160usize];
    [
        "Alignment of moemesh_layer_params",
    ][::core::mem::align_of::<moemesh_layer_params>() - 8usize];
    [
        "Offset of field: moemesh_layer_params::struct_size",
    ][::core::mem::offset_of!(moemesh_layer_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_layer_params::name",
    ][::core::mem::offset_of!(moemesh_layer_params, name) - 8usize];
    [
        "Offset of field: moemesh_layer_params::hidden",
    ][::core::mem::offset_of!(moemesh_layer_params, hidden) - 16usize];
    [
        "Offset of field: moemesh_layer_params::ffn",
    ][::core::mem::offset_of!(moemesh_layer_params, ffn) - 24usize];
    [
        "Offset of field: moemesh_layer_params::experts",
    ][::core::mem::offset_of!(moemesh_layer_params, experts) - 32usize];
    [
        "Offset of field: moemesh_layer_params::shared_ffn",
    ][::core::mem::offset_of!(moemesh_layer_params, shared_ffn) - 40usize];
    [
        "Offset of field: moemesh_layer_params::gate_scale",
    ][::core::mem::offset_of!(moemesh_layer_params, gate_scale) - 48usize];
    [
        "Offset of field: moemesh_layer_params::init_std_router",
    ][::core::mem::offset_of!(moemesh_layer_params, init_std_router) - 56usize];
    [
        "Offset of field: moemesh_layer_params::init_std_in",
    ][::core::mem::offset_of!(moemesh_layer_params, init_std_in) - 64usize];
    [
        "Offset of field: moemesh_layer_params::init_std_out",
    ][::core::mem::offset_of!(moemesh_layer_params, init_std_out) - 72usize];
    [
        "Offset of field: moemesh_layer_params::capacity_factor",
    ][::core::mem::offset_of!(moemesh_layer_params, capacity_factor) - 80usize];
    [
        "Offset of field: moemesh_layer_params::aux_coefficient",
    ][::core::mem::offset_of!(moemesh_layer_params, aux_coefficient) - 88usize];
    [
        "Offset of field: moemesh_layer_params::z_coefficient",
    ][::core::mem::offset_of!(moemesh_layer_params, z_coefficient) - 96usize];
    [
        "Offset of field: moemesh_layer_params::bias_rate",
    ][::core::mem::offset_of!(moemesh_layer_params, bias_rate) - 104usize];
    [
        "Offset of field: moemesh_layer_params::top_k",
    ][::core::mem::offset_of!(moemesh_layer_params, top_k) - 112usize];
    [
        "Offset of field: moemesh_layer_params::activation",
    ][::core::mem::offset_of!(moemesh_layer_params, activation) - 116usize];
    [
        "Offset of field: moemesh_layer_params::score",
    ][::core::mem::offset_of!(moemesh_layer_params, score) - 120usize];
    [
        "Offset of field: moemesh_layer_params::gate",
    ][::core::mem::offset_of!(moemesh_layer_params, gate) - 124usize];
    [
        "Offset of field: moemesh_layer_params::router",
    ][::core::mem::offset_of!(moemesh_layer_params, router) - 128usize];
    [
        "Offset of field: moemesh_layer_params::nonfinite",
    ][::core::mem::offset_of!(moemesh_layer_params, nonfinite) - 132usize];
    [
        "Offset of field: moemesh_layer_params::drop",
    ][::core::mem::offset_of!(moemesh_layer_params, drop) - 136usize];
    [
        "Offset of field: moemesh_layer_params::aux_scope",
    ][::core::mem::offset_of!(moemesh_layer_params, aux_scope) - 140usize];
    [
        "Offset of field: moemesh_layer_params::combine_dtype",
    ][::core::mem::offset_of!(moemesh_layer_params, combine_dtype) - 144usize];
    [
        "Offset of field: moemesh_layer_params::recompute",
    ][::core::mem::offset_of!(moemesh_layer_params, recompute) - 148usize];
    [
        "Offset of field: moemesh_layer_params::chunks",
    ][::core::mem::offset_of!(moemesh_layer_params, chunks) - 152usize];
    [
        "Offset of field: moemesh_layer_params::products",
    ][::core::mem::offset_of!(moemesh_layer_params, products) - 156usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_forward_params {
    pub struct_size: i64,
    pub x: *const moemesh_view,
    pub y: *const moemesh_view,
    pub mask: *const moemesh_view,
    pub logits: *const moemesh_view,
    pub stream: *mut ::core::ffi::c_void,
    pub sequences: i64,
    pub sequence_layout: i32,
    pub reserved: i32,
    pub training: i32,
    pub microbatch: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_forward_params",
    ][::core::mem::size_of::<moemesh_forward_params>() - 72usize];
    [
        "Alignment of moemesh_forward_params",
    ][::core::mem::align_of::<moemesh_forward_params>() - 8usize];
    [
        "Offset of field: moemesh_forward_params::struct_size",
    ][::core::mem::offset_of!(moemesh_forward_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_forward_params::x",
    ][::core::mem::offset_of!(moemesh_forward_params, x) - 8usize];
    [
        "Offset of field: moemesh_forward_params::y",
    ][::core::mem::offset_of!(moemesh_forward_params, y) - 16usize];
    [
        "Offset of field: moemesh_forward_params::mask",
    ][::core::mem::offset_of!(moemesh_forward_params, mask) - 24usize];
    [
        "Offset of field: moemesh_forward_params::logits",
    ][::core::mem::offset_of!(moemesh_forward_params, logits) - 32usize];
    [
        "Offset of field: moemesh_forward_params::stream",
    ][::core::mem::offset_of!(moemesh_forward_params, stream) - 40usize];
    [
        "Offset of field: moemesh_forward_params::sequences",
    ][::core::mem::offset_of!(moemesh_forward_params, sequences) - 48usize];
    [
        "Offset of field: moemesh_forward_params::sequence_layout",
    ][::core::mem::offset_of!(moemesh_forward_params, sequence_layout) - 56usize];
    [
        "Offset of field: moemesh_forward_params::reserved",
    ][::core::mem::offset_of!(moemesh_forward_params, reserved) - 60usize];
    [
        "Offset of field: moemesh_forward_params::training",
    ][::core::mem::offset_of!(moemesh_forward_params, training) - 64usize];
    [
        "Offset of field: moemesh_forward_params::microbatch",
    ][::core::mem::offset_of!(moemesh_forward_params, microbatch) - 68usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_backward_params {
    pub struct_size: i64,
    pub dy: *const moemesh_view,
    pub x: *const moemesh_view,
    pub dx: *const moemesh_view,
    pub dlogits: *const moemesh_view,
    pub stream: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_backward_params",
    ][::core::mem::size_of::<moemesh_backward_params>() - 48usize];
    [
        "Alignment of moemesh_backward_params",
    ][::core::mem::align_of::<moemesh_backward_params>() - 8usize];
    [
        "Offset of field: moemesh_backward_params::struct_size",
    ][::core::mem::offset_of!(moemesh_backward_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_backward_params::dy",
    ][::core::mem::offset_of!(moemesh_backward_params, dy) - 8usize];
    [
        "Offset of field: moemesh_backward_params::x",
    ][::core::mem::offset_of!(moemesh_backward_params, x) - 16usize];
    [
        "Offset of field: moemesh_backward_params::dx",
    ][::core::mem::offset_of!(moemesh_backward_params, dx) - 24usize];
    [
        "Offset of field: moemesh_backward_params::dlogits",
    ][::core::mem::offset_of!(moemesh_backward_params, dlogits) - 32usize];
    [
        "Offset of field: moemesh_backward_params::stream",
    ][::core::mem::offset_of!(moemesh_backward_params, stream) - 40usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_replay_params {
    pub struct_size: i64,
    pub x: *const moemesh_view,
    pub y: *const moemesh_view,
    pub stream: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_replay_params",
    ][::core::mem::size_of::<moemesh_replay_params>() - 32usize];
    [
        "Alignment of moemesh_replay_params",
    ][::core::mem::align_of::<moemesh_replay_params>() - 8usize];
    [
        "Offset of field: moemesh_replay_params::struct_size",
    ][::core::mem::offset_of!(moemesh_replay_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_replay_params::x",
    ][::core::mem::offset_of!(moemesh_replay_params, x) - 8usize];
    [
        "Offset of field: moemesh_replay_params::y",
    ][::core::mem::offset_of!(moemesh_replay_params, y) - 16usize];
    [
        "Offset of field: moemesh_replay_params::stream",
    ][::core::mem::offset_of!(moemesh_replay_params, stream) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_layer_load {
    pub struct_size: i64,
    pub tokens: i64,
    pub sequences: i64,
    pub copies_sent: i64,
    pub rows_sent: i64,
    pub copies_received: i64,
    pub rows_received: i64,
    pub own_copies: i64,
    pub own_rows: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_layer_load",
    ][::core::mem::size_of::<moemesh_layer_load>() - 72usize];
    [
        "Alignment of moemesh_layer_load",
    ][::core::mem::align_of::<moemesh_layer_load>() - 8usize];
    [
        "Offset of field: moemesh_layer_load::struct_size",
    ][::core::mem::offset_of!(moemesh_layer_load, struct_size) - 0usize];
    [
        "Offset of field: moemesh_layer_load::tokens",
    ][::core::mem::offset_of!(moemesh_layer_load, tokens) - 8usize];
    [
        "Offset of field: moemesh_layer_load::sequences",
    ][::core::mem::offset_of!(moemesh_layer_load, sequences) - 16usize];
    [
        "Offset of field: moemesh_layer_load::copies_sent",
    ][::core::mem::offset_of!(moemesh_layer_load, copies_sent) - 24usize];
    [
        "Offset of field: moemesh_layer_load::rows_sent",
    ][::core::mem::offset_of!(moemesh_layer_load, rows_sent) - 32usize];
    [
        "Offset of field: moemesh_layer_load::copies_received",
    ][::core::mem::offset_of!(moemesh_layer_load, copies_received) - 40usize];
    [
        "Offset of field: moemesh_layer_load::rows_received",
    ][::core::mem::offset_of!(moemesh_layer_load, rows_received) - 48usize];
    [
        "Offset of field: moemesh_layer_load::own_copies",
    ][::core::mem::offset_of!(moemesh_layer_load, own_copies) - 56usize];
    [
        "Offset of field: moemesh_layer_load::own_rows",
    ][::core::mem::offset_of!(moemesh_layer_load, own_rows) - 64usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_tape_bytes {
    pub struct_size: i64,
    pub decision: i64,
    pub plans: i64,
    pub copies: i64,
    pub hidden: i64,
    pub shared_hidden: i64,
    pub total: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_tape_bytes",
    ][::core::mem::size_of::<moemesh_tape_bytes>() - 56usize];
    [
        "Alignment of moemesh_tape_bytes",
    ][::core::mem::align_of::<moemesh_tape_bytes>() - 8usize];
    [
        "Offset of field: moemesh_tape_bytes::struct_size",
    ][::core::mem::offset_of!(moemesh_tape_bytes, struct_size) - 0usize];
    [
        "Offset of field: moemesh_tape_bytes::decision",
    ][::core::mem::offset_of!(moemesh_tape_bytes, decision) - 8usize];
    [
        "Offset of field: moemesh_tape_bytes::plans",
    ][::core::mem::offset_of!(moemesh_tape_bytes, plans) - 16usize];
    [
        "Offset of field: moemesh_tape_bytes::copies",
    ][::core::mem::offset_of!(moemesh_tape_bytes, copies) - 24usize];
    [
        "Offset of field: moemesh_tape_bytes::hidden",
    ][::core::mem::offset_of!(moemesh_tape_bytes, hidden) - 32usize];
    [
        "Offset of field: moemesh_tape_bytes::shared_hidden",
    ][::core::mem::offset_of!(moemesh_tape_bytes, shared_hidden) - 40usize];
    [
        "Offset of field: moemesh_tape_bytes::total",
    ][::core::mem::offset_of!(moemesh_tape_bytes, total) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_layer_memory {
    pub struct_size: i64,
    pub tapes: i64,
    pub live: i64,
    pub peak: i64,
    pub reserved: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_layer_memory",
    ][::core::mem::size_of::<moemesh_layer_memory>() - 40usize];
    [
        "Alignment of moemesh_layer_memory",
    ][::core::mem::align_of::<moemesh_layer_memory>() - 8usize];
    [
        "Offset of field: moemesh_layer_memory::struct_size",
    ][::core::mem::offset_of!(moemesh_layer_memory, struct_size) - 0usize];
    [
        "Offset of field: moemesh_layer_memory::tapes",
    ][::core::mem::offset_of!(moemesh_layer_memory, tapes) - 8usize];
    [
        "Offset of field: moemesh_layer_memory::live",
    ][::core::mem::offset_of!(moemesh_layer_memory, live) - 16usize];
    [
        "Offset of field: moemesh_layer_memory::peak",
    ][::core::mem::offset_of!(moemesh_layer_memory, peak) - 24usize];
    [
        "Offset of field: moemesh_layer_memory::reserved",
    ][::core::mem::offset_of!(moemesh_layer_memory, reserved) - 32usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_layer_statistics {
    pub struct_size: i64,
    pub tokens: i64,
    pub rows: i64,
    pub copies_sent: i64,
    pub rows_received: i64,
    pub dropped_rows: i64,
    pub nonfinite_tokens: i64,
    pub slots: i64,
    pub aux_loss: f64,
    pub z_loss: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_layer_statistics",
    ][::core::mem::size_of::<moemesh_layer_statistics>() - 80usize];
    [
        "Alignment of moemesh_layer_statistics",
    ][::core::mem::align_of::<moemesh_layer_statistics>() - 8usize];
    [
        "Offset of field: moemesh_layer_statistics::struct_size",
    ][::core::mem::offset_of!(moemesh_layer_statistics, struct_size) - 0usize];
    [
        "Offset of field: moemesh_layer_statistics::tokens",
    ][::core::mem::offset_of!(moemesh_layer_statistics, tokens) - 8usize];
    [
        "Offset of field: moemesh_layer_statistics::rows",
    ][::core::mem::offset_of!(moemesh_layer_statistics, rows) - 16usize];
    [
        "Offset of field: moemesh_layer_statistics::copies_sent",
    ][::core::mem::offset_of!(moemesh_layer_statistics, copies_sent) - 24usize];
    [
        "Offset of field: moemesh_layer_statistics::rows_received",
    ][::core::mem::offset_of!(moemesh_layer_statistics, rows_received) - 32usize];
    [
        "Offset of field: moemesh_layer_statistics::dropped_rows",
    ][::core::mem::offset_of!(moemesh_layer_statistics, dropped_rows) - 40usize];
    [
        "Offset of field: moemesh_layer_statistics::nonfinite_tokens",
    ][::core::mem::offset_of!(moemesh_layer_statistics, nonfinite_tokens) - 48usize];
    [
        "Offset of field: moemesh_layer_statistics::slots",
    ][::core::mem::offset_of!(moemesh_layer_statistics, slots) - 56usize];
    [
        "Offset of field: moemesh_layer_statistics::aux_loss",
    ][::core::mem::offset_of!(moemesh_layer_statistics, aux_loss) - 64usize];
    [
        "Offset of field: moemesh_layer_statistics::z_loss",
    ][::core::mem::offset_of!(moemesh_layer_statistics, z_loss) - 72usize];
};
pub const MOEMESH_ADAMW: moemesh_optimizer_kind = 1;
pub const MOEMESH_SGD: moemesh_optimizer_kind = 2;
pub type moemesh_optimizer_kind = ::core::ffi::c_uint;
pub const MOEMESH_OVERLAP_AFTER: moemesh_overlap = 1;
pub const MOEMESH_OVERLAP_EAGER: moemesh_overlap = 2;
pub const MOEMESH_OVERLAP_GAPS: moemesh_overlap = 3;
pub type moemesh_overlap = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_optimizer_params {
    pub struct_size: i64,
    pub learning_rate: f64,
    pub beta1: f64,
    pub beta2: f64,
    pub epsilon: f64,
    pub weight_decay: f64,
    pub momentum: f64,
    pub max_norm: f64,
    pub bucket_bytes: i64,
    pub chunk_bytes: i64,
    pub kind: i32,
    pub shared_stage: i32,
    pub expert_stage: i32,
    pub overlap: i32,
    pub prefetch: i32,
    pub reserved: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_optimizer_params",
    ][::core::mem::size_of::<moemesh_optimizer_params>() - 104usize];
    [
        "Alignment of moemesh_optimizer_params",
    ][::core::mem::align_of::<moemesh_optimizer_params>() - 8usize];
    [
        "Offset of field: moemesh_optimizer_params::struct_size",
    ][::core::mem::offset_of!(moemesh_optimizer_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_optimizer_params::learning_rate",
    ][::core::mem::offset_of!(moemesh_optimizer_params, learning_rate) - 8usize];
    [
        "Offset of field: moemesh_optimizer_params::beta1",
    ][::core::mem::offset_of!(moemesh_optimizer_params, beta1) - 16usize];
    [
        "Offset of field: moemesh_optimizer_params::beta2",
    ][::core::mem::offset_of!(moemesh_optimizer_params, beta2) - 24usize];
    [
        "Offset of field: moemesh_optimizer_params::epsilon",
    ][::core::mem::offset_of!(moemesh_optimizer_params, epsilon) - 32usize];
    [
        "Offset of field: moemesh_optimizer_params::weight_decay",
    ][::core::mem::offset_of!(moemesh_optimizer_params, weight_decay) - 40usize];
    [
        "Offset of field: moemesh_optimizer_params::momentum",
    ][::core::mem::offset_of!(moemesh_optimizer_params, momentum) - 48usize];
    [
        "Offset of field: moemesh_optimizer_params::max_norm",
    ][::core::mem::offset_of!(moemesh_optimizer_params, max_norm) - 56usize];
    [
        "Offset of field: moemesh_optimizer_params::bucket_bytes",
    ][::core::mem::offset_of!(moemesh_optimizer_params, bucket_bytes) - 64usize];
    [
        "Offset of field: moemesh_optimizer_params::chunk_bytes",
    ][::core::mem::offset_of!(moemesh_optimizer_params, chunk_bytes) - 72usize];
    [
        "Offset of field: moemesh_optimizer_params::kind",
    ][::core::mem::offset_of!(moemesh_optimizer_params, kind) - 80usize];
    [
        "Offset of field: moemesh_optimizer_params::shared_stage",
    ][::core::mem::offset_of!(moemesh_optimizer_params, shared_stage) - 84usize];
    [
        "Offset of field: moemesh_optimizer_params::expert_stage",
    ][::core::mem::offset_of!(moemesh_optimizer_params, expert_stage) - 88usize];
    [
        "Offset of field: moemesh_optimizer_params::overlap",
    ][::core::mem::offset_of!(moemesh_optimizer_params, overlap) - 92usize];
    [
        "Offset of field: moemesh_optimizer_params::prefetch",
    ][::core::mem::offset_of!(moemesh_optimizer_params, prefetch) - 96usize];
    [
        "Offset of field: moemesh_optimizer_params::reserved",
    ][::core::mem::offset_of!(moemesh_optimizer_params, reserved) - 100usize];
};
pub const MOEMESH_SHARD_MEAN: moemesh_objective = 1;
pub const MOEMESH_TOKEN_MEAN: moemesh_objective = 2;
pub type moemesh_objective = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_step_params {
    pub struct_size: i64,
    pub loss_scale: f64,
    pub microbatches: i32,
    pub objective: i32,
    pub stream: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_step_params",
    ][::core::mem::size_of::<moemesh_step_params>() - 32usize];
    [
        "Alignment of moemesh_step_params",
    ][::core::mem::align_of::<moemesh_step_params>() - 8usize];
    [
        "Offset of field: moemesh_step_params::struct_size",
    ][::core::mem::offset_of!(moemesh_step_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_step_params::loss_scale",
    ][::core::mem::offset_of!(moemesh_step_params, loss_scale) - 8usize];
    [
        "Offset of field: moemesh_step_params::microbatches",
    ][::core::mem::offset_of!(moemesh_step_params, microbatches) - 16usize];
    [
        "Offset of field: moemesh_step_params::objective",
    ][::core::mem::offset_of!(moemesh_step_params, objective) - 20usize];
    [
        "Offset of field: moemesh_step_params::stream",
    ][::core::mem::offset_of!(moemesh_step_params, stream) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_update_params {
    pub struct_size: i64,
    pub learning_rate: f64,
    pub stream: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_update_params",
    ][::core::mem::size_of::<moemesh_update_params>() - 24usize];
    [
        "Alignment of moemesh_update_params",
    ][::core::mem::align_of::<moemesh_update_params>() - 8usize];
    [
        "Offset of field: moemesh_update_params::struct_size",
    ][::core::mem::offset_of!(moemesh_update_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_update_params::learning_rate",
    ][::core::mem::offset_of!(moemesh_update_params, learning_rate) - 8usize];
    [
        "Offset of field: moemesh_update_params::stream",
    ][::core::mem::offset_of!(moemesh_update_params, stream) - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_update_result {
    pub struct_size: i64,
    pub norm: f64,
    pub coefficient: f64,
    pub steps: i64,
    pub skips: i64,
    pub tokens: i64,
    pub skipped: i32,
    pub reserved: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_update_result",
    ][::core::mem::size_of::<moemesh_update_result>() - 56usize];
    [
        "Alignment of moemesh_update_result",
    ][::core::mem::align_of::<moemesh_update_result>() - 8usize];
    [
        "Offset of field: moemesh_update_result::struct_size",
    ][::core::mem::offset_of!(moemesh_update_result, struct_size) - 0usize];
    [
        "Offset of field: moemesh_update_result::norm",
    ][::core::mem::offset_of!(moemesh_update_result, norm) - 8usize];
    [
        "Offset of field: moemesh_update_result::coefficient",
    ][::core::mem::offset_of!(moemesh_update_result, coefficient) - 16usize];
    [
        "Offset of field: moemesh_update_result::steps",
    ][::core::mem::offset_of!(moemesh_update_result, steps) - 24usize];
    [
        "Offset of field: moemesh_update_result::skips",
    ][::core::mem::offset_of!(moemesh_update_result, skips) - 32usize];
    [
        "Offset of field: moemesh_update_result::tokens",
    ][::core::mem::offset_of!(moemesh_update_result, tokens) - 40usize];
    [
        "Offset of field: moemesh_update_result::skipped",
    ][::core::mem::offset_of!(moemesh_update_result, skipped) - 48usize];
    [
        "Offset of field: moemesh_update_result::reserved",
    ][::core::mem::offset_of!(moemesh_update_result, reserved) - 52usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_optimizer_bytes {
    pub struct_size: i64,
    pub elements: i64,
    pub shard_width: i64,
    pub planned: i64,
    pub actual: i64,
    pub parameters: i64,
    pub gradients: i64,
    pub masters: i64,
    pub moments: i64,
    pub packed: i64,
    pub bucket: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_optimizer_bytes",
    ][::core::mem::size_of::<moemesh_optimizer_bytes>() - 88usize];
    [
        "Alignment of moemesh_optimizer_bytes",
    ][::core::mem::align_of::<moemesh_optimizer_bytes>() - 8usize];
    [
        "Offset of field: moemesh_optimizer_bytes::struct_size",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, struct_size) - 0usize];
    [
        "Offset of field: moemesh_optimizer_bytes::elements",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, elements) - 8usize];
    [
        "Offset of field: moemesh_optimizer_bytes::shard_width",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, shard_width) - 16usize];
    [
        "Offset of field: moemesh_optimizer_bytes::planned",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, planned) - 24usize];
    [
        "Offset of field: moemesh_optimizer_bytes::actual",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, actual) - 32usize];
    [
        "Offset of field: moemesh_optimizer_bytes::parameters",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, parameters) - 40usize];
    [
        "Offset of field: moemesh_optimizer_bytes::gradients",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, gradients) - 48usize];
    [
        "Offset of field: moemesh_optimizer_bytes::masters",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, masters) - 56usize];
    [
        "Offset of field: moemesh_optimizer_bytes::moments",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, moments) - 64usize];
    [
        "Offset of field: moemesh_optimizer_bytes::packed",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, packed) - 72usize];
    [
        "Offset of field: moemesh_optimizer_bytes::bucket",
    ][::core::mem::offset_of!(moemesh_optimizer_bytes, bucket) - 80usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_optimizer_counters {
    pub struct_size: i64,
    pub steps: i64,
    pub skips: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_optimizer_counters",
    ][::core::mem::size_of::<moemesh_optimizer_counters>() - 24usize];
    [
        "Alignment of moemesh_optimizer_counters",
    ][::core::mem::align_of::<moemesh_optimizer_counters>() - 8usize];
    [
        "Offset of field: moemesh_optimizer_counters::struct_size",
    ][::core::mem::offset_of!(moemesh_optimizer_counters, struct_size) - 0usize];
    [
        "Offset of field: moemesh_optimizer_counters::steps",
    ][::core::mem::offset_of!(moemesh_optimizer_counters, steps) - 8usize];
    [
        "Offset of field: moemesh_optimizer_counters::skips",
    ][::core::mem::offset_of!(moemesh_optimizer_counters, skips) - 16usize];
};
pub const MOEMESH_SCHEDULE_1F1B: moemesh_schedule = 1;
pub const MOEMESH_SCHEDULE_GPIPE: moemesh_schedule = 2;
pub type moemesh_schedule = ::core::ffi::c_uint;
pub const MOEMESH_ACTION_FORWARD: moemesh_action_kind = 1;
pub const MOEMESH_ACTION_BACKWARD: moemesh_action_kind = 2;
pub const MOEMESH_ACTION_BACKWARD_WEIGHT: moemesh_action_kind = 3;
pub const MOEMESH_ACTION_END: moemesh_action_kind = 4;
pub type moemesh_action_kind = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_pipeline_params {
    pub struct_size: i64,
    pub width: i64,
    pub dtype: i32,
    pub schedule: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_pipeline_params",
    ][::core::mem::size_of::<moemesh_pipeline_params>() - 24usize];
    [
        "Alignment of moemesh_pipeline_params",
    ][::core::mem::align_of::<moemesh_pipeline_params>() - 8usize];
    [
        "Offset of field: moemesh_pipeline_params::struct_size",
    ][::core::mem::offset_of!(moemesh_pipeline_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_pipeline_params::width",
    ][::core::mem::offset_of!(moemesh_pipeline_params, width) - 8usize];
    [
        "Offset of field: moemesh_pipeline_params::dtype",
    ][::core::mem::offset_of!(moemesh_pipeline_params, dtype) - 16usize];
    [
        "Offset of field: moemesh_pipeline_params::schedule",
    ][::core::mem::offset_of!(moemesh_pipeline_params, schedule) - 20usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_pipeline_run {
    pub struct_size: i64,
    pub rows: *const i64,
    pub microbatches: i32,
    pub training: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_pipeline_run",
    ][::core::mem::size_of::<moemesh_pipeline_run>() - 24usize];
    [
        "Alignment of moemesh_pipeline_run",
    ][::core::mem::align_of::<moemesh_pipeline_run>() - 8usize];
    [
        "Offset of field: moemesh_pipeline_run::struct_size",
    ][::core::mem::offset_of!(moemesh_pipeline_run, struct_size) - 0usize];
    [
        "Offset of field: moemesh_pipeline_run::rows",
    ][::core::mem::offset_of!(moemesh_pipeline_run, rows) - 8usize];
    [
        "Offset of field: moemesh_pipeline_run::microbatches",
    ][::core::mem::offset_of!(moemesh_pipeline_run, microbatches) - 16usize];
    [
        "Offset of field: moemesh_pipeline_run::training",
    ][::core::mem::offset_of!(moemesh_pipeline_run, training) - 20usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_pipeline_action {
    pub struct_size: i64,
    pub rows: i64,
    pub kind: i32,
    pub microbatch: i32,
    pub chunk: i32,
    pub reserved: i32,
    pub in_: moemesh_view,
    pub out: moemesh_view,
    pub saved: moemesh_view,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_pipeline_action",
    ][::core::mem::size_of::<moemesh_pipeline_action>() - 296usize];
    [
        "Alignment of moemesh_pipeline_action",
    ][::core::mem::align_of::<moemesh_pipeline_action>() - 8usize];
    [
        "Offset of field: moemesh_pipeline_action::struct_size",
    ][::core::mem::offset_of!(moemesh_pipeline_action, struct_size) - 0usize];
    [
        "Offset of field: moemesh_pipeline_action::rows",
    ][::core::mem::offset_of!(moemesh_pipeline_action, rows) - 8usize];
    [
        "Offset of field: moemesh_pipeline_action::kind",
    ][::core::mem::offset_of!(moemesh_pipeline_action, kind) - 16usize];
    [
        "Offset of field: moemesh_pipeline_action::microbatch",
    ][::core::mem::offset_of!(moemesh_pipeline_action, microbatch) - 20usize];
    [
        "Offset of field: moemesh_pipeline_action::chunk",
    ][::core::mem::offset_of!(moemesh_pipeline_action, chunk) - 24usize];
    [
        "Offset of field: moemesh_pipeline_action::reserved",
    ][::core::mem::offset_of!(moemesh_pipeline_action, reserved) - 28usize];
    [
        "Offset of field: moemesh_pipeline_action::in_",
    ][::core::mem::offset_of!(moemesh_pipeline_action, in_) - 32usize];
    [
        "Offset of field: moemesh_pipeline_action::out",
    ][::core::mem::offset_of!(moemesh_pipeline_action, out) - 120usize];
    [
        "Offset of field: moemesh_pipeline_action::saved",
    ][::core::mem::offset_of!(moemesh_pipeline_action, saved) - 208usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_pipeline_info {
    pub struct_size: i64,
    pub live: i64,
    pub peak: i64,
    pub bytes: i64,
    pub sends: i64,
    pub bytes_sent: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_pipeline_info",
    ][::core::mem::size_of::<moemesh_pipeline_info>() - 48usize];
    [
        "Alignment of moemesh_pipeline_info",
    ][::core::mem::align_of::<moemesh_pipeline_info>() - 8usize];
    [
        "Offset of field: moemesh_pipeline_info::struct_size",
    ][::core::mem::offset_of!(moemesh_pipeline_info, struct_size) - 0usize];
    [
        "Offset of field: moemesh_pipeline_info::live",
    ][::core::mem::offset_of!(moemesh_pipeline_info, live) - 8usize];
    [
        "Offset of field: moemesh_pipeline_info::peak",
    ][::core::mem::offset_of!(moemesh_pipeline_info, peak) - 16usize];
    [
        "Offset of field: moemesh_pipeline_info::bytes",
    ][::core::mem::offset_of!(moemesh_pipeline_info, bytes) - 24usize];
    [
        "Offset of field: moemesh_pipeline_info::sends",
    ][::core::mem::offset_of!(moemesh_pipeline_info, sends) - 32usize];
    [
        "Offset of field: moemesh_pipeline_info::bytes_sent",
    ][::core::mem::offset_of!(moemesh_pipeline_info, bytes_sent) - 40usize];
};
pub type moemesh_pipeline_function = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        action: *const moemesh_pipeline_action,
    ) -> i32,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_bill_params {
    pub struct_size: i64,
    pub steps: i64,
    pub tokens: i64,
    pub bucket_bytes: i64,
    pub chunk_bytes: i64,
    pub microbatches: i32,
    pub objective: i32,
    pub shared_stage: i32,
    pub expert_stage: i32,
    pub shared_dtype: i32,
    pub expert_dtype: i32,
    pub overlap: i32,
    pub reserved: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_bill_params",
    ][::core::mem::size_of::<moemesh_bill_params>() - 72usize];
    [
        "Alignment of moemesh_bill_params",
    ][::core::mem::align_of::<moemesh_bill_params>() - 8usize];
    [
        "Offset of field: moemesh_bill_params::struct_size",
    ][::core::mem::offset_of!(moemesh_bill_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_bill_params::steps",
    ][::core::mem::offset_of!(moemesh_bill_params, steps) - 8usize];
    [
        "Offset of field: moemesh_bill_params::tokens",
    ][::core::mem::offset_of!(moemesh_bill_params, tokens) - 16usize];
    [
        "Offset of field: moemesh_bill_params::bucket_bytes",
    ][::core::mem::offset_of!(moemesh_bill_params, bucket_bytes) - 24usize];
    [
        "Offset of field: moemesh_bill_params::chunk_bytes",
    ][::core::mem::offset_of!(moemesh_bill_params, chunk_bytes) - 32usize];
    [
        "Offset of field: moemesh_bill_params::microbatches",
    ][::core::mem::offset_of!(moemesh_bill_params, microbatches) - 40usize];
    [
        "Offset of field: moemesh_bill_params::objective",
    ][::core::mem::offset_of!(moemesh_bill_params, objective) - 44usize];
    [
        "Offset of field: moemesh_bill_params::shared_stage",
    ][::core::mem::offset_of!(moemesh_bill_params, shared_stage) - 48usize];
    [
        "Offset of field: moemesh_bill_params::expert_stage",
    ][::core::mem::offset_of!(moemesh_bill_params, expert_stage) - 52usize];
    [
        "Offset of field: moemesh_bill_params::shared_dtype",
    ][::core::mem::offset_of!(moemesh_bill_params, shared_dtype) - 56usize];
    [
        "Offset of field: moemesh_bill_params::expert_dtype",
    ][::core::mem::offset_of!(moemesh_bill_params, expert_dtype) - 60usize];
    [
        "Offset of field: moemesh_bill_params::overlap",
    ][::core::mem::offset_of!(moemesh_bill_params, overlap) - 64usize];
    [
        "Offset of field: moemesh_bill_params::reserved",
    ][::core::mem::offset_of!(moemesh_bill_params, reserved) - 68usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_bill_routing {
    pub struct_size: i64,
    pub copies: *const i64,
    pub rows: *const i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_bill_routing",
    ][::core::mem::size_of::<moemesh_bill_routing>() - 24usize];
    [
        "Alignment of moemesh_bill_routing",
    ][::core::mem::align_of::<moemesh_bill_routing>() - 8usize];
    [
        "Offset of field: moemesh_bill_routing::struct_size",
    ][::core::mem::offset_of!(moemesh_bill_routing, struct_size) - 0usize];
    [
        "Offset of field: moemesh_bill_routing::copies",
    ][::core::mem::offset_of!(moemesh_bill_routing, copies) - 8usize];
    [
        "Offset of field: moemesh_bill_routing::rows",
    ][::core::mem::offset_of!(moemesh_bill_routing, rows) - 16usize];
};
pub const MOEMESH_REPORT_EXCHANGE: moemesh_report_class = 0;
pub const MOEMESH_REPORT_TENSOR: moemesh_report_class = 1;
pub const MOEMESH_REPORT_REDUCTION: moemesh_report_class = 2;
pub const MOEMESH_REPORT_PIPELINE: moemesh_report_class = 3;
pub const MOEMESH_REPORT_CALLER: moemesh_report_class = 4;
pub const MOEMESH_REPORT_CLASSES: moemesh_report_class = 5;
pub type moemesh_report_class = ::core::ffi::c_uint;
pub const MOEMESH_REPORT_TABLE: moemesh_report_output = 1;
pub const MOEMESH_REPORT_TRACE: moemesh_report_output = 2;
pub const MOEMESH_REPORT_TIMELINE: moemesh_report_output = 3;
pub const MOEMESH_REPORT_SERIES: moemesh_report_output = 4;
pub const MOEMESH_REPORT_PLOT: moemesh_report_output = 5;
pub type moemesh_report_output = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_report_params {
    pub struct_size: i64,
    pub events: i64,
    pub steps: i64,
    pub first_step: i64,
    pub last_step: i64,
    pub start_pings: i32,
    pub step_pings: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_report_params",
    ][::core::mem::size_of::<moemesh_report_params>() - 48usize];
    [
        "Alignment of moemesh_report_params",
    ][::core::mem::align_of::<moemesh_report_params>() - 8usize];
    [
        "Offset of field: moemesh_report_params::struct_size",
    ][::core::mem::offset_of!(moemesh_report_params, struct_size) - 0usize];
    [
        "Offset of field: moemesh_report_params::events",
    ][::core::mem::offset_of!(moemesh_report_params, events) - 8usize];
    [
        "Offset of field: moemesh_report_params::steps",
    ][::core::mem::offset_of!(moemesh_report_params, steps) - 16usize];
    [
        "Offset of field: moemesh_report_params::first_step",
    ][::core::mem::offset_of!(moemesh_report_params, first_step) - 24usize];
    [
        "Offset of field: moemesh_report_params::last_step",
    ][::core::mem::offset_of!(moemesh_report_params, last_step) - 32usize];
    [
        "Offset of field: moemesh_report_params::start_pings",
    ][::core::mem::offset_of!(moemesh_report_params, start_pings) - 40usize];
    [
        "Offset of field: moemesh_report_params::step_pings",
    ][::core::mem::offset_of!(moemesh_report_params, step_pings) - 44usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_report_summary {
    pub struct_size: i64,
    pub steps: i64,
    pub first_step: i64,
    pub layers: i64,
    pub events: i64,
    pub lost_events: i64,
    pub late_rank: i64,
    pub late_seconds: f64,
    pub idle_seconds: f64,
    pub seconds: f64,
    pub rows_ratio: f64,
    pub clock_error: f64,
    pub clock_offset: f64,
    pub wait: [f64; 5usize],
    pub transfer: [f64; 5usize],
    pub exposed: [f64; 5usize],
    pub idle: [f64; 5usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_report_summary",
    ][::core::mem::size_of::<moemesh_report_summary>() - 264usize];
    [
        "Alignment of moemesh_report_summary",
    ][::core::mem::align_of::<moemesh_report_summary>() - 8usize];
    [
        "Offset of field: moemesh_report_summary::struct_size",
    ][::core::mem::offset_of!(moemesh_report_summary, struct_size) - 0usize];
    [
        "Offset of field: moemesh_report_summary::steps",
    ][::core::mem::offset_of!(moemesh_report_summary, steps) - 8usize];
    [
        "Offset of field: moemesh_report_summary::first_step",
    ][::core::mem::offset_of!(moemesh_report_summary, first_step) - 16usize];
    [
        "Offset of field: moemesh_report_summary::layers",
    ][::core::mem::offset_of!(moemesh_report_summary, layers) - 24usize];
    [
        "Offset of field: moemesh_report_summary::events",
    ][::core::mem::offset_of!(moemesh_report_summary, events) - 32usize];
    [
        "Offset of field: moemesh_report_summary::lost_events",
    ][::core::mem::offset_of!(moemesh_report_summary, lost_events) - 40usize];
    [
        "Offset of field: moemesh_report_summary::late_rank",
    ][::core::mem::offset_of!(moemesh_report_summary, late_rank) - 48usize];
    [
        "Offset of field: moemesh_report_summary::late_seconds",
    ][::core::mem::offset_of!(moemesh_report_summary, late_seconds) - 56usize];
    [
        "Offset of field: moemesh_report_summary::idle_seconds",
    ][::core::mem::offset_of!(moemesh_report_summary, idle_seconds) - 64usize];
    [
        "Offset of field: moemesh_report_summary::seconds",
    ][::core::mem::offset_of!(moemesh_report_summary, seconds) - 72usize];
    [
        "Offset of field: moemesh_report_summary::rows_ratio",
    ][::core::mem::offset_of!(moemesh_report_summary, rows_ratio) - 80usize];
    [
        "Offset of field: moemesh_report_summary::clock_error",
    ][::core::mem::offset_of!(moemesh_report_summary, clock_error) - 88usize];
    [
        "Offset of field: moemesh_report_summary::clock_offset",
    ][::core::mem::offset_of!(moemesh_report_summary, clock_offset) - 96usize];
    [
        "Offset of field: moemesh_report_summary::wait",
    ][::core::mem::offset_of!(moemesh_report_summary, wait) - 104usize];
    [
        "Offset of field: moemesh_report_summary::transfer",
    ][::core::mem::offset_of!(moemesh_report_summary, transfer) - 144usize];
    [
        "Offset of field: moemesh_report_summary::exposed",
    ][::core::mem::offset_of!(moemesh_report_summary, exposed) - 184usize];
    [
        "Offset of field: moemesh_report_summary::idle",
    ][::core::mem::offset_of!(moemesh_report_summary, idle) - 224usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_report_layer {
    pub struct_size: i64,
    pub name: *const ::core::ffi::c_char,
    pub stage: i64,
    pub late_rank: i64,
    pub late_seconds: f64,
    pub late_rows: f64,
    pub rows_ratio: f64,
    pub rows: f64,
    pub idle_seconds: f64,
    pub dispatch_wait: f64,
    pub combine_wait: f64,
    pub combine_backward_wait: f64,
    pub dispatch_backward_wait: f64,
    pub tensor_wait: f64,
    pub transfer: f64,
    pub exposed: f64,
    pub expert_seconds: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_report_layer",
    ][::core::mem::size_of::<moemesh_report_layer>() - 136usize];
    [
        "Alignment of moemesh_report_layer",
    ][::core::mem::align_of::<moemesh_report_layer>() - 8usize];
    [
        "Offset of field: moemesh_report_layer::struct_size",
    ][::core::mem::offset_of!(moemesh_report_layer, struct_size) - 0usize];
    [
        "Offset of field: moemesh_report_layer::name",
    ][::core::mem::offset_of!(moemesh_report_layer, name) - 8usize];
    [
        "Offset of field: moemesh_report_layer::stage",
    ][::core::mem::offset_of!(moemesh_report_layer, stage) - 16usize];
    [
        "Offset of field: moemesh_report_layer::late_rank",
    ][::core::mem::offset_of!(moemesh_report_layer, late_rank) - 24usize];
    [
        "Offset of field: moemesh_report_layer::late_seconds",
    ][::core::mem::offset_of!(moemesh_report_layer, late_seconds) - 32usize];
    [
        "Offset of field: moemesh_report_layer::late_rows",
    ][::core::mem::offset_of!(moemesh_report_layer, late_rows) - 40usize];
    [
        "Offset of field: moemesh_report_layer::rows_ratio",
    ][::core::mem::offset_of!(moemesh_report_layer, rows_ratio) - 48usize];
    [
        "Offset of field: moemesh_report_layer::rows",
    ][::core::mem::offset_of!(moemesh_report_layer, rows) - 56usize];
    [
        "Offset of field: moemesh_report_layer::idle_seconds",
    ][::core::mem::offset_of!(moemesh_report_layer, idle_seconds) - 64usize];
    [
        "Offset of field: moemesh_report_layer::dispatch_wait",
    ][::core::mem::offset_of!(moemesh_report_layer, dispatch_wait) - 72usize];
    [
        "Offset of field: moemesh_report_layer::combine_wait",
    ][::core::mem::offset_of!(moemesh_report_layer, combine_wait) - 80usize];
    [
        "Offset of field: moemesh_report_layer::combine_backward_wait",
    ][::core::mem::offset_of!(moemesh_report_layer, combine_backward_wait) - 88usize];
    [
        "Offset of field: moemesh_report_layer::dispatch_backward_wait",
    ][::core::mem::offset_of!(moemesh_report_layer, dispatch_backward_wait) - 96usize];
    [
        "Offset of field: moemesh_report_layer::tensor_wait",
    ][::core::mem::offset_of!(moemesh_report_layer, tensor_wait) - 104usize];
    [
        "Offset of field: moemesh_report_layer::transfer",
    ][::core::mem::offset_of!(moemesh_report_layer, transfer) - 112usize];
    [
        "Offset of field: moemesh_report_layer::exposed",
    ][::core::mem::offset_of!(moemesh_report_layer, exposed) - 120usize];
    [
        "Offset of field: moemesh_report_layer::expert_seconds",
    ][::core::mem::offset_of!(moemesh_report_layer, expert_seconds) - 128usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_report_step {
    pub struct_size: i64,
    pub late_rank: i64,
    pub late_seconds: f64,
    pub idle_seconds: f64,
    pub seconds: f64,
    pub rows_ratio: f64,
    pub idle: [f64; 5usize],
    pub transfer: f64,
    pub exposed: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_report_step",
    ][::core::mem::size_of::<moemesh_report_step>() - 104usize];
    [
        "Alignment of moemesh_report_step",
    ][::core::mem::align_of::<moemesh_report_step>() - 8usize];
    [
        "Offset of field: moemesh_report_step::struct_size",
    ][::core::mem::offset_of!(moemesh_report_step, struct_size) - 0usize];
    [
        "Offset of field: moemesh_report_step::late_rank",
    ][::core::mem::offset_of!(moemesh_report_step, late_rank) - 8usize];
    [
        "Offset of field: moemesh_report_step::late_seconds",
    ][::core::mem::offset_of!(moemesh_report_step, late_seconds) - 16usize];
    [
        "Offset of field: moemesh_report_step::idle_seconds",
    ][::core::mem::offset_of!(moemesh_report_step, idle_seconds) - 24usize];
    [
        "Offset of field: moemesh_report_step::seconds",
    ][::core::mem::offset_of!(moemesh_report_step, seconds) - 32usize];
    [
        "Offset of field: moemesh_report_step::rows_ratio",
    ][::core::mem::offset_of!(moemesh_report_step, rows_ratio) - 40usize];
    [
        "Offset of field: moemesh_report_step::idle",
    ][::core::mem::offset_of!(moemesh_report_step, idle) - 48usize];
    [
        "Offset of field: moemesh_report_step::transfer",
    ][::core::mem::offset_of!(moemesh_report_step, transfer) - 88usize];
    [
        "Offset of field: moemesh_report_step::exposed",
    ][::core::mem::offset_of!(moemesh_report_step, exposed) - 96usize];
};
pub const MOEMESH_FEATURE_MPI: _bindgen_ty_2 = 1;
pub const MOEMESH_FEATURE_ONEDNN: _bindgen_ty_2 = 2;
pub const MOEMESH_FEATURE_CUDA: _bindgen_ty_2 = 4;
pub const MOEMESH_FEATURE_NCCL: _bindgen_ty_2 = 8;
pub type _bindgen_ty_2 = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_runtime_info {
    pub struct_size: i64,
    pub features: i64,
    pub version: *const ::core::ffi::c_char,
    pub git: *const ::core::ffi::c_char,
    pub device: *const ::core::ffi::c_char,
    pub build_type: *const ::core::ffi::c_char,
    pub compiler: *const ::core::ffi::c_char,
    pub library: *const ::core::ffi::c_char,
    pub matrix_library: *const ::core::ffi::c_char,
    pub matrix_path: *const ::core::ffi::c_char,
    pub kokkos_backends: *const ::core::ffi::c_char,
    pub kokkos_path: *const ::core::ffi::c_char,
    pub mpi_module: *const ::core::ffi::c_char,
    pub mpi_library: *const ::core::ffi::c_char,
    pub mpi_error: *const ::core::ffi::c_char,
    pub nccl_path: *const ::core::ffi::c_char,
    pub mpi_kind: i32,
    pub kokkos_compiled: i32,
    pub kokkos_loaded: i32,
    pub kokkos_shared: i32,
    pub threads: i32,
    pub cuda_compiled: i32,
    pub cuda_runtime: i32,
    pub cuda_driver: i32,
    pub nccl: i32,
    pub reserved: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of moemesh_runtime_info",
    ][::core::mem::size_of::<moemesh_runtime_info>() - 168usize];
    [
        "Alignment of moemesh_runtime_info",
    ][::core::mem::align_of::<moemesh_runtime_info>() - 8usize];
    [
        "Offset of field: moemesh_runtime_info::struct_size",
    ][::core::mem::offset_of!(moemesh_runtime_info, struct_size) - 0usize];
    [
        "Offset of field: moemesh_runtime_info::features",
    ][::core::mem::offset_of!(moemesh_runtime_info, features) - 8usize];
    [
        "Offset of field: moemesh_runtime_info::version",
    ][::core::mem::offset_of!(moemesh_runtime_info, version) - 16usize];
    [
        "Offset of field: moemesh_runtime_info::git",
    ][::core::mem::offset_of!(moemesh_runtime_info, git) - 24usize];
    [
        "Offset of field: moemesh_runtime_info::device",
    ][::core::mem::offset_of!(moemesh_runtime_info, device) - 32usize];
    [
        "Offset of field: moemesh_runtime_info::build_type",
    ][::core::mem::offset_of!(moemesh_runtime_info, build_type) - 40usize];
    [
        "Offset of field: moemesh_runtime_info::compiler",
    ][::core::mem::offset_of!(moemesh_runtime_info, compiler) - 48usize];
    [
        "Offset of field: moemesh_runtime_info::library",
    ][::core::mem::offset_of!(moemesh_runtime_info, library) - 56usize];
    [
        "Offset of field: moemesh_runtime_info::matrix_library",
    ][::core::mem::offset_of!(moemesh_runtime_info, matrix_library) - 64usize];
    [
        "Offset of field: moemesh_runtime_info::matrix_path",
    ][::core::mem::offset_of!(moemesh_runtime_info, matrix_path) - 72usize];
    [
        "Offset of field: moemesh_runtime_info::kokkos_backends",
    ][::core::mem::offset_of!(moemesh_runtime_info, kokkos_backends) - 80usize];
    [
        "Offset of field: moemesh_runtime_info::kokkos_path",
    ][::core::mem::offset_of!(moemesh_runtime_info, kokkos_path) - 88usize];
    [
        "Offset of field: moemesh_runtime_info::mpi_module",
    ][::core::mem::offset_of!(moemesh_runtime_info, mpi_module) - 96usize];
    [
        "Offset of field: moemesh_runtime_info::mpi_library",
    ][::core::mem::offset_of!(moemesh_runtime_info, mpi_library) - 104usize];
    [
        "Offset of field: moemesh_runtime_info::mpi_error",
    ][::core::mem::offset_of!(moemesh_runtime_info, mpi_error) - 112usize];
    [
        "Offset of field: moemesh_runtime_info::nccl_path",
    ][::core::mem::offset_of!(moemesh_runtime_info, nccl_path) - 120usize];
    [
        "Offset of field: moemesh_runtime_info::mpi_kind",
    ][::core::mem::offset_of!(moemesh_runtime_info, mpi_kind) - 128usize];
    [
        "Offset of field: moemesh_runtime_info::kokkos_compiled",
    ][::core::mem::offset_of!(moemesh_runtime_info, kokkos_compiled) - 132usize];
    [
        "Offset of field: moemesh_runtime_info::kokkos_loaded",
    ][::core::mem::offset_of!(moemesh_runtime_info, kokkos_loaded) - 136usize];
    [
        "Offset of field: moemesh_runtime_info::kokkos_shared",
    ][::core::mem::offset_of!(moemesh_runtime_info, kokkos_shared) - 140usize];
    [
        "Offset of field: moemesh_runtime_info::threads",
    ][::core::mem::offset_of!(moemesh_runtime_info, threads) - 144usize];
    [
        "Offset of field: moemesh_runtime_info::cuda_compiled",
    ][::core::mem::offset_of!(moemesh_runtime_info, cuda_compiled) - 148usize];
    [
        "Offset of field: moemesh_runtime_info::cuda_runtime",
    ][::core::mem::offset_of!(moemesh_runtime_info, cuda_runtime) - 152usize];
    [
        "Offset of field: moemesh_runtime_info::cuda_driver",
    ][::core::mem::offset_of!(moemesh_runtime_info, cuda_driver) - 156usize];
    [
        "Offset of field: moemesh_runtime_info::nccl",
    ][::core::mem::offset_of!(moemesh_runtime_info, nccl) - 160usize];
    [
        "Offset of field: moemesh_runtime_info::reserved",
    ][::core::mem::offset_of!(moemesh_runtime_info, reserved) - 164usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct moemesh_api {
    pub struct_size: i64,
    pub abi_version: i32,
    pub reserved: i32,
    pub status_name: ::core::option::Option<
        unsafe extern "C" fn(status: i32) -> *const ::core::ffi::c_char,
    >,
    pub status_text: ::core::option::Option<
        unsafe extern "C" fn(status: i32) -> *const ::core::ffi::c_char,
    >,
    pub version: ::core::option::Option<
        unsafe extern "C" fn(major: *mut i32, minor: *mut i32, patch: *mut i32) -> i32,
    >,
    pub last_error: ::core::option::Option<
        unsafe extern "C" fn(
            context: moemesh_context,
            buffer: *mut ::core::ffi::c_char,
            capacity: i64,
            length: *mut i64,
        ) -> i32,
    >,
    pub shutdown: ::core::option::Option<unsafe extern "C" fn() -> i32>,
    pub view_init: ::core::option::Option<
        unsafe extern "C" fn(
            view: *mut moemesh_view,
            dtype: i32,
            rank: i32,
            extents: *const i64,
            data: *mut ::core::ffi::c_void,
        ) -> i32,
    >,
    pub context_params_init: ::core::option::Option<
        unsafe extern "C" fn(
            params: *mut moemesh_context_params,
            struct_size: i64,
        ) -> i32,
    >,
    pub context_create: ::core::option::Option<
        unsafe extern "C" fn(
            params: *const moemesh_context_params,
            context: *mut moemesh_context,
        ) -> i32,
    >,
    pub context_get_info: ::core::option::Option<
        unsafe extern "C" fn(
            context: moemesh_context,
            info: *mut moemesh_context_info,
        ) -> i32,
    >,
    pub context_finalize: ::core::option::Option<
        unsafe extern "C" fn(context: moemesh_context) -> i32,
    >,
    pub context_destroy: ::core::option::Option<
        unsafe extern "C" fn(context: *mut moemesh_context),
    >,
    pub mesh_params_init: ::core::option::Option<
        unsafe extern "C" fn(params: *mut moemesh_mesh_params, struct_size: i64) -> i32,
    >,
    pub mesh_create: ::core::option::Option<
        unsafe extern "C" fn(
            context: moemesh_context,
            params: *const moemesh_mesh_params,
            mesh: *mut moemesh_mesh,
        ) -> i32,
    >,
    pub mesh_plan: ::core::option::Option<
        unsafe extern "C" fn(
            context: moemesh_context,
            world: i64,
            params: *const moemesh_mesh_params,
            mesh: *mut moemesh_mesh,
        ) -> i32,
    >,
    pub mesh_get_coordinates: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            rank: i64,
            coordinates: *mut moemesh_coordinates,
        ) -> i32,
    >,
    pub mesh_get_group: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            axes: i32,
            rank: i64,
            group: *mut moemesh_group,
        ) -> i32,
    >,
    pub mesh_get_group_member: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            axes: i32,
            rank: i64,
            position: i64,
            member: *mut i64,
        ) -> i32,
    >,
    pub mesh_get_axis_report: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            axis: i32,
            report: *mut moemesh_axis_report,
        ) -> i32,
    >,
    pub mesh_get_experts: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            experts: i64,
            rank: i64,
            first: *mut i64,
            count: *mut i64,
        ) -> i32,
    >,
    pub mesh_finalize: ::core::option::Option<
        unsafe extern "C" fn(mesh: moemesh_mesh) -> i32,
    >,
    pub mesh_destroy: ::core::option::Option<
        unsafe extern "C" fn(mesh: *mut moemesh_mesh),
    >,
    pub all_reduce: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            axes: i32,
            op: i32,
            array: *const moemesh_view,
        ) -> i32,
    >,
    pub all_gather: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            axes: i32,
            send: *const moemesh_view,
            receive: *const moemesh_view,
        ) -> i32,
    >,
    pub reduce_scatter: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            axes: i32,
            op: i32,
            send: *const moemesh_view,
            receive: *const moemesh_view,
        ) -> i32,
    >,
    pub broadcast: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            axes: i32,
            root: i64,
            array: *const moemesh_view,
        ) -> i32,
    >,
    pub ledger_get_count: ::core::option::Option<
        unsafe extern "C" fn(mesh: moemesh_mesh, count: *mut i64) -> i32,
    >,
    pub ledger_get_entry: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            index: i64,
            entry: *mut moemesh_ledger_entry,
        ) -> i32,
    >,
    pub ledger_reset: ::core::option::Option<
        unsafe extern "C" fn(mesh: moemesh_mesh) -> i32,
    >,
    pub family_params_init: ::core::option::Option<
        unsafe extern "C" fn(params: *mut moemesh_family_params, struct_size: i64) -> i32,
    >,
    pub family_create: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            params: *const moemesh_family_params,
            family: *mut moemesh_family,
        ) -> i32,
    >,
    pub family_destroy: ::core::option::Option<
        unsafe extern "C" fn(family: *mut moemesh_family),
    >,
    pub parameter_params_init: ::core::option::Option<
        unsafe extern "C" fn(
            params: *mut moemesh_parameter_params,
            struct_size: i64,
        ) -> i32,
    >,
    pub parameter_register: ::core::option::Option<
        unsafe extern "C" fn(
            family: moemesh_family,
            params: *const moemesh_parameter_params,
            parameter: *mut moemesh_parameter,
        ) -> i32,
    >,
    pub family_commit: ::core::option::Option<
        unsafe extern "C" fn(family: moemesh_family) -> i32,
    >,
    pub parameter_find: ::core::option::Option<
        unsafe extern "C" fn(
            family: moemesh_family,
            name: *const ::core::ffi::c_char,
            parameter: *mut moemesh_parameter,
        ) -> i32,
    >,
    pub parameter_get_info: ::core::option::Option<
        unsafe extern "C" fn(
            parameter: moemesh_parameter,
            info: *mut moemesh_parameter_info,
        ) -> i32,
    >,
    pub parameter_acquire: ::core::option::Option<
        unsafe extern "C" fn(
            parameter: moemesh_parameter,
            stream: *mut ::core::ffi::c_void,
            view: *mut moemesh_view,
        ) -> i32,
    >,
    pub parameter_release: ::core::option::Option<
        unsafe extern "C" fn(parameter: moemesh_parameter) -> i32,
    >,
    pub parameter_get_gradient: ::core::option::Option<
        unsafe extern "C" fn(
            parameter: moemesh_parameter,
            view: *mut moemesh_view,
        ) -> i32,
    >,
    pub gradient_ready: ::core::option::Option<
        unsafe extern "C" fn(
            parameter: moemesh_parameter,
            gradient: *const moemesh_view,
            stream: *mut ::core::ffi::c_void,
        ) -> i32,
    >,
    pub parameters_changed: ::core::option::Option<
        unsafe extern "C" fn(family: moemesh_family) -> i32,
    >,
    pub parameter_read: ::core::option::Option<
        unsafe extern "C" fn(
            parameter: moemesh_parameter,
            quantity: i32,
            expert: i64,
            array: *const moemesh_view,
        ) -> i32,
    >,
    pub parameter_write: ::core::option::Option<
        unsafe extern "C" fn(
            parameter: moemesh_parameter,
            quantity: i32,
            expert: i64,
            array: *const moemesh_view,
        ) -> i32,
    >,
    pub layer_params_init: ::core::option::Option<
        unsafe extern "C" fn(params: *mut moemesh_layer_params, struct_size: i64) -> i32,
    >,
    pub layer_create: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            shared: moemesh_family,
            expert: moemesh_family,
            params: *const moemesh_layer_params,
            layer: *mut moemesh_layer,
        ) -> i32,
    >,
    pub layer_destroy: ::core::option::Option<
        unsafe extern "C" fn(layer: *mut moemesh_layer),
    >,
    pub forward_params_init: ::core::option::Option<
        unsafe extern "C" fn(
            params: *mut moemesh_forward_params,
            struct_size: i64,
        ) -> i32,
    >,
    pub backward_params_init: ::core::option::Option<
        unsafe extern "C" fn(
            params: *mut moemesh_backward_params,
            struct_size: i64,
        ) -> i32,
    >,
    pub layer_forward: ::core::option::Option<
        unsafe extern "C" fn(
            layer: moemesh_layer,
            params: *const moemesh_forward_params,
            tape: *mut moemesh_tape,
        ) -> i32,
    >,
    pub layer_backward: ::core::option::Option<
        unsafe extern "C" fn(
            tape: *mut moemesh_tape,
            params: *const moemesh_backward_params,
        ) -> i32,
    >,
    pub replay_params_init: ::core::option::Option<
        unsafe extern "C" fn(params: *mut moemesh_replay_params, struct_size: i64) -> i32,
    >,
    pub layer_replay: ::core::option::Option<
        unsafe extern "C" fn(
            tape: *mut moemesh_tape,
            params: *const moemesh_replay_params,
        ) -> i32,
    >,
    pub tape_get_bytes: ::core::option::Option<
        unsafe extern "C" fn(tape: moemesh_tape, bytes: *mut moemesh_tape_bytes) -> i32,
    >,
    pub layer_plan_bytes: ::core::option::Option<
        unsafe extern "C" fn(
            layer: moemesh_layer,
            load: *const moemesh_layer_load,
            recompute: i32,
            bytes: *mut moemesh_tape_bytes,
        ) -> i32,
    >,
    pub layer_balanced_load: ::core::option::Option<
        unsafe extern "C" fn(
            layer: moemesh_layer,
            tokens: i64,
            load: *mut moemesh_layer_load,
        ) -> i32,
    >,
    pub layer_get_memory: ::core::option::Option<
        unsafe extern "C" fn(
            layer: moemesh_layer,
            memory: *mut moemesh_layer_memory,
        ) -> i32,
    >,
    pub tape_destroy: ::core::option::Option<
        unsafe extern "C" fn(tape: *mut moemesh_tape),
    >,
    pub tape_get_routing: ::core::option::Option<
        unsafe extern "C" fn(
            tape: moemesh_tape,
            experts: *const moemesh_view,
            gates: *const moemesh_view,
        ) -> i32,
    >,
    pub layer_get_statistics: ::core::option::Option<
        unsafe extern "C" fn(
            layer: moemesh_layer,
            statistics: *mut moemesh_layer_statistics,
        ) -> i32,
    >,
    pub layer_get_rows: ::core::option::Option<
        unsafe extern "C" fn(
            layer: moemesh_layer,
            rows_per_expert: *const moemesh_view,
            rows_received: *const moemesh_view,
        ) -> i32,
    >,
    pub layer_get_bias: ::core::option::Option<
        unsafe extern "C" fn(layer: moemesh_layer, bias: *const moemesh_view) -> i32,
    >,
    pub layer_set_bias: ::core::option::Option<
        unsafe extern "C" fn(layer: moemesh_layer, bias: *const moemesh_view) -> i32,
    >,
    pub optimizer_params_init: ::core::option::Option<
        unsafe extern "C" fn(
            params: *mut moemesh_optimizer_params,
            struct_size: i64,
        ) -> i32,
    >,
    pub optimizer_create: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            shared: moemesh_family,
            expert: moemesh_family,
            params: *const moemesh_optimizer_params,
            optimizer: *mut moemesh_optimizer,
        ) -> i32,
    >,
    pub optimizer_destroy: ::core::option::Option<
        unsafe extern "C" fn(optimizer: *mut moemesh_optimizer),
    >,
    pub step_params_init: ::core::option::Option<
        unsafe extern "C" fn(params: *mut moemesh_step_params, struct_size: i64) -> i32,
    >,
    pub step_begin: ::core::option::Option<
        unsafe extern "C" fn(
            optimizer: moemesh_optimizer,
            params: *const moemesh_step_params,
        ) -> i32,
    >,
    pub loss_tokens: ::core::option::Option<
        unsafe extern "C" fn(
            optimizer: moemesh_optimizer,
            microbatch: i32,
            tokens: i64,
        ) -> i32,
    >,
    pub update_params_init: ::core::option::Option<
        unsafe extern "C" fn(params: *mut moemesh_update_params, struct_size: i64) -> i32,
    >,
    pub optimizer_step: ::core::option::Option<
        unsafe extern "C" fn(
            optimizer: moemesh_optimizer,
            params: *const moemesh_update_params,
            result: *mut moemesh_update_result,
        ) -> i32,
    >,
    pub step_end: ::core::option::Option<
        unsafe extern "C" fn(optimizer: moemesh_optimizer, reduce: i32) -> i32,
    >,
    pub optimizer_get_bytes: ::core::option::Option<
        unsafe extern "C" fn(
            optimizer: moemesh_optimizer,
            family: i32,
            bytes: *mut moemesh_optimizer_bytes,
        ) -> i32,
    >,
    pub optimizer_get_counters: ::core::option::Option<
        unsafe extern "C" fn(
            optimizer: moemesh_optimizer,
            counters: *mut moemesh_optimizer_counters,
        ) -> i32,
    >,
    pub optimizer_set_counters: ::core::option::Option<
        unsafe extern "C" fn(
            optimizer: moemesh_optimizer,
            counters: *const moemesh_optimizer_counters,
        ) -> i32,
    >,
    pub pipeline_params_init: ::core::option::Option<
        unsafe extern "C" fn(
            params: *mut moemesh_pipeline_params,
            struct_size: i64,
        ) -> i32,
    >,
    pub pipeline_run_init: ::core::option::Option<
        unsafe extern "C" fn(run: *mut moemesh_pipeline_run, struct_size: i64) -> i32,
    >,
    pub pipeline_create: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            optimizer: moemesh_optimizer,
            params: *const moemesh_pipeline_params,
            pipeline: *mut moemesh_pipeline,
        ) -> i32,
    >,
    pub pipeline_destroy: ::core::option::Option<
        unsafe extern "C" fn(pipeline: *mut moemesh_pipeline),
    >,
    pub pipeline_begin: ::core::option::Option<
        unsafe extern "C" fn(
            pipeline: moemesh_pipeline,
            run: *const moemesh_pipeline_run,
        ) -> i32,
    >,
    pub pipeline_next: ::core::option::Option<
        unsafe extern "C" fn(
            pipeline: moemesh_pipeline,
            action: *mut moemesh_pipeline_action,
        ) -> i32,
    >,
    pub pipeline_done: ::core::option::Option<
        unsafe extern "C" fn(pipeline: moemesh_pipeline, status: i32) -> i32,
    >,
    pub pipeline_execute: ::core::option::Option<
        unsafe extern "C" fn(
            pipeline: moemesh_pipeline,
            run: *const moemesh_pipeline_run,
            function: moemesh_pipeline_function,
            user: *mut ::core::ffi::c_void,
        ) -> i32,
    >,
    pub pipeline_get_info: ::core::option::Option<
        unsafe extern "C" fn(
            pipeline: moemesh_pipeline,
            info: *mut moemesh_pipeline_info,
        ) -> i32,
    >,
    pub bill_params_init: ::core::option::Option<
        unsafe extern "C" fn(params: *mut moemesh_bill_params, struct_size: i64) -> i32,
    >,
    pub bill_create: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            params: *const moemesh_bill_params,
            bill: *mut moemesh_bill,
        ) -> i32,
    >,
    pub bill_destroy: ::core::option::Option<
        unsafe extern "C" fn(bill: *mut moemesh_bill),
    >,
    pub bill_add_layer: ::core::option::Option<
        unsafe extern "C" fn(
            bill: moemesh_bill,
            stage: i64,
            params: *const moemesh_layer_params,
            routing: *const moemesh_bill_routing,
        ) -> i32,
    >,
    pub bill_add_parameter: ::core::option::Option<
        unsafe extern "C" fn(
            bill: moemesh_bill,
            stage: i64,
            family: i32,
            params: *const moemesh_parameter_params,
        ) -> i32,
    >,
    pub bill_set_pipeline: ::core::option::Option<
        unsafe extern "C" fn(
            bill: moemesh_bill,
            params: *const moemesh_pipeline_params,
        ) -> i32,
    >,
    pub bill_get_count: ::core::option::Option<
        unsafe extern "C" fn(bill: moemesh_bill, rank: i64, count: *mut i64) -> i32,
    >,
    pub bill_get_entry: ::core::option::Option<
        unsafe extern "C" fn(
            bill: moemesh_bill,
            rank: i64,
            index: i64,
            entry: *mut moemesh_ledger_entry,
        ) -> i32,
    >,
    pub report_params_init: ::core::option::Option<
        unsafe extern "C" fn(params: *mut moemesh_report_params, struct_size: i64) -> i32,
    >,
    pub report_create: ::core::option::Option<
        unsafe extern "C" fn(
            mesh: moemesh_mesh,
            params: *const moemesh_report_params,
            report: *mut moemesh_report,
        ) -> i32,
    >,
    pub report_stop: ::core::option::Option<
        unsafe extern "C" fn(report: moemesh_report) -> i32,
    >,
    pub report_destroy: ::core::option::Option<
        unsafe extern "C" fn(report: *mut moemesh_report),
    >,
    pub report_mark_begin: ::core::option::Option<
        unsafe extern "C" fn(
            report: moemesh_report,
            name: *const ::core::ffi::c_char,
        ) -> i32,
    >,
    pub report_mark_end: ::core::option::Option<
        unsafe extern "C" fn(report: moemesh_report) -> i32,
    >,
    pub report_collect: ::core::option::Option<
        unsafe extern "C" fn(report: moemesh_report) -> i32,
    >,
    pub report_get_summary: ::core::option::Option<
        unsafe extern "C" fn(
            report: moemesh_report,
            summary: *mut moemesh_report_summary,
        ) -> i32,
    >,
    pub report_get_layer: ::core::option::Option<
        unsafe extern "C" fn(
            report: moemesh_report,
            index: i64,
            layer: *mut moemesh_report_layer,
        ) -> i32,
    >,
    pub report_get_step: ::core::option::Option<
        unsafe extern "C" fn(
            report: moemesh_report,
            index: i64,
            step: *mut moemesh_report_step,
        ) -> i32,
    >,
    pub report_write: ::core::option::Option<
        unsafe extern "C" fn(
            report: moemesh_report,
            output: i32,
            step: i64,
            path: *const ::core::ffi::c_char,
        ) -> i32,
    >,
    pub runtime_get_info: ::core::option::Option<
        unsafe extern "C" fn(info: *mut moemesh_runtime_info) -> i32,
    >,
    pub view_copy: ::core::option::Option<
        unsafe extern "C" fn(from: *const moemesh_view, to: *const moemesh_view) -> i32,
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of moemesh_api"][::core::mem::size_of::<moemesh_api>() - 848usize];
    ["Alignment of moemesh_api"][::core::mem::align_of::<moemesh_api>() - 8usize];
    [
        "Offset of field: moemesh_api::struct_size",
    ][::core::mem::offset_of!(moemesh_api, struct_size) - 0usize];
    [
        "Offset of field: moemesh_api::abi_version",
    ][::core::mem::offset_of!(moemesh_api, abi_version) - 8usize];
    [
        "Offset of field: moemesh_api::reserved",
    ][::core::mem::offset_of!(moemesh_api, reserved) - 12usize];
    [
        "Offset of field: moemesh_api::status_name",
    ][::core::mem::offset_of!(moemesh_api, status_name) - 16usize];
    [
        "Offset of field: moemesh_api::status_text",
    ][::core::mem::offset_of!(moemesh_api, status_text) - 24usize];
    [
        "Offset of field: moemesh_api::version",
    ][::core::mem::offset_of!(moemesh_api, version) - 32usize];
    [
        "Offset of field: moemesh_api::last_error",
    ][::core::mem::offset_of!(moemesh_api, last_error) - 40usize];
    [
        "Offset of field: moemesh_api::shutdown",
    ][::core::mem::offset_of!(moemesh_api, shutdown) - 48usize];
    [
        "Offset of field: moemesh_api::view_init",
    ][::core::mem::offset_of!(moemesh_api, view_init) - 56usize];
    [
        "Offset of field: moemesh_api::context_params_init",
    ][::core::mem::offset_of!(moemesh_api, context_params_init) - 64usize];
    [
        "Offset of field: moemesh_api::context_create",
    ][::core::mem::offset_of!(moemesh_api, context_create) - 72usize];
    [
        "Offset of field: moemesh_api::context_get_info",
    ][::core::mem::offset_of!(moemesh_api, context_get_info) - 80usize];
    [
        "Offset of field: moemesh_api::context_finalize",
    ][::core::mem::offset_of!(moemesh_api, context_finalize) - 88usize];
    [
        "Offset of field: moemesh_api::context_destroy",
    ][::core::mem::offset_of!(moemesh_api, context_destroy) - 96usize];
    [
        "Offset of field: moemesh_api::mesh_params_init",
    ][::core::mem::offset_of!(moemesh_api, mesh_params_init) - 104usize];
    [
        "Offset of field: moemesh_api::mesh_create",
    ][::core::mem::offset_of!(moemesh_api, mesh_create) - 112usize];
    [
        "Offset of field: moemesh_api::mesh_plan",
    ][::core::mem::offset_of!(moemesh_api, mesh_plan) - 120usize];
    [
        "Offset of field: moemesh_api::mesh_get_coordinates",
    ][::core::mem::offset_of!(moemesh_api, mesh_get_coordinates) - 128usize];
    [
        "Offset of field: moemesh_api::mesh_get_group",
    ][::core::mem::offset_of!(moemesh_api, mesh_get_group) - 136usize];
    [
        "Offset of field: moemesh_api::mesh_get_group_member",
    ][::core::mem::offset_of!(moemesh_api, mesh_get_group_member) - 144usize];
    [
        "Offset of field: moemesh_api::mesh_get_axis_report",
    ][::core::mem::offset_of!(moemesh_api, mesh_get_axis_report) - 152usize];
    [
        "Offset of field: moemesh_api::mesh_get_experts",
    ][::core::mem::offset_of!(moemesh_api, mesh_get_experts) - 160usize];
    [
        "Offset of field: moemesh_api::mesh_finalize",
    ][::core::mem::offset_of!(moemesh_api, mesh_finalize) - 168usize];
    [
        "Offset of field: moemesh_api::mesh_destroy",
    ][::core::mem::offset_of!(moemesh_api, mesh_destroy) - 176usize];
    [
        "Offset of field: moemesh_api::all_reduce",
    ][::core::mem::offset_of!(moemesh_api, all_reduce) - 184usize];
    [
        "Offset of field: moemesh_api::all_gather",
    ][::core::mem::offset_of!(moemesh_api, all_gather) - 192usize];
    [
        "Offset of field: moemesh_api::reduce_scatter",
    ][::core::mem::offset_of!(moemesh_api, reduce_scatter) - 200usize];
    [
        "Offset of field: moemesh_api::broadcast",
    ][::core::mem::offset_of!(moemesh_api, broadcast) - 208usize];
    [
        "Offset of field: moemesh_api::ledger_get_count",
    ][::core::mem::offset_of!(moemesh_api, ledger_get_count) - 216usize];
    [
        "Offset of field: moemesh_api::ledger_get_entry",
    ][::core::mem::offset_of!(moemesh_api, ledger_get_entry) - 224usize];
    [
        "Offset of field: moemesh_api::ledger_reset",
    ][::core::mem::offset_of!(moemesh_api, ledger_reset) - 232usize];
    [
        "Offset of field: moemesh_api::family_params_init",
    ][::core::mem::offset_of!(moemesh_api, family_params_init) - 240usize];
    [
        "Offset of field: moemesh_api::family_create",
    ][::core::mem::offset_of!(moemesh_api, family_create) - 248usize];
    [
        "Offset of field: moemesh_api::family_destroy",
    ][::core::mem::offset_of!(moemesh_api, family_destroy) - 256usize];
    [
        "Offset of field: moemesh_api::parameter_params_init",
    ][::core::mem::offset_of!(moemesh_api, parameter_params_init) - 264usize];
    [
        "Offset of field: moemesh_api::parameter_register",
    ][::core::mem::offset_of!(moemesh_api, parameter_register) - 272usize];
    [
        "Offset of field: moemesh_api::family_commit",
    ][::core::mem::offset_of!(moemesh_api, family_commit) - 280usize];
    [
        "Offset of field: moemesh_api::parameter_find",
    ][::core::mem::offset_of!(moemesh_api, parameter_find) - 288usize];
    [
        "Offset of field: moemesh_api::parameter_get_info",
    ][::core::mem::offset_of!(moemesh_api, parameter_get_info) - 296usize];
    [
        "Offset of field: moemesh_api::parameter_acquire",
    ][::core::mem::offset_of!(moemesh_api, parameter_acquire) - 304usize];
    [
        "Offset of field: moemesh_api::parameter_release",
    ][::core::mem::offset_of!(moemesh_api, parameter_release) - 312usize];
    [
        "Offset of field: moemesh_api::parameter_get_gradient",
    ][::core::mem::offset_of!(moemesh_api, parameter_get_gradient) - 320usize];
    [
        "Offset of field: moemesh_api::gradient_ready",
    ][::core::mem::offset_of!(moemesh_api, gradient_ready) - 328usize];
    [
        "Offset of field: moemesh_api::parameters_changed",
    ][::core::mem::offset_of!(moemesh_api, parameters_changed) - 336usize];
    [
        "Offset of field: moemesh_api::parameter_read",
    ][::core::mem::offset_of!(moemesh_api, parameter_read) - 344usize];
    [
        "Offset of field: moemesh_api::parameter_write",
    ][::core::mem::offset_of!(moemesh_api, parameter_write) - 352usize];
    [
        "Offset of field: moemesh_api::layer_params_init",
    ][::core::mem::offset_of!(moemesh_api, layer_params_init) - 360usize];
    [
        "Offset of field: moemesh_api::layer_create",
    ][::core::mem::offset_of!(moemesh_api, layer_create) - 368usize];
    [
        "Offset of field: moemesh_api::layer_destroy",
    ][::core::mem::offset_of!(moemesh_api, layer_destroy) - 376usize];
    [
        "Offset of field: moemesh_api::forward_params_init",
    ][::core::mem::offset_of!(moemesh_api, forward_params_init) - 384usize];
    [
        "Offset of field: moemesh_api::backward_params_init",
    ][::core::mem::offset_of!(moemesh_api, backward_params_init) - 392usize];
    [
        "Offset of field: moemesh_api::layer_forward",
    ][::core::mem::offset_of!(moemesh_api, layer_forward) - 400usize];
    [
        "Offset of field: moemesh_api::layer_backward",
    ][::core::mem::offset_of!(moemesh_api, layer_backward) - 408usize];
    [
        "Offset of field: moemesh_api::replay_params_init",
    ][::core::mem::offset_of!(moemesh_api, replay_params_init) - 416usize];
    [
        "Offset of field: moemesh_api::layer_replay",
    ][::core::mem::offset_of!(moemesh_api, layer_replay) - 424usize];
    [
        "Offset of field: moemesh_api::tape_get_bytes",
    ][::core::mem::offset_of!(moemesh_api, tape_get_bytes) - 432usize];
    [
        "Offset of field: moemesh_api::layer_plan_bytes",
    ][::core::mem::offset_of!(moemesh_api, layer_plan_bytes) - 440usize];
    [
        "Offset of field: moemesh_api::layer_balanced_load",
    ][::core::mem::offset_of!(moemesh_api, layer_balanced_load) - 448usize];
    [
        "Offset of field: moemesh_api::layer_get_memory",
    ][::core::mem::offset_of!(moemesh_api, layer_get_memory) - 456usize];
    [
        "Offset of field: moemesh_api::tape_destroy",
    ][::core::mem::offset_of!(moemesh_api, tape_destroy) - 464usize];
    [
        "Offset of field: moemesh_api::tape_get_routing",
    ][::core::mem::offset_of!(moemesh_api, tape_get_routing) - 472usize];
    [
        "Offset of field: moemesh_api::layer_get_statistics",
    ][::core::mem::offset_of!(moemesh_api, layer_get_statistics) - 480usize];
    [
        "Offset of field: moemesh_api::layer_get_rows",
    ][::core::mem::offset_of!(moemesh_api, layer_get_rows) - 488usize];
    [
        "Offset of field: moemesh_api::layer_get_bias",
    ][::core::mem::offset_of!(moemesh_api, layer_get_bias) - 496usize];
    [
        "Offset of field: moemesh_api::layer_set_bias",
    ][::core::mem::offset_of!(moemesh_api, layer_set_bias) - 504usize];
    [
        "Offset of field: moemesh_api::optimizer_params_init",
    ][::core::mem::offset_of!(moemesh_api, optimizer_params_init) - 512usize];
    [
        "Offset of field: moemesh_api::optimizer_create",
    ][::core::mem::offset_of!(moemesh_api, optimizer_create) - 520usize];
    [
        "Offset of field: moemesh_api::optimizer_destroy",
    ][::core::mem::offset_of!(moemesh_api, optimizer_destroy) - 528usize];
    [
        "Offset of field: moemesh_api::step_params_init",
    ][::core::mem::offset_of!(moemesh_api, step_params_init) - 536usize];
    [
        "Offset of field: moemesh_api::step_begin",
    ][::core::mem::offset_of!(moemesh_api, step_begin) - 544usize];
    [
        "Offset of field: moemesh_api::loss_tokens",
    ][::core::mem::offset_of!(moemesh_api, loss_tokens) - 552usize];
    [
        "Offset of field: moemesh_api::update_params_init",
    ][::core::mem::offset_of!(moemesh_api, update_params_init) - 560usize];
    [
        "Offset of field: moemesh_api::optimizer_step",
    ][::core::mem::offset_of!(moemesh_api, optimizer_step) - 568usize];
    [
        "Offset of field: moemesh_api::step_end",
    ][::core::mem::offset_of!(moemesh_api, step_end) - 576usize];
    [
        "Offset of field: moemesh_api::optimizer_get_bytes",
    ][::core::mem::offset_of!(moemesh_api, optimizer_get_bytes) - 584usize];
    [
        "Offset of field: moemesh_api::optimizer_get_counters",
    ][::core::mem::offset_of!(moemesh_api, optimizer_get_counters) - 592usize];
    [
        "Offset of field: moemesh_api::optimizer_set_counters",
    ][::core::mem::offset_of!(moemesh_api, optimizer_set_counters) - 600usize];
    [
        "Offset of field: moemesh_api::pipeline_params_init",
    ][::core::mem::offset_of!(moemesh_api, pipeline_params_init) - 608usize];
    [
        "Offset of field: moemesh_api::pipeline_run_init",
    ][::core::mem::offset_of!(moemesh_api, pipeline_run_init) - 616usize];
    [
        "Offset of field: moemesh_api::pipeline_create",
    ][::core::mem::offset_of!(moemesh_api, pipeline_create) - 624usize];
    [
        "Offset of field: moemesh_api::pipeline_destroy",
    ][::core::mem::offset_of!(moemesh_api, pipeline_destroy) - 632usize];
    [
        "Offset of field: moemesh_api::pipeline_begin",
    ][::core::mem::offset_of!(moemesh_api, pipeline_begin) - 640usize];
    [
        "Offset of field: moemesh_api::pipeline_next",
    ][::core::mem::offset_of!(moemesh_api, pipeline_next) - 648usize];
    [
        "Offset of field: moemesh_api::pipeline_done",
    ][::core::mem::offset_of!(moemesh_api, pipeline_done) - 656usize];
    [
        "Offset of field: moemesh_api::pipeline_execute",
    ][::core::mem::offset_of!(moemesh_api, pipeline_execute) - 664usize];
    [
        "Offset of field: moemesh_api::pipeline_get_info",
    ][::core::mem::offset_of!(moemesh_api, pipeline_get_info) - 672usize];
    [
        "Offset of field: moemesh_api::bill_params_init",
    ][::core::mem::offset_of!(moemesh_api, bill_params_init) - 680usize];
    [
        "Offset of field: moemesh_api::bill_create",
    ][::core::mem::offset_of!(moemesh_api, bill_create) - 688usize];
    [
        "Offset of field: moemesh_api::bill_destroy",
    ][::core::mem::offset_of!(moemesh_api, bill_destroy) - 696usize];
    [
        "Offset of field: moemesh_api::bill_add_layer",
    ][::core::mem::offset_of!(moemesh_api, bill_add_layer) - 704usize];
    [
        "Offset of field: moemesh_api::bill_add_parameter",
    ][::core::mem::offset_of!(moemesh_api, bill_add_parameter) - 712usize];
    [
        "Offset of field: moemesh_api::bill_set_pipeline",
    ][::core::mem::offset_of!(moemesh_api, bill_set_pipeline) - 720usize];
    [
        "Offset of field: moemesh_api::bill_get_count",
    ][::core::mem::offset_of!(moemesh_api, bill_get_count) - 728usize];
    [
        "Offset of field: moemesh_api::bill_get_entry",
    ][::core::mem::offset_of!(moemesh_api, bill_get_entry) - 736usize];
    [
        "Offset of field: moemesh_api::report_params_init",
    ][::core::mem::offset_of!(moemesh_api, report_params_init) - 744usize];
    [
        "Offset of field: moemesh_api::report_create",
    ][::core::mem::offset_of!(moemesh_api, report_create) - 752usize];
    [
        "Offset of field: moemesh_api::report_stop",
    ][::core::mem::offset_of!(moemesh_api, report_stop) - 760usize];
    [
        "Offset of field: moemesh_api::report_destroy",
    ][::core::mem::offset_of!(moemesh_api, report_destroy) - 768usize];
    [
        "Offset of field: moemesh_api::report_mark_begin",
    ][::core::mem::offset_of!(moemesh_api, report_mark_begin) - 776usize];
    [
        "Offset of field: moemesh_api::report_mark_end",
    ][::core::mem::offset_of!(moemesh_api, report_mark_end) - 784usize];
    [
        "Offset of field: moemesh_api::report_collect",
    ][::core::mem::offset_of!(moemesh_api, report_collect) - 792usize];
    [
        "Offset of field: moemesh_api::report_get_summary",
    ][::core::mem::offset_of!(moemesh_api, report_get_summary) - 800usize];
    [
        "Offset of field: moemesh_api::report_get_layer",
    ][::core::mem::offset_of!(moemesh_api, report_get_layer) - 808usize];
    [
        "Offset of field: moemesh_api::report_get_step",
    ][::core::mem::offset_of!(moemesh_api, report_get_step) - 816usize];
    [
        "Offset of field: moemesh_api::report_write",
    ][::core::mem::offset_of!(moemesh_api, report_write) - 824usize];
    [
        "Offset of field: moemesh_api::runtime_get_info",
    ][::core::mem::offset_of!(moemesh_api, runtime_get_info) - 832usize];
    [
        "Offset of field: moemesh_api::view_copy",
    ][::core::mem::offset_of!(moemesh_api, view_copy) - 840usize];
};
pub type moemesh_get_api_function = ::core::option::Option<
    unsafe extern "C" fn(abi_version: i32) -> *const moemesh_api,
>;
