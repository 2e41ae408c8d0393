// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <stdexcept>

#include "harness_params.hpp"

namespace moemesh::test {
namespace {

int32_t activation_of(oracle::Activation activation) {
  switch (activation) {
    case oracle::Activation::identity:
      return MOEMESH_IDENTITY;
    case oracle::Activation::relu:
      return MOEMESH_RELU;
    case oracle::Activation::gelu_tanh:
      return MOEMESH_GELU_TANH;
    case oracle::Activation::gelu_erf:
      return MOEMESH_GELU_ERF;
    case oracle::Activation::silu:
      return MOEMESH_SILU;
    case oracle::Activation::swiglu:
      return MOEMESH_SWIGLU;
    case oracle::Activation::geglu:
      return MOEMESH_GEGLU;
  }
  throw std::invalid_argument("unknown activation");
}

int32_t gate_of(oracle::Gate gate) {
  switch (gate) {
    case oracle::Gate::raw:
      return MOEMESH_GATE_RAW;
    case oracle::Gate::renorm:
      return MOEMESH_GATE_RENORM;
    case oracle::Gate::softmax_topk:
      return MOEMESH_GATE_SOFTMAX_TOPK;
  }
  throw std::invalid_argument("unknown gate");
}

}  // namespace

moemesh_layer_params layer_params(const ModelSpec& spec, const oracle::LayerConfig& config) {
  auto params = with_defaults(moemesh_layer_params_init);
  params.name = config.name.c_str();
  params.hidden = config.hidden;
  params.ffn = config.ffn;
  params.experts = config.experts;
  params.shared_ffn = config.shared_ffn;
  params.gate_scale = config.gate_scale;
  params.init_std_router = spec.init_std_router;
  params.init_std_in = spec.init_std_in;
  params.init_std_out = spec.init_std_out;
  params.top_k = static_cast<int32_t>(config.top_k);
  params.activation = activation_of(config.activation);
  params.score = config.score == oracle::Score::softmax ? MOEMESH_SCORE_SOFTMAX : MOEMESH_SCORE_SIGMOID;
  params.gate = gate_of(config.gate);
  params.router = config.caller_logits ? MOEMESH_ROUTER_CALLER : MOEMESH_ROUTER_LINEAR;
  params.nonfinite = spec.nonfinite;
  params.combine_dtype = spec.combine_dtype;
  params.recompute = spec.recompute;
  params.chunks = spec.chunks;
  params.products = spec.products;
  params.capacity_factor = config.capacity_factor;
  params.drop = config.drop == oracle::Drop::position ? MOEMESH_DROP_BY_POSITION : MOEMESH_DROP_BY_GATE;
  params.aux_coefficient = config.aux_coefficient;
  params.aux_scope = config.aux_scope == oracle::AuxScope::shard ? MOEMESH_AUX_SHARD : MOEMESH_AUX_SEQUENCE;
  params.z_coefficient = config.z_coefficient;
  params.bias_rate = config.bias_rate;
  return params;
}

moemesh_parameter_params parameter_params(const ParameterSpec& spec) {
  auto params = with_defaults(moemesh_parameter_params_init);
  params.name = spec.name.c_str();
  params.experts = spec.experts;
  params.rank = static_cast<int32_t>(spec.extents.size());
  for (size_t i = 0; i < spec.extents.size(); ++i) params.extents[i] = spec.extents[i];
  params.data = spec.data;
  params.gradient = spec.gradient;
  params.init_kind = spec.init_kind;
  params.init_value = spec.init_value;
  params.decay_scale = spec.decay_scale;
  params.learning_rate_scale = spec.learning_rate_scale;
  params.tp_kind = spec.tp_kind;
  params.tp_dim = spec.tp_dim;
  params.tied = spec.tied;
  return params;
}

namespace {

moemesh_family create_family(const Mesh& mesh, int32_t kind, const ModelSpec& spec) {
  auto params = with_defaults(moemesh_family_params_init);
  params.kind = kind;
  params.seed = spec.seed;
  params.dtype = spec.dtype;
  moemesh_family family = nullptr;
  OK(moemesh_family_create(mesh.get(), &params, &family));
  return family;
}

int64_t rows_of(const Floats& values, int64_t width) { return static_cast<int64_t>(values.size()) / width; }

}  // namespace

Model::Model(const Mesh& mesh, ModelSpec spec)
    : spec_(std::move(spec)),
      tp_(mesh.spec().tp),
      tp_coordinate_(mesh.here().tp),
      expert_tp_(mesh.group(MOEMESH_AXIS_EXPERT_TP).size),
      expert_tp_coordinate_(mesh.here().expert_tp) {
  try {
    const bool staged = mesh.spec().pp > 1;  // other stages may have what this one has not
    if (staged || !spec_.layers.empty() || !spec_.shared.empty()) shared_ = create_family(mesh, MOEMESH_SHARED, spec_);
    if (staged || !spec_.layers.empty() || !spec_.expert.empty()) expert_ = create_family(mesh, MOEMESH_EXPERT, spec_);
    register_all(shared_, spec_.shared);
    register_all(expert_, spec_.expert);
    create_layers(mesh);
    if (shared_) OK(moemesh_family_commit(shared_));
    if (expert_) OK(moemesh_family_commit(expert_));
    if (spec_.optimizer) OK(moemesh_optimizer_create(mesh.get(), shared_, expert_, &*spec_.optimizer, &optimizer_));
  } catch (...) {
    release();
    throw;
  }
}

Model::~Model() { release(); }

void Model::release() {
  moemesh_optimizer_destroy(&optimizer_);
  for (moemesh_layer& layer : layers_) moemesh_layer_destroy(&layer);
  moemesh_family_destroy(&expert_);
  moemesh_family_destroy(&shared_);
}

void Model::create_layers(const Mesh& mesh) {
  for (const auto& config : spec_.layers) {
    const auto params = layer_params(spec_, config);
    layers_.push_back(nullptr);
    OK(moemesh_layer_create(mesh.get(), shared_, expert_, &params, &layers_.back()));
  }
}

void Model::register_all(moemesh_family family, const std::vector<ParameterSpec>& parameters) {
  for (const auto& spec : parameters) {
    const auto params = parameter_params(spec);
    moemesh_parameter parameter = nullptr;
    OK(moemesh_parameter_register(family, &params, &parameter));
  }
}

moemesh_parameter Model::parameter(const std::string& name) const {
  moemesh_parameter parameter = nullptr;
  if (shared_ && moemesh_parameter_find(shared_, name.c_str(), &parameter) == MOEMESH_OK) return parameter;
  OK(moemesh_parameter_find(expert_, name.c_str(), &parameter));
  return parameter;
}

moemesh_parameter_info Model::info(const std::string& name) const {
  auto info = sized<moemesh_parameter_info>();
  OK(moemesh_parameter_get_info(parameter(name), &info));
  return info;
}

Floats Model::read(const std::string& name, int32_t quantity, int64_t expert) const {
  const auto about = info(name);
  const std::vector<int64_t> extents(about.extents, about.extents + about.rank);
  int64_t elements = 1;
  for (const int64_t extent : extents) elements *= extent;
  Floats values = nans(elements);
  const auto view = view_of(values, extents);
  OK(moemesh_parameter_read(parameter(name), quantity, expert, &view));
  return values;
}

void Model::write(const std::string& name, const Floats& values, int32_t quantity, int64_t expert) const {
  const auto about = info(name);
  const auto view = view_of(values, std::vector<int64_t>(about.extents, about.extents + about.rank));
  OK(moemesh_parameter_write(parameter(name), quantity, expert, &view));
}

LocalArray::LocalArray(const moemesh_view& given) : library(given), view(given) {
  if (library.memory == MOEMESH_MEMORY_HOST) return;
  int64_t bytes = library.dtype == MOEMESH_BFLOAT16 ? 2 : 4;
  for (int32_t i = 0; i < library.rank; ++i) bytes *= library.extents[i];
  copy_.resize(static_cast<size_t>(bytes));
  view.memory = MOEMESH_MEMORY_HOST;
  view.data = copy_.data();
  OK(moemesh_view_copy(&library, &view));
}

void LocalArray::store() const {
  if (library.memory != MOEMESH_MEMORY_HOST) OK(moemesh_view_copy(&view, &library));
}

LocalArray Model::local_values(const std::string& name) const {
  moemesh_view view{};
  OK(moemesh_parameter_acquire(parameter(name), nullptr, &view));
  OK(moemesh_parameter_release(parameter(name)));
  return LocalArray(view);
}

LocalArray Model::local_gradient(const std::string& name) const {
  moemesh_view view{};
  OK(moemesh_parameter_get_gradient(parameter(name), &view));
  return LocalArray(view);
}

std::vector<int64_t> Model::local_places(const std::string& name, int64_t expert) const {
  const auto about = info(name);
  const bool here = expert >= about.first_expert && expert < about.first_expert + about.local_experts;
  if (about.family == MOEMESH_EXPERT && !here) return {};
  const bool cut = about.tp_kind == MOEMESH_TP_SHARDED;
  int64_t elements = 1, inner = 1;
  for (int32_t i = 0; i < about.rank; ++i) elements *= about.extents[i];
  for (int32_t i = about.tp_dim + 1; i < about.rank; ++i) inner *= about.extents[i];
  const bool dense = about.family == MOEMESH_SHARED;
  const int64_t part = about.extents[about.tp_dim] / (dense ? tp_ : expert_tp_);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < elements; ++i)
    if (!cut || i / inner % about.extents[about.tp_dim] / part == (dense ? tp_coordinate_ : expert_tp_coordinate_))
      places.push_back(i);
  return places;
}

