// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "impl/comm/communicator.hpp"

namespace moemesh {

// What is added to the scores of one layer's experts where they are selected, and what its tokens chose in the open step.
class SelectionBias {
 public:
  // rate 0: the bias never moves.
  SelectionBias(std::string name, int64_t experts, double rate, const std::shared_ptr<const Allocator>& allocator);

  const std::string& name() const { return name_; }
  int64_t experts() const { return static_cast<int64_t>(counts_.size()); }
  // [experts]; null where nothing is added: selection by the score alone.
  const float* values() const { return in_use_ ? values_.data() : nullptr; }
  std::span<const float> all() const { return {values_.data(), counts_.size()}; }  // zeros there
  void set(const float* values);

  void begin(int32_t microbatches);  // of a step: nothing is counted yet
  // rows [experts]: choices before any drop. A microbatch counts once.
  void count(int32_t microbatch, std::span<const int64_t> rows);
  std::span<const int64_t> counts() const { return counts_; }
  // totals [experts]: the counts of all data shards. An expert above their mean falls, one below it rises.
  void move(std::span<const int64_t> totals);

 private:
  std::string name_;
  float rate_;
  bool in_use_;
  SharedBuffer<float> values_;
  std::vector<int64_t> counts_;
  std::vector<uint8_t> counted_;  // of each microbatch: it was
};

// Those of a stage's layers that move, by name.
class SelectionBiases {
 public:
  // A layer that is destroyed leaves its bias here: whether others have destroyed theirs is not known.
  void add(std::shared_ptr<SelectionBias> bias);
  void begin(int32_t microbatches);
  // Takes the memory of update. Local: a rank that runs out of it can still tell the others.
  void reserve(Communicator& shards);
  // Adds up what was counted and moves all biases. Collective over the data shards, where there is a bias.
  void update(Communicator& shards);

 private:
  int64_t experts() const;

  std::vector<std::shared_ptr<SelectionBias>> biases_;
  std::vector<int64_t> totals_;  // of all experts of all layers
};

}  // namespace moemesh
