// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "impl/base/memory.hpp"
#include "impl/comm/communicator.hpp"
#include "impl/timeline/alignment.hpp"
#include "impl/timeline/clock.hpp"
#include "impl/timeline/event.hpp"
#include "impl/timeline/figures.hpp"

namespace moemesh::timeline {

// What one rank records: sums and a series by layer and by step, and the latest events in detail. All memory is taken when it
// is made, or a layer is added; recording asks for none. Any thread may record.
class Recorder : public Recording {
 public:
  Recorder(Clock clock, int64_t rank, int64_t world, std::shared_ptr<const Allocator> allocator,
           const moemesh_report_params& params);

  int64_t now() const override;
  int64_t origin() const override { return origin_; }
  Whereabouts place() const override;
  void keep(const Operation& operation) override;

  // Compares clocks down a binomial tree: every rank asks its parent `pings` times, and then answers its children. The first
  // time also agrees on the origin. Collective over `world`.
  void align(Communicator& world, int32_t pings, int32_t phase);

  void add_layer();
  void span(Kind kind, int64_t begin);  // of this thread, until now
  void experts(Kind kind, int64_t begin, int64_t rows);
  void begin_step();
  void end_step();                    // of every call that ends a step, on every rank
  bool mark_begin(const char* name);  // false: too deep, or too many names
  bool mark_end();                    // false: none is open

  const moemesh_report_params& params() const { return params_; }
  int64_t layers() const { return static_cast<int64_t>(layers_.size()); }
  int64_t steps() const { return steps_; }
  int64_t first_step() const { return std::max<int64_t>(0, steps_ - params_.steps); }
  int64_t clock_error() const;
  int64_t clock_offset() const { return alignment_.offset(); }

  // What was recorded so far. first_layer: number of this rank's first layer among all stages'.
  void add_to(Figures& figures, int64_t first_layer) const;
  int64_t kept_events() const;
  void copy_events(Event* to, int64_t count) const;  // the oldest `count` of them that are kept now, in order
  static constexpr int64_t most_marks = 64, mark_bytes = 48;
  const std::array<std::array<char, mark_bytes>, most_marks>& marks() const { return marks_; }

 private:
  struct LayerBook {
    std::array<double, Figures::layer_numbers> numbers{};
    HostBuffer<double> late;   // [world] seconds idle for each rank
    HostBuffer<int64_t> rows;  // [steps kept]
    int64_t all_rows = 0;
  };
  struct StepBook {
    int64_t begin = 0, end = 0;
    std::array<double, Figures::step_numbers> numbers{};
  };
  struct OpenMark {
    int32_t name;
    int64_t begin;
  };
  static constexpr int64_t most_open_marks = 16;

  int64_t now_after(int64_t begin) const;
  void push(Event event);
  int64_t kept() const { return std::min(events_seen_, params_.events); }
  void add_to_layer(const Operation& operation, Kind kind, double wait, double idle);
  int64_t slot() const { return steps_ % params_.steps; }
  int32_t step_number() const { return in_step_ ? static_cast<int32_t>(steps_) : -1; }
  void clear_slot();
  int32_t name_index(const char* name);

  Clock clock_;
  int64_t rank_, world_;
  std::shared_ptr<const Allocator> allocator_;
  moemesh_report_params params_;
  mutable std::mutex mutex_;
  Alignment alignment_;
  int64_t origin_ = 0;

  std::array<double, Figures::totals> totals_{};
  HostBuffer<double> late_;       // [world]
  HostBuffer<double> step_late_;  // [steps kept, world]
  HostBuffer<StepBook> step_books_;
  std::vector<LayerBook> layers_;
  int64_t steps_ = 0;      // ended
  int64_t step_time_ = 0;  // nanoseconds that all of them took
  bool in_step_ = false;

  HostBuffer<Event> events_;
  int64_t events_seen_ = 0;
  std::array<std::array<char, mark_bytes>, most_marks> marks_{};
  int32_t mark_count_ = 0;
  std::array<OpenMark, most_open_marks> open_marks_{};
  int64_t open_mark_count_ = 0;
};

}  // namespace moemesh::timeline
