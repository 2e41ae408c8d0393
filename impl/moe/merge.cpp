// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The weight gradients of a layer with several chunks: one product for each expert over the rows of all of them, in the order
// that they would have as one chunk, (expert, source, token), so that the bits are the same.
#include <algorithm>

#include "impl/base/recycled.hpp"
#include "impl/moe/expert_rows.hpp"
#include "impl/moe/layer.hpp"
#include "kernels/permute.hpp"
#include "kernels/rows.hpp"

namespace moemesh {
namespace {

int64_t all_rows(const Tape& tape) {
  int64_t rows = 0;
  for (const Part& part : tape.parts) rows += part.received.rows;
  return rows;
}

// Where each expert's rows of all parts begin.
Recycled<int64_t> offsets_of_all(const Tape& tape) {
  Recycled<int64_t> offsets(tape.parts.front().received.expert_offsets.size());
  for (const Part& part : tape.parts)
    for (size_t e = 0; e < offsets.size(); ++e) offsets[e] += part.received.expert_offsets[e];
  return offsets;
}

// body(part, its first row of all, first tag, tags, their place) for the tags of every source and part, in the order of
// one chunk: token_slice cuts a source's tokens in order.
template <class Body>
void for_each_source_and_part(const Tape& tape, size_t sources, const Body& body) {
  int64_t place = 0;
  for (size_t source = 0; source < sources; ++source) {
    int64_t first_row = 0;
    for (const Part& part : tape.parts) {
      const auto& offsets = part.received.tag_offsets;
      body(part.received, first_row, offsets[source], offsets[source + 1] - offsets[source], place);
      place += offsets[source + 1] - offsets[source];
      first_row += part.received.rows;
    }
  }
}

}  // namespace

// Before the last exchange of a backward, so that running out of memory can still be told.
void Layer::reserve_merge(const Tape& tape) {
  if (tape.parts.size() == 1) return;
  Workspace& workspace = mesh_->workspace();
  const int64_t R = all_rows(tape), width = std::max(params_.hidden, local_ffn());
  const int64_t most = most_rows(offsets_of_all(tape));
  workspace.get<int32_t>(Workspace::integers, 2 * R);
  workspace.get<int64_t>(Workspace::integers2, kernels::sort_workspace(R, local_experts_.count));
  workspace.get<int64_t>(Workspace::integers3, local_experts_.count + 1);
  for (const auto slot : {Workspace::merge_from, Workspace::merge_to}) workspace.get<int64_t>(slot, R);
  for (const auto slot : {Workspace::merged_left, Workspace::merged_right}) scratch_rows(slot, most, width);
}

// Of each row in the order of one chunk: where it is among the rows of all parts, part after part.
const int64_t* Layer::merged_order(const Tape& tape) {
  Workspace& workspace = mesh_->workspace();
  const int64_t R = all_rows(tape), experts = local_experts_.count;
  const auto sources = static_cast<size_t>(exchange_.size());
  auto* key = workspace.get<int32_t>(Workspace::integers, 2 * R);
  auto* position = workspace.get<int64_t>(Workspace::merge_to, R);
  auto* order = workspace.get<int64_t>(Workspace::merge_from, R);
  for_each_source_and_part(tape, sources, [&](const ReceivePlan& plan, int64_t, int64_t tag, int64_t n, int64_t at) {
    kernels::read_tags(n, plan.row_tags.data() + tag, local_experts_.first, experts, key + at, key + R + at);
  });
  kernels::stable_sort(R, key, experts, position, workspace.get<int64_t>(Workspace::integers3, experts + 1),
                       workspace.get<int64_t>(Workspace::integers2, kernels::sort_workspace(R, experts)));
  for_each_source_and_part(tape, sources,
                           [&](const ReceivePlan& plan, int64_t first, int64_t tag, int64_t n, int64_t at) {
                             kernels::invert_order(n, plan.row_of_tag.data() + tag, first, position + at, order);
                           });
  return order;
}

void Layer::merged_weight_gradients(const Tape& tape) {
  if (tape.parts.size() == 1) return;
  const int64_t* order = merged_order(tape);
  const BackwardRows all = backward_rows(tape, 0);
  const int64_t H = params_.hidden, F = local_ffn();
  const kernels::Array left = scratch_rows(Workspace::merged_left, 0, 0);
  const kernels::Array right = scratch_rows(Workspace::merged_right, 0, 0);
  const auto offsets = offsets_of_all(tape);
  for_each_batch(offsets, [&](const ExpertRows& r) {
    const auto gather = [&](const kernels::Array& from, int64_t width, const kernels::Array& to) {
      kernels::gather_dense(r.rows(), width, from, order + r.first_row(), to);
    };
    const auto add = [&](int64_t m, int64_t n, const Parameter& to) {
      kernels::grouped_weight_gradient(r.groups(), m, n, left, right, to.gradient + r.first() * H * F);
    };
    gather(all.dy, H, left);
    gather(all.gated_a, F, right);
    add(H, F, *w2_);
    gather(all.dh, F, left);
    gather(all.x, H, right);
    add(F, H, *w1_);
    if (gated()) gather(all.dhg, F, left);
    if (gated()) add(F, H, *wg_);
  });
}

}  // namespace moemesh
