// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/nccl_world.hpp"

#include "impl/base/error.hpp"

#ifdef MOEMESH_HAVE_NCCL
#include "impl/comm/nccl/bootstrap.hpp"
#include "impl/comm/nccl/nccl_group.hpp"
#endif

namespace moemesh {

#ifdef MOEMESH_HAVE_NCCL

NcclFacts nccl_facts() {
  int version = 0;
  (void)ncclGetVersion(&version);
  return {version, reinterpret_cast<const void*>(&ncclGetVersion)};
}

void require_nccl() {}

WorldOfId open_nccl_world(std::shared_ptr<Link> link, const moemesh_nccl_comm& comm) {
  Bootstrapped made = bootstrap(link, comm);
  return {std::move(made.control), std::make_unique<NcclWorld>(std::move(link), std::move(made.nccl))};
}

#else

NcclFacts nccl_facts() { return {}; }

void require_nccl() {
  fail(MOEMESH_ERROR_NOT_SUPPORTED, "comm.kind: MOEMESH_COMM_NCCL: this library was built without NCCL");
}

WorldOfId open_nccl_world(std::shared_ptr<Link>, const moemesh_nccl_comm&) {
  require_nccl();
  return {};
}

#endif

}  // namespace moemesh
