// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/base/view.hpp"

namespace moemesh {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
constexpr auto state = MOEMESH_ERROR_INVALID_STATE;

constexpr Purpose purpose(int32_t phase) { return {0, phase, MOEMESH_COLLECTIVE_PIPELINE}; }

// An optimizer has one or two families, which share its step.
std::shared_ptr<StepState> step_of(Optimizer* optimizer) {
  std::shared_ptr<StepState> step;
  for (const int32_t kind : {MOEMESH_SHARED, MOEMESH_EXPERT})
    if (optimizer && !step) (void)attempt([&] { step = optimizer->state(kind).family().step; });
  return step;
}

// Buffers that MPI may still read from after their pipeline is gone.
void keep_for_ever(std::unique_ptr<RowPool> pool) {
  static auto* const kept = new std::vector<std::unique_ptr<RowPool>>;
  kept->push_back(std::move(pool));
}

}  // namespace

void check_pipeline(const moemesh_pipeline_params& p) {
  require(p.width >= 1 && p.width <= INT64_MAX / 8, bad, "width: expected 1..2^60, got {}", p.width);
  require(p.dtype == MOEMESH_FLOAT32 || p.dtype == MOEMESH_BFLOAT16, bad,
          "dtype: expected FLOAT32 (1) or BFLOAT16 (3), got {}", p.dtype);
  require(p.schedule == MOEMESH_SCHEDULE_1F1B || p.schedule == MOEMESH_SCHEDULE_GPIPE, bad,
          "schedule: expected 1 or 2, got {}", p.schedule);
}

std::shared_ptr<Pipeline> Pipeline::create(std::shared_ptr<Mesh> mesh, std::shared_ptr<Optimizer> optimizer,
                                           const moemesh_pipeline_params& params, const Finding& problem) {
  mesh->require_usable();
  const Finding finding = problem ? problem : attempt([&] {
    check_pipeline(params);
    require(!optimizer || &optimizer->mesh() == mesh.get(), bad, "pipeline_create: the optimizer is of another mesh");
  });
  const Field fields[] = {{"width", params.width},
                          {"dtype", params.dtype},
                          {"schedule", params.schedule},
                          {"optimizer given", optimizer != nullptr}};
  agree_on_configuration(mesh->group(MOEMESH_GROUP_WORLD), "pipeline_create", fields, finding.status, finding.text);
  return std::make_shared<Pipeline>(std::move(mesh), std::move(optimizer), params);
}

Pipeline::Pipeline(std::shared_ptr<Mesh> mesh, std::shared_ptr<Optimizer> optimizer,
                   const moemesh_pipeline_params& params)
    : mesh_(std::move(mesh)),
      optimizer_(std::move(optimizer)),
      step_(step_of(optimizer_.get())),
      params_(params),
      pool_(std::make_unique<RowPool>(mesh_->allocator())),
      mail_(mesh_->group(MOEMESH_AXIS_PP), purpose(MOEMESH_PHASE_FORWARD), purpose(MOEMESH_PHASE_BACKWARD)) {
  schedule_.kind = params_.schedule == MOEMESH_SCHEDULE_GPIPE ? Schedule::all_forward_all_backward
                                                              : Schedule::one_forward_one_backward;
  schedule_.stages = mesh_->layout().sizes().pp;
  schedule_.stage = mesh_->here().pp;
}

Pipeline::~Pipeline() {
  if (!mail_.idle() && mail_.usable()) (void)attempt([&] { mail_.poll(); });
  if (mail_.idle()) return;
  mesh_->context()->log().warning("pipeline destroyed in the middle of a run: what it was sending is leaked");
  keep_for_ever(std::move(pool_));
}

int64_t Pipeline::row_bytes() const { return params_.width * dtype_bytes(params_.dtype); }

bool Pipeline::step_over() const { return schedule_.training && (!step_->open || step_->serial != step_serial_); }

