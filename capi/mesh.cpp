// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "capi/call.hpp"

using namespace moemesh;
using namespace moemesh::capi;

namespace {

constexpr moemesh_mesh_params defaults{sizeof(moemesh_mesh_params), 1, 1, 1, 1, 0, 0, nullptr};

using P = moemesh_mesh_params;
static_assert(no_padding(&P::struct_size, &P::tp, &P::ep, &P::pp, &P::dp, &P::expert_tp, &P::ranks_per_node,
                         &P::order));
// impl/mesh does not know the header; its axis bits are the same.
static_assert(axis::tp == MOEMESH_AXIS_TP && axis::ep == MOEMESH_AXIS_EP && axis::pp == MOEMESH_AXIS_PP &&
              axis::dp == MOEMESH_AXIS_DP && axis::expert_tp == MOEMESH_AXIS_EXPERT_TP &&
              axis::expert_ep == MOEMESH_AXIS_EXPERT_EP && axis::expert_dp == MOEMESH_AXIS_EXPERT_DP);

std::shared_ptr<Mesh> mesh_of(Call& call, moemesh_mesh handle) {
  auto mesh = object_of<Mesh>(handle, "mesh");
  call.in(*mesh);
  return mesh;
}

void check_rank(const Mesh& mesh, int64_t rank) {
  require(rank >= 0 && rank < mesh.layout().world(), MOEMESH_ERROR_INVALID_ARGUMENT, "rank: expected 0..{}, got {}",
          mesh.layout().world() - 1, rank);
}

void check_axes(int32_t axes) {
  require(MeshLayout::valid_axes(axes), MOEMESH_ERROR_INVALID_ARGUMENT,
          "axes: expected axes of the dense grid, or of the expert grid, got {}", axes);
}

}  // namespace

void capi::write_entry(const std::map<Ledger::Key, Ledger::Counts>& entries, int64_t index,
                       moemesh_ledger_entry* entry) {
  check_result_struct(entry, sizeof *entry, "entry");
  const auto count = static_cast<int64_t>(entries.size());
  require(index >= 0 && index < count, MOEMESH_ERROR_INVALID_ARGUMENT, "index: expected 0..{}, got {}", count - 1,
          index);
  const auto& [key, counts] = *std::next(entries.begin(), index);
  write_struct(entry, moemesh_ledger_entry{0, counts.calls, counts.messages, counts.bytes, counts.bytes_internode,
                                           key.axes, key.family, key.phase, key.collective});
}

int32_t moemesh_mesh_params_init(moemesh_mesh_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, defaults, sizeof defaults, "mesh_params");
}

int32_t moemesh_mesh_create(moemesh_context context, const moemesh_mesh_params* params, moemesh_mesh* mesh) {
  return guarded([&](Call& call) {
    required(mesh, "mesh");
    const auto object = object_of<Context>(context, "context");
    call.in(object);
    moemesh_mesh_params p = defaults;
    const Finding problem = attempt([&] { p = read_struct(params, defaults, sizeof defaults, "mesh_params"); });
    *mesh = new_handle<moemesh_mesh>(Mesh::create(object, p, problem));
  });
}

int32_t moemesh_mesh_plan(moemesh_context context, int64_t world, const moemesh_mesh_params* params,
                          moemesh_mesh* mesh) {
  return guarded([&](Call& call) {
    if (context) call.in(object_of<Context>(context, "context"));
    required(mesh, "mesh");
    *mesh = new_handle<moemesh_mesh>(Mesh::plan(world, read_struct(params, defaults, sizeof defaults, "mesh_params")));
  });
}

int32_t moemesh_mesh_get_coordinates(moemesh_mesh mesh, int64_t rank, moemesh_coordinates* coordinates) {
  return guarded([&](Call& call) {
    const auto object = mesh_of(call, mesh);
    check_result_struct(coordinates, sizeof *coordinates, "coordinates");
    check_rank(*object, rank);
    const Coordinates c = object->layout().coordinates(rank);
    write_struct(coordinates, moemesh_coordinates{0, c.tp, c.ep, c.pp, c.dp, c.expert_tp, c.expert_ep, c.expert_dp,
                                                  object->layout().data_shard(rank)});
  });
}

