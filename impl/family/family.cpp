// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/family.hpp"

#include <algorithm>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"
#include "impl/base/view.hpp"

namespace moemesh {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;

void check_name(const moemesh_parameter_params& params) {
  require(params.name != nullptr && params.name[0] != 0, bad, "parameter name: expected a text, got none");
  require(std::string_view(params.name).size() <= 255, bad, "parameter name: longer than 255 bytes");
}

void check_shape(const Family& family, const moemesh_parameter_params& params) {
  const int32_t most = family.shared() ? 4 : 3;
  require(params.rank >= 1 && params.rank <= most, bad, "{}: rank: expected 1..{}, got {}", params.name, most,
          params.rank);
  for (int32_t i = 0; i < params.rank; ++i)
    require(params.extents[i] >= 1, bad, "{}: extents[{}]: expected >= 1, got {}", params.name, i, params.extents[i]);
  require(family.shared() ? params.experts == 0 : params.experts >= 1, bad, "{}: experts: expected {}, got {}",
          params.name, family.shared() ? "0 (SHARED)" : ">= 1 (EXPERT)", params.experts);
}

// All of a parameter, on all ranks together, in bytes.
void check_fits(const moemesh_parameter_params& params) {
  int64_t size = 4;
  bool too_large = __builtin_mul_overflow(size, std::max<int64_t>(params.experts, 1), &size);
  for (int32_t i = 0; i < params.rank; ++i) too_large |= __builtin_mul_overflow(size, params.extents[i], &size);
  require(!too_large, bad, "{}: extents, experts: expected less than 2^63 bytes in all", params.name);
}

void check_tp(const Family& family, const moemesh_parameter_params& params) {
  require(params.tp_kind >= MOEMESH_TP_REPLICA && params.tp_kind <= MOEMESH_TP_PARTIAL, bad,
          "{}: tp_kind: expected 1..3, got {}", params.name, params.tp_kind);
  if (params.tp_kind != MOEMESH_TP_SHARDED) return;
  require(params.tp_dim >= 0 && params.tp_dim < params.rank, bad, "{}: tp_dim: expected 0..{}, got {}", params.name,
          params.rank - 1, params.tp_dim);
  require(params.extents[params.tp_dim] % family.tp_size() == 0, bad, "{}: extents[{}] = {} is not divisible by tp {}",
          params.name, params.tp_dim, params.extents[params.tp_dim], family.tp_size());
}

void check_kinds(const moemesh_parameter_params& params) {
  require(params.dtype == 0 || params.dtype == MOEMESH_FLOAT32,
          params.dtype == MOEMESH_BFLOAT16 ? MOEMESH_ERROR_NOT_SUPPORTED : bad,
          "{}: dtype: only FLOAT32 in this release, got {}", params.name, params.dtype);
  require(params.init_kind >= MOEMESH_INIT_CONSTANT && params.init_kind <= MOEMESH_INIT_UNIFORM, bad,
          "{}: init_kind: expected 1..3, got {}", params.name, params.init_kind);
  require(params.decay_scale >= 0 && params.learning_rate_scale >= 0, bad,
          "{}: decay_scale, learning_rate_scale: expected >= 0, got {}, {}", params.name, params.decay_scale,
          params.learning_rate_scale);
  require(params.tied == 0 || params.tied == 1, bad, "{}: tied: expected 0 or 1, got {}", params.name, params.tied);
  require(params.tied == 0, MOEMESH_ERROR_NOT_SUPPORTED, "{}: tied: not supported yet", params.name);
}

kernels::Slice slice_of(const Family& family, const moemesh_parameter_params& params) {
  const int32_t cut = params.tp_kind == MOEMESH_TP_SHARDED ? params.tp_dim : 0;
  kernels::Slice slice;
  for (int32_t i = 0; i < cut; ++i) slice.outer *= params.extents[i];
  for (int32_t i = cut + 1; i < params.rank; ++i) slice.inner *= params.extents[i];
  slice.dim = params.extents[cut];
  slice.local = params.tp_kind == MOEMESH_TP_SHARDED ? slice.dim / family.tp_size() : slice.dim;
  slice.first = params.tp_kind == MOEMESH_TP_SHARDED ? slice.local * family.tp_coordinate() : 0;
  return slice;
}

// Everything that must be equal over the ranks of a stage.
int64_t fingerprint(const Parameter& parameter) {
  const auto& p = parameter.params;
  const int64_t words[] = {p.experts,
                           p.rank,
                           p.tp_kind,
                           p.tp_dim,
                           p.init_kind,
                           bits_of(p.init_value),
                           bits_of(p.decay_scale),
                           bits_of(p.learning_rate_scale),
                           p.extents[0],
                           p.rank > 1 ? p.extents[1] : 0,
                           p.rank > 2 ? p.extents[2] : 0,
                           p.rank > 3 ? p.extents[3] : 0};
  return static_cast<int64_t>(hash_bytes(words, sizeof words, static_cast<uint64_t>(hash_string(parameter.name))));
}

}  // namespace

