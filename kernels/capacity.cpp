// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/capacity.hpp"

#include <string>

#include "kernels/detail.hpp"
#include "kernels/permute.hpp"

namespace moemesh::kernels {
namespace {

using detail::for_each;

// Integers in the order of the gates; -0 and +0 are one.
KOKKOS_INLINE_FUNCTION uint32_t gate_key(float gate) {
  const uint32_t bits = Kokkos::bit_cast<uint32_t>(gate + 0.0f);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

// The rows of one expert: `count` assignments in token order.
struct ExpertRows {
  const int64_t* rows;
  int64_t count;
};

KOKKOS_INLINE_FUNCTION int64_t count_from(const ExpertRows& expert, const float* gates, uint32_t least) {
  int64_t count = 0;
  for (int64_t r = 0; r < expert.count; ++r) count += gate_key(gates[expert.rows[r]]) >= least;
  return count;
}

// The slots-th largest key, built bit by bit: the largest number that so many keys reach.
KOKKOS_INLINE_FUNCTION uint32_t last_kept_key(const ExpertRows& expert, const float* gates, int64_t slots) {
  uint32_t key = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const uint32_t more = key | (1u << bit);
    if (count_from(expert, gates, more) >= slots) key = more;
  }
  return key;
}

KOKKOS_INLINE_FUNCTION void drop_row(int64_t row, int32_t* kept, float* gates) {
  kept[row] = -1;
  gates[row] = 0;
}

KOKKOS_INLINE_FUNCTION void drop_smallest(const ExpertRows& expert, int64_t slots, float* gates, int32_t* kept) {
  const uint32_t last = last_kept_key(expert, gates, slots);
  int64_t equal = slots - (last == UINT32_MAX ? 0 : count_from(expert, gates, last + 1));
  for (int64_t r = 0; r < expert.count; ++r) {
    const uint32_t key = gate_key(gates[expert.rows[r]]);
    if (key > last || (key == last && equal-- > 0)) continue;
    drop_row(expert.rows[r], kept, gates);
  }
}

void keep_all(int64_t n, const int32_t* chosen, int32_t* kept) {
  for_each(
      "moemesh::keep_all", n, KOKKOS_LAMBDA(int64_t i) { kept[i] = chosen[i]; });
}

void drop_last(int64_t n, int64_t slots, const int64_t* position, const int64_t* offsets, float* gates, int32_t* kept) {
  for_each(
      "moemesh::drop_last", n, KOKKOS_LAMBDA(int64_t i) {
        if (kept[i] >= 0 && position[i] - offsets[kept[i]] >= slots) drop_row(i, kept, gates);
      });
}

KOKKOS_INLINE_FUNCTION int64_t rows_beyond(const int64_t* offsets, int64_t e, int64_t slots) {
  const int64_t beyond = offsets[e + 1] - offsets[e] - slots;
  return beyond > 0 ? beyond : 0;
}

int64_t count_beyond(int64_t experts, const int64_t* offsets, int64_t slots) {
  int64_t dropped = 0;
  if constexpr (detail::kOnHost) {  // a reduction of Kokkos' is an allocation
    detail::finish();
    for (int64_t e = 0; e < experts; ++e) dropped += rows_beyond(offsets, e, slots);
  } else {
    const detail::Unlocked access;
    Kokkos::parallel_reduce(
        "moemesh::count_beyond", detail::range(experts),
        KOKKOS_LAMBDA(int64_t e, int64_t & sum) { sum += rows_beyond(offsets, e, slots); }, dropped);
  }
  return dropped;
}

void invert(int64_t n, const int64_t* position, int64_t* rows) {
  for_each(
      "moemesh::invert", n, KOKKOS_LAMBDA(int64_t i) {
        if (position[i] >= 0) rows[position[i]] = i;
      });
}

// rows: scratch for the assignments sorted by expert.
void drop_on_host(const Capacity& capacity, int64_t n, const int64_t* position, const int64_t* offsets, float* gates,
                  int32_t* kept, int64_t* rows) {
  invert(n, position, rows);
  const int64_t slots = capacity.slots;
  for_each(
      "moemesh::drop_smallest_gates", capacity.experts, KOKKOS_LAMBDA(int64_t e) {
        const ExpertRows expert = {rows + offsets[e], offsets[e + 1] - offsets[e]};
        if (expert.count > slots) drop_smallest(expert, slots, gates, kept);
      });
}

// An assignment as one number: larger for a larger gate, of equal ones for the earlier. There are fewer than 2^32.
KOKKOS_INLINE_FUNCTION uint64_t ranked(float gate, int64_t i) {
  return uint64_t{gate_key(gate)} << 32 | (UINT32_MAX - static_cast<uint32_t>(i));
}
KOKKOS_INLINE_FUNCTION int64_t assignment_of(uint64_t rank) { return UINT32_MAX - static_cast<uint32_t>(rank); }

void rank_gates(int64_t n, const int64_t* position, const float* gates, uint64_t* ranks) {
  for_each(
      "moemesh::rank_gates", n, KOKKOS_LAMBDA(int64_t i) {
        if (position[i] >= 0) ranks[position[i]] = ranked(gates[i], i);
      });
}

using Team = detail::Teams::member_type;

// The slots-th largest, bit by bit as above, by all of a block's lanes.
KOKKOS_INLINE_FUNCTION uint64_t last_kept_rank(const Team& team, int64_t count, const uint64_t* ranks, int64_t slots) {
  uint64_t rank = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const uint64_t more = rank | uint64_t{1} << bit;
    int64_t reach = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, count), [&](int64_t r, int64_t& sum) { sum += ranks[r] >= more; }, reach);
    if (reach >= slots) rank = more;
  }
  return rank;
}

