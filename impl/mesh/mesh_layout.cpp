// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#define FMT_HEADER_ONLY 1  // this folder includes nothing of ours, so not the formatter in impl/base either
#include "impl/mesh/mesh_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace moemesh {
namespace {

constexpr std::string_view default_order = "tp-ep-pp-dp";
constexpr int64_t largest = std::numeric_limits<int64_t>::max();

struct AxisName {
  std::string_view name;
  int32_t axis;
};
constexpr AxisName axis_names[] = {{"tp", axis::tp}, {"ep", axis::ep}, {"pp", axis::pp}, {"dp", axis::dp}};

int32_t axis_of(std::string_view name) {
  for (const AxisName& known : axis_names)
    if (known.name == name) return known.axis;
  return 0;
}

int64_t size_of(const AxisSizes& sizes, int32_t bit) {
  switch (bit) {
    case axis::tp:
      return sizes.tp;
    case axis::ep:
      return sizes.ep;
    case axis::pp:
      return sizes.pp;
    default:
      return sizes.dp;
  }
}

// The four axis bits of an order string, fastest first; false unless every axis occurs exactly once.
bool parse_order(std::string_view order, std::array<int32_t, 4>& axes) {
  int32_t seen = 0;
  for (size_t place = 0; place < axes.size(); ++place) {
    const size_t end = order.find('-');
    if ((place == axes.size() - 1) != (end == std::string_view::npos)) return false;
    axes[place] = axis_of(order.substr(0, end));
    seen |= axes[place];
    order.remove_prefix(end == std::string_view::npos ? order.size() : end + 1);
  }
  return seen == axis::dense;
}

std::string check_sizes(const AxisSizes& sizes, int64_t world) {
  if (world < 1) return fmt::format("world must be at least 1, got {}", world);
  int64_t product = 1;
  for (const AxisName& axis : axis_names) {
    const int64_t size = size_of(sizes, axis.axis);
    if (size < 1) return fmt::format("{} must be at least 1, got {}", axis.name, size);
    if (product > largest / size) return fmt::format("tp*ep*pp*dp overflows 64 bits at {} = {}", axis.name, size);
    product *= size;
  }
  if (product == world) return {};
  return fmt::format("tp*ep*pp*dp = {}*{}*{}*{} = {}, expected the world size {}", sizes.tp, sizes.ep, sizes.pp,
                     sizes.dp, product, world);
}

std::string check_expert_tp(const AxisSizes& sizes) {
  if (sizes.expert_tp < 0) return fmt::format("expert_tp must not be negative, got {}", sizes.expert_tp);
  if (sizes.expert_tp == 0 || sizes.tp % sizes.expert_tp == 0) return {};
  return fmt::format("expert_tp must divide tp: tp = {}, expert_tp = {}", sizes.tp, sizes.expert_tp);
}

// A group is a lattice of mixed-radix numbers: the digits of `axes` are free, the others are those of `member`. Members
// rank by value, because digits are stored fastest first.
template <class Digits>
int64_t lattice_size(const Digits& digits, int32_t axes) {
  int64_t size = 1;
  for (const auto& digit : digits)
    if (digit.axis & axes) size *= digit.size;
  return size;
}

// How many numbers of the lattice are smaller than `limit`: compares digit by digit from the slowest one.
template <class Digits>
int64_t lattice_below(const Digits& digits, int32_t axes, int64_t member, int64_t limit) {
  int64_t combinations = lattice_size(digits, axes);
  if (limit >= digits.back().stride * digits.back().size) return combinations;
  int64_t below = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    const int64_t bound = limit / digit->stride % digit->size;
    if (digit->axis & axes) {
      combinations /= digit->size;
      below += bound * combinations;
      continue;
    }
    const int64_t fixed = member / digit->stride % digit->size;
    if (fixed != bound) return fixed < bound ? below + combinations : below;
  }
  return below;
}

template <class Digits>
int64_t lattice_member(const Digits& digits, int32_t axes, int64_t member, int64_t position) {
  int64_t value = 0;
  for (const auto& digit : digits) {
    const bool free = (digit.axis & axes) != 0;
    value += (free ? position % digit.size : member / digit.stride % digit.size) * digit.stride;
    if (free) position /= digit.size;
  }
  return value;
}

// Cuts the pipeline digit (its size and stride) out of a rank, and puts it back.
struct StageIndex {
  int64_t stages, stride;
  int64_t index(int64_t rank) const { return rank % stride + rank / (stride * stages) * stride; }
  int64_t stage(int64_t rank) const { return rank / stride % stages; }
  int64_t rank(int64_t index, int64_t stage) const {
    return index % stride + stage * stride + index / stride * (stride * stages);
  }
};

// The members of a group of expert axes within one block of ranks that the pipeline digit does not cut, counted in
// stage indices. Needed because with expert_tp != tp an expert digit may lie on both sides of pp.
struct Block {
  int64_t first, count;
};
template <class Digits>
Block block_of(const Digits& digits, int32_t axes, int64_t index, int64_t block, int64_t stride) {
  const int64_t first = lattice_below(digits, axes, index, block * stride);
  return {first, lattice_below(digits, axes, index, (block + 1) * stride) - first};
}

}  // namespace

ExpertRange experts_of(int64_t experts, int64_t ep_size, int64_t ep) {
  const int64_t base = experts / ep_size, longer = experts % ep_size;
  return {ep * base + std::min(ep, longer), base + (ep < longer ? 1 : 0)};
}

