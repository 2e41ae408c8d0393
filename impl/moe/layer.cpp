// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/moe/layer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"
#include "impl/moe/capacity.hpp"
#include "kernels/rows.hpp"

namespace moemesh {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
constexpr int32_t most_chunks = 1024;

void check_enum(const char* name, int32_t value, int32_t most) {
  require(value >= 1 && value <= most, bad, "{}: expected 1..{}, got {}", name, most, value);
}

void check_sizes(const moemesh_layer_params& p, const MeshLayout& layout) {
  require(p.hidden >= 1, bad, "hidden: expected >= 1, got {}", p.hidden);
  require(p.ffn >= 1, bad, "ffn: expected >= 1, got {}", p.ffn);
  require(p.experts >= 1 && p.experts <= INT32_MAX, bad, "experts: expected 1..2^31-1, got {}", p.experts);
  require(p.top_k >= 1 && p.top_k <= p.experts, bad, "top_k: expected 1..{} (experts), got {}", p.experts, p.top_k);
  require(p.shared_ffn >= 0, bad, "shared_ffn: expected >= 0, got {}", p.shared_ffn);
  require(p.ffn % layout.sizes().expert_tp == 0, bad, "ffn: {} is not divisible by expert_tp {}", p.ffn,
          layout.sizes().expert_tp);
  require(p.shared_ffn % layout.sizes().tp == 0, bad, "shared_ffn: {} is not divisible by tp {}", p.shared_ffn,
          layout.sizes().tp);
}

// The largest of the layer's matrices, of all experts, in bytes: rows*columns*experts*4.
void check_fits(const moemesh_layer_params& p) {
  int64_t size = 4;
  for (const int64_t factor : {p.hidden, std::max(p.ffn, p.shared_ffn), p.experts})
    require(!__builtin_mul_overflow(size, factor, &size), bad,
            "hidden, ffn, experts: expected less than 2^63 bytes, got {}, {}, {}", p.hidden,
            std::max(p.ffn, p.shared_ffn), p.experts);
}

void check_kinds(const moemesh_layer_params& p) {
  check_enum("activation", p.activation, MOEMESH_GEGLU);
  check_enum("score", p.score, MOEMESH_SCORE_SIGMOID);
  check_enum("gate", p.gate, MOEMESH_GATE_SOFTMAX_TOPK);
  check_enum("router", p.router, MOEMESH_ROUTER_CALLER);
  check_enum("nonfinite", p.nonfinite, MOEMESH_NONFINITE_DROP);
  check_enum("drop", p.drop, MOEMESH_DROP_BY_GATE);
  check_enum("aux_scope", p.aux_scope, MOEMESH_AUX_GLOBAL);
  check_enum("recompute", p.recompute, MOEMESH_RECOMPUTE_FULL);
  check_enum("products", p.products, MOEMESH_PRODUCTS_ROW_STABLE);
  require(p.chunks >= 1 && p.chunks <= most_chunks, bad, "chunks: expected 1..{}, got {}", most_chunks, p.chunks);
  require(std::isfinite(p.gate_scale), bad, "gate_scale: expected a finite number, got {}", p.gate_scale);
  const auto deviation = [](const char* name, double value) {
    require(value >= 0 && std::isfinite(value), bad, "{}: expected >= 0, got {}", name, value);
  };
  deviation("init_std_router", p.init_std_router);
  deviation("init_std_in", p.init_std_in);
  deviation("init_std_out", p.init_std_out);
}

void check_dtypes(const moemesh_layer_params& p, int32_t shared, int32_t expert) {
  require(shared == expert, MOEMESH_ERROR_NOT_SUPPORTED,
          "layer_create: families of two dtypes (SHARED {}, EXPERT {}) are not supported", shared, expert);
  require(p.combine_dtype == 0 || p.combine_dtype == MOEMESH_FLOAT32 || p.combine_dtype == expert, bad,
          "combine_dtype: expected 0, {} (FLOAT32) or the families' {}, got {}", static_cast<int>(MOEMESH_FLOAT32),
          expert, p.combine_dtype);
}

void check_balance(const moemesh_layer_params& p) {
  require(p.capacity_factor == 0 || ten_thousandths(p.capacity_factor) > 0, bad,
          "capacity_factor: expected 0 (dropless) or a number from 0.0001 (to four decimals) to {}, got {}",
          most_capacity_factor, p.capacity_factor);
  const auto coefficient = [](const char* name, double value) {
    require(value >= 0 && std::isfinite(value), bad, "{}: expected >= 0, got {}", name, value);
  };
  coefficient("aux_coefficient", p.aux_coefficient);
  coefficient("z_coefficient", p.z_coefficient);
  require(p.bias_rate >= 0 && p.bias_rate <= std::numeric_limits<float>::max(), bad,
          "bias_rate: expected 0 or a positive fp32 number, got {}", p.bias_rate);
  require(p.aux_scope != MOEMESH_AUX_GLOBAL, MOEMESH_ERROR_NOT_SUPPORTED,
          "aux_scope: AUX_GLOBAL is not supported in this release");
}

void check_families(const Mesh& mesh, const Family& shared, const Family& expert) {
  require(shared.kind() == MOEMESH_SHARED, bad, "shared: expected a SHARED family");
  require(expert.kind() == MOEMESH_EXPERT, bad, "expert: expected an EXPERT family");
  require(&shared.mesh() == &mesh && &expert.mesh() == &mesh, bad, "the families belong to another mesh");
  require(!shared.committed() && !expert.committed(), MOEMESH_ERROR_INVALID_STATE,
          "layer_create: a family is committed already");
}

std::vector<Field> fields_of(const moemesh_layer_params& p) {
  return {{"name", p.name ? hash_string(p.name) : 0, Field::hash},
          {"hidden", p.hidden},
          {"ffn", p.ffn},
          {"experts", p.experts},
          {"shared_ffn", p.shared_ffn},
          {"gate_scale", bits_of(p.gate_scale), Field::real},
          {"init_std_router", bits_of(p.init_std_router), Field::real},
          {"init_std_in", bits_of(p.init_std_in), Field::real},
          {"init_std_out", bits_of(p.init_std_out), Field::real},
          {"top_k", p.top_k},
          {"activation", p.activation},
          {"score", p.score},
          {"gate", p.gate},
          {"router", p.router},
          {"nonfinite", p.nonfinite},
          {"combine_dtype", p.combine_dtype},
          {"capacity_factor", bits_of(p.capacity_factor), Field::real},
          {"drop", p.drop},
          {"aux_coefficient", bits_of(p.aux_coefficient), Field::real},
          {"aux_scope", p.aux_scope},
          {"z_coefficient", bits_of(p.z_coefficient), Field::real},
          {"bias_rate", bits_of(p.bias_rate), Field::real},
          {"recompute", p.recompute},
          {"chunks", p.chunks},
          {"products", p.products}};
}

// A matrix of the layer; `cut`: the dimension that tp splits, -1 = whole on every rank.
Parameter& add_matrix(Family& family, const std::string& name, int64_t experts, int64_t rows, int64_t columns,
                      int32_t cut, double deviation) {
  moemesh_parameter_params params{};
  params.name = name.c_str();
  params.experts = experts;
  params.extents[0] = rows;
  params.extents[1] = columns;
  params.rank = 2;
  params.tp_kind = cut < 0 ? MOEMESH_TP_REPLICA : MOEMESH_TP_SHARDED;
  params.tp_dim = std::max(cut, 0);
  params.init_kind = MOEMESH_INIT_NORMAL;
  params.init_value = deviation;
  params.decay_scale = params.learning_rate_scale = 1;
  return family.add(params);
}

}  // namespace

