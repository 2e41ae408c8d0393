// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What a communication bill refuses, and that a refused call changes nothing.
#include <functional>
#include <vector>

#include "support.hpp"

namespace capi_test {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
constexpr auto unsupported = MOEMESH_ERROR_NOT_SUPPORTED;

void expect_text(std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(last_error().find(part), std::string::npos) << part << ": " << last_error();
}

// Of a planned mesh of 8 ranks: tp 2, ep 2, pp 2, expert_tp 1; one layer "m" on stage 0.
class BillArgument : public testing::Test {
 protected:
  void SetUp() override {
    auto params = defaults(moemesh_mesh_params_init);
    params.tp = params.ep = params.pp = 2;
    params.expert_tp = 1;
    ASSERT_EQ(moemesh_mesh_plan(nullptr, 8, &params, &mesh), MOEMESH_OK);
    const auto bill_params = defaults(moemesh_bill_params_init);
    ASSERT_EQ(moemesh_bill_create(mesh, &bill_params, &bill), MOEMESH_OK);
    int64_t count = -7;
    EXPECT_EQ(moemesh_bill_get_count(bill, 0, &count), MOEMESH_ERROR_INVALID_STATE) << "nothing is described";
    EXPECT_EQ(count, -7);
    ASSERT_EQ(add_layer(0, [](moemesh_layer_params& p) { p.name = "m"; }), MOEMESH_OK) << last_error();
    before = entries();
  }
  void TearDown() override {
    moemesh_bill_destroy(&bill);
    moemesh_mesh_destroy(&mesh);
  }
  int32_t create(const std::function<void(moemesh_bill_params&)>& change) {
    auto params = defaults(moemesh_bill_params_init);
    change(params);
    moemesh_bill made = nullptr;
    const int32_t status = moemesh_bill_create(mesh, &params, &made);
    EXPECT_EQ(made != nullptr, status == MOEMESH_OK);
    moemesh_bill_destroy(&made);
    return status;
  }
  int32_t add_layer(int64_t stage, const std::function<void(moemesh_layer_params&)>& change,
                    const moemesh_bill_routing* routing = nullptr) {
    auto params = defaults(moemesh_layer_params_init);
    params.name = "other";
    params.hidden = params.ffn = params.experts = 4;
    params.top_k = 2;
    change(params);
    return moemesh_bill_add_layer(bill, stage, &params, routing);
  }
  int32_t add_parameter(int64_t stage, int32_t family, const std::function<void(moemesh_parameter_params&)>& change) {
    auto params = defaults(moemesh_parameter_params_init);
    params.name = "p";
    params.rank = 1;
    params.extents[0] = 6;
    params.experts = family == MOEMESH_EXPERT ? 3 : 0;
    change(params);
    return moemesh_bill_add_parameter(bill, stage, family, &params);
  }
  // Of every rank.
  std::vector<int64_t> entries() {
    std::vector<int64_t> all;
    for (int64_t rank = 0; rank < 8; ++rank) {
      int64_t count = 0;
      EXPECT_EQ(moemesh_bill_get_count(bill, rank, &count), MOEMESH_OK) << last_error();
      for (int64_t i = 0; i < count; ++i) {
        auto entry = result_struct<moemesh_ledger_entry>();
        EXPECT_EQ(moemesh_bill_get_entry(bill, rank, i, &entry), MOEMESH_OK);
        for (const int64_t number : {entry.calls, entry.messages, entry.bytes}) all.push_back(number);
      }
    }
    return all;
  }