std::vector<int64_t> Parameter::local_shape() const {
  std::vector<int64_t> shape;
  if (!family->shared()) shape.push_back(experts.count);
  for (size_t i = 0; i < extents.size(); ++i) {
    const bool cut = params.tp_kind == MOEMESH_TP_SHARDED && static_cast<int32_t>(i) == params.tp_dim;
    shape.push_back(cut ? slice.local : extents[i]);
  }
  return shape;
}

float* Parameter::values() const {
  require(dtype == MOEMESH_FLOAT32, MOEMESH_ERROR_NOT_SUPPORTED, "{}: BFLOAT16 values are not supported here", name);
  return reinterpret_cast<float*>(data);
}

uint16_t* Parameter::bits() const {
  require(dtype == MOEMESH_BFLOAT16, MOEMESH_ERROR_INTERNAL, "{}: its values are not BFLOAT16", name);
  return reinterpret_cast<uint16_t*>(data);
}

std::shared_ptr<Family> Family::create(std::shared_ptr<Mesh> mesh, const moemesh_family_params& params,
                                       const Finding& problem) {
  mesh->require_usable();
  const Finding finding = problem ? problem : attempt([&] {
    require(params.kind == MOEMESH_SHARED || params.kind == MOEMESH_EXPERT, bad, "family kind: expected 1 or 2, got {}",
            params.kind);
    require(params.dtype != MOEMESH_BFLOAT16, MOEMESH_ERROR_NOT_SUPPORTED,
            "family dtype: BFLOAT16 is not supported in this release");
    require(params.dtype == MOEMESH_FLOAT32, bad, "family dtype: expected FLOAT32, got {}", params.dtype);
  });
  const Field fields[] = {{"kind", params.kind}, {"dtype", params.dtype}, {"seed", params.seed}};
  agree_on_configuration(mesh->group(MOEMESH_GROUP_WORLD), "family_create", fields, finding.status, finding.text);
  return std::make_shared<Family>(std::move(mesh), params);
}

Parameter& Family::add(const moemesh_parameter_params& params) {
  require(!committed_, MOEMESH_ERROR_INVALID_STATE, "parameter_register: the family is committed");
  check_name(params);
  check_shape(*this, params);
  check_fits(params);
  check_tp(*this, params);
  check_kinds(params);
  require(find(params.name) == nullptr, bad, "parameter name: \"{}\" is registered already", params.name);
  auto parameter = std::make_unique<Parameter>();
  parameter->family = this;
  parameter->name = params.name;
  parameter->params = params;
  parameter->extents.assign(params.extents, params.extents + params.rank);
  parameter->experts =
      shared() ? ExpertRange{0, 1}
               : experts_of(params.experts, mesh_->layout().axis_size(MOEMESH_AXIS_EXPERT_EP), mesh_->here().expert_ep);
  parameter->slice = slice_of(*this, params);
  parameter->data = static_cast<std::byte*>(params.data);
  parameter->gradient = static_cast<float*>(params.gradient);
  parameter->borrowed_data = params.data != nullptr;
  parameter->borrowed_gradient = params.gradient != nullptr;
  parameters_.push_back(std::move(parameter));
  return *parameters_.back();
}

Parameter* Family::find(const std::string& name) const {
  const auto found =
      std::find_if(parameters_.begin(), parameters_.end(), [&](const auto& p) { return p->name == name; });
  return found == parameters_.end() ? nullptr : found->get();
}

Communicator& Family::group() const {
  return mesh_->group(shared() ? MOEMESH_GROUP_SHARED_GRADIENT : MOEMESH_GROUP_EXPERT_GRADIENT);
}

