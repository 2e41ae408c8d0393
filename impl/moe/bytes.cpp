// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// How many bytes a tape takes: by its arrays, and planned from the numbers of tokens, copies and rows.
#include <algorithm>
#include <cmath>

#include "impl/moe/lanes.hpp"
#include "impl/moe/layer.hpp"
#include "impl/moe/odds.hpp"

namespace moemesh {
namespace {

constexpr int64_t word = 8, half_word = 4;

template <class... Buffers>
int64_t used(const Buffers&... buffers) {
  return (buffers.used_bytes() + ... + 0);
}
template <class... Buffers>
int64_t held(const Buffers&... buffers) {
  return (buffers.bytes() + ... + 0);
}

// f(array...) of what each struct has.
template <class F>
int64_t of_decision(const Tape& tape, const F& f) {
  const Decision& d = tape.decision;
  const Balance& b = tape.balance;
  return f(d.logits, d.chosen, d.kept, d.gates, d.mask, b.rows, b.sequence_tokens, b.aux_weights);
}
template <class F>
int64_t of_plans(const Tape& tape, const F& f) {
  int64_t sum = 0;
  for (const Part& part : tape.parts) {
    const SourcePlan& s = part.source;
    const ReceivePlan& r = part.received;
    sum += f(s.copy_of_choice, s.copy_token, s.first_tag, s.row_tags, s.slot_of_tag);
    sum += f(r.row_tags, r.row_of_tag, r.copy_of_row, r.gate_of_row, r.first_tag);
  }
  return sum;
}
template <class F>
int64_t of_copies(const KeptCopies& kept, const F& f) {
  int64_t sum = 0;
  for (const auto& buffer : kept.dispatched) sum += f(buffer);
  return sum;
}
template <class F>
int64_t of_hidden(const KeptHidden& kept, const F& f) {
  int64_t sum = 0;
  for (size_t i = 0; i < kept.hidden.size(); ++i) sum += f(kept.hidden[i], kept.hidden_gate[i]);
  return sum;
}

moemesh_tape_bytes summed(moemesh_tape_bytes bytes) {
  bytes.total = bytes.decision + bytes.plans + bytes.copies + bytes.hidden + bytes.shared_hidden;
  return bytes;
}

}  // namespace

moemesh_tape_bytes Layer::bytes_of(const Tape& tape) {
  const auto f = [](const auto&... buffers) { return used(buffers...); };
  moemesh_tape_bytes bytes{};
  bytes.decision = of_decision(tape, f);
  bytes.plans = of_plans(tape, f);
  if (tape.copies) bytes.copies = of_copies(*tape.copies, f);
  if (tape.hidden) {
    bytes.hidden = of_hidden(*tape.hidden, f);
    bytes.shared_hidden = used(tape.hidden->shared_hidden, tape.hidden->shared_hidden_gate);
  }
  return summed(bytes);
}

void Layer::count_bytes_of(Tape& tape) {
  count_no_more(tape);
  tape.counted_bytes = bytes_of(tape).total;
  ++memory_.tapes;
  memory_.live += tape.counted_bytes;
  memory_.peak = std::max(memory_.peak, memory_.live);
}

void Layer::count_no_more(Tape& tape) {
  if (tape.counted_bytes == 0) return;
  --memory_.tapes;
  memory_.live -= tape.counted_bytes;
  tape.counted_bytes = 0;
}

// Of what is not on a live tape: tapes and arrays kept for reuse. Live ones are counted by what they use.
LayerMemory Layer::memory() const {
  const auto f = [](const auto&... buffers) { return held(buffers...); };
  LayerMemory memory = memory_;
  memory.reserved = memory.live;
  for (const auto& tape : spare_tapes_) memory.reserved += of_decision(*tape, f) + of_plans(*tape, f);
  for (const auto& copies : spare_copies_) memory.reserved += of_copies(*copies, f);
  for (const auto& hidden : spare_hidden_)
    memory.reserved += of_hidden(*hidden, f) + held(hidden->shared_hidden, hidden->shared_hidden_gate);
  return memory;
}

// The formula of moemesh.h.
moemesh_tape_bytes Layer::plan_bytes(const moemesh_layer_load& load, int32_t recompute) const {
  const int64_t T = load.tokens, E = params_.experts, k = params_.top_k, S = balanced() ? load.sequences : 0;
  const int64_t matrices = gated() ? 2 : 1, others = load.copies_received - load.own_copies;
  const int64_t slice = slice_of(T, slices_.rank()).count;
  moemesh_tape_bytes bytes{};
  bytes.decision = T * (E * half_word + k * 2 * half_word + 1) + S * (E * word + 2 * word);
  if (params_.capacity_factor > 0) bytes.decision += T * k * half_word;
  bytes.plans = slice * k * word + load.copies_sent * (half_word + word) + load.rows_sent * (word + half_word) +
                load.rows_received * (2 * word + 2 * half_word) + load.copies_received * word +
                2 * word * params_.chunks;
  if (recompute != MOEMESH_RECOMPUTE_FULL)
    bytes.copies =
        others * params_.hidden * kernels::bytes_of(element()) + (load.rows_received - load.own_rows) * tag_bytes;
  if (recompute == MOEMESH_RECOMPUTE_NONE) {
    const int64_t each = matrices * kernels::bytes_of(row_element());
    bytes.hidden = load.rows_received * local_ffn() * each;
    bytes.shared_hidden = T * local_shared_ffn() * each;
  }
  return summed(bytes);
}

moemesh_layer_load Layer::balanced_load(int64_t tokens) const {
  const int64_t ep = exchange_.size(), E = params_.experts;
  const auto n = static_cast<double>(slice_of(tokens, slices_.rank()).count);
  double copies = 0, rows = 0;
  for (int64_t p = 0; p < ep; ++p) {
    const Odds odds = odds_of(E, experts_of(E, ep, p).count, params_.top_k);
    copies += n * odds.copies;
    rows += n * odds.rows;
  }
  const Odds own = odds_of(E, local_experts_.count, params_.top_k);
  const auto all = n * static_cast<double>(ep);  // every peer has a slice like this one
  moemesh_layer_load load{};
  load.tokens = tokens;
  load.sequences = 1;
  load.copies_sent = std::llround(copies);
  load.rows_sent = std::llround(rows);
  load.copies_received = std::llround(all * own.copies);
  load.rows_received = std::llround(all * own.rows);
  load.own_copies = std::llround(n * own.copies);
  load.own_rows = std::llround(n * own.rows);
  return load;
}

}  // namespace moemesh