void Pipeline::check_run(const moemesh_pipeline_run& run) const {
  require(run.training == 0 || run.training == 1, bad, "training: expected 0 or 1, got {}", run.training);
  require(run.microbatches >= 1, bad, "microbatches: expected >= 1, got {}", run.microbatches);
  require(!running_ || step_over(), state, "pipeline_begin: the last run is not at its end");
  if (run.training == 1) {
    require(step_ != nullptr, state, "pipeline_begin: training needs an optimizer, and the pipeline has none");
    require(step_->open, state, "pipeline_begin: training needs an open step");
    require(step_serial_ != step_->serial, state, "pipeline_begin: this step's microbatches were begun already");
    require(run.microbatches == step_->microbatches, bad, "microbatches: expected the open step's {}, got {}",
            step_->microbatches, run.microbatches);
  }
  require(run.rows != nullptr || !first(), bad, "rows: expected a pointer on the first stage, got NULL");
  const int64_t most = INT64_MAX / row_bytes();
  for (int32_t i = 0; run.rows && i < run.microbatches; ++i)
    require(run.rows[i] >= 0 && run.rows[i] <= most, bad, "rows[{}]: expected 0..{}, got {}", i, most, run.rows[i]);
}

void Pipeline::begin(const moemesh_pipeline_run& run) {
  mesh_->require_usable();
  check_run(run);
  given_rows_.assign(run.rows, run.rows ? run.rows + run.microbatches : nullptr);
  microbatches_.assign(static_cast<size_t>(run.microbatches), Microbatch{});
  schedule_.microbatches = run.microbatches;
  schedule_.training = run.training == 1;
  if (schedule_.training) step_serial_ = step_->serial;
  if (schedule_.training) step_->actions_left = schedule_.size();
  pool_->reclaim();
  if (reserve_ && reserve_->open > 0) reserve_ = nullptr;  // of a run that was broken off: nobody can be waited for
  if (!reserve_) reserve_ = &pool_->take(0);
  reserve_->held = true;
  current_ = {};
  failure_ = {};
  place_ = live_ = peak_ = sends_ = bytes_sent_ = 0;
  run_ = mail_.open_run();
  running_ = true;
  ended_ = false;
}

moemesh_pipeline_action Pipeline::next() {
  mesh_->require_usable();
  require(running_ || ended_, state, "pipeline_next: no run was begun");
  require(!current_.active, state, "pipeline_next: the last action is not done");
  require(ended_ || !step_over(), state, "pipeline_next: the run's step is over");
  mail_.poll();
  for (; running_ && !current_.active && place_ < schedule_.size(); ++place_) {
    const Schedule::Action action = schedule_.action(place_);
    const auto index = static_cast<int32_t>(action.microbatch);
    if (action.forward)
      start_forward(index);
    else if (microbatches_[static_cast<size_t>(index)].lost)
      skip_backward(index);
    else
      start_backward(index);
  }
  if (!current_.active) end_run();
  return describe();
}

void Pipeline::start_forward(int32_t index) {
  Microbatch& microbatch = microbatches_[static_cast<size_t>(index)];
  StageHeader header;
  header.rows = given_rows_.empty() ? 0 : given_rows_[static_cast<size_t>(index)];
  const int64_t expected = header.rows;
  if (!first()) header = receive_header(Channel::forward, index, schedule_.stage - 1);
  Finding problem;
  if (!given_rows_.empty() && header.rows != expected)
    problem = {bad,
               format_message("rows[{}]: {} was given, {} came from the stage before", index, expected, header.rows)};
  // Tensor-parallel peers must have one number of rows, and only one of them may know of the failure.
  const bool whole = (header.status == MOEMESH_OK && !problem) || mesh_->layout().sizes().tp > 1;
  microbatch.rows = whole ? header.rows : 0;
  microbatch.whole_rows = header.rows;
  const Finding memory = take_forward_slots(microbatch.rows);
  if (memory) microbatch.rows = 0;
  if (!problem) problem = memory;
  if (problem) record(problem);
  microbatch.status = header.status != MOEMESH_OK ? int32_t{MOEMESH_ERROR_PEER_FAILED} : problem.status;
  if (!first()) receive_rows(Channel::forward, schedule_.stage - 1, header, current_.in, microbatch.rows);
  microbatch.saved = current_.in;
  live_ += schedule_.training ? 1 : 0;
  peak_ = std::max(peak_, live_);
  current_.active = current_.forward = true;
  current_.microbatch = index;
  current_.failed_layer_calls = step() ? step()->failed_layer_calls : 0;
}