void check_layer(const moemesh_layer_params& params, const MeshLayout& layout, int32_t shared_dtype,
                 int32_t expert_dtype) {
  require(params.name != nullptr && params.name[0] != 0, bad, "layer name: expected a text, got none");
  require(std::string_view(params.name).size() <= 200, bad, "layer name: longer than 200 bytes");
  check_sizes(params, layout);
  check_fits(params);
  check_kinds(params);
  check_balance(params);
  check_dtypes(params, shared_dtype, expert_dtype);
}

std::shared_ptr<Layer> Layer::create(std::shared_ptr<Mesh> mesh, std::shared_ptr<Family> shared,
                                     std::shared_ptr<Family> expert, const moemesh_layer_params& params,
                                     const Finding& problem) {
  mesh->require_usable();
  Arrays arrays;
  const Finding finding = problem ? problem : attempt([&] {
    check_families(*mesh, *shared, *expert);
    check_layer(params, mesh->layout(), shared->dtype(), expert->dtype());
    const std::string name = params.name;
    for (const char* part : {".router", ".shared.w1", ".shared.wg", ".shared.w2"})
      require(!shared->find(name + part), bad, "layer name: \"{}{}\" is registered already", name, part);
    for (const char* part : {".w1", ".wg", ".w2"})
      require(!expert->find(name + part), bad, "layer name: \"{}{}\" is registered already", name, part);
    arrays.owner = SharedBuffer<int32_t>(mesh->allocator(), params.experts);
    arrays.bias = std::make_shared<SelectionBias>(name, params.experts, params.bias_rate, mesh->allocator());
  });
  // Other stages have other layers, and may have more of them.
  agree_on_configuration(mesh->group(MOEMESH_GROUP_STAGE), "layer_create", fields_of(params), finding.status,
                         finding.text);
  auto layer =
      std::make_shared<Layer>(std::move(mesh), std::move(shared), std::move(expert), params, std::move(arrays));
  layer->register_parameters();
  return layer;
}

