// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "job.hpp"

namespace contention {

// Seconds of the recorded steps, mean over the ranks. NaN where the library keeps no timeline.
struct Operations {
  double exchanges;          // all-to-alls from the last rank's post to the end: what the network took
  double exchange_waits;     // for ranks that came late to one
  double exposed_reduction;  // reductions and parameter gathers: how long the program was blocked by them
};

// The library's timeline of some steps.
class Recording {
 public:
  explicit Recording(const Job& job);  // collective, as end
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();
  Operations end();

 private:
  [[maybe_unused]] const Job& job_;
#ifdef CONTENTION_HAS_REPORT
  moemesh_report report_ = nullptr;
#endif
};

}  // namespace contention
