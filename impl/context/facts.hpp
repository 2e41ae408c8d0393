// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "moemesh.h"

namespace moemesh {

// What this library is and what it works with, in this process. Opens the MPI module, starts nothing. Any thread.
moemesh_runtime_info runtime_facts();

}  // namespace moemesh
