// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "impl/family/family.hpp"
#include "impl/moe/tape.hpp"
#include "kernels/activation.hpp"
#include "kernels/gemm.hpp"
#include "kernels/router.hpp"
#include "moemesh.h"

namespace moemesh {

class Block;
class Outcome;
class ExpertRows;
using Blocks = Recycled<Block>;

struct ForwardArguments {
  TypedRows x, y;
  Rows<float> logits;  // logits.data null with the library's router
  const uint8_t* mask = nullptr;
  int64_t mask_stride = 1;
  bool mask_on_host = false;
  bool training = true;
  int32_t microbatch = 0;
  int64_t sequences = 1;  // for AUX_SEQUENCE
  int32_t sequence_layout = MOEMESH_SEQUENCE_MAJOR;
  void* stream = nullptr;
};

struct BackwardArguments {
  TypedRows dy, x, dx;  // x as in forward unless handed in again
  Rows<float> dlogits;
  void* stream = nullptr;
};

struct ReplayArguments {
  TypedRows x, y;
  void* stream = nullptr;
};

struct LayerStatistics {
  int64_t tokens = 0, rows = 0, copies_sent = 0, rows_received = 0, nonfinite_tokens = 0;
  int64_t dropped_rows = 0, slots = 0;
  double aux_loss = 0, z_loss = 0;
  std::vector<int64_t> rows_per_expert;           // [E], of this shard
  std::vector<int64_t> rows_received_per_expert;  // [E]
};

// What the tapes of a layer take, by size of their arrays; reserved: memory for tapes, those kept for reuse included.
struct LayerMemory {
  int64_t tapes = 0, live = 0, peak = 0, reserved = 0;
};

// An output to the caller's array, unless it was made there.
void store_output(const Rows<float>& from, const TypedRows& to);
// Back to the caller's array what was made in a place for it (Layer::reachable).
void give_back(const TypedRows& from, const TypedRows& to);

// Throws where layer_create would refuse them on such a mesh, with families of these dtypes.
void check_layer(const moemesh_layer_params& params, const MeshLayout& layout, int32_t shared_dtype,
                 int32_t expert_dtype);

// A failure spreads within an exchange group, then over expert_tp, then over the slices. With one slice, or without ep, that is
// the whole block of the ranks that agree on pp and dp; else they tell each other, as the caller's own collectives may join
// them.
inline bool must_tell_block(int64_t ep, int64_t slices) { return slices > 1 && ep > 1; }

// An MoE layer. forward: decide (and drop) -> plan -> dispatch -> experts -> combine -> sum over tp. backward mirrors
// it.
// Each step is a file of this folder; this class holds what they share and keeps the order and the failure protocol.
class Layer {
 public:
  // Collective over the stage: other stages have other layers. Registers the parameters.
  static std::shared_ptr<Layer> create(std::shared_ptr<Mesh> mesh, std::shared_ptr<Family> shared,
                                       std::shared_ptr<Family> expert, const moemesh_layer_params& params,
                                       const Finding& problem);
  // What is allocated where running out of memory can still be told.
  struct Arrays {
    SharedBuffer<int32_t> owner;
    std::shared_ptr<SelectionBias> bias;
  };
  Layer(std::shared_ptr<Mesh> mesh, std::shared_ptr<Family> shared, std::shared_ptr<Family> expert,
        const moemesh_layer_params& params, Arrays arrays);

  // Collective over the ep x tp block. `problem`: what this rank found wrong with its arguments; it then takes part with
  // nothing and the call throws that. Returns the tape (null where not training).
  std::unique_ptr<Tape> forward(const ForwardArguments& arguments, Finding problem);
  // Takes the tape, unless there is nobody else in the block and a problem was found before anything was done.
  void backward(std::unique_ptr<Tape>& tape, const BackwardArguments& arguments, Finding problem);
  // A forward again with the decision on the tape, which then holds all that a backward wants. Takes the tape where it fails,
  // but for a problem found before anything was done where there is nobody else in the block.
  void replay(std::unique_ptr<Tape>& tape, const ReplayArguments& arguments, Finding problem);
  // Takes a tape back for reuse.
  void recycle(std::unique_ptr<Tape> tape);

  Mesh& mesh() const { return *mesh_; }
  const moemesh_layer_params& params() const { return params_; }
  int32_t dtype() const { return expert_->dtype(); }  // of x, y, dy, dx
  bool needs_sequences() const { return params_.aux_coefficient > 0 && params_.aux_scope == MOEMESH_AUX_SEQUENCE; }
  bool caller_router() const { return params_.router == MOEMESH_ROUTER_CALLER; }
  const LayerStatistics& statistics() const { return statistics_; }
  LayerMemory memory() const;
  // What a tape takes, and what one will take with `load` if it keeps what `recompute` says.
  static moemesh_tape_bytes bytes_of(const Tape& tape);
  moemesh_tape_bytes plan_bytes(const moemesh_layer_load& load, int32_t recompute) const;
  // The load of this rank where each token's experts are drawn evenly, rounded to nearest.
  moemesh_layer_load balanced_load(int64_t tokens) const;
  void require_ready() const;  // families committed, mesh usable
  // May a training forward (or backward) of this microbatch run now? Throws otherwise.
  void require_step(int32_t microbatch) const;
  // May this tape be taken back now: is its step still open, and are gradients still wanted in it? Throws otherwise.
  void require_backward(const Tape& tape) const;
  bool step_open() const { return expert_->step && expert_->step->open; }
  SelectionBias& bias() const { return *bias_; }
  bool alone() const;  // no other rank takes part in forward and backward

