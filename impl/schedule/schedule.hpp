// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

namespace moemesh {

// The order in which one stage of a pipeline runs its microbatches, as pure integers in constant time: what comes at each
// place, for any number of microbatches, also fewer than stages.
//
// 1F1B (Narayanan et al. 2019): as many forwards as stages come after this one, then one forward and one backward in turn,
// then the backwards that are left. GPipe (Huang et al. 2019): all forwards, then all backwards. Both take microbatches in
// ascending order in either direction.
struct Schedule {
  enum Kind : int32_t { one_forward_one_backward, all_forward_all_backward };
  struct Action {
    bool forward;
    int64_t microbatch;
    bool operator==(const Action&) const = default;
  };

  Kind kind = one_forward_one_backward;
  int64_t stages = 1;
  int64_t stage = 0;
  int64_t microbatches = 1;
  bool training = true;  // false: forwards alone

  int64_t size() const { return training ? 2 * microbatches : microbatches; }
  int64_t warmup() const;              // forwards before the first pair
  Action action(int64_t place) const;  // place: 0 .. size()-1
};

}  // namespace moemesh
