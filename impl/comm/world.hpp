// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <memory>

#include "impl/comm/communicator.hpp"
#include "moemesh.h"

namespace moemesh {

// A context's communicator: one rank for MOEMESH_COMM_NONE, else a duplicate of `comm` with its node numbers, and
// link->transport set. Not for MOEMESH_COMM_NCCL: nccl_world.hpp. Collective over `comm`.
// initialize: starts MPI if it is not up; multiple: at MPI_THREAD_MULTIPLE if it can, else FUNNELED.
// Throws INVALID_ARGUMENT (kind), MPI_UNAVAILABLE, MPI_KIND, MPI_NOT_INITIALIZED, MPI_FINALIZED, MPI_THREAD_LEVEL,
// COMMUNICATION.
std::unique_ptr<Communicator> open_world(std::shared_ptr<Link> link, const moemesh_comm& comm, bool initialize,
                                         bool multiple = true);

// The rest of it, for any transport: `comm` is the transport's communicator over all ranks. Collective.
std::unique_ptr<Communicator> adopt_world(std::shared_ptr<Link> link, void* comm);

// Finalizes MPI if open_world initialized it and nobody has finalized it since. Collective over MPI's world.
void finalize_mpi_if_ours();

}  // namespace moemesh
