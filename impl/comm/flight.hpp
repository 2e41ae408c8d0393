// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <mutex>

#include "impl/comm/batch.hpp"
#include "impl/comm/communicator.hpp"

namespace moemesh {

// An all-to-all under way, see Communicator::start_all_to_all. Its messages go on while the program computes.
class Communicator::Flight : public Background, public RecycledObject {
 public:
  Flight(Communicator& owner, const Purpose& purpose) : owner_(owner), batch_(owner, purpose) {}
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  ~Flight();  // without a wait(): gives the messages up, which is right only where the context is broken

  // Until everything is through. True: a peer failed. To be called once.
  [[nodiscard]] bool wait();

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
