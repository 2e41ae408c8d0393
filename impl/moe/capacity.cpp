// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// Which of the chosen rows are sent, where experts have a capacity. Decided on all tokens of the data shard, by each
// of its tp ranks alike.
#include "impl/moe/capacity.hpp"

#include "impl/moe/layer.hpp"
#include "kernels/capacity.hpp"

namespace moemesh {

void Layer::limit_to_capacity(Tape& tape) {
  Decision& decision = tape.decision;
  decision.slots = decision.dropped = 0;
  decision.limited = false;
  if (params_.capacity_factor == 0) return;
  const int64_t n = decision.tokens * params_.top_k;
  decision.kept.reserve(mesh_->allocator(), n);  // whether or not this time's slots are too few: so its size is planned
  decision.slots = slots_of(ten_thousandths(params_.capacity_factor), params_.top_k, decision.routed, params_.experts);
  // A token chooses an expert once: no expert can have more rows than there are tokens.
  if (decision.slots >= decision.routed) return;
  decision.limited = true;
  auto* scratch = mesh_->workspace().get<int64_t>(Workspace::integers, kernels::limit_workspace(n, params_.experts));
  decision.dropped = kernels::limit_rows({params_.experts, decision.slots, static_cast<kernels::Drop>(params_.drop)}, n,
                                         decision.chosen.data(), decision.gates.data(), decision.kept.data(), scratch);
}

}  // namespace moemesh