// A block has as many warps as an expert may have rows to look at.
#ifdef MOEMESH_DEVICE_CUDA
constexpr int kBlockWarps = 16;
#else
constexpr int kBlockWarps = 1;
#endif

// ranks: scratch, by expert.
void drop_on_device(const Capacity& capacity, int64_t n, const int64_t* position, const int64_t* offsets, float* gates,
                    int32_t* kept, uint64_t* ranks) {
  static const std::string label("moemesh::drop_smallest_gates");
  rank_gates(n, position, gates, ranks);
  const int64_t slots = capacity.slots;
  const detail::Teams blocks(detail::space(), static_cast<int>(capacity.experts), kBlockWarps,
                             static_cast<int>(detail::kLanes));
  const detail::Unlocked access;
  Kokkos::parallel_for(
      label, blocks, KOKKOS_LAMBDA(const Team& team) {
        const int64_t e = team.league_rank(), count = offsets[e + 1] - offsets[e];
        if (count <= slots) return;
        const uint64_t* own = ranks + offsets[e];
        const uint64_t last = last_kept_rank(team, count, own, slots);
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count), [&](int64_t r) {
          if (own[r] < last) drop_row(assignment_of(own[r]), kept, gates);
        });
      });
}

void drop_smallest_gates(const Capacity& capacity, int64_t n, const int64_t* position, const int64_t* offsets,
                         float* gates, int32_t* kept, int64_t* scratch) {
  if constexpr (detail::kOnHost) {
    drop_on_host(capacity, n, position, offsets, gates, kept, scratch);
  } else {
    drop_on_device(capacity, n, position, offsets, gates, kept, reinterpret_cast<uint64_t*>(scratch));
  }
}

}  // namespace

int64_t limit_workspace(int64_t n, int64_t experts) { return 2 * n + experts + 1 + sort_workspace(n, experts); }

// Beside the sort: reads 4 bytes of an assignment and writes 4, and by position reads 16 more. By gate it writes 8 and reads
// them for each bit of a rank, from a cache: all passes but the first.
int64_t limit_rows(const Capacity& capacity, int64_t n, const int32_t* chosen, float* gates, int32_t* kept,
                   int64_t* workspace) {
  int64_t *position = workspace, *rows = position + n, *offsets = rows + n, *scratch = offsets + capacity.experts + 1;
  stable_sort(n, chosen, capacity.experts, position, offsets, scratch);
  keep_all(n, chosen, kept);
  if (capacity.drop == Drop::by_position)
    drop_last(n, capacity.slots, position, offsets, gates, kept);
  else
    drop_smallest_gates(capacity, n, position, offsets, gates, kept, rows);
  return count_beyond(capacity.experts, offsets, capacity.slots);
}

}  // namespace moemesh::kernels
