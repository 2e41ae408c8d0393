// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The arithmetic of the communication bill: numbers worked out by hand on two meshes, bytes between nodes by brute force, and
// what is refused. That it equals the ledger of real steps is tested in tests/multi.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "moemesh.h"

namespace moemesh {
namespace {

void check(int32_t status) {
  if (status == MOEMESH_OK) return;
  char text[500];
  moemesh_last_error(nullptr, text, sizeof text, nullptr);
  throw std::runtime_error(text);
}

template <class P>
P defaults(int32_t (*init)(P*, int64_t)) {
  P params{};
  check(init(&params, sizeof params));
  return params;
}

moemesh_mesh_params sizes(int32_t tp, int32_t ep, int32_t pp, int32_t dp, int32_t ranks_per_node) {
  auto params = defaults(moemesh_mesh_params_init);
  params.tp = tp;
  params.ep = ep;
  params.pp = pp;
  params.dp = dp;
  params.ranks_per_node = ranks_per_node;
  return params;
}

// A planned mesh.
class Planned {
 public:
  Planned(int64_t world, const moemesh_mesh_params& params) : world_(world) {
    check(moemesh_mesh_plan(nullptr, world, &params, &mesh_));
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;
  ~Planned() { moemesh_mesh_destroy(&mesh_); }
  moemesh_mesh get() const { return mesh_; }
  int64_t world() const { return world_; }
  moemesh_coordinates at(int64_t rank) const {
    moemesh_coordinates coordinates{};
    coordinates.struct_size = sizeof coordinates;
    check(moemesh_mesh_get_coordinates(mesh_, rank, &coordinates));
    return coordinates;
  }

 private:
  int64_t world_;
  moemesh_mesh mesh_ = nullptr;
};

class Bill {
 public:
  Bill(const Planned& mesh, const moemesh_bill_params& params) {
    check(moemesh_bill_create(mesh.get(), &params, &bill_));
  }
  Bill(const Bill&) = delete;
  Bill& operator=(const Bill&) = delete;
  ~Bill() { moemesh_bill_destroy(&bill_); }
  moemesh_bill get() const { return bill_; }

  std::vector<std::vector<int64_t>> numbers(int64_t rank) const {
    int64_t count = 0;
    check(moemesh_bill_get_count(bill_, rank, &count));
    std::vector<std::vector<int64_t>> all;
    for (int64_t i = 0; i < count; ++i) {
      moemesh_ledger_entry e{};
      e.struct_size = sizeof e;
      check(moemesh_bill_get_entry(bill_, rank, i, &e));
      all.push_back({e.axes, e.family, e.phase, e.collective, e.calls, e.messages, e.bytes, e.bytes_internode});
    }
    return all;
  }
  // Of one entry: calls, messages, bytes, bytes between nodes; empty without it.
  std::vector<int64_t> entry(int64_t rank, const std::vector<int64_t>& key) const {
    for (const auto& numbers : numbers(rank))
      if (std::vector<int64_t>(numbers.begin(), numbers.begin() + 4) == key)
        return {numbers.begin() + 4, numbers.end()};
    return {};
  }

