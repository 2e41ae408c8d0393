// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/family.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"
#include "impl/base/view.hpp"
#include "impl/family/gradients.hpp"
#include "impl/family/reduction.hpp"
#include "impl/family/rounds.hpp"
#include "impl/schedule/fabric.hpp"

namespace moemesh {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;

void check_name(const moemesh_parameter_params& params) {
  require(params.name != nullptr && params.name[0] != 0, bad, "parameter name: expected a text, got none");
  require(std::string_view(params.name).size() <= 255, bad, "parameter name: longer than 255 bytes");
}

void check_shape(const FamilyKind& family, const moemesh_parameter_params& params) {
  const int32_t most = family.shared ? 4 : 3;
  require(params.rank >= 1 && params.rank <= most, bad, "{}: rank: expected 1..{}, got {}", params.name, most,
          params.rank);
  for (int32_t i = 0; i < params.rank; ++i)
    require(params.extents[i] >= 1, bad, "{}: extents[{}]: expected >= 1, got {}", params.name, i, params.extents[i]);
  require(family.shared ? params.experts == 0 : params.experts >= 1, bad, "{}: experts: expected {}, got {}",
          params.name, family.shared ? "0 (SHARED)" : ">= 1 (EXPERT)", params.experts);
}

// All of a parameter, on all ranks together, in bytes.
void check_fits(const moemesh_parameter_params& params) {
  int64_t size = 4;
  bool too_large = __builtin_mul_overflow(size, std::max<int64_t>(params.experts, 1), &size);
  for (int32_t i = 0; i < params.rank; ++i) too_large |= __builtin_mul_overflow(size, params.extents[i], &size);
  require(!too_large, bad, "{}: extents, experts: expected less than 2^63 bytes in all", params.name);
}

void check_tp(const FamilyKind& family, const moemesh_parameter_params& params) {
  require(params.tp_kind >= MOEMESH_TP_REPLICA && params.tp_kind <= MOEMESH_TP_PARTIAL, bad,
          "{}: tp_kind: expected 1..3, got {}", params.name, params.tp_kind);
  if (params.tp_kind != MOEMESH_TP_SHARDED) return;
  require(params.tp_dim >= 0 && params.tp_dim < params.rank, bad, "{}: tp_dim: expected 0..{}, got {}", params.name,
          params.rank - 1, params.tp_dim);
  require(params.extents[params.tp_dim] % family.tp_size == 0, bad, "{}: extents[{}] = {} is not divisible by tp {}",
          params.name, params.tp_dim, params.extents[params.tp_dim], family.tp_size);
}

void check_alignment(const char* parameter, const char* field, const void* array, uintptr_t bytes) {
  require(reinterpret_cast<uintptr_t>(array) % bytes == 0, bad, "{}: {}: expected an address aligned to {} bytes",
          parameter, field, bytes);
}

void check_kinds(const FamilyKind& family, const moemesh_parameter_params& params) {
  const bool known = params.dtype == 0 || params.dtype == MOEMESH_FLOAT32 || params.dtype == MOEMESH_BFLOAT16;
  require(known, bad, "{}: dtype: expected 0, FLOAT32 or BFLOAT16, got {}", params.name, params.dtype);
  require(params.dtype == 0 || params.dtype == family.dtype, MOEMESH_ERROR_NOT_SUPPORTED,
          "{}: dtype: only the family's ({}) in this release, got {}", params.name, family.dtype, params.dtype);
  require(params.init_kind >= MOEMESH_INIT_CONSTANT && params.init_kind <= MOEMESH_INIT_UNIFORM, bad,
          "{}: init_kind: expected 1..3, got {}", params.name, params.init_kind);
  const auto scale = [](double value) { return value >= 0 && std::isfinite(value); };
  require(scale(params.decay_scale) && scale(params.learning_rate_scale), bad,
          "{}: decay_scale, learning_rate_scale: expected >= 0, got {}, {}", params.name, params.decay_scale,
          params.learning_rate_scale);
  require(std::isfinite(params.init_value), bad, "{}: init_value: expected a finite number, got {}", params.name,
          params.init_value);
  require(params.tied == 0 || params.tied == 1, bad, "{}: tied: expected 0 or 1, got {}", params.name, params.tied);
  require(params.tied == 0 || family.shared, bad, "{}: tied: expected 0 (EXPERT), got 1", params.name);
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
                           p.tied,
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

void check_parameter(const FamilyKind& family, const moemesh_parameter_params& params) {
  check_name(params);
  check_shape(family, params);
  check_fits(params);
  check_tp(family, params);
  check_kinds(family, params);
}

Recycled<int64_t> Parameter::local_shape() const {
  Recycled<int64_t> shape;
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
    require(params.dtype == MOEMESH_FLOAT32 || params.dtype == MOEMESH_BFLOAT16, bad,
            "family dtype: expected FLOAT32 or BFLOAT16, got {}", params.dtype);
  });
  const Field fields[] = {{"kind", params.kind}, {"dtype", params.dtype}, {"seed", params.seed}};
  agree_on_configuration(mesh->group(MOEMESH_GROUP_WORLD), "family_create", fields, finding.status, finding.text);
  return std::make_shared<Family>(std::move(mesh), params);
}

