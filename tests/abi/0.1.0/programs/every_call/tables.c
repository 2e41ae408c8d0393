#include "reflect.h"
#include "world.h"

static const struct field fields_moemesh_view[] = {
    {"dtype", KIND_INT32, offsetof(moemesh_view, dtype), sizeof((((moemesh_view*)0)->dtype)), 1, -1, NULL},
    {"memory", KIND_INT32, offsetof(moemesh_view, memory), sizeof((((moemesh_view*)0)->memory)), 1, -1, NULL},
    {"rank", KIND_INT32, offsetof(moemesh_view, rank), sizeof((((moemesh_view*)0)->rank)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_view, reserved), sizeof((((moemesh_view*)0)->reserved)), 1, -1, NULL},
    {"extents", KIND_INT64, offsetof(moemesh_view, extents), sizeof((((moemesh_view*)0)->extents[0])), 4, -1, NULL},
    {"strides", KIND_INT64, offsetof(moemesh_view, strides), sizeof((((moemesh_view*)0)->strides[0])), 4, -1, NULL},
    {"data", KIND_POINTER, offsetof(moemesh_view, data), sizeof((((moemesh_view*)0)->data)), 1, -1, NULL},
};
static const struct type type_moemesh_view = {"moemesh_view", sizeof(moemesh_view), sizeof(((moemesh_view*)0)->dtype) + sizeof(((moemesh_view*)0)->memory) + sizeof(((moemesh_view*)0)->rank) + sizeof(((moemesh_view*)0)->reserved) + sizeof(((moemesh_view*)0)->extents) + sizeof(((moemesh_view*)0)->strides) + sizeof(((moemesh_view*)0)->data) + 0, 0, 7, fields_moemesh_view};
static const struct field fields_moemesh_comm[] = {
    {"handle", KIND_INT64, offsetof(moemesh_comm, handle), sizeof((((moemesh_comm*)0)->handle)), 1, -1, NULL},
    {"kind", KIND_INT32, offsetof(moemesh_comm, kind), sizeof((((moemesh_comm*)0)->kind)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_comm, reserved), sizeof((((moemesh_comm*)0)->reserved)), 1, -1, NULL},
};
static const struct type type_moemesh_comm = {"moemesh_comm", sizeof(moemesh_comm), sizeof(((moemesh_comm*)0)->handle) + sizeof(((moemesh_comm*)0)->kind) + sizeof(((moemesh_comm*)0)->reserved) + 0, 0, 3, fields_moemesh_comm};
static const struct field fields_moemesh_context_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_context_params, struct_size), sizeof((((moemesh_context_params*)0)->struct_size)), 1, -1, NULL},
    {"comm", KIND_STRUCT, offsetof(moemesh_context_params, comm), sizeof((((moemesh_context_params*)0)->comm)), 1, -1, &type_moemesh_comm},
    {"log", KIND_POINTER, offsetof(moemesh_context_params, log), sizeof((((moemesh_context_params*)0)->log)), 1, -1, NULL},
    {"log_user", KIND_ANY, offsetof(moemesh_context_params, log_user), sizeof((((moemesh_context_params*)0)->log_user)), 1, -1, NULL},
    {"allocate", KIND_POINTER, offsetof(moemesh_context_params, allocate), sizeof((((moemesh_context_params*)0)->allocate)), 1, -1, NULL},
    {"free", KIND_POINTER, offsetof(moemesh_context_params, free), sizeof((((moemesh_context_params*)0)->free)), 1, -1, NULL},
    {"allocator_user", KIND_ANY, offsetof(moemesh_context_params, allocator_user), sizeof((((moemesh_context_params*)0)->allocator_user)), 1, -1, NULL},
    {"clock", KIND_POINTER, offsetof(moemesh_context_params, clock), sizeof((((moemesh_context_params*)0)->clock)), 1, -1, NULL},
    {"clock_user", KIND_ANY, offsetof(moemesh_context_params, clock_user), sizeof((((moemesh_context_params*)0)->clock_user)), 1, -1, NULL},
    {"timeout_seconds", KIND_DOUBLE, offsetof(moemesh_context_params, timeout_seconds), sizeof((((moemesh_context_params*)0)->timeout_seconds)), 1, -1, NULL},
    {"log_level", KIND_INT32, offsetof(moemesh_context_params, log_level), sizeof((((moemesh_context_params*)0)->log_level)), 1, -1, NULL},
    {"mpi_init", KIND_INT32, offsetof(moemesh_context_params, mpi_init), sizeof((((moemesh_context_params*)0)->mpi_init)), 1, -1, NULL},
    {"threads", KIND_INT32, offsetof(moemesh_context_params, threads), sizeof((((moemesh_context_params*)0)->threads)), 1, -1, NULL},
    {"progress", KIND_INT32, offsetof(moemesh_context_params, progress), sizeof((((moemesh_context_params*)0)->progress)), 1, -1, NULL},
    {"device", KIND_INT32, offsetof(moemesh_context_params, device), sizeof((((moemesh_context_params*)0)->device)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_context_params, reserved), sizeof((((moemesh_context_params*)0)->reserved)), 1, -1, NULL},
};
static const struct type type_moemesh_context_params = {"moemesh_context_params", sizeof(moemesh_context_params), sizeof(((moemesh_context_params*)0)->struct_size) + sizeof(((moemesh_context_params*)0)->comm) + sizeof(((moemesh_context_params*)0)->log) + sizeof(((moemesh_context_params*)0)->log_user) + sizeof(((moemesh_context_params*)0)->allocate) + sizeof(((moemesh_context_params*)0)->free) + sizeof(((moemesh_context_params*)0)->allocator_user) + sizeof(((moemesh_context_params*)0)->clock) + sizeof(((moemesh_context_params*)0)->clock_user) + sizeof(((moemesh_context_params*)0)->timeout_seconds) + sizeof(((moemesh_context_params*)0)->log_level) + sizeof(((moemesh_context_params*)0)->mpi_init) + sizeof(((moemesh_context_params*)0)->threads) + sizeof(((moemesh_context_params*)0)->progress) + sizeof(((moemesh_context_params*)0)->device) + sizeof(((moemesh_context_params*)0)->reserved) + 0, 1, 16, fields_moemesh_context_params};
static const struct field fields_moemesh_context_info[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_context_info, struct_size), sizeof((((moemesh_context_info*)0)->struct_size)), 1, -1, NULL},
    {"rank", KIND_INT64, offsetof(moemesh_context_info, rank), sizeof((((moemesh_context_info*)0)->rank)), 1, -1, NULL},
    {"size", KIND_INT64, offsetof(moemesh_context_info, size), sizeof((((moemesh_context_info*)0)->size)), 1, -1, NULL},
    {"node", KIND_INT64, offsetof(moemesh_context_info, node), sizeof((((moemesh_context_info*)0)->node)), 1, -1, NULL},
    {"nodes", KIND_INT64, offsetof(moemesh_context_info, nodes), sizeof((((moemesh_context_info*)0)->nodes)), 1, -1, NULL},
    {"comm_kind", KIND_INT32, offsetof(moemesh_context_info, comm_kind), sizeof((((moemesh_context_info*)0)->comm_kind)), 1, -1, NULL},
    {"threads", KIND_INT32, offsetof(moemesh_context_info, threads), sizeof((((moemesh_context_info*)0)->threads)), 1, -1, NULL},
    {"progress", KIND_INT32, offsetof(moemesh_context_info, progress), sizeof((((moemesh_context_info*)0)->progress)), 1, -1, NULL},
    {"memory", KIND_INT32, offsetof(moemesh_context_info, memory), sizeof((((moemesh_context_info*)0)->memory)), 1, -1, NULL},
    {"device", KIND_INT32, offsetof(moemesh_context_info, device), sizeof((((moemesh_context_info*)0)->device)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_context_info, reserved), sizeof((((moemesh_context_info*)0)->reserved)), 1, -1, NULL},
};
static const struct type type_moemesh_context_info = {"moemesh_context_info", sizeof(moemesh_context_info), sizeof(((moemesh_context_info*)0)->struct_size) + sizeof(((moemesh_context_info*)0)->rank) + sizeof(((moemesh_context_info*)0)->size) + sizeof(((moemesh_context_info*)0)->node) + sizeof(((moemesh_context_info*)0)->nodes) + sizeof(((moemesh_context_info*)0)->comm_kind) + sizeof(((moemesh_context_info*)0)->threads) + sizeof(((moemesh_context_info*)0)->progress) + sizeof(((moemesh_context_info*)0)->memory) + sizeof(((moemesh_context_info*)0)->device) + sizeof(((moemesh_context_info*)0)->reserved) + 0, 1, 11, fields_moemesh_context_info};
static const struct field fields_moemesh_mesh_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_mesh_params, struct_size), sizeof((((moemesh_mesh_params*)0)->struct_size)), 1, -1, NULL},
    {"tp", KIND_INT32, offsetof(moemesh_mesh_params, tp), sizeof((((moemesh_mesh_params*)0)->tp)), 1, -1, NULL},
    {"ep", KIND_INT32, offsetof(moemesh_mesh_params, ep), sizeof((((moemesh_mesh_params*)0)->ep)), 1, -1, NULL},
    {"pp", KIND_INT32, offsetof(moemesh_mesh_params, pp), sizeof((((moemesh_mesh_params*)0)->pp)), 1, -1, NULL},
    {"dp", KIND_INT32, offsetof(moemesh_mesh_params, dp), sizeof((((moemesh_mesh_params*)0)->dp)), 1, -1, NULL},
    {"expert_tp", KIND_INT32, offsetof(moemesh_mesh_params, expert_tp), sizeof((((moemesh_mesh_params*)0)->expert_tp)), 1, -1, NULL},
    {"ranks_per_node", KIND_INT32, offsetof(moemesh_mesh_params, ranks_per_node), sizeof((((moemesh_mesh_params*)0)->ranks_per_node)), 1, -1, NULL},
    {"order", KIND_POINTER, offsetof(moemesh_mesh_params, order), sizeof((((moemesh_mesh_params*)0)->order)), 1, -1, NULL},
};
static const struct type type_moemesh_mesh_params = {"moemesh_mesh_params", sizeof(moemesh_mesh_params), sizeof(((moemesh_mesh_params*)0)->struct_size) + sizeof(((moemesh_mesh_params*)0)->tp) + sizeof(((moemesh_mesh_params*)0)->ep) + sizeof(((moemesh_mesh_params*)0)->pp) + sizeof(((moemesh_mesh_params*)0)->dp) + sizeof(((moemesh_mesh_params*)0)->expert_tp) + sizeof(((moemesh_mesh_params*)0)->ranks_per_node) + sizeof(((moemesh_mesh_params*)0)->order) + 0, 1, 8, fields_moemesh_mesh_params};
static const struct field fields_moemesh_coordinates[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_coordinates, struct_size), sizeof((((moemesh_coordinates*)0)->struct_size)), 1, -1, NULL},
    {"tp", KIND_INT64, offsetof(moemesh_coordinates, tp), sizeof((((moemesh_coordinates*)0)->tp)), 1, -1, NULL},
    {"ep", KIND_INT64, offsetof(moemesh_coordinates, ep), sizeof((((moemesh_coordinates*)0)->ep)), 1, -1, NULL},
    {"pp", KIND_INT64, offsetof(moemesh_coordinates, pp), sizeof((((moemesh_coordinates*)0)->pp)), 1, -1, NULL},
    {"dp", KIND_INT64, offsetof(moemesh_coordinates, dp), sizeof((((moemesh_coordinates*)0)->dp)), 1, -1, NULL},
    {"expert_tp", KIND_INT64, offsetof(moemesh_coordinates, expert_tp), sizeof((((moemesh_coordinates*)0)->expert_tp)), 1, -1, NULL},
    {"expert_ep", KIND_INT64, offsetof(moemesh_coordinates, expert_ep), sizeof((((moemesh_coordinates*)0)->expert_ep)), 1, -1, NULL},
    {"expert_dp", KIND_INT64, offsetof(moemesh_coordinates, expert_dp), sizeof((((moemesh_coordinates*)0)->expert_dp)), 1, -1, NULL},
    {"data_shard", KIND_INT64, offsetof(moemesh_coordinates, data_shard), sizeof((((moemesh_coordinates*)0)->data_shard)), 1, -1, NULL},
};
static const struct type type_moemesh_coordinates = {"moemesh_coordinates", sizeof(moemesh_coordinates), sizeof(((moemesh_coordinates*)0)->struct_size) + sizeof(((moemesh_coordinates*)0)->tp) + sizeof(((moemesh_coordinates*)0)->ep) + sizeof(((moemesh_coordinates*)0)->pp) + sizeof(((moemesh_coordinates*)0)->dp) + sizeof(((moemesh_coordinates*)0)->expert_tp) + sizeof(((moemesh_coordinates*)0)->expert_ep) + sizeof(((moemesh_coordinates*)0)->expert_dp) + sizeof(((moemesh_coordinates*)0)->data_shard) + 0, 1, 9, fields_moemesh_coordinates};
static const struct field fields_moemesh_group[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_group, struct_size), sizeof((((moemesh_group*)0)->struct_size)), 1, -1, NULL},
    {"size", KIND_INT64, offsetof(moemesh_group, size), sizeof((((moemesh_group*)0)->size)), 1, -1, NULL},
    {"position", KIND_INT64, offsetof(moemesh_group, position), sizeof((((moemesh_group*)0)->position)), 1, -1, NULL},
    {"groups", KIND_INT64, offsetof(moemesh_group, groups), sizeof((((moemesh_group*)0)->groups)), 1, -1, NULL},
    {"node_crossing", KIND_INT64, offsetof(moemesh_group, node_crossing), sizeof((((moemesh_group*)0)->node_crossing)), 1, -1, NULL},
};
static const struct type type_moemesh_group = {"moemesh_group", sizeof(moemesh_group), sizeof(((moemesh_group*)0)->struct_size) + sizeof(((moemesh_group*)0)->size) + sizeof(((moemesh_group*)0)->position) + sizeof(((moemesh_group*)0)->groups) + sizeof(((moemesh_group*)0)->node_crossing) + 0, 1, 5, fields_moemesh_group};
static const struct field fields_moemesh_axis_report[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_axis_report, struct_size), sizeof((((moemesh_axis_report*)0)->struct_size)), 1, -1, NULL},
    {"size", KIND_INT64, offsetof(moemesh_axis_report, size), sizeof((((moemesh_axis_report*)0)->size)), 1, -1, NULL},
    {"stride", KIND_INT64, offsetof(moemesh_axis_report, stride), sizeof((((moemesh_axis_report*)0)->stride)), 1, -1, NULL},
    {"node_crossing", KIND_INT64, offsetof(moemesh_axis_report, node_crossing), sizeof((((moemesh_axis_report*)0)->node_crossing)), 1, -1, NULL},
};
static const struct type type_moemesh_axis_report = {"moemesh_axis_report", sizeof(moemesh_axis_report), sizeof(((moemesh_axis_report*)0)->struct_size) + sizeof(((moemesh_axis_report*)0)->size) + sizeof(((moemesh_axis_report*)0)->stride) + sizeof(((moemesh_axis_report*)0)->node_crossing) + 0, 1, 4, fields_moemesh_axis_report};
static const struct field fields_moemesh_ledger_entry[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_ledger_entry, struct_size), sizeof((((moemesh_ledger_entry*)0)->struct_size)), 1, -1, NULL},
    {"calls", KIND_INT64, offsetof(moemesh_ledger_entry, calls), sizeof((((moemesh_ledger_entry*)0)->calls)), 1, -1, NULL},
    {"messages", KIND_INT64, offsetof(moemesh_ledger_entry, messages), sizeof((((moemesh_ledger_entry*)0)->messages)), 1, -1, NULL},
    {"bytes", KIND_INT64, offsetof(moemesh_ledger_entry, bytes), sizeof((((moemesh_ledger_entry*)0)->bytes)), 1, -1, NULL},
    {"bytes_internode", KIND_INT64, offsetof(moemesh_ledger_entry, bytes_internode), sizeof((((moemesh_ledger_entry*)0)->bytes_internode)), 1, -1, NULL},
    {"axes", KIND_INT32, offsetof(moemesh_ledger_entry, axes), sizeof((((moemesh_ledger_entry*)0)->axes)), 1, -1, NULL},
    {"family", KIND_INT32, offsetof(moemesh_ledger_entry, family), sizeof((((moemesh_ledger_entry*)0)->family)), 1, -1, NULL},
    {"phase", KIND_INT32, offsetof(moemesh_ledger_entry, phase), sizeof((((moemesh_ledger_entry*)0)->phase)), 1, -1, NULL},
    {"collective", KIND_INT32, offsetof(moemesh_ledger_entry, collective), sizeof((((moemesh_ledger_entry*)0)->collective)), 1, -1, NULL},
};
static const struct type type_moemesh_ledger_entry = {"moemesh_ledger_entry", sizeof(moemesh_ledger_entry), sizeof(((moemesh_ledger_entry*)0)->struct_size) + sizeof(((moemesh_ledger_entry*)0)->calls) + sizeof(((moemesh_ledger_entry*)0)->messages) + sizeof(((moemesh_ledger_entry*)0)->bytes) + sizeof(((moemesh_ledger_entry*)0)->bytes_internode) + sizeof(((moemesh_ledger_entry*)0)->axes) + sizeof(((moemesh_ledger_entry*)0)->family) + sizeof(((moemesh_ledger_entry*)0)->phase) + sizeof(((moemesh_ledger_entry*)0)->collective) + 0, 1, 9, fields_moemesh_ledger_entry};
static const struct field fields_moemesh_family_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_family_params, struct_size), sizeof((((moemesh_family_params*)0)->struct_size)), 1, -1, NULL},
    {"seed", KIND_INT64, offsetof(moemesh_family_params, seed), sizeof((((moemesh_family_params*)0)->seed)), 1, -1, NULL},
    {"kind", KIND_INT32, offsetof(moemesh_family_params, kind), sizeof((((moemesh_family_params*)0)->kind)), 1, -1, NULL},
    {"dtype", KIND_INT32, offsetof(moemesh_family_params, dtype), sizeof((((moemesh_family_params*)0)->dtype)), 1, -1, NULL},
};
static const struct type type_moemesh_family_params = {"moemesh_family_params", sizeof(moemesh_family_params), sizeof(((moemesh_family_params*)0)->struct_size) + sizeof(((moemesh_family_params*)0)->seed) + sizeof(((moemesh_family_params*)0)->kind) + sizeof(((moemesh_family_params*)0)->dtype) + 0, 1, 4, fields_moemesh_family_params};
static const struct field fields_moemesh_parameter_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_parameter_params, struct_size), sizeof((((moemesh_parameter_params*)0)->struct_size)), 1, -1, NULL},
    {"name", KIND_POINTER, offsetof(moemesh_parameter_params, name), sizeof((((moemesh_parameter_params*)0)->name)), 1, -1, NULL},
    {"experts", KIND_INT64, offsetof(moemesh_parameter_params, experts), sizeof((((moemesh_parameter_params*)0)->experts)), 1, -1, NULL},
    {"extents", KIND_INT64, offsetof(moemesh_parameter_params, extents), sizeof((((moemesh_parameter_params*)0)->extents[0])), 4, -1, NULL},
    {"data", KIND_POINTER, offsetof(moemesh_parameter_params, data), sizeof((((moemesh_parameter_params*)0)->data)), 1, -1, NULL},
    {"gradient", KIND_POINTER, offsetof(moemesh_parameter_params, gradient), sizeof((((moemesh_parameter_params*)0)->gradient)), 1, -1, NULL},
    {"init_value", KIND_DOUBLE, offsetof(moemesh_parameter_params, init_value), sizeof((((moemesh_parameter_params*)0)->init_value)), 1, -1, NULL},
    {"decay_scale", KIND_DOUBLE, offsetof(moemesh_parameter_params, decay_scale), sizeof((((moemesh_parameter_params*)0)->decay_scale)), 1, -1, NULL},
    {"learning_rate_scale", KIND_DOUBLE, offsetof(moemesh_parameter_params, learning_rate_scale), sizeof((((moemesh_parameter_params*)0)->learning_rate_scale)), 1, -1, NULL},
    {"rank", KIND_INT32, offsetof(moemesh_parameter_params, rank), sizeof((((moemesh_parameter_params*)0)->rank)), 1, -1, NULL},
    {"dtype", KIND_INT32, offsetof(moemesh_parameter_params, dtype), sizeof((((moemesh_parameter_params*)0)->dtype)), 1, -1, NULL},
    {"tp_kind", KIND_INT32, offsetof(moemesh_parameter_params, tp_kind), sizeof((((moemesh_parameter_params*)0)->tp_kind)), 1, -1, NULL},
    {"tp_dim", KIND_INT32, offsetof(moemesh_parameter_params, tp_dim), sizeof((((moemesh_parameter_params*)0)->tp_dim)), 1, -1, NULL},
    {"init_kind", KIND_INT32, offsetof(moemesh_parameter_params, init_kind), sizeof((((moemesh_parameter_params*)0)->init_kind)), 1, -1, NULL},
    {"tied", KIND_INT32, offsetof(moemesh_parameter_params, tied), sizeof((((moemesh_parameter_params*)0)->tied)), 1, -1, NULL},
};
static const struct type type_moemesh_parameter_params = {"moemesh_parameter_params", sizeof(moemesh_parameter_params), sizeof(((moemesh_parameter_params*)0)->struct_size) + sizeof(((moemesh_parameter_params*)0)->name) + sizeof(((moemesh_parameter_params*)0)->experts) + sizeof(((moemesh_parameter_params*)0)->extents) + sizeof(((moemesh_parameter_params*)0)->data) + sizeof(((moemesh_parameter_params*)0)->gradient) + sizeof(((moemesh_parameter_params*)0)->init_value) + sizeof(((moemesh_parameter_params*)0)->decay_scale) + sizeof(((moemesh_parameter_params*)0)->learning_rate_scale) + sizeof(((moemesh_parameter_params*)0)->rank) + sizeof(((moemesh_parameter_params*)0)->dtype) + sizeof(((moemesh_parameter_params*)0)->tp_kind) + sizeof(((moemesh_parameter_params*)0)->tp_dim) + sizeof(((moemesh_parameter_params*)0)->init_kind) + sizeof(((moemesh_parameter_params*)0)->tied) + 0, 1, 15, fields_moemesh_parameter_params};
static const struct field fields_moemesh_parameter_info[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_parameter_info, struct_size), sizeof((((moemesh_parameter_info*)0)->struct_size)), 1, -1, NULL},
    {"experts", KIND_INT64, offsetof(moemesh_parameter_info, experts), sizeof((((moemesh_parameter_info*)0)->experts)), 1, -1, NULL},
    {"first_expert", KIND_INT64, offsetof(moemesh_parameter_info, first_expert), sizeof((((moemesh_parameter_info*)0)->first_expert)), 1, -1, NULL},
    {"local_experts", KIND_INT64, offsetof(moemesh_parameter_info, local_experts), sizeof((((moemesh_parameter_info*)0)->local_experts)), 1, -1, NULL},
    {"elements", KIND_INT64, offsetof(moemesh_parameter_info, elements), sizeof((((moemesh_parameter_info*)0)->elements)), 1, -1, NULL},
    {"extents", KIND_INT64, offsetof(moemesh_parameter_info, extents), sizeof((((moemesh_parameter_info*)0)->extents[0])), 4, -1, NULL},
    {"rank", KIND_INT32, offsetof(moemesh_parameter_info, rank), sizeof((((moemesh_parameter_info*)0)->rank)), 1, -1, NULL},
    {"family", KIND_INT32, offsetof(moemesh_parameter_info, family), sizeof((((moemesh_parameter_info*)0)->family)), 1, -1, NULL},
    {"tp_kind", KIND_INT32, offsetof(moemesh_parameter_info, tp_kind), sizeof((((moemesh_parameter_info*)0)->tp_kind)), 1, -1, NULL},
    {"tp_dim", KIND_INT32, offsetof(moemesh_parameter_info, tp_dim), sizeof((((moemesh_parameter_info*)0)->tp_dim)), 1, -1, NULL},
};
static const struct type type_moemesh_parameter_info = {"moemesh_parameter_info", sizeof(moemesh_parameter_info), sizeof(((moemesh_parameter_info*)0)->struct_size) + sizeof(((moemesh_parameter_info*)0)->experts) + sizeof(((moemesh_parameter_info*)0)->first_expert) + sizeof(((moemesh_parameter_info*)0)->local_experts) + sizeof(((moemesh_parameter_info*)0)->elements) + sizeof(((moemesh_parameter_info*)0)->extents) + sizeof(((moemesh_parameter_info*)0)->rank) + sizeof(((moemesh_parameter_info*)0)->family) + sizeof(((moemesh_parameter_info*)0)->tp_kind) + sizeof(((moemesh_parameter_info*)0)->tp_dim) + 0, 1, 10, fields_moemesh_parameter_info};
static const struct field fields_moemesh_layer_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_layer_params, struct_size), sizeof((((moemesh_layer_params*)0)->struct_size)), 1, -1, NULL},
    {"name", KIND_POINTER, offsetof(moemesh_layer_params, name), sizeof((((moemesh_layer_params*)0)->name)), 1, -1, NULL},
    {"hidden", KIND_INT64, offsetof(moemesh_layer_params, hidden), sizeof((((moemesh_layer_params*)0)->hidden)), 1, -1, NULL},
    {"ffn", KIND_INT64, offsetof(moemesh_layer_params, ffn), sizeof((((moemesh_layer_params*)0)->ffn)), 1, -1, NULL},
    {"experts", KIND_INT64, offsetof(moemesh_layer_params, experts), sizeof((((moemesh_layer_params*)0)->experts)), 1, -1, NULL},
    {"shared_ffn", KIND_INT64, offsetof(moemesh_layer_params, shared_ffn), sizeof((((moemesh_layer_params*)0)->shared_ffn)), 1, -1, NULL},
    {"gate_scale", KIND_DOUBLE, offsetof(moemesh_layer_params, gate_scale), sizeof((((moemesh_layer_params*)0)->gate_scale)), 1, -1, NULL},
    {"init_std_router", KIND_DOUBLE, offsetof(moemesh_layer_params, init_std_router), sizeof((((moemesh_layer_params*)0)->init_std_router)), 1, -1, NULL},
    {"init_std_in", KIND_DOUBLE, offsetof(moemesh_layer_params, init_std_in), sizeof((((moemesh_layer_params*)0)->init_std_in)), 1, -1, NULL},
    {"init_std_out", KIND_DOUBLE, offsetof(moemesh_layer_params, init_std_out), sizeof((((moemesh_layer_params*)0)->init_std_out)), 1, -1, NULL},
    {"capacity_factor", KIND_DOUBLE, offsetof(moemesh_layer_params, capacity_factor), sizeof((((moemesh_layer_params*)0)->capacity_factor)), 1, -1, NULL},
    {"aux_coefficient", KIND_DOUBLE, offsetof(moemesh_layer_params, aux_coefficient), sizeof((((moemesh_layer_params*)0)->aux_coefficient)), 1, -1, NULL},
    {"z_coefficient", KIND_DOUBLE, offsetof(moemesh_layer_params, z_coefficient), sizeof((((moemesh_layer_params*)0)->z_coefficient)), 1, -1, NULL},
    {"bias_rate", KIND_DOUBLE, offsetof(moemesh_layer_params, bias_rate), sizeof((((moemesh_layer_params*)0)->bias_rate)), 1, -1, NULL},
    {"top_k", KIND_INT32, offsetof(moemesh_layer_params, top_k), sizeof((((moemesh_layer_params*)0)->top_k)), 1, -1, NULL},
    {"activation", KIND_INT32, offsetof(moemesh_layer_params, activation), sizeof((((moemesh_layer_params*)0)->activation)), 1, -1, NULL},
    {"score", KIND_INT32, offsetof(moemesh_layer_params, score), sizeof((((moemesh_layer_params*)0)->score)), 1, -1, NULL},
    {"gate", KIND_INT32, offsetof(moemesh_layer_params, gate), sizeof((((moemesh_layer_params*)0)->gate)), 1, -1, NULL},
    {"router", KIND_INT32, offsetof(moemesh_layer_params, router), sizeof((((moemesh_layer_params*)0)->router)), 1, -1, NULL},
    {"nonfinite", KIND_INT32, offsetof(moemesh_layer_params, nonfinite), sizeof((((moemesh_layer_params*)0)->nonfinite)), 1, -1, NULL},
    {"drop", KIND_INT32, offsetof(moemesh_layer_params, drop), sizeof((((moemesh_layer_params*)0)->drop)), 1, -1, NULL},
    {"aux_scope", KIND_INT32, offsetof(moemesh_layer_params, aux_scope), sizeof((((moemesh_layer_params*)0)->aux_scope)), 1, -1, NULL},
    {"combine_dtype", KIND_INT32, offsetof(moemesh_layer_params, combine_dtype), sizeof((((moemesh_layer_params*)0)->combine_dtype)), 1, -1, NULL},
    {"recompute", KIND_INT32, offsetof(moemesh_layer_params, recompute), sizeof((((moemesh_layer_params*)0)->recompute)), 1, -1, NULL},
    {"chunks", KIND_INT32, offsetof(moemesh_layer_params, chunks), sizeof((((moemesh_layer_params*)0)->chunks)), 1, -1, NULL},
    {"products", KIND_INT32, offsetof(moemesh_layer_params, products), sizeof((((moemesh_layer_params*)0)->products)), 1, -1, NULL},
};
static const struct type type_moemesh_layer_params = {"moemesh_layer_params", sizeof(moemesh_layer_params), sizeof(((moemesh_layer_params*)0)->struct_size) + sizeof(((moemesh_layer_params*)0)->name) + sizeof(((moemesh_layer_params*)0)->hidden) + sizeof(((moemesh_layer_params*)0)->ffn) + sizeof(((moemesh_layer_params*)0)->experts) + sizeof(((moemesh_layer_params*)0)->shared_ffn) + sizeof(((moemesh_layer_params*)0)->gate_scale) + sizeof(((moemesh_layer_params*)0)->init_std_router) + sizeof(((moemesh_layer_params*)0)->init_std_in) + sizeof(((moemesh_layer_params*)0)->init_std_out) + sizeof(((moemesh_layer_params*)0)->capacity_factor) + sizeof(((moemesh_layer_params*)0)->aux_coefficient) + sizeof(((moemesh_layer_params*)0)->z_coefficient) + sizeof(((moemesh_layer_params*)0)->bias_rate) + sizeof(((moemesh_layer_params*)0)->top_k) + sizeof(((moemesh_layer_params*)0)->activation) + sizeof(((moemesh_layer_params*)0)->score) + sizeof(((moemesh_layer_params*)0)->gate) + sizeof(((moemesh_layer_params*)0)->router) + sizeof(((moemesh_layer_params*)0)->nonfinite) + sizeof(((moemesh_layer_params*)0)->drop) + sizeof(((moemesh_layer_params*)0)->aux_scope) + sizeof(((moemesh_layer_params*)0)->combine_dtype) + sizeof(((moemesh_layer_params*)0)->recompute) + sizeof(((moemesh_layer_params*)0)->chunks) + sizeof(((moemesh_layer_params*)0)->products) + 0, 1, 26, fields_moemesh_layer_params};
static const struct field fields_moemesh_forward_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_forward_params, struct_size), sizeof((((moemesh_forward_params*)0)->struct_size)), 1, -1, NULL},
    {"x", KIND_IN, offsetof(moemesh_forward_params, x), sizeof((((moemesh_forward_params*)0)->x)), 1, -1, &type_moemesh_view},
    {"y", KIND_IN, offsetof(moemesh_forward_params, y), sizeof((((moemesh_forward_params*)0)->y)), 1, -1, &type_moemesh_view},
    {"mask", KIND_IN, offsetof(moemesh_forward_params, mask), sizeof((((moemesh_forward_params*)0)->mask)), 1, -1, &type_moemesh_view},
    {"logits", KIND_IN, offsetof(moemesh_forward_params, logits), sizeof((((moemesh_forward_params*)0)->logits)), 1, -1, &type_moemesh_view},
    {"stream", KIND_STREAM, offsetof(moemesh_forward_params, stream), sizeof((((moemesh_forward_params*)0)->stream)), 1, -1, NULL},
    {"sequences", KIND_INT64, offsetof(moemesh_forward_params, sequences), sizeof((((moemesh_forward_params*)0)->sequences)), 1, -1, NULL},
    {"sequence_layout", KIND_INT32, offsetof(moemesh_forward_params, sequence_layout), sizeof((((moemesh_forward_params*)0)->sequence_layout)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_forward_params, reserved), sizeof((((moemesh_forward_params*)0)->reserved)), 1, -1, NULL},
    {"training", KIND_INT32, offsetof(moemesh_forward_params, training), sizeof((((moemesh_forward_params*)0)->training)), 1, -1, NULL},
    {"microbatch", KIND_INT32, offsetof(moemesh_forward_params, microbatch), sizeof((((moemesh_forward_params*)0)->microbatch)), 1, -1, NULL},
};
static const struct type type_moemesh_forward_params = {"moemesh_forward_params", sizeof(moemesh_forward_params), sizeof(((moemesh_forward_params*)0)->struct_size) + sizeof(((moemesh_forward_params*)0)->x) + sizeof(((moemesh_forward_params*)0)->y) + sizeof(((moemesh_forward_params*)0)->mask) + sizeof(((moemesh_forward_params*)0)->logits) + sizeof(((moemesh_forward_params*)0)->stream) + sizeof(((moemesh_forward_params*)0)->sequences) + sizeof(((moemesh_forward_params*)0)->sequence_layout) + sizeof(((moemesh_forward_params*)0)->reserved) + sizeof(((moemesh_forward_params*)0)->training) + sizeof(((moemesh_forward_params*)0)->microbatch) + 0, 1, 11, fields_moemesh_forward_params};
static const struct field fields_moemesh_backward_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_backward_params, struct_size), sizeof((((moemesh_backward_params*)0)->struct_size)), 1, -1, NULL},
    {"dy", KIND_IN, offsetof(moemesh_backward_params, dy), sizeof((((moemesh_backward_params*)0)->dy)), 1, -1, &type_moemesh_view},
    {"x", KIND_IN, offsetof(moemesh_backward_params, x), sizeof((((moemesh_backward_params*)0)->x)), 1, -1, &type_moemesh_view},
    {"dx", KIND_IN, offsetof(moemesh_backward_params, dx), sizeof((((moemesh_backward_params*)0)->dx)), 1, -1, &type_moemesh_view},
    {"dlogits", KIND_IN, offsetof(moemesh_backward_params, dlogits), sizeof((((moemesh_backward_params*)0)->dlogits)), 1, -1, &type_moemesh_view},
    {"stream", KIND_STREAM, offsetof(moemesh_backward_params, stream), sizeof((((moemesh_backward_params*)0)->stream)), 1, -1, NULL},
};
static const struct type type_moemesh_backward_params = {"moemesh_backward_params", sizeof(moemesh_backward_params), sizeof(((moemesh_backward_params*)0)->struct_size) + sizeof(((moemesh_backward_params*)0)->dy) + sizeof(((moemesh_backward_params*)0)->x) + sizeof(((moemesh_backward_params*)0)->dx) + sizeof(((moemesh_backward_params*)0)->dlogits) + sizeof(((moemesh_backward_params*)0)->stream) + 0, 1, 6, fields_moemesh_backward_params};
static const struct field fields_moemesh_replay_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_replay_params, struct_size), sizeof((((moemesh_replay_params*)0)->struct_size)), 1, -1, NULL},
    {"x", KIND_IN, offsetof(moemesh_replay_params, x), sizeof((((moemesh_replay_params*)0)->x)), 1, -1, &type_moemesh_view},
    {"y", KIND_IN, offsetof(moemesh_replay_params, y), sizeof((((moemesh_replay_params*)0)->y)), 1, -1, &type_moemesh_view},
    {"stream", KIND_STREAM, offsetof(moemesh_replay_params, stream), sizeof((((moemesh_replay_params*)0)->stream)), 1, -1, NULL},
};
static const struct type type_moemesh_replay_params = {"moemesh_replay_params", sizeof(moemesh_replay_params), sizeof(((moemesh_replay_params*)0)->struct_size) + sizeof(((moemesh_replay_params*)0)->x) + sizeof(((moemesh_replay_params*)0)->y) + sizeof(((moemesh_replay_params*)0)->stream) + 0, 1, 4, fields_moemesh_replay_params};
static const struct field fields_moemesh_layer_load[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_layer_load, struct_size), sizeof((((moemesh_layer_load*)0)->struct_size)), 1, -1, NULL},
    {"tokens", KIND_INT64, offsetof(moemesh_layer_load, tokens), sizeof((((moemesh_layer_load*)0)->tokens)), 1, -1, NULL},
    {"sequences", KIND_INT64, offsetof(moemesh_layer_load, sequences), sizeof((((moemesh_layer_load*)0)->sequences)), 1, -1, NULL},
    {"copies_sent", KIND_INT64, offsetof(moemesh_layer_load, copies_sent), sizeof((((moemesh_layer_load*)0)->copies_sent)), 1, -1, NULL},
    {"rows_sent", KIND_INT64, offsetof(moemesh_layer_load, rows_sent), sizeof((((moemesh_layer_load*)0)->rows_sent)), 1, -1, NULL},
    {"copies_received", KIND_INT64, offsetof(moemesh_layer_load, copies_received), sizeof((((moemesh_layer_load*)0)->copies_received)), 1, -1, NULL},
    {"rows_received", KIND_INT64, offsetof(moemesh_layer_load, rows_received), sizeof((((moemesh_layer_load*)0)->rows_received)), 1, -1, NULL},
    {"own_copies", KIND_INT64, offsetof(moemesh_layer_load, own_copies), sizeof((((moemesh_layer_load*)0)->own_copies)), 1, -1, NULL},
    {"own_rows", KIND_INT64, offsetof(moemesh_layer_load, own_rows), sizeof((((moemesh_layer_load*)0)->own_rows)), 1, -1, NULL},
};
static const struct type type_moemesh_layer_load = {"moemesh_layer_load", sizeof(moemesh_layer_load), sizeof(((moemesh_layer_load*)0)->struct_size) + sizeof(((moemesh_layer_load*)0)->tokens) + sizeof(((moemesh_layer_load*)0)->sequences) + sizeof(((moemesh_layer_load*)0)->copies_sent) + sizeof(((moemesh_layer_load*)0)->rows_sent) + sizeof(((moemesh_layer_load*)0)->copies_received) + sizeof(((moemesh_layer_load*)0)->rows_received) + sizeof(((moemesh_layer_load*)0)->own_copies) + sizeof(((moemesh_layer_load*)0)->own_rows) + 0, 1, 9, fields_moemesh_layer_load};
static const struct field fields_moemesh_tape_bytes[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_tape_bytes, struct_size), sizeof((((moemesh_tape_bytes*)0)->struct_size)), 1, -1, NULL},
    {"decision", KIND_INT64, offsetof(moemesh_tape_bytes, decision), sizeof((((moemesh_tape_bytes*)0)->decision)), 1, -1, NULL},
    {"plans", KIND_INT64, offsetof(moemesh_tape_bytes, plans), sizeof((((moemesh_tape_bytes*)0)->plans)), 1, -1, NULL},
    {"copies", KIND_INT64, offsetof(moemesh_tape_bytes, copies), sizeof((((moemesh_tape_bytes*)0)->copies)), 1, -1, NULL},
    {"hidden", KIND_INT64, offsetof(moemesh_tape_bytes, hidden), sizeof((((moemesh_tape_bytes*)0)->hidden)), 1, -1, NULL},
    {"shared_hidden", KIND_INT64, offsetof(moemesh_tape_bytes, shared_hidden), sizeof((((moemesh_tape_bytes*)0)->shared_hidden)), 1, -1, NULL},
    {"total", KIND_INT64, offsetof(moemesh_tape_bytes, total), sizeof((((moemesh_tape_bytes*)0)->total)), 1, -1, NULL},
};
static const struct type type_moemesh_tape_bytes = {"moemesh_tape_bytes", sizeof(moemesh_tape_bytes), sizeof(((moemesh_tape_bytes*)0)->struct_size) + sizeof(((moemesh_tape_bytes*)0)->decision) + sizeof(((moemesh_tape_bytes*)0)->plans) + sizeof(((moemesh_tape_bytes*)0)->copies) + sizeof(((moemesh_tape_bytes*)0)->hidden) + sizeof(((moemesh_tape_bytes*)0)->shared_hidden) + sizeof(((moemesh_tape_bytes*)0)->total) + 0, 1, 7, fields_moemesh_tape_bytes};
static const struct field fields_moemesh_layer_memory[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_layer_memory, struct_size), sizeof((((moemesh_layer_memory*)0)->struct_size)), 1, -1, NULL},
    {"tapes", KIND_INT64, offsetof(moemesh_layer_memory, tapes), sizeof((((moemesh_layer_memory*)0)->tapes)), 1, -1, NULL},
    {"live", KIND_INT64, offsetof(moemesh_layer_memory, live), sizeof((((moemesh_layer_memory*)0)->live)), 1, -1, NULL},
    {"peak", KIND_INT64, offsetof(moemesh_layer_memory, peak), sizeof((((moemesh_layer_memory*)0)->peak)), 1, -1, NULL},
    {"reserved", KIND_INT64, offsetof(moemesh_layer_memory, reserved), sizeof((((moemesh_layer_memory*)0)->reserved)), 1, -1, NULL},
};
static const struct type type_moemesh_layer_memory = {"moemesh_layer_memory", sizeof(moemesh_layer_memory), sizeof(((moemesh_layer_memory*)0)->struct_size) + sizeof(((moemesh_layer_memory*)0)->tapes) + sizeof(((moemesh_layer_memory*)0)->live) + sizeof(((moemesh_layer_memory*)0)->peak) + sizeof(((moemesh_layer_memory*)0)->reserved) + 0, 1, 5, fields_moemesh_layer_memory};
static const struct field fields_moemesh_layer_statistics[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_layer_statistics, struct_size), sizeof((((moemesh_layer_statistics*)0)->struct_size)), 1, -1, NULL},
    {"tokens", KIND_INT64, offsetof(moemesh_layer_statistics, tokens), sizeof((((moemesh_layer_statistics*)0)->tokens)), 1, -1, NULL},
    {"rows", KIND_INT64, offsetof(moemesh_layer_statistics, rows), sizeof((((moemesh_layer_statistics*)0)->rows)), 1, -1, NULL},
    {"copies_sent", KIND_INT64, offsetof(moemesh_layer_statistics, copies_sent), sizeof((((moemesh_layer_statistics*)0)->copies_sent)), 1, -1, NULL},
    {"rows_received", KIND_INT64, offsetof(moemesh_layer_statistics, rows_received), sizeof((((moemesh_layer_statistics*)0)->rows_received)), 1, -1, NULL},
    {"dropped_rows", KIND_INT64, offsetof(moemesh_layer_statistics, dropped_rows), sizeof((((moemesh_layer_statistics*)0)->dropped_rows)), 1, -1, NULL},
    {"nonfinite_tokens", KIND_INT64, offsetof(moemesh_layer_statistics, nonfinite_tokens), sizeof((((moemesh_layer_statistics*)0)->nonfinite_tokens)), 1, -1, NULL},
    {"slots", KIND_INT64, offsetof(moemesh_layer_statistics, slots), sizeof((((moemesh_layer_statistics*)0)->slots)), 1, -1, NULL},
    {"aux_loss", KIND_DOUBLE, offsetof(moemesh_layer_statistics, aux_loss), sizeof((((moemesh_layer_statistics*)0)->aux_loss)), 1, -1, NULL},
    {"z_loss", KIND_DOUBLE, offsetof(moemesh_layer_statistics, z_loss), sizeof((((moemesh_layer_statistics*)0)->z_loss)), 1, -1, NULL},
};
static const struct type type_moemesh_layer_statistics = {"moemesh_layer_statistics", sizeof(moemesh_layer_statistics), sizeof(((moemesh_layer_statistics*)0)->struct_size) + sizeof(((moemesh_layer_statistics*)0)->tokens) + sizeof(((moemesh_layer_statistics*)0)->rows) + sizeof(((moemesh_layer_statistics*)0)->copies_sent) + sizeof(((moemesh_layer_statistics*)0)->rows_received) + sizeof(((moemesh_layer_statistics*)0)->dropped_rows) + sizeof(((moemesh_layer_statistics*)0)->nonfinite_tokens) + sizeof(((moemesh_layer_statistics*)0)->slots) + sizeof(((moemesh_layer_statistics*)0)->aux_loss) + sizeof(((moemesh_layer_statistics*)0)->z_loss) + 0, 1, 10, fields_moemesh_layer_statistics};
static const struct field fields_moemesh_optimizer_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_optimizer_params, struct_size), sizeof((((moemesh_optimizer_params*)0)->struct_size)), 1, -1, NULL},
    {"learning_rate", KIND_DOUBLE, offsetof(moemesh_optimizer_params, learning_rate), sizeof((((moemesh_optimizer_params*)0)->learning_rate)), 1, -1, NULL},
    {"beta1", KIND_DOUBLE, offsetof(moemesh_optimizer_params, beta1), sizeof((((moemesh_optimizer_params*)0)->beta1)), 1, -1, NULL},
    {"beta2", KIND_DOUBLE, offsetof(moemesh_optimizer_params, beta2), sizeof((((moemesh_optimizer_params*)0)->beta2)), 1, -1, NULL},
    {"epsilon", KIND_DOUBLE, offsetof(moemesh_optimizer_params, epsilon), sizeof((((moemesh_optimizer_params*)0)->epsilon)), 1, -1, NULL},
    {"weight_decay", KIND_DOUBLE, offsetof(moemesh_optimizer_params, weight_decay), sizeof((((moemesh_optimizer_params*)0)->weight_decay)), 1, -1, NULL},
    {"momentum", KIND_DOUBLE, offsetof(moemesh_optimizer_params, momentum), sizeof((((moemesh_optimizer_params*)0)->momentum)), 1, -1, NULL},
    {"max_norm", KIND_DOUBLE, offsetof(moemesh_optimizer_params, max_norm), sizeof((((moemesh_optimizer_params*)0)->max_norm)), 1, -1, NULL},
    {"bucket_bytes", KIND_INT64, offsetof(moemesh_optimizer_params, bucket_bytes), sizeof((((moemesh_optimizer_params*)0)->bucket_bytes)), 1, -1, NULL},
    {"chunk_bytes", KIND_INT64, offsetof(moemesh_optimizer_params, chunk_bytes), sizeof((((moemesh_optimizer_params*)0)->chunk_bytes)), 1, -1, NULL},
    {"kind", KIND_INT32, offsetof(moemesh_optimizer_params, kind), sizeof((((moemesh_optimizer_params*)0)->kind)), 1, -1, NULL},
    {"shared_stage", KIND_INT32, offsetof(moemesh_optimizer_params, shared_stage), sizeof((((moemesh_optimizer_params*)0)->shared_stage)), 1, -1, NULL},
    {"expert_stage", KIND_INT32, offsetof(moemesh_optimizer_params, expert_stage), sizeof((((moemesh_optimizer_params*)0)->expert_stage)), 1, -1, NULL},
    {"overlap", KIND_INT32, offsetof(moemesh_optimizer_params, overlap), sizeof((((moemesh_optimizer_params*)0)->overlap)), 1, -1, NULL},
    {"prefetch", KIND_INT32, offsetof(moemesh_optimizer_params, prefetch), sizeof((((moemesh_optimizer_params*)0)->prefetch)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_optimizer_params, reserved), sizeof((((moemesh_optimizer_params*)0)->reserved)), 1, -1, NULL},
};
static const struct type type_moemesh_optimizer_params = {"moemesh_optimizer_params", sizeof(moemesh_optimizer_params), sizeof(((moemesh_optimizer_params*)0)->struct_size) + sizeof(((moemesh_optimizer_params*)0)->learning_rate) + sizeof(((moemesh_optimizer_params*)0)->beta1) + sizeof(((moemesh_optimizer_params*)0)->beta2) + sizeof(((moemesh_optimizer_params*)0)->epsilon) + sizeof(((moemesh_optimizer_params*)0)->weight_decay) + sizeof(((moemesh_optimizer_params*)0)->momentum) + sizeof(((moemesh_optimizer_params*)0)->max_norm) + sizeof(((moemesh_optimizer_params*)0)->bucket_bytes) + sizeof(((moemesh_optimizer_params*)0)->chunk_bytes) + sizeof(((moemesh_optimizer_params*)0)->kind) + sizeof(((moemesh_optimizer_params*)0)->shared_stage) + sizeof(((moemesh_optimizer_params*)0)->expert_stage) + sizeof(((moemesh_optimizer_params*)0)->overlap) + sizeof(((moemesh_optimizer_params*)0)->prefetch) + sizeof(((moemesh_optimizer_params*)0)->reserved) + 0, 1, 16, fields_moemesh_optimizer_params};
static const struct field fields_moemesh_step_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_step_params, struct_size), sizeof((((moemesh_step_params*)0)->struct_size)), 1, -1, NULL},
    {"loss_scale", KIND_DOUBLE, offsetof(moemesh_step_params, loss_scale), sizeof((((moemesh_step_params*)0)->loss_scale)), 1, -1, NULL},
    {"microbatches", KIND_INT32, offsetof(moemesh_step_params, microbatches), sizeof((((moemesh_step_params*)0)->microbatches)), 1, -1, NULL},
    {"objective", KIND_INT32, offsetof(moemesh_step_params, objective), sizeof((((moemesh_step_params*)0)->objective)), 1, -1, NULL},
    {"stream", KIND_STREAM, offsetof(moemesh_step_params, stream), sizeof((((moemesh_step_params*)0)->stream)), 1, -1, NULL},
};
static const struct type type_moemesh_step_params = {"moemesh_step_params", sizeof(moemesh_step_params), sizeof(((moemesh_step_params*)0)->struct_size) + sizeof(((moemesh_step_params*)0)->loss_scale) + sizeof(((moemesh_step_params*)0)->microbatches) + sizeof(((moemesh_step_params*)0)->objective) + sizeof(((moemesh_step_params*)0)->stream) + 0, 1, 5, fields_moemesh_step_params};
static const struct field fields_moemesh_update_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_update_params, struct_size), sizeof((((moemesh_update_params*)0)->struct_size)), 1, -1, NULL},
    {"learning_rate", KIND_DOUBLE, offsetof(moemesh_update_params, learning_rate), sizeof((((moemesh_update_params*)0)->learning_rate)), 1, -1, NULL},
    {"stream", KIND_STREAM, offsetof(moemesh_update_params, stream), sizeof((((moemesh_update_params*)0)->stream)), 1, -1, NULL},
};
static const struct type type_moemesh_update_params = {"moemesh_update_params", sizeof(moemesh_update_params), sizeof(((moemesh_update_params*)0)->struct_size) + sizeof(((moemesh_update_params*)0)->learning_rate) + sizeof(((moemesh_update_params*)0)->stream) + 0, 1, 3, fields_moemesh_update_params};
static const struct field fields_moemesh_update_result[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_update_result, struct_size), sizeof((((moemesh_update_result*)0)->struct_size)), 1, -1, NULL},
    {"norm", KIND_DOUBLE, offsetof(moemesh_update_result, norm), sizeof((((moemesh_update_result*)0)->norm)), 1, -1, NULL},
    {"coefficient", KIND_DOUBLE, offsetof(moemesh_update_result, coefficient), sizeof((((moemesh_update_result*)0)->coefficient)), 1, -1, NULL},
    {"steps", KIND_INT64, offsetof(moemesh_update_result, steps), sizeof((((moemesh_update_result*)0)->steps)), 1, -1, NULL},
    {"skips", KIND_INT64, offsetof(moemesh_update_result, skips), sizeof((((moemesh_update_result*)0)->skips)), 1, -1, NULL},
    {"tokens", KIND_INT64, offsetof(moemesh_update_result, tokens), sizeof((((moemesh_update_result*)0)->tokens)), 1, -1, NULL},
    {"skipped", KIND_INT32, offsetof(moemesh_update_result, skipped), sizeof((((moemesh_update_result*)0)->skipped)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_update_result, reserved), sizeof((((moemesh_update_result*)0)->reserved)), 1, -1, NULL},
};
static const struct type type_moemesh_update_result = {"moemesh_update_result", sizeof(moemesh_update_result), sizeof(((moemesh_update_result*)0)->struct_size) + sizeof(((moemesh_update_result*)0)->norm) + sizeof(((moemesh_update_result*)0)->coefficient) + sizeof(((moemesh_update_result*)0)->steps) + sizeof(((moemesh_update_result*)0)->skips) + sizeof(((moemesh_update_result*)0)->tokens) + sizeof(((moemesh_update_result*)0)->skipped) + sizeof(((moemesh_update_result*)0)->reserved) + 0, 1, 8, fields_moemesh_update_result};
static const struct field fields_moemesh_optimizer_bytes[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_optimizer_bytes, struct_size), sizeof((((moemesh_optimizer_bytes*)0)->struct_size)), 1, -1, NULL},
    {"elements", KIND_INT64, offsetof(moemesh_optimizer_bytes, elements), sizeof((((moemesh_optimizer_bytes*)0)->elements)), 1, -1, NULL},
    {"shard_width", KIND_INT64, offsetof(moemesh_optimizer_bytes, shard_width), sizeof((((moemesh_optimizer_bytes*)0)->shard_width)), 1, -1, NULL},
    {"planned", KIND_INT64, offsetof(moemesh_optimizer_bytes, planned), sizeof((((moemesh_optimizer_bytes*)0)->planned)), 1, -1, NULL},
    {"actual", KIND_INT64, offsetof(moemesh_optimizer_bytes, actual), sizeof((((moemesh_optimizer_bytes*)0)->actual)), 1, -1, NULL},
    {"parameters", KIND_INT64, offsetof(moemesh_optimizer_bytes, parameters), sizeof((((moemesh_optimizer_bytes*)0)->parameters)), 1, -1, NULL},
    {"gradients", KIND_INT64, offsetof(moemesh_optimizer_bytes, gradients), sizeof((((moemesh_optimizer_bytes*)0)->gradients)), 1, -1, NULL},
    {"masters", KIND_INT64, offsetof(moemesh_optimizer_bytes, masters), sizeof((((moemesh_optimizer_bytes*)0)->masters)), 1, -1, NULL},
    {"moments", KIND_INT64, offsetof(moemesh_optimizer_bytes, moments), sizeof((((moemesh_optimizer_bytes*)0)->moments)), 1, -1, NULL},
    {"packed", KIND_INT64, offsetof(moemesh_optimizer_bytes, packed), sizeof((((moemesh_optimizer_bytes*)0)->packed)), 1, -1, NULL},
    {"bucket", KIND_INT64, offsetof(moemesh_optimizer_bytes, bucket), sizeof((((moemesh_optimizer_bytes*)0)->bucket)), 1, -1, NULL},
};
static const struct type type_moemesh_optimizer_bytes = {"moemesh_optimizer_bytes", sizeof(moemesh_optimizer_bytes), sizeof(((moemesh_optimizer_bytes*)0)->struct_size) + sizeof(((moemesh_optimizer_bytes*)0)->elements) + sizeof(((moemesh_optimizer_bytes*)0)->shard_width) + sizeof(((moemesh_optimizer_bytes*)0)->planned) + sizeof(((moemesh_optimizer_bytes*)0)->actual) + sizeof(((moemesh_optimizer_bytes*)0)->parameters) + sizeof(((moemesh_optimizer_bytes*)0)->gradients) + sizeof(((moemesh_optimizer_bytes*)0)->masters) + sizeof(((moemesh_optimizer_bytes*)0)->moments) + sizeof(((moemesh_optimizer_bytes*)0)->packed) + sizeof(((moemesh_optimizer_bytes*)0)->bucket) + 0, 1, 11, fields_moemesh_optimizer_bytes};
static const struct field fields_moemesh_optimizer_counters[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_optimizer_counters, struct_size), sizeof((((moemesh_optimizer_counters*)0)->struct_size)), 1, -1, NULL},
    {"steps", KIND_INT64, offsetof(moemesh_optimizer_counters, steps), sizeof((((moemesh_optimizer_counters*)0)->steps)), 1, -1, NULL},
    {"skips", KIND_INT64, offsetof(moemesh_optimizer_counters, skips), sizeof((((moemesh_optimizer_counters*)0)->skips)), 1, -1, NULL},
};
static const struct type type_moemesh_optimizer_counters = {"moemesh_optimizer_counters", sizeof(moemesh_optimizer_counters), sizeof(((moemesh_optimizer_counters*)0)->struct_size) + sizeof(((moemesh_optimizer_counters*)0)->steps) + sizeof(((moemesh_optimizer_counters*)0)->skips) + 0, 1, 3, fields_moemesh_optimizer_counters};
static const struct field fields_moemesh_pipeline_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_pipeline_params, struct_size), sizeof((((moemesh_pipeline_params*)0)->struct_size)), 1, -1, NULL},
    {"width", KIND_INT64, offsetof(moemesh_pipeline_params, width), sizeof((((moemesh_pipeline_params*)0)->width)), 1, -1, NULL},
    {"dtype", KIND_INT32, offsetof(moemesh_pipeline_params, dtype), sizeof((((moemesh_pipeline_params*)0)->dtype)), 1, -1, NULL},
    {"schedule", KIND_INT32, offsetof(moemesh_pipeline_params, schedule), sizeof((((moemesh_pipeline_params*)0)->schedule)), 1, -1, NULL},
};
static const struct type type_moemesh_pipeline_params = {"moemesh_pipeline_params", sizeof(moemesh_pipeline_params), sizeof(((moemesh_pipeline_params*)0)->struct_size) + sizeof(((moemesh_pipeline_params*)0)->width) + sizeof(((moemesh_pipeline_params*)0)->dtype) + sizeof(((moemesh_pipeline_params*)0)->schedule) + 0, 1, 4, fields_moemesh_pipeline_params};
static const struct field fields_moemesh_pipeline_run[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_pipeline_run, struct_size), sizeof((((moemesh_pipeline_run*)0)->struct_size)), 1, -1, NULL},
    {"rows", KIND_POINTER, offsetof(moemesh_pipeline_run, rows), sizeof((((moemesh_pipeline_run*)0)->rows)), 1, -1, NULL},
    {"microbatches", KIND_INT32, offsetof(moemesh_pipeline_run, microbatches), sizeof((((moemesh_pipeline_run*)0)->microbatches)), 1, -1, NULL},
    {"training", KIND_INT32, offsetof(moemesh_pipeline_run, training), sizeof((((moemesh_pipeline_run*)0)->training)), 1, -1, NULL},
};
static const struct type type_moemesh_pipeline_run = {"moemesh_pipeline_run", sizeof(moemesh_pipeline_run), sizeof(((moemesh_pipeline_run*)0)->struct_size) + sizeof(((moemesh_pipeline_run*)0)->rows) + sizeof(((moemesh_pipeline_run*)0)->microbatches) + sizeof(((moemesh_pipeline_run*)0)->training) + 0, 1, 4, fields_moemesh_pipeline_run};
static const struct field fields_moemesh_pipeline_action[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_pipeline_action, struct_size), sizeof((((moemesh_pipeline_action*)0)->struct_size)), 1, -1, NULL},
    {"rows", KIND_INT64, offsetof(moemesh_pipeline_action, rows), sizeof((((moemesh_pipeline_action*)0)->rows)), 1, -1, NULL},
    {"kind", KIND_INT32, offsetof(moemesh_pipeline_action, kind), sizeof((((moemesh_pipeline_action*)0)->kind)), 1, -1, NULL},
    {"microbatch", KIND_INT32, offsetof(moemesh_pipeline_action, microbatch), sizeof((((moemesh_pipeline_action*)0)->microbatch)), 1, -1, NULL},
    {"chunk", KIND_INT32, offsetof(moemesh_pipeline_action, chunk), sizeof((((moemesh_pipeline_action*)0)->chunk)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_pipeline_action, reserved), sizeof((((moemesh_pipeline_action*)0)->reserved)), 1, -1, NULL},
    {"in", KIND_STRUCT, offsetof(moemesh_pipeline_action, in), sizeof((((moemesh_pipeline_action*)0)->in)), 1, -1, &type_moemesh_view},
    {"out", KIND_STRUCT, offsetof(moemesh_pipeline_action, out), sizeof((((moemesh_pipeline_action*)0)->out)), 1, -1, &type_moemesh_view},
    {"saved", KIND_STRUCT, offsetof(moemesh_pipeline_action, saved), sizeof((((moemesh_pipeline_action*)0)->saved)), 1, -1, &type_moemesh_view},
};
static const struct type type_moemesh_pipeline_action = {"moemesh_pipeline_action", sizeof(moemesh_pipeline_action), sizeof(((moemesh_pipeline_action*)0)->struct_size) + sizeof(((moemesh_pipeline_action*)0)->rows) + sizeof(((moemesh_pipeline_action*)0)->kind) + sizeof(((moemesh_pipeline_action*)0)->microbatch) + sizeof(((moemesh_pipeline_action*)0)->chunk) + sizeof(((moemesh_pipeline_action*)0)->reserved) + sizeof(((moemesh_pipeline_action*)0)->in) + sizeof(((moemesh_pipeline_action*)0)->out) + sizeof(((moemesh_pipeline_action*)0)->saved) + 0, 1, 9, fields_moemesh_pipeline_action};
static const struct field fields_moemesh_pipeline_info[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_pipeline_info, struct_size), sizeof((((moemesh_pipeline_info*)0)->struct_size)), 1, -1, NULL},
    {"live", KIND_INT64, offsetof(moemesh_pipeline_info, live), sizeof((((moemesh_pipeline_info*)0)->live)), 1, -1, NULL},
    {"peak", KIND_INT64, offsetof(moemesh_pipeline_info, peak), sizeof((((moemesh_pipeline_info*)0)->peak)), 1, -1, NULL},
    {"bytes", KIND_INT64, offsetof(moemesh_pipeline_info, bytes), sizeof((((moemesh_pipeline_info*)0)->bytes)), 1, -1, NULL},
    {"sends", KIND_INT64, offsetof(moemesh_pipeline_info, sends), sizeof((((moemesh_pipeline_info*)0)->sends)), 1, -1, NULL},
    {"bytes_sent", KIND_INT64, offsetof(moemesh_pipeline_info, bytes_sent), sizeof((((moemesh_pipeline_info*)0)->bytes_sent)), 1, -1, NULL},
};
static const struct type type_moemesh_pipeline_info = {"moemesh_pipeline_info", sizeof(moemesh_pipeline_info), sizeof(((moemesh_pipeline_info*)0)->struct_size) + sizeof(((moemesh_pipeline_info*)0)->live) + sizeof(((moemesh_pipeline_info*)0)->peak) + sizeof(((moemesh_pipeline_info*)0)->bytes) + sizeof(((moemesh_pipeline_info*)0)->sends) + sizeof(((moemesh_pipeline_info*)0)->bytes_sent) + 0, 1, 6, fields_moemesh_pipeline_info};
static const struct field fields_moemesh_bill_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_bill_params, struct_size), sizeof((((moemesh_bill_params*)0)->struct_size)), 1, -1, NULL},
    {"steps", KIND_INT64, offsetof(moemesh_bill_params, steps), sizeof((((moemesh_bill_params*)0)->steps)), 1, -1, NULL},
    {"tokens", KIND_INT64, offsetof(moemesh_bill_params, tokens), sizeof((((moemesh_bill_params*)0)->tokens)), 1, -1, NULL},
    {"bucket_bytes", KIND_INT64, offsetof(moemesh_bill_params, bucket_bytes), sizeof((((moemesh_bill_params*)0)->bucket_bytes)), 1, -1, NULL},
    {"chunk_bytes", KIND_INT64, offsetof(moemesh_bill_params, chunk_bytes), sizeof((((moemesh_bill_params*)0)->chunk_bytes)), 1, -1, NULL},
    {"microbatches", KIND_INT32, offsetof(moemesh_bill_params, microbatches), sizeof((((moemesh_bill_params*)0)->microbatches)), 1, -1, NULL},
    {"objective", KIND_INT32, offsetof(moemesh_bill_params, objective), sizeof((((moemesh_bill_params*)0)->objective)), 1, -1, NULL},
    {"shared_stage", KIND_INT32, offsetof(moemesh_bill_params, shared_stage), sizeof((((moemesh_bill_params*)0)->shared_stage)), 1, -1, NULL},
    {"expert_stage", KIND_INT32, offsetof(moemesh_bill_params, expert_stage), sizeof((((moemesh_bill_params*)0)->expert_stage)), 1, -1, NULL},
    {"shared_dtype", KIND_INT32, offsetof(moemesh_bill_params, shared_dtype), sizeof((((moemesh_bill_params*)0)->shared_dtype)), 1, -1, NULL},
    {"expert_dtype", KIND_INT32, offsetof(moemesh_bill_params, expert_dtype), sizeof((((moemesh_bill_params*)0)->expert_dtype)), 1, -1, NULL},
    {"overlap", KIND_INT32, offsetof(moemesh_bill_params, overlap), sizeof((((moemesh_bill_params*)0)->overlap)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_bill_params, reserved), sizeof((((moemesh_bill_params*)0)->reserved)), 1, -1, NULL},
};
static const struct type type_moemesh_bill_params = {"moemesh_bill_params", sizeof(moemesh_bill_params), sizeof(((moemesh_bill_params*)0)->struct_size) + sizeof(((moemesh_bill_params*)0)->steps) + sizeof(((moemesh_bill_params*)0)->tokens) + sizeof(((moemesh_bill_params*)0)->bucket_bytes) + sizeof(((moemesh_bill_params*)0)->chunk_bytes) + sizeof(((moemesh_bill_params*)0)->microbatches) + sizeof(((moemesh_bill_params*)0)->objective) + sizeof(((moemesh_bill_params*)0)->shared_stage) + sizeof(((moemesh_bill_params*)0)->expert_stage) + sizeof(((moemesh_bill_params*)0)->shared_dtype) + sizeof(((moemesh_bill_params*)0)->expert_dtype) + sizeof(((moemesh_bill_params*)0)->overlap) + sizeof(((moemesh_bill_params*)0)->reserved) + 0, 1, 13, fields_moemesh_bill_params};
static const struct field fields_moemesh_bill_routing[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_bill_routing, struct_size), sizeof((((moemesh_bill_routing*)0)->struct_size)), 1, -1, NULL},
    {"copies", KIND_POINTER, offsetof(moemesh_bill_routing, copies), sizeof((((moemesh_bill_routing*)0)->copies)), 1, -1, NULL},
    {"rows", KIND_POINTER, offsetof(moemesh_bill_routing, rows), sizeof((((moemesh_bill_routing*)0)->rows)), 1, -1, NULL},
};
static const struct type type_moemesh_bill_routing = {"moemesh_bill_routing", sizeof(moemesh_bill_routing), sizeof(((moemesh_bill_routing*)0)->struct_size) + sizeof(((moemesh_bill_routing*)0)->copies) + sizeof(((moemesh_bill_routing*)0)->rows) + 0, 1, 3, fields_moemesh_bill_routing};
static const struct field fields_moemesh_report_params[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_report_params, struct_size), sizeof((((moemesh_report_params*)0)->struct_size)), 1, -1, NULL},
    {"events", KIND_INT64, offsetof(moemesh_report_params, events), sizeof((((moemesh_report_params*)0)->events)), 1, -1, NULL},
    {"steps", KIND_INT64, offsetof(moemesh_report_params, steps), sizeof((((moemesh_report_params*)0)->steps)), 1, -1, NULL},
    {"first_step", KIND_INT64, offsetof(moemesh_report_params, first_step), sizeof((((moemesh_report_params*)0)->first_step)), 1, -1, NULL},
    {"last_step", KIND_INT64, offsetof(moemesh_report_params, last_step), sizeof((((moemesh_report_params*)0)->last_step)), 1, -1, NULL},
    {"start_pings", KIND_INT32, offsetof(moemesh_report_params, start_pings), sizeof((((moemesh_report_params*)0)->start_pings)), 1, -1, NULL},
    {"step_pings", KIND_INT32, offsetof(moemesh_report_params, step_pings), sizeof((((moemesh_report_params*)0)->step_pings)), 1, -1, NULL},
};
static const struct type type_moemesh_report_params = {"moemesh_report_params", sizeof(moemesh_report_params), sizeof(((moemesh_report_params*)0)->struct_size) + sizeof(((moemesh_report_params*)0)->events) + sizeof(((moemesh_report_params*)0)->steps) + sizeof(((moemesh_report_params*)0)->first_step) + sizeof(((moemesh_report_params*)0)->last_step) + sizeof(((moemesh_report_params*)0)->start_pings) + sizeof(((moemesh_report_params*)0)->step_pings) + 0, 1, 7, fields_moemesh_report_params};
static const struct field fields_moemesh_report_summary[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_report_summary, struct_size), sizeof((((moemesh_report_summary*)0)->struct_size)), 1, -1, NULL},
    {"steps", KIND_INT64, offsetof(moemesh_report_summary, steps), sizeof((((moemesh_report_summary*)0)->steps)), 1, -1, NULL},
    {"first_step", KIND_INT64, offsetof(moemesh_report_summary, first_step), sizeof((((moemesh_report_summary*)0)->first_step)), 1, -1, NULL},
    {"layers", KIND_INT64, offsetof(moemesh_report_summary, layers), sizeof((((moemesh_report_summary*)0)->layers)), 1, -1, NULL},
    {"events", KIND_INT64, offsetof(moemesh_report_summary, events), sizeof((((moemesh_report_summary*)0)->events)), 1, -1, NULL},
    {"lost_events", KIND_INT64, offsetof(moemesh_report_summary, lost_events), sizeof((((moemesh_report_summary*)0)->lost_events)), 1, -1, NULL},
    {"late_rank", KIND_INT64, offsetof(moemesh_report_summary, late_rank), sizeof((((moemesh_report_summary*)0)->late_rank)), 1, -1, NULL},
    {"late_seconds", KIND_DOUBLE, offsetof(moemesh_report_summary, late_seconds), sizeof((((moemesh_report_summary*)0)->late_seconds)), 1, -1, NULL},
    {"idle_seconds", KIND_DOUBLE, offsetof(moemesh_report_summary, idle_seconds), sizeof((((moemesh_report_summary*)0)->idle_seconds)), 1, -1, NULL},
    {"seconds", KIND_DOUBLE, offsetof(moemesh_report_summary, seconds), sizeof((((moemesh_report_summary*)0)->seconds)), 1, -1, NULL},
    {"rows_ratio", KIND_DOUBLE, offsetof(moemesh_report_summary, rows_ratio), sizeof((((moemesh_report_summary*)0)->rows_ratio)), 1, -1, NULL},
    {"clock_error", KIND_DOUBLE, offsetof(moemesh_report_summary, clock_error), sizeof((((moemesh_report_summary*)0)->clock_error)), 1, -1, NULL},
    {"clock_offset", KIND_DOUBLE, offsetof(moemesh_report_summary, clock_offset), sizeof((((moemesh_report_summary*)0)->clock_offset)), 1, -1, NULL},
    {"wait", KIND_DOUBLE, offsetof(moemesh_report_summary, wait), sizeof((((moemesh_report_summary*)0)->wait[0])), 5, -1, NULL},
    {"transfer", KIND_DOUBLE, offsetof(moemesh_report_summary, transfer), sizeof((((moemesh_report_summary*)0)->transfer[0])), 5, -1, NULL},
    {"exposed", KIND_DOUBLE, offsetof(moemesh_report_summary, exposed), sizeof((((moemesh_report_summary*)0)->exposed[0])), 5, -1, NULL},
    {"idle", KIND_DOUBLE, offsetof(moemesh_report_summary, idle), sizeof((((moemesh_report_summary*)0)->idle[0])), 5, -1, NULL},
};
static const struct type type_moemesh_report_summary = {"moemesh_report_summary", sizeof(moemesh_report_summary), sizeof(((moemesh_report_summary*)0)->struct_size) + sizeof(((moemesh_report_summary*)0)->steps) + sizeof(((moemesh_report_summary*)0)->first_step) + sizeof(((moemesh_report_summary*)0)->layers) + sizeof(((moemesh_report_summary*)0)->events) + sizeof(((moemesh_report_summary*)0)->lost_events) + sizeof(((moemesh_report_summary*)0)->late_rank) + sizeof(((moemesh_report_summary*)0)->late_seconds) + sizeof(((moemesh_report_summary*)0)->idle_seconds) + sizeof(((moemesh_report_summary*)0)->seconds) + sizeof(((moemesh_report_summary*)0)->rows_ratio) + sizeof(((moemesh_report_summary*)0)->clock_error) + sizeof(((moemesh_report_summary*)0)->clock_offset) + sizeof(((moemesh_report_summary*)0)->wait) + sizeof(((moemesh_report_summary*)0)->transfer) + sizeof(((moemesh_report_summary*)0)->exposed) + sizeof(((moemesh_report_summary*)0)->idle) + 0, 1, 17, fields_moemesh_report_summary};
static const struct field fields_moemesh_report_layer[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_report_layer, struct_size), sizeof((((moemesh_report_layer*)0)->struct_size)), 1, -1, NULL},
    {"name", KIND_POINTER, offsetof(moemesh_report_layer, name), sizeof((((moemesh_report_layer*)0)->name)), 1, -1, NULL},
    {"stage", KIND_INT64, offsetof(moemesh_report_layer, stage), sizeof((((moemesh_report_layer*)0)->stage)), 1, -1, NULL},
    {"late_rank", KIND_INT64, offsetof(moemesh_report_layer, late_rank), sizeof((((moemesh_report_layer*)0)->late_rank)), 1, -1, NULL},
    {"late_seconds", KIND_DOUBLE, offsetof(moemesh_report_layer, late_seconds), sizeof((((moemesh_report_layer*)0)->late_seconds)), 1, -1, NULL},
    {"late_rows", KIND_DOUBLE, offsetof(moemesh_report_layer, late_rows), sizeof((((moemesh_report_layer*)0)->late_rows)), 1, -1, NULL},
    {"rows_ratio", KIND_DOUBLE, offsetof(moemesh_report_layer, rows_ratio), sizeof((((moemesh_report_layer*)0)->rows_ratio)), 1, -1, NULL},
    {"rows", KIND_DOUBLE, offsetof(moemesh_report_layer, rows), sizeof((((moemesh_report_layer*)0)->rows)), 1, -1, NULL},
    {"idle_seconds", KIND_DOUBLE, offsetof(moemesh_report_layer, idle_seconds), sizeof((((moemesh_report_layer*)0)->idle_seconds)), 1, -1, NULL},
    {"dispatch_wait", KIND_DOUBLE, offsetof(moemesh_report_layer, dispatch_wait), sizeof((((moemesh_report_layer*)0)->dispatch_wait)), 1, -1, NULL},
    {"combine_wait", KIND_DOUBLE, offsetof(moemesh_report_layer, combine_wait), sizeof((((moemesh_report_layer*)0)->combine_wait)), 1, -1, NULL},
    {"combine_backward_wait", KIND_DOUBLE, offsetof(moemesh_report_layer, combine_backward_wait), sizeof((((moemesh_report_layer*)0)->combine_backward_wait)), 1, -1, NULL},
    {"dispatch_backward_wait", KIND_DOUBLE, offsetof(moemesh_report_layer, dispatch_backward_wait), sizeof((((moemesh_report_layer*)0)->dispatch_backward_wait)), 1, -1, NULL},
    {"tensor_wait", KIND_DOUBLE, offsetof(moemesh_report_layer, tensor_wait), sizeof((((moemesh_report_layer*)0)->tensor_wait)), 1, -1, NULL},
    {"transfer", KIND_DOUBLE, offsetof(moemesh_report_layer, transfer), sizeof((((moemesh_report_layer*)0)->transfer)), 1, -1, NULL},
    {"exposed", KIND_DOUBLE, offsetof(moemesh_report_layer, exposed), sizeof((((moemesh_report_layer*)0)->exposed)), 1, -1, NULL},
    {"expert_seconds", KIND_DOUBLE, offsetof(moemesh_report_layer, expert_seconds), sizeof((((moemesh_report_layer*)0)->expert_seconds)), 1, -1, NULL},
};
static const struct type type_moemesh_report_layer = {"moemesh_report_layer", sizeof(moemesh_report_layer), sizeof(((moemesh_report_layer*)0)->struct_size) + sizeof(((moemesh_report_layer*)0)->name) + sizeof(((moemesh_report_layer*)0)->stage) + sizeof(((moemesh_report_layer*)0)->late_rank) + sizeof(((moemesh_report_layer*)0)->late_seconds) + sizeof(((moemesh_report_layer*)0)->late_rows) + sizeof(((moemesh_report_layer*)0)->rows_ratio) + sizeof(((moemesh_report_layer*)0)->rows) + sizeof(((moemesh_report_layer*)0)->idle_seconds) + sizeof(((moemesh_report_layer*)0)->dispatch_wait) + sizeof(((moemesh_report_layer*)0)->combine_wait) + sizeof(((moemesh_report_layer*)0)->combine_backward_wait) + sizeof(((moemesh_report_layer*)0)->dispatch_backward_wait) + sizeof(((moemesh_report_layer*)0)->tensor_wait) + sizeof(((moemesh_report_layer*)0)->transfer) + sizeof(((moemesh_report_layer*)0)->exposed) + sizeof(((moemesh_report_layer*)0)->expert_seconds) + 0, 1, 17, fields_moemesh_report_layer};
static const struct field fields_moemesh_report_step[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_report_step, struct_size), sizeof((((moemesh_report_step*)0)->struct_size)), 1, -1, NULL},
    {"late_rank", KIND_INT64, offsetof(moemesh_report_step, late_rank), sizeof((((moemesh_report_step*)0)->late_rank)), 1, -1, NULL},
    {"late_seconds", KIND_DOUBLE, offsetof(moemesh_report_step, late_seconds), sizeof((((moemesh_report_step*)0)->late_seconds)), 1, -1, NULL},
    {"idle_seconds", KIND_DOUBLE, offsetof(moemesh_report_step, idle_seconds), sizeof((((moemesh_report_step*)0)->idle_seconds)), 1, -1, NULL},
    {"seconds", KIND_DOUBLE, offsetof(moemesh_report_step, seconds), sizeof((((moemesh_report_step*)0)->seconds)), 1, -1, NULL},
    {"rows_ratio", KIND_DOUBLE, offsetof(moemesh_report_step, rows_ratio), sizeof((((moemesh_report_step*)0)->rows_ratio)), 1, -1, NULL},
    {"idle", KIND_DOUBLE, offsetof(moemesh_report_step, idle), sizeof((((moemesh_report_step*)0)->idle[0])), 5, -1, NULL},
    {"transfer", KIND_DOUBLE, offsetof(moemesh_report_step, transfer), sizeof((((moemesh_report_step*)0)->transfer)), 1, -1, NULL},
    {"exposed", KIND_DOUBLE, offsetof(moemesh_report_step, exposed), sizeof((((moemesh_report_step*)0)->exposed)), 1, -1, NULL},
};
static const struct type type_moemesh_report_step = {"moemesh_report_step", sizeof(moemesh_report_step), sizeof(((moemesh_report_step*)0)->struct_size) + sizeof(((moemesh_report_step*)0)->late_rank) + sizeof(((moemesh_report_step*)0)->late_seconds) + sizeof(((moemesh_report_step*)0)->idle_seconds) + sizeof(((moemesh_report_step*)0)->seconds) + sizeof(((moemesh_report_step*)0)->rows_ratio) + sizeof(((moemesh_report_step*)0)->idle) + sizeof(((moemesh_report_step*)0)->transfer) + sizeof(((moemesh_report_step*)0)->exposed) + 0, 1, 9, fields_moemesh_report_step};
static const struct field fields_moemesh_runtime_info[] = {
    {"struct_size", KIND_INT64, offsetof(moemesh_runtime_info, struct_size), sizeof((((moemesh_runtime_info*)0)->struct_size)), 1, -1, NULL},
    {"features", KIND_INT64, offsetof(moemesh_runtime_info, features), sizeof((((moemesh_runtime_info*)0)->features)), 1, -1, NULL},
    {"version", KIND_POINTER, offsetof(moemesh_runtime_info, version), sizeof((((moemesh_runtime_info*)0)->version)), 1, -1, NULL},
    {"git", KIND_POINTER, offsetof(moemesh_runtime_info, git), sizeof((((moemesh_runtime_info*)0)->git)), 1, -1, NULL},
    {"device", KIND_POINTER, offsetof(moemesh_runtime_info, device), sizeof((((moemesh_runtime_info*)0)->device)), 1, -1, NULL},
    {"build_type", KIND_POINTER, offsetof(moemesh_runtime_info, build_type), sizeof((((moemesh_runtime_info*)0)->build_type)), 1, -1, NULL},
    {"compiler", KIND_POINTER, offsetof(moemesh_runtime_info, compiler), sizeof((((moemesh_runtime_info*)0)->compiler)), 1, -1, NULL},
    {"library", KIND_POINTER, offsetof(moemesh_runtime_info, library), sizeof((((moemesh_runtime_info*)0)->library)), 1, -1, NULL},
    {"matrix_library", KIND_POINTER, offsetof(moemesh_runtime_info, matrix_library), sizeof((((moemesh_runtime_info*)0)->matrix_library)), 1, -1, NULL},
    {"matrix_path", KIND_POINTER, offsetof(moemesh_runtime_info, matrix_path), sizeof((((moemesh_runtime_info*)0)->matrix_path)), 1, -1, NULL},
    {"kokkos_backends", KIND_POINTER, offsetof(moemesh_runtime_info, kokkos_backends), sizeof((((moemesh_runtime_info*)0)->kokkos_backends)), 1, -1, NULL},
    {"kokkos_path", KIND_POINTER, offsetof(moemesh_runtime_info, kokkos_path), sizeof((((moemesh_runtime_info*)0)->kokkos_path)), 1, -1, NULL},
    {"mpi_module", KIND_POINTER, offsetof(moemesh_runtime_info, mpi_module), sizeof((((moemesh_runtime_info*)0)->mpi_module)), 1, -1, NULL},
    {"mpi_library", KIND_POINTER, offsetof(moemesh_runtime_info, mpi_library), sizeof((((moemesh_runtime_info*)0)->mpi_library)), 1, -1, NULL},
    {"mpi_error", KIND_POINTER, offsetof(moemesh_runtime_info, mpi_error), sizeof((((moemesh_runtime_info*)0)->mpi_error)), 1, -1, NULL},
    {"nccl_path", KIND_POINTER, offsetof(moemesh_runtime_info, nccl_path), sizeof((((moemesh_runtime_info*)0)->nccl_path)), 1, -1, NULL},
    {"mpi_kind", KIND_INT32, offsetof(moemesh_runtime_info, mpi_kind), sizeof((((moemesh_runtime_info*)0)->mpi_kind)), 1, -1, NULL},
    {"kokkos_compiled", KIND_INT32, offsetof(moemesh_runtime_info, kokkos_compiled), sizeof((((moemesh_runtime_info*)0)->kokkos_compiled)), 1, -1, NULL},
    {"kokkos_loaded", KIND_INT32, offsetof(moemesh_runtime_info, kokkos_loaded), sizeof((((moemesh_runtime_info*)0)->kokkos_loaded)), 1, -1, NULL},
    {"kokkos_shared", KIND_INT32, offsetof(moemesh_runtime_info, kokkos_shared), sizeof((((moemesh_runtime_info*)0)->kokkos_shared)), 1, -1, NULL},
    {"threads", KIND_INT32, offsetof(moemesh_runtime_info, threads), sizeof((((moemesh_runtime_info*)0)->threads)), 1, -1, NULL},
    {"cuda_compiled", KIND_INT32, offsetof(moemesh_runtime_info, cuda_compiled), sizeof((((moemesh_runtime_info*)0)->cuda_compiled)), 1, -1, NULL},
    {"cuda_runtime", KIND_INT32, offsetof(moemesh_runtime_info, cuda_runtime), sizeof((((moemesh_runtime_info*)0)->cuda_runtime)), 1, -1, NULL},
    {"cuda_driver", KIND_INT32, offsetof(moemesh_runtime_info, cuda_driver), sizeof((((moemesh_runtime_info*)0)->cuda_driver)), 1, -1, NULL},
    {"nccl", KIND_INT32, offsetof(moemesh_runtime_info, nccl), sizeof((((moemesh_runtime_info*)0)->nccl)), 1, -1, NULL},
    {"reserved", KIND_INT32, offsetof(moemesh_runtime_info, reserved), sizeof((((moemesh_runtime_info*)0)->reserved)), 1, -1, NULL},
};
static const struct type type_moemesh_runtime_info = {"moemesh_runtime_info", sizeof(moemesh_runtime_info), sizeof(((moemesh_runtime_info*)0)->struct_size) + sizeof(((moemesh_runtime_info*)0)->features) + sizeof(((moemesh_runtime_info*)0)->version) + sizeof(((moemesh_runtime_info*)0)->git) + sizeof(((moemesh_runtime_info*)0)->device) + sizeof(((moemesh_runtime_info*)0)->build_type) + sizeof(((moemesh_runtime_info*)0)->compiler) + sizeof(((moemesh_runtime_info*)0)->library) + sizeof(((moemesh_runtime_info*)0)->matrix_library) + sizeof(((moemesh_runtime_info*)0)->matrix_path) + sizeof(((moemesh_runtime_info*)0)->kokkos_backends) + sizeof(((moemesh_runtime_info*)0)->kokkos_path) + sizeof(((moemesh_runtime_info*)0)->mpi_module) + sizeof(((moemesh_runtime_info*)0)->mpi_library) + sizeof(((moemesh_runtime_info*)0)->mpi_error) + sizeof(((moemesh_runtime_info*)0)->nccl_path) + sizeof(((moemesh_runtime_info*)0)->mpi_kind) + sizeof(((moemesh_runtime_info*)0)->kokkos_compiled) + sizeof(((moemesh_runtime_info*)0)->kokkos_loaded) + sizeof(((moemesh_runtime_info*)0)->kokkos_shared) + sizeof(((moemesh_runtime_info*)0)->threads) + sizeof(((moemesh_runtime_info*)0)->cuda_compiled) + sizeof(((moemesh_runtime_info*)0)->cuda_runtime) + sizeof(((moemesh_runtime_info*)0)->cuda_driver) + sizeof(((moemesh_runtime_info*)0)->nccl) + sizeof(((moemesh_runtime_info*)0)->reserved) + 0, 1, 26, fields_moemesh_runtime_info};
struct arguments_status_name {
  int32_t status;
};
_Static_assert(sizeof(struct arguments_status_name) <= sizeof(arguments), "status_name");
static const struct field fields_status_name[] = {
    {"status", KIND_INT32, offsetof(struct arguments_status_name, status), sizeof(((struct arguments_status_name*)0)->status), 1, -1, NULL},
};
static void valid_status_name(void* a) {
  struct arguments_status_name* p = (struct arguments_status_name*)a;
  p->status = 0;
}
static int32_t call_status_name(const void* a) {
  const struct arguments_status_name* p = (const struct arguments_status_name*)a;
  (void)moemesh_status_name(p->status);
  return MOEMESH_OK;
}
struct arguments_status_text {
  int32_t status;
};
_Static_assert(sizeof(struct arguments_status_text) <= sizeof(arguments), "status_text");
static const struct field fields_status_text[] = {
    {"status", KIND_INT32, offsetof(struct arguments_status_text, status), sizeof(((struct arguments_status_text*)0)->status), 1, -1, NULL},
};
static void valid_status_text(void* a) {
  struct arguments_status_text* p = (struct arguments_status_text*)a;
  p->status = 0;
}
static int32_t call_status_text(const void* a) {
  const struct arguments_status_text* p = (const struct arguments_status_text*)a;
  (void)moemesh_status_text(p->status);
  return MOEMESH_OK;
}
struct arguments_version {
  int32_t* major;
  int32_t* minor;
  int32_t* patch;
};
_Static_assert(sizeof(struct arguments_version) <= sizeof(arguments), "version");
static const struct field fields_version[] = {
    {"major", KIND_RESULT, offsetof(struct arguments_version, major), sizeof(((struct arguments_version*)0)->major), 1, -1, NULL},
    {"minor", KIND_RESULT, offsetof(struct arguments_version, minor), sizeof(((struct arguments_version*)0)->minor), 1, -1, NULL},
    {"patch", KIND_RESULT, offsetof(struct arguments_version, patch), sizeof(((struct arguments_version*)0)->patch), 1, -1, NULL},
};
static void valid_version(void* a) {
  struct arguments_version* p = (struct arguments_version*)a;
  p->major = (void*)w.v.output[0];
  p->minor = (void*)w.v.output[1];
  p->patch = (void*)w.v.output[2];
}
static int32_t call_version(const void* a) {
  const struct arguments_version* p = (const struct arguments_version*)a;
  return moemesh_version(p->major, p->minor, p->patch);
}
struct arguments_last_error {
  moemesh_context context;
  char* buffer;
  int64_t capacity;
  int64_t* length;
};
_Static_assert(sizeof(struct arguments_last_error) <= sizeof(arguments), "last_error");
static const struct field fields_last_error[] = {
    {"context", KIND_HANDLE, offsetof(struct arguments_last_error, context), sizeof(((struct arguments_last_error*)0)->context), 1, 0, NULL},
    {"buffer", KIND_RESULT, offsetof(struct arguments_last_error, buffer), sizeof(((struct arguments_last_error*)0)->buffer), 1, -1, NULL},
    {"capacity", KIND_INT64, offsetof(struct arguments_last_error, capacity), sizeof(((struct arguments_last_error*)0)->capacity), 1, -1, NULL},
    {"length", KIND_RESULT, offsetof(struct arguments_last_error, length), sizeof(((struct arguments_last_error*)0)->length), 1, -1, NULL},
};
static void valid_last_error(void* a) {
  struct arguments_last_error* p = (struct arguments_last_error*)a;
  p->context = w.context;
  p->buffer = (void*)w.v.output[1];
  p->capacity = 64;
  p->length = (void*)w.v.output[3];
}
static int32_t call_last_error(const void* a) {
  const struct arguments_last_error* p = (const struct arguments_last_error*)a;
  return moemesh_last_error(p->context, p->buffer, p->capacity, p->length);
}
struct arguments_shutdown {
  int none;
};
_Static_assert(sizeof(struct arguments_shutdown) <= sizeof(arguments), "shutdown");
static const struct field fields_shutdown[] = {
    {0}};
