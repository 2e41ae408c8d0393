// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "impl/comm/transport.h"

namespace moemesh {

// The MPI module's table; opens the module on the first use and keeps it for the life of the process. Looked for at
// MOEMESH_MPI_MODULE (a path) if that is set, else in the folder of this library, else by its plain name.
// Throws MOEMESH_ERROR_MPI_UNAVAILABLE with the loader's text. Any thread.
const moemesh_transport& mpi_transport();

}  // namespace moemesh
