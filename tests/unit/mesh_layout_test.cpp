// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/mesh/mesh_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace moemesh {
namespace {

using Ranks = std::vector<int64_t>;
constexpr int32_t shared_gradient = axis::dp | axis::ep;

MeshLayout make(int64_t world, const AxisSizes& sizes, std::string_view order = {}) {
  std::string error;
  MeshLayout layout(world, sizes, order, error);
  EXPECT_EQ(error, "");
  return layout;
}

std::string error_of(int64_t world, const AxisSizes& sizes, std::string_view order = {}) {
  std::string error;
  MeshLayout layout(world, sizes, order, error);
  return error;
}

// All distinct groups by the library's own answers, in order of their first rank.
std::vector<Ranks> groups(const MeshLayout& layout, int32_t axes) {
  std::set<Ranks> found;
  for (int64_t rank = 0; rank < layout.world(); ++rank) {
    Ranks members;
    for (int64_t i = 0; i < layout.group_size(axes); ++i) members.push_back(layout.group_member(axes, rank, i));
    found.insert(members);
  }
  return {found.begin(), found.end()};
}

TEST(MeshLayout, WorkedMeshOfEightRanks) {
  const MeshLayout layout = make(8, {.tp = 1, .ep = 2, .pp = 2, .dp = 2});
  for (int64_t rank = 0; rank < 8; ++rank) {
    const Coordinates at = layout.coordinates(rank);
    EXPECT_EQ(rank, at.ep + 2 * at.pp + 4 * at.dp);
  }
  const std::vector<Ranks> ep{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, pp{{0, 2}, {1, 3}, {4, 6}, {5, 7}};
  EXPECT_EQ(groups(layout, axis::ep), ep);
  EXPECT_EQ(groups(layout, axis::expert_ep), ep);
  EXPECT_EQ(groups(layout, axis::pp), pp);
  EXPECT_EQ(groups(layout, axis::expert_dp), (std::vector<Ranks>{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(groups(layout, shared_gradient), (std::vector<Ranks>{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_EQ(experts_of(4, 2, 0).first, 0);
  EXPECT_EQ(experts_of(4, 2, 1).first, 2);
  EXPECT_EQ(experts_of(4, 2, 1).count, 2);
  EXPECT_EQ(layout.axis_stride(axis::pp), 2);
}

TEST(MeshLayout, WorkedMeshOf512Ranks) {
  const MeshLayout layout = make(512, {.tp = 8, .ep = 8, .pp = 1, .dp = 8});
  for (int64_t rank = 0; rank < 512; ++rank)
    for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(layout.group_member(axis::tp, rank, i), rank / 8 * 8 + i);
  EXPECT_EQ(layout.group_size(axis::expert_dp), 8);
  EXPECT_EQ(layout.group_size(shared_gradient), 64);
  EXPECT_EQ(make(64, {.tp = 8, .ep = 8}).group_size(axis::expert_dp), 1);
}

TEST(MeshLayout, P01_GroupsOfTpEpDp) {
  const MeshLayout layout = make(8, {.tp = 2, .ep = 2, .pp = 1, .dp = 2}, "tp-ep-dp-pp");
  EXPECT_EQ(groups(layout, axis::tp), (std::vector<Ranks>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  const std::vector<Ranks> exchange{{0, 2}, {1, 3}, {4, 6}, {5, 7}}, expert{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  EXPECT_EQ(groups(layout, axis::expert_ep), exchange);
  EXPECT_EQ(groups(layout, axis::expert_dp), expert);
  EXPECT_EQ(groups(layout, shared_gradient), (std::vector<Ranks>{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  for (const Ranks& a : exchange)
    for (const Ranks& b : expert) {
      Ranks both;
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
      EXPECT_LE(both.size(), 1u);
    }
  for (int64_t e = 0; e < 4; ++e) {
    int64_t holders = 0;
    for (int64_t rank = 0; rank < 8; ++rank) {
      const ExpertRange range = experts_of(4, 2, layout.coordinates(rank).expert_ep);
      holders += e >= range.first && e < range.first + range.count;
    }
    EXPECT_EQ(holders, 4);
  }
}

TEST(MeshLayout, P02_ExpertsOfALaterStage) {
  const MeshLayout layout = make(8, {.tp = 1, .ep = 2, .pp = 2, .dp = 2}, "tp-ep-dp-pp");
  for (int64_t rank = 0; rank < 8; ++rank) {
    const Coordinates at = layout.coordinates(rank);
    EXPECT_EQ(at.pp, rank / 4);
    EXPECT_EQ(at.ep, rank % 2);
    EXPECT_EQ(experts_of(4, 2, at.expert_ep).first, rank % 2 * 2);
    EXPECT_EQ(experts_of(4, 2, at.expert_ep).count, 2);
  }
  EXPECT_EQ(groups(layout, axis::expert_dp), (std::vector<Ranks>{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(groups(layout, shared_gradient), (std::vector<Ranks>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

// The brute force: walks all ranks in rank order, builds every rank's coordinates by counting, and the groups by comparing.
struct Naive {
  std::vector<std::map<int32_t, int64_t>> at;

  Naive(const AxisSizes& sizes, const std::vector<std::string>& order) {
    const int64_t expert_dp = sizes.tp * sizes.dp / sizes.expert_tp;
    std::map<std::string, std::pair<int32_t, int64_t>> dense{{"tp", {axis::tp, sizes.tp}},
                                                             {"ep", {axis::ep, sizes.ep}},
                                                             {"pp", {axis::pp, sizes.pp}},
                                                             {"dp", {axis::dp, sizes.dp}}};
    std::map<std::string, std::pair<int32_t, int64_t>> expert{{"tp", {axis::expert_tp, sizes.expert_tp}},
                                                              {"ep", {axis::expert_ep, sizes.ep}},
                                                              {"dp", {axis::expert_dp, expert_dp}}};
    const int64_t world = sizes.tp * sizes.ep * sizes.pp * sizes.dp;
    std::map<int32_t, int64_t> odometer{{axis::tp, 0}, {axis::ep, 0}, {axis::pp, 0}, {axis::dp, 0}};
    std::map<int64_t, std::map<int32_t, int64_t>> wheel;  // one expert odometer per stage
    for (int64_t rank = 0; rank < world; ++rank) {
      auto& experts = wheel[odometer[axis::pp]];
      at.push_back(odometer);
      for (const auto& [name, value] : expert) at.back()[value.first] = experts[value.first];
      for (const std::string& name : order)
        if (name != "pp" && ++experts[expert[name].first] < expert[name].second)
          break;
        else if (name != "pp")
          experts[expert[name].first] = 0;
      for (const std::string& name : order)
        if (++odometer[dense[name].first] < dense[name].second)
          break;
        else
          odometer[dense[name].first] = 0;
    }
  }

  Ranks group(int32_t axes, int64_t rank) const {
    const int32_t kept = (axes & axis::expert ? axis::expert | axis::pp : axis::dense) & ~axes;
    Ranks members;
    for (int64_t other = 0; other < static_cast<int64_t>(at.size()); ++other) {
      bool same = true;
      for (const auto& [bit, value] : at[rank])
        if (bit & kept) same = same && at[other].at(bit) == value;
      if (same) members.push_back(other);
    }
    return members;
  }
};

void compare_with_brute_force(const AxisSizes& sizes, const std::vector<std::string>& order) {
  const int64_t world = sizes.tp * sizes.ep * sizes.pp * sizes.dp;
  const std::string text = order[0] + "-" + order[1] + "-" + order[2] + "-" + order[3];
  SCOPED_TRACE(text);
  const MeshLayout layout = make(world, sizes, text);
  const Naive naive(sizes, order);
  for (int64_t rank = 0; rank < world; ++rank) {
    const Coordinates c = layout.coordinates(rank);
    const Ranks got{c.tp, c.ep, c.pp, c.dp, c.expert_tp, c.expert_ep, c.expert_dp};
    Ranks want;
    for (const auto& [bit, value] : naive.at[rank]) want.push_back(value);
    ASSERT_EQ(got, want) << "rank " << rank;
  }
  for (int32_t axes = 1; axes < 128; ++axes) {
    if (!MeshLayout::valid_axes(axes)) continue;
    std::set<int64_t> covered;
    for (int64_t rank = 0; rank < world; ++rank) {
      const Ranks want = naive.group(axes, rank);
      ASSERT_EQ(layout.group_size(axes), static_cast<int64_t>(want.size()));
      for (int64_t i = 0; i < static_cast<int64_t>(want.size()); ++i)
        ASSERT_EQ(layout.group_member(axes, rank, i), want[i]) << "axes " << axes << " rank " << rank;
      ASSERT_EQ(want[layout.group_position(axes, rank)], rank) << "axes " << axes;
      if (want[0] != rank) continue;
      for (int64_t member : want) ASSERT_TRUE(covered.insert(member).second);
    }
    ASSERT_EQ(static_cast<int64_t>(covered.size()), world) << "groups of axes " << axes << " do not cover the world";
  }
}

TEST(MeshLayout, EveryOrderAgreesWithBruteForce) {
  const AxisSizes meshes[] = {{2, 2, 2, 2, 2}, {4, 2, 2, 1, 1}, {4, 2, 3, 2, 2},
                              {6, 3, 2, 1, 3}, {1, 3, 2, 2, 1}, {4, 1, 2, 3, 1}};
  for (const AxisSizes& sizes : meshes) {
    std::vector<std::string> order{"dp", "ep", "pp", "tp"};
    int count = 0;
    do {
      compare_with_brute_force(sizes, order);
      ++count;
    } while (std::next_permutation(order.begin(), order.end()) && !::testing::Test::HasFatalFailure());
    EXPECT_EQ(count, 24);
  }
}

TEST(MeshLayout, ExpertTpSmallerThanTpSpansTpPeers) {
  const MeshLayout layout = make(8, {.tp = 4, .ep = 2, .pp = 1, .dp = 1, .expert_tp = 1});
  EXPECT_EQ(layout.expert_dp(), 4);
  EXPECT_EQ(groups(layout, axis::expert_ep), (std::vector<Ranks>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(groups(layout, axis::expert_dp), (std::vector<Ranks>{{0, 2, 4, 6}, {1, 3, 5, 7}}));
}

TEST(MeshLayout, ManyRanksAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const MeshLayout layout = make(100000, {.tp = 8, .ep = 25, .pp = 20, .dp = 25, .expert_tp = 2});
  int64_t checked = 0;
  for (int64_t rank = 0; rank < layout.world(); ++rank)
    for (int32_t axes : {shared_gradient, axis::expert_dp, axis::expert_ep, axis::pp, axis::expert_ep | axis::pp})
      checked += layout.group_member(axes, rank, layout.group_position(axes, rank)) == rank;
  EXPECT_EQ(checked, 5 * layout.world());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  const int64_t huge = int64_t{1} << 60;
  const MeshLayout large = make(huge, {.tp = 1 << 15, .ep = 1 << 15, .pp = 1 << 15, .dp = 1 << 15});
  EXPECT_EQ(large.group_member(axis::dense, 0, huge - 1), huge - 1);
  EXPECT_EQ(large.group_position(axis::dense, huge - 1), huge - 1);
}

TEST(MeshLayout, UnevenExperts) {
  for (int64_t experts : {0, 1, 3, 7, 8, 61})
    for (int64_t ep : {1, 2, 3, 8}) {
      int64_t next = 0;
      for (int64_t i = 0; i < ep; ++i) {
        const ExpertRange range = experts_of(experts, ep, i);
        EXPECT_EQ(range.first, next);
        EXPECT_EQ(range.count, experts / ep + (i < experts % ep));
        for (int64_t e = range.first; e < range.first + range.count; ++e) EXPECT_EQ(expert_owner(experts, ep, e), i);
        next += range.count;
      }
      EXPECT_EQ(next, experts);
    }
}

TEST(MeshLayout, NamesWhatIsWrong) {
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(error_of(8, {.tp = 0}), "tp must be at least 1, got 0"));
  EXPECT_TRUE(says(error_of(8, {.dp = -2}), "dp must be at least 1, got -2"));
  EXPECT_TRUE(says(error_of(0, {}), "world"));
  EXPECT_TRUE(says(error_of(8, {.tp = 3, .ep = 2}), "3*2*1*1 = 6, expected the world size 8"));
  EXPECT_TRUE(says(error_of(8, {.tp = 8, .expert_tp = 3}), "expert_tp must divide tp: tp = 8, expert_tp = 3"));
  EXPECT_TRUE(says(error_of(8, {.tp = 8, .expert_tp = -1}), "expert_tp"));
  const int64_t large = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_TRUE(says(error_of(large, {.tp = large, .ep = 3}), "overflows 64 bits at ep"));
  for (const char* order :
       {"tp-ep-pp", "tp-ep-pp-pp", "tp-ep-pp-dp-", "tp-ep-pp-dp-tp", "tp,ep,pp,dp", "-tp-ep-pp", "TP-ep-pp-dp"})
    EXPECT_TRUE(says(error_of(1, {}, order), std::string("got '") + order + "'")) << order;
}

TEST(MeshLayout, ValidAxes) {
  for (int32_t axes : {1, 4, 10, 15, 16, 32, 64, 112, 64 | 4}) EXPECT_TRUE(MeshLayout::valid_axes(axes)) << axes;
  for (int32_t axes : {0, 128, -1, 1 | 16, 8 | 64, 256 | 1}) EXPECT_FALSE(MeshLayout::valid_axes(axes)) << axes;
}

}  // namespace
}  // namespace moemesh