static void valid_shutdown(void* a) {
  (void)a;
}
static int32_t call_shutdown(const void* a) {
  (void)a;
  return moemesh_shutdown();
}
struct arguments_view_init {
  moemesh_view* view;
  int32_t dtype;
  int32_t rank;
  const int64_t* extents;
  void* data;
};
_Static_assert(sizeof(struct arguments_view_init) <= sizeof(arguments), "view_init");
static const struct field fields_view_init[] = {
    {"view", KIND_OUT, offsetof(struct arguments_view_init, view), sizeof(((struct arguments_view_init*)0)->view), 1, -1, &type_moemesh_view},
    {"dtype", KIND_INT32, offsetof(struct arguments_view_init, dtype), sizeof(((struct arguments_view_init*)0)->dtype), 1, -1, NULL},
    {"rank", KIND_INT32, offsetof(struct arguments_view_init, rank), sizeof(((struct arguments_view_init*)0)->rank), 1, -1, NULL},
    {"extents", KIND_POINTER, offsetof(struct arguments_view_init, extents), sizeof(((struct arguments_view_init*)0)->extents), 1, -1, NULL},
    {"data", KIND_ANY, offsetof(struct arguments_view_init, data), sizeof(((struct arguments_view_init*)0)->data), 1, -1, NULL},
};
static void valid_view_init(void* a) {
  struct arguments_view_init* p = (struct arguments_view_init*)a;
  p->view = (void*)w.v.output[0];
  p->dtype = MOEMESH_FLOAT32;
  p->rank = 2;
  p->extents = w.v.extents;
  p->data = w.v.array_data;
}
static int32_t call_view_init(const void* a) {
  const struct arguments_view_init* p = (const struct arguments_view_init*)a;
  return moemesh_view_init(p->view, p->dtype, p->rank, p->extents, p->data);
}
struct arguments_view_copy {
  const moemesh_view* from;
  const moemesh_view* to;
};
_Static_assert(sizeof(struct arguments_view_copy) <= sizeof(arguments), "view_copy");
static const struct field fields_view_copy[] = {
    {"from", KIND_IN, offsetof(struct arguments_view_copy, from), sizeof(((struct arguments_view_copy*)0)->from), 1, -1, &type_moemesh_view},
    {"to", KIND_IN, offsetof(struct arguments_view_copy, to), sizeof(((struct arguments_view_copy*)0)->to), 1, -1, &type_moemesh_view},
};
static void valid_view_copy(void* a) {
  struct arguments_view_copy* p = (struct arguments_view_copy*)a;
  p->from = &w.v.array;
  p->to = &w.v.more;
}
static int32_t call_view_copy(const void* a) {
  const struct arguments_view_copy* p = (const struct arguments_view_copy*)a;
  return moemesh_view_copy(p->from, p->to);
}
struct arguments_context_params_init {
  moemesh_context_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_context_params_init) <= sizeof(arguments), "context_params_init");