Parameter& Family::add(const moemesh_parameter_params& params) {
  require(!committed_, MOEMESH_ERROR_INVALID_STATE, "parameter_register: the family is committed");
  check_parameter({shared(), tp_size(), dtype()}, params);
  require(find(params.name) == nullptr, bad, "parameter name: \"{}\" is registered already", params.name);
  check_alignment(params.name, "data", params.data, dtype() == MOEMESH_BFLOAT16 ? 2 : 4);
  check_alignment(params.name, "gradient", params.gradient, 4);
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
  parameter->dtype = dtype();
  parameter->lent_gradient = static_cast<float*>(params.gradient);
  parameter->borrowed_data = params.data != nullptr;
  parameter->tied = params.tied != 0 && mesh_->layout().sizes().pp > 1;
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

BucketItem Family::item_of(const Parameter& parameter) const {
  const int64_t ep = mesh_->layout().axis_size(MOEMESH_AXIS_EXPERT_EP);
  const int64_t most = shared() ? 1 : experts_of(parameter.params.experts, ep, 0).count;
  auto kind = BucketKind::plain;
  if (parameter.params.tp_kind == MOEMESH_TP_PARTIAL && tp_size() > 1) kind = BucketKind::partial;
  if (parameter.tied) kind = BucketKind::tied;
  return {parameter.name, kind, parameter.elements(), most * parameter.local_matrix()};
}

void Family::order() {
  std::sort(parameters_.begin(), parameters_.end(),
            [this](const auto& a, const auto& b) { return lies_before(item_of(*a), item_of(*b)); });
}

void Family::cut_buckets(int64_t bucket_bytes) {
  std::vector<BucketItem> items;
  for (const auto& parameter : parameters_) items.push_back(item_of(*parameter));
  buckets_ = cut(items, most_weight(bucket_bytes), group().size());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i]->bucket = buckets_.of_item[i];
    if (!parameters_[i]->tied) continue;
    has_tied_ = true;
    tied_bucket_ = buckets_.of_item[i];
  }
}

void Family::check_stages_of_tied() const {
  const int64_t stage = mesh_->here().pp, last = mesh_->layout().sizes().pp - 1;
  for (const auto& parameter : parameters_)
    require(!parameter->tied || stage == 0 || stage == last, bad,
            "{}: tied: expected on the first and the last stage (0 and {}) only, got it on stage {}", parameter->name,
            last, stage);
}

namespace {

int64_t hash_of_values(const Parameter& parameter) {
  const int64_t bytes = parameter.elements() * parameter.element_bytes();
  const HostBuffer<std::byte> copy(parameter.family->mesh().allocator(), bytes);
  kernels::copy_bytes(copy.data(), parameter.data, bytes);
  kernels::finish();
  return static_cast<int64_t>(hash_bytes(copy.data(), static_cast<size_t>(bytes), 1));
}

}  // namespace

