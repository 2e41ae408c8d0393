// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <memory>

#include "impl/comm/communicator.hpp"

namespace moemesh::test {

// The communicator that all tests share; tests that break theirs open their own.
Communicator& world();

// A communicator of its own over all ranks, with a deadline. Collective.
struct Own {
  std::shared_ptr<Link> link;
  std::unique_ptr<Communicator> world;
};
Own open_own(double timeout_seconds);

inline constexpr Purpose payload{
    .family = 0, .phase = MOEMESH_PHASE_FORWARD, .collective = MOEMESH_COLLECTIVE_ALL_TO_ALL};
inline constexpr Purpose reduction{
    .family = MOEMESH_SHARED, .phase = MOEMESH_PHASE_REDUCTION, .collective = MOEMESH_COLLECTIVE_ALL_REDUCE};

}  // namespace moemesh::test