static const struct field fields_context_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_context_params_init, params), sizeof(((struct arguments_context_params_init*)0)->params), 1, -1, &type_moemesh_context_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_context_params_init, struct_size), sizeof(((struct arguments_context_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_context_params_init(void* a) {
  struct arguments_context_params_init* p = (struct arguments_context_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_context_params);
}
static int32_t call_context_params_init(const void* a) {
  const struct arguments_context_params_init* p = (const struct arguments_context_params_init*)a;
  return moemesh_context_params_init(p->params, p->struct_size);
}
struct arguments_context_create {
  const moemesh_context_params* params;
  moemesh_context* context;
};
_Static_assert(sizeof(struct arguments_context_create) <= sizeof(arguments), "context_create");
static const struct field fields_context_create[] = {
    {"params", KIND_IN, offsetof(struct arguments_context_create, params), sizeof(((struct arguments_context_create*)0)->params), 1, -1, &type_moemesh_context_params},
    {"context", KIND_NEW_HANDLE, offsetof(struct arguments_context_create, context), sizeof(((struct arguments_context_create*)0)->context), 1, 0, NULL},
};
static void valid_context_create(void* a) {
  struct arguments_context_create* p = (struct arguments_context_create*)a;
  p->params = &w.v.context;
  p->context = (void*)w.v.output[1];
}
static int32_t call_context_create(const void* a) {
  const struct arguments_context_create* p = (const struct arguments_context_create*)a;
  return moemesh_context_create(p->params, p->context);
}
struct arguments_context_get_info {
  moemesh_context context;
  moemesh_context_info* info;
};
_Static_assert(sizeof(struct arguments_context_get_info) <= sizeof(arguments), "context_get_info");
static const struct field fields_context_get_info[] = {
    {"context", KIND_HANDLE, offsetof(struct arguments_context_get_info, context), sizeof(((struct arguments_context_get_info*)0)->context), 1, 0, NULL},
    {"info", KIND_OUT, offsetof(struct arguments_context_get_info, info), sizeof(((struct arguments_context_get_info*)0)->info), 1, -1, &type_moemesh_context_info},
};
static void valid_context_get_info(void* a) {
  struct arguments_context_get_info* p = (struct arguments_context_get_info*)a;
  p->context = w.context;
  p->info = (void*)w.v.output[1];
}
static int32_t call_context_get_info(const void* a) {
  const struct arguments_context_get_info* p = (const struct arguments_context_get_info*)a;
  return moemesh_context_get_info(p->context, p->info);
}
struct arguments_context_finalize {
  moemesh_context context;
};
_Static_assert(sizeof(struct arguments_context_finalize) <= sizeof(arguments), "context_finalize");
static const struct field fields_context_finalize[] = {
    {"context", KIND_HANDLE, offsetof(struct arguments_context_finalize, context), sizeof(((struct arguments_context_finalize*)0)->context), 1, 0, NULL},
};
static void valid_context_finalize(void* a) {
  struct arguments_context_finalize* p = (struct arguments_context_finalize*)a;
  p->context = w.spare_context;
}
static int32_t call_context_finalize(const void* a) {
  const struct arguments_context_finalize* p = (const struct arguments_context_finalize*)a;
  return moemesh_context_finalize(p->context);
}
struct arguments_context_destroy {
  moemesh_context* context;
};
_Static_assert(sizeof(struct arguments_context_destroy) <= sizeof(arguments), "context_destroy");
static const struct field fields_context_destroy[] = {
    {"context", KIND_HANDLE_AT, offsetof(struct arguments_context_destroy, context), sizeof(((struct arguments_context_destroy*)0)->context), 1, 0, NULL},
};
static void valid_context_destroy(void* a) {
  struct arguments_context_destroy* p = (struct arguments_context_destroy*)a;
  p->context = NULL;
}
static int32_t call_context_destroy(const void* a) {
  const struct arguments_context_destroy* p = (const struct arguments_context_destroy*)a;
  (void)moemesh_context_destroy(p->context);
  return MOEMESH_OK;
}
struct arguments_mesh_params_init {
  moemesh_mesh_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_mesh_params_init) <= sizeof(arguments), "mesh_params_init");
static const struct field fields_mesh_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_mesh_params_init, params), sizeof(((struct arguments_mesh_params_init*)0)->params), 1, -1, &type_moemesh_mesh_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_mesh_params_init, struct_size), sizeof(((struct arguments_mesh_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_mesh_params_init(void* a) {
  struct arguments_mesh_params_init* p = (struct arguments_mesh_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_mesh_params);
}
static int32_t call_mesh_params_init(const void* a) {
  const struct arguments_mesh_params_init* p = (const struct arguments_mesh_params_init*)a;
  return moemesh_mesh_params_init(p->params, p->struct_size);
}
struct arguments_mesh_create {
  moemesh_context context;
  const moemesh_mesh_params* params;
  moemesh_mesh* mesh;
};
_Static_assert(sizeof(struct arguments_mesh_create) <= sizeof(arguments), "mesh_create");
static const struct field fields_mesh_create[] = {
    {"context", KIND_HANDLE, offsetof(struct arguments_mesh_create, context), sizeof(((struct arguments_mesh_create*)0)->context), 1, 0, NULL},
    {"params", KIND_IN, offsetof(struct arguments_mesh_create, params), sizeof(((struct arguments_mesh_create*)0)->params), 1, -1, &type_moemesh_mesh_params},
    {"mesh", KIND_NEW_HANDLE, offsetof(struct arguments_mesh_create, mesh), sizeof(((struct arguments_mesh_create*)0)->mesh), 1, 1, NULL},
};
static void valid_mesh_create(void* a) {
  struct arguments_mesh_create* p = (struct arguments_mesh_create*)a;
  p->context = w.context;
  p->params = &w.v.mesh;
  p->mesh = (void*)w.v.output[2];
}
static int32_t call_mesh_create(const void* a) {
  const struct arguments_mesh_create* p = (const struct arguments_mesh_create*)a;
  return moemesh_mesh_create(p->context, p->params, p->mesh);
}
struct arguments_mesh_plan {
  moemesh_context context;
  int64_t world;
  const moemesh_mesh_params* params;
  moemesh_mesh* mesh;
};
_Static_assert(sizeof(struct arguments_mesh_plan) <= sizeof(arguments), "mesh_plan");
static const struct field fields_mesh_plan[] = {
    {"context", KIND_HANDLE, offsetof(struct arguments_mesh_plan, context), sizeof(((struct arguments_mesh_plan*)0)->context), 1, 0, NULL},
    {"world", KIND_INT64, offsetof(struct arguments_mesh_plan, world), sizeof(((struct arguments_mesh_plan*)0)->world), 1, -1, NULL},
    {"params", KIND_IN, offsetof(struct arguments_mesh_plan, params), sizeof(((struct arguments_mesh_plan*)0)->params), 1, -1, &type_moemesh_mesh_params},
    {"mesh", KIND_NEW_HANDLE, offsetof(struct arguments_mesh_plan, mesh), sizeof(((struct arguments_mesh_plan*)0)->mesh), 1, 1, NULL},
};
static void valid_mesh_plan(void* a) {
  struct arguments_mesh_plan* p = (struct arguments_mesh_plan*)a;
  p->context = w.context;
  p->world = 2;
  p->params = &w.v.planned_mesh;
  p->mesh = (void*)w.v.output[3];
}
static int32_t call_mesh_plan(const void* a) {
  const struct arguments_mesh_plan* p = (const struct arguments_mesh_plan*)a;
  return moemesh_mesh_plan(p->context, p->world, p->params, p->mesh);
}
struct arguments_mesh_get_coordinates {
  moemesh_mesh mesh;
  int64_t rank;
  moemesh_coordinates* coordinates;
};
_Static_assert(sizeof(struct arguments_mesh_get_coordinates) <= sizeof(arguments), "mesh_get_coordinates");
static const struct field fields_mesh_get_coordinates[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_mesh_get_coordinates, mesh), sizeof(((struct arguments_mesh_get_coordinates*)0)->mesh), 1, 1, NULL},
    {"rank", KIND_INT64, offsetof(struct arguments_mesh_get_coordinates, rank), sizeof(((struct arguments_mesh_get_coordinates*)0)->rank), 1, -1, NULL},
    {"coordinates", KIND_OUT, offsetof(struct arguments_mesh_get_coordinates, coordinates), sizeof(((struct arguments_mesh_get_coordinates*)0)->coordinates), 1, -1, &type_moemesh_coordinates},
};
static void valid_mesh_get_coordinates(void* a) {
  struct arguments_mesh_get_coordinates* p = (struct arguments_mesh_get_coordinates*)a;
  p->mesh = w.mesh;
  p->rank = 0;
  p->coordinates = (void*)w.v.output[2];
}
static int32_t call_mesh_get_coordinates(const void* a) {
  const struct arguments_mesh_get_coordinates* p = (const struct arguments_mesh_get_coordinates*)a;
  return moemesh_mesh_get_coordinates(p->mesh, p->rank, p->coordinates);
}
struct arguments_mesh_get_group {
  moemesh_mesh mesh;
  int32_t axes;
  int64_t rank;
  moemesh_group* group;
};
_Static_assert(sizeof(struct arguments_mesh_get_group) <= sizeof(arguments), "mesh_get_group");
static const struct field fields_mesh_get_group[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_mesh_get_group, mesh), sizeof(((struct arguments_mesh_get_group*)0)->mesh), 1, 1, NULL},
    {"axes", KIND_INT32, offsetof(struct arguments_mesh_get_group, axes), sizeof(((struct arguments_mesh_get_group*)0)->axes), 1, -1, NULL},
    {"rank", KIND_INT64, offsetof(struct arguments_mesh_get_group, rank), sizeof(((struct arguments_mesh_get_group*)0)->rank), 1, -1, NULL},
    {"group", KIND_OUT, offsetof(struct arguments_mesh_get_group, group), sizeof(((struct arguments_mesh_get_group*)0)->group), 1, -1, &type_moemesh_group},
};
static void valid_mesh_get_group(void* a) {
  struct arguments_mesh_get_group* p = (struct arguments_mesh_get_group*)a;
  p->mesh = w.mesh;
  p->axes = MOEMESH_AXIS_EP;
  p->rank = 0;
  p->group = (void*)w.v.output[3];
}
static int32_t call_mesh_get_group(const void* a) {
  const struct arguments_mesh_get_group* p = (const struct arguments_mesh_get_group*)a;
  return moemesh_mesh_get_group(p->mesh, p->axes, p->rank, p->group);
}
struct arguments_mesh_get_group_member {
  moemesh_mesh mesh;
  int32_t axes;
  int64_t rank;
  int64_t position;
  int64_t* member;
};
_Static_assert(sizeof(struct arguments_mesh_get_group_member) <= sizeof(arguments), "mesh_get_group_member");
static const struct field fields_mesh_get_group_member[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_mesh_get_group_member, mesh), sizeof(((struct arguments_mesh_get_group_member*)0)->mesh), 1, 1, NULL},
    {"axes", KIND_INT32, offsetof(struct arguments_mesh_get_group_member, axes), sizeof(((struct arguments_mesh_get_group_member*)0)->axes), 1, -1, NULL},
    {"rank", KIND_INT64, offsetof(struct arguments_mesh_get_group_member, rank), sizeof(((struct arguments_mesh_get_group_member*)0)->rank), 1, -1, NULL},
    {"position", KIND_INT64, offsetof(struct arguments_mesh_get_group_member, position), sizeof(((struct arguments_mesh_get_group_member*)0)->position), 1, -1, NULL},
    {"member", KIND_RESULT, offsetof(struct arguments_mesh_get_group_member, member), sizeof(((struct arguments_mesh_get_group_member*)0)->member), 1, -1, NULL},
};
static void valid_mesh_get_group_member(void* a) {
  struct arguments_mesh_get_group_member* p = (struct arguments_mesh_get_group_member*)a;
  p->mesh = w.mesh;
  p->axes = MOEMESH_AXIS_EP;
  p->rank = 0;
  p->position = 0;
  p->member = (void*)w.v.output[4];
}
static int32_t call_mesh_get_group_member(const void* a) {
  const struct arguments_mesh_get_group_member* p = (const struct arguments_mesh_get_group_member*)a;
  return moemesh_mesh_get_group_member(p->mesh, p->axes, p->rank, p->position, p->member);
}
struct arguments_mesh_get_axis_report {
  moemesh_mesh mesh;
  int32_t axis;
  moemesh_axis_report* report;
};
_Static_assert(sizeof(struct arguments_mesh_get_axis_report) <= sizeof(arguments), "mesh_get_axis_report");
static const struct field fields_mesh_get_axis_report[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_mesh_get_axis_report, mesh), sizeof(((struct arguments_mesh_get_axis_report*)0)->mesh), 1, 1, NULL},
    {"axis", KIND_INT32, offsetof(struct arguments_mesh_get_axis_report, axis), sizeof(((struct arguments_mesh_get_axis_report*)0)->axis), 1, -1, NULL},
    {"report", KIND_OUT, offsetof(struct arguments_mesh_get_axis_report, report), sizeof(((struct arguments_mesh_get_axis_report*)0)->report), 1, -1, &type_moemesh_axis_report},
};
static void valid_mesh_get_axis_report(void* a) {
  struct arguments_mesh_get_axis_report* p = (struct arguments_mesh_get_axis_report*)a;
  p->mesh = w.mesh;
  p->axis = MOEMESH_AXIS_EP;
  p->report = (void*)w.v.output[2];
}
static int32_t call_mesh_get_axis_report(const void* a) {
  const struct arguments_mesh_get_axis_report* p = (const struct arguments_mesh_get_axis_report*)a;
  return moemesh_mesh_get_axis_report(p->mesh, p->axis, p->report);
}
struct arguments_mesh_get_experts {
  moemesh_mesh mesh;
  int64_t experts;
  int64_t rank;
  int64_t* first;
  int64_t* count;
};
_Static_assert(sizeof(struct arguments_mesh_get_experts) <= sizeof(arguments), "mesh_get_experts");
static const struct field fields_mesh_get_experts[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_mesh_get_experts, mesh), sizeof(((struct arguments_mesh_get_experts*)0)->mesh), 1, 1, NULL},
    {"experts", KIND_INT64, offsetof(struct arguments_mesh_get_experts, experts), sizeof(((struct arguments_mesh_get_experts*)0)->experts), 1, -1, NULL},
    {"rank", KIND_INT64, offsetof(struct arguments_mesh_get_experts, rank), sizeof(((struct arguments_mesh_get_experts*)0)->rank), 1, -1, NULL},
    {"first", KIND_RESULT, offsetof(struct arguments_mesh_get_experts, first), sizeof(((struct arguments_mesh_get_experts*)0)->first), 1, -1, NULL},
    {"count", KIND_RESULT, offsetof(struct arguments_mesh_get_experts, count), sizeof(((struct arguments_mesh_get_experts*)0)->count), 1, -1, NULL},
};
static void valid_mesh_get_experts(void* a) {
  struct arguments_mesh_get_experts* p = (struct arguments_mesh_get_experts*)a;
  p->mesh = w.mesh;
  p->experts = 4;
  p->rank = 0;
  p->first = (void*)w.v.output[3];
  p->count = (void*)w.v.output[4];
}
static int32_t call_mesh_get_experts(const void* a) {
  const struct arguments_mesh_get_experts* p = (const struct arguments_mesh_get_experts*)a;
  return moemesh_mesh_get_experts(p->mesh, p->experts, p->rank, p->first, p->count);
}
struct arguments_mesh_finalize {
  moemesh_mesh mesh;
};
_Static_assert(sizeof(struct arguments_mesh_finalize) <= sizeof(arguments), "mesh_finalize");
static const struct field fields_mesh_finalize[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_mesh_finalize, mesh), sizeof(((struct arguments_mesh_finalize*)0)->mesh), 1, 1, NULL},
};
static void valid_mesh_finalize(void* a) {
  struct arguments_mesh_finalize* p = (struct arguments_mesh_finalize*)a;
  p->mesh = w.spare_mesh;
}
static int32_t call_mesh_finalize(const void* a) {
  const struct arguments_mesh_finalize* p = (const struct arguments_mesh_finalize*)a;
  return moemesh_mesh_finalize(p->mesh);
}
struct arguments_mesh_destroy {
  moemesh_mesh* mesh;
};
_Static_assert(sizeof(struct arguments_mesh_destroy) <= sizeof(arguments), "mesh_destroy");
static const struct field fields_mesh_destroy[] = {
    {"mesh", KIND_HANDLE_AT, offsetof(struct arguments_mesh_destroy, mesh), sizeof(((struct arguments_mesh_destroy*)0)->mesh), 1, 1, NULL},
};
static void valid_mesh_destroy(void* a) {
  struct arguments_mesh_destroy* p = (struct arguments_mesh_destroy*)a;
  p->mesh = NULL;
}
static int32_t call_mesh_destroy(const void* a) {
  const struct arguments_mesh_destroy* p = (const struct arguments_mesh_destroy*)a;
  (void)moemesh_mesh_destroy(p->mesh);
  return MOEMESH_OK;
}
struct arguments_all_reduce {
  moemesh_mesh mesh;
  int32_t axes;
  int32_t op;
  const moemesh_view* array;
};
_Static_assert(sizeof(struct arguments_all_reduce) <= sizeof(arguments), "all_reduce");
static const struct field fields_all_reduce[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_all_reduce, mesh), sizeof(((struct arguments_all_reduce*)0)->mesh), 1, 1, NULL},
    {"axes", KIND_INT32, offsetof(struct arguments_all_reduce, axes), sizeof(((struct arguments_all_reduce*)0)->axes), 1, -1, NULL},
    {"op", KIND_INT32, offsetof(struct arguments_all_reduce, op), sizeof(((struct arguments_all_reduce*)0)->op), 1, -1, NULL},
    {"array", KIND_IN, offsetof(struct arguments_all_reduce, array), sizeof(((struct arguments_all_reduce*)0)->array), 1, -1, &type_moemesh_view},
};
static void valid_all_reduce(void* a) {
  struct arguments_all_reduce* p = (struct arguments_all_reduce*)a;
  p->mesh = w.mesh;
  p->axes = MOEMESH_AXIS_EP;
  p->op = MOEMESH_SUM;
  p->array = &w.v.array;
}
static int32_t call_all_reduce(const void* a) {
  const struct arguments_all_reduce* p = (const struct arguments_all_reduce*)a;
  return moemesh_all_reduce(p->mesh, p->axes, p->op, p->array);
}
struct arguments_all_gather {
  moemesh_mesh mesh;
  int32_t axes;
  const moemesh_view* send;
  const moemesh_view* receive;
};
_Static_assert(sizeof(struct arguments_all_gather) <= sizeof(arguments), "all_gather");
static const struct field fields_all_gather[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_all_gather, mesh), sizeof(((struct arguments_all_gather*)0)->mesh), 1, 1, NULL},
    {"axes", KIND_INT32, offsetof(struct arguments_all_gather, axes), sizeof(((struct arguments_all_gather*)0)->axes), 1, -1, NULL},
    {"send", KIND_IN, offsetof(struct arguments_all_gather, send), sizeof(((struct arguments_all_gather*)0)->send), 1, -1, &type_moemesh_view},
    {"receive", KIND_IN, offsetof(struct arguments_all_gather, receive), sizeof(((struct arguments_all_gather*)0)->receive), 1, -1, &type_moemesh_view},
};
static void valid_all_gather(void* a) {
  struct arguments_all_gather* p = (struct arguments_all_gather*)a;
  p->mesh = w.mesh;
  p->axes = MOEMESH_AXIS_EP;
  p->send = &w.v.array;
  p->receive = &w.v.more;
}
static int32_t call_all_gather(const void* a) {
  const struct arguments_all_gather* p = (const struct arguments_all_gather*)a;
  return moemesh_all_gather(p->mesh, p->axes, p->send, p->receive);
}
struct arguments_reduce_scatter {
  moemesh_mesh mesh;
  int32_t axes;
  int32_t op;
  const moemesh_view* send;
  const moemesh_view* receive;
};
_Static_assert(sizeof(struct arguments_reduce_scatter) <= sizeof(arguments), "reduce_scatter");
static const struct field fields_reduce_scatter[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_reduce_scatter, mesh), sizeof(((struct arguments_reduce_scatter*)0)->mesh), 1, 1, NULL},
    {"axes", KIND_INT32, offsetof(struct arguments_reduce_scatter, axes), sizeof(((struct arguments_reduce_scatter*)0)->axes), 1, -1, NULL},
    {"op", KIND_INT32, offsetof(struct arguments_reduce_scatter, op), sizeof(((struct arguments_reduce_scatter*)0)->op), 1, -1, NULL},
    {"send", KIND_IN, offsetof(struct arguments_reduce_scatter, send), sizeof(((struct arguments_reduce_scatter*)0)->send), 1, -1, &type_moemesh_view},
    {"receive", KIND_IN, offsetof(struct arguments_reduce_scatter, receive), sizeof(((struct arguments_reduce_scatter*)0)->receive), 1, -1, &type_moemesh_view},
};
static void valid_reduce_scatter(void* a) {
  struct arguments_reduce_scatter* p = (struct arguments_reduce_scatter*)a;
  p->mesh = w.mesh;
  p->axes = MOEMESH_AXIS_EP;
  p->op = MOEMESH_SUM;
  p->send = &w.v.array;
  p->receive = &w.v.more;
}
static int32_t call_reduce_scatter(const void* a) {
  const struct arguments_reduce_scatter* p = (const struct arguments_reduce_scatter*)a;
  return moemesh_reduce_scatter(p->mesh, p->axes, p->op, p->send, p->receive);
}
struct arguments_broadcast {
  moemesh_mesh mesh;
  int32_t axes;
  int64_t root;
  const moemesh_view* array;
};
_Static_assert(sizeof(struct arguments_broadcast) <= sizeof(arguments), "broadcast");
static const struct field fields_broadcast[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_broadcast, mesh), sizeof(((struct arguments_broadcast*)0)->mesh), 1, 1, NULL},
    {"axes", KIND_INT32, offsetof(struct arguments_broadcast, axes), sizeof(((struct arguments_broadcast*)0)->axes), 1, -1, NULL},
    {"root", KIND_INT64, offsetof(struct arguments_broadcast, root), sizeof(((struct arguments_broadcast*)0)->root), 1, -1, NULL},
    {"array", KIND_IN, offsetof(struct arguments_broadcast, array), sizeof(((struct arguments_broadcast*)0)->array), 1, -1, &type_moemesh_view},
};
static void valid_broadcast(void* a) {
  struct arguments_broadcast* p = (struct arguments_broadcast*)a;
  p->mesh = w.mesh;
  p->axes = MOEMESH_AXIS_EP;
  p->root = 0;
  p->array = &w.v.array;
}
static int32_t call_broadcast(const void* a) {
  const struct arguments_broadcast* p = (const struct arguments_broadcast*)a;
  return moemesh_broadcast(p->mesh, p->axes, p->root, p->array);
}
struct arguments_ledger_get_count {
  moemesh_mesh mesh;
  int64_t* count;
};
_Static_assert(sizeof(struct arguments_ledger_get_count) <= sizeof(arguments), "ledger_get_count");
static const struct field fields_ledger_get_count[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_ledger_get_count, mesh), sizeof(((struct arguments_ledger_get_count*)0)->mesh), 1, 1, NULL},
    {"count", KIND_RESULT, offsetof(struct arguments_ledger_get_count, count), sizeof(((struct arguments_ledger_get_count*)0)->count), 1, -1, NULL},
};
static void valid_ledger_get_count(void* a) {
  struct arguments_ledger_get_count* p = (struct arguments_ledger_get_count*)a;
  p->mesh = w.mesh;
  p->count = (void*)w.v.output[1];
}
static int32_t call_ledger_get_count(const void* a) {
  const struct arguments_ledger_get_count* p = (const struct arguments_ledger_get_count*)a;
  return moemesh_ledger_get_count(p->mesh, p->count);
}
struct arguments_ledger_get_entry {
  moemesh_mesh mesh;
  int64_t index;
  moemesh_ledger_entry* entry;
};
_Static_assert(sizeof(struct arguments_ledger_get_entry) <= sizeof(arguments), "ledger_get_entry");
static const struct field fields_ledger_get_entry[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_ledger_get_entry, mesh), sizeof(((struct arguments_ledger_get_entry*)0)->mesh), 1, 1, NULL},
    {"index", KIND_INT64, offsetof(struct arguments_ledger_get_entry, index), sizeof(((struct arguments_ledger_get_entry*)0)->index), 1, -1, NULL},
    {"entry", KIND_OUT, offsetof(struct arguments_ledger_get_entry, entry), sizeof(((struct arguments_ledger_get_entry*)0)->entry), 1, -1, &type_moemesh_ledger_entry},
};
static void valid_ledger_get_entry(void* a) {
  struct arguments_ledger_get_entry* p = (struct arguments_ledger_get_entry*)a;
  p->mesh = w.mesh;
  p->index = 0;
  p->entry = (void*)w.v.output[2];
}
static int32_t call_ledger_get_entry(const void* a) {
  const struct arguments_ledger_get_entry* p = (const struct arguments_ledger_get_entry*)a;
  return moemesh_ledger_get_entry(p->mesh, p->index, p->entry);
}
struct arguments_ledger_reset {
  moemesh_mesh mesh;
};
_Static_assert(sizeof(struct arguments_ledger_reset) <= sizeof(arguments), "ledger_reset");
static const struct field fields_ledger_reset[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_ledger_reset, mesh), sizeof(((struct arguments_ledger_reset*)0)->mesh), 1, 1, NULL},
};
static void valid_ledger_reset(void* a) {
  struct arguments_ledger_reset* p = (struct arguments_ledger_reset*)a;
  p->mesh = w.mesh;
}
static int32_t call_ledger_reset(const void* a) {
  const struct arguments_ledger_reset* p = (const struct arguments_ledger_reset*)a;
  return moemesh_ledger_reset(p->mesh);
}
struct arguments_family_params_init {
  moemesh_family_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_family_params_init) <= sizeof(arguments), "family_params_init");
