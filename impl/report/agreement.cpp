// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// What a step's end agrees on (impl/optimizer/optimizer.cpp), the choices of experts that it adds up
// (impl/family/selection_bias.cpp), and the rows between stages (impl/schedule/transfers.cpp).
#include "impl/base/view.hpp"
#include "impl/comm/communicator.hpp"
#include "impl/optimizer/optimizer.hpp"
#include "impl/report/checked.hpp"
#include "impl/report/parts.hpp"
#include "impl/schedule/row_pool.hpp"

namespace moemesh {

void add_agreements(Traffic& traffic, const Description& description) {
  constexpr Purpose purpose{0, MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_AGREEMENT};
  const RankGroup world = traffic.group(MOEMESH_GROUP_WORLD);
  traffic.agree(world, agreement_words(step_fields), purpose);
  if (description.params.objective == MOEMESH_TOKEN_MEAN) traffic.agree(world, 1, purpose);
  traffic.agree(world, 1, purpose);  // the norm
}

void add_bias_counts(Traffic& traffic, const Description& description) {
  int64_t experts = 0;
  for (const DescribedLayer& layer : description.stages[static_cast<size_t>(traffic.here().pp)].layers)
    if (layer.params.bias_rate > 0) experts = plus(experts, layer.params.experts);
  if (experts > 0)
    traffic.all_reduce(traffic.group(MOEMESH_GROUP_SHARED_GRADIENT), experts,
                       {0, MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_ALL_REDUCE}, sizeof(int64_t));
}

void add_transfers(Traffic& traffic, const Description& description) {
  if (!description.pipeline) return;
  const int64_t stage = traffic.here().pp, last = traffic.layout().sizes().pp - 1;
  const RankGroup stages = traffic.group(MOEMESH_AXIS_PP);
  const int64_t row = times(description.pipeline->width, dtype_bytes(description.pipeline->dtype));
  const int64_t rows = times(description.params.tokens, row);
  const auto send = [&](int64_t peer, int32_t phase) {
    traffic.mail(stages, peer, sizeof(StageHeader), rows, {0, phase, MOEMESH_COLLECTIVE_PIPELINE});
  };
  if (stage < last) send(stage + 1, MOEMESH_PHASE_FORWARD);
  if (stage > 0) send(stage - 1, MOEMESH_PHASE_BACKWARD);
}

}  // namespace moemesh