int64_t expert_owner(int64_t experts, int64_t ep_size, int64_t expert) {
  const int64_t base = experts / ep_size, longer = experts % ep_size;
  const int64_t in_longer = longer * (base + 1);
  return expert < in_longer ? expert / (base + 1) : longer + (expert - in_longer) / base;
}

MeshLayout::MeshLayout(int64_t world, const AxisSizes& sizes, std::string_view order, std::string& error)
    : world_(world), sizes_(sizes), order_(order.empty() ? default_order : order) {
  std::array<int32_t, 4> axes{};
  error = check_sizes(sizes, world);
  if (error.empty()) error = check_expert_tp(sizes);
  if (error.empty() && !parse_order(order_, axes))
    error = fmt::format("order must name tp, ep, pp and dp once each, joined by '-'; got '{}'", order_);
  if (!error.empty()) return;
  if (sizes_.expert_tp == 0) sizes_.expert_tp = sizes_.tp;
  expert_dp_ = sizes_.tp / sizes_.expert_tp * sizes_.dp;
  int64_t stride = 1, index_stride = 1;
  size_t next_expert = 0;
  for (size_t place = 0; place < axes.size(); ++place) {
    dense_[place] = {axes[place], size_of(sizes_, axes[place]), stride};
    stride *= dense_[place].size;
    if (axes[place] == axis::pp) continue;
    Digit& digit = expert_[next_expert++];
    digit = axes[place] == axis::tp   ? Digit{axis::expert_tp, sizes_.expert_tp, index_stride}
            : axes[place] == axis::ep ? Digit{axis::expert_ep, sizes_.ep, index_stride}
                                      : Digit{axis::expert_dp, expert_dp_, index_stride};
    index_stride *= digit.size;
  }
}

Coordinates MeshLayout::coordinates(int64_t rank) const {
  const int64_t index = StageIndex{sizes_.pp, axis_stride(axis::pp)}.index(rank);
  const auto dense = [&](int32_t bit) { return rank / axis_stride(bit) % axis_size(bit); };
  const auto expert = [&](int32_t bit) { return index / axis_stride(bit) % axis_size(bit); };
  return {.tp = dense(axis::tp),
          .ep = dense(axis::ep),
          .pp = dense(axis::pp),
          .dp = dense(axis::dp),
          .expert_tp = expert(axis::expert_tp),
          .expert_ep = expert(axis::expert_ep),
          .expert_dp = expert(axis::expert_dp)};
}

int64_t MeshLayout::data_shard(int64_t rank) const {
  const Coordinates at = coordinates(rank);
  return at.dp * sizes_.ep + at.ep;
}

int64_t MeshLayout::axis_size(int32_t bit) const {
  for (const Digit& digit : dense_)
    if (digit.axis == bit) return digit.size;
  for (const Digit& digit : expert_)
    if (digit.axis == bit) return digit.size;
  return 0;
}

int64_t MeshLayout::axis_stride(int32_t bit) const {
  for (const Digit& digit : dense_)
    if (digit.axis == bit) return digit.stride;
  for (const Digit& digit : expert_)
    if (digit.axis == bit) return digit.stride;
  return 0;
}

bool MeshLayout::valid_axes(int32_t axes) {
  const bool dense = axes != 0 && (axes & ~axis::dense) == 0;
  const bool expert = (axes & axis::expert) != 0 && (axes & ~(axis::expert | axis::pp)) == 0;
  return dense || expert;
}

int64_t MeshLayout::group_size(int32_t axes) const {
  if ((axes & axis::expert) == 0) return lattice_size(dense_, axes);
  return lattice_size(expert_, axes) * (axes & axis::pp ? sizes_.pp : 1);
}

int64_t MeshLayout::group_position(int32_t axes, int64_t rank) const {
  if ((axes & axis::expert) == 0) return lattice_below(dense_, axes, rank, rank);
  const StageIndex stages{sizes_.pp, axis_stride(axis::pp)};
  const int64_t index = stages.index(rank);
  const int64_t below = lattice_below(expert_, axes, index, index);
  if ((axes & axis::pp) == 0) return below;
  const Block block = block_of(expert_, axes, index, index / stages.stride, stages.stride);
  return block.first * stages.stages + stages.stage(rank) * block.count + below - block.first;
}

int64_t MeshLayout::group_member(int32_t axes, int64_t rank, int64_t position) const {
  if ((axes & axis::expert) == 0) return lattice_member(dense_, axes, rank, position);
  const StageIndex stages{sizes_.pp, axis_stride(axis::pp)};
  const int64_t index = stages.index(rank);
  if ((axes & axis::pp) == 0) return stages.rank(lattice_member(expert_, axes, index, position), stages.stage(rank));
  const int64_t nearby = lattice_member(expert_, axes, index, position / stages.stages);
  const Block block = block_of(expert_, axes, index, nearby / stages.stride, stages.stride);
  const int64_t within = position - block.first * stages.stages;
  return stages.rank(lattice_member(expert_, axes, index, block.first + within % block.count), within / block.count);
}

std::vector<int64_t> MeshLayout::slice_members(int64_t rank) const {
  const int64_t own = coordinates(rank).expert_tp;
  std::vector<int64_t> members;
  for (int64_t i = 0; i < sizes_.tp; ++i) {
    const int64_t peer = group_member(axis::tp, rank, i);
    if (coordinates(peer).expert_tp == own) members.push_back(peer);
  }
  return members;
}

}  // namespace moemesh