static const struct field fields_family_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_family_params_init, params), sizeof(((struct arguments_family_params_init*)0)->params), 1, -1, &type_moemesh_family_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_family_params_init, struct_size), sizeof(((struct arguments_family_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_family_params_init(void* a) {
  struct arguments_family_params_init* p = (struct arguments_family_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_family_params);
}
static int32_t call_family_params_init(const void* a) {
  const struct arguments_family_params_init* p = (const struct arguments_family_params_init*)a;
  return moemesh_family_params_init(p->params, p->struct_size);
}
struct arguments_family_create {
  moemesh_mesh mesh;
  const moemesh_family_params* params;
  moemesh_family* family;
};
_Static_assert(sizeof(struct arguments_family_create) <= sizeof(arguments), "family_create");
static const struct field fields_family_create[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_family_create, mesh), sizeof(((struct arguments_family_create*)0)->mesh), 1, 1, NULL},
    {"params", KIND_IN, offsetof(struct arguments_family_create, params), sizeof(((struct arguments_family_create*)0)->params), 1, -1, &type_moemesh_family_params},
    {"family", KIND_NEW_HANDLE, offsetof(struct arguments_family_create, family), sizeof(((struct arguments_family_create*)0)->family), 1, 2, NULL},
};
static void valid_family_create(void* a) {
  struct arguments_family_create* p = (struct arguments_family_create*)a;
  p->mesh = w.mesh;
  p->params = &w.v.family;
  p->family = (void*)w.v.output[2];
}
static int32_t call_family_create(const void* a) {
  const struct arguments_family_create* p = (const struct arguments_family_create*)a;
  return moemesh_family_create(p->mesh, p->params, p->family);
}
struct arguments_family_destroy {
  moemesh_family* family;
};
_Static_assert(sizeof(struct arguments_family_destroy) <= sizeof(arguments), "family_destroy");
static const struct field fields_family_destroy[] = {
    {"family", KIND_HANDLE_AT, offsetof(struct arguments_family_destroy, family), sizeof(((struct arguments_family_destroy*)0)->family), 1, 2, NULL},
};
static void valid_family_destroy(void* a) {
  struct arguments_family_destroy* p = (struct arguments_family_destroy*)a;
  p->family = NULL;
}
static int32_t call_family_destroy(const void* a) {
  const struct arguments_family_destroy* p = (const struct arguments_family_destroy*)a;
  (void)moemesh_family_destroy(p->family);
  return MOEMESH_OK;
}
struct arguments_parameter_params_init {
  moemesh_parameter_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_parameter_params_init) <= sizeof(arguments), "parameter_params_init");
