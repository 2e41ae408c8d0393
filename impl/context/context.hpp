// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "impl/base/log.hpp"
#include "impl/base/memory.hpp"
#include "impl/comm/communicator.hpp"
#include "impl/comm/device_group.hpp"
#include "impl/timeline/clock.hpp"
#include "moemesh.h"

namespace moemesh {

// One communicator with its allocator, log and deadline. The process-wide runtimes (Kokkos, MPI) are adopted or started by
// the first context and outlive it.
class Context {
 public:
  explicit Context(const moemesh_context_params& params);  // collective
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Communicator& world() { return *world_; }
  // The devices of its ranks; null where messages go through the host's memory. Collective in the first call.
  DeviceWorld* devices();
  bool between_devices() const { return devices_ != nullptr; }
  int64_t rank() const { return world_->rank(); }
  const Logger& log() const { return log_; }
  const std::shared_ptr<const Allocator>& allocator() const { return link_->allocator; }
  Link& link() { return *link_; }
  int32_t comm_kind() const { return comm_kind_; }
  int32_t progress() const { return link_->progress.threaded() ? MOEMESH_PROGRESS_THREAD : MOEMESH_PROGRESS_CALLS; }
  bool finalized() const { return finalized_; }
  const timeline::Clock& clock() const { return clock_; }

  // Throws if a wait timed out, the transport failed, or finalize was called.
  void require_usable() const;
  void finalize();  // collective

  int64_t open_meshes = 0;  // meshes that still own communicators
  std::string last_error;

 private:
  void open(const moemesh_context_params& params);
  void close();

  std::shared_ptr<Link> link_;
  std::unique_ptr<Communicator> world_;
  std::unique_ptr<DeviceWorld> devices_;
  Logger log_;
  timeline::Clock clock_;
  int32_t comm_kind_ = MOEMESH_COMM_NONE;
  bool finalized_ = false;
};

// Finalizes the runtimes that the library started; throws while contexts are alive.
void shutdown_runtimes();

}  // namespace moemesh
