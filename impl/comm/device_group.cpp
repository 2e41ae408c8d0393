// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/device_group.hpp"

#ifdef MOEMESH_HAVE_NCCL
#include "impl/comm/nccl/nccl_group.hpp"
#endif

namespace moemesh {

std::unique_ptr<DeviceWorld> open_device_world(Communicator& world, std::shared_ptr<Link> link) {
#ifdef MOEMESH_HAVE_NCCL
  if (world.size() > 1) return NcclWorld::over(world, std::move(link));
#else
  (void)world;
  (void)link;
#endif
  return nullptr;
}

}  // namespace moemesh
