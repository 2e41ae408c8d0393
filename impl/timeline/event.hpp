// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstdint>

#include "impl/comm/recording.hpp"

namespace moemesh::timeline {

// What went on. Those from count_exchange to caller are operations of a communicator.
enum class Kind : int32_t {
  none,
  route,
  shared_expert,
  experts,
  experts_backward,
  router_backward,
  update,
  count_exchange,
  dispatch,
  combine,
  combine_backward,
  dispatch_backward,
  tensor_forward,
  tensor_backward,
  step_agreement,
  gradients_ready,
  gradients,
  parameters,
  receive_forward,
  receive_backward,
  caller,
  mark,
  kinds
};

// A rank's tracks.
enum class Stream : int32_t { program, compute, exchange, reduction, pipeline, streams };

struct KindInfo {
  const char* name;
  Stream stream;
  int32_t report_class;  // moemesh_report_class; -1: no operation
  const char* colour;
};

const KindInfo& info(Kind kind);
const char* name_of(Stream stream);
Kind kind_of(const Operation& operation);

// One span or operation of one rank. Times are nanoseconds on the aligned clock.
struct Event {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t wait = 0;     // from begin on: for a peer that came late
  int64_t blocked = 0;  // the caller was
  int64_t bytes = 0;    // sent
  int32_t kind = 0;
  int32_t step = -1;   // -1: between steps
  int32_t peer = -1;   // waited for
  int32_t layer = -1;  // on this rank's stage
  int32_t microbatch = -1;
  int32_t chunk = 0;
  int32_t family = 0;
  int32_t axes = 0;
  int32_t mark = -1;  // index of the caller's name
  int32_t rows = 0;   // of experts
};
static_assert(sizeof(Event) == 80);

}  // namespace moemesh::timeline
