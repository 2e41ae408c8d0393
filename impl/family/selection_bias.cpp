// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/selection_bias.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "impl/base/error.hpp"

namespace moemesh {

SelectionBias::SelectionBias(std::string name, int64_t experts, double rate,
                             const std::shared_ptr<const Allocator>& allocator)
    : name_(std::move(name)),
      rate_(static_cast<float>(rate)),
      in_use_(rate > 0),
      values_(allocator, experts),
      counts_(static_cast<size_t>(experts), 0) {
  std::fill_n(values_.data(), experts, 0.0F);
}

void SelectionBias::set(const float* values) {
  kernels::finish();  // a router may be reading them
  std::copy_n(values, experts(), values_.data());
  in_use_ = true;
}

void SelectionBias::begin(int32_t microbatches) {
  counted_.assign(static_cast<size_t>(microbatches), 0);
  std::fill(counts_.begin(), counts_.end(), 0);
}

void SelectionBias::count(int32_t microbatch, std::span<const int64_t> rows) {
  if (std::exchange(counted_.at(static_cast<size_t>(microbatch)), uint8_t{1}) != 0) return;
  std::transform(counts_.begin(), counts_.end(), rows.begin(), counts_.begin(), std::plus<>());
}

void SelectionBias::move(std::span<const int64_t> totals) {
  using Wide = __int128;
  kernels::finish();
  const Wide all = std::accumulate(totals.begin(), totals.end(), Wide{0});
  for (int64_t e = 0; e < experts(); ++e) {
    const Wide below_mean = all - Wide{totals[static_cast<size_t>(e)]} * experts();
    if (below_mean != 0) values_[e] += below_mean > 0 ? rate_ : -rate_;
  }
}

void SelectionBiases::add(std::shared_ptr<SelectionBias> bias) {
  const auto later = [](const std::string& name, const auto& other) { return name < other->name(); };
  biases_.insert(std::upper_bound(biases_.begin(), biases_.end(), bias->name(), later), std::move(bias));
}

int64_t SelectionBiases::experts() const {
  int64_t sum = 0;
  for (const auto& bias : biases_) sum += bias->experts();
  return sum;
}

void SelectionBiases::begin(int32_t microbatches) {
  for (const auto& bias : biases_) bias->begin(microbatches);
}

void SelectionBiases::reserve(Communicator& shards) {
  totals_.resize(static_cast<size_t>(experts()));
  if (!biases_.empty()) shards.reserve_all_reduce(experts() * static_cast<int64_t>(sizeof(int64_t)));
}

void SelectionBiases::update(Communicator& shards) {
  if (biases_.empty()) return;
  auto next = totals_.begin();
  for (const auto& bias : biases_) next = std::copy(bias->counts().begin(), bias->counts().end(), next);
  const bool peer_failed = shards.all_reduce(totals_.data(), experts(), Communicator::Op::sum,
                                             {0, MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_ALL_REDUCE});
  require(!peer_failed, MOEMESH_ERROR_INTERNAL, "a rank left the sum of the choices of experts");
  std::span<const int64_t> totals = totals_;
  for (const auto& bias : biases_) {
    bias->move(totals.first(static_cast<size_t>(bias->experts())));
    totals = totals.subspan(static_cast<size_t>(bias->experts()));
  }
}

}  // namespace moemesh
