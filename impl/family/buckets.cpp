// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/buckets.hpp"

#include <algorithm>
#include <compare>

namespace moemesh {
namespace {

constexpr int64_t element = sizeof(float);

bool digit(char c) { return c >= '0' && c <= '9'; }

// The number at the front, without its leading zeros, as text: longer is larger. It is taken off.
std::string_view take_number(std::string_view& text) {
  size_t begin = 0, end = 0;
  while (end < text.size() && digit(text[end])) ++end;
  while (begin + 1 < end && text[begin] == '0') ++begin;
  const std::string_view number = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return number;
}

std::strong_ordering compare_numbers(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

std::strong_ordering compare_names(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const auto order = compare_numbers(take_number(a), take_number(b));
      if (order != 0) return order;
      continue;
    }
    if (a.front() != b.front()) return a.front() <=> b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  const auto rest = a.size() <=> b.size();
  return rest != 0 ? rest : whole_a <=> whole_b;  // "a01" and "a1" are two names
}

}  // namespace

bool lies_before(const BucketItem& a, const BucketItem& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  return compare_names(a.name, b.name) < 0;
}

int64_t Buckets::plain() const { return std::count(kinds.begin(), kinds.end(), BucketKind::plain); }

Buckets cut(std::span<const BucketItem> items, int64_t most_weight, int64_t owners) {
  Buckets buckets;
  int64_t weight = 0, end = 0;
  for (const BucketItem& item : items) {
    const bool full = item.kind == BucketKind::plain && weight >= most_weight;
    if (buckets.shards.empty() || item.kind != buckets.kinds.back() || full) {
      buckets.shards.push_back({0, owners, end});
      buckets.kinds.push_back(item.kind);
      weight = 0;
    }
    buckets.of_item.push_back(buckets.shards.size() - 1);
    buckets.shards.back().size += item.elements;
    weight += item.weight;
    end += item.elements;
  }
  if (items.empty()) {
    buckets.shards.push_back({0, owners});
    buckets.kinds.push_back(BucketKind::plain);
  }
  return buckets;
}

int64_t most_weight(int64_t bucket_bytes) {
  const int64_t bytes = bucket_bytes == 0 ? default_bucket_bytes : bucket_bytes;
  return bytes / element + (bytes % element != 0 ? 1 : 0);
}

int64_t elements_of_chunk(const Shards& shards, int64_t chunk_bytes) {
  return std::clamp<int64_t>(shards.part(), 1, std::max<int64_t>(1, chunk_bytes / element));
}

int64_t chunks_of(const Shards& shards, int64_t chunk_bytes) {
  const int64_t count = elements_of_chunk(shards, chunk_bytes);
  return (shards.part() + count - 1) / count;
}

}  // namespace moemesh
