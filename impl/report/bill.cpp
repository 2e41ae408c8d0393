// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/report/bill.hpp"

#include <algorithm>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/family/family.hpp"
#include "impl/moe/layer.hpp"
#include "impl/optimizer/optimizer.hpp"
#include "impl/report/checked.hpp"
#include "impl/report/parts.hpp"
#include "impl/schedule/pipeline.hpp"
#include "kernels/activation.hpp"

namespace moemesh {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;

void check_dtype(const char* name, int32_t dtype) {
  require(dtype == MOEMESH_FLOAT32 || dtype == MOEMESH_BFLOAT16, bad, "{}: expected FLOAT32 or BFLOAT16, got {}", name,
          dtype);
}

void check(const moemesh_bill_params& p) {
  require(p.steps >= 1, bad, "steps: expected >= 1, got {}", p.steps);
  require(p.tokens >= 0, bad, "tokens: expected >= 0, got {}", p.tokens);
  require(p.microbatches >= 1, bad, "microbatches: expected >= 1, got {}", p.microbatches);
  require(p.objective == MOEMESH_SHARD_MEAN || p.objective == MOEMESH_TOKEN_MEAN, bad,
          "objective: expected 1 or 2, got {}", p.objective);
  check_stages(p.shared_stage, p.expert_stage);
  check_overlap(p.overlap, p.bucket_bytes, p.chunk_bytes);
  require(p.reserved == 0, bad, "reserved: expected 0, got {}", p.reserved);
  check_dtype("shared_dtype", p.shared_dtype);
  check_dtype("expert_dtype", p.expert_dtype);
}

void check_family(int32_t family) {
  require(family == MOEMESH_SHARED || family == MOEMESH_EXPERT, bad, "family: expected 1 or 2, got {}", family);
}

FamilyKind kind_of(const Mesh& mesh, const Description& description, int32_t family) {
  const auto& sizes = mesh.layout().sizes();
  const bool shared = family == MOEMESH_SHARED;
  return {shared, shared ? sizes.tp : sizes.expert_tp, description.dtype(family)};
}

// A matrix of a layer; the layer's check has seen that tp divides what it cuts.
DescribedParameter matrix(const moemesh_layer_params& layer, const char* part, int64_t experts, int64_t width,
                          int64_t tp) {
  return {std::string(layer.name) + part, experts, width / tp * layer.hidden, false, false};
}

// What Layer::register_parameters registers.
DescribedStage matrices_of(const moemesh_layer_params& p, const AxisSizes& sizes) {
  const bool gated = kernels::is_gated(static_cast<kernels::Activation>(p.activation));
  DescribedStage made;
  if (p.router != MOEMESH_ROUTER_CALLER) made.shared.push_back(matrix(p, ".router", 0, p.experts, 1));
  for (const char* part : {".w1", ".wg", ".w2"})
    if (gated || part != std::string(".wg")) {
      made.expert.push_back(matrix(p, part, p.experts, p.ffn, sizes.expert_tp));
      if (p.shared_ffn > 0)
        made.shared.push_back(matrix(p, (std::string(".shared") + part).c_str(), 0, p.shared_ffn, sizes.tp));
    }
  return made;
}

// ranks: of a stage.
void read_routing(const moemesh_bill_routing& routing, int64_t ranks, int64_t ep, DescribedLayer& layer) {
  if (!routing.copies && !routing.rows) return;
  require(routing.copies && routing.rows, bad, "routing: expected both of copies and rows or none, got one");
  const int64_t n = times(ranks, ep);
  for (int64_t i = 0; i < n; ++i)
    require(routing.copies[i] >= 0 && routing.copies[i] <= routing.rows[i], bad,
            "routing: copies[{}][{}]: expected 0..{} (its rows), got {}", i / ep, i % ep,
            std::max<int64_t>(routing.rows[i], 0), routing.copies[i]);
  layer.copies.assign(routing.copies, routing.copies + n);
  layer.rows.assign(routing.rows, routing.rows + n);
}

}  // namespace

Bill::Bill(std::shared_ptr<const Mesh> mesh, const moemesh_bill_params& params) : mesh_(std::move(mesh)) {
  check(params);
  description_.params = params;
  description_.stages.resize(static_cast<size_t>(mesh_->layout().sizes().pp));
}

void Bill::check_stage(int64_t stage) const {
  const int64_t stages = mesh_->layout().sizes().pp;
  require(stage >= 0 && stage < stages, bad, "stage: expected 0..{}, got {}", stages - 1, stage);
}

DescribedStage& Bill::stage(int64_t index) { return description_.stages[static_cast<size_t>(index)]; }

void Bill::check_new(const DescribedStage& stage, int32_t family, const std::string& name) const {
  for (const auto& parameter : stage.family(family))
    require(parameter.name != name, bad, "parameter name: \"{}\" is in the stage's family already", name);
}

