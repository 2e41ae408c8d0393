// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P01, P02: which ranks share what.
#include <algorithm>
#include <map>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

using Lists = std::vector<std::vector<int64_t>>;

// Every group of a kind, by its lowest rank, as asked for any rank.
Lists groups(moemesh_mesh mesh, int64_t world, int32_t axes) {
  std::map<int64_t, std::vector<int64_t>> lists;
  for (int64_t rank = 0; rank < world; ++rank) {
    auto group = sized<moemesh_group>();
    OK(moemesh_mesh_get_group(mesh, axes, rank, &group));
    std::vector<int64_t> members(static_cast<size_t>(group.size), -1);
    for (int64_t p = 0; p < group.size; ++p)
      OK(moemesh_mesh_get_group_member(mesh, axes, rank, p, &members[static_cast<size_t>(p)]));
    EXPECT_EQ(members.at(static_cast<size_t>(group.position)), rank);
    EXPECT_EQ(group.groups * group.size, world);
    const auto [place, added] = lists.emplace(members.front(), members);
    EXPECT_EQ(place->second, members) << "two answers for one group";
  }
  Lists result;
  for (auto& [lowest, members] : lists) result.push_back(members);
  return result;
}

// Each rank in exactly one group of the kind.
void expect_partition(const Lists& lists, int64_t world) {
  std::vector<int64_t> seen(static_cast<size_t>(world), 0);
  for (const auto& group : lists)
    for (const int64_t rank : group) ++seen.at(static_cast<size_t>(rank));
  EXPECT_EQ(seen, std::vector<int64_t>(static_cast<size_t>(world), 1));
}

void expect_p01(moemesh_mesh mesh) {
  const Lists tp = groups(mesh, 8, MOEMESH_AXIS_TP), ep = groups(mesh, 8, MOEMESH_AXIS_EP);
  const Lists expert = groups(mesh, 8, MOEMESH_GROUP_EXPERT_GRADIENT),
              shared = groups(mesh, 8, MOEMESH_GROUP_SHARED_GRADIENT);
  EXPECT_EQ(tp, (Lists{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(ep, (Lists{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(groups(mesh, 8, MOEMESH_GROUP_EXPERT_EXCHANGE), ep);
  EXPECT_EQ(expert, (Lists{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(shared, (Lists{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  for (const auto& lists : {tp, ep, expert, shared}) expect_partition(lists, 8);
  for (const auto& a : ep)
    for (const auto& b : expert) {
      int64_t common = 0;
      for (const int64_t rank : a) common += std::count(b.begin(), b.end(), rank);
      EXPECT_LE(common, 1);
    }
  for (int64_t e = 0; e < 4; ++e) {
    int64_t owners = 0;
    for (int64_t rank = 0; rank < 8; ++rank) {
      int64_t first = -1, count = -1;
      OK(moemesh_mesh_get_experts(mesh, 4, rank, &first, &count));
      owners += e >= first && e < first + count;
    }
    EXPECT_EQ(owners, 4) << "expert " << e;
  }
}

moemesh_mesh plan(int64_t world, int32_t tp, int32_t ep, int32_t dp, int32_t pp) {
  auto params = with_defaults(moemesh_mesh_params_init);
  params.tp = tp;
  params.ep = ep;
  params.dp = dp;
  params.pp = pp;
  params.order = "tp-ep-dp-pp";
  moemesh_mesh mesh = nullptr;
  OK(moemesh_mesh_plan(nullptr, world, &params, &mesh));
  return mesh;
}

TEST(Case, P01_planned) {
  moemesh_mesh mesh = plan(8, 2, 2, 2, 1);
  expect_p01(mesh);
  moemesh_mesh_destroy(&mesh);
}

TEST(Case, P01_group_membership) {
  CASE_RANKS(ranks, 8);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(2, 2, 2));
  expect_p01(mesh.get());
  const auto sum = [&](int32_t axes) {
    std::vector<double> value{static_cast<double>(int64_t{1} << mesh.rank())};
    const auto view = view_of(value);
    OK(moemesh_all_reduce(mesh.get(), axes, MOEMESH_SUM, &view));
    return value[0];
  };
  const double expert_sums[] = {17, 34, 68, 136};
  EXPECT_EQ(sum(MOEMESH_GROUP_EXPERT_GRADIENT), expert_sums[mesh.rank() % 4]);
  EXPECT_EQ(sum(MOEMESH_GROUP_SHARED_GRADIENT), mesh.rank() % 2 == 0 ? 85 : 170);
}

void expect_p02(moemesh_mesh mesh) {
  EXPECT_EQ(groups(mesh, 8, MOEMESH_GROUP_EXPERT_GRADIENT), (Lists{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(groups(mesh, 8, MOEMESH_GROUP_SHARED_GRADIENT), (Lists{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  for (int64_t rank = 0; rank < 8; ++rank) {
    auto place = sized<moemesh_coordinates>();
    OK(moemesh_mesh_get_coordinates(mesh, rank, &place));
    EXPECT_EQ(place.pp, rank / 4);
    EXPECT_EQ(place.ep, rank % 2);
    int64_t first = -1, count = -1;
    OK(moemesh_mesh_get_experts(mesh, 4, rank, &first, &count));
    EXPECT_EQ(first, rank % 2 == 0 ? 0 : 2);
    EXPECT_EQ(count, 2);
  }
}

TEST(Case, P02_planned) {
  moemesh_mesh mesh = plan(8, 1, 2, 2, 2);
  expect_p02(mesh);
  moemesh_mesh_destroy(&mesh);
}

// The mesh with its stages; that a stage's own layer has its experts where the plan says. (What goes between them:
// pipeline_test.cpp.)
TEST(Case, P02_group_membership) {
  CASE_RANKS(ranks, 8);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 2, 2));
  expect_p02(mesh.get());
  ScaleModel scale(mesh, {.experts = 4});
  const auto info = scale.model().info("moe.w1");
  EXPECT_EQ(info.first_expert, mesh.rank() % 2 == 0 ? 0 : 2);
  EXPECT_EQ(info.local_experts, 2);
}

}  // namespace
}  // namespace moemesh::test
