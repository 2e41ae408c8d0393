// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "moemesh.h"

namespace moemesh {

// A parameter as its registration tells it. Layers' matrices are parameters too.
struct DescribedParameter {
  std::string name;
  int64_t experts = 0;  // of the whole stack; 0 for SHARED
  int64_t matrix = 0;   // elements of one expert's that one tp coordinate has
  bool partial = false;
  bool tied = false;  // over two stages
};

struct DescribedLayer {
  moemesh_layer_params params{};      // its name and struct_size are not to be used
  std::vector<int64_t> copies, rows;  // [ranks of the stage, ep]; empty: to be expected
};

struct DescribedStage {
  std::vector<DescribedLayer> layers;
  std::vector<DescribedParameter> shared, expert;

  std::vector<DescribedParameter>& family(int32_t kind) { return kind == MOEMESH_SHARED ? shared : expert; }
  const std::vector<DescribedParameter>& family(int32_t kind) const { return kind == MOEMESH_SHARED ? shared : expert; }
};

struct Description {
  moemesh_bill_params params{};
  std::vector<DescribedStage> stages;
  std::optional<moemesh_pipeline_params> pipeline;
  bool has_family[3] = {};  // by kind: the optimizer has it

  int64_t zero_stage(int32_t kind) const { return kind == MOEMESH_SHARED ? params.shared_stage : params.expert_stage; }
  int32_t dtype(int32_t kind) const { return kind == MOEMESH_SHARED ? params.shared_dtype : params.expert_dtype; }
};

}  // namespace moemesh
