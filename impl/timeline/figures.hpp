// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "moemesh.h"

namespace moemesh::timeline {

inline constexpr int64_t classes = MOEMESH_REPORT_CLASSES;

// What one rank adds to the figures of a report, and, once added up over the ranks, the figures of all: every number has its
// place in one of two arrays, of which the first is summed over the ranks and the second keeps the largest.
class Figures {
 public:
  struct Shape {
    int64_t world = 1, layers = 0, steps = 0;  // layers of all stages; steps that are kept
  };
  // In the order of the arrays. Seconds.
  enum Total : int64_t {
    wait,
    transfer = wait + classes,
    exposed = transfer + classes,
    idle = exposed + classes,
    idle_in_steps = idle + classes,
    events,
    lost_events,
    totals
  };
  enum Layer : int64_t {
    dispatch_wait,
    combine_wait,
    combine_backward_wait,
    dispatch_backward_wait,
    tensor_wait,
    layer_idle,
    layer_transfer,
    layer_exposed,
    expert_seconds,
    layer_numbers
  };
  enum Step : int64_t { step_idle, step_transfer = step_idle + classes, step_exposed, step_numbers };
  // dropped_seconds: of the steps that are not kept.
  enum Most : int64_t { clock_error, clock_offset, dropped_seconds, most_totals };
  enum StepMost : int64_t { minus_begin, end, step_mosts };  // since the recording's origin

  explicit Figures(const Shape& shape);

  const Shape& shape() const { return shape_; }
  std::span<double> sums() { return sums_; }
  std::span<double> most() { return most_; }

  double& total(int64_t number) { return sums_[place(number)]; }
  double& late(int64_t rank) { return sums_[place(totals + rank)]; }  // seconds that all were idle for it
  double& layer(int64_t layer, int64_t number) { return sums_[place(layer_base(layer) + number)]; }
  double& layer_late(int64_t layer, int64_t rank) { return sums_[place(layer_base(layer) + layer_numbers + rank)]; }
  double& layer_rows(int64_t layer, int64_t rank) {
    return sums_[place(layer_base(layer) + layer_numbers + shape_.world + rank)];
  }
  double& step(int64_t step, int64_t number) { return sums_[place(step_base(step) + number)]; }
  double& step_late(int64_t step, int64_t rank) { return sums_[place(step_base(step) + step_numbers + rank)]; }
  double& step_rows(int64_t step, int64_t layer) {
    return sums_[place(step_base(step) + step_numbers + shape_.world + layer)];
  }
  double& most_total(int64_t number) { return most_[place(number)]; }
  double& step_most(int64_t step, int64_t number) { return most_[place(step_most_base(step) + number)]; }
  double& step_most_rows(int64_t step, int64_t layer) {
    return most_[place(step_most_base(step) + step_mosts + layer)];
  }

 private:
  static size_t place(int64_t index) { return static_cast<size_t>(index); }
  int64_t layer_base(int64_t layer) const { return totals + shape_.world + layer * (layer_numbers + 2 * shape_.world); }
  int64_t step_base(int64_t step) const {
    return layer_base(shape_.layers) + step * (step_numbers + shape_.world + shape_.layers);
  }
  int64_t step_most_base(int64_t step) const { return most_totals + step * (step_mosts + shape_.layers); }

  Shape shape_;
  std::vector<double> sums_, most_;
};

}  // namespace moemesh::timeline
