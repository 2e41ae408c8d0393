// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "impl/comm/ledger.hpp"

namespace moemesh {

// What an operation is for within a step: set by whoever runs a layer, read when an operation of this thread starts.
struct Whereabouts {
  int32_t layer = -1;       // of the mesh's layers on this stage
  int32_t microbatch = -1;  // of the step
  int32_t chunk = 0;        // of the layer's tokens
};

// One operation as this rank saw it. Times are nanoseconds on the aligned clock.
struct Operation {
  Purpose purpose;
  int32_t axes = 0;
  Whereabouts place;
  int32_t exchange = -1;  // Exchange::place
  int64_t posted = 0;     // here
  int64_t ended = 0;      // all of its messages are through
  int64_t blocked = 0;    // the caller did nothing but wait for it
  int64_t latest = 0;     // when the latest of the peers posted it
  int64_t peer = -1;      // that peer's rank in the world; -1: no peer said when
  int64_t bytes = 0;      // sent

  void hear(int64_t rank, int64_t post) {
    if (peer >= 0 && post <= latest) return;
    latest = post;
    peer = rank;
  }
  // What was spent because a peer came late, of all that went by between posting and the end.
  int64_t wait() const {
    return peer < 0 ? 0 : std::clamp<int64_t>(latest - posted, 0, std::max(ended - posted, int64_t{0}));
  }
};

// Where operations go while a report records (impl/timeline/recorder.hpp). Any thread may call it.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual int64_t now() const = 0;
  virtual int64_t origin() const = 0;     // when the recording began
  virtual Whereabouts place() const = 0;  // of the calling thread
  virtual void keep(const Operation& operation) = 0;
};

}  // namespace moemesh
