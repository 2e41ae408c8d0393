// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impl/timeline/event.hpp"
#include "impl/timeline/figures.hpp"
#include "moemesh.h"

namespace moemesh::timeline {

// What a report tells: figures on every rank, events on rank 0.
struct Results {
  moemesh_report_summary summary{};
  std::vector<moemesh_report_layer> layers;  // names point into layer_names
  std::vector<std::string> layer_names;
  std::vector<moemesh_report_step> steps;  // from summary.first_step on
  double idle_in_steps = 0;                // of summary.idle_seconds

  struct Rank {
    int64_t stage = 0;
    std::vector<Event> events;       // by time of their end
    std::vector<std::string> marks;  // the caller's names
  };
  std::vector<Rank> ranks;
  int64_t origin = 0;                 // nanoseconds on the aligned clock
  std::vector<int64_t> first_layers;  // of each stage, and one past the last

  const std::string* layer_name(int64_t rank, int32_t layer) const;  // null: none
};

// The figures of all ranks added up. first_step: number of the first step in them; stage_ranks: ranks of each stage;
// stages: of each layer; res.layer_names must be there.
void analyse(Figures& figures, int64_t first_step, int64_t stage_ranks, const std::vector<int64_t>& stages,
             Results& results);

}  // namespace moemesh::timeline
