// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "impl/context/mesh.hpp"
#include "impl/timeline/span.hpp"

namespace moemesh::timeline {

// In each call that ends a step, also one that throws: all ranks count the same steps.
class StepEnd {
 public:
  explicit StepEnd(Mesh& mesh) : mesh_(mesh) {}
  StepEnd(const StepEnd&) = delete;
  StepEnd& operator=(const StepEnd&) = delete;
  ~StepEnd() {
    if (mesh_.recorder()) mesh_.recorder()->end_step();
  }
  // Where the call went well on every rank.
  void align() {
    Recorder* const recorder = mesh_.recorder();
    if (recorder)
      recorder->align(mesh_.group(MOEMESH_GROUP_WORLD), recorder->params().step_pings, MOEMESH_PHASE_UPDATE);
  }

 private:
  Mesh& mesh_;
};

}  // namespace moemesh::timeline
