// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace moemesh {

// Axes of the two grids, in the order of the public bits (moemesh.h repeats them; capi checks that they are equal).
namespace axis {
inline constexpr int32_t tp = 1, ep = 2, pp = 4, dp = 8, expert_tp = 16, expert_ep = 32, expert_dp = 64;
inline constexpr int32_t dense = tp | ep | pp | dp, expert = expert_tp | expert_ep | expert_dp;
}  // namespace axis

struct AxisSizes {
  int64_t tp = 1, ep = 1, pp = 1, dp = 1, expert_tp = 0;  // expert_tp 0 = tp
};

struct Coordinates {
  int64_t tp = 0, ep = 0, pp = 0, dp = 0, expert_tp = 0, expert_ep = 0, expert_dp = 0;
};

// Where experts live: contiguous blocks by ep coordinate, the first experts mod ep own one more.
struct ExpertRange {
  int64_t first = 0, count = 0;
};
ExpertRange experts_of(int64_t experts, int64_t ep_size, int64_t ep);
int64_t expert_owner(int64_t experts, int64_t ep_size, int64_t expert);  // the ep coordinate

// The mesh as pure integers: mixed-radix arithmetic, constant time and memory whatever the number of ranks. Knows nothing
// of communicators, nodes or errors of the public API. Construction fails by `error` (a text, empty if all is well).
class MeshLayout {
 public:
  // order: four axis names joined by '-', leftmost fastest; empty = "tp-ep-pp-dp".
  MeshLayout(int64_t world, const AxisSizes& sizes, std::string_view order, std::string& error);

  int64_t world() const { return world_; }
  const AxisSizes& sizes() const { return sizes_; }  // expert_tp filled in
  int64_t expert_dp() const { return expert_dp_; }
  const std::string& order() const { return order_; }

  Coordinates coordinates(int64_t rank) const;
  int64_t data_shards() const { return sizes_.dp * sizes_.ep; }
  int64_t data_shard(int64_t rank) const;  // dp*ep_size + ep (dense coordinates)

  // With expert_tp < tp the tokens of a data shard are cut into slices, one for each expert_tp group within the tp group.
  int64_t slices() const { return sizes_.tp / sizes_.expert_tp; }
  // The ranks of `rank`'s tp group that have its expert_tp coordinate, ascending: member i has slice i.
  std::vector<int64_t> slice_members(int64_t rank) const;

  int64_t axis_size(int32_t axis) const;    // one axis bit
  int64_t axis_stride(int32_t axis) const;  // ranks (dense) or index within the stage's renumbering (expert)

  // axes: dense bits, or expert bits with or without pp; anything else is invalid, as is 0.
  static bool valid_axes(int32_t axes);
  int64_t group_size(int32_t axes) const;
  int64_t group_position(int32_t axes, int64_t rank) const;                  // in ascending rank order
  int64_t group_member(int32_t axes, int64_t rank, int64_t position) const;  // a rank

 private:
  struct Digit {
    int32_t axis;
    int64_t size;
    int64_t stride;
  };
  // implementation detail: the digits of the dense grid over ranks, and of the expert grid over the stage index
  std::array<Digit, 4> dense_{};
  std::array<Digit, 3> expert_{};
  int64_t world_ = 0;
  int64_t expert_dp_ = 1;
  AxisSizes sizes_;
  std::string order_;
};

}  // namespace moemesh
