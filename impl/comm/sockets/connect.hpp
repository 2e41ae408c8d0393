// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Every rank is connected with every other one at the start, by one socket, the higher rank coming to the lower one. So there is
// nothing to set up later, a rank that goes away is seen by all, and the listening socket is there for a moment only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "impl/comm/sockets/address.hpp"

namespace moemesh::sockets {

// Known to the ranks alone: who connects without it is sent away.
using Secret = std::array<std::byte, 32>;
Secret random_secret();

// What every rank must know of every other one.
struct Peer {
  Address address;
  int32_t reserved = 0;
  uint64_t host = 0;  // equal: they share memory
};
// Of this host: its boot and its name, as NCCL tells hosts apart, so containers of different names are different hosts.
uint64_t host_identity();

// Whether this process may have that many connections; throws ERROR_COMMUNICATION with the limit's name.
void check_descriptors(int64_t ranks);

// The connections by rank, none at the own one; nothing is under way in them. Collective over all ranks: a rank that can't
// go on throws, and its end is seen by the others. seconds: the deadline.
std::vector<Descriptor> connect_all(Listener& listener, int64_t rank, std::span<const Peer> peers, const Secret& secret,
                                    double seconds);

}  // namespace moemesh::sockets