Layer::Layer(std::shared_ptr<Mesh> mesh, std::shared_ptr<Family> shared, std::shared_ptr<Family> expert,
             const moemesh_layer_params& params, Arrays arrays)
    : mesh_(std::move(mesh)),
      shared_(std::move(shared)),
      expert_(std::move(expert)),
      params_(params),
      name_(params.name),
      exchange_(mesh_->group(MOEMESH_GROUP_EXPERT_EXCHANGE)),
      expert_tp_(mesh_->group(MOEMESH_AXIS_EXPERT_TP)),
      tp_(mesh_->group(MOEMESH_AXIS_TP)),
      slices_(mesh_->slices()),
      local_experts_(experts_of(params.experts, exchange_.size(), exchange_.rank())),
      owner_(std::move(arrays.owner)),
      bias_(std::move(arrays.bias)) {
  params_.name = name_.c_str();
  number_ = mesh_->add_layer(name_, params_.chunks);
  for (int64_t e = 0; e < params_.experts; ++e)
    owner_[e] = static_cast<int32_t>(expert_owner(params_.experts, exchange_.size(), e));
}

void Layer::register_parameters() {
  const auto& p = params_;
  place_ = expert_->layers++;
  if (p.bias_rate > 0) expert_->biases.add(bias_);
  if (!caller_router())
    router_ = &add_matrix(*shared_, name_ + ".router", 0, p.experts, p.hidden, -1, p.init_std_router);
  w1_ = &add_matrix(*expert_, name_ + ".w1", p.experts, p.ffn, p.hidden, 0, p.init_std_in);
  if (gated()) wg_ = &add_matrix(*expert_, name_ + ".wg", p.experts, p.ffn, p.hidden, 0, p.init_std_in);
  w2_ = &add_matrix(*expert_, name_ + ".w2", p.experts, p.hidden, p.ffn, 1, p.init_std_out);
  if (p.shared_ffn == 0) return;
  shared_w1_ = &add_matrix(*shared_, name_ + ".shared.w1", 0, p.shared_ffn, p.hidden, 0, p.init_std_in);
  if (gated()) shared_wg_ = &add_matrix(*shared_, name_ + ".shared.wg", 0, p.shared_ffn, p.hidden, 0, p.init_std_in);
  shared_w2_ = &add_matrix(*shared_, name_ + ".shared.w2", 0, p.hidden, p.shared_ffn, 1, p.init_std_out);
}

void Layer::require_ready() const {
  mesh_->require_usable();
  shared_->require_committed();
  expert_->require_committed();
  for (const Parameter* parameter : {router_, w1_, wg_, w2_, shared_w1_, shared_wg_, shared_w2_})
    if (parameter) parameter->family->require_values(*parameter);
}

void Layer::require_step(int32_t microbatch) const {
  const StepState* step = expert_->step.get();
  require(step && step->open, MOEMESH_ERROR_INVALID_STATE,
          "layer {}: training needs an open step of the optimizer that its expert family belongs to", name_);
  require(router_ == nullptr && !shared_w1_ ? true : shared_->step.get() == step, MOEMESH_ERROR_INVALID_STATE,
          "layer {}: its two families belong to different optimizers", name_);
  require(microbatch >= 0 && microbatch < step->microbatches, bad, "microbatch: expected 0..{}, got {}",
          step->microbatches - 1, microbatch);
}

void Layer::require_backward(const Tape& tape) const {
  require_step(tape.microbatch);
  require(tape.step == expert_->step->serial, MOEMESH_ERROR_INVALID_STATE,
          "layer {}: the tape is of an earlier step, whose weights are gone", name_);
  require(w1_->ready < expert_->step->microbatches, MOEMESH_ERROR_INVALID_STATE,
          "layer {}: a step of {} microbatches has had {} backwards already", name_, expert_->step->microbatches,
          w1_->ready);
}

