// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/base/hash.hpp"

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace moemesh {

uint64_t hash_bytes(const void* data, int64_t bytes, uint64_t seed) {
  return XXH64(data, static_cast<size_t>(bytes), seed);
}

}  // namespace moemesh
