// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "impl/comm/sockets/transport.hpp"
#include "multi_internal/world.hpp"

namespace moemesh::test {

// Ranks are processes that the test program makes of itself; no MPI is near. They meet in memory that they share.
int64_t own_rank();
int64_t ranks();
void meet();  // all ranks

// What a rank needs to connect with the others, gathered over shared memory.
struct Met {
  sockets::Listener listener;
  std::vector<sockets::Peer> peers;
  sockets::Secret secret;
};
Met meet_to_connect();
std::vector<sockets::Peer> exchange(const sockets::Address& own);  // the addresses of all

// Each rank's body runs in a process of its own, which may end as it likes; collective. Returns this rank's exit status, or
// minus the signal that ended it; 1: an expectation failed.
int play(const std::function<void()>& body);

}  // namespace moemesh::test
