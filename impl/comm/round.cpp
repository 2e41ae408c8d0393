// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/round.hpp"

#include <algorithm>

namespace moemesh {

Communicator::Round::Round(Communicator& owner, std::span<const int64_t> words, const Purpose& purpose)
    : owner_(owner),
      count_(static_cast<int64_t>(words.size())),
      all_(words.size() * static_cast<size_t>(owner.size_)),
      mine_(words.begin(), words.end()),
      batch_(owner, purpose) {
  owner_.begin(purpose);
  owner_.for_each_peer([&](int64_t peer) { batch_.send(mine_.data(), count_ * 8, peer); });
}

std::span<const int64_t> Communicator::Round::all() {
  std::copy(mine_.begin(), mine_.end(), all_.begin() + owner_.rank_ * count_);
  owner_.for_each_peer([&](int64_t peer) { batch_.receive(all_.data() + peer * count_, count_ * 8, peer); });
  if (batch_.wait()) owner_.disagree("a round of headers");
  return all_;
}

}  // namespace moemesh
