// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <algorithm>

#include "impl/base/error.hpp"
#include "impl/family/reduction.hpp"
#include "impl/optimizer/optimizer.hpp"
#include "kernels/flat.hpp"

namespace moemesh {
namespace {

int32_t moments_of(const moemesh_optimizer_params& params) {
  if (params.kind == MOEMESH_ADAMW) return 2;
  return params.momentum > 0 ? 1 : 0;
}

Buffer<float> zeroed(const Family& family, int64_t n) {
  Buffer<float> buffer(family.mesh().allocator(), n);
  if (n > 0) kernels::zero(buffer.data(), n);
  return buffer;
}

// Parameters that tp peers hold whole are counted by tp 0 alone, tied ones by the first stage.
bool counts_here(const Parameter& parameter) {
  if (parameter.tied && parameter.family->mesh().here().pp != 0) return false;
  return parameter.params.tp_kind == MOEMESH_TP_SHARDED || parameter.family->tp_coordinate() == 0;
}

}  // namespace

FamilyState::FamilyState(std::shared_ptr<Family> family, int32_t stage, const moemesh_optimizer_params& params)
    : family_(std::move(family)), stage_(stage), moments_(moments_of(params)) {
  family_->cut_buckets(params.bucket_bytes);
  for (const Shards& shards : family_->buckets()) hold(shards);
  gradients_ = std::make_shared<Gradients>(*family_, stage_);
  reserve_squares();
  Buffer<float> scratch;
  if (has_masters())
    for (const Held& held : held_) make_masters(held, scratch);
}

FamilyState::~FamilyState() {
  // Where it was made on some ranks only, all of them have the same cuts again.
  (void)attempt([&] { family_->cut_buckets(default_bucket_bytes); });
  if (!attached_) return;
  gradients_->detach();
  family_->step.reset();
  family_->gradients.reset();
  family_->state = nullptr;
}

void FamilyState::attach(const std::shared_ptr<StepState>& step) {
  attached_ = true;
  gradients_->attach();
  family_->step = step;
  family_->gradients = gradients_;
  family_->state = this;
}

void FamilyState::hold(const Shards& shards) {
  const int64_t owner = family_->group().rank();
  Held held;
  held.begin = stage_ == 0 ? shards.first : shards.begin(owner);
  held.end = stage_ == 0 ? shards.first + shards.size : shards.end(owner);
  const int64_t n = held.end - held.begin;
  if (has_masters()) held.master = Buffer<float>(family_->mesh().allocator(), n);
  if (moments_ >= 1) held.moment1 = zeroed(*family_, n);
  if (moments_ >= 2) held.moment2 = zeroed(*family_, n);
  held_.push_back(std::move(held));
}

template <class F>
void FamilyState::for_each_piece(int64_t begin, int64_t end, F&& f) const {
  for (const auto& parameter : family_->parameters()) {
    const int64_t from = std::max(begin, parameter->offset);
    const int64_t to = std::min(end, parameter->offset + parameter->elements());
    if (from < to) f(*parameter, from, to - from);
  }
}

// A value that is still the rounding of the initial fp32 value has that one as its master, every other value itself.
void FamilyState::make_masters(const Held& held, Buffer<float>& scratch) {
  for_each_piece(held.begin, held.end, [&](const Parameter& parameter, int64_t first, int64_t n) {
    const int64_t matrix = parameter.local_matrix();
    const auto values = [&](int64_t element) { return parameter.bits() + (element - parameter.offset); };
    if (parameter.borrowed_data)
      return kernels::widen_bfloat16(n, values(first), held.master.data() + (first - held.begin));
    scratch.reserve(family_->mesh().allocator(), matrix);
    for (int64_t i = (first - parameter.offset) / matrix; parameter.offset + i * matrix < first + n; ++i) {
      const int64_t begin = parameter.offset + i * matrix;
      const int64_t from = std::max(first, begin), to = std::min(first + n, begin + matrix);
      family_->initial_values(parameter, i, scratch.data());
      float* masters = held.master.data() + (from - held.begin);
      kernels::copy_bytes(masters, scratch.data() + (from - begin), (to - from) * 4);
      kernels::refresh_masters(to - from, values(from), masters);
    }
  });
}

void FamilyState::refresh_masters() {
  if (!has_masters()) return;
  for (const Held& held : held_)
    for_each_piece(held.begin, held.end, [&](const Parameter& parameter, int64_t first, int64_t n) {
      kernels::refresh_masters(n, parameter.bits() + (first - parameter.offset),
                               held.master.data() + (first - held.begin));
    });
}

// Over the owned shards in every stage, so that the bits do not depend on the stage.
template <class F>
void FamilyState::for_each_counted(F&& f) const {
  const int64_t owner = family_->group().rank();
  for (const Shards& shards : family_->buckets())
    for_each_piece(shards.begin(owner), shards.end(owner), [&](const Parameter& parameter, int64_t first, int64_t n) {
      if (counts_here(parameter)) f(parameter, first, n);
    });
}

void FamilyState::reserve_squares() {
  int64_t sums = 0, workspace = 0;
  for_each_counted([&](const Parameter&, int64_t, int64_t n) {
    sums += kernels::square_blocks(n);
    workspace = std::max(workspace, kernels::squares_workspace(n));
  });
  squares_ = SharedBuffer<double>(family_->mesh().allocator(), sums);
  squares_workspace_ = Buffer<double>(family_->mesh().allocator(), workspace);
}

// All parameters' sums are made before the host waits for them.
double FamilyState::sum_squares() const {
  double* blocks = squares_.data();
  for_each_counted([&](const Parameter& parameter, int64_t first, int64_t n) {
    kernels::sum_squares(gradients_->at(parameter, first), n, squares_workspace_.data(), blocks);
    blocks += kernels::square_blocks(n);
  });
  kernels::finish();
  const double* next = squares_.data();
  double sum = 0;
  for_each_counted([&](const Parameter&, int64_t, int64_t n) {
    double of_parameter = 0;
    for (int64_t i = 0; i < kernels::square_blocks(n); ++i) of_parameter += *next++;
    sum += of_parameter;
  });
  return sum;
}

void FamilyState::update(const moemesh_optimizer_params& params, double learning_rate, float coefficient,
                         int64_t step) {
  for (const Held& held : held_)
    for_each_piece(held.begin, held.end, [&](const Parameter& parameter, int64_t first, int64_t n) {
      const int64_t local = first - parameter.offset, place = first - held.begin;
      const double rate = learning_rate * parameter.params.learning_rate_scale;
      const double decay = params.weight_decay * parameter.params.decay_scale;
      const float* gradient = gradients_->at(parameter, first);
      float* weights = has_masters() ? held.master.data() + place : parameter.values() + local;
      float* moment1 = held.moment1 ? held.moment1.data() + place : nullptr;
      float* moment2 = held.moment2 ? held.moment2.data() + place : nullptr;
      uint16_t* rounded = has_masters() ? parameter.bits() + local : nullptr;
      if (params.kind == MOEMESH_ADAMW)
        kernels::adamw({rate, params.beta1, params.beta2, params.epsilon, decay, step, coefficient}, n, gradient,
                       weights, moment1, moment2, rounded);
      else
        kernels::sgd({rate, params.momentum, decay, coefficient}, n, gradient, weights, moment1, rounded);
    });
}

FlatQuantity FamilyState::quantity(const Parameter& parameter, int32_t quantity) const {
  const int64_t size = family_->values().size();
  const Held& held = held_[parameter.bucket];
  const auto of_shard = [&](const Buffer<float>& buffer) {
    FlatView flat;
    flat.append(buffer.data(), held.end - held.begin);
    return FlatQuantity{flat, held.begin, held.end};
  };
  const auto moment = [&](int32_t number, const Buffer<float>& buffer) {
    require(moments_ >= number, MOEMESH_ERROR_NOT_FOUND, "this optimizer keeps {} moments, not {}", moments_, number);
    return of_shard(buffer);
  };
  switch (quantity) {
    case MOEMESH_VALUE:
      return {family_->values(), 0, size};  // a read takes of it what this rank owns
    case MOEMESH_MASTER:
      return has_masters() ? of_shard(held.master) : FlatQuantity{family_->values(), 0, size};
    case MOEMESH_GRADIENT:
      if (gradients_->sharded()) return {gradients_->shard(parameter.bucket), held.begin, held.end};
      return {gradients_->whole(), 0, size};
    case MOEMESH_MOMENT1:
      return moment(1, held.moment1);
    case MOEMESH_MOMENT2:
      return moment(2, held.moment2);
    default:
      fail(MOEMESH_ERROR_INVALID_ARGUMENT, "quantity: expected 1..5, got {}", quantity);
  }
}

moemesh_optimizer_bytes FamilyState::bytes() const {
  const int64_t elements = family_->values().size();
  const int64_t width = family_->group().size();
  // An element's bytes: of the state, of what every rank has, and of what is sharded.
  const int64_t value = family_->values().element_bytes(), state = int64_t{4} * (moments_ + (has_masters() ? 1 : 0));
  const int64_t whole = value + (stage_ < 2 ? 4 : 0), sharded = state + (stage_ < 2 ? 0 : 4);
  moemesh_optimizer_bytes bytes{};
  bytes.elements = elements;
  bytes.shard_width = width;
  bytes.planned = elements * whole + (stage_ == 0 ? elements * sharded : (elements * sharded + width - 1) / width);
  bytes.parameters = elements * value;
  bytes.gradients = gradients_->bytes();
  for (const Held& held : held_) {
    bytes.masters += held.master.bytes();
    bytes.moments += held.moment1.bytes() + held.moment2.bytes();
  }
  bytes.bucket = gradients_->bucket_bytes();
  bytes.actual = bytes.parameters + bytes.gradients + bytes.masters + bytes.moments + bytes.bucket;
  return bytes;
}

}  // namespace moemesh
