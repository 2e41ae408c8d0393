// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <chrono>
#include <cstdint>

#include "moemesh.h"

namespace moemesh::timeline {

// The context's clock, in nanoseconds: the caller's function, or the system's steady clock.
struct Clock {
  moemesh_clock_function function = nullptr;
  void* user = nullptr;

  int64_t now() const {
    if (function) return function(user);
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  }
};

}  // namespace moemesh::timeline