  moemesh_mesh mesh = nullptr;
  moemesh_bill bill = nullptr;
  std::vector<int64_t> before;
};

TEST_F(BillArgument, Params) {
  using P = moemesh_bill_params;
  EXPECT_EQ(create([](P&) {}), MOEMESH_OK);
  for (const int64_t n : {int64_t{0}, int64_t{-1}, INT64_MIN}) EXPECT_EQ(create([&](P& p) { p.steps = n; }), bad);
  expect_text({"steps", ">= 1"});
  EXPECT_EQ(create([](P& p) { p.tokens = -1; }), bad);
  expect_text({"tokens", "got -1"});
  for (const int32_t n : {0, -1}) EXPECT_EQ(create([&](P& p) { p.microbatches = n; }), bad);
  expect_text({"microbatches"});
  for (const int32_t n : {0, 3, -1}) {
    EXPECT_EQ(create([&](P& p) { p.objective = n; }), bad);
    expect_text({"objective"});
  }
  EXPECT_EQ(create([](P& p) { p.shared_stage = 3; }), unsupported);
  EXPECT_EQ(create([](P& p) { p.expert_stage = 4; }), bad);
  EXPECT_EQ(create([](P& p) { p.expert_stage = -1; }), bad);
  expect_text({"expert_stage"});
  for (const int32_t dtype : {0, static_cast<int>(MOEMESH_FLOAT64), -1, 99}) {
    EXPECT_EQ(create([&](P& p) { p.shared_dtype = dtype; }), bad);
    EXPECT_EQ(create([&](P& p) { p.expert_dtype = dtype; }), bad);
    expect_text({"expert_dtype"});
  }
}

TEST_F(BillArgument, StagesAndRanks) {
  for (const int64_t stage : {int64_t{-1}, int64_t{2}, INT64_MAX}) {
    EXPECT_EQ(add_layer(stage, [](moemesh_layer_params&) {}), bad);
    expect_text({"stage", "0..1"});
    EXPECT_EQ(add_parameter(stage, MOEMESH_SHARED, [](moemesh_parameter_params&) {}), bad);
    expect_text({"stage", "0..1"});
  }
  for (const int32_t family : {0, 3, -1}) {
    EXPECT_EQ(add_parameter(0, family, [](moemesh_parameter_params&) {}), bad);
    expect_text({"family"});
  }
  int64_t count = -7;
  auto entry = result_struct<moemesh_ledger_entry>();
  const auto untouched = entry;
  for (const int64_t rank : {int64_t{-1}, int64_t{8}, INT64_MIN}) {
    EXPECT_EQ(moemesh_bill_get_count(bill, rank, &count), bad);
    expect_text({"rank", "0..7"});
    EXPECT_EQ(moemesh_bill_get_entry(bill, rank, 0, &entry), bad);
  }
  EXPECT_EQ(count, -7);
  ASSERT_EQ(moemesh_bill_get_count(bill, 0, &count), MOEMESH_OK);
  for (const int64_t index : {int64_t{-1}, count}) {
    EXPECT_EQ(moemesh_bill_get_entry(bill, 0, index, &entry), bad);
    expect_text({"index"});
  }
  EXPECT_EQ(entry.bytes, untouched.bytes);
  EXPECT_EQ(entries(), before);
}

// What the real create calls refuse.
TEST_F(BillArgument, LayersAndParameters) {
  using L = moemesh_layer_params;
  using P = moemesh_parameter_params;
  EXPECT_EQ(add_layer(0, [](L& p) { p.hidden = 0; }), bad);
  EXPECT_EQ(add_layer(0, [](L& p) { p.top_k = 5; }), bad);
  expect_text({"top_k", "got 5"});
  EXPECT_EQ(add_layer(0, [](L& p) { p.shared_ffn = 3; }), bad);
  expect_text({"shared_ffn", "tp 2"});
  EXPECT_EQ(add_layer(0, [](L& p) { p.activation = 8; }), bad);
  EXPECT_EQ(add_layer(0, [](L& p) { p.combine_dtype = MOEMESH_BFLOAT16; }), bad);
  EXPECT_EQ(add_layer(0, [](L& p) { p.name = "m"; }), bad);
  expect_text({"\"m.router\""});
  EXPECT_EQ(add_parameter(0, MOEMESH_SHARED, [](P& p) { p.rank = 0; }), bad);
  EXPECT_EQ(add_parameter(0, MOEMESH_SHARED, [](P& p) { p.extents[0] = -2; }), bad);
  EXPECT_EQ(add_parameter(0, MOEMESH_SHARED, [](P& p) { p.experts = 2; }), bad);
  EXPECT_EQ(add_parameter(0, MOEMESH_EXPERT, [](P& p) { p.experts = 0; }), bad);
  EXPECT_EQ(add_parameter(0, MOEMESH_EXPERT, [](P& p) { p.name = "m.w1"; }), bad);
  expect_text({"\"m.w1\""});
  EXPECT_EQ(add_parameter(0, MOEMESH_EXPERT, [](P& p) { p.tied = 1; }), bad);
  EXPECT_EQ(add_parameter(0, MOEMESH_SHARED, [](P& p) { p.dtype = MOEMESH_BFLOAT16; }), unsupported);
  EXPECT_EQ(add_parameter(0, MOEMESH_SHARED,
                          [](P& p) {
                            p.extents[0] = 5;
                            p.tp_kind = MOEMESH_TP_SHARDED;
                          }),
            bad);
  auto pipeline = defaults(moemesh_pipeline_params_init);
  EXPECT_EQ(moemesh_bill_set_pipeline(bill, &pipeline), bad);
  expect_text({"width"});
  EXPECT_EQ(entries(), before);
  EXPECT_EQ(add_layer(1, [](L& p) { p.name = "m"; }), MOEMESH_OK) << "another stage has names of its own";
  EXPECT_NE(entries(), before) << "what is added after a get counts";
}

TEST_F(BillArgument, DtypesOfALayer) {
  auto params = defaults(moemesh_bill_params_init);
  params.shared_dtype = MOEMESH_BFLOAT16;
  moemesh_bill mixed = nullptr;
  ASSERT_EQ(moemesh_bill_create(mesh, &params, &mixed), MOEMESH_OK);
  std::swap(bill, mixed);
  EXPECT_EQ(add_layer(0, [](moemesh_layer_params&) {}), unsupported);
  std::swap(bill, mixed);
  moemesh_bill_destroy(&mixed);
}

TEST_F(BillArgument, Routing) {
  std::vector<int64_t> copies(8, 1), rows(8, 2);  // [4 ranks, ep 2]
  moemesh_bill_routing routing{sizeof routing, copies.data(), nullptr};
  const auto refused = [&](std::initializer_list<const char*> texts) {
    EXPECT_EQ(add_layer(
                  1, [](moemesh_layer_params&) {}, &routing),
              bad);
    expect_text(texts);
    EXPECT_EQ(entries(), before);
  };
  refused({"copies", "rows"});
  routing = {sizeof routing, nullptr, rows.data()};
  refused({"copies", "rows"});
  routing.copies = copies.data();
  copies[7] = -1;
  refused({"copies[3][1]", "got -1"});
  copies[7] = 3;
  refused({"copies[3][1]", "0..2", "got 3"});
  copies[7] = 0;
  rows[7] = -1;
  refused({"copies[3][1]"});
  rows[7] = 0;
  EXPECT_EQ(add_layer(
                1, [](moemesh_layer_params&) {}, &routing),
            MOEMESH_OK)
      << last_error();
}

TEST_F(BillArgument, TiedParametersOfTheEnds) {
  using P = moemesh_parameter_params;
  EXPECT_EQ(add_parameter(0, MOEMESH_SHARED, [](P& p) { p.tied = 1; }), MOEMESH_OK);
  int64_t count = -7;
  EXPECT_EQ(moemesh_bill_get_count(bill, 0, &count), MOEMESH_ERROR_MISMATCH);
  expect_text({"tied"});
  EXPECT_EQ(count, -7);
  EXPECT_EQ(add_parameter(1, MOEMESH_SHARED, [](P& p) { p.tied = 1; }), MOEMESH_OK);
  EXPECT_EQ(moemesh_bill_get_count(bill, 0, &count), MOEMESH_OK);
}

// A bill keeps what it needs of the mesh.
TEST_F(BillArgument, OutlivesTheMeshHandle) {
  moemesh_mesh_destroy(&mesh);
  EXPECT_EQ(entries(), before);
}

}  // namespace
}  // namespace capi_test
