// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <mutex>

namespace moemesh {

// Held while Kokkos is started, stopped, or asked what state it is in.
std::mutex& runtime_mutex();

}  // namespace moemesh
