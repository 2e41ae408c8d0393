// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// A pipeline with its handle kept, and stages that the tests of pipelines share.
#pragma once

#include <functional>
#include <list>
#include <map>

#include "case_support.hpp"

namespace moemesh::test {

using Action = moemesh_pipeline_action;

class Pipe {
 public:
  struct Options {
    int32_t schedule = MOEMESH_SCHEDULE_1F1B;
    int32_t dtype = MOEMESH_FLOAT32;
  };
  Pipe(const Mesh& mesh, moemesh_optimizer optimizer, int64_t width, const Options& options);
  Pipe(const Mesh& mesh, moemesh_optimizer optimizer, int64_t width) : Pipe(mesh, optimizer, width, Options{}) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { moemesh_pipeline_destroy(&pipeline_); }

  moemesh_pipeline get() const { return pipeline_; }
  // rows of every microbatch; handed to the library on the first stage only, unless `everywhere`.
  int32_t begin(const std::vector<int64_t>& rows, int32_t training = 1, bool everywhere = false) const;
  Action next() const;
  void done(int32_t status = MOEMESH_OK) const { OK(moemesh_pipeline_done(pipeline_, status)); }
  moemesh_pipeline_info info() const;
  // begin, then f for each action until END.
  void run(const std::vector<int64_t>& rows, const std::function<int32_t(const Action&)>& f,
           int32_t training = 1) const;

 private:
  bool first_ = false;
  moemesh_pipeline pipeline_ = nullptr;
};

inline float* floats(const moemesh_view& view) { return static_cast<float*>(view.data); }
inline int64_t elements(const moemesh_view& view) { return view.rank == 0 ? 0 : view.extents[0] * view.extents[1]; }

// A chain of stages y = w_s * x with one SHARED weight "w" of `width` elements a stage, exact enough to compare bits: rows
// and loss gradients are functions of (data shard, microbatch, place).
class Chain {
 public:
  Chain(const Mesh& mesh, int64_t width, const Pipe::Options& options = {});

  static float weight(int64_t stage, int64_t column);
  static float input(int64_t shard, int64_t microbatch, int64_t place);
  static float loss_gradient(int64_t shard, int64_t microbatch, int64_t place);

  // One step with rows(shard, microbatch) rows; checks every view and the reduced gradient.
  using Rows = std::function<int64_t(int64_t shard, int64_t microbatch)>;
  void step(int32_t microbatches, const Rows& rows, bool check_values = true);
  // What a stage does with one action; checks what came.
  int32_t act(const Action& action);

  const Pipe& pipe() const { return pipe_; }
  const Model& model() const { return model_; }
  std::vector<int64_t> rows_of(int32_t microbatches, const Rows& rows) const;

 private:
  // The row elements that stage `stage` gets in forward, as float products in the chain's order.
  float at_input(int64_t stage, int64_t shard, int64_t microbatch, int64_t place) const;
  float at_output_gradient(int64_t stage, int64_t shard, int64_t microbatch, int64_t place) const;
  void expect_view(const moemesh_view& view, int64_t rows, bool wanted) const;
  void expect_gradient(int32_t microbatches, const Rows& rows) const;
  void forward(const Action& action);
  void backward(const Action& action);

  int64_t width_, stage_, stages_, shard_, shards_;
  Model model_;
  Pipe pipe_;
};

}  // namespace moemesh::test
