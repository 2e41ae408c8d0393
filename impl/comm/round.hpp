// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <span>

#include "impl/comm/batch.hpp"
#include "impl/comm/communicator.hpp"

namespace moemesh {

// Some words from every rank to every other, in two halves: the constructor sends and never waits, all() waits for the
// others'. On a communicator that is used for rounds alone a rank may be one round ahead with its first half.
class Communicator::Round : public RecycledObject {
 public:
  Round(Communicator& owner, std::span<const int64_t> words, const Purpose& purpose);
  // The words of rank r are at r * (number of words).
  std::span<const int64_t> all();

 private:
  Communicator& owner_;
  int64_t count_;
  Recycled<int64_t> all_, mine_;
  Batch batch_;
};

}  // namespace moemesh
