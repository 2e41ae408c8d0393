// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdlib>

#include "harness.hpp"
#include "moemesh_mpi.h"

namespace moemesh::test {

// An allocator whose n-th call fails.
struct Failing {
  int64_t calls = 0, fail_at = 0;
  static void* allocate(void* user, int64_t bytes, int64_t alignment) {
    auto& self = *static_cast<Failing*>(user);
    if (++self.calls == self.fail_at) return nullptr;
    return std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(bytes));
  }
  static void release(void*, void* pointer, int64_t) { std::free(pointer); }
};

inline moemesh_context_params failing_context(MPI_Comm comm, Failing* failing, double timeout_seconds) {
  auto params = with_defaults(moemesh_context_params_init);
  params.comm = moemesh_comm_from_mpi(comm);
  params.allocate = Failing::allocate;
  params.free = Failing::release;
  params.allocator_user = failing;
  params.threads = 1;
  params.timeout_seconds = timeout_seconds;
  return params;
}

}  // namespace moemesh::test