void Bill::add_layer(int64_t index, const moemesh_layer_params& params, const moemesh_bill_routing& routing) {
  const MeshLayout& layout = mesh_->layout();
  check_stage(index);
  check_layer(params, layout, description_.params.shared_dtype, description_.params.expert_dtype);
  const DescribedStage made = matrices_of(params, layout.sizes());
  DescribedStage changed = stage(index);
  for (const int32_t family : {MOEMESH_SHARED, MOEMESH_EXPERT})
    for (const auto& parameter : made.family(family)) {
      check_new(changed, family, parameter.name);
      changed.family(family).push_back(parameter);
    }
  DescribedLayer layer{params, {}, {}};
  read_routing(routing, layout.group_size(MOEMESH_GROUP_STAGE), layout.axis_size(MOEMESH_AXIS_EXPERT_EP), layer);
  layer.params.name = nullptr;
  changed.layers.push_back(std::move(layer));
  stage(index) = std::move(changed);
  description_.has_family[MOEMESH_SHARED] = description_.has_family[MOEMESH_EXPERT] = true;
  rank_ = -1;
}

DescribedParameter Bill::describe(int32_t family, const moemesh_parameter_params& params) const {
  const FamilyKind kind = kind_of(*mesh_, description_, family);
  check_parameter(kind, params);
  DescribedParameter parameter{params.name, params.experts, 1, params.tp_kind == MOEMESH_TP_PARTIAL,
                               params.tied != 0 && mesh_->layout().sizes().pp > 1};
  for (int32_t i = 0; i < params.rank; ++i)
    parameter.matrix *= params.tp_kind == MOEMESH_TP_SHARDED && i == params.tp_dim ? params.extents[i] / kind.tp_size
                                                                                   : params.extents[i];
  return parameter;
}

void Bill::add_parameter(int64_t index, int32_t family, const moemesh_parameter_params& params) {
  check_stage(index);
  check_family(family);
  DescribedParameter parameter = describe(family, params);
  const int64_t last = mesh_->layout().sizes().pp - 1;
  require(!parameter.tied || index == 0 || index == last, bad,
          "{}: tied: expected on the first and the last stage (0 and {}) only, got it on stage {}", parameter.name,
          last, index);
  check_new(stage(index), family, parameter.name);
  stage(index).family(family).push_back(std::move(parameter));
  description_.has_family[family] = true;
  rank_ = -1;
}

void Bill::set_pipeline(const moemesh_pipeline_params& params) {
  check_pipeline(params);
  description_.pipeline = params;
  rank_ = -1;
}

// As family_commit does: both ends have the same tied parameters.
void Bill::check_tied() const {
  const auto tied = [](const DescribedStage& stage) {
    std::vector<std::pair<std::string, int64_t>> found;
    for (const auto& parameter : stage.shared)
      if (parameter.tied) found.emplace_back(parameter.name, parameter.matrix);
    std::sort(found.begin(), found.end());
    return found;
  };
  require(tied(description_.stages.front()) == tied(description_.stages.back()), MOEMESH_ERROR_MISMATCH,
          "bill: the tied parameters of the first and of the last stage differ");
}

const Traffic::Entries& Bill::entries(int64_t rank) {
  require(rank >= 0 && rank < mesh_->layout().world(), bad, "rank: expected 0..{}, got {}", mesh_->layout().world() - 1,
          rank);
  if (rank == rank_) return entries_;
  require(description_.has_family[MOEMESH_SHARED] || description_.has_family[MOEMESH_EXPERT],
          MOEMESH_ERROR_INVALID_STATE, "bill: it has no layer and no parameter yet");
  check_tied();
  Traffic traffic(*mesh_, rank);
  const moemesh_bill_params& params = description_.params;
  traffic.repeat(times(params.steps, params.microbatches));
  for (const DescribedLayer& layer : stage(traffic.here().pp).layers) moemesh::add_layer(traffic, layer, description_);
  add_transfers(traffic, description_);
  for (const int32_t family : {MOEMESH_SHARED, MOEMESH_EXPERT}) add_gradients_ready(traffic, family, description_);
  traffic.repeat(params.steps);
  add_end_of_rounds(traffic, description_);
  add_agreements(traffic, description_);
  for (const int32_t family : {MOEMESH_SHARED, MOEMESH_EXPERT}) {
    add_reduction(traffic, family, description_);
    add_update(traffic, family, description_);
  }
  add_bias_counts(traffic, description_);
  add_tuning(traffic, description_);
  traffic.repeat(1);
  add_order(traffic, description_);
  entries_ = traffic.entries();
  rank_ = rank;
  return entries_;
}

}  // namespace moemesh