void Family::require_committed() const {
  require(committed_, MOEMESH_ERROR_INVALID_STATE, "the family is not committed (moemesh_family_commit)");
}

void Family::commit() {
  mesh_->require_usable();
  Communicator& stage = mesh_->group(MOEMESH_GROUP_STAGE);
  std::sort(parameters_.begin(), parameters_.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  Finding finding = attempt([&] {
    require(!committed_, MOEMESH_ERROR_INVALID_STATE, "family_commit: the family is committed already");
    const Field count[] = {{"number of parameters", static_cast<int64_t>(parameters_.size())}};
    agree_on_configuration(stage, "family_commit", count, MOEMESH_OK, {});
    std::vector<Field> fields;
    for (const auto& parameter : parameters_)
      fields.push_back({parameter->name.c_str(), fingerprint(*parameter), Field::hash});
    agree_on_configuration(stage, "family_commit", fields, MOEMESH_OK, {});
    allocate();
  });
  agree_on_configuration(mesh_->group(MOEMESH_GROUP_WORLD), "family_commit", {}, finding.status, finding.text);
  for (auto& parameter : parameters_) initialize(*parameter);
  zero_gradients();
  committed_ = true;
}

void Family::allocate() {
  int64_t data = 0, gradient = 0, offset = 0;
  for (const auto& parameter : parameters_) {
    if (!parameter->borrowed_data) data += parameter->elements();
    if (!parameter->borrowed_gradient) gradient += parameter->elements();
  }
  own_data_ = Buffer<float>(mesh_->allocator(), data);
  own_gradient_ = Buffer<float>(mesh_->allocator(), gradient);
  float *next_data = own_data_.data(), *next_gradient = own_gradient_.data();
  values_ = gradients_ = FlatView();
  for (auto& parameter : parameters_) {
    const int64_t n = parameter->elements();
    if (!parameter->borrowed_data)
      parameter->data = reinterpret_cast<std::byte*>(std::exchange(next_data, next_data + n));
    if (!parameter->borrowed_gradient) parameter->gradient = std::exchange(next_gradient, next_gradient + n);
    parameter->offset = std::exchange(offset, offset + n);
    values_.append(parameter->values(), n);
    gradients_.append(parameter->gradient, n);
  }
}

// The key depends on the seed, the name and the global expert, never on a rank; the slice adds the place in the unsplit matrix.
void Family::initialize(Parameter& parameter) const {
  if (parameter.borrowed_data) return;
  for (int64_t i = 0; i < parameter.experts.count; ++i) {
    const int64_t words[] = {params_.seed, params_.kind, shared() ? -1 : parameter.experts.first + i};
    const uint64_t key = hash_bytes(words, sizeof words, static_cast<uint64_t>(hash_string(parameter.name)));
    kernels::initialize(static_cast<kernels::Distribution>(parameter.params.init_kind), parameter.params.init_value,
                        key, parameter.slice, parameter.values() + i * parameter.local_matrix());
  }
}

void Family::zero_gradients() {
  gradients_.for_each(0, gradients_.size(), [](float* data, int64_t, int64_t n) { kernels::zero(data, n); });
  for (auto& parameter : parameters_) parameter->ready = 0;
}

void Family::open_gradient(Parameter& parameter) {
  require(parameter.gradient != nullptr || parameter.elements() == 0, MOEMESH_ERROR_INVALID_STATE, "{}: has no gradient yet", parameter.name);
}

void Family::gradient_ready(Parameter& parameter, const moemesh_view* gradient) {
  require_committed();
  require(step && step->open, MOEMESH_ERROR_INVALID_STATE, "gradient_ready({}): no step is open", parameter.name);
  require(parameter.ready < step->microbatches, MOEMESH_ERROR_INVALID_STATE,
          "gradient_ready({}): called {} times already in a step of {} microbatches", parameter.name, parameter.ready,
          step->microbatches);
  if (gradient) {
    const auto shape = parameter.local_shape();
    const float* from = check_strided(*gradient, "gradient", shape);
    kernels::add_strided(static_cast<int32_t>(shape.size()), shape.data(), from, gradient->strides, parameter.gradient);
  }
  ++parameter.ready;
}

}  // namespace moemesh