static const struct field fields_parameter_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_parameter_params_init, params), sizeof(((struct arguments_parameter_params_init*)0)->params), 1, -1, &type_moemesh_parameter_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_parameter_params_init, struct_size), sizeof(((struct arguments_parameter_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_parameter_params_init(void* a) {
  struct arguments_parameter_params_init* p = (struct arguments_parameter_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_parameter_params);
}
static int32_t call_parameter_params_init(const void* a) {
  const struct arguments_parameter_params_init* p = (const struct arguments_parameter_params_init*)a;
  return moemesh_parameter_params_init(p->params, p->struct_size);
}
struct arguments_parameter_register {
  moemesh_family family;
  const moemesh_parameter_params* params;
  moemesh_parameter* parameter;
};
_Static_assert(sizeof(struct arguments_parameter_register) <= sizeof(arguments), "parameter_register");
static const struct field fields_parameter_register[] = {
    {"family", KIND_HANDLE, offsetof(struct arguments_parameter_register, family), sizeof(((struct arguments_parameter_register*)0)->family), 1, 2, NULL},
    {"params", KIND_IN, offsetof(struct arguments_parameter_register, params), sizeof(((struct arguments_parameter_register*)0)->params), 1, -1, &type_moemesh_parameter_params},
    {"parameter", KIND_NEW_HANDLE, offsetof(struct arguments_parameter_register, parameter), sizeof(((struct arguments_parameter_register*)0)->parameter), 1, 3, NULL},
};
static void valid_parameter_register(void* a) {
  struct arguments_parameter_register* p = (struct arguments_parameter_register*)a;
  p->family = w.fresh_shared;
  p->params = &w.v.parameter;
  p->parameter = (void*)w.v.output[2];
}
static int32_t call_parameter_register(const void* a) {
  const struct arguments_parameter_register* p = (const struct arguments_parameter_register*)a;
  return moemesh_parameter_register(p->family, p->params, p->parameter);
}
struct arguments_family_commit {
  moemesh_family family;
};
_Static_assert(sizeof(struct arguments_family_commit) <= sizeof(arguments), "family_commit");
static const struct field fields_family_commit[] = {
    {"family", KIND_HANDLE, offsetof(struct arguments_family_commit, family), sizeof(((struct arguments_family_commit*)0)->family), 1, 2, NULL},
};
static void valid_family_commit(void* a) {
  struct arguments_family_commit* p = (struct arguments_family_commit*)a;
  p->family = w.fresh_shared;
}
static int32_t call_family_commit(const void* a) {
  const struct arguments_family_commit* p = (const struct arguments_family_commit*)a;
  return moemesh_family_commit(p->family);
}
struct arguments_parameter_find {
  moemesh_family family;
  const char* name;
  moemesh_parameter* parameter;
};
_Static_assert(sizeof(struct arguments_parameter_find) <= sizeof(arguments), "parameter_find");
static const struct field fields_parameter_find[] = {
    {"family", KIND_HANDLE, offsetof(struct arguments_parameter_find, family), sizeof(((struct arguments_parameter_find*)0)->family), 1, 2, NULL},
    {"name", KIND_POINTER, offsetof(struct arguments_parameter_find, name), sizeof(((struct arguments_parameter_find*)0)->name), 1, -1, NULL},
    {"parameter", KIND_NEW_HANDLE, offsetof(struct arguments_parameter_find, parameter), sizeof(((struct arguments_parameter_find*)0)->parameter), 1, 3, NULL},
};
static void valid_parameter_find(void* a) {
  struct arguments_parameter_find* p = (struct arguments_parameter_find*)a;
  p->family = w.shared;
  p->name = "p";
  p->parameter = (void*)w.v.output[2];
}
static int32_t call_parameter_find(const void* a) {
  const struct arguments_parameter_find* p = (const struct arguments_parameter_find*)a;
  return moemesh_parameter_find(p->family, p->name, p->parameter);
}
struct arguments_parameter_get_info {
  moemesh_parameter parameter;
  moemesh_parameter_info* info;
};
_Static_assert(sizeof(struct arguments_parameter_get_info) <= sizeof(arguments), "parameter_get_info");
static const struct field fields_parameter_get_info[] = {
    {"parameter", KIND_HANDLE, offsetof(struct arguments_parameter_get_info, parameter), sizeof(((struct arguments_parameter_get_info*)0)->parameter), 1, 3, NULL},
    {"info", KIND_OUT, offsetof(struct arguments_parameter_get_info, info), sizeof(((struct arguments_parameter_get_info*)0)->info), 1, -1, &type_moemesh_parameter_info},
};
static void valid_parameter_get_info(void* a) {
  struct arguments_parameter_get_info* p = (struct arguments_parameter_get_info*)a;
  p->parameter = w.parameter;
  p->info = (void*)w.v.output[1];
}
static int32_t call_parameter_get_info(const void* a) {
  const struct arguments_parameter_get_info* p = (const struct arguments_parameter_get_info*)a;
  return moemesh_parameter_get_info(p->parameter, p->info);
}
struct arguments_parameter_acquire {
  moemesh_parameter parameter;
  void* stream;
  moemesh_view* view;
};
_Static_assert(sizeof(struct arguments_parameter_acquire) <= sizeof(arguments), "parameter_acquire");
static const struct field fields_parameter_acquire[] = {
    {"parameter", KIND_HANDLE, offsetof(struct arguments_parameter_acquire, parameter), sizeof(((struct arguments_parameter_acquire*)0)->parameter), 1, 3, NULL},
    {"stream", KIND_STREAM, offsetof(struct arguments_parameter_acquire, stream), sizeof(((struct arguments_parameter_acquire*)0)->stream), 1, -1, NULL},
    {"view", KIND_OUT, offsetof(struct arguments_parameter_acquire, view), sizeof(((struct arguments_parameter_acquire*)0)->view), 1, -1, &type_moemesh_view},
};
static void valid_parameter_acquire(void* a) {
  struct arguments_parameter_acquire* p = (struct arguments_parameter_acquire*)a;
  p->parameter = w.parameter;
  p->stream = NULL;
  p->view = (void*)w.v.output[2];
}
static int32_t call_parameter_acquire(const void* a) {
  const struct arguments_parameter_acquire* p = (const struct arguments_parameter_acquire*)a;
  return moemesh_parameter_acquire(p->parameter, p->stream, p->view);
}
struct arguments_parameter_release {
  moemesh_parameter parameter;
};
_Static_assert(sizeof(struct arguments_parameter_release) <= sizeof(arguments), "parameter_release");
static const struct field fields_parameter_release[] = {
    {"parameter", KIND_HANDLE, offsetof(struct arguments_parameter_release, parameter), sizeof(((struct arguments_parameter_release*)0)->parameter), 1, 3, NULL},
};
static void valid_parameter_release(void* a) {
  struct arguments_parameter_release* p = (struct arguments_parameter_release*)a;
  p->parameter = w.parameter;
}
static int32_t call_parameter_release(const void* a) {
  const struct arguments_parameter_release* p = (const struct arguments_parameter_release*)a;
  return moemesh_parameter_release(p->parameter);
}
struct arguments_parameter_get_gradient {
  moemesh_parameter parameter;
  moemesh_view* view;
};
_Static_assert(sizeof(struct arguments_parameter_get_gradient) <= sizeof(arguments), "parameter_get_gradient");
static const struct field fields_parameter_get_gradient[] = {
    {"parameter", KIND_HANDLE, offsetof(struct arguments_parameter_get_gradient, parameter), sizeof(((struct arguments_parameter_get_gradient*)0)->parameter), 1, 3, NULL},
    {"view", KIND_OUT, offsetof(struct arguments_parameter_get_gradient, view), sizeof(((struct arguments_parameter_get_gradient*)0)->view), 1, -1, &type_moemesh_view},
};
static void valid_parameter_get_gradient(void* a) {
  struct arguments_parameter_get_gradient* p = (struct arguments_parameter_get_gradient*)a;
  p->parameter = w.parameter;
  p->view = (void*)w.v.output[1];
}
static int32_t call_parameter_get_gradient(const void* a) {
  const struct arguments_parameter_get_gradient* p = (const struct arguments_parameter_get_gradient*)a;
  return moemesh_parameter_get_gradient(p->parameter, p->view);
}
struct arguments_gradient_ready {
  moemesh_parameter parameter;
  const moemesh_view* gradient;
  void* stream;
};
_Static_assert(sizeof(struct arguments_gradient_ready) <= sizeof(arguments), "gradient_ready");
static const struct field fields_gradient_ready[] = {
    {"parameter", KIND_HANDLE, offsetof(struct arguments_gradient_ready, parameter), sizeof(((struct arguments_gradient_ready*)0)->parameter), 1, 3, NULL},
    {"gradient", KIND_IN, offsetof(struct arguments_gradient_ready, gradient), sizeof(((struct arguments_gradient_ready*)0)->gradient), 1, -1, &type_moemesh_view},
    {"stream", KIND_STREAM, offsetof(struct arguments_gradient_ready, stream), sizeof(((struct arguments_gradient_ready*)0)->stream), 1, -1, NULL},
};
static void valid_gradient_ready(void* a) {
  struct arguments_gradient_ready* p = (struct arguments_gradient_ready*)a;
  p->parameter = w.parameter;
  p->gradient = &w.v.gradient;
  p->stream = NULL;
}
static int32_t call_gradient_ready(const void* a) {
  const struct arguments_gradient_ready* p = (const struct arguments_gradient_ready*)a;
  return moemesh_gradient_ready(p->parameter, p->gradient, p->stream);
}
struct arguments_parameters_changed {
  moemesh_family family;
};
_Static_assert(sizeof(struct arguments_parameters_changed) <= sizeof(arguments), "parameters_changed");
static const struct field fields_parameters_changed[] = {
    {"family", KIND_HANDLE, offsetof(struct arguments_parameters_changed, family), sizeof(((struct arguments_parameters_changed*)0)->family), 1, 2, NULL},
};
static void valid_parameters_changed(void* a) {
  struct arguments_parameters_changed* p = (struct arguments_parameters_changed*)a;
  p->family = w.shared;
}
static int32_t call_parameters_changed(const void* a) {
  const struct arguments_parameters_changed* p = (const struct arguments_parameters_changed*)a;
  return moemesh_parameters_changed(p->family);
}
struct arguments_parameter_read {
  moemesh_parameter parameter;
  int32_t quantity;
  int64_t expert;
  const moemesh_view* array;
};
_Static_assert(sizeof(struct arguments_parameter_read) <= sizeof(arguments), "parameter_read");
static const struct field fields_parameter_read[] = {
    {"parameter", KIND_HANDLE, offsetof(struct arguments_parameter_read, parameter), sizeof(((struct arguments_parameter_read*)0)->parameter), 1, 3, NULL},
    {"quantity", KIND_INT32, offsetof(struct arguments_parameter_read, quantity), sizeof(((struct arguments_parameter_read*)0)->quantity), 1, -1, NULL},
    {"expert", KIND_INT64, offsetof(struct arguments_parameter_read, expert), sizeof(((struct arguments_parameter_read*)0)->expert), 1, -1, NULL},
    {"array", KIND_IN, offsetof(struct arguments_parameter_read, array), sizeof(((struct arguments_parameter_read*)0)->array), 1, -1, &type_moemesh_view},
};
static void valid_parameter_read(void* a) {
  struct arguments_parameter_read* p = (struct arguments_parameter_read*)a;
  p->parameter = w.parameter;
  p->quantity = MOEMESH_VALUE;
  p->expert = 0;
  p->array = &w.v.whole;
}
static int32_t call_parameter_read(const void* a) {
  const struct arguments_parameter_read* p = (const struct arguments_parameter_read*)a;
  return moemesh_parameter_read(p->parameter, p->quantity, p->expert, p->array);
}
struct arguments_parameter_write {
  moemesh_parameter parameter;
  int32_t quantity;
  int64_t expert;
  const moemesh_view* array;
};
_Static_assert(sizeof(struct arguments_parameter_write) <= sizeof(arguments), "parameter_write");
static const struct field fields_parameter_write[] = {
    {"parameter", KIND_HANDLE, offsetof(struct arguments_parameter_write, parameter), sizeof(((struct arguments_parameter_write*)0)->parameter), 1, 3, NULL},
    {"quantity", KIND_INT32, offsetof(struct arguments_parameter_write, quantity), sizeof(((struct arguments_parameter_write*)0)->quantity), 1, -1, NULL},
    {"expert", KIND_INT64, offsetof(struct arguments_parameter_write, expert), sizeof(((struct arguments_parameter_write*)0)->expert), 1, -1, NULL},
    {"array", KIND_IN, offsetof(struct arguments_parameter_write, array), sizeof(((struct arguments_parameter_write*)0)->array), 1, -1, &type_moemesh_view},
};
static void valid_parameter_write(void* a) {
  struct arguments_parameter_write* p = (struct arguments_parameter_write*)a;
  p->parameter = w.parameter;
  p->quantity = MOEMESH_VALUE;
  p->expert = 0;
  p->array = &w.v.whole;
}
static int32_t call_parameter_write(const void* a) {
  const struct arguments_parameter_write* p = (const struct arguments_parameter_write*)a;
  return moemesh_parameter_write(p->parameter, p->quantity, p->expert, p->array);
}
struct arguments_layer_params_init {
  moemesh_layer_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_layer_params_init) <= sizeof(arguments), "layer_params_init");
static const struct field fields_layer_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_layer_params_init, params), sizeof(((struct arguments_layer_params_init*)0)->params), 1, -1, &type_moemesh_layer_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_layer_params_init, struct_size), sizeof(((struct arguments_layer_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_layer_params_init(void* a) {
  struct arguments_layer_params_init* p = (struct arguments_layer_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_layer_params);
}
static int32_t call_layer_params_init(const void* a) {
  const struct arguments_layer_params_init* p = (const struct arguments_layer_params_init*)a;
  return moemesh_layer_params_init(p->params, p->struct_size);
}
struct arguments_layer_create {
  moemesh_mesh mesh;
  moemesh_family shared;
  moemesh_family expert;
  const moemesh_layer_params* params;
  moemesh_layer* layer;
};
_Static_assert(sizeof(struct arguments_layer_create) <= sizeof(arguments), "layer_create");
static const struct field fields_layer_create[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_layer_create, mesh), sizeof(((struct arguments_layer_create*)0)->mesh), 1, 1, NULL},
    {"shared", KIND_HANDLE, offsetof(struct arguments_layer_create, shared), sizeof(((struct arguments_layer_create*)0)->shared), 1, 2, NULL},
    {"expert", KIND_HANDLE, offsetof(struct arguments_layer_create, expert), sizeof(((struct arguments_layer_create*)0)->expert), 1, 2, NULL},
    {"params", KIND_IN, offsetof(struct arguments_layer_create, params), sizeof(((struct arguments_layer_create*)0)->params), 1, -1, &type_moemesh_layer_params},
    {"layer", KIND_NEW_HANDLE, offsetof(struct arguments_layer_create, layer), sizeof(((struct arguments_layer_create*)0)->layer), 1, 4, NULL},
};
static void valid_layer_create(void* a) {
  struct arguments_layer_create* p = (struct arguments_layer_create*)a;
  p->mesh = w.mesh;
  p->shared = w.fresh_shared;
  p->expert = w.fresh_expert;
  p->params = &w.v.layer;
  p->layer = (void*)w.v.output[4];
}
static int32_t call_layer_create(const void* a) {
  const struct arguments_layer_create* p = (const struct arguments_layer_create*)a;
  return moemesh_layer_create(p->mesh, p->shared, p->expert, p->params, p->layer);
}
struct arguments_layer_destroy {
  moemesh_layer* layer;
};
_Static_assert(sizeof(struct arguments_layer_destroy) <= sizeof(arguments), "layer_destroy");
static const struct field fields_layer_destroy[] = {
    {"layer", KIND_HANDLE_AT, offsetof(struct arguments_layer_destroy, layer), sizeof(((struct arguments_layer_destroy*)0)->layer), 1, 4, NULL},
};
static void valid_layer_destroy(void* a) {
  struct arguments_layer_destroy* p = (struct arguments_layer_destroy*)a;
  p->layer = NULL;
}
static int32_t call_layer_destroy(const void* a) {
  const struct arguments_layer_destroy* p = (const struct arguments_layer_destroy*)a;
  (void)moemesh_layer_destroy(p->layer);
  return MOEMESH_OK;
}
struct arguments_forward_params_init {
  moemesh_forward_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_forward_params_init) <= sizeof(arguments), "forward_params_init");
