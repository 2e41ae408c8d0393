// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The library's own messages without MPI: the transport table over TCP sockets. POSIX and Linux' epoll; no thread of its own.
#pragma once

#include <cstdint>
#include <span>

#include "impl/comm/communicator.hpp"
#include "impl/comm/sockets/connect.hpp"
#include "impl/comm/transport.h"

namespace moemesh::sockets {

const moemesh_transport& transport();

// Connects with all ranks of `peers`, sets the link's transport, and returns the table's communicator over all. Everything behind
// it lives as long as the link. Collective. Throws ERROR_COMMUNICATION, ERROR_TIMEOUT.
void* open(Link& link, Listener& listener, int64_t rank, std::span<const Peer> peers, const Secret& secret);

}  // namespace moemesh::sockets
