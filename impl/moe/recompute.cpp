// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// What a tape keeps for its backward, and where the rest is made again. Arrays that recompute drops belong to a tape only while
// it keeps them; between tapes they lie in the layer's pools, so that a steady step allocates nothing.
#include <algorithm>
#include <utility>

#include "impl/moe/expert_rows.hpp"
#include "impl/moe/layer.hpp"

namespace moemesh {
namespace {

template <class T>
std::unique_ptr<T> take(std::vector<std::unique_ptr<T>>& pool) {
  if (pool.empty()) return std::make_unique<T>();
  auto taken = std::move(pool.back());
  pool.pop_back();
  return taken;
}

template <class T>
void give(std::vector<std::unique_ptr<T>>& pool, std::unique_ptr<T>& kept) {
  if (kept) pool.push_back(std::move(kept));
}

}  // namespace

std::unique_ptr<Tape> Layer::fresh_tape() {
  auto tape = take(spare_tapes_);
  tape->parts.resize(static_cast<size_t>(params_.chunks));
  return tape;
}

void Layer::recycle(std::unique_ptr<Tape> tape) {
  drop_kept(*tape);
  count_no_more(*tape);
  spare_tapes_.push_back(std::move(tape));
}

void Layer::take_kept(Tape& tape, bool copies, bool hidden) {
  if (copies && !tape.copies) {
    tape.copies = take(spare_copies_);
    tape.copies->dispatched.resize(tape.parts.size());
  }
  if (hidden && !tape.hidden) {
    tape.hidden = take(spare_hidden_);
    tape.hidden->hidden.resize(tape.parts.size());
    tape.hidden->hidden_gate.resize(tape.parts.size());
  }
}

void Layer::drop_kept(Tape& tape) {
  give(spare_copies_, tape.copies);
  give(spare_hidden_, tape.hidden);
}

// Rows of W1 x and Wg x: on the tape where it keeps them, else in scratch for one product's experts at a time.
void Layer::reserve_hidden(Tape& tape, size_t part) {
  const int64_t F = local_ffn();
  const ReceivePlan& plan = tape.parts[part].received;
  if (!tape.hidden) {
    hidden_again(most_rows(plan.expert_offsets), F);
    return;
  }
  const int64_t bytes = plan.rows * F * kernels::bytes_of(row_element());
  tape.hidden->hidden[part].reserve(mesh_->allocator(), bytes);
  if (gated()) tape.hidden->hidden_gate[part].reserve(mesh_->allocator(), bytes);
}

Layer::HiddenRows Layer::hidden_rows(Tape& tape, size_t part, const ExpertRows& r) {
  const int64_t F = local_ffn();
  if (!tape.hidden) return hidden_again(r.rows(), F);
  const auto rows = [&](const Buffer<std::byte>& kept) {
    return kernels::Array(kept.data(), row_element()).from(r.first_row() * F);
  };
  return {rows(tape.hidden->hidden[part]), gated() ? rows(tape.hidden->hidden_gate[part]) : nullptr};
}

Layer::HiddenRows Layer::hidden_again(int64_t rows, int64_t ffn) {
  return {scratch_rows(Workspace::hidden_again, rows, ffn),
          gated() ? scratch_rows(Workspace::hidden_gate_again, rows, ffn) : nullptr};
}

}  // namespace moemesh
