// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace moemesh {

// 64-bit hashes (XXH64) for comparing configurations and for seeding initial weights: the same on every machine.
uint64_t hash_bytes(const void* data, int64_t bytes, uint64_t seed);
inline int64_t hash_string(std::string_view text, uint64_t seed = 0) {
  return static_cast<int64_t>(hash_bytes(text.data(), static_cast<int64_t>(text.size()), seed));
}
inline int64_t bits_of(double value) { return std::bit_cast<int64_t>(value); }

}  // namespace moemesh
