// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/flight.hpp"

namespace moemesh {

void Communicator::HostFlight::launch() {
  launched_ = true;
  Progress& progress = owner_.link_->progress;
  const std::lock_guard lock(progress.mutex());
  progress.add(this);
  progress.wake();
}

Communicator::HostFlight::~HostFlight() {
  if (!launched_) return;
  owner_.link_->progress.remove(this);
  if (watched_) owner_.link_->exchange_ended(place_);
}

// Locked all the time: this wait itself drives what the thread would.
bool Communicator::HostFlight::wait() {
  bool failed = false;
  {
    const std::lock_guard lock(owner_.link_->progress.mutex());
    owner_.link_->progress.check();
    owner_.link_->progress.remove(this);
    failed = batch_.wait();
  }
  launched_ = false;
  if (std::exchange(watched_, false)) owner_.link_->exchange_ended(place_);
  return failed;
}

}  // namespace moemesh
