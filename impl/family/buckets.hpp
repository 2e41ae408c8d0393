// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "impl/family/flat_view.hpp"

namespace moemesh {

inline constexpr int64_t default_bucket_bytes = int64_t{25} << 20;
inline constexpr int64_t default_chunk_bytes = int64_t{1} << 18;
inline constexpr int64_t most_chunk_bytes = int64_t{1} << 30;

// How a family's parameters lie one after the other and which of them are reduced together: integers alone, the same on
// every rank of a stage, for the family and for the bill.
// plain: reduced as soon as their gradients are in. partial (summed over tp first) and tied (summed over two stages after):
// at the step's end.
enum class BucketKind : int32_t { plain, partial, tied };

struct BucketItem {
  std::string_view name;
  BucketKind kind = BucketKind::plain;
  int64_t elements = 0;  // here
  int64_t weight = 0;    // of the rank that has most of it: where buckets end must be the same everywhere
};

// By kind, then by name with the numbers in it as numbers: "block2" before "block10".
bool lies_before(const BucketItem& a, const BucketItem& b);

struct Buckets {
  std::vector<Shards> shards;     // in the flat order
  std::vector<BucketKind> kinds;  // of each
  std::vector<size_t> of_item;    // for each item
  int64_t plain() const;          // how many are: they come first
};

// items: in their order. A plain bucket is closed once its weight is `most_weight` or more; the other kinds have one each. There
// is at least one bucket.
Buckets cut(std::span<const BucketItem> items, int64_t most_weight, int64_t owners);
int64_t most_weight(int64_t bucket_bytes);  // 0: the default

// Each owner's part of a bucket goes in chunks of so many elements, the last one shorter.
int64_t elements_of_chunk(const Shards& shards, int64_t chunk_bytes);
int64_t chunks_of(const Shards& shards, int64_t chunk_bytes);

}  // namespace moemesh
