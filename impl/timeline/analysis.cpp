// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/timeline/analysis.hpp"

#include <algorithm>

namespace moemesh::timeline {

Figures::Figures(const Shape& shape)
    : shape_(shape),
      sums_(static_cast<size_t>(step_base(shape.steps))),
      most_(static_cast<size_t>(step_most_base(shape.steps))) {
  constexpr double nothing = -1e300;
  for (int64_t s = 0; s < shape.steps; ++s) step_most(s, minus_begin) = step_most(s, end) = nothing;
}

const std::string* Results::layer_name(int64_t rank, int32_t layer) const {
  if (layer < 0) return nullptr;
  const int64_t stage = ranks[static_cast<size_t>(rank)].stage;
  return &layer_names[static_cast<size_t>(first_layers[static_cast<size_t>(stage)] + layer)];
}

namespace {

struct Late {
  int64_t rank = -1;
  double seconds = 0;
};

// late(rank): seconds that it cost; the lowest of equals.
template <class F>
Late latest_of(int64_t world, const F& late) {
  Late worst;
  for (int64_t rank = 0; rank < world; ++rank)
    if (late(rank) > worst.seconds) worst = {rank, late(rank)};
  return worst;
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

moemesh_report_layer layer_of(Figures& f, int64_t index, int64_t stage, int64_t stage_ranks) {
  moemesh_report_layer layer{};
  const int64_t world = f.shape().world;
  const Late late = latest_of(world, [&](int64_t rank) { return f.layer_late(index, rank); });
  double most = 0;
  for (int64_t rank = 0; rank < world; ++rank) {
    layer.rows += f.layer_rows(index, rank);
    most = std::max(most, f.layer_rows(index, rank));
  }
  const double mean = layer.rows / static_cast<double>(stage_ranks);
  layer.stage = stage;
  layer.late_rank = late.rank;
  layer.late_seconds = late.seconds;
  layer.late_rows = late.rank < 0 ? 0 : ratio(f.layer_rows(index, late.rank), mean);
  layer.rows_ratio = ratio(most, mean);
  layer.idle_seconds = f.layer(index, Figures::layer_idle);
  layer.dispatch_wait = f.layer(index, Figures::dispatch_wait);
  layer.combine_wait = f.layer(index, Figures::combine_wait);
  layer.combine_backward_wait = f.layer(index, Figures::combine_backward_wait);
  layer.dispatch_backward_wait = f.layer(index, Figures::dispatch_backward_wait);
  layer.tensor_wait = f.layer(index, Figures::tensor_wait);
  layer.transfer = f.layer(index, Figures::layer_transfer);
  layer.exposed = f.layer(index, Figures::layer_exposed);
  layer.expert_seconds = f.layer(index, Figures::expert_seconds);
  return layer;
}

moemesh_report_step step_of(Figures& f, int64_t index, int64_t stage_ranks) {
  moemesh_report_step step{};
  const Late late = latest_of(f.shape().world, [&](int64_t rank) { return f.step_late(index, rank); });
  step.late_rank = late.rank;
  step.late_seconds = late.seconds;
  for (int64_t c = 0; c < classes; ++c) step.idle_seconds += step.idle[c] = f.step(index, Figures::step_idle + c);
  step.seconds = std::max(0.0, f.step_most(index, Figures::end) + f.step_most(index, Figures::minus_begin));
  step.transfer = f.step(index, Figures::step_transfer);
  step.exposed = f.step(index, Figures::step_exposed);
  double most = 0, rows = 0;
  for (int64_t l = 0; l < f.shape().layers; ++l) {
    most += f.step_most_rows(index, l);
    rows += f.step_rows(index, l);
  }
  step.rows_ratio = ratio(most * static_cast<double>(stage_ranks), rows);
  return step;
}

moemesh_report_summary summary_of(Figures& f, int64_t first_step, const Results& results) {
  moemesh_report_summary s{};
  const Late late = latest_of(f.shape().world, [&](int64_t rank) { return f.late(rank); });
  s.steps = first_step + f.shape().steps;
  s.first_step = first_step;
  s.layers = f.shape().layers;
  s.events = static_cast<int64_t>(f.total(Figures::events));
  s.lost_events = static_cast<int64_t>(f.total(Figures::lost_events));
  s.late_rank = late.rank;
  s.late_seconds = late.seconds;
  s.clock_error = f.most_total(Figures::clock_error);
  s.clock_offset = f.most_total(Figures::clock_offset);
  for (int64_t c = 0; c < classes; ++c) {
    s.wait[c] = f.total(Figures::wait + c);
    s.transfer[c] = f.total(Figures::transfer + c);
    s.exposed[c] = f.total(Figures::exposed + c);
    s.idle_seconds += s.idle[c] = f.total(Figures::idle + c);
  }
  s.seconds = f.most_total(Figures::dropped_seconds);
  for (const auto& step : results.steps) s.seconds += step.seconds;
  double most = 0, rows = 0;
  for (const auto& layer : results.layers) {
    most += layer.rows_ratio * layer.rows;
    rows += layer.rows;
  }
  s.rows_ratio = ratio(most, rows);
  return s;
}

}  // namespace

void analyse(Figures& figures, int64_t first_step, int64_t stage_ranks, const std::vector<int64_t>& stages,
             Results& results) {
  results.layers.clear();
  results.steps.clear();
  for (int64_t l = 0; l < figures.shape().layers; ++l) {
    results.layers.push_back(layer_of(figures, l, stages[static_cast<size_t>(l)], stage_ranks));
    results.layers.back().name = results.layer_names[static_cast<size_t>(l)].c_str();
  }
  for (int64_t s = 0; s < figures.shape().steps; ++s) results.steps.push_back(step_of(figures, s, stage_ranks));
  results.idle_in_steps = figures.total(Figures::idle_in_steps);
  results.summary = summary_of(figures, first_step, results);
}

}  // namespace moemesh::timeline
