// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "impl/family/family.hpp"
#include "impl/moe/tape.hpp"
#include "kernels/activation.hpp"
#include "kernels/router.hpp"
#include "moemesh.h"

namespace moemesh {

struct ForwardArguments {
  Rows<float> x, y, logits;  // logits.data null with the library's router
  const uint8_t* mask = nullptr;
  int64_t mask_stride = 1;
  bool training = true;
  int32_t microbatch = 0;
  int64_t sequences = 1;  // for AUX_SEQUENCE
  int32_t sequence_layout = MOEMESH_SEQUENCE_MAJOR;
};

struct BackwardArguments {
  Rows<float> dy, x, dx, dlogits;  // x as in forward unless handed in again
};

struct LayerStatistics {
  int64_t tokens = 0, rows = 0, copies_sent = 0, rows_received = 0, nonfinite_tokens = 0;
  int64_t dropped_rows = 0, slots = 0;
  double aux_loss = 0, z_loss = 0;
  std::vector<int64_t> rows_per_expert;           // [E], of this shard
  std::vector<int64_t> rows_received_per_expert;  // [E]
};

// An MoE layer. forward: decide (and drop) -> plan -> dispatch -> experts -> combine -> sum over tp. backward mirrors
// it.
// Each step is a file of this folder; this class holds what they share and keeps the order and the failure protocol.
class Layer {
 public:
  // Collective over the context; registers the parameters.
  static std::shared_ptr<Layer> create(std::shared_ptr<Mesh> mesh, std::shared_ptr<Family> shared,
                                       std::shared_ptr<Family> expert, const moemesh_layer_params& params,
                                       const Finding& problem);
  Layer(std::shared_ptr<Mesh> mesh, std::shared_ptr<Family> shared, std::shared_ptr<Family> expert,
        const moemesh_layer_params& params);

  // Collective over the ep x tp block. `problem`: what this rank found wrong with its arguments; it then takes part with
  // nothing and the call throws that. Returns the tape (null where not training).
  std::unique_ptr<Tape> forward(const ForwardArguments& arguments, Finding problem);
  // Takes the tape, unless there is nobody else in the block and a problem was found before anything was done.
  void backward(std::unique_ptr<Tape>& tape, const BackwardArguments& arguments, Finding problem);
  // Takes a tape back for reuse.
  void recycle(std::unique_ptr<Tape> tape) { spare_tapes_.push_back(std::move(tape)); }

  Mesh& mesh() const { return *mesh_; }
  const moemesh_layer_params& params() const { return params_; }
  bool needs_sequences() const { return params_.aux_coefficient > 0 && params_.aux_scope == MOEMESH_AUX_SEQUENCE; }
  bool caller_router() const { return params_.router == MOEMESH_ROUTER_CALLER; }
  const LayerStatistics& statistics() const { return statistics_; }
  void require_ready() const;  // families committed, mesh usable
  // May a training forward (or backward) of this microbatch run now? Throws otherwise.
  void require_step(int32_t microbatch) const;
  // May this tape be taken back now: is its step still open, and are gradients still wanted in it? Throws otherwise.
  void require_backward(const Tape& tape) const;
  bool alone() const;  // no other rank takes part in forward and backward

 private:
  friend class Block;

  void register_parameters();
  std::unique_ptr<Tape> fresh_tape();
  void record(const Tape& tape);

  // The pieces of forward and backward, in the order in which they run.
  void decide(const ForwardArguments& arguments, Tape& tape);
  void limit_to_capacity(Tape& tape);
  void measure_balance(const ForwardArguments& arguments, Tape& tape);
  void plan_source(Tape& tape);
  void index_received(Tape& tape);
  void experts_forward(Tape& tape, const float* const* copies, float* const* outputs);
  void experts_backward(Tape& tape, const float* const* copies, const float* const* gradients, float* const* outputs);
  void reserve_forward(Tape& tape);
  void reserve_backward(const Tape& tape);
  void shared_forward(Tape& tape, const Rows<float>& x, const Rows<float>& y);
  void shared_backward(Tape& tape, const Rows<float>& x, const Rows<float>& dy, const Rows<float>& dx);
  void router_backward(Tape& tape, const Rows<float>& x, const float* dgates, const Rows<float>& dx,
                       const Rows<float>& dlogits);
  void balance_backward(const Tape& tape, float* dlogits);
  void mark_ready();
  int64_t identity(const ForwardArguments& arguments) const;
  [[noreturn]] void raise(const Finding& finding, bool step_lost) const;

  kernels::RouterConfig router_config() const;
  bool balanced() const { return params_.aux_coefficient > 0 || params_.z_coefficient > 0; }
  kernels::Activation activation() const { return static_cast<kernels::Activation>(params_.activation); }
  bool gated() const { return kernels::is_gated(activation()); }
  int64_t local_ffn() const { return params_.ffn / mesh_->layout().sizes().expert_tp; }
  int64_t local_shared_ffn() const { return params_.shared_ffn / mesh_->layout().sizes().tp; }

  std::shared_ptr<Mesh> mesh_;
  std::shared_ptr<Family> shared_, expert_;
  moemesh_layer_params params_;
  std::string name_;
  Communicator& exchange_;  // the expert-parallel group
  Communicator& tp_;
  ExpertRange local_experts_;
  std::vector<int32_t> owner_;  // [E]: ep coordinate of each expert
  Parameter *router_ = nullptr, *w1_ = nullptr, *wg_ = nullptr, *w2_ = nullptr;
  Parameter *shared_w1_ = nullptr, *shared_wg_ = nullptr, *shared_w2_ = nullptr;
  std::vector<std::unique_ptr<Tape>> spare_tapes_;
  LayerStatistics statistics_;
};

}  // namespace moemesh
