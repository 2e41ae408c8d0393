// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// Integer plans: which copies go where (at the source), and in which order rows are computed (at the expert's rank).
#include <algorithm>

#include "impl/base/error.hpp"
#include "impl/moe/layer.hpp"

namespace moemesh {
namespace {

void sort(Workspace& workspace, int64_t n, const int32_t* key, int64_t buckets, int64_t* position,
          std::vector<int64_t>& offsets) {
  auto* told = workspace.get_shared<int64_t>(Workspace::offsets, buckets + 1);
  auto* scratch = workspace.get<int64_t>(Workspace::integers2, kernels::sort_workspace(n, buckets));
  kernels::stable_sort(n, key, buckets, position, told, scratch);
  offsets.assign(told, told + buckets + 1);
}

// values[i] for every i of `places`, as the host sees them.
void look_up(Workspace& workspace, const int64_t* values, const std::vector<int64_t>& places,
             std::vector<int64_t>& found) {
  const auto n = static_cast<int64_t>(places.size());
  auto* index = workspace.get_shared<int64_t>(Workspace::offsets, 2 * n);
  std::copy(places.begin(), places.end(), index);
  kernels::pick(n, values, index, index + n);
  kernels::finish();
  found.assign(index + n, index + 2 * n);
}

}  // namespace

// The slice's tokens in chunks.
void Layer::plan_parts(Tape& tape) {
  for (int64_t i = 0; i < params_.chunks; ++i) {
    Part& part = tape.parts[static_cast<size_t>(i)];
    part.slice = token_slice(tape.slice.count, i, params_.chunks);
    part.slice.first += tape.slice.first;
    plan_source(tape, part);
  }
}

void Layer::plan_source(const Tape& tape, Part& part) {
  const auto& allocator = mesh_->allocator();
  Workspace& workspace = mesh_->workspace();
  const int64_t T = part.slice.count, n = T * params_.top_k, first = part.slice.first * params_.top_k;
  const int32_t* sent = tape.decision.sent() + first;
  SourcePlan& plan = part.source;
  auto* destination = workspace.get<int32_t>(Workspace::integers, n);
  kernels::copy_destinations(T, params_.top_k, sent, owner_.data(), destination);
  plan.copy_of_choice.reserve(allocator, n);
  sort(workspace, n, destination, exchange_.size(), plan.copy_of_choice.data(), plan.copy_offsets);
  plan.copies = plan.copy_offsets.back();
  plan.copy_token.reserve(allocator, plan.copies);
  plan.first_tag.reserve(allocator, plan.copies + 1);
  auto* rows = workspace.get<int32_t>(Workspace::integers3, plan.copies);
  kernels::describe_copies(T, params_.top_k, sent, owner_.data(), plan.copy_of_choice.data(), plan.copy_token.data(),
                           rows);
  kernels::exclusive_sum(plan.copies, rows, plan.first_tag.data());
  look_up(workspace, plan.first_tag.data(), plan.copy_offsets, plan.tag_offsets);
  plan.tags = plan.tag_offsets.back();
  plan.row_tags.reserve(allocator, plan.tags);
  plan.slot_of_tag.reserve(allocator, plan.tags);
  kernels::write_tags(T, params_.top_k, sent, tape.decision.gates.data() + first, owner_.data(),
                      plan.copy_of_choice.data(), plan.first_tag.data(), plan.row_tags.data(), plan.slot_of_tag.data());
}

void Layer::index_received(Part& part) {
  const auto& allocator = mesh_->allocator();
  Workspace& workspace = mesh_->workspace();
  ReceivePlan& plan = part.received;
  const int64_t n = plan.rows;
  auto* key = workspace.get<int32_t>(Workspace::integers, 2 * n);
  int32_t* last = key + n;
  kernels::read_tags(n, plan.row_tags.data(), local_experts_.first, local_experts_.count, key, last);
  auto* copy_of_tag = workspace.get<int64_t>(Workspace::integers3, n + 1);
  kernels::exclusive_sum(n, last, copy_of_tag);
  plan.row_of_tag.reserve(allocator, n);
  sort(workspace, n, key, local_experts_.count, plan.row_of_tag.data(), plan.expert_offsets);
  auto* copies = workspace.get_shared<int64_t>(Workspace::offsets, 1);
  kernels::copy_bytes(copies, copy_of_tag + n, sizeof *copies);
  kernels::finish();
  require(*copies == plan.copies && plan.expert_offsets.back() == n, MOEMESH_ERROR_INTERNAL,
          "layer {}: received {} copies and {} rows, expected {} and {}", name_, *copies, plan.expert_offsets.back(),
          plan.copies, n);
  plan.copy_of_row.reserve(allocator, n);
  plan.gate_of_row.reserve(allocator, n);
  plan.first_tag.reserve(allocator, plan.copies + 1);
  kernels::index_rows(n, plan.row_tags.data(), copy_of_tag, plan.row_of_tag.data(), plan.copies,
                      plan.copy_of_row.data(), plan.gate_of_row.data(), plan.first_tag.data());
}

}  // namespace moemesh
