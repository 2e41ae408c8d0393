// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "impl/family/family.hpp"
#include "impl/family/gradients.hpp"
#include "impl/family/whole.hpp"
#include "moemesh.h"

namespace moemesh {

// Optimizer state of one family: of the owned shards (stages 1 and 2) or of everything (stage 0). Masters are those of bf16
// parameters: fp32 ones are their own.
class FamilyState {
 public:
  FamilyState(std::shared_ptr<Family> family, int32_t stage, const moemesh_optimizer_params& params);
  ~FamilyState();
  FamilyState(const FamilyState&) = delete;
  FamilyState& operator=(const FamilyState&) = delete;

  void attach(const std::shared_ptr<StepState>& step);  // the family belongs to this state from now on

  Family& family() const { return *family_; }
  const std::shared_ptr<Family>& family_pointer() const { return family_; }
  int32_t stage() const { return stage_; }
  const std::shared_ptr<Gradients>& gradients() const { return gradients_; }

  // fp64 sum of squares of the reduced gradient over the owned elements that no other rank counts.
  double sum_squares() const;
  void update(const moemesh_optimizer_params& params, double learning_rate, float coefficient, int64_t step);
  FlatQuantity quantity(const Parameter& parameter, int32_t quantity) const;  // throws NOT_FOUND
  void refresh_masters();                                                     // from values that were written
  moemesh_optimizer_bytes bytes() const;

 private:
  // The elements of one bucket of the family whose state is here.
  struct Held {
    int64_t begin = 0, end = 0;
    Buffer<float> master, moment1, moment2;
  };
  bool has_masters() const { return family_->dtype() == MOEMESH_BFLOAT16; }
  void hold(const Shards& shards);
  void make_masters(const Held& held, Buffer<float>& scratch);
  // f(parameter, first family element, count) for the pieces of parameters in [begin, end).
  template <class F>
  void for_each_piece(int64_t begin, int64_t end, F&& f) const;
  // The same for what sum_squares is over.
  template <class F>
  void for_each_counted(F&& f) const;
  void reserve_squares();

  std::shared_ptr<Family> family_;
  int32_t stage_;
  int32_t moments_ = 0;     // kept: AdamW 2, SGD with momentum 1, else 0
  std::vector<Held> held_;  // of each bucket
  std::shared_ptr<Gradients> gradients_;
  SharedBuffer<double> squares_;  // of sum_squares
  Buffer<double> squares_workspace_;
  bool attached_ = false;
};

inline constexpr int64_t step_fields = 6;  // that the ranks compare at a step's end

// Throw where optimizer_create would refuse them.
void check_stages(int32_t shared, int32_t expert);
void check_overlap(int32_t overlap, int64_t bucket_bytes, int64_t chunk_bytes);

// The training step of up to two families: zero, accumulate, agree, reduce, norm, clip, update.
class Optimizer {
 public:
  static std::shared_ptr<Optimizer> create(std::shared_ptr<Mesh> mesh, std::shared_ptr<Family> shared,
                                           std::shared_ptr<Family> expert, const moemesh_optimizer_params& params,
                                           const Finding& problem);  // collective
  Optimizer(std::shared_ptr<Mesh> mesh, const moemesh_optimizer_params& params);
  ~Optimizer();

  Mesh& mesh() const { return *mesh_; }
  void begin(const moemesh_step_params& params);
  void loss_tokens(int32_t microbatch, int64_t tokens);
  // Collective. `problem`: what was found wrong with this rank's arguments. A negative rate is the optimizer's own.
  moemesh_update_result update(double learning_rate, const Finding& problem);
  void end(bool reduce, const Finding& problem);

  FamilyState& state(int32_t family_kind);  // throws NOT_FOUND
  int64_t steps = 0;
  int64_t skips = 0;
  bool step_open() const { return step_->open; }

 private:
  void open_rounds();  // where a family is at stage 2; collective
  void make_fabric();
  struct Agreement {
    int64_t tokens = 0;
  };
  Agreement agree(int32_t intent, double learning_rate,
                  const Finding& problem);  // closes the step; throws the agreed failure
  float factor(int64_t tokens) const;
  void finish_early();
  void reduce(const Agreement& agreement);
  double norm() const;
  void update_families(double rate, float coefficient);

  std::shared_ptr<Mesh> mesh_;
  moemesh_optimizer_params params_;
  std::vector<std::unique_ptr<FamilyState>> states_;
  std::shared_ptr<StepState> step_ = std::make_shared<StepState>();
};

}  // namespace moemesh