int32_t moemesh_mesh_get_group(moemesh_mesh mesh, int32_t axes, int64_t rank, moemesh_group* group) {
  return guarded([&](Call& call) {
    const auto object = mesh_of(call, mesh);
    check_result_struct(group, sizeof *group, "group");
    check_rank(*object, rank);
    check_axes(axes);
    const MeshLayout& layout = object->layout();
    const int64_t size = layout.group_size(axes);
    write_struct(group, moemesh_group{0, size, layout.group_position(axes, rank), layout.world() / size,
                                      object->node_crossing(axes) ? 1 : 0});
  });
}

int32_t moemesh_mesh_get_group_member(moemesh_mesh mesh, int32_t axes, int64_t rank, int64_t position,
                                      int64_t* member) {
  return guarded([&](Call& call) {
    const auto object = mesh_of(call, mesh);
    required(member, "member");
    check_rank(*object, rank);
    check_axes(axes);
    const int64_t size = object->layout().group_size(axes);
    require(position >= 0 && position < size, MOEMESH_ERROR_INVALID_ARGUMENT, "position: expected 0..{}, got {}",
            size - 1, position);
    *member = object->layout().group_member(axes, rank, position);
  });
}

int32_t moemesh_mesh_get_axis_report(moemesh_mesh mesh, int32_t axis, moemesh_axis_report* report) {
  return guarded([&](Call& call) {
    const auto object = mesh_of(call, mesh);
    check_result_struct(report, sizeof *report, "report");
    require(axis > 0 && axis <= MOEMESH_AXIS_EXPERT_DP && (axis & (axis - 1)) == 0, MOEMESH_ERROR_INVALID_ARGUMENT,
            "axis: expected one MOEMESH_AXIS_*, got {}", axis);
    write_struct(report, moemesh_axis_report{0, object->layout().axis_size(axis), object->layout().axis_stride(axis),
                                             object->node_crossing(axis) ? 1 : 0});
  });
}

int32_t moemesh_mesh_get_experts(moemesh_mesh mesh, int64_t experts, int64_t rank, int64_t* first, int64_t* count) {
  return guarded([&](Call& call) {
    const auto object = mesh_of(call, mesh);
    required(first, "first");
    required(count, "count");
    check_rank(*object, rank);
    require(experts >= 1, MOEMESH_ERROR_INVALID_ARGUMENT, "experts: expected >= 1, got {}", experts);
    const MeshLayout& layout = object->layout();
    const ExpertRange range =
        experts_of(experts, layout.axis_size(axis::expert_ep), layout.coordinates(rank).expert_ep);
    *first = range.first;
    *count = range.count;
  });
}

int32_t moemesh_mesh_finalize(moemesh_mesh mesh) {
  return guarded([&](Call& call) { mesh_of(call, mesh)->finalize(); });
}

void moemesh_mesh_destroy(moemesh_mesh* mesh) { destroy_handle<Mesh>(mesh); }

namespace {

// A planned mesh sends nothing, ever: asking what it sent is a mistake.
Ledger& ledger_of(Mesh& mesh) {
  require(!mesh.planned(), MOEMESH_ERROR_INVALID_STATE, "the mesh is only planned: it has no ledger");
  return mesh.ledger();
}

}  // namespace

int32_t moemesh_ledger_get_count(moemesh_mesh mesh, int64_t* count) {
  return guarded([&](Call& call) {
    const auto object = mesh_of(call, mesh);
    required(count, "count");
    *count = static_cast<int64_t>(ledger_of(*object).entries().size());
  });
}

int32_t moemesh_ledger_get_entry(moemesh_mesh mesh, int64_t index, moemesh_ledger_entry* entry) {
  return guarded([&](Call& call) {
    const auto object = mesh_of(call, mesh);
    write_entry(ledger_of(*object).entries(), index, entry);
  });
}

int32_t moemesh_ledger_reset(moemesh_mesh mesh) {
  return guarded([&](Call& call) { ledger_of(*mesh_of(call, mesh)).reset(); });
}