 private:
  friend class Block;

  void register_parameters();
  std::unique_ptr<Tape> fresh_tape();
  void record(const Tape& tape);

  // What recompute keeps on a tape, and what it makes again. Kept arrays come from pools and go back to them.
  bool keeps_copies() const { return params_.recompute != MOEMESH_RECOMPUTE_FULL; }
  bool keeps_hidden() const { return params_.recompute == MOEMESH_RECOMPUTE_NONE; }
  void take_kept(Tape& tape, bool copies, bool hidden);
  void drop_kept(Tape& tape);
  void count_bytes_of(Tape& tape);
  void count_no_more(Tape& tape);

  // The pieces of forward and backward, in the order in which they run. tagged: with the rows' experts and gates, which a
  // later run knows.
  Blocks blocks_of(Tape& tape, Outcome& outcome);
  Rows<float> output_rows(const TypedRows& y);
  // The caller's rows where kernels reach them: a copy, or a place for an output, where they lie in the host's memory.
  TypedRows reachable(Workspace::Slot slot, const TypedRows& rows);
  TypedRows reachable_copy(Workspace::Slot slot, const TypedRows& rows);
  void exchange_counts(Outcome& outcome, Tape& tape, int64_t identity);
  void meet_again(Outcome& outcome, const Tape& tape, int32_t phase);
  template <class Write, class Read>
  void meet(Outcome& outcome, int64_t identity, int32_t phase, int64_t chunks, Write&& write, Read&& read);
  void number(Tape& tape);
  void route_forward(Outcome& outcome, Tape& tape, const TypedRows& x, const Rows<float>& y, int32_t phase,
                     bool tagged);
  void part_forward(Outcome& outcome, Tape& tape, Block& block, size_t part, const TypedRows& x, int32_t phase,
                    bool tagged);
  void finish_forward(Outcome& outcome, Tape& tape, int64_t tokens, const Rows<float>& y, int32_t phase);
  void decide(const ForwardArguments& arguments, const TypedRows& x, Tape& tape);
  float* over_tp(Workspace::Slot slot, int64_t count);  // what may be summed or gathered over tp
  void limit_to_capacity(Tape& tape);
  void measure_balance(const ForwardArguments& arguments, Tape& tape);
  void plan_parts(Tape& tape);
  void plan_source(const Tape& tape, Part& part);
  void index_received(Part& part);
  void experts_forward(Tape& tape, size_t part, const std::byte* const* copies, std::byte* const* outputs);
  void experts_backward(Tape& tape, size_t part, const std::byte* const* copies, const std::byte* const* gradients,
                        std::byte* const* outputs);
  // Rows of one part in backward. Of several parts all of it stays until the weight gradients are made.
  struct BackwardRows {
    kernels::Array x, dy, dx;         // [rows, H]
    kernels::Array dh, dhg, gated_a;  // [rows, F]
    bool together = false;            // of all experts and parts, else of one product's experts at a time
    BackwardRows from(int64_t row, int64_t hidden, int64_t ffn) const;
  };
  BackwardRows backward_rows(const Tape& tape, size_t part);
  void expert_backward(Tape& tape, size_t part, const ExpertRows& experts, const BackwardRows& rows, float* dgate);
  void expert_weight_gradients(const ExpertRows& experts, const BackwardRows& rows);
  struct HiddenRows {
    kernels::Array h, gate;
  };
  HiddenRows hidden_rows(Tape& tape, size_t part, const ExpertRows& experts);
  HiddenRows hidden_again(int64_t rows, int64_t ffn);
  void hidden_products(const ExpertRows& experts, const kernels::ConstArray& x, const HiddenRows& hidden);
  void reserve_hidden(Tape& tape, size_t part);
  kernels::RowProducts row_products();
  void reserve_merge(const Tape& tape);
  void merged_weight_gradients(const Tape& tape);
  const int64_t* merged_order(const Tape& tape);
  void reserve_forward(Tape& tape);
  void reserve_backward(const Tape& tape);
  // The shared expert. y, dx are overwritten.
  HiddenRows shared_hidden(Tape& tape, int64_t tokens);
  void shared_products(const HiddenRows& hidden, const TypedRows& x);
  void shared_forward(Tape& tape, const TypedRows& x, const Rows<float>& y);
  void shared_backward(Tape& tape, const TypedRows& x, const TypedRows& dy, const Rows<float>& dx);
  void shared_weight_gradients(const TypedRows& x, const TypedRows& dy, const HiddenRows& dhidden,
                               const kernels::Array& active);
  // The caller's rows for products over all tokens: as they are, or in `slot` as rows of the experts' element.
  TypedRows product_rows(Workspace::Slot slot, const Tape& tape, const TypedRows& rows);
  kernels::ConstArray product_matrix(const Parameter& parameter);  // good until the next call
  // Where the shared expert's partial results go: with one slice they are where the routed ones come on top.
  Rows<float> shared_place(const Rows<float>& rows);
  void router_backward(Tape& tape, const Rows<float>& x, const float* dgates, const Rows<float>& dx,
                       const Rows<float>& dlogits);
  void balance_backward(const Tape& tape, float* dlogits);
  void mark_ready();
  int64_t identity(const ForwardArguments& arguments) const;

