// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "impl/base/memory.hpp"
#include "impl/base/view.hpp"
#include "kernels/balance.hpp"
#include "kernels/permute.hpp"

namespace moemesh {

// What the router decided for the tokens of one microbatch. The router's backward and the balance of the experts want
// what was chosen; what is sent is what a capacity kept of it.
struct Decision {
  int64_t tokens = 0;
  int64_t routed = 0;      // tokens that have a choice
  int64_t nonfinite = 0;   // tokens that have none because of their logits
  int64_t slots = 0;       // of each expert; 0 without a capacity
  int64_t dropped = 0;     // rows beyond the slots
  bool limited = false;    // the slots may be fewer than the rows: `kept` holds
  Buffer<float> logits;    // [T, E]
  Buffer<int32_t> chosen;  // [T, k], before any drop
  Buffer<int32_t> kept;    // [T, k]: chosen, or -1 where dropped; used where limited
  Buffer<float> gates;     // [T, k]; 0 where dropped
  Buffer<uint8_t> mask;    // [T], of the caller; used where has_mask
  bool has_mask = false;

  const int32_t* sent() const { return limited ? kept.data() : chosen.data(); }
};

// The balance losses of one microbatch, and what their gradient needs. Used where the layer has one of them.
struct Balance {
  kernels::Sequences sequences;
  Buffer<int64_t> rows;                   // [S, E]: choices of each expert in each sequence, before any drop
  SharedBuffer<int64_t> sequence_tokens;  // [S]: tokens that have a choice
  SharedBuffer<double> aux_weights;       // [S]: factor of sum_te rows[s, e]*P_te in what the step minimizes
  double z_weight = 0;                    // factor of sum_t logsumexp^2
  double aux_loss = 0, z_loss = 0;        // coefficients included, the loss scale not
};

// The source's half of the exchange, tokens counted from the slice's first: its copies, sorted by destination and then by token.
struct SourcePlan {
  int64_t copies = 0;
  int64_t tags = 0;                   // rows of all copies
  std::vector<int64_t> copy_offsets;  // [ep+1]: copies of each destination
  std::vector<int64_t> tag_offsets;   // [ep+1]: tags of each destination
  Buffer<int64_t> copy_of_choice;     // [T*k]: the copy, where this choice is the first of its token there, else -1
  Buffer<int32_t> copy_token;         // [copies]
  Buffer<int64_t> first_tag;          // [copies+1]
  Buffer<kernels::RowTag> row_tags;   // [tags]
  Buffer<int32_t> slot_of_tag;        // [tags]: token*k + choice
};

// The expert rank's half: what came from each source, and the order of its rows (by expert, source, token).
struct ReceivePlan {
  int64_t copies = 0;
  int64_t rows = 0;
  std::vector<int64_t> copy_offsets;    // [ep+1]: copies from each source
  std::vector<int64_t> tag_offsets;     // [ep+1]
  Buffer<kernels::RowTag> row_tags;     // [rows], in (source, copy) order
  Buffer<int64_t> row_of_tag;           // [rows]
  Buffer<int32_t> copy_of_row;          // [rows]
  Buffer<float> gate_of_row;            // [rows]
  Buffer<int64_t> first_tag;            // [copies+1]
  std::vector<int64_t> expert_offsets;  // [local experts+1]: rows of each expert
};

// The tokens of the data shard that this rank sends to the experts: all of them unless expert_tp < tp.
struct TokenSlice {
  int64_t first = 0, count = 0;
};
inline TokenSlice token_slice(int64_t tokens, int64_t index, int64_t slices) {
  const int64_t first = tokens * index / slices;
  return {first, tokens * (index + 1) / slices - first};
}

inline TypedRows rows_of(const TypedRows& all, const TokenSlice& slice) {
  if (!all.data) return {nullptr, all.element, slice.count, all.width, all.ld, all.on_host};  // of a failed rank
  return {all.data + slice.first * all.row_bytes(), all.element, slice.count, all.width, all.ld, all.on_host};
}
inline Rows<float> rows_of(const Rows<float>& all, const TokenSlice& slice) {
  if (!all.data) return {nullptr, slice.count, all.width, all.ld, all.on_host};
  return {all.data + slice.first * all.ld, slice.count, all.width, all.ld, all.on_host};
}

// One chunk of the slice's tokens, exchanged by itself.
struct Part {
  TokenSlice slice;  // of the data shard's tokens
  SourcePlan source;
  ReceivePlan received;
};

// What recompute can drop. Taken from the layer's pools while a tape holds it; one entry for each part.
struct KeptCopies {
  std::vector<MessageBuffer<std::byte>> dispatched;  // messages of dispatch: copies of other ranks' tokens (and tags)
  bool tagged = false;                               // with tags: those that came again have none
};
struct KeptHidden {
  // Of the rows' element: [rows, F/tp], products with W1 and Wg, before the activation; [T, shared F/tp].
  std::vector<Buffer<std::byte>> hidden, hidden_gate;
  Buffer<std::byte> shared_hidden, shared_hidden_gate;
};

// What a forward leaves for its backward. Buffers grow and are reused: a layer keeps consumed tapes.
struct Tape {
  int64_t step = 0;  // serial of the step that its forward ran in
  int32_t microbatch = 0;
  int64_t number = 0;  // of the layer's training forwards in the step
  TypedRows x;         // the caller's, borrowed, wherever it lies
  Decision decision;
  Balance balance;
  TokenSlice slice;
  std::vector<Part> parts;
  std::unique_ptr<KeptCopies> copies;  // null: not kept
  std::unique_ptr<KeptHidden> hidden;
  int64_t counted_bytes = 0;  // as the layer's memory counts it
};

}  // namespace moemesh
