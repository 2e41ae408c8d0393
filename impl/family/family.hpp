// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "impl/context/mesh.hpp"
#include "impl/family/buckets.hpp"
#include "impl/family/flat_view.hpp"
#include "impl/family/selection_bias.hpp"
#include "impl/family/step_state.hpp"
#include "kernels/flat.hpp"
#include "moemesh.h"

namespace moemesh {

class Family;
class FamilyState;
class Gradients;

// One registered parameter. For EXPERT a stack over this rank's experts.
struct Parameter {
  Family* family = nullptr;
  std::string name;
  moemesh_parameter_params params{};  // as registered, name and pointers not to be used
  std::vector<int64_t> extents;       // unsplit, of one expert
  ExpertRange experts;                // here; {0, 1} for SHARED
  kernels::Slice slice;               // of one expert's matrix: what this rank's tp coordinate has
  int32_t dtype = MOEMESH_FLOAT32;    // of the values
  std::byte* data = nullptr;          // [experts.count, local matrix]
  float* gradient = nullptr;          // fp32 always; null without an optimizer, and at stage 2 where it is not in use
  bool borrowed_data = false;
  float* lent_gradient = nullptr;  // the caller's array for it
  bool tied = false;               // over the first and the last stage, which are two
  size_t bucket = 0;               // of Family::buckets
  int64_t offset = 0;              // first element in the family's flat order
  int32_t ready = 0;               // microbatches of the open step whose gradient is in
  int32_t acquired = 0;            // acquires without their release
  uintptr_t handle = 0;            // of the C API, once it was asked for

  float* values() const;   // FLOAT32 only
  uint16_t* bits() const;  // BFLOAT16 only
  int64_t element_bytes() const { return dtype == MOEMESH_BFLOAT16 ? 2 : 4; }
  int64_t local_matrix() const { return slice.outer * slice.local * slice.inner; }
  int64_t unsplit_matrix() const { return slice.outer * slice.dim * slice.inner; }
  int64_t elements() const { return experts.count * local_matrix(); }
  Recycled<int64_t> local_shape() const;
};

// What a family's parameters are checked against.
struct FamilyKind {
  bool shared;
  int64_t tp_size;
  int32_t dtype;
};
// Throws where parameter_register would refuse them.
void check_parameter(const FamilyKind& family, const moemesh_parameter_params& params);

// Parameters that are replicated over the same ranks.
class Family {
 public:
  static std::shared_ptr<Family> create(std::shared_ptr<Mesh> mesh, const moemesh_family_params& params,
                                        const Finding& problem);  // collective
  Family(std::shared_ptr<Mesh> mesh, const moemesh_family_params& params) : mesh_(std::move(mesh)), params_(params) {}

  // Before commit, local. Throws without a change.
  Parameter& add(const moemesh_parameter_params& params);
  void commit();  // collective
  Parameter* find(const std::string& name) const;

  Mesh& mesh() const { return *mesh_; }
  const std::shared_ptr<Mesh>& mesh_pointer() const { return mesh_; }
  int32_t kind() const { return params_.kind; }
  int32_t dtype() const { return params_.dtype; }  // of the values
  bool shared() const { return params_.kind == MOEMESH_SHARED; }
  bool committed() const { return committed_; }
  const std::vector<std::unique_ptr<Parameter>>& parameters() const { return parameters_; }  // by name once committed

  // The group that the family's gradients are summed over and its optimizer state is sharded over.
  Communicator& group() const;
  // The tensor-parallel axis of the family.
  int32_t tp_axis() const { return shared() ? MOEMESH_AXIS_TP : MOEMESH_AXIS_EXPERT_TP; }
  int64_t tp_size() const { return mesh_->layout().axis_size(tp_axis()); }
  int64_t tp_coordinate() const { return shared() ? mesh_->here().tp : mesh_->here().expert_tp; }

  // What of the values lies in the library's memory.
  std::span<std::byte> own_values() const { return {own_data_.data(), static_cast<size_t>(own_data_.size())}; }
  const FlatView& values() const { return values_; }
  // The runs of the flat order that are reduced and sharded one by one.
  const std::vector<Shards>& buckets() const { return buckets_.shards; }
  BucketKind bucket_kind(size_t bucket) const { return buckets_.kinds[bucket]; }
  const Shards& bucket_of(const Parameter& parameter) const { return buckets()[parameter.bucket]; }
  void cut_buckets(int64_t bucket_bytes);  // of fp32 gradients, see buckets.hpp; before there is state of an optimizer
  // The one that holds the tied parameters, so that both their stages cut them alike; null without any.
  const size_t* tied_bucket() const { return has_tied_ ? &tied_bucket_ : nullptr; }
  // fp32 initial values of expert number `index` here, as the library makes them; `out` has one local matrix.
  void initial_values(const Parameter& parameter, int64_t index, float* out) const;

  void require_committed() const;
  // Makes parameter.gradient an array that may be added to: before the first addition of a microbatch. Nothing to do at
  // stages 0 and 1; at stage 2 it may throw OUT_OF_MEMORY. Local.
  void open_gradient(Parameter& parameter);
  // Waits until the parameter's values are here, where the optimizer still gathers them.
  void require_values(const Parameter& parameter) const;
  void require_all_values() const;
  // `problem`: what was found wrong with the call's arguments before.
  void gradient_ready(Parameter& parameter, const moemesh_view* gradient, const Finding& problem = {});
  void zero_gradients();

  // Of the optimizer that the family belongs to; null without one.
  std::shared_ptr<StepState> step;
  FamilyState* state = nullptr;
  SelectionBiases biases;  // EXPERT: of the layers whose experts are here
  int32_t layers = 0;      // EXPERT: how many these are
  std::shared_ptr<Gradients> gradients;

 private:
  void order();
  BucketItem item_of(const Parameter& parameter) const;
  void check_stages_of_tied() const;
  void compare_ends(const Finding& finding) const;
  void allocate();
  void initialize(Parameter& parameter) const;
  uint64_t key_of(const Parameter& parameter, int64_t index) const;
  void add_in(Parameter& parameter, const moemesh_view* gradient);
  void add_from_host(const Parameter& parameter, const moemesh_view& gradient) const;
  void sum_now(Parameter& parameter);

  std::shared_ptr<Mesh> mesh_;
  moemesh_family_params params_;
  std::vector<std::unique_ptr<Parameter>> parameters_;
  LastingBuffer<std::byte> own_data_;
  FlatView values_;
  Buckets buckets_;
  size_t tied_bucket_ = 0;
  bool has_tied_ = false;
  bool committed_ = false;
};

}  // namespace moemesh
