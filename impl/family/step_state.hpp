// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "impl/base/error.hpp"
#include "impl/base/recycled.hpp"
#include "moemesh.h"

namespace moemesh {

class Fabric;
class Rounds;

// The open step of an optimizer, as its families and their layers see it.
struct StepState {
  bool open = false;
  int64_t serial = 0;  // grows with every step_begin: a tape belongs to one step
  int32_t microbatches = 1;
  int32_t objective = MOEMESH_SHARD_MEAN;
  double loss_scale = 1;
  Recycled<int64_t> loss_tokens;   // of each microbatch; -1 = not reported
  Finding failure;                 // the first failure of this rank in this step; told to all at the step's end
  std::shared_ptr<Rounds> rounds;  // of the families at stage 2; null without any
  std::shared_ptr<Fabric> fabric;
  int64_t actions_left = 0;        // of the pipeline run that was begun in this step: its gradients are not all in
  int64_t failed_layer_calls = 0;  // they come back as errors on all ranks of a block, so these have equal numbers

  void fail(const Finding& finding);
};

}  // namespace moemesh
