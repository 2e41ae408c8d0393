// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/timeline/event.hpp"

#include <algorithm>

namespace moemesh::timeline {
namespace {

// Colours that differ for most eyes (Okabe and Ito), darker for the backwards.
constexpr std::array<KindInfo, static_cast<size_t>(Kind::kinds)> infos{{
    {"none", Stream::compute, -1, "#000000"},
    {"route", Stream::compute, -1, "#f0e442"},
    {"shared expert", Stream::compute, -1, "#c8b400"},
    {"expert products", Stream::compute, -1, "#009e73"},
    {"expert products, backward", Stream::compute, -1, "#00644a"},
    {"router backward", Stream::compute, -1, "#b8ab1f"},
    {"update", Stream::compute, -1, "#7f7f7f"},
    {"count exchange", Stream::exchange, MOEMESH_REPORT_EXCHANGE, "#9ad0f5"},
    {"dispatch", Stream::exchange, MOEMESH_REPORT_EXCHANGE, "#56b4e9"},
    {"combine", Stream::exchange, MOEMESH_REPORT_EXCHANGE, "#0072b2"},
    {"combine backward", Stream::exchange, MOEMESH_REPORT_EXCHANGE, "#004c76"},
    {"dispatch backward", Stream::exchange, MOEMESH_REPORT_EXCHANGE, "#2b83b5"},
    {"tp sum", Stream::exchange, MOEMESH_REPORT_TENSOR, "#cc79a7"},
    {"tp sum, backward", Stream::exchange, MOEMESH_REPORT_TENSOR, "#96507a"},
    {"agreement at the step's end", Stream::reduction, MOEMESH_REPORT_REDUCTION, "#f3c98b"},
    {"ready for gradients' sum", Stream::reduction, MOEMESH_REPORT_REDUCTION, "#f3d9b0"},
    {"gradient reduction", Stream::reduction, MOEMESH_REPORT_REDUCTION, "#e69f00"},
    {"parameter gather", Stream::reduction, MOEMESH_REPORT_REDUCTION, "#a87400"},
    {"receive from the stage before", Stream::pipeline, MOEMESH_REPORT_PIPELINE, "#8a6fd1"},
    {"receive from the stage behind", Stream::pipeline, MOEMESH_REPORT_PIPELINE, "#5b3fa8"},
    {"caller's collective", Stream::program, MOEMESH_REPORT_CALLER, "#8c6d5a"},
    {"mark", Stream::program, -1, "#d9d9d9"},
}};

constexpr std::array<const char*, static_cast<size_t>(Stream::streams)> streams{"program", "compute", "exchange",
                                                                                "reduction", "pipeline"};

bool in_layer(int32_t phase) {
  return phase == MOEMESH_PHASE_FORWARD || phase == MOEMESH_PHASE_BACKWARD || phase == MOEMESH_PHASE_RECOMPUTE;
}

}  // namespace

const KindInfo& info(Kind kind) { return infos[static_cast<size_t>(kind)]; }

const char* name_of(Stream stream) { return streams[static_cast<size_t>(stream)]; }

// Exchanges of tokens say which one they are: in the order of these kinds, see impl/moe/lanes.hpp.
Kind kind_of(const Operation& operation) {
  const Purpose& purpose = operation.purpose;
  const bool forward = purpose.phase != MOEMESH_PHASE_BACKWARD;  // again, where it is recomputed
  if (purpose.phase == MOEMESH_PHASE_CALLER) return Kind::caller;
  switch (purpose.collective) {
    case MOEMESH_COLLECTIVE_COUNT_EXCHANGE:
      return in_layer(purpose.phase) ? Kind::count_exchange : Kind::gradients_ready;
    case MOEMESH_COLLECTIVE_PIPELINE:
      return forward ? Kind::receive_forward : Kind::receive_backward;
    case MOEMESH_COLLECTIVE_AGREEMENT:
      return Kind::step_agreement;
    case MOEMESH_COLLECTIVE_ALL_TO_ALL:
      return static_cast<Kind>(static_cast<int32_t>(Kind::dispatch) + std::max(0, operation.exchange));
    default:
      break;
  }
  if (in_layer(purpose.phase)) return forward ? Kind::tensor_forward : Kind::tensor_backward;
  return purpose.phase == MOEMESH_PHASE_UPDATE ? Kind::parameters : Kind::gradients;
}

}  // namespace moemesh::timeline