Floats Model::local_matrix(const std::string& name, int64_t expert) const {
  const auto count = static_cast<int64_t>(local_places(name, expert).size());
  if (count == 0) return {};
  const int64_t first = (expert - info(name).first_expert) * count;
  const auto values = local_values(name);
  if (half()) {
    const auto* begin = values.as<uint16_t>() + first;
    return to_floats(Halves(begin, begin + count));
  }
  const float* begin = values.as<float>() + first;
  return Floats(begin, begin + count);
}

// ---- the oracle's side

oracle::Model Model::oracle_model() const {
  oracle::Model model;
  model.layers = spec_.layers;
  for (const auto& parameter : spec_.shared) model.shared_names.push_back(parameter.name);
  return model;
}

oracle::Parameters Model::read_all(int32_t quantity) const {
  const oracle::Model model = oracle_model();
  oracle::Parameters parameters = oracle::zero_parameters(model);
  for (auto& array : parameters.shared) array.resize(1);  // named_arrays leaves empty ones out
  for (const auto& array : oracle::named_arrays(model, parameters)) {
    const Floats values = read(array.name, quantity, array.expert);
    array.values->assign(values.begin(), values.end());
  }
  return parameters;
}

// ---- the step

void Model::replace_optimizer(const Mesh& mesh, const moemesh_optimizer_params& params) {
  moemesh_optimizer_destroy(&optimizer_);
  spec_.optimizer = params;
  OK(moemesh_optimizer_create(mesh.get(), shared_, expert_, &*spec_.optimizer, &optimizer_));
}

