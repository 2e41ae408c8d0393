// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <memory>

#include "impl/comm/nccl/nccl_comm.hpp"
#include "impl/comm/nccl_world.hpp"

namespace moemesh {

struct Bootstrapped {
  std::unique_ptr<Communicator> control;
  std::unique_ptr<NcclComm> nccl;
};

// NCCL's communicator is made of the id first; by it the ranks tell each other where their sockets are, and then they connect.
// What a rank finds wrong with its sockets goes the same way, so that all throw it. See open_nccl_world.
Bootstrapped bootstrap(std::shared_ptr<Link> link, const moemesh_nccl_comm& comm);

}  // namespace moemesh