static const struct field fields_forward_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_forward_params_init, params), sizeof(((struct arguments_forward_params_init*)0)->params), 1, -1, &type_moemesh_forward_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_forward_params_init, struct_size), sizeof(((struct arguments_forward_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_forward_params_init(void* a) {
  struct arguments_forward_params_init* p = (struct arguments_forward_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_forward_params);
}
static int32_t call_forward_params_init(const void* a) {
  const struct arguments_forward_params_init* p = (const struct arguments_forward_params_init*)a;
  return moemesh_forward_params_init(p->params, p->struct_size);
}
struct arguments_backward_params_init {
  moemesh_backward_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_backward_params_init) <= sizeof(arguments), "backward_params_init");
static const struct field fields_backward_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_backward_params_init, params), sizeof(((struct arguments_backward_params_init*)0)->params), 1, -1, &type_moemesh_backward_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_backward_params_init, struct_size), sizeof(((struct arguments_backward_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_backward_params_init(void* a) {
  struct arguments_backward_params_init* p = (struct arguments_backward_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_backward_params);
}
static int32_t call_backward_params_init(const void* a) {
  const struct arguments_backward_params_init* p = (const struct arguments_backward_params_init*)a;
  return moemesh_backward_params_init(p->params, p->struct_size);
}
struct arguments_layer_forward {
  moemesh_layer layer;
  const moemesh_forward_params* params;
  moemesh_tape* tape;
};
_Static_assert(sizeof(struct arguments_layer_forward) <= sizeof(arguments), "layer_forward");
static const struct field fields_layer_forward[] = {
    {"layer", KIND_HANDLE, offsetof(struct arguments_layer_forward, layer), sizeof(((struct arguments_layer_forward*)0)->layer), 1, 4, NULL},
    {"params", KIND_IN, offsetof(struct arguments_layer_forward, params), sizeof(((struct arguments_layer_forward*)0)->params), 1, -1, &type_moemesh_forward_params},
    {"tape", KIND_NEW_HANDLE, offsetof(struct arguments_layer_forward, tape), sizeof(((struct arguments_layer_forward*)0)->tape), 1, 5, NULL},
};
static void valid_layer_forward(void* a) {
  struct arguments_layer_forward* p = (struct arguments_layer_forward*)a;
  p->layer = w.layer;
  p->params = &w.v.forward;
  p->tape = (void*)w.v.output[2];
}
static int32_t call_layer_forward(const void* a) {
  const struct arguments_layer_forward* p = (const struct arguments_layer_forward*)a;
  return moemesh_layer_forward(p->layer, p->params, p->tape);
}
struct arguments_layer_backward {
  moemesh_tape* tape;
  const moemesh_backward_params* params;
};
_Static_assert(sizeof(struct arguments_layer_backward) <= sizeof(arguments), "layer_backward");
static const struct field fields_layer_backward[] = {
    {"tape", KIND_HANDLE_AT, offsetof(struct arguments_layer_backward, tape), sizeof(((struct arguments_layer_backward*)0)->tape), 1, 5, NULL},
    {"params", KIND_IN, offsetof(struct arguments_layer_backward, params), sizeof(((struct arguments_layer_backward*)0)->params), 1, -1, &type_moemesh_backward_params},
};
static void valid_layer_backward(void* a) {
  struct arguments_layer_backward* p = (struct arguments_layer_backward*)a;
  p->tape = &w.tape;
  p->params = &w.v.backward;
}
static int32_t call_layer_backward(const void* a) {
  const struct arguments_layer_backward* p = (const struct arguments_layer_backward*)a;
  return moemesh_layer_backward(p->tape, p->params);
}
struct arguments_replay_params_init {
  moemesh_replay_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_replay_params_init) <= sizeof(arguments), "replay_params_init");
static const struct field fields_replay_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_replay_params_init, params), sizeof(((struct arguments_replay_params_init*)0)->params), 1, -1, &type_moemesh_replay_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_replay_params_init, struct_size), sizeof(((struct arguments_replay_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_replay_params_init(void* a) {
  struct arguments_replay_params_init* p = (struct arguments_replay_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_replay_params);
}
static int32_t call_replay_params_init(const void* a) {
  const struct arguments_replay_params_init* p = (const struct arguments_replay_params_init*)a;
  return moemesh_replay_params_init(p->params, p->struct_size);
}
struct arguments_layer_replay {
  moemesh_tape* tape;
  const moemesh_replay_params* params;
};
_Static_assert(sizeof(struct arguments_layer_replay) <= sizeof(arguments), "layer_replay");
static const struct field fields_layer_replay[] = {
    {"tape", KIND_HANDLE_AT, offsetof(struct arguments_layer_replay, tape), sizeof(((struct arguments_layer_replay*)0)->tape), 1, 5, NULL},
    {"params", KIND_IN, offsetof(struct arguments_layer_replay, params), sizeof(((struct arguments_layer_replay*)0)->params), 1, -1, &type_moemesh_replay_params},
};
static void valid_layer_replay(void* a) {
  struct arguments_layer_replay* p = (struct arguments_layer_replay*)a;
  p->tape = &w.tape;
  p->params = &w.v.replay;
}
static int32_t call_layer_replay(const void* a) {
  const struct arguments_layer_replay* p = (const struct arguments_layer_replay*)a;
  return moemesh_layer_replay(p->tape, p->params);
}
struct arguments_tape_get_bytes {
  moemesh_tape tape;
  moemesh_tape_bytes* bytes;
};
_Static_assert(sizeof(struct arguments_tape_get_bytes) <= sizeof(arguments), "tape_get_bytes");
static const struct field fields_tape_get_bytes[] = {
    {"tape", KIND_HANDLE, offsetof(struct arguments_tape_get_bytes, tape), sizeof(((struct arguments_tape_get_bytes*)0)->tape), 1, 5, NULL},
    {"bytes", KIND_OUT, offsetof(struct arguments_tape_get_bytes, bytes), sizeof(((struct arguments_tape_get_bytes*)0)->bytes), 1, -1, &type_moemesh_tape_bytes},
};
static void valid_tape_get_bytes(void* a) {
  struct arguments_tape_get_bytes* p = (struct arguments_tape_get_bytes*)a;
  p->tape = w.tape;
  p->bytes = (void*)w.v.output[1];
}
static int32_t call_tape_get_bytes(const void* a) {
  const struct arguments_tape_get_bytes* p = (const struct arguments_tape_get_bytes*)a;
  return moemesh_tape_get_bytes(p->tape, p->bytes);
}
struct arguments_layer_plan_bytes {
  moemesh_layer layer;
  const moemesh_layer_load* load;
  int32_t recompute;
  moemesh_tape_bytes* bytes;
};
_Static_assert(sizeof(struct arguments_layer_plan_bytes) <= sizeof(arguments), "layer_plan_bytes");
static const struct field fields_layer_plan_bytes[] = {
    {"layer", KIND_HANDLE, offsetof(struct arguments_layer_plan_bytes, layer), sizeof(((struct arguments_layer_plan_bytes*)0)->layer), 1, 4, NULL},
    {"load", KIND_IN, offsetof(struct arguments_layer_plan_bytes, load), sizeof(((struct arguments_layer_plan_bytes*)0)->load), 1, -1, &type_moemesh_layer_load},
    {"recompute", KIND_INT32, offsetof(struct arguments_layer_plan_bytes, recompute), sizeof(((struct arguments_layer_plan_bytes*)0)->recompute), 1, -1, NULL},
    {"bytes", KIND_OUT, offsetof(struct arguments_layer_plan_bytes, bytes), sizeof(((struct arguments_layer_plan_bytes*)0)->bytes), 1, -1, &type_moemesh_tape_bytes},
};
static void valid_layer_plan_bytes(void* a) {
  struct arguments_layer_plan_bytes* p = (struct arguments_layer_plan_bytes*)a;
  p->layer = w.layer;
  p->load = &w.v.load;
  p->recompute = 0;
  p->bytes = (void*)w.v.output[3];
}
static int32_t call_layer_plan_bytes(const void* a) {
  const struct arguments_layer_plan_bytes* p = (const struct arguments_layer_plan_bytes*)a;
  return moemesh_layer_plan_bytes(p->layer, p->load, p->recompute, p->bytes);
}
struct arguments_layer_balanced_load {
  moemesh_layer layer;
  int64_t tokens;
  moemesh_layer_load* load;
};
_Static_assert(sizeof(struct arguments_layer_balanced_load) <= sizeof(arguments), "layer_balanced_load");
static const struct field fields_layer_balanced_load[] = {
    {"layer", KIND_HANDLE, offsetof(struct arguments_layer_balanced_load, layer), sizeof(((struct arguments_layer_balanced_load*)0)->layer), 1, 4, NULL},
    {"tokens", KIND_INT64, offsetof(struct arguments_layer_balanced_load, tokens), sizeof(((struct arguments_layer_balanced_load*)0)->tokens), 1, -1, NULL},
    {"load", KIND_OUT, offsetof(struct arguments_layer_balanced_load, load), sizeof(((struct arguments_layer_balanced_load*)0)->load), 1, -1, &type_moemesh_layer_load},
};
static void valid_layer_balanced_load(void* a) {
  struct arguments_layer_balanced_load* p = (struct arguments_layer_balanced_load*)a;
  p->layer = w.layer;
  p->tokens = 3;
  p->load = (void*)w.v.output[2];
}
static int32_t call_layer_balanced_load(const void* a) {
  const struct arguments_layer_balanced_load* p = (const struct arguments_layer_balanced_load*)a;
  return moemesh_layer_balanced_load(p->layer, p->tokens, p->load);
}
struct arguments_layer_get_memory {
  moemesh_layer layer;
  moemesh_layer_memory* memory;
};
_Static_assert(sizeof(struct arguments_layer_get_memory) <= sizeof(arguments), "layer_get_memory");
static const struct field fields_layer_get_memory[] = {
    {"layer", KIND_HANDLE, offsetof(struct arguments_layer_get_memory, layer), sizeof(((struct arguments_layer_get_memory*)0)->layer), 1, 4, NULL},
    {"memory", KIND_OUT, offsetof(struct arguments_layer_get_memory, memory), sizeof(((struct arguments_layer_get_memory*)0)->memory), 1, -1, &type_moemesh_layer_memory},
};
static void valid_layer_get_memory(void* a) {
  struct arguments_layer_get_memory* p = (struct arguments_layer_get_memory*)a;
  p->layer = w.layer;
  p->memory = (void*)w.v.output[1];
}
static int32_t call_layer_get_memory(const void* a) {
  const struct arguments_layer_get_memory* p = (const struct arguments_layer_get_memory*)a;
  return moemesh_layer_get_memory(p->layer, p->memory);
}
struct arguments_tape_destroy {
  moemesh_tape* tape;
};
_Static_assert(sizeof(struct arguments_tape_destroy) <= sizeof(arguments), "tape_destroy");
static const struct field fields_tape_destroy[] = {
    {"tape", KIND_HANDLE_AT, offsetof(struct arguments_tape_destroy, tape), sizeof(((struct arguments_tape_destroy*)0)->tape), 1, 5, NULL},
};
static void valid_tape_destroy(void* a) {
  struct arguments_tape_destroy* p = (struct arguments_tape_destroy*)a;
  p->tape = NULL;
}
static int32_t call_tape_destroy(const void* a) {
  const struct arguments_tape_destroy* p = (const struct arguments_tape_destroy*)a;
  (void)moemesh_tape_destroy(p->tape);
  return MOEMESH_OK;
}
struct arguments_tape_get_routing {
  moemesh_tape tape;
  const moemesh_view* experts;
  const moemesh_view* gates;
};
_Static_assert(sizeof(struct arguments_tape_get_routing) <= sizeof(arguments), "tape_get_routing");
static const struct field fields_tape_get_routing[] = {
    {"tape", KIND_HANDLE, offsetof(struct arguments_tape_get_routing, tape), sizeof(((struct arguments_tape_get_routing*)0)->tape), 1, 5, NULL},
    {"experts", KIND_IN, offsetof(struct arguments_tape_get_routing, experts), sizeof(((struct arguments_tape_get_routing*)0)->experts), 1, -1, &type_moemesh_view},
    {"gates", KIND_IN, offsetof(struct arguments_tape_get_routing, gates), sizeof(((struct arguments_tape_get_routing*)0)->gates), 1, -1, &type_moemesh_view},
};
static void valid_tape_get_routing(void* a) {
  struct arguments_tape_get_routing* p = (struct arguments_tape_get_routing*)a;
  p->tape = w.tape;
  p->experts = &w.v.experts;
  p->gates = &w.v.gates;
}
static int32_t call_tape_get_routing(const void* a) {
  const struct arguments_tape_get_routing* p = (const struct arguments_tape_get_routing*)a;
  return moemesh_tape_get_routing(p->tape, p->experts, p->gates);
}
struct arguments_layer_get_statistics {
  moemesh_layer layer;
  moemesh_layer_statistics* statistics;
};
_Static_assert(sizeof(struct arguments_layer_get_statistics) <= sizeof(arguments), "layer_get_statistics");
static const struct field fields_layer_get_statistics[] = {
    {"layer", KIND_HANDLE, offsetof(struct arguments_layer_get_statistics, layer), sizeof(((struct arguments_layer_get_statistics*)0)->layer), 1, 4, NULL},
    {"statistics", KIND_OUT, offsetof(struct arguments_layer_get_statistics, statistics), sizeof(((struct arguments_layer_get_statistics*)0)->statistics), 1, -1, &type_moemesh_layer_statistics},
};
static void valid_layer_get_statistics(void* a) {
  struct arguments_layer_get_statistics* p = (struct arguments_layer_get_statistics*)a;
  p->layer = w.layer;
  p->statistics = (void*)w.v.output[1];
}
static int32_t call_layer_get_statistics(const void* a) {
  const struct arguments_layer_get_statistics* p = (const struct arguments_layer_get_statistics*)a;
  return moemesh_layer_get_statistics(p->layer, p->statistics);
}
struct arguments_layer_get_rows {
  moemesh_layer layer;
  const moemesh_view* rows_per_expert;
  const moemesh_view* rows_received;
};
_Static_assert(sizeof(struct arguments_layer_get_rows) <= sizeof(arguments), "layer_get_rows");
static const struct field fields_layer_get_rows[] = {
    {"layer", KIND_HANDLE, offsetof(struct arguments_layer_get_rows, layer), sizeof(((struct arguments_layer_get_rows*)0)->layer), 1, 4, NULL},
    {"rows_per_expert", KIND_IN, offsetof(struct arguments_layer_get_rows, rows_per_expert), sizeof(((struct arguments_layer_get_rows*)0)->rows_per_expert), 1, -1, &type_moemesh_view},
    {"rows_received", KIND_IN, offsetof(struct arguments_layer_get_rows, rows_received), sizeof(((struct arguments_layer_get_rows*)0)->rows_received), 1, -1, &type_moemesh_view},
};
static void valid_layer_get_rows(void* a) {
  struct arguments_layer_get_rows* p = (struct arguments_layer_get_rows*)a;
  p->layer = w.layer;
  p->rows_per_expert = &w.v.rows;
  p->rows_received = &w.v.received;
}
static int32_t call_layer_get_rows(const void* a) {
  const struct arguments_layer_get_rows* p = (const struct arguments_layer_get_rows*)a;
  return moemesh_layer_get_rows(p->layer, p->rows_per_expert, p->rows_received);
}
struct arguments_layer_get_bias {
  moemesh_layer layer;
  const moemesh_view* bias;
};
_Static_assert(sizeof(struct arguments_layer_get_bias) <= sizeof(arguments), "layer_get_bias");
static const struct field fields_layer_get_bias[] = {
    {"layer", KIND_HANDLE, offsetof(struct arguments_layer_get_bias, layer), sizeof(((struct arguments_layer_get_bias*)0)->layer), 1, 4, NULL},
    {"bias", KIND_IN, offsetof(struct arguments_layer_get_bias, bias), sizeof(((struct arguments_layer_get_bias*)0)->bias), 1, -1, &type_moemesh_view},
};
static void valid_layer_get_bias(void* a) {
  struct arguments_layer_get_bias* p = (struct arguments_layer_get_bias*)a;
  p->layer = w.layer;
  p->bias = &w.v.bias;
}
static int32_t call_layer_get_bias(const void* a) {
  const struct arguments_layer_get_bias* p = (const struct arguments_layer_get_bias*)a;
  return moemesh_layer_get_bias(p->layer, p->bias);
}
struct arguments_layer_set_bias {
  moemesh_layer layer;
  const moemesh_view* bias;
};
_Static_assert(sizeof(struct arguments_layer_set_bias) <= sizeof(arguments), "layer_set_bias");
static const struct field fields_layer_set_bias[] = {
    {"layer", KIND_HANDLE, offsetof(struct arguments_layer_set_bias, layer), sizeof(((struct arguments_layer_set_bias*)0)->layer), 1, 4, NULL},
    {"bias", KIND_IN, offsetof(struct arguments_layer_set_bias, bias), sizeof(((struct arguments_layer_set_bias*)0)->bias), 1, -1, &type_moemesh_view},
};
static void valid_layer_set_bias(void* a) {
  struct arguments_layer_set_bias* p = (struct arguments_layer_set_bias*)a;
  p->layer = w.layer;
  p->bias = &w.v.bias;
}
static int32_t call_layer_set_bias(const void* a) {
  const struct arguments_layer_set_bias* p = (const struct arguments_layer_set_bias*)a;
  return moemesh_layer_set_bias(p->layer, p->bias);
}
struct arguments_optimizer_params_init {
  moemesh_optimizer_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_optimizer_params_init) <= sizeof(arguments), "optimizer_params_init");
static const struct field fields_optimizer_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_optimizer_params_init, params), sizeof(((struct arguments_optimizer_params_init*)0)->params), 1, -1, &type_moemesh_optimizer_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_optimizer_params_init, struct_size), sizeof(((struct arguments_optimizer_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_optimizer_params_init(void* a) {
  struct arguments_optimizer_params_init* p = (struct arguments_optimizer_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_optimizer_params);
}
static int32_t call_optimizer_params_init(const void* a) {
  const struct arguments_optimizer_params_init* p = (const struct arguments_optimizer_params_init*)a;
  return moemesh_optimizer_params_init(p->params, p->struct_size);
}
struct arguments_optimizer_create {
  moemesh_mesh mesh;
  moemesh_family shared;
  moemesh_family expert;
  const moemesh_optimizer_params* params;
  moemesh_optimizer* optimizer;
};
_Static_assert(sizeof(struct arguments_optimizer_create) <= sizeof(arguments), "optimizer_create");
static const struct field fields_optimizer_create[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_optimizer_create, mesh), sizeof(((struct arguments_optimizer_create*)0)->mesh), 1, 1, NULL},
    {"shared", KIND_HANDLE, offsetof(struct arguments_optimizer_create, shared), sizeof(((struct arguments_optimizer_create*)0)->shared), 1, 2, NULL},
    {"expert", KIND_HANDLE, offsetof(struct arguments_optimizer_create, expert), sizeof(((struct arguments_optimizer_create*)0)->expert), 1, 2, NULL},
    {"params", KIND_IN, offsetof(struct arguments_optimizer_create, params), sizeof(((struct arguments_optimizer_create*)0)->params), 1, -1, &type_moemesh_optimizer_params},
    {"optimizer", KIND_NEW_HANDLE, offsetof(struct arguments_optimizer_create, optimizer), sizeof(((struct arguments_optimizer_create*)0)->optimizer), 1, 6, NULL},
};
static void valid_optimizer_create(void* a) {
  struct arguments_optimizer_create* p = (struct arguments_optimizer_create*)a;
  p->mesh = w.mesh;
  p->shared = w.free_shared;
  p->expert = w.free_expert;
  p->params = &w.v.optimizer;
  p->optimizer = (void*)w.v.output[4];
}
static int32_t call_optimizer_create(const void* a) {
  const struct arguments_optimizer_create* p = (const struct arguments_optimizer_create*)a;
  return moemesh_optimizer_create(p->mesh, p->shared, p->expert, p->params, p->optimizer);
}
struct arguments_optimizer_destroy {
  moemesh_optimizer* optimizer;
};
_Static_assert(sizeof(struct arguments_optimizer_destroy) <= sizeof(arguments), "optimizer_destroy");
static const struct field fields_optimizer_destroy[] = {
    {"optimizer", KIND_HANDLE_AT, offsetof(struct arguments_optimizer_destroy, optimizer), sizeof(((struct arguments_optimizer_destroy*)0)->optimizer), 1, 6, NULL},
};
static void valid_optimizer_destroy(void* a) {
  struct arguments_optimizer_destroy* p = (struct arguments_optimizer_destroy*)a;
  p->optimizer = NULL;
}
static int32_t call_optimizer_destroy(const void* a) {
  const struct arguments_optimizer_destroy* p = (const struct arguments_optimizer_destroy*)a;
  (void)moemesh_optimizer_destroy(p->optimizer);
  return MOEMESH_OK;
}
struct arguments_step_params_init {
  moemesh_step_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_step_params_init) <= sizeof(arguments), "step_params_init");