void Model::begin(int32_t microbatches, int32_t objective, double loss_scale) const {
  auto params = with_defaults(moemesh_step_params_init);
  params.microbatches = microbatches;
  params.objective = objective;
  params.loss_scale = loss_scale;
  OK(moemesh_step_begin(optimizer_, &params));
  inputs_.clear();
}

moemesh_update_result Model::update(double learning_rate) const {
  if (before_calls) before_calls();
  auto params = with_defaults(moemesh_update_params_init);
  params.learning_rate = learning_rate;
  auto result = sized<moemesh_update_result>();
  OK(moemesh_optimizer_step(optimizer_, &params, &result));
  return result;
}

Floats Model::forward(size_t layer, const Floats& x, Tape* tape, const ForwardOptions& options) const {
  if (before_calls) before_calls();
  const auto& config = spec_.layers.at(layer);
  const int64_t tokens = rows_of(x, config.hidden);
  Floats y = nans(tokens * config.hidden);
  Halves half_y(half() ? y.size() : 0, 0x7fc0);
  if (half()) inputs_.push_back(to_halves(x));
  const std::vector<int64_t> shape{tokens, config.hidden};
  const auto x_view = half() ? view_of(inputs_.back(), shape) : view_of(x, shape);
  const auto y_view = half() ? view_of(half_y, shape) : view_of(y, shape);
  moemesh_view mask{}, logits{};
  auto params = with_defaults(moemesh_forward_params_init);
  params.x = &x_view;
  params.y = &y_view;
  params.training = options.training;
  params.microbatch = options.microbatch;
  params.sequences = options.sequences.count;
  params.sequence_layout = options.sequences.interleaved ? MOEMESH_POSITION_MAJOR : MOEMESH_SEQUENCE_MAJOR;
  if (options.mask && !options.mask->empty()) {
    mask = view_of(const_cast<uint8_t*>(options.mask->data()), {tokens});
    params.mask = &mask;
  }
  if (options.logits) {
    logits = view_of(*options.logits, {tokens, config.experts});
    params.logits = &logits;
  }
  OK(moemesh_layer_forward(layers_.at(layer), &params, tape ? tape->out() : nullptr));
  return half() ? to_floats(half_y) : y;
}