// Both ends of the pipeline must have the same tied parameters. `finding`: this stage's so far.
void Family::compare_ends(const Finding& finding) const {
  std::vector<Field> fields;
  for (const auto& parameter : parameters_)
    if (parameter->tied) {
      fields.push_back({parameter->name.c_str(), fingerprint(*parameter), Field::hash});
      const bool values = parameter->borrowed_data && !finding;  // of this rank's part; both ends cut it alike
      fields.push_back({parameter->name.c_str(), values ? hash_of_values(*parameter) : 0, Field::hash});
    }
  const Field count[] = {{"number of tied parameters of the end stages", static_cast<int64_t>(fields.size() / 2)}};
  agree_on_configuration(*mesh_->ends(), "family_commit", count, finding.status, finding.text);
  agree_on_configuration(*mesh_->ends(), "family_commit", fields, MOEMESH_OK, {});
}

void Family::commit() {
  mesh_->require_usable();
  Communicator& stage = mesh_->group(MOEMESH_GROUP_STAGE);
  order();
  Finding finding = attempt([&] {
    require(!committed_, MOEMESH_ERROR_INVALID_STATE, "family_commit: the family is committed already");
    const Field count[] = {{"number of parameters", static_cast<int64_t>(parameters_.size())}};
    agree_on_configuration(stage, "family_commit", count, MOEMESH_OK, {});
    std::vector<Field> fields;
    for (const auto& parameter : parameters_)
      fields.push_back({parameter->name.c_str(), fingerprint(*parameter), Field::hash});
    agree_on_configuration(stage, "family_commit", fields, MOEMESH_OK, {});
    check_stages_of_tied();
    allocate();
  });
  if (shared() && mesh_->ends()) finding = attempt([&] { compare_ends(finding); });
  agree_on_configuration(mesh_->group(MOEMESH_GROUP_WORLD), "family_commit", {}, finding.status, finding.text);
  for (auto& parameter : parameters_) initialize(*parameter);
  committed_ = true;
}

void Family::allocate() {
  int64_t own = 0, offset = 0;
  for (const auto& parameter : parameters_) {
    if (!parameter->borrowed_data) own += parameter->elements() * parameter->element_bytes();
  }
  own_data_ = LastingBuffer<std::byte>(mesh_->allocator(), own);
  std::byte* next = own_data_.data();
  values_ = FlatView(dtype() == MOEMESH_BFLOAT16 ? 2 : 4);
  for (auto& parameter : parameters_) {
    const int64_t n = parameter->elements();
    if (!parameter->borrowed_data) parameter->data = std::exchange(next, next + n * parameter->element_bytes());
    parameter->offset = std::exchange(offset, offset + n);
    values_.append(parameter->data, n);
  }
  cut_buckets(default_bucket_bytes);
}

// Depends on the seed, the name and the global expert, never on a rank; the slice adds the place in the unsplit matrix.
uint64_t Family::key_of(const Parameter& parameter, int64_t index) const {
  const int64_t words[] = {params_.seed, params_.kind, shared() ? -1 : parameter.experts.first + index};
  return hash_bytes(words, sizeof words, static_cast<uint64_t>(hash_string(parameter.name)));
}

void Family::initial_values(const Parameter& parameter, int64_t index, float* out) const {
  kernels::initialize(static_cast<kernels::Distribution>(parameter.params.init_kind), parameter.params.init_value,
                      key_of(parameter, index), parameter.slice, out);
}

void Family::initialize(Parameter& parameter) const {
  if (parameter.borrowed_data) return;
  for (int64_t i = 0; i < parameter.experts.count; ++i) {
    const int64_t place = i * parameter.local_matrix();
    if (dtype() == MOEMESH_FLOAT32)
      initial_values(parameter, i, parameter.values() + place);
    else
      kernels::initialize_bfloat16(static_cast<kernels::Distribution>(parameter.params.init_kind),
                                   parameter.params.init_value, key_of(parameter, i), parameter.slice,
                                   parameter.bits() + place);
  }
}

