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

// Parameters that tp peers hold whole are counted by tp 0 alone.
bool counts_here(const Parameter& parameter) {
  return parameter.params.tp_kind == MOEMESH_TP_SHARDED || parameter.family->tp_coordinate() == 0;
}

}  // namespace

FamilyState::FamilyState(std::shared_ptr<Family> family, int32_t stage, const moemesh_optimizer_params& params)
    : family_(std::move(family)), stage_(stage) {
  const Shards shards = family_->shards();
  const int64_t owner = family_->group().rank();
  begin_ = stage_ == 0 ? 0 : shards.begin(owner);
  end_ = stage_ == 0 ? shards.size : shards.end(owner);
  moments_ = moments_of(params);
  if (moments_ >= 1) moment1_ = zeroed(*family_, end_ - begin_);
  if (moments_ >= 2) moment2_ = zeroed(*family_, end_ - begin_);
}

template <class F>
void FamilyState::for_each_piece(int64_t begin, int64_t end, F&& f) const {
  for (const auto& parameter : family_->parameters()) {
    const int64_t from = std::max(begin, parameter->offset);
    const int64_t to = std::min(end, parameter->offset + parameter->elements());
    if (from < to) f(*parameter, from, to - from);
  }
}

// Over the owned shard in every stage, so that the bits do not depend on the stage.
double FamilyState::sum_squares() const {
  const Shards shards = family_->shards();
  const int64_t owner = family_->group().rank();
  double sum = 0;
  for_each_piece(shards.begin(owner), shards.end(owner), [&](const Parameter& parameter, int64_t first, int64_t n) {
    if (counts_here(parameter)) sum += kernels::sum_squares(parameter.gradient + (first - parameter.offset), n);
  });
  return sum;
}

void FamilyState::update(const moemesh_optimizer_params& params, double learning_rate, float coefficient,
                         int64_t step) {
  for_each_piece(begin_, end_, [&](const Parameter& parameter, int64_t first, int64_t n) {
    const int64_t local = first - parameter.offset;
    const double rate = learning_rate * parameter.params.learning_rate_scale;
    const double decay = params.weight_decay * parameter.params.decay_scale;
    float* moment1 = moment1_ ? moment1_.data() + (first - begin_) : nullptr;
    float* moment2 = moment2_ ? moment2_.data() + (first - begin_) : nullptr;
    if (params.kind == MOEMESH_ADAMW)
      kernels::adamw({rate, params.beta1, params.beta2, params.epsilon, decay, step, coefficient}, n,
                     parameter.gradient + local, parameter.values() + local, moment1, moment2);
    else
      kernels::sgd({rate, params.momentum, decay, coefficient}, n, parameter.gradient + local, parameter.values() + local,
                   moment1);
  });
  if (stage_ == 1)
    gather_shards(*family_, family_->values(), {family_->kind(), MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_ALL_GATHER});
}

FlatQuantity FamilyState::quantity(int32_t quantity) const {
  const int64_t size = family_->values().size();
  const auto moment = [&](int32_t number, const Buffer<float>& buffer) {
    require(moments_ >= number, MOEMESH_ERROR_NOT_FOUND, "this optimizer keeps {} moments, not {}", moments_, number);
    FlatView flat;
    flat.append(buffer.data(), end_ - begin_);
    return FlatQuantity{flat, begin_, end_};
  };
  switch (quantity) {
    case MOEMESH_VALUE:
    case MOEMESH_MASTER:
      return {family_->values(), 0, size};
    case MOEMESH_GRADIENT:
      return {family_->gradients(), 0, size};
    case MOEMESH_MOMENT1:
      return moment(1, moment1_);
    case MOEMESH_MOMENT2:
      return moment(2, moment2_);
    default:
      fail(MOEMESH_ERROR_INVALID_ARGUMENT, "quantity: expected 1..5, got {}", quantity);
  }
}

moemesh_optimizer_bytes FamilyState::bytes() const {
  const int64_t elements = family_->values().size();
  const int64_t width = family_->group().size();
  const int64_t state = int64_t{4} * moments_;  // bytes an element
  moemesh_optimizer_bytes bytes{};
  bytes.elements = elements;
  bytes.shard_width = width;
  bytes.planned = elements * 8 + (stage_ == 0 ? elements * state : (elements * state + width - 1) / width);
  bytes.parameters = elements * 4;
  bytes.gradients = elements * 4;
  bytes.moments = moment1_.bytes() + moment2_.bytes();
  bytes.actual = bytes.parameters + bytes.gradients + bytes.masters + bytes.moments;
  return bytes;
}

}  // namespace moemesh
