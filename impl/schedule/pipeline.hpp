// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "impl/comm/mail.hpp"
#include "impl/comm/recording.hpp"
#include "impl/context/mesh.hpp"
#include "impl/optimizer/optimizer.hpp"
#include "impl/schedule/row_pool.hpp"
#include "impl/schedule/schedule.hpp"
#include "moemesh.h"

namespace moemesh {

void check_pipeline(const moemesh_pipeline_params& params);  // throws where pipeline_create would refuse them

// Runs the microbatches of one step through the stages: hands the caller one action after the other, with the rows that came
// from the neighbour stage, and sends what the caller made of them. Ranks talk to the ranks of the same tp, ep and dp.
//
// Failure without hanging: whatever happens, each transfer of the schedule has its header. One with a status has no rows
// after it; its receiver goes on with none, or with zeros, and hands a status on. So every rank comes to the end, where the
// step is dropped.
class Pipeline {
 public:
  static std::shared_ptr<Pipeline> create(std::shared_ptr<Mesh> mesh, std::shared_ptr<Optimizer> optimizer,
                                          const moemesh_pipeline_params& params, const Finding& problem);  // collective
  Pipeline(std::shared_ptr<Mesh> mesh, std::shared_ptr<Optimizer> optimizer, const moemesh_pipeline_params& params);
  ~Pipeline();

  Mesh& mesh() const { return *mesh_; }
  void begin(const moemesh_pipeline_run& run);
  moemesh_pipeline_action next();
  void done(int32_t status);
  moemesh_pipeline_info info() const;

 private:
  using Channel = Communicator::Mail::Name;

  struct Microbatch {
    int64_t rows = 0;          // as the caller sees them
    int64_t whole_rows = 0;    // as they would be without a failure
    RowSlot* saved = nullptr;  // `in` of its forward
    int32_t status = 0;        // why it failed here or before
    bool lost = false;         // in a layer of this stage: there is nothing to run a backward with
  };
  // The action that the caller is busy with.
  struct Current {
    bool active = false;
    bool forward = false;
    int32_t microbatch = 0;
    RowSlot* in = nullptr;
    RowSlot* out = nullptr;
    int64_t failed_layer_calls = 0;  // before it
  };

  bool first() const { return schedule_.stage == 0; }
  bool last() const { return schedule_.stage == schedule_.stages - 1; }
  int64_t row_bytes() const;
  StepState* step() const;  // null without an optimizer
  bool step_over() const;
  void check_run(const moemesh_pipeline_run& run) const;

  // pipeline.cpp: the order of things
  void start_forward(int32_t index);
  void start_backward(int32_t index);
  void skip_backward(int32_t index);
  void finish_forward(Microbatch& microbatch, int32_t status);
  void finish_backward(Microbatch& microbatch, int32_t status);
  void end_microbatch(Microbatch& microbatch);
  void end_run();
  moemesh_pipeline_action describe() const;

  // transfers.cpp: messages, buffers and what is told of failures
  bool layer_failed(int32_t status) const;
  void record(const Finding& finding);
  void record_own(int32_t status);
  void open_arrival(Channel channel);
  void close_arrival(int32_t index);
  StageHeader receive_header(Channel channel, int32_t index, int64_t peer);
  StageHeader header_of(int32_t index, int64_t rows, int32_t status) const;
  int64_t rank_of_stage(int64_t stage) const;
  [[noreturn]] void disagree(const StageHeader& got, int32_t index, int64_t peer);
  void receive_rows(Channel channel, int64_t peer, const StageHeader& header, RowSlot* to, int64_t rows);
  Finding take_forward_slots(int64_t rows);
  void grow_reserve(int64_t bytes);
  void take_backward_slots(int64_t rows);
  void send(Channel channel, int64_t peer, const Microbatch& microbatch, RowSlot& slot);
  moemesh_view view_of(const RowSlot* slot, int64_t rows) const;

  std::shared_ptr<Mesh> mesh_;
  std::shared_ptr<Optimizer> optimizer_;
  std::shared_ptr<StepState> step_;
  moemesh_pipeline_params params_;
  std::unique_ptr<RowPool> pool_;  // outlives mail_, which reads from it
  Communicator::Mail mail_;
  Schedule schedule_;
  RowSlot gradient_;            // of this stage's output: one backward at a time
  RowSlot* reserve_ = nullptr;  // for the gradient of `saved`: always large enough for the microbatches that are live
  bool running_ = false;        // begun and not yet at its end
  bool ended_ = false;          // at its end
  int64_t run_ = 0;             // its number
  int64_t place_ = 0;           // in the schedule
  int64_t step_serial_ = 0;
  std::vector<int64_t> given_rows_;  // empty: not given
  std::vector<Microbatch> microbatches_;
  Current current_;
  Operation arrival_;  // what is being received, for the report
  Finding failure_;    // of a run of forwards alone
  int64_t live_ = 0, peak_ = 0, sends_ = 0, bytes_sent_ = 0;
};

}  // namespace moemesh