Floats Model::backward(size_t layer, Tape* tape, const Floats& dy, Floats* dlogits) const {
  if (before_calls) before_calls();
  const auto& config = spec_.layers.at(layer);
  const int64_t tokens = rows_of(dy, config.hidden);
  Floats dx = nans(tokens * config.hidden);
  Halves half_dy = half() ? to_halves(dy) : Halves(), half_dx(half() ? dx.size() : 0, 0x7fc0);
  const std::vector<int64_t> shape{tokens, config.hidden};
  const auto dy_view = half() ? view_of(half_dy, shape) : view_of(dy, shape);
  const auto dx_view = half() ? view_of(half_dx, shape) : view_of(dx, shape);
  moemesh_view dlogits_view{};
  auto params = with_defaults(moemesh_backward_params_init);
  params.dy = &dy_view;
  params.dx = &dx_view;
  if (dlogits) {
    *dlogits = nans(tokens * config.experts);
    dlogits_view = view_of(*dlogits, {tokens, config.experts});
    params.dlogits = &dlogits_view;
  }
  OK(moemesh_layer_backward(tape->out(), &params));
  return half() ? to_floats(half_dx) : dx;
}

Floats Model::replay(size_t layer, Tape* tape, const Floats& x) const {
  const int64_t hidden = spec_.layers.at(layer).hidden;
  const std::vector<int64_t> shape{rows_of(x, hidden), hidden};
  Floats y = nans(static_cast<int64_t>(x.size()));
  Halves half_y(half() ? y.size() : 0, 0x7fc0);
  if (half()) inputs_.push_back(to_halves(x));
  const auto x_view = half() ? view_of(inputs_.back(), shape) : view_of(x, shape);
  const auto y_view = half() ? view_of(half_y, shape) : view_of(y, shape);
  auto params = with_defaults(moemesh_replay_params_init);
  params.x = &x_view;
  params.y = &y_view;
  OK(moemesh_layer_replay(tape->out(), &params));
  return half() ? to_floats(half_y) : y;
}

moemesh_layer_statistics Model::statistics(size_t layer) const {
  auto statistics = sized<moemesh_layer_statistics>();
  OK(moemesh_layer_get_statistics(layers_.at(layer), &statistics));
  return statistics;
}

Floats Model::bias(size_t layer) const {
  Floats values = nans(spec_.layers.at(layer).experts);
  const auto view = view_of(values);
  OK(moemesh_layer_get_bias(layers_.at(layer), &view));
  return values;
}

void Model::set_bias(size_t layer, Floats values) const {
  const auto view = view_of(values);
  OK(moemesh_layer_set_bias(layers_.at(layer), &view));
}

Routing Model::routing(size_t layer, const Tape& tape, int64_t tokens) const {
  const int64_t k = spec_.layers.at(layer).top_k;
  Routing routing{std::vector<int32_t>(static_cast<size_t>(tokens * k), -2), nans(tokens * k)};
  const auto experts = view_of(routing.experts, {tokens, k});
  const auto gates = view_of(routing.gates, {tokens, k});
  OK(moemesh_tape_get_routing(tape.get(), &experts, &gates));
  return routing;
}

}  // namespace moemesh::test