  // Between the slices of a data shard (expert_tp < tp). One slice: all tokens, nothing to gather, and the shared expert's
  // partial outputs join the experts' all-reduce.
  TokenSlice slice_of(int64_t tokens, int64_t index) const;
  struct TokenGradients {
    Rows<float> x;
    float* gates = nullptr;  // [rows, k]
  };
  TokenGradients slice_gradients(const TokenSlice& slice, float* base) const;
  TokenGradients whole_gradients(float* base, int64_t tokens);
  void route_backward(Outcome& outcome, Tape& tape, const BackwardArguments& arguments);
  void part_backward(Outcome& outcome, Tape& tape, Block& block, size_t part, const BackwardArguments& arguments);
  void return_gradients(Tape& tape, Block& block);
  void shared_under_exchange(Outcome& outcome, Tape& tape, const BackwardArguments& arguments);
  TokenGradients finish_backward(Outcome& outcome, Tape& tape);
  void add_over_tp(Outcome& outcome, const Rows<float>& rows, int32_t phase);
  bool one_slice() const { return slices_.size() == 1; }
  void gather_slices(Outcome& outcome, float* rows, int64_t tokens, int64_t width, int32_t phase);
  void tell_block(Outcome& outcome, int32_t phase);
  [[noreturn]] void raise(const Finding& finding, bool step_lost) const;

  // Rows in fp32 for products over all tokens: the caller's own, or a copy in `slot` where they are bf16 or have padding.
  Rows<float> dense_rows(Workspace::Slot slot, const Tape& tape, const TypedRows& rows);
  // Memory for the above and for widened weights; taken while running out of it can still be told.
  void reserve_dense(const Tape& tape, std::initializer_list<Workspace::Slot> rows);
  kernels::Weights weights(const Parameter& parameter);
  kernels::Weights weights(const Parameter& parameter, int64_t expert);
  const float* widened(const Parameter& parameter);  // of a SHARED matrix; good until the next call

  kernels::RouterConfig router_config() const;
  kernels::Element element() const { return static_cast<kernels::Element>(dtype()); }
  kernels::Element combine_element() const;
  // Of the experts' rows between the exchanges, and of their outputs before they are added up for a copy.
  kernels::Element row_element() const { return kernels::row_element(element()); }
  kernels::Element output_element() const;
  kernels::Array scratch_rows(Workspace::Slot slot, int64_t rows, int64_t width, kernels::Element element);
  kernels::Array scratch_rows(Workspace::Slot slot, int64_t rows, int64_t width) {
    return scratch_rows(slot, rows, width, row_element());
  }
  bool balanced() const { return params_.aux_coefficient > 0 || params_.z_coefficient > 0; }
  kernels::Activation activation() const { return static_cast<kernels::Activation>(params_.activation); }
  bool gated() const { return kernels::is_gated(activation()); }
  int64_t local_ffn() const { return params_.ffn / mesh_->layout().sizes().expert_tp; }
  int64_t local_shared_ffn() const { return params_.shared_ffn / mesh_->layout().sizes().tp; }

  std::shared_ptr<Mesh> mesh_;
  std::shared_ptr<Family> shared_, expert_;
  moemesh_layer_params params_;
  std::string name_;
  int32_t number_ = -1;   // of the mesh's layers
  int32_t place_ = 0;     // of its family's layers
  int64_t forwards_ = 0;  // training forwards of the step `numbered_step_`
  int64_t numbered_step_ = -1;
  Communicator& exchange_;  // the expert-parallel group
  Communicator& expert_tp_;
  Communicator& tp_;
  Communicator& slices_;  // the other slices of the shard's tokens
  ExpertRange local_experts_;
  SharedBuffer<int32_t> owner_;  // [E]: ep coordinate of each expert
  std::shared_ptr<SelectionBias> bias_;
  Parameter *router_ = nullptr, *w1_ = nullptr, *wg_ = nullptr, *w2_ = nullptr;
  Parameter *shared_w1_ = nullptr, *shared_wg_ = nullptr, *shared_w2_ = nullptr;
  std::vector<std::unique_ptr<Tape>> spare_tapes_;
  std::vector<std::unique_ptr<KeptCopies>> spare_copies_;
  std::vector<std::unique_ptr<KeptHidden>> spare_hidden_;
  LayerMemory memory_;
  LayerStatistics statistics_;
};

}  // namespace moemesh
