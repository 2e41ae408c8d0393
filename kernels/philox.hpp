// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011): four random words from
// a counter and a key, with no state.
namespace moemesh::kernels::detail {

struct Words {
  uint32_t word[4];
};

KOKKOS_INLINE_FUNCTION Words philox_round(const Words& x, uint32_t key0, uint32_t key1) {
  const uint64_t left = uint64_t{0xD2511F53} * x.word[0];
  const uint64_t right = uint64_t{0xCD9E8D57} * x.word[2];
  return {{static_cast<uint32_t>(right >> 32) ^ x.word[1] ^ key0, static_cast<uint32_t>(right),
           static_cast<uint32_t>(left >> 32) ^ x.word[3] ^ key1, static_cast<uint32_t>(left)}};
}

KOKKOS_INLINE_FUNCTION Words philox(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    counter = philox_round(counter, key0, key1);
    key0 += 0x9E3779B9;  // golden ratio
    key1 += 0xBB67AE85;  // sqrt(3) - 1
  }
  return counter;
}

// The words of one element.
KOKKOS_INLINE_FUNCTION Words element_words(uint64_t key, uint64_t index) {
  return philox({{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0}}, static_cast<uint32_t>(key),
                static_cast<uint32_t>(key >> 32));
}

}  // namespace moemesh::kernels::detail
