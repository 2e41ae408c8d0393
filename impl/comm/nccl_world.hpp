// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <memory>

#include "impl/comm/communicator.hpp"
#include "impl/comm/device_group.hpp"
#include "moemesh.h"

namespace moemesh {

// What ranks that share a ncclUniqueId and no MPI have in common.
struct WorldOfId {
  std::unique_ptr<Communicator> control;  // over sockets
  std::unique_ptr<DeviceWorld> devices;
};

// The NCCL in this process: its version as it counts, and an address within it; zeros without.
struct NcclFacts {
  int32_t version = 0;
  const void* code = nullptr;
};
NcclFacts nccl_facts();

// Throws NOT_SUPPORTED where this library was built without NCCL.
void require_nccl();

// Of what stands behind a moemesh_comm of MOEMESH_COMM_NCCL; on this process's device, which must have been chosen. Collective.
// What can't be told to the others, as a rank, a size or an id that makes no sense, is thrown before anybody is waited for:
// INVALID_ARGUMENT. Then INVALID_ARGUMENT (interfaces), COMMUNICATION, OUT_OF_MEMORY, TIMEOUT, MISMATCH.
WorldOfId open_nccl_world(std::shared_ptr<Link> link, const moemesh_nccl_comm& comm);

}  // namespace moemesh