void Pipeline::start_backward(int32_t index) {
  Microbatch& microbatch = microbatches_[static_cast<size_t>(index)];
  take_backward_slots(microbatch.rows);
  if (!last()) {
    const StageHeader header = receive_header(Channel::backward, index, schedule_.stage + 1);
    if (header.rows != microbatch.whole_rows) disagree(header, index, schedule_.stage + 1);
    if (header.status != MOEMESH_OK) microbatch.status = MOEMESH_ERROR_PEER_FAILED;
    receive_rows(Channel::backward, schedule_.stage + 1, header, current_.in, microbatch.rows);
  }
  current_.active = true;
  current_.forward = false;
  current_.microbatch = index;
}

// The messages of a backward without the backward.
void Pipeline::skip_backward(int32_t index) {
  Microbatch& microbatch = microbatches_[static_cast<size_t>(index)];
  if (!last()) {
    const int64_t peer = schedule_.stage + 1;
    receive_rows(Channel::backward, peer, receive_header(Channel::backward, index, peer), nullptr, 0);
  }
  if (!first()) send(Channel::backward, schedule_.stage - 1, microbatch, pool_->take(0));
  end_microbatch(microbatch);
  --step_->actions_left;
}

void Pipeline::done(int32_t status) {
  mesh_->require_usable();
  require(current_.active, state, "pipeline_done: no action is in progress");
  require(!step_over(), state, "pipeline_done: the run's step is over");
  Microbatch& microbatch = microbatches_[static_cast<size_t>(current_.microbatch)];
  if (status != MOEMESH_OK) record_own(status);
  if (current_.forward)
    finish_forward(microbatch, status);
  else
    finish_backward(microbatch, status);
  if (schedule_.training) --step_->actions_left;
  current_ = {};
}

void Pipeline::finish_forward(Microbatch& microbatch, int32_t status) {
  microbatch.lost = layer_failed(status);
  if (microbatch.status == MOEMESH_OK) microbatch.status = status;
  if (microbatch.status == MOEMESH_OK && microbatch.lost) microbatch.status = MOEMESH_ERROR_PEER_FAILED;
  if (!last()) send(Channel::forward, schedule_.stage + 1, microbatch, *current_.out);
  if (!schedule_.training) end_microbatch(microbatch);
}

void Pipeline::finish_backward(Microbatch& microbatch, int32_t status) {
  if (microbatch.status == MOEMESH_OK) microbatch.status = status;
  if (!first()) send(Channel::backward, schedule_.stage - 1, microbatch, *current_.out);
  end_microbatch(microbatch);
}

void Pipeline::end_microbatch(Microbatch& microbatch) {
  if (microbatch.saved) microbatch.saved->held = false;
  microbatch.saved = nullptr;
  live_ -= schedule_.training ? 1 : 0;
}

// A run of forwards alone has no step that could tell of a failure: its end does, once.
void Pipeline::end_run() {
  if (ended_) return;
  mail_.flush(Channel::forward);
  mail_.flush(Channel::backward);
  running_ = false;
  ended_ = true;
  const Finding failure = std::exchange(failure_, {});
  require(!failure, failure.status, "{}", failure.text);
}

moemesh_pipeline_action Pipeline::describe() const {
  moemesh_pipeline_action action{};
  action.struct_size = sizeof action;
  action.kind = MOEMESH_ACTION_END;
  if (!current_.active) return action;
  const Microbatch& microbatch = microbatches_[static_cast<size_t>(current_.microbatch)];
  action.kind = current_.forward ? MOEMESH_ACTION_FORWARD : MOEMESH_ACTION_BACKWARD;
  action.microbatch = current_.microbatch;
  action.rows = microbatch.rows;
  action.in = view_of(current_.in, microbatch.rows);
  action.out = view_of(current_.out, microbatch.rows);
  if (!current_.forward) action.saved = view_of(microbatch.saved, microbatch.rows);
  return action;
}

moemesh_pipeline_info Pipeline::info() const {
  return {0, live_, peak_, pool_->bytes() + gradient_.rows.bytes(), sends_, bytes_sent_};
}

}  // namespace moemesh
