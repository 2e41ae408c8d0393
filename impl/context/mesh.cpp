// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/context/mesh.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"
#include "impl/timeline/recorder.hpp"

namespace moemesh {
namespace {

MeshLayout make_layout(int64_t world, const moemesh_mesh_params& params) {
  require(!params.order || params.order[0] != 0, MOEMESH_ERROR_INVALID_ARGUMENT,
          "order: expected the four axes, got an empty text");
  const AxisSizes sizes{params.tp, params.ep, params.pp, params.dp, params.expert_tp};
  std::string error;
  MeshLayout layout(world, sizes, params.order ? params.order : "", error);
  require(error.empty(), MOEMESH_ERROR_MESH_SIZE, "{}", error);
  require(params.ranks_per_node >= 0, MOEMESH_ERROR_INVALID_ARGUMENT, "ranks_per_node: expected >= 0, got {}",
          params.ranks_per_node);
  return layout;
}

void check_real(const moemesh_mesh_params& params) {
  require(params.ranks_per_node == 0, MOEMESH_ERROR_INVALID_ARGUMENT,
          "ranks_per_node: expected 0 (MPI is asked), got {}", params.ranks_per_node);
}

std::vector<Field> fields_of(const moemesh_mesh_params& params) {
  return {{"tp", params.tp},
          {"ep", params.ep},
          {"pp", params.pp},
          {"dp", params.dp},
          {"expert_tp", params.expert_tp == 0 ? params.tp : params.expert_tp},
          {"order", hash_string(params.order ? params.order : "tp-ep-pp-dp"), Field::hash}};
}

}  // namespace

std::shared_ptr<Mesh> Mesh::plan(int64_t world, const moemesh_mesh_params& params) {
  require(world >= 1, MOEMESH_ERROR_INVALID_ARGUMENT, "world: expected >= 1, got {}", world);
  return std::shared_ptr<Mesh>(new Mesh(make_layout(world, params), params.ranks_per_node));
}

std::shared_ptr<Mesh> Mesh::create(std::shared_ptr<Context> context, const moemesh_mesh_params& params,
                                   const Finding& problem) {
  context->require_usable();
  std::shared_ptr<Mesh> mesh;
  const Finding finding = problem ? problem : attempt([&] {
    MeshLayout layout = make_layout(context->world().size(), params);
    check_real(params);
    mesh.reset(new Mesh(std::move(layout), 0));
  });
  agree_on_configuration(context->world(), "mesh_create", fields_of(params), finding.status, finding.text);
  mesh->context_ = std::move(context);
  mesh->open();
  return mesh;
}

// Every group that the library itself uses is made here, by all ranks in the same order.
void Mesh::open() {
  here_ = layout_.coordinates(rank());
  workspace_.set_allocator(allocator());
  for (const int32_t axes :
       {MOEMESH_GROUP_WORLD, MOEMESH_GROUP_STAGE, MOEMESH_AXIS_TP, MOEMESH_AXIS_PP, MOEMESH_AXIS_EXPERT_TP,
        MOEMESH_GROUP_EXPERT_EXCHANGE, MOEMESH_GROUP_SHARED_GRADIENT, MOEMESH_GROUP_EXPERT_GRADIENT})
    group(axes);
  if (layout_.slices() > 1 && layout_.sizes().ep > 1) group(MOEMESH_AXIS_TP | MOEMESH_AXIS_EP);
  added_.push_back(make_group(layout_.slice_members(rank()), MOEMESH_AXIS_TP));
  slices_ = added_.back().get();
  const int64_t last = layout_.sizes().pp - 1;
  if (last > 0 && (here_.pp == 0 || here_.pp == last)) {
    const auto stages = ranks_of(MOEMESH_AXIS_PP);
    const int64_t pair[] = {stages.front(), stages.back()};
    added_.push_back(make_group(pair, MOEMESH_AXIS_PP));
    ends_ = added_.back().get();
  }
  ++context_->open_meshes;
  attach_devices();
  if (layout_.sizes().tp > 1 && node_crossing(MOEMESH_AXIS_TP))
    context_->log().warning("mesh: tensor-parallel groups cross nodes; make tp the fastest axis within a node");
}

// Of the groups that have messages of kernels, by all ranks in the same order. Other groups talk of small things.
void Mesh::attach_devices() {
  DeviceWorld* const devices = context_->devices();
  if (!devices) return;
  const auto attach = [&](Communicator* group) {
    const bool several = group && group->size() > 1;
    auto made = devices->group(several ? *group : context_->world(), several ? static_cast<int32_t>(group->member(0)) : -1);
    if (several) group->attach(std::move(made));
  };
  for (const int32_t axes : {MOEMESH_AXIS_TP, MOEMESH_AXIS_EXPERT_TP, MOEMESH_GROUP_EXPERT_EXCHANGE,
                             MOEMESH_GROUP_SHARED_GRADIENT, MOEMESH_GROUP_EXPERT_GRADIENT})
    attach(&group(axes));
  attach(slices_);
  attach(ends_);
}

Mesh::~Mesh() {
  if (planned() || finalized_) return;
  --context_->open_meshes;
  if (context_->world().size() > 1)
    context_->log().warning("mesh destroyed without moemesh_mesh_finalize: its communicators are leaked");
}

std::vector<int64_t> Mesh::ranks_of(int32_t axes) const {
  std::vector<int64_t> ranks(static_cast<size_t>(layout_.group_size(axes)));
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = layout_.group_member(axes, rank(), static_cast<int64_t>(i));
  return ranks;
}

std::unique_ptr<Communicator> Mesh::make_group(std::span<const int64_t> ranks, int32_t axes) const {
  auto group = context_->world().group(ranks, axes, axes);
  group->set_ledger(ledger_);
  group->set_recording(recorder_);
  return group;
}

void Mesh::set_recorder(std::shared_ptr<timeline::Recorder> recorder) {
  if (recorder) ++recordings_;
  context_->link().wants_exact_times += (recorder ? 1 : 0) - (recorder_ ? 1 : 0);
  recorder_ = std::move(recorder);
  for (auto& [axes, group] : groups_) group->set_recording(recorder_);
  for (auto& group : added_) group->set_recording(recorder_);
}

int32_t Mesh::add_layer(const std::string& name, int64_t chunks) {
  if (recorder_) recorder_->add_layer();
  layer_names_.push_back(name);
  most_chunks_ = std::max(most_chunks_, chunks);
  return static_cast<int32_t>(layer_names_.size()) - 1;
}

Communicator& Mesh::group(int32_t axes) {
  auto& group = groups_[axes];
  if (!group) group = make_group(ranks_of(axes), axes);
  return *group;
}

Communicator& Mesh::add_group(int32_t axes) {
  added_.push_back(make_group(ranks_of(axes), axes));
  return *added_.back();
}

int64_t Mesh::node(int64_t rank) const {
  if (planned()) return ranks_per_node_ == 0 ? 0 : rank / ranks_per_node_;
  const auto& nodes = context_->world().nodes();
  return nodes.empty() ? 0 : nodes[static_cast<size_t>(rank)];
}

bool Mesh::node_crossing(int32_t axes) const {
  for (int64_t rank = 0; rank < layout_.world(); ++rank)
    if (node(rank) != node(layout_.group_member(axes, rank, 0))) return true;
  return false;
}

void Mesh::require_usable() const {
  require(!planned(), MOEMESH_ERROR_INVALID_STATE, "the mesh is only planned: it has no communicator");
  require(!finalized_, MOEMESH_ERROR_INVALID_STATE, "the mesh is finalized; only destroy is left");
  context_->require_usable();
}

// Possible after the host finalized MPI: then there is nothing left to free.
void Mesh::finalize() {
  require(!planned(), MOEMESH_ERROR_INVALID_STATE, "the mesh is only planned: it has no communicator");
  require(!finalized_, MOEMESH_ERROR_INVALID_STATE, "the mesh is finalized already");
  while (!guests_.empty()) guests_.back()->leave();
  for (auto& [axes, group] : groups_) group->close();
  for (auto& group : added_) group->close();
  --context_->open_meshes;
  finalized_ = true;
}

}  // namespace moemesh