void Family::zero_gradients() {
  gradients->zero();
  for (auto& parameter : parameters_) parameter->ready = 0;
}

void Family::open_gradient(Parameter& parameter) {
  require(gradients != nullptr, MOEMESH_ERROR_INVALID_STATE, "{}: its family has no optimizer, so it has no gradient",
          parameter.name);
  gradients->open(parameter);
}

void Family::gradient_ready(Parameter& parameter, const moemesh_view* gradient, const Finding& problem) {
  require_committed();
  require(step && step->open, MOEMESH_ERROR_INVALID_STATE, "gradient_ready({}): no step is open", parameter.name);
  require(parameter.ready < step->microbatches, MOEMESH_ERROR_INVALID_STATE,
          "gradient_ready({}): called {} times already in a step of {} microbatches", parameter.name, parameter.ready,
          step->microbatches);
  const Finding finding = problem ? problem : attempt([&] { add_in(parameter, gradient); });
  if (finding) {
    // At stage 2 the others are on their way into this sum.
    if (gradients->sharded() && group().size() > 1) step->fail(finding);
    throw Error(finding.status, finding.text);
  }
  if (gradients->sharded()) return sum_now(parameter);
  if (++parameter.ready == step->microbatches) step->fabric->complete(parameter);
}

void Family::require_all_values() const {
  if (step && step->fabric) step->fabric->finish_gathers();
}

void Family::require_values(const Parameter& parameter) const {
  if (step && step->fabric) step->fabric->require_values(parameter);
}

// With everything that the sum over the ranks will need.
void Family::add_in(Parameter& parameter, const moemesh_view* gradient) {
  const auto shape = parameter.local_shape();
  const float* from = gradient ? check_strided(*gradient, "gradient", shape) : nullptr;
  open_gradient(parameter);
  if (gradients->sharded()) reserve_sum(*this, parameter);
  if (!gradient) return;
  const auto rank = static_cast<int32_t>(shape.size());
  if (kernels::separate_memory && gradient->memory == MOEMESH_MEMORY_HOST) return add_from_host(parameter, *gradient);
  kernels::add_strided(rank, shape.data(), from, gradient->strides, parameter.gradient);
}

// Through a dense copy that kernels reach.
void Family::add_from_host(const Parameter& parameter, const moemesh_view& gradient) const {
  const int64_t n = parameter.elements(), stride = 1;
  auto* const copy = mesh_->workspace().get_shared<float>(Workspace::user_gradient, n);
  const auto* const from = static_cast<const float*>(gradient.data);
  int64_t at[4] = {};
  for (int64_t i = 0; i < n; ++i) {
    int64_t offset = 0;
    for (int32_t d = 0; d < gradient.rank; ++d) offset += at[d] * gradient.strides[d];
    copy[i] = from[offset];
    for (int32_t d = gradient.rank - 1; d >= 0 && ++at[d] == gradient.extents[d]; --d) at[d] = 0;
  }
  kernels::add_strided(1, &n, copy, &stride, parameter.gradient);
  kernels::finish();
}

void Family::sum_now(Parameter& parameter) {
  auto verdict = Rounds::Verdict::together;
  if (group().size() > 1) verdict = step->rounds->call(parameter);
  ++parameter.ready;
  if (verdict == Rounds::Verdict::together) sum_into_shards(*this, parameter);
  gradients->close(parameter);
  if (verdict == Rounds::Verdict::together) return;
  // At the step's end MISMATCH would say that the ranks disagree about the step itself.
  const std::string text = format_message("gradient_ready({}): {}", parameter.name, step->rounds->text());
  step->fail({MOEMESH_ERROR_PEER_FAILED, text});
  require(verdict != Rounds::Verdict::mismatch, MOEMESH_ERROR_MISMATCH, "{}", text);
}

}  // namespace moemesh
