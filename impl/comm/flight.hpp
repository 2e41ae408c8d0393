// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <mutex>

#include "impl/comm/batch.hpp"
#include "impl/comm/communicator.hpp"

namespace moemesh {

// An all-to-all under way, see Communicator::start_all_to_all. Its messages go on while the program computes. Destroyed
// without a wait() it gives them up, which is right only where the context is broken.
class Communicator::Flight : public RecycledObject {
 public:
  Flight() = default;
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  virtual ~Flight() = default;

  // Until everything is through, or, between devices, until what comes next into this thread's stream is behind it. True: a
  // peer failed. To be called once.
  [[nodiscard]] virtual bool wait() = 0;
};

class Communicator::HostFlight final : public Flight, public Background {
 public:
  HostFlight(Communicator& owner, const Purpose& purpose) : owner_(owner), batch_(owner, purpose) {}
  ~HostFlight() override;

  [[nodiscard]] bool wait() override;

  bool poll() override { return batch_.poll(); }
  bool busy() const override { return !batch_.idle(); }

 private:
  friend class Communicator;
  void launch();

  Communicator& owner_;
  Batch batch_;
  bool watched_ = false;  // of the exchanges that the link's watcher hears of
  ExchangePlace place_;
  bool launched_ = false;
};

}  // namespace moemesh