 private:
  moemesh_bill bill_ = nullptr;
};

moemesh_layer_params layer(int64_t hidden, int64_t ffn, int64_t experts, int32_t top_k) {
  auto params = defaults(moemesh_layer_params_init);
  params.name = "m";
  params.hidden = hidden;
  params.ffn = ffn;
  params.experts = experts;
  params.top_k = top_k;
  return params;
}

using Numbers = std::vector<std::vector<int64_t>>;

// 8 ranks, two on a node: rank = ep + 2*pp + 4*dp. Router 16 elements; w1, w2, wg of 2 experts here: 96.
// An expert rank is chosen by half of the 6 tokens: 3 copies of 16 bytes, 3 tags of 8.
TEST(Bill, HandWorkedSmallMesh) {
  const Planned mesh(8, sizes(1, 2, 2, 2, 2));
  auto params = defaults(moemesh_bill_params_init);
  params.tokens = 6;
  const Bill bill(mesh, params);
  const auto moe = layer(4, 4, 4, 1);
  check(moemesh_bill_add_layer(bill.get(), 0, &moe, nullptr));
  auto pipeline = defaults(moemesh_pipeline_params_init);
  pipeline.width = 4;
  check(moemesh_bill_set_pipeline(bill.get(), &pipeline));
  EXPECT_EQ(bill.numbers(0),
            (Numbers{{4, 0, 2, 8, 1, 2, 128, 128},      // 32 + 6*16 to rank 2
                     {10, 1, 4, 5, 1, 3, 48, 32},       // 4 elements to each of 1, 4, 5
                     {10, 1, 5, 4, 1, 3, 48, 32},       //
                     {11, 0, 5, 6, 1, 2, 16, 8},        // two buckets, to ranks 1 and 4
                     {11, 0, 5, 7, 1, 2, 128, 64},      // 8 words: one layer's windows, two buckets, two times
                     {15, 0, 5, 7, 2, 6, 1608, 1072},   // 66 words and 1 to ranks 1, 2, 4
                     {32, 2, 2, 1, 2, 2, 120, 0},       // 3*16 + 3*8, and 3*16 back
                     {32, 2, 2, 2, 1, 1, 32, 0},        //
                     {32, 2, 3, 1, 2, 2, 120, 0},       //
                     {32, 2, 3, 2, 1, 1, 16, 0},        //
                     {64, 2, 4, 5, 1, 1, 192, 192},     // 48 elements to rank 4
                     {64, 2, 5, 4, 1, 1, 192, 192}}));  //
  // Its parent in the tree is 4; nothing leaves the node there.
  EXPECT_EQ(bill.entry(5, {15, 0, 5, 7}), (std::vector<int64_t>{2, 2, 536, 0}));
  // The last stage has no layer; it sends gradients back.
  EXPECT_EQ(bill.numbers(7), (Numbers{{4, 0, 3, 8, 1, 2, 128, 128}, {15, 0, 5, 7, 2, 2, 536, 0}}));
}

// 512 ranks, tp within a node: rank = tp + 8*ep + 64*dp. 2 microbatches, 3 steps, bf16, experts at stage 2.
TEST(Bill, HandWorkedLargeMesh) {
  const Planned mesh(512, sizes(8, 8, 1, 8, 8));
  auto params = defaults(moemesh_bill_params_init);
  params.steps = 3;
  params.tokens = 4096;
  params.microbatches = 2;
  params.objective = MOEMESH_TOKEN_MEAN;
  params.expert_stage = 2;
  params.overlap = MOEMESH_OVERLAP_AFTER;
  params.bucket_bytes = int64_t{1} << 40;
  params.chunk_bytes = 1 << 30;
  params.shared_dtype = params.expert_dtype = MOEMESH_BFLOAT16;
  const Bill bill(mesh, params);
  const auto moe = layer(1024, 4096, 64, 2);
  check(moemesh_bill_add_layer(bill.get(), 0, &moe, nullptr));
  // A token has an expert among 8 of 64 with 1 - (56*55)/(64*63) = 17/72: 967 1/9 copies of 2048 bytes, 1024 tags.
  // 42 = 6 microbatches * 7 peers: 42*(2*2048*4096*17/72 + 8*1024) = 166718122 2/3.
  // Each expert matrix has 2^22 elements here, the family 3*2^22, an owner 1.5*2^20, in chunks of 2^18. Rank 0 sends, of
  // w1: 6 chunks to owner 1 and 4 to owner 2; of w2: 2, 6, 6, 2; of wg: 4, 6, 6. Those of owner 0 stay.
  EXPECT_EQ(bill.numbers(0), (Numbers{{10, 0, 4, 2, 3, 189, 6048, 6048},
                                      {10, 1, 4, 5, 3, 189, 774144, 774144},
                                      {10, 1, 5, 4, 3, 189, 387072, 387072},
                                      {10, 2, 4, 2, 18, 1134, 36288, 36288},
                                      {15, 0, 5, 7, 9, 81, 14688, 9792},
                                      {16, 2, 2, 3, 6, 84, 176160768, 0},
                                      {16, 2, 3, 3, 6, 84, 176504832, 0},
                                      {32, 2, 2, 1, 12, 84, 166718123, 166718123},
                                      {32, 2, 2, 2, 6, 42, 1344, 1344},
                                      {32, 2, 3, 1, 12, 84, 166718123, 166718123},
                                      {32, 2, 3, 2, 6, 42, 672, 672},
                                      {64, 2, 4, 5, 108, 252, 264241152, 264241152},
                                      {64, 2, 5, 4, 3, 21, 66060288, 66060288}}));
}

// Copies and rows from the stage's rank i to coordinate j, all different.
int64_t copies_of(int64_t i, int64_t j) { return 1 + 7 * i + j; }
int64_t rows_of(int64_t i, int64_t j) { return 2 + 11 * i + 3 * j; }

void expect_internode(const Planned& mesh, int64_t ep, int32_t ranks_per_node) {
  const Bill bill(mesh, defaults(moemesh_bill_params_init));
  std::vector<int64_t> copies, rows;
  for (int64_t i = 0; i < mesh.world(); ++i)
    for (int64_t j = 0; j < ep; ++j) {
      copies.push_back(copies_of(i, j));
      rows.push_back(rows_of(i, j));
    }
  const moemesh_bill_routing routing{sizeof routing, copies.data(), rows.data()};
  const auto moe = layer(4, 4, 4, 1);
  check(moemesh_bill_add_layer(bill.get(), 0, &moe, &routing));
  for (int64_t rank = 0; rank < mesh.world(); ++rank) {
    const auto me = mesh.at(rank);
    int64_t bytes = 0, internode = 0, messages = 0;
    for (int64_t peer = 0; peer < mesh.world(); ++peer) {
      const auto it = mesh.at(peer);
      if (peer == rank || it.expert_tp != me.expert_tp || it.expert_dp != me.expert_dp) continue;
      const int64_t there = 16 * copies_of(rank, it.expert_ep) + 8 * rows_of(rank, it.expert_ep);
      const int64_t back = 16 * copies_of(peer, me.expert_ep);
      messages += 2;
      bytes += there + back;
      if (rank / ranks_per_node != peer / ranks_per_node) internode += there + back;
    }
    EXPECT_EQ(bill.entry(rank, {32, 2, 2, 1}), (std::vector<int64_t>{2, messages, bytes, internode})) << rank;
  }
}

TEST(Bill, BytesBetweenNodesByBruteForce) {
  for (const char* order : {"tp-ep-pp-dp", "dp-tp-ep-pp", "ep-dp-tp-pp"})
    for (const int32_t ranks_per_node : {1, 2, 3, 5, 24})
      for (const int32_t expert_tp : {2, 1}) {
        SCOPED_TRACE(std::string(order) + " " + std::to_string(ranks_per_node) + " " + std::to_string(expert_tp));
        auto params = sizes(2, 4, 1, 3, ranks_per_node);
        params.order = order;
        params.expert_tp = expert_tp;
        expect_internode(Planned(24, params), 4, ranks_per_node);
      }
}

// k = 8 of P35's 38000 tokens, each on a row of its own, all to the other rank.
TEST(Case, P35_bill) {
  const Planned mesh(2, sizes(1, 2, 1, 1, 1));
  auto params = defaults(moemesh_bill_params_init);
  params.tokens = 38000;
  params.shared_dtype = params.expert_dtype = MOEMESH_BFLOAT16;
  const Bill bill(mesh, params);
  const int64_t n = 38000 * 8;
  const std::vector<int64_t> matrix{0, n, 0, 0};
  const moemesh_bill_routing routing{sizeof routing, matrix.data(), matrix.data()};
  const auto moe = layer(7168, 8, 8, 8);
  check(moemesh_bill_add_layer(bill.get(), 0, &moe, &routing));
  EXPECT_EQ(bill.entry(0, {32, 2, 2, 1}), (std::vector<int64_t>{2, 2, 4358144000 + 8 * n, 4358144000 + 8 * n}));
  EXPECT_EQ(bill.entry(1, {32, 2, 2, 1}), (std::vector<int64_t>{2, 2, 4358144000, 4358144000}));
}

// More than 64 bits: an error, never a wrapped number.
TEST(Bill, CountsThatDoNotFitAreRefused) {
  const Planned mesh(4, sizes(2, 2, 1, 1, 0));
  for (const bool certain : {true, false}) {
    auto params = defaults(moemesh_bill_params_init);
    params.steps = certain ? 1 : INT64_MAX / 64;
    params.tokens = certain ? INT64_MAX / 8 : 1000;
    const Bill bill(mesh, params);
    const auto moe = layer(64, 8, 8, 8);
    check(moemesh_bill_add_layer(bill.get(), 0, &moe, nullptr));
    int64_t count = -7;
    EXPECT_EQ(moemesh_bill_get_count(bill.get(), 0, &count), MOEMESH_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(count, -7);
  }
}

}  // namespace
}  // namespace moemesh
