// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>

#include "impl/report/description.hpp"
#include "impl/report/traffic.hpp"

namespace moemesh {

// What each rank of a mesh sends in training steps of a described model. Local arithmetic.
class Bill {
 public:
  Bill(std::shared_ptr<const Mesh> mesh, const moemesh_bill_params& params);

  const Mesh& mesh() const { return *mesh_; }
  // Without a change where they throw.
  void add_layer(int64_t stage, const moemesh_layer_params& params, const moemesh_bill_routing& routing);
  void add_parameter(int64_t stage, int32_t family, const moemesh_parameter_params& params);
  void set_pipeline(const moemesh_pipeline_params& params);
  // Of the rank that was asked for last they are kept.
  const Traffic::Entries& entries(int64_t rank);

 private:
  DescribedStage& stage(int64_t index);
  void check_stage(int64_t stage) const;
  void check_new(const DescribedStage& stage, int32_t family, const std::string& name) const;
  DescribedParameter describe(int32_t family, const moemesh_parameter_params& params) const;
  void check_tied() const;

  std::shared_ptr<const Mesh> mesh_;
  Description description_;
  int64_t rank_ = -1;  // that entries_ are of; -1: of none
  Traffic::Entries entries_;
};

}  // namespace moemesh
