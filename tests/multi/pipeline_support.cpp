// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "pipeline_support.hpp"

#include <algorithm>
#include <cmath>

namespace moemesh::test {

Pipe::Pipe(const Mesh& mesh, moemesh_optimizer optimizer, int64_t width, const Options& options)
    : first_(mesh.here().pp == 0) {
  auto params = with_defaults(moemesh_pipeline_params_init);
  params.width = width;
  params.schedule = options.schedule;
  params.dtype = options.dtype;
  OK(moemesh_pipeline_create(mesh.get(), optimizer, &params, &pipeline_));
}

int32_t Pipe::begin(const std::vector<int64_t>& rows, int32_t training, bool everywhere) const {
  auto run = with_defaults(moemesh_pipeline_run_init);
  run.microbatches = static_cast<int32_t>(rows.size());
  run.training = training;
  if (first_ || everywhere) run.rows = rows.data();
  return moemesh_pipeline_begin(pipeline_, &run);
}

Action Pipe::next() const {
  auto action = sized<Action>();
  OK(moemesh_pipeline_next(pipeline_, &action));
  return action;
}

moemesh_pipeline_info Pipe::info() const {
  auto info = sized<moemesh_pipeline_info>();
  OK(moemesh_pipeline_get_info(pipeline_, &info));
  return info;
}

void Pipe::run(const std::vector<int64_t>& rows, const std::function<int32_t(const Action&)>& f,
               int32_t training) const {
  OK(begin(rows, training));
  for (Action action = next(); action.kind != MOEMESH_ACTION_END; action = next()) done(f(action));
}

// ---- the chain

namespace {

ModelSpec chain_spec(int64_t width) {
  ModelSpec spec;
  spec.shared = {{.name = "w", .extents = {width}}};
  spec.optimizer = sgd(0);
  spec.optimizer->overlap = MOEMESH_OVERLAP_AFTER;  // nothing but rows is under way within a step
  return spec;
}

}  // namespace

Chain::Chain(const Mesh& mesh, int64_t width, const Pipe::Options& options)
    : width_(width),
      stage_(mesh.here().pp),
      stages_(mesh.spec().pp),
      shard_(mesh.here().data_shard),
      shards_(mesh.data_shards()),
      model_(mesh, chain_spec(width)),
      pipe_(mesh, model_.optimizer(), width, options) {
  Floats values;
  for (int64_t i = 0; i < width; ++i) values.push_back(weight(stage_, i));
  model_.write("w", values);
}

float Chain::weight(int64_t stage, int64_t column) {
  return 1.0F + 0.125F * static_cast<float>(stage) - 0.03125F * static_cast<float>(column % 7);
}
float Chain::input(int64_t shard, int64_t microbatch, int64_t place) {
  return static_cast<float>(1000 * shard + 100 * microbatch + place % 97 + 1);
}
float Chain::loss_gradient(int64_t shard, int64_t microbatch, int64_t place) {
  return 1.0F / static_cast<float>(3 + shard + 2 * microbatch + place % 11);
}

float Chain::at_input(int64_t stage, int64_t shard, int64_t microbatch, int64_t place) const {
  float value = input(shard, microbatch, place);
  for (int64_t s = 0; s < stage; ++s) value *= weight(s, place % width_);
  return value;
}

float Chain::at_output_gradient(int64_t stage, int64_t shard, int64_t microbatch, int64_t place) const {
  float value = loss_gradient(shard, microbatch, place);
  for (int64_t s = stages_ - 1; s > stage; --s) value *= weight(s, place % width_);
  return value;
}

std::vector<int64_t> Chain::rows_of(int32_t microbatches, const Rows& rows) const {
  std::vector<int64_t> list;
  for (int32_t m = 0; m < microbatches; ++m) list.push_back(rows(shard_, m));
  return list;
}

void Chain::expect_view(const moemesh_view& view, int64_t rows, bool wanted) const {
  EXPECT_EQ(view.rank, wanted ? 2 : 0);
  if (!wanted || view.rank != 2) return;
  EXPECT_EQ(view.dtype, MOEMESH_FLOAT32);
  EXPECT_EQ(view.memory, MOEMESH_MEMORY_HOST);
  EXPECT_EQ(view.extents[0], rows);
  EXPECT_EQ(view.extents[1], width_);
  EXPECT_EQ(view.strides[0], width_);
  EXPECT_EQ(view.strides[1], 1);
}

int32_t Chain::act(const Action& action) {
  EXPECT_EQ(action.chunk, 0);
  EXPECT_EQ(action.reserved, 0);
  action.kind == MOEMESH_ACTION_FORWARD ? forward(action) : backward(action);
  return MOEMESH_OK;
}

void Chain::forward(const Action& action) {
  expect_view(action.in, action.rows, stage_ > 0);
  expect_view(action.out, action.rows, stage_ + 1 < stages_);
  expect_view(action.saved, action.rows, false);
  int64_t wrong = 0;
  for (int64_t i = 0; i < action.rows * width_; ++i) {
    const float x = stage_ == 0 ? input(shard_, action.microbatch, i) : floats(action.in)[i];
    if (x != at_input(stage_, shard_, action.microbatch, i)) ++wrong;
    if (stage_ + 1 < stages_) floats(action.out)[i] = x * weight(stage_, i % width_);
  }
  EXPECT_EQ(wrong, 0) << "rows of microbatch " << action.microbatch << " on stage " << stage_;
}

void Chain::backward(const Action& action) {
  expect_view(action.in, action.rows, stage_ + 1 < stages_);
  expect_view(action.out, action.rows, stage_ > 0);
  expect_view(action.saved, action.rows, stage_ > 0);
  int64_t wrong = 0;
  Floats dw(static_cast<size_t>(width_), 0.0F);
  for (int64_t i = 0; i < action.rows * width_; ++i) {
    const bool last = stage_ + 1 == stages_;
    const float dy = last ? loss_gradient(shard_, action.microbatch, i) : floats(action.in)[i];
    const float x = stage_ == 0 ? input(shard_, action.microbatch, i) : floats(action.saved)[i];
    if (dy != at_output_gradient(stage_, shard_, action.microbatch, i)) ++wrong;
    if (x != at_input(stage_, shard_, action.microbatch, i)) ++wrong;
    dw[static_cast<size_t>(i % width_)] += dy * x;
    if (stage_ > 0) floats(action.out)[i] = dy * weight(stage_, i % width_);
  }
  EXPECT_EQ(wrong, 0) << "gradients of microbatch " << action.microbatch << " on stage " << stage_;
  const auto view = test::view_of(dw);
  OK(moemesh_gradient_ready(model_.parameter("w"), &view, nullptr));
}

void Chain::step(int32_t microbatches, const Rows& rows, bool check_values) {
  model_.begin(microbatches);
  pipe_.run(rows_of(microbatches, rows), [&](const Action& action) {
    EXPECT_EQ(action.rows, rows(shard_, action.microbatch));
    return act(action);
  });
  model_.update();
  if (check_values) expect_gradient(microbatches, rows);
}

void Chain::expect_gradient(int32_t microbatches, const Rows& rows) const {
  std::vector<double> expected(static_cast<size_t>(width_), 0.0);
  for (int64_t shard = 0; shard < shards_; ++shard)
    for (int64_t m = 0; m < microbatches; ++m)
      for (int64_t i = 0; i < rows(shard, m) * width_; ++i)
        expected[static_cast<size_t>(i % width_)] +=
            double{at_input(stage_, shard, m, i)} * double{at_output_gradient(stage_, shard, m, i)};
  for (double& value : expected) value /= static_cast<double>(shards_ * microbatches);
  expect_close(model_.read("w", MOEMESH_GRADIENT), expected, 2e-5);
}

}  // namespace moemesh::test
