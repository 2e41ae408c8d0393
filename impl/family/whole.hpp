// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

#include "impl/family/family.hpp"

namespace moemesh {

// Whole parameters, whatever their sharding. `flat`: the quantity in the family's flat order on this rank; element i of it
// is valid here if i is in [begin, end) (a shard of optimizer state has its first element at `begin`). fp32, or bf16 where its
// elements have two bytes.
struct FlatQuantity {
  FlatView flat;  // its element 0 is family element `begin`
  int64_t begin = 0, end = 0;
};

void check_expert(const Parameter& parameter, int64_t expert);  // throws INVALID_ARGUMENT

// Every rank of the stage gets the unsplit matrix of one expert (or of a SHARED parameter). Each element is taken from one
// rank only and moved as bits. Collective over the stage.
// bits: room for the matrix, which the caller got before the ranks agreed to start (see reserve_read).
void read_whole(const Parameter& parameter, const FlatQuantity& quantity, int64_t expert,
                const SharedBuffer<uint32_t>& bits, float* whole);
SharedBuffer<uint32_t> reserve_read(const Parameter& parameter);

// This rank's part of `whole` goes to where the quantity keeps it. Local.
void write_whole(const Parameter& parameter, const FlatQuantity& quantity, int64_t expert, const float* whole);

}  // namespace moemesh
