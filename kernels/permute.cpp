// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/permute.hpp"

#include <string>

#include "kernels/detail.hpp"

namespace moemesh::kernels {

using detail::for_each;

namespace {

// Items of a block of the sort. At least as many as buckets, so that the counts take no more room than the items. On a host
// a block is one work item's; on a device each of its items looks at those before it, which is why it is shorter.
int64_t sort_block(int64_t buckets) { return detail::larger(detail::kOnHost ? 1024 : 256, buckets); }

// A host's sort: three passes, of which two read the keys.

// counts[block, bucket]
void count_keys(int64_t n, const int32_t* key, int64_t buckets, int64_t* counts) {
  const int64_t block = sort_block(buckets);
  for_each(
      "moemesh::count_keys", detail::ceil_div(n, block), KOKKOS_LAMBDA(int64_t b) {
        int64_t* count = counts + b * buckets;
        for (int64_t k = 0; k < buckets; ++k) count[k] = 0;
        for (int64_t i = b * block; i < detail::smaller(n, (b + 1) * block); ++i) {
          if (key[i] >= 0) ++count[key[i]];
        }
      });
}

// counts[block, bucket] becomes the number in earlier blocks; totals[bucket] the number in all.
void scan_blocks(int64_t blocks, int64_t buckets, int64_t* counts, int64_t* totals) {
  for_each(
      "moemesh::scan_blocks", buckets, KOKKOS_LAMBDA(int64_t k) {
        int64_t sum = 0;
        for (int64_t b = 0; b < blocks; ++b) {
          const int64_t here = counts[b * buckets + k];
          counts[b * buckets + k] = sum;
          sum += here;
        }
        totals[k] = sum;
      });
}

void place_keys(int64_t n, const int32_t* key, int64_t buckets, const int64_t* offsets, int64_t* counts,
                int64_t* position) {
  const int64_t block = sort_block(buckets);
  for_each(
      "moemesh::place_keys", detail::ceil_div(n, block), KOKKOS_LAMBDA(int64_t b) {
        int64_t* next = counts + b * buckets;
        for (int64_t i = b * block; i < detail::smaller(n, (b + 1) * block); ++i) {
          position[i] = key[i] < 0 ? -1 : offsets[key[i]] + next[key[i]]++;
        }
      });
}

// sums may be values. One work item: Kokkos' scan is an allocation, and slower for the tokens of a microbatch.
template <class Value>
void sums_on_host(int64_t n, const Value* values, int64_t* sums) {
  for_each(
      "moemesh::exclusive_sum", 1, KOKKOS_LAMBDA(int64_t) {
        int64_t sum = 0;
        for (int64_t i = 0; i < n; ++i) {
          const int64_t value = values[i];
          sums[i] = sum;
          sum += value;
        }
        sums[n] = sum;
      });
}

void sort_on_host(int64_t n, const int32_t* key, int64_t buckets, int64_t* position, int64_t* offsets,
                  int64_t* workspace) {
  count_keys(n, key, buckets, workspace);
  scan_blocks(detail::ceil_div(n, sort_block(buckets)), buckets, workspace, offsets);
  sums_on_host(buckets, offsets, offsets);
  place_keys(n, key, buckets, offsets, workspace, position);
}

// A device's: no item waits for another. Neighbouring items read the same keys of their block at once, from a cache.

// How many of the keys [begin, end) are `bucket`.
KOKKOS_INLINE_FUNCTION int64_t count_equal(const int32_t* key, int64_t begin, int64_t end, int32_t bucket) {
  int32_t count = 0;
  for (int64_t i = begin; i < end; ++i) count += key[i] == bucket;
  return count;
}

// counts[bucket, block]
void count_blocks(int64_t n, const int32_t* key, int64_t buckets, int64_t* counts) {
  const int64_t block = sort_block(buckets), blocks = detail::ceil_div(n, block);
  for_each(
      "moemesh::count_keys", blocks * buckets, KOKKOS_LAMBDA(int64_t i) {
        const int64_t b = i / buckets, k = i % buckets;
        counts[k * blocks + b] =
            count_equal(key, b * block, detail::smaller(n, (b + 1) * block), static_cast<int32_t>(k));
      });
}

// counts becomes the sums of what is before each of them; offsets[k] that of a bucket's first block.
void scan_counts(int64_t blocks, int64_t buckets, int64_t* counts, int64_t* offsets) {
  static const std::string label("moemesh::scan_blocks");
  const int64_t n = blocks * buckets;
  const detail::Unlocked access;
  Kokkos::parallel_scan(
      label, detail::range(n + 1), KOKKOS_LAMBDA(int64_t i, int64_t & sum, bool last) {
        const int64_t here = i < n ? counts[i] : 0;
        if (last && i < n) counts[i] = sum;
        if (last && i % blocks == 0) offsets[i / blocks] = sum;
        sum += here;
      });
}

void place_blocks(int64_t n, const int32_t* key, int64_t buckets, const int64_t* counts, int64_t* position) {
  const int64_t block = sort_block(buckets), blocks = detail::ceil_div(n, block);
  for_each(
      "moemesh::place_keys", n, KOKKOS_LAMBDA(int64_t i) {
        const int64_t b = i / block;
        position[i] = key[i] < 0 ? -1 : counts[key[i] * blocks + b] + count_equal(key, b * block, i, key[i]);
      });
}

void zero_offsets(int64_t buckets, int64_t* offsets) {
  for_each(
      "moemesh::scan_blocks", buckets + 1, KOKKOS_LAMBDA(int64_t k) { offsets[k] = 0; });
}

void sort_on_device(int64_t n, const int32_t* key, int64_t buckets, int64_t* position, int64_t* offsets,
                    int64_t* workspace) {
  if (n <= 0 || buckets <= 0) return zero_offsets(buckets, offsets);
  count_blocks(n, key, buckets, workspace);
  scan_counts(detail::ceil_div(n, sort_block(buckets)), buckets, workspace, offsets);
  place_blocks(n, key, buckets, workspace, position);
}

void sums_on_device(int64_t n, const int32_t* values, int64_t* sums) {
  static const std::string label("moemesh::exclusive_sum");
  const detail::Unlocked access;
  Kokkos::parallel_scan(
      label, detail::range(n + 1), KOKKOS_LAMBDA(int64_t i, int64_t & sum, bool last) {
        if (last) sums[i] = sum;
        if (i < n) sum += values[i];
      });
}

KOKKOS_INLINE_FUNCTION int32_t expert_of(const RowTag& tag) { return tag.expert < 0 ? ~tag.expert : tag.expert; }

// Whether choice j (an index of chosen) goes to the destination `to`.
KOKKOS_INLINE_FUNCTION bool goes_to(const int32_t* chosen, const int32_t* owner, int64_t j, int32_t to) {
  return chosen[j] >= 0 && owner[chosen[j]] == to;
}

}  // namespace

int64_t sort_workspace(int64_t n, int64_t buckets) { return detail::ceil_div(n, sort_block(buckets)) * buckets; }

// Reads 4 bytes of an item twice and writes 8; the minimum reads them once. The counts are 8 bytes for each bucket and 1024
// items, or a device's 256, written once and read and written again.
void stable_sort(int64_t n, const int32_t* key, int64_t buckets, int64_t* position, int64_t* offsets,
                 int64_t* workspace) {
  if constexpr (detail::kOnHost) {
    sort_on_host(n, key, buckets, position, offsets, workspace);
  } else {
    sort_on_device(n, key, buckets, position, offsets, workspace);
  }
  detail::finish();
}

// Reads 4 bytes of an item and writes 8: the minimum, but that a device's scan reads them twice.
void exclusive_sum(int64_t n, const int32_t* values, int64_t* sums) {
  if constexpr (detail::kOnHost) {
    sums_on_host(n, values, sums);
  } else {
    sums_on_device(n, values, sums);
  }
  detail::finish();
}

// The rest are one pass of an item or a token each, without a float but what is carried. What follows counts the bytes of
// an item, or of one of a token's k choices; the owners of experts are in a cache.

// Reads 16, 8 of them wherever the index points, and writes 8.
void pick(int64_t n, const int64_t* from, const int64_t* index, int64_t* to) {
  for_each(
      "moemesh::pick", n, KOKKOS_LAMBDA(int64_t i) { to[i] = from[index[i]]; });
}

// Reads 4 and writes 4.
void copy_destinations(int64_t tokens, int32_t top_k, const int32_t* chosen, const int32_t* owner,
                       int32_t* destination) {
  for_each(
      "moemesh::copy_destinations", tokens, KOKKOS_LAMBDA(int64_t t) {
        const int64_t first = t * top_k;
        for (int64_t j = first; j < first + top_k; ++j) {
          destination[j] = chosen[j] < 0 ? -1 : owner[chosen[j]];
          for (int64_t i = first; i < j; ++i) {
            if (destination[i] >= 0 && destination[i] == destination[j]) destination[j] = -1;
          }
        }
      });
}

// Reads 12 and writes 8 of each copy.
void describe_copies(int64_t tokens, int32_t top_k, const int32_t* chosen, const int32_t* owner, const int64_t* copy,
                     int32_t* copy_token, int32_t* copy_rows) {
  for_each(
      "moemesh::describe_copies", tokens, KOKKOS_LAMBDA(int64_t t) {
        const int64_t end = (t + 1) * top_k;
        for (int64_t j = t * top_k; j < end; ++j) {
          if (copy[j] < 0) continue;
          int32_t rows = 0;
          for (int64_t i = j; i < end; ++i) rows += goes_to(chosen, owner, i, owner[chosen[j]]);
          copy_token[copy[j]] = static_cast<int32_t>(t);
          copy_rows[copy[j]] = rows;
        }
      });
}

// Reads 16, and 8 of each copy, and writes 12.
void write_tags(int64_t tokens, int32_t top_k, const int32_t* chosen, const float* gates, const int32_t* owner,
                const int64_t* copy, const int64_t* first_tag, RowTag* tags, int32_t* slot) {
  for_each(
      "moemesh::write_tags", tokens, KOKKOS_LAMBDA(int64_t t) {
        const int64_t end = (t + 1) * top_k;
        for (int64_t j = t * top_k; j < end; ++j) {
          if (copy[j] < 0) continue;
          int64_t at = first_tag[copy[j]];
          for (int64_t i = j; i < end; ++i) {
            if (!goes_to(chosen, owner, i, owner[chosen[j]])) continue;
            tags[at] = {chosen[i], gates[i]};
            slot[at++] = static_cast<int32_t>(i);
          }
          tags[at - 1].expert = ~tags[at - 1].expert;
        }
      });
}

// Reads 4 of the 8 of a tag and writes 8.
void read_tags(int64_t n, const RowTag* tags, int64_t first_expert, int64_t local_experts, int32_t* key,
               int32_t* last) {
  for_each(
      "moemesh::read_tags", n, KOKKOS_LAMBDA(int64_t i) {
        const int64_t local = expert_of(tags[i]) - first_expert;
        key[i] = local >= 0 && local < local_experts ? static_cast<int32_t>(local) : -1;
        last[i] = tags[i].expert < 0;
      });
}

// Reads 24 and writes 8, and 8 of each copy, the former wherever the row is.
void index_rows(int64_t n, const RowTag* tags, const int64_t* copy_of_tag, const int64_t* position, int64_t copies,
                int32_t* row_copy, float* row_gate, int64_t* first_tag) {
  for_each(
      "moemesh::index_rows", n + 1, KOKKOS_LAMBDA(int64_t i) {
        if (i == n) {
          first_tag[copies] = n;
          return;
        }
        if (i == 0 || tags[i - 1].expert < 0) first_tag[copy_of_tag[i]] = i;
        if (position[i] < 0) return;
        row_copy[position[i]] = static_cast<int32_t>(copy_of_tag[i]);
        row_gate[position[i]] = tags[i].gate;
      });
}

// Reads 16 and writes 8 wherever `to` points.
void invert_order(int64_t n, const int64_t* from, int64_t first, const int64_t* to, int64_t* index) {
  for_each(
      "moemesh::invert_order", n, KOKKOS_LAMBDA(int64_t i) { index[to[i]] = first + from[i]; });
}

// Reads 12, 4 of them wherever the row is, and writes 4.
void write_gate_gradients(int64_t n, const int64_t* position, const float* row_dgate, RowTag* tags) {
  for_each(
      "moemesh::write_gate_gradients", n,
      KOKKOS_LAMBDA(int64_t i) { tags[i].gate = position[i] < 0 ? 0.0f : row_dgate[position[i]]; });
}

// Reads 8 and writes 4 wherever the slot is.
void read_gate_gradients(int64_t n, const int32_t* slot, const RowTag* tags, float* dgates) {
  for_each(
      "moemesh::read_gate_gradients", n, KOKKOS_LAMBDA(int64_t i) { dgates[slot[i]] = tags[i].gate; });
}

}  // namespace moemesh::kernels
