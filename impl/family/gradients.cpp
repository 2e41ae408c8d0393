// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/gradients.hpp"

#include <algorithm>
#include <utility>

#include "impl/base/error.hpp"
#include "kernels/flat.hpp"

namespace moemesh {

Gradients::Gradients(const Family& family, int32_t stage) : family_(family), stage_(stage) {
  const auto& allocator = family.mesh().allocator();
  if (sharded()) {
    for (const auto& parameter : family.parameters())
      require(parameter->lent_gradient == nullptr, MOEMESH_ERROR_NOT_SUPPORTED,
              "{}: stage 2 takes no borrowed gradients", parameter->name);
    const int64_t owner = family.group().rank();
    for (const Shards& shards : family.buckets())
      shards_.emplace_back(allocator, shards.end(owner) - shards.begin(owner));
    return;
  }
  int64_t elements = 0;
  for (const auto& parameter : family.parameters())
    if (!parameter->lent_gradient) elements += parameter->elements();
  own_ = LastingBuffer<float>(allocator, elements);
  float* next = own_.data();
  for (const auto& parameter : family.parameters()) {
    const int64_t n = parameter->elements();
    whole_.append(parameter->lent_gradient ? parameter->lent_gradient : std::exchange(next, next + n), n);
  }
}

void Gradients::attach() {
  if (!sharded())
    for (const auto& parameter : family_.parameters())
      whole_.for_each(parameter->offset, parameter->offset + parameter->elements(),
                      [&](std::byte* data, int64_t, int64_t) { parameter->gradient = reinterpret_cast<float*>(data); });
  zero();
}

void Gradients::detach() {
  for (const auto& parameter : family_.parameters()) parameter->gradient = nullptr;
}

void Gradients::zero() {
  whole_.for_each(0, whole_.size(),
                  [](std::byte* data, int64_t, int64_t n) { kernels::zero(reinterpret_cast<float*>(data), n); });
  for (auto& shard : shards_) kernels::zero(shard.data(), shard.size());
  for (auto& [parameter, array] : lent_) kernels::zero(array.data(), parameter->elements());
}

// The smallest array that is large enough; if none is, the largest one makes room for a larger. So the arrays only grow, and
// after the first steps each request finds its own.
void Gradients::open(Parameter& parameter) {
  const int64_t n = parameter.elements();
  if (!sharded() || parameter.gradient || n == 0) return;
  const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  std::sort(spare_.begin(), spare_.end(), by_size);
  auto found = std::find_if(spare_.begin(), spare_.end(), [&](const auto& array) { return array.size() >= n; });
  if (found == spare_.end()) {
    lent_.reserve(family_.parameters().size());
    spare_.reserve(family_.parameters().size());
    if (!spare_.empty()) {
      spare_bytes_ -= spare_.back().bytes();
      spare_.pop_back();
    }
    spare_.emplace_back(family_.mesh().allocator(), n);
    spare_bytes_ += spare_.back().bytes();
    found = spare_.end() - 1;
  }
  kernels::zero(found->data(), n);
  parameter.gradient = found->data();
  lent_.emplace_back(&parameter, std::move(*found));
  spare_.erase(found);
}

void Gradients::close(Parameter& parameter) {
  const auto found =
      std::find_if(lent_.begin(), lent_.end(), [&](const auto& lent) { return lent.first == &parameter; });
  if (found == lent_.end()) return;
  spare_.push_back(std::move(found->second));
  lent_.erase(found);
  parameter.gradient = nullptr;
}

FlatView Gradients::shard(size_t bucket) const {
  FlatView flat;
  flat.append(shards_[bucket].data(), shards_[bucket].size());
  return flat;
}

float* Gradients::at(const Parameter& parameter, int64_t first) const {
  if (!sharded()) return parameter.gradient + (first - parameter.offset);
  const Shards& shards = family_.bucket_of(parameter);
  return shards_[parameter.bucket].data() + (first - shards.begin(family_.group().rank()));
}

int64_t Gradients::bytes() const {
  int64_t elements = whole_.size();
  for (const auto& shard : shards_) elements += shard.size();
  return elements * 4;
}

}  // namespace moemesh
