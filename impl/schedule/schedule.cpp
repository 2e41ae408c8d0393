// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/schedule.hpp"

#include <algorithm>

namespace moemesh {

int64_t Schedule::warmup() const {
  const bool pairs = training && kind == one_forward_one_backward;
  return pairs ? std::min(microbatches, stages - stage - 1) : microbatches;
}

Schedule::Action Schedule::action(int64_t place) const {
  const int64_t before = warmup(), pairs = microbatches - before;
  if (place < before) return {true, place};
  if (place >= before + 2 * pairs) return {false, place - before - pairs};
  const int64_t pair = (place - before) / 2;
  return (place - before) % 2 == 0 ? Action{true, before + pair} : Action{false, pair};
}

}  // namespace moemesh