static const struct field fields_step_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_step_params_init, params), sizeof(((struct arguments_step_params_init*)0)->params), 1, -1, &type_moemesh_step_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_step_params_init, struct_size), sizeof(((struct arguments_step_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_step_params_init(void* a) {
  struct arguments_step_params_init* p = (struct arguments_step_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_step_params);
}
static int32_t call_step_params_init(const void* a) {
  const struct arguments_step_params_init* p = (const struct arguments_step_params_init*)a;
  return moemesh_step_params_init(p->params, p->struct_size);
}
struct arguments_step_begin {
  moemesh_optimizer optimizer;
  const moemesh_step_params* params;
};
_Static_assert(sizeof(struct arguments_step_begin) <= sizeof(arguments), "step_begin");
static const struct field fields_step_begin[] = {
    {"optimizer", KIND_HANDLE, offsetof(struct arguments_step_begin, optimizer), sizeof(((struct arguments_step_begin*)0)->optimizer), 1, 6, NULL},
    {"params", KIND_IN, offsetof(struct arguments_step_begin, params), sizeof(((struct arguments_step_begin*)0)->params), 1, -1, &type_moemesh_step_params},
};
static void valid_step_begin(void* a) {
  struct arguments_step_begin* p = (struct arguments_step_begin*)a;
  p->optimizer = w.optimizer;
  p->params = &w.v.step;
}
static int32_t call_step_begin(const void* a) {
  const struct arguments_step_begin* p = (const struct arguments_step_begin*)a;
  return moemesh_step_begin(p->optimizer, p->params);
}
struct arguments_loss_tokens {
  moemesh_optimizer optimizer;
  int32_t microbatch;
  int64_t tokens;
};
_Static_assert(sizeof(struct arguments_loss_tokens) <= sizeof(arguments), "loss_tokens");
static const struct field fields_loss_tokens[] = {
    {"optimizer", KIND_HANDLE, offsetof(struct arguments_loss_tokens, optimizer), sizeof(((struct arguments_loss_tokens*)0)->optimizer), 1, 6, NULL},
    {"microbatch", KIND_INT32, offsetof(struct arguments_loss_tokens, microbatch), sizeof(((struct arguments_loss_tokens*)0)->microbatch), 1, -1, NULL},
    {"tokens", KIND_INT64, offsetof(struct arguments_loss_tokens, tokens), sizeof(((struct arguments_loss_tokens*)0)->tokens), 1, -1, NULL},
};
static void valid_loss_tokens(void* a) {
  struct arguments_loss_tokens* p = (struct arguments_loss_tokens*)a;
  p->optimizer = w.optimizer;
  p->microbatch = 0;
  p->tokens = 3;
}
static int32_t call_loss_tokens(const void* a) {
  const struct arguments_loss_tokens* p = (const struct arguments_loss_tokens*)a;
  return moemesh_loss_tokens(p->optimizer, p->microbatch, p->tokens);
}
struct arguments_update_params_init {
  moemesh_update_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_update_params_init) <= sizeof(arguments), "update_params_init");
static const struct field fields_update_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_update_params_init, params), sizeof(((struct arguments_update_params_init*)0)->params), 1, -1, &type_moemesh_update_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_update_params_init, struct_size), sizeof(((struct arguments_update_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_update_params_init(void* a) {
  struct arguments_update_params_init* p = (struct arguments_update_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_update_params);
}
static int32_t call_update_params_init(const void* a) {
  const struct arguments_update_params_init* p = (const struct arguments_update_params_init*)a;
  return moemesh_update_params_init(p->params, p->struct_size);
}
struct arguments_optimizer_step {
  moemesh_optimizer optimizer;
  const moemesh_update_params* params;
  moemesh_update_result* result;
};
_Static_assert(sizeof(struct arguments_optimizer_step) <= sizeof(arguments), "optimizer_step");
static const struct field fields_optimizer_step[] = {
    {"optimizer", KIND_HANDLE, offsetof(struct arguments_optimizer_step, optimizer), sizeof(((struct arguments_optimizer_step*)0)->optimizer), 1, 6, NULL},
    {"params", KIND_IN, offsetof(struct arguments_optimizer_step, params), sizeof(((struct arguments_optimizer_step*)0)->params), 1, -1, &type_moemesh_update_params},
    {"result", KIND_OUT, offsetof(struct arguments_optimizer_step, result), sizeof(((struct arguments_optimizer_step*)0)->result), 1, -1, &type_moemesh_update_result},
};
static void valid_optimizer_step(void* a) {
  struct arguments_optimizer_step* p = (struct arguments_optimizer_step*)a;
  p->optimizer = w.optimizer;
  p->params = &w.v.update;
  p->result = (void*)w.v.output[2];
}
static int32_t call_optimizer_step(const void* a) {
  const struct arguments_optimizer_step* p = (const struct arguments_optimizer_step*)a;
  return moemesh_optimizer_step(p->optimizer, p->params, p->result);
}
struct arguments_step_end {
  moemesh_optimizer optimizer;
  int32_t reduce;
};
_Static_assert(sizeof(struct arguments_step_end) <= sizeof(arguments), "step_end");
static const struct field fields_step_end[] = {
    {"optimizer", KIND_HANDLE, offsetof(struct arguments_step_end, optimizer), sizeof(((struct arguments_step_end*)0)->optimizer), 1, 6, NULL},
    {"reduce", KIND_INT32, offsetof(struct arguments_step_end, reduce), sizeof(((struct arguments_step_end*)0)->reduce), 1, -1, NULL},
};
static void valid_step_end(void* a) {
  struct arguments_step_end* p = (struct arguments_step_end*)a;
  p->optimizer = w.optimizer;
  p->reduce = 0;
}
static int32_t call_step_end(const void* a) {
  const struct arguments_step_end* p = (const struct arguments_step_end*)a;
  return moemesh_step_end(p->optimizer, p->reduce);
}
struct arguments_optimizer_get_bytes {
  moemesh_optimizer optimizer;
  int32_t family;
  moemesh_optimizer_bytes* bytes;
};
_Static_assert(sizeof(struct arguments_optimizer_get_bytes) <= sizeof(arguments), "optimizer_get_bytes");
static const struct field fields_optimizer_get_bytes[] = {
    {"optimizer", KIND_HANDLE, offsetof(struct arguments_optimizer_get_bytes, optimizer), sizeof(((struct arguments_optimizer_get_bytes*)0)->optimizer), 1, 6, NULL},
    {"family", KIND_INT32, offsetof(struct arguments_optimizer_get_bytes, family), sizeof(((struct arguments_optimizer_get_bytes*)0)->family), 1, -1, NULL},
    {"bytes", KIND_OUT, offsetof(struct arguments_optimizer_get_bytes, bytes), sizeof(((struct arguments_optimizer_get_bytes*)0)->bytes), 1, -1, &type_moemesh_optimizer_bytes},
};
static void valid_optimizer_get_bytes(void* a) {
  struct arguments_optimizer_get_bytes* p = (struct arguments_optimizer_get_bytes*)a;
  p->optimizer = w.optimizer;
  p->family = MOEMESH_SHARED;
  p->bytes = (void*)w.v.output[2];
}
static int32_t call_optimizer_get_bytes(const void* a) {
  const struct arguments_optimizer_get_bytes* p = (const struct arguments_optimizer_get_bytes*)a;
  return moemesh_optimizer_get_bytes(p->optimizer, p->family, p->bytes);
}
struct arguments_optimizer_get_counters {
  moemesh_optimizer optimizer;
  moemesh_optimizer_counters* counters;
};
_Static_assert(sizeof(struct arguments_optimizer_get_counters) <= sizeof(arguments), "optimizer_get_counters");
static const struct field fields_optimizer_get_counters[] = {
    {"optimizer", KIND_HANDLE, offsetof(struct arguments_optimizer_get_counters, optimizer), sizeof(((struct arguments_optimizer_get_counters*)0)->optimizer), 1, 6, NULL},
    {"counters", KIND_OUT, offsetof(struct arguments_optimizer_get_counters, counters), sizeof(((struct arguments_optimizer_get_counters*)0)->counters), 1, -1, &type_moemesh_optimizer_counters},
};
static void valid_optimizer_get_counters(void* a) {
  struct arguments_optimizer_get_counters* p = (struct arguments_optimizer_get_counters*)a;
  p->optimizer = w.optimizer;
  p->counters = (void*)w.v.output[1];
}
static int32_t call_optimizer_get_counters(const void* a) {
  const struct arguments_optimizer_get_counters* p = (const struct arguments_optimizer_get_counters*)a;
  return moemesh_optimizer_get_counters(p->optimizer, p->counters);
}
struct arguments_optimizer_set_counters {
  moemesh_optimizer optimizer;
  const moemesh_optimizer_counters* counters;
};
_Static_assert(sizeof(struct arguments_optimizer_set_counters) <= sizeof(arguments), "optimizer_set_counters");
static const struct field fields_optimizer_set_counters[] = {
    {"optimizer", KIND_HANDLE, offsetof(struct arguments_optimizer_set_counters, optimizer), sizeof(((struct arguments_optimizer_set_counters*)0)->optimizer), 1, 6, NULL},
    {"counters", KIND_IN, offsetof(struct arguments_optimizer_set_counters, counters), sizeof(((struct arguments_optimizer_set_counters*)0)->counters), 1, -1, &type_moemesh_optimizer_counters},
};
static void valid_optimizer_set_counters(void* a) {
  struct arguments_optimizer_set_counters* p = (struct arguments_optimizer_set_counters*)a;
  p->optimizer = w.optimizer;
  p->counters = &w.v.counters;
}
static int32_t call_optimizer_set_counters(const void* a) {
  const struct arguments_optimizer_set_counters* p = (const struct arguments_optimizer_set_counters*)a;
  return moemesh_optimizer_set_counters(p->optimizer, p->counters);
}
struct arguments_pipeline_params_init {
  moemesh_pipeline_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_pipeline_params_init) <= sizeof(arguments), "pipeline_params_init");
static const struct field fields_pipeline_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_pipeline_params_init, params), sizeof(((struct arguments_pipeline_params_init*)0)->params), 1, -1, &type_moemesh_pipeline_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_pipeline_params_init, struct_size), sizeof(((struct arguments_pipeline_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_pipeline_params_init(void* a) {
  struct arguments_pipeline_params_init* p = (struct arguments_pipeline_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_pipeline_params);
}
static int32_t call_pipeline_params_init(const void* a) {
  const struct arguments_pipeline_params_init* p = (const struct arguments_pipeline_params_init*)a;
  return moemesh_pipeline_params_init(p->params, p->struct_size);
}
struct arguments_pipeline_run_init {
  moemesh_pipeline_run* run;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_pipeline_run_init) <= sizeof(arguments), "pipeline_run_init");
static const struct field fields_pipeline_run_init[] = {
    {"run", KIND_OUT, offsetof(struct arguments_pipeline_run_init, run), sizeof(((struct arguments_pipeline_run_init*)0)->run), 1, -1, &type_moemesh_pipeline_run},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_pipeline_run_init, struct_size), sizeof(((struct arguments_pipeline_run_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_pipeline_run_init(void* a) {
  struct arguments_pipeline_run_init* p = (struct arguments_pipeline_run_init*)a;
  p->run = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_pipeline_run);
}
static int32_t call_pipeline_run_init(const void* a) {
  const struct arguments_pipeline_run_init* p = (const struct arguments_pipeline_run_init*)a;
  return moemesh_pipeline_run_init(p->run, p->struct_size);
}
struct arguments_pipeline_create {
  moemesh_mesh mesh;
  moemesh_optimizer optimizer;
  const moemesh_pipeline_params* params;
  moemesh_pipeline* pipeline;
};
_Static_assert(sizeof(struct arguments_pipeline_create) <= sizeof(arguments), "pipeline_create");
static const struct field fields_pipeline_create[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_pipeline_create, mesh), sizeof(((struct arguments_pipeline_create*)0)->mesh), 1, 1, NULL},
    {"optimizer", KIND_HANDLE, offsetof(struct arguments_pipeline_create, optimizer), sizeof(((struct arguments_pipeline_create*)0)->optimizer), 1, 6, NULL},
    {"params", KIND_IN, offsetof(struct arguments_pipeline_create, params), sizeof(((struct arguments_pipeline_create*)0)->params), 1, -1, &type_moemesh_pipeline_params},
    {"pipeline", KIND_NEW_HANDLE, offsetof(struct arguments_pipeline_create, pipeline), sizeof(((struct arguments_pipeline_create*)0)->pipeline), 1, 7, NULL},
};
static void valid_pipeline_create(void* a) {
  struct arguments_pipeline_create* p = (struct arguments_pipeline_create*)a;
  p->mesh = w.mesh;
  p->optimizer = w.optimizer;
  p->params = &w.v.pipeline;
  p->pipeline = (void*)w.v.output[3];
}
static int32_t call_pipeline_create(const void* a) {
  const struct arguments_pipeline_create* p = (const struct arguments_pipeline_create*)a;
  return moemesh_pipeline_create(p->mesh, p->optimizer, p->params, p->pipeline);
}
struct arguments_pipeline_destroy {
  moemesh_pipeline* pipeline;
};
_Static_assert(sizeof(struct arguments_pipeline_destroy) <= sizeof(arguments), "pipeline_destroy");
static const struct field fields_pipeline_destroy[] = {
    {"pipeline", KIND_HANDLE_AT, offsetof(struct arguments_pipeline_destroy, pipeline), sizeof(((struct arguments_pipeline_destroy*)0)->pipeline), 1, 7, NULL},
};
static void valid_pipeline_destroy(void* a) {
  struct arguments_pipeline_destroy* p = (struct arguments_pipeline_destroy*)a;
  p->pipeline = NULL;
}
static int32_t call_pipeline_destroy(const void* a) {
  const struct arguments_pipeline_destroy* p = (const struct arguments_pipeline_destroy*)a;
  (void)moemesh_pipeline_destroy(p->pipeline);
  return MOEMESH_OK;
}
struct arguments_pipeline_begin {
  moemesh_pipeline pipeline;
  const moemesh_pipeline_run* run;
};
_Static_assert(sizeof(struct arguments_pipeline_begin) <= sizeof(arguments), "pipeline_begin");
static const struct field fields_pipeline_begin[] = {
    {"pipeline", KIND_HANDLE, offsetof(struct arguments_pipeline_begin, pipeline), sizeof(((struct arguments_pipeline_begin*)0)->pipeline), 1, 7, NULL},
    {"run", KIND_IN, offsetof(struct arguments_pipeline_begin, run), sizeof(((struct arguments_pipeline_begin*)0)->run), 1, -1, &type_moemesh_pipeline_run},
};
static void valid_pipeline_begin(void* a) {
  struct arguments_pipeline_begin* p = (struct arguments_pipeline_begin*)a;
  p->pipeline = w.pipeline;
  p->run = &w.v.run;
}
static int32_t call_pipeline_begin(const void* a) {
  const struct arguments_pipeline_begin* p = (const struct arguments_pipeline_begin*)a;
  return moemesh_pipeline_begin(p->pipeline, p->run);
}
struct arguments_pipeline_next {
  moemesh_pipeline pipeline;
  moemesh_pipeline_action* action;
};
_Static_assert(sizeof(struct arguments_pipeline_next) <= sizeof(arguments), "pipeline_next");
static const struct field fields_pipeline_next[] = {
    {"pipeline", KIND_HANDLE, offsetof(struct arguments_pipeline_next, pipeline), sizeof(((struct arguments_pipeline_next*)0)->pipeline), 1, 7, NULL},
    {"action", KIND_OUT, offsetof(struct arguments_pipeline_next, action), sizeof(((struct arguments_pipeline_next*)0)->action), 1, -1, &type_moemesh_pipeline_action},
};
static void valid_pipeline_next(void* a) {
  struct arguments_pipeline_next* p = (struct arguments_pipeline_next*)a;
  p->pipeline = w.pipeline;
  p->action = (void*)w.v.output[1];
}
static int32_t call_pipeline_next(const void* a) {
  const struct arguments_pipeline_next* p = (const struct arguments_pipeline_next*)a;
  return moemesh_pipeline_next(p->pipeline, p->action);
}
struct arguments_pipeline_done {
  moemesh_pipeline pipeline;
  int32_t status;
};
_Static_assert(sizeof(struct arguments_pipeline_done) <= sizeof(arguments), "pipeline_done");
static const struct field fields_pipeline_done[] = {
    {"pipeline", KIND_HANDLE, offsetof(struct arguments_pipeline_done, pipeline), sizeof(((struct arguments_pipeline_done*)0)->pipeline), 1, 7, NULL},
    {"status", KIND_INT32, offsetof(struct arguments_pipeline_done, status), sizeof(((struct arguments_pipeline_done*)0)->status), 1, -1, NULL},
};
static void valid_pipeline_done(void* a) {
  struct arguments_pipeline_done* p = (struct arguments_pipeline_done*)a;
  p->pipeline = w.pipeline;
  p->status = 0;
}
static int32_t call_pipeline_done(const void* a) {
  const struct arguments_pipeline_done* p = (const struct arguments_pipeline_done*)a;
  return moemesh_pipeline_done(p->pipeline, p->status);
}
struct arguments_pipeline_execute {
  moemesh_pipeline pipeline;
  const moemesh_pipeline_run* run;
  moemesh_pipeline_function function;
  void* user;
};
_Static_assert(sizeof(struct arguments_pipeline_execute) <= sizeof(arguments), "pipeline_execute");
static const struct field fields_pipeline_execute[] = {
    {"pipeline", KIND_HANDLE, offsetof(struct arguments_pipeline_execute, pipeline), sizeof(((struct arguments_pipeline_execute*)0)->pipeline), 1, 7, NULL},
    {"run", KIND_IN, offsetof(struct arguments_pipeline_execute, run), sizeof(((struct arguments_pipeline_execute*)0)->run), 1, -1, &type_moemesh_pipeline_run},
    {"function", KIND_POINTER, offsetof(struct arguments_pipeline_execute, function), sizeof(((struct arguments_pipeline_execute*)0)->function), 1, -1, NULL},
    {"user", KIND_ANY, offsetof(struct arguments_pipeline_execute, user), sizeof(((struct arguments_pipeline_execute*)0)->user), 1, -1, NULL},
};
static void valid_pipeline_execute(void* a) {
  struct arguments_pipeline_execute* p = (struct arguments_pipeline_execute*)a;
  p->pipeline = w.pipeline;
  p->run = &w.v.run;
  p->function = world_action;
  p->user = NULL;
}
static int32_t call_pipeline_execute(const void* a) {
  const struct arguments_pipeline_execute* p = (const struct arguments_pipeline_execute*)a;
  return moemesh_pipeline_execute(p->pipeline, p->run, p->function, p->user);
}
struct arguments_pipeline_get_info {
  moemesh_pipeline pipeline;
  moemesh_pipeline_info* info;
};
_Static_assert(sizeof(struct arguments_pipeline_get_info) <= sizeof(arguments), "pipeline_get_info");
static const struct field fields_pipeline_get_info[] = {
    {"pipeline", KIND_HANDLE, offsetof(struct arguments_pipeline_get_info, pipeline), sizeof(((struct arguments_pipeline_get_info*)0)->pipeline), 1, 7, NULL},
    {"info", KIND_OUT, offsetof(struct arguments_pipeline_get_info, info), sizeof(((struct arguments_pipeline_get_info*)0)->info), 1, -1, &type_moemesh_pipeline_info},
};
static void valid_pipeline_get_info(void* a) {
  struct arguments_pipeline_get_info* p = (struct arguments_pipeline_get_info*)a;
  p->pipeline = w.pipeline;
  p->info = (void*)w.v.output[1];
}
static int32_t call_pipeline_get_info(const void* a) {
  const struct arguments_pipeline_get_info* p = (const struct arguments_pipeline_get_info*)a;
  return moemesh_pipeline_get_info(p->pipeline, p->info);
}
struct arguments_bill_params_init {
  moemesh_bill_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_bill_params_init) <= sizeof(arguments), "bill_params_init");
static const struct field fields_bill_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_bill_params_init, params), sizeof(((struct arguments_bill_params_init*)0)->params), 1, -1, &type_moemesh_bill_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_bill_params_init, struct_size), sizeof(((struct arguments_bill_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_bill_params_init(void* a) {
  struct arguments_bill_params_init* p = (struct arguments_bill_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_bill_params);
}
static int32_t call_bill_params_init(const void* a) {
  const struct arguments_bill_params_init* p = (const struct arguments_bill_params_init*)a;
  return moemesh_bill_params_init(p->params, p->struct_size);
}
struct arguments_bill_create {
  moemesh_mesh mesh;
  const moemesh_bill_params* params;
  moemesh_bill* bill;
};
_Static_assert(sizeof(struct arguments_bill_create) <= sizeof(arguments), "bill_create");
static const struct field fields_bill_create[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_bill_create, mesh), sizeof(((struct arguments_bill_create*)0)->mesh), 1, 1, NULL},
    {"params", KIND_IN, offsetof(struct arguments_bill_create, params), sizeof(((struct arguments_bill_create*)0)->params), 1, -1, &type_moemesh_bill_params},
    {"bill", KIND_NEW_HANDLE, offsetof(struct arguments_bill_create, bill), sizeof(((struct arguments_bill_create*)0)->bill), 1, 8, NULL},
};
static void valid_bill_create(void* a) {
  struct arguments_bill_create* p = (struct arguments_bill_create*)a;
  p->mesh = w.planned;
  p->params = &w.v.bill;
  p->bill = (void*)w.v.output[2];
}
static int32_t call_bill_create(const void* a) {
  const struct arguments_bill_create* p = (const struct arguments_bill_create*)a;
  return moemesh_bill_create(p->mesh, p->params, p->bill);
}
struct arguments_bill_destroy {
  moemesh_bill* bill;
};
_Static_assert(sizeof(struct arguments_bill_destroy) <= sizeof(arguments), "bill_destroy");
static const struct field fields_bill_destroy[] = {
    {"bill", KIND_HANDLE_AT, offsetof(struct arguments_bill_destroy, bill), sizeof(((struct arguments_bill_destroy*)0)->bill), 1, 8, NULL},
};
static void valid_bill_destroy(void* a) {
  struct arguments_bill_destroy* p = (struct arguments_bill_destroy*)a;
  p->bill = NULL;
}
static int32_t call_bill_destroy(const void* a) {
  const struct arguments_bill_destroy* p = (const struct arguments_bill_destroy*)a;
  (void)moemesh_bill_destroy(p->bill);
  return MOEMESH_OK;
}
struct arguments_bill_add_layer {
  moemesh_bill bill;
  int64_t stage;
  const moemesh_layer_params* params;
  const moemesh_bill_routing* routing;
};
_Static_assert(sizeof(struct arguments_bill_add_layer) <= sizeof(arguments), "bill_add_layer");
static const struct field fields_bill_add_layer[] = {
    {"bill", KIND_HANDLE, offsetof(struct arguments_bill_add_layer, bill), sizeof(((struct arguments_bill_add_layer*)0)->bill), 1, 8, NULL},
    {"stage", KIND_INT64, offsetof(struct arguments_bill_add_layer, stage), sizeof(((struct arguments_bill_add_layer*)0)->stage), 1, -1, NULL},
    {"params", KIND_IN, offsetof(struct arguments_bill_add_layer, params), sizeof(((struct arguments_bill_add_layer*)0)->params), 1, -1, &type_moemesh_layer_params},
    {"routing", KIND_IN, offsetof(struct arguments_bill_add_layer, routing), sizeof(((struct arguments_bill_add_layer*)0)->routing), 1, -1, &type_moemesh_bill_routing},
};
static void valid_bill_add_layer(void* a) {
  struct arguments_bill_add_layer* p = (struct arguments_bill_add_layer*)a;
  p->bill = w.bill;
  p->stage = 0;
  p->params = &w.v.bill_layer;
  p->routing = &w.v.routing;
}
static int32_t call_bill_add_layer(const void* a) {
  const struct arguments_bill_add_layer* p = (const struct arguments_bill_add_layer*)a;
  return moemesh_bill_add_layer(p->bill, p->stage, p->params, p->routing);
}
struct arguments_bill_add_parameter {
  moemesh_bill bill;
  int64_t stage;
  int32_t family;
  const moemesh_parameter_params* params;
};
_Static_assert(sizeof(struct arguments_bill_add_parameter) <= sizeof(arguments), "bill_add_parameter");
static const struct field fields_bill_add_parameter[] = {
    {"bill", KIND_HANDLE, offsetof(struct arguments_bill_add_parameter, bill), sizeof(((struct arguments_bill_add_parameter*)0)->bill), 1, 8, NULL},
    {"stage", KIND_INT64, offsetof(struct arguments_bill_add_parameter, stage), sizeof(((struct arguments_bill_add_parameter*)0)->stage), 1, -1, NULL},
    {"family", KIND_INT32, offsetof(struct arguments_bill_add_parameter, family), sizeof(((struct arguments_bill_add_parameter*)0)->family), 1, -1, NULL},
    {"params", KIND_IN, offsetof(struct arguments_bill_add_parameter, params), sizeof(((struct arguments_bill_add_parameter*)0)->params), 1, -1, &type_moemesh_parameter_params},
};
static void valid_bill_add_parameter(void* a) {
  struct arguments_bill_add_parameter* p = (struct arguments_bill_add_parameter*)a;
  p->bill = w.bill;
  p->stage = 0;
  p->family = MOEMESH_SHARED;
  p->params = &w.v.bill_parameter;
}
static int32_t call_bill_add_parameter(const void* a) {
  const struct arguments_bill_add_parameter* p = (const struct arguments_bill_add_parameter*)a;
  return moemesh_bill_add_parameter(p->bill, p->stage, p->family, p->params);
}
struct arguments_bill_set_pipeline {
  moemesh_bill bill;
  const moemesh_pipeline_params* params;
};
_Static_assert(sizeof(struct arguments_bill_set_pipeline) <= sizeof(arguments), "bill_set_pipeline");
static const struct field fields_bill_set_pipeline[] = {
    {"bill", KIND_HANDLE, offsetof(struct arguments_bill_set_pipeline, bill), sizeof(((struct arguments_bill_set_pipeline*)0)->bill), 1, 8, NULL},
    {"params", KIND_IN, offsetof(struct arguments_bill_set_pipeline, params), sizeof(((struct arguments_bill_set_pipeline*)0)->params), 1, -1, &type_moemesh_pipeline_params},
};
static void valid_bill_set_pipeline(void* a) {
  struct arguments_bill_set_pipeline* p = (struct arguments_bill_set_pipeline*)a;
  p->bill = w.bill;
  p->params = &w.v.pipeline;
}
static int32_t call_bill_set_pipeline(const void* a) {
  const struct arguments_bill_set_pipeline* p = (const struct arguments_bill_set_pipeline*)a;
  return moemesh_bill_set_pipeline(p->bill, p->params);
}
struct arguments_bill_get_count {
  moemesh_bill bill;
  int64_t rank;
  int64_t* count;
};
_Static_assert(sizeof(struct arguments_bill_get_count) <= sizeof(arguments), "bill_get_count");
static const struct field fields_bill_get_count[] = {
    {"bill", KIND_HANDLE, offsetof(struct arguments_bill_get_count, bill), sizeof(((struct arguments_bill_get_count*)0)->bill), 1, 8, NULL},
    {"rank", KIND_INT64, offsetof(struct arguments_bill_get_count, rank), sizeof(((struct arguments_bill_get_count*)0)->rank), 1, -1, NULL},
    {"count", KIND_RESULT, offsetof(struct arguments_bill_get_count, count), sizeof(((struct arguments_bill_get_count*)0)->count), 1, -1, NULL},
};
static void valid_bill_get_count(void* a) {
  struct arguments_bill_get_count* p = (struct arguments_bill_get_count*)a;
  p->bill = w.bill;
  p->rank = 0;
  p->count = (void*)w.v.output[2];
}
static int32_t call_bill_get_count(const void* a) {
  const struct arguments_bill_get_count* p = (const struct arguments_bill_get_count*)a;
  return moemesh_bill_get_count(p->bill, p->rank, p->count);
}
struct arguments_bill_get_entry {
  moemesh_bill bill;
  int64_t rank;
  int64_t index;
  moemesh_ledger_entry* entry;
};
_Static_assert(sizeof(struct arguments_bill_get_entry) <= sizeof(arguments), "bill_get_entry");
static const struct field fields_bill_get_entry[] = {
    {"bill", KIND_HANDLE, offsetof(struct arguments_bill_get_entry, bill), sizeof(((struct arguments_bill_get_entry*)0)->bill), 1, 8, NULL},
    {"rank", KIND_INT64, offsetof(struct arguments_bill_get_entry, rank), sizeof(((struct arguments_bill_get_entry*)0)->rank), 1, -1, NULL},
    {"index", KIND_INT64, offsetof(struct arguments_bill_get_entry, index), sizeof(((struct arguments_bill_get_entry*)0)->index), 1, -1, NULL},
    {"entry", KIND_OUT, offsetof(struct arguments_bill_get_entry, entry), sizeof(((struct arguments_bill_get_entry*)0)->entry), 1, -1, &type_moemesh_ledger_entry},
};
static void valid_bill_get_entry(void* a) {
  struct arguments_bill_get_entry* p = (struct arguments_bill_get_entry*)a;
  p->bill = w.bill;
  p->rank = 0;
  p->index = 0;
  p->entry = (void*)w.v.output[3];
}
static int32_t call_bill_get_entry(const void* a) {
  const struct arguments_bill_get_entry* p = (const struct arguments_bill_get_entry*)a;
  return moemesh_bill_get_entry(p->bill, p->rank, p->index, p->entry);
}
struct arguments_report_params_init {
  moemesh_report_params* params;
  int64_t struct_size;
};
_Static_assert(sizeof(struct arguments_report_params_init) <= sizeof(arguments), "report_params_init");
static const struct field fields_report_params_init[] = {
    {"params", KIND_OUT, offsetof(struct arguments_report_params_init, params), sizeof(((struct arguments_report_params_init*)0)->params), 1, -1, &type_moemesh_report_params},
    {"struct_size", KIND_SIZE, offsetof(struct arguments_report_params_init, struct_size), sizeof(((struct arguments_report_params_init*)0)->struct_size), 1, -1, NULL},
};
static void valid_report_params_init(void* a) {
  struct arguments_report_params_init* p = (struct arguments_report_params_init*)a;
  p->params = (void*)w.v.output[0];
  p->struct_size = sizeof(moemesh_report_params);
}
static int32_t call_report_params_init(const void* a) {
  const struct arguments_report_params_init* p = (const struct arguments_report_params_init*)a;
  return moemesh_report_params_init(p->params, p->struct_size);
}
struct arguments_report_create {
  moemesh_mesh mesh;
  const moemesh_report_params* params;
  moemesh_report* report;
};
_Static_assert(sizeof(struct arguments_report_create) <= sizeof(arguments), "report_create");
static const struct field fields_report_create[] = {
    {"mesh", KIND_HANDLE, offsetof(struct arguments_report_create, mesh), sizeof(((struct arguments_report_create*)0)->mesh), 1, 1, NULL},
    {"params", KIND_IN, offsetof(struct arguments_report_create, params), sizeof(((struct arguments_report_create*)0)->params), 1, -1, &type_moemesh_report_params},
    {"report", KIND_NEW_HANDLE, offsetof(struct arguments_report_create, report), sizeof(((struct arguments_report_create*)0)->report), 1, 9, NULL},
};
static void valid_report_create(void* a) {
  struct arguments_report_create* p = (struct arguments_report_create*)a;
  p->mesh = w.mesh;
  p->params = &w.v.report;
  p->report = (void*)w.v.output[2];
}
static int32_t call_report_create(const void* a) {
  const struct arguments_report_create* p = (const struct arguments_report_create*)a;
  return moemesh_report_create(p->mesh, p->params, p->report);
}
struct arguments_report_stop {
  moemesh_report report;
};
_Static_assert(sizeof(struct arguments_report_stop) <= sizeof(arguments), "report_stop");
static const struct field fields_report_stop[] = {
    {"report", KIND_HANDLE, offsetof(struct arguments_report_stop, report), sizeof(((struct arguments_report_stop*)0)->report), 1, 9, NULL},
};
static void valid_report_stop(void* a) {
  struct arguments_report_stop* p = (struct arguments_report_stop*)a;
  p->report = w.report;
}
static int32_t call_report_stop(const void* a) {
  const struct arguments_report_stop* p = (const struct arguments_report_stop*)a;
  return moemesh_report_stop(p->report);
}
struct arguments_report_destroy {
  moemesh_report* report;
};
_Static_assert(sizeof(struct arguments_report_destroy) <= sizeof(arguments), "report_destroy");
static const struct field fields_report_destroy[] = {
    {"report", KIND_HANDLE_AT, offsetof(struct arguments_report_destroy, report), sizeof(((struct arguments_report_destroy*)0)->report), 1, 9, NULL},
};
static void valid_report_destroy(void* a) {
  struct arguments_report_destroy* p = (struct arguments_report_destroy*)a;
  p->report = NULL;
}
static int32_t call_report_destroy(const void* a) {
  const struct arguments_report_destroy* p = (const struct arguments_report_destroy*)a;
  (void)moemesh_report_destroy(p->report);
  return MOEMESH_OK;
}
struct arguments_report_mark_begin {
  moemesh_report report;
  const char* name;
};
_Static_assert(sizeof(struct arguments_report_mark_begin) <= sizeof(arguments), "report_mark_begin");
static const struct field fields_report_mark_begin[] = {
    {"report", KIND_HANDLE, offsetof(struct arguments_report_mark_begin, report), sizeof(((struct arguments_report_mark_begin*)0)->report), 1, 9, NULL},
    {"name", KIND_POINTER, offsetof(struct arguments_report_mark_begin, name), sizeof(((struct arguments_report_mark_begin*)0)->name), 1, -1, NULL},
};
static void valid_report_mark_begin(void* a) {
  struct arguments_report_mark_begin* p = (struct arguments_report_mark_begin*)a;
  p->report = w.report;
  p->name = "mark";
}
static int32_t call_report_mark_begin(const void* a) {
  const struct arguments_report_mark_begin* p = (const struct arguments_report_mark_begin*)a;
  return moemesh_report_mark_begin(p->report, p->name);
}
struct arguments_report_mark_end {
  moemesh_report report;
};
_Static_assert(sizeof(struct arguments_report_mark_end) <= sizeof(arguments), "report_mark_end");
static const struct field fields_report_mark_end[] = {
    {"report", KIND_HANDLE, offsetof(struct arguments_report_mark_end, report), sizeof(((struct arguments_report_mark_end*)0)->report), 1, 9, NULL},
};
static void valid_report_mark_end(void* a) {
  struct arguments_report_mark_end* p = (struct arguments_report_mark_end*)a;
  p->report = w.report;
}
static int32_t call_report_mark_end(const void* a) {
  const struct arguments_report_mark_end* p = (const struct arguments_report_mark_end*)a;
  return moemesh_report_mark_end(p->report);
}
struct arguments_report_collect {
  moemesh_report report;
};
_Static_assert(sizeof(struct arguments_report_collect) <= sizeof(arguments), "report_collect");
static const struct field fields_report_collect[] = {
    {"report", KIND_HANDLE, offsetof(struct arguments_report_collect, report), sizeof(((struct arguments_report_collect*)0)->report), 1, 9, NULL},
};
static void valid_report_collect(void* a) {
  struct arguments_report_collect* p = (struct arguments_report_collect*)a;
  p->report = w.report;
}
static int32_t call_report_collect(const void* a) {
  const struct arguments_report_collect* p = (const struct arguments_report_collect*)a;
  return moemesh_report_collect(p->report);
}
struct arguments_report_get_summary {
  moemesh_report report;
  moemesh_report_summary* summary;
};
_Static_assert(sizeof(struct arguments_report_get_summary) <= sizeof(arguments), "report_get_summary");
static const struct field fields_report_get_summary[] = {
    {"report", KIND_HANDLE, offsetof(struct arguments_report_get_summary, report), sizeof(((struct arguments_report_get_summary*)0)->report), 1, 9, NULL},
    {"summary", KIND_OUT, offsetof(struct arguments_report_get_summary, summary), sizeof(((struct arguments_report_get_summary*)0)->summary), 1, -1, &type_moemesh_report_summary},
};
static void valid_report_get_summary(void* a) {
  struct arguments_report_get_summary* p = (struct arguments_report_get_summary*)a;
  p->report = w.report;
  p->summary = (void*)w.v.output[1];
}
static int32_t call_report_get_summary(const void* a) {
  const struct arguments_report_get_summary* p = (const struct arguments_report_get_summary*)a;
  return moemesh_report_get_summary(p->report, p->summary);
}
struct arguments_report_get_layer {
  moemesh_report report;
  int64_t index;
  moemesh_report_layer* layer;
};
_Static_assert(sizeof(struct arguments_report_get_layer) <= sizeof(arguments), "report_get_layer");
static const struct field fields_report_get_layer[] = {
    {"report", KIND_HANDLE, offsetof(struct arguments_report_get_layer, report), sizeof(((struct arguments_report_get_layer*)0)->report), 1, 9, NULL},
    {"index", KIND_INT64, offsetof(struct arguments_report_get_layer, index), sizeof(((struct arguments_report_get_layer*)0)->index), 1, -1, NULL},
    {"layer", KIND_OUT, offsetof(struct arguments_report_get_layer, layer), sizeof(((struct arguments_report_get_layer*)0)->layer), 1, -1, &type_moemesh_report_layer},
};
static void valid_report_get_layer(void* a) {
  struct arguments_report_get_layer* p = (struct arguments_report_get_layer*)a;
  p->report = w.report;
  p->index = 0;
  p->layer = (void*)w.v.output[2];
}
static int32_t call_report_get_layer(const void* a) {
  const struct arguments_report_get_layer* p = (const struct arguments_report_get_layer*)a;
  return moemesh_report_get_layer(p->report, p->index, p->layer);
}
struct arguments_report_get_step {
  moemesh_report report;
  int64_t index;
  moemesh_report_step* step;
};
_Static_assert(sizeof(struct arguments_report_get_step) <= sizeof(arguments), "report_get_step");
static const struct field fields_report_get_step[] = {
    {"report", KIND_HANDLE, offsetof(struct arguments_report_get_step, report), sizeof(((struct arguments_report_get_step*)0)->report), 1, 9, NULL},
    {"index", KIND_INT64, offsetof(struct arguments_report_get_step, index), sizeof(((struct arguments_report_get_step*)0)->index), 1, -1, NULL},
    {"step", KIND_OUT, offsetof(struct arguments_report_get_step, step), sizeof(((struct arguments_report_get_step*)0)->step), 1, -1, &type_moemesh_report_step},
};
static void valid_report_get_step(void* a) {
  struct arguments_report_get_step* p = (struct arguments_report_get_step*)a;
  p->report = w.report;
  p->index = 0;
  p->step = (void*)w.v.output[2];
}
static int32_t call_report_get_step(const void* a) {
  const struct arguments_report_get_step* p = (const struct arguments_report_get_step*)a;
  return moemesh_report_get_step(p->report, p->index, p->step);
}
struct arguments_report_write {
  moemesh_report report;
  int32_t output;
  int64_t step;
  const char* path;
};
_Static_assert(sizeof(struct arguments_report_write) <= sizeof(arguments), "report_write");
static const struct field fields_report_write[] = {
    {"report", KIND_HANDLE, offsetof(struct arguments_report_write, report), sizeof(((struct arguments_report_write*)0)->report), 1, 9, NULL},
    {"output", KIND_INT32, offsetof(struct arguments_report_write, output), sizeof(((struct arguments_report_write*)0)->output), 1, -1, NULL},
    {"step", KIND_INT64, offsetof(struct arguments_report_write, step), sizeof(((struct arguments_report_write*)0)->step), 1, -1, NULL},
    {"path", KIND_POINTER, offsetof(struct arguments_report_write, path), sizeof(((struct arguments_report_write*)0)->path), 1, -1, NULL},
};
static void valid_report_write(void* a) {
  struct arguments_report_write* p = (struct arguments_report_write*)a;
  p->report = w.report;
  p->output = MOEMESH_REPORT_TABLE;
  p->step = -1;
  p->path = w.v.path;
}
static int32_t call_report_write(const void* a) {
  const struct arguments_report_write* p = (const struct arguments_report_write*)a;
  return moemesh_report_write(p->report, p->output, p->step, p->path);
}
struct arguments_runtime_get_info {
  moemesh_runtime_info* info;
};
_Static_assert(sizeof(struct arguments_runtime_get_info) <= sizeof(arguments), "runtime_get_info");
static const struct field fields_runtime_get_info[] = {
    {"info", KIND_OUT, offsetof(struct arguments_runtime_get_info, info), sizeof(((struct arguments_runtime_get_info*)0)->info), 1, -1, &type_moemesh_runtime_info},
};
static void valid_runtime_get_info(void* a) {
  struct arguments_runtime_get_info* p = (struct arguments_runtime_get_info*)a;
  p->info = (void*)w.v.output[0];
}
static int32_t call_runtime_get_info(const void* a) {
  const struct arguments_runtime_get_info* p = (const struct arguments_runtime_get_info*)a;
  return moemesh_runtime_get_info(p->info);
}
struct arguments_get_api {
  int32_t abi_version;
};
_Static_assert(sizeof(struct arguments_get_api) <= sizeof(arguments), "get_api");
static const struct field fields_get_api[] = {
    {"abi_version", KIND_INT32, offsetof(struct arguments_get_api, abi_version), sizeof(((struct arguments_get_api*)0)->abi_version), 1, -1, NULL},
};
static void valid_get_api(void* a) {
  struct arguments_get_api* p = (struct arguments_get_api*)a;
  p->abi_version = 1;
}
static int32_t call_get_api(const void* a) {
  const struct arguments_get_api* p = (const struct arguments_get_api*)a;
  (void)moemesh_get_api(p->abi_version);
  return MOEMESH_OK;
}
const struct function functions[] = {
    {"status_name", STATE_IDLE, 1, 0, 0, 1, fields_status_name, valid_status_name, call_status_name},
    {"status_text", STATE_IDLE, 1, 0, 0, 1, fields_status_text, valid_status_text, call_status_text},
    {"version", STATE_IDLE, 1, 1, 0, 3, fields_version, valid_version, call_version},
    {"last_error", STATE_IDLE, 1, 1, 0, 4, fields_last_error, valid_last_error, call_last_error},
    {"shutdown", STATE_IDLE, 0, 1, 0, 0, fields_shutdown, valid_shutdown, call_shutdown},
    {"view_init", STATE_IDLE, 1, 1, 0, 5, fields_view_init, valid_view_init, call_view_init},
    {"view_copy", STATE_IDLE, 1, 1, 0, 2, fields_view_copy, valid_view_copy, call_view_copy},
    {"context_params_init", STATE_IDLE, 1, 1, 0, 2, fields_context_params_init, valid_context_params_init, call_context_params_init},
    {"context_create", STATE_IDLE, 1, 1, 0, 2, fields_context_create, valid_context_create, call_context_create},
    {"context_get_info", STATE_IDLE, 1, 1, 0, 2, fields_context_get_info, valid_context_get_info, call_context_get_info},
    {"context_finalize", STATE_SPARE, 1, 1, 0, 1, fields_context_finalize, valid_context_finalize, call_context_finalize},
    {"context_destroy", STATE_IDLE, 0, 0, 0, 1, fields_context_destroy, valid_context_destroy, call_context_destroy},
    {"mesh_params_init", STATE_IDLE, 1, 1, 0, 2, fields_mesh_params_init, valid_mesh_params_init, call_mesh_params_init},
    {"mesh_create", STATE_IDLE, 1, 1, 0, 3, fields_mesh_create, valid_mesh_create, call_mesh_create},
    {"mesh_plan", STATE_IDLE, 1, 1, 0, 4, fields_mesh_plan, valid_mesh_plan, call_mesh_plan},
    {"mesh_get_coordinates", STATE_IDLE, 1, 1, 0, 3, fields_mesh_get_coordinates, valid_mesh_get_coordinates, call_mesh_get_coordinates},
    {"mesh_get_group", STATE_IDLE, 1, 1, 0, 4, fields_mesh_get_group, valid_mesh_get_group, call_mesh_get_group},
    {"mesh_get_group_member", STATE_IDLE, 1, 1, 0, 5, fields_mesh_get_group_member, valid_mesh_get_group_member, call_mesh_get_group_member},
    {"mesh_get_axis_report", STATE_IDLE, 1, 1, 0, 3, fields_mesh_get_axis_report, valid_mesh_get_axis_report, call_mesh_get_axis_report},
    {"mesh_get_experts", STATE_IDLE, 1, 1, 0, 5, fields_mesh_get_experts, valid_mesh_get_experts, call_mesh_get_experts},
    {"mesh_finalize", STATE_SPARE, 1, 1, 0, 1, fields_mesh_finalize, valid_mesh_finalize, call_mesh_finalize},
    {"mesh_destroy", STATE_IDLE, 0, 0, 0, 1, fields_mesh_destroy, valid_mesh_destroy, call_mesh_destroy},
    {"all_reduce", STATE_IDLE, 1, 1, 0, 4, fields_all_reduce, valid_all_reduce, call_all_reduce},
    {"all_gather", STATE_IDLE, 1, 1, 0, 4, fields_all_gather, valid_all_gather, call_all_gather},
    {"reduce_scatter", STATE_IDLE, 1, 1, 0, 5, fields_reduce_scatter, valid_reduce_scatter, call_reduce_scatter},
    {"broadcast", STATE_IDLE, 1, 1, 0, 4, fields_broadcast, valid_broadcast, call_broadcast},
    {"ledger_get_count", STATE_IDLE, 1, 1, 0, 2, fields_ledger_get_count, valid_ledger_get_count, call_ledger_get_count},
    {"ledger_get_entry", STATE_IDLE, 1, 1, 0, 3, fields_ledger_get_entry, valid_ledger_get_entry, call_ledger_get_entry},
    {"ledger_reset", STATE_IDLE, 1, 1, 0, 1, fields_ledger_reset, valid_ledger_reset, call_ledger_reset},
    {"family_params_init", STATE_IDLE, 1, 1, 0, 2, fields_family_params_init, valid_family_params_init, call_family_params_init},
    {"family_create", STATE_IDLE, 1, 1, 0, 3, fields_family_create, valid_family_create, call_family_create},
    {"family_destroy", STATE_IDLE, 0, 0, 0, 1, fields_family_destroy, valid_family_destroy, call_family_destroy},
    {"parameter_params_init", STATE_IDLE, 1, 1, 0, 2, fields_parameter_params_init, valid_parameter_params_init, call_parameter_params_init},
    {"parameter_register", STATE_FRESH, 1, 1, 0, 3, fields_parameter_register, valid_parameter_register, call_parameter_register},
    {"family_commit", STATE_FRESH, 1, 1, 0, 1, fields_family_commit, valid_family_commit, call_family_commit},
    {"parameter_find", STATE_IDLE, 1, 1, 0, 3, fields_parameter_find, valid_parameter_find, call_parameter_find},
    {"parameter_get_info", STATE_IDLE, 1, 1, 0, 2, fields_parameter_get_info, valid_parameter_get_info, call_parameter_get_info},
    {"parameter_acquire", STATE_IDLE, 1, 1, 0, 3, fields_parameter_acquire, valid_parameter_acquire, call_parameter_acquire},
    {"parameter_release", STATE_ACQUIRED, 1, 1, 0, 1, fields_parameter_release, valid_parameter_release, call_parameter_release},
    {"parameter_get_gradient", STATE_IDLE, 1, 1, 0, 2, fields_parameter_get_gradient, valid_parameter_get_gradient, call_parameter_get_gradient},
    {"gradient_ready", STATE_STEP, 1, 1, 0, 3, fields_gradient_ready, valid_gradient_ready, call_gradient_ready},
    {"parameters_changed", STATE_IDLE, 1, 1, 0, 1, fields_parameters_changed, valid_parameters_changed, call_parameters_changed},
    {"parameter_read", STATE_IDLE, 1, 1, 0, 4, fields_parameter_read, valid_parameter_read, call_parameter_read},
    {"parameter_write", STATE_IDLE, 1, 1, 0, 4, fields_parameter_write, valid_parameter_write, call_parameter_write},
    {"layer_params_init", STATE_IDLE, 1, 1, 0, 2, fields_layer_params_init, valid_layer_params_init, call_layer_params_init},
    {"layer_create", STATE_FRESH, 1, 1, 0, 5, fields_layer_create, valid_layer_create, call_layer_create},
    {"layer_destroy", STATE_IDLE, 0, 0, 0, 1, fields_layer_destroy, valid_layer_destroy, call_layer_destroy},
    {"forward_params_init", STATE_IDLE, 1, 1, 0, 2, fields_forward_params_init, valid_forward_params_init, call_forward_params_init},
    {"backward_params_init", STATE_IDLE, 1, 1, 0, 2, fields_backward_params_init, valid_backward_params_init, call_backward_params_init},
    {"layer_forward", STATE_STEP, 1, 1, 0, 3, fields_layer_forward, valid_layer_forward, call_layer_forward},
    {"layer_backward", STATE_TAPE, 1, 1, 0, 2, fields_layer_backward, valid_layer_backward, call_layer_backward},
    {"replay_params_init", STATE_IDLE, 1, 1, 0, 2, fields_replay_params_init, valid_replay_params_init, call_replay_params_init},
    {"layer_replay", STATE_TAPE, 1, 1, 0, 2, fields_layer_replay, valid_layer_replay, call_layer_replay},
    {"tape_get_bytes", STATE_TAPE, 1, 1, 0, 2, fields_tape_get_bytes, valid_tape_get_bytes, call_tape_get_bytes},
    {"layer_plan_bytes", STATE_IDLE, 1, 1, 0, 4, fields_layer_plan_bytes, valid_layer_plan_bytes, call_layer_plan_bytes},
    {"layer_balanced_load", STATE_IDLE, 1, 1, 0, 3, fields_layer_balanced_load, valid_layer_balanced_load, call_layer_balanced_load},
    {"layer_get_memory", STATE_IDLE, 1, 1, 0, 2, fields_layer_get_memory, valid_layer_get_memory, call_layer_get_memory},
    {"tape_destroy", STATE_IDLE, 0, 0, 0, 1, fields_tape_destroy, valid_tape_destroy, call_tape_destroy},
    {"tape_get_routing", STATE_TAPE, 1, 1, 0, 3, fields_tape_get_routing, valid_tape_get_routing, call_tape_get_routing},
    {"layer_get_statistics", STATE_IDLE, 1, 1, 0, 2, fields_layer_get_statistics, valid_layer_get_statistics, call_layer_get_statistics},
    {"layer_get_rows", STATE_IDLE, 1, 1, 0, 3, fields_layer_get_rows, valid_layer_get_rows, call_layer_get_rows},
    {"layer_get_bias", STATE_IDLE, 1, 1, 0, 2, fields_layer_get_bias, valid_layer_get_bias, call_layer_get_bias},
    {"layer_set_bias", STATE_IDLE, 1, 1, 0, 2, fields_layer_set_bias, valid_layer_set_bias, call_layer_set_bias},
    {"optimizer_params_init", STATE_IDLE, 1, 1, 0, 2, fields_optimizer_params_init, valid_optimizer_params_init, call_optimizer_params_init},
    {"optimizer_create", STATE_FREE, 1, 1, 0, 5, fields_optimizer_create, valid_optimizer_create, call_optimizer_create},
    {"optimizer_destroy", STATE_IDLE, 0, 0, 0, 1, fields_optimizer_destroy, valid_optimizer_destroy, call_optimizer_destroy},
    {"step_params_init", STATE_IDLE, 1, 1, 0, 2, fields_step_params_init, valid_step_params_init, call_step_params_init},
    {"step_begin", STATE_IDLE, 1, 1, 0, 2, fields_step_begin, valid_step_begin, call_step_begin},
    {"loss_tokens", STATE_TOKENS, 1, 1, 0, 3, fields_loss_tokens, valid_loss_tokens, call_loss_tokens},
    {"update_params_init", STATE_IDLE, 1, 1, 0, 2, fields_update_params_init, valid_update_params_init, call_update_params_init},
    {"optimizer_step", STATE_STEP, 1, 1, 1, 3, fields_optimizer_step, valid_optimizer_step, call_optimizer_step},
    {"step_end", STATE_STEP, 1, 1, 1, 2, fields_step_end, valid_step_end, call_step_end},
    {"optimizer_get_bytes", STATE_IDLE, 1, 1, 0, 3, fields_optimizer_get_bytes, valid_optimizer_get_bytes, call_optimizer_get_bytes},
    {"optimizer_get_counters", STATE_IDLE, 1, 1, 0, 2, fields_optimizer_get_counters, valid_optimizer_get_counters, call_optimizer_get_counters},
    {"optimizer_set_counters", STATE_IDLE, 1, 1, 0, 2, fields_optimizer_set_counters, valid_optimizer_set_counters, call_optimizer_set_counters},
    {"pipeline_params_init", STATE_IDLE, 1, 1, 0, 2, fields_pipeline_params_init, valid_pipeline_params_init, call_pipeline_params_init},
    {"pipeline_run_init", STATE_IDLE, 1, 1, 0, 2, fields_pipeline_run_init, valid_pipeline_run_init, call_pipeline_run_init},
    {"pipeline_create", STATE_IDLE, 1, 1, 0, 4, fields_pipeline_create, valid_pipeline_create, call_pipeline_create},
    {"pipeline_destroy", STATE_IDLE, 0, 0, 0, 1, fields_pipeline_destroy, valid_pipeline_destroy, call_pipeline_destroy},
    {"pipeline_begin", STATE_IDLE, 1, 1, 0, 2, fields_pipeline_begin, valid_pipeline_begin, call_pipeline_begin},
    {"pipeline_next", STATE_RUN, 1, 1, 0, 2, fields_pipeline_next, valid_pipeline_next, call_pipeline_next},
    {"pipeline_done", STATE_ACTION, 1, 1, 0, 2, fields_pipeline_done, valid_pipeline_done, call_pipeline_done},
    {"pipeline_execute", STATE_IDLE, 1, 1, 0, 4, fields_pipeline_execute, valid_pipeline_execute, call_pipeline_execute},
    {"pipeline_get_info", STATE_IDLE, 1, 1, 0, 2, fields_pipeline_get_info, valid_pipeline_get_info, call_pipeline_get_info},
    {"bill_params_init", STATE_IDLE, 1, 1, 0, 2, fields_bill_params_init, valid_bill_params_init, call_bill_params_init},
    {"bill_create", STATE_IDLE, 1, 1, 0, 3, fields_bill_create, valid_bill_create, call_bill_create},
    {"bill_destroy", STATE_IDLE, 0, 0, 0, 1, fields_bill_destroy, valid_bill_destroy, call_bill_destroy},
    {"bill_add_layer", STATE_IDLE, 1, 1, 0, 4, fields_bill_add_layer, valid_bill_add_layer, call_bill_add_layer},
    {"bill_add_parameter", STATE_IDLE, 1, 1, 0, 4, fields_bill_add_parameter, valid_bill_add_parameter, call_bill_add_parameter},
    {"bill_set_pipeline", STATE_IDLE, 1, 1, 0, 2, fields_bill_set_pipeline, valid_bill_set_pipeline, call_bill_set_pipeline},
    {"bill_get_count", STATE_IDLE, 1, 1, 0, 3, fields_bill_get_count, valid_bill_get_count, call_bill_get_count},
    {"bill_get_entry", STATE_IDLE, 1, 1, 0, 4, fields_bill_get_entry, valid_bill_get_entry, call_bill_get_entry},
    {"report_params_init", STATE_IDLE, 1, 1, 0, 2, fields_report_params_init, valid_report_params_init, call_report_params_init},
    {"report_create", STATE_QUIET, 1, 1, 0, 3, fields_report_create, valid_report_create, call_report_create},
    {"report_stop", STATE_IDLE, 1, 1, 0, 1, fields_report_stop, valid_report_stop, call_report_stop},
    {"report_destroy", STATE_IDLE, 0, 0, 0, 1, fields_report_destroy, valid_report_destroy, call_report_destroy},
    {"report_mark_begin", STATE_IDLE, 1, 1, 0, 2, fields_report_mark_begin, valid_report_mark_begin, call_report_mark_begin},
    {"report_mark_end", STATE_MARKED, 1, 1, 0, 1, fields_report_mark_end, valid_report_mark_end, call_report_mark_end},
    {"report_collect", STATE_IDLE, 1, 1, 0, 1, fields_report_collect, valid_report_collect, call_report_collect},
    {"report_get_summary", STATE_IDLE, 1, 1, 0, 2, fields_report_get_summary, valid_report_get_summary, call_report_get_summary},
    {"report_get_layer", STATE_IDLE, 1, 1, 0, 3, fields_report_get_layer, valid_report_get_layer, call_report_get_layer},
    {"report_get_step", STATE_IDLE, 1, 1, 0, 3, fields_report_get_step, valid_report_get_step, call_report_get_step},
    {"report_write", STATE_IDLE, 1, 1, 0, 4, fields_report_write, valid_report_write, call_report_write},
    {"runtime_get_info", STATE_IDLE, 1, 1, 0, 1, fields_runtime_get_info, valid_runtime_get_info, call_runtime_get_info},
    {"get_api", STATE_IDLE, 1, 0, 0, 1, fields_get_api, valid_get_api, call_get_api},
};
const int function_count = sizeof functions / sizeof functions[0];
const char* const handle_names[] = {"context", "mesh", "family", "parameter", "layer", "tape", "optimizer", "pipeline", "bill", "report"};
const int handle_kinds = 10;
void destroy_handle(int kind, void** handle) {
  switch (kind) {
    case 0:
      (void)moemesh_context_finalize((moemesh_context)*handle);
      moemesh_context_destroy((moemesh_context*)handle);
      break;
    case 1:
      (void)moemesh_mesh_finalize((moemesh_mesh)*handle);
      moemesh_mesh_destroy((moemesh_mesh*)handle);
      break;
    case 2:
      moemesh_family_destroy((moemesh_family*)handle);
      break;
    case 4:
      moemesh_layer_destroy((moemesh_layer*)handle);
      break;
    case 5:
      moemesh_tape_destroy((moemesh_tape*)handle);
      break;
    case 6:
      moemesh_optimizer_destroy((moemesh_optimizer*)handle);
      break;
    case 7:
      moemesh_pipeline_destroy((moemesh_pipeline*)handle);
      break;
    case 8:
      moemesh_bill_destroy((moemesh_bill*)handle);
      break;
    case 9:
      (void)moemesh_report_stop((moemesh_report)*handle);
      moemesh_report_destroy((moemesh_report*)handle);
      break;
    default: *handle = NULL;
  }
}