void Layer::record(const Tape& tape) {
  auto& s = statistics_;
  s.tokens = tape.decision.routed;
  s.rows = tape.decision.routed * params_.top_k - tape.decision.dropped;  // plans are of one slice
  s.copies_sent = s.rows_received = 0;
  const auto own = static_cast<size_t>(exchange_.rank());
  for (const Part& part : tape.parts) {
    s.copies_sent += part.source.copies - (part.source.copy_offsets[own + 1] - part.source.copy_offsets[own]);
    s.rows_received += part.received.rows;
  }
  s.nonfinite_tokens = tape.decision.nonfinite;
  s.dropped_rows = tape.decision.dropped;
  s.slots = tape.decision.slots;
  s.aux_loss = tape.balance.aux_loss;
  s.z_loss = tape.balance.z_loss;
  auto* counts = mesh_->workspace().get_shared<int64_t>(Workspace::offsets, params_.experts);
  kernels::count_experts(tape.decision.tokens * params_.top_k, tape.decision.chosen.data(), params_.experts, counts);
  s.rows_per_expert.assign(counts, counts + params_.experts);
  if (params_.bias_rate > 0) bias_->count(tape.microbatch, s.rows_per_expert);
  s.rows_received_per_expert.assign(static_cast<size_t>(params_.experts), 0);
  for (int64_t e = 0; e < local_experts_.count; ++e) {
    const auto i = static_cast<size_t>(e);
    for (const Part& part : tape.parts)
      s.rows_received_per_expert[static_cast<size_t>(local_experts_.first + e)] +=
          part.received.expert_offsets[i + 1] - part.received.expert_offsets[i];
  }
}

void Layer::mark_ready() {
  for (Parameter* parameter : {router_, w1_, wg_, w2_, shared_w1_, shared_wg_, shared_w2_})
    if (parameter) parameter->family->gradient_ready(*parameter, nullptr);
}

kernels::Element Layer::combine_element() const {
  return params_.combine_dtype == 0 ? element() : static_cast<kernels::Element>(params_.combine_dtype);
}

TypedRows Layer::reachable(Workspace::Slot slot, const TypedRows& rows) {
  if (!rows.on_host) return rows;
  auto* place = mesh_->workspace().get<std::byte>(slot, rows.rows * rows.width * kernels::bytes_of(rows.element));
  return {place, rows.element, rows.rows, rows.width, rows.width};
}

TypedRows Layer::reachable_copy(Workspace::Slot slot, const TypedRows& rows) {
  const TypedRows copy = reachable(slot, rows);
  if (rows.on_host)
    kernels::copy_rows_of_bytes(copy.data, copy.row_bytes(), rows.data, rows.row_bytes(), copy.row_bytes(), rows.rows);
  return copy;
}

void give_back(const TypedRows& from, const TypedRows& to) {
  if (!to.on_host) return;
  kernels::copy_rows_of_bytes(to.data, to.row_bytes(), from.data, from.row_bytes(), from.row_bytes(), from.rows);
  kernels::finish();
}

Rows<float> Layer::dense_rows(Workspace::Slot slot, const Tape& tape, const TypedRows& rows) {
  const Decision& decision = tape.decision;
  // Products over all tokens must not see what padding rows hold (it may be NaN).
  if (rows.is_float() && !decision.has_mask) return rows.floats();
  float* copy = mesh_->workspace().get<float>(slot, rows.rows * rows.width);
  kernels::load_rows(rows.rows, rows.width, rows.element, rows.data, rows.ld,
                     decision.has_mask ? decision.mask.data() : nullptr, copy, rows.width);
  return {copy, rows.rows, rows.width, rows.width};
}

void Layer::reserve_dense(const Tape& tape, std::initializer_list<Workspace::Slot> rows) {
  Workspace& workspace = mesh_->workspace();
  const bool floats = element() == kernels::Element::float32;
  if (!floats || tape.decision.has_mask)
    for (const auto slot : rows) workspace.get<float>(slot, tape.decision.tokens * params_.hidden);
  if (!floats)
    workspace.get<float>(
        Workspace::weights,
        params_.hidden *
            std::max(params_.experts, row_element() == element() ? 0 : std::max(local_ffn(), local_shared_ffn())));
}

kernels::Weights Layer::weights(const Parameter& parameter) {
  float* scratch = nullptr;
  if (parameter.dtype != MOEMESH_FLOAT32)
    scratch = mesh_->workspace().get<float>(Workspace::weights, parameter.local_matrix());
  return {parameter.data, static_cast<kernels::Element>(parameter.dtype), scratch};
}

const float* Layer::widened(const Parameter& parameter) {
  return kernels::widened(weights(parameter), 0, parameter.local_matrix());
}

kernels::RouterConfig Layer::router_config() const {
  return {params_.experts,
          params_.top_k,
          static_cast<kernels::Score>(params_.score),
          static_cast<kernels::Gate>(params_.gate),
          static_cast<float>(params_.gate_scale),
          bias_->values()};
}

}  // namespace moemesh
