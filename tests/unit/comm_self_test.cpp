// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The communicator of one rank: everything is local, and the ledger stays empty.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "impl/base/error.hpp"
#include "impl/comm/communicator.hpp"
#include "impl/comm/mpi_loader.hpp"
#include "impl/comm/world.hpp"

namespace moemesh {
namespace {

constexpr Purpose purpose{.family = 0, .phase = MOEMESH_PHASE_CALLER, .collective = MOEMESH_COLLECTIVE_ALL_REDUCE};

struct Self : ::testing::Test {
  std::shared_ptr<Link> link = std::make_shared<Link>();
  std::shared_ptr<Ledger> ledger = std::make_shared<Ledger>();
  std::unique_ptr<Communicator> self = open_world(link, {.handle = 0, .kind = MOEMESH_COMM_NONE, .reserved = 0}, false);

  void SetUp() override { self->set_ledger(ledger); }
  void TearDown() override { EXPECT_TRUE(ledger->entries().empty()); }
};

TEST_F(Self, IsRankZeroOfOne) {
  EXPECT_EQ(self->rank(), 0);
  EXPECT_EQ(self->size(), 1);
  EXPECT_EQ(self->nodes(), std::vector<int64_t>{0});
  EXPECT_TRUE(self->closed());
  EXPECT_EQ(link->transport, nullptr);
  self->close();
}

TEST_F(Self, AllToAllCopiesTheOwnPart) {
  std::array<std::byte, 8> from{}, to{};
  from[2] = std::byte{7};
  Exchange exchange{from.data(), {1}, {4}, to.data(), {3}, {4}};
  EXPECT_FALSE(self->all_to_all(exchange, purpose));
  EXPECT_EQ(to[4], std::byte{7});
  EXPECT_EQ(to[7], std::byte{0});
  exchange.receive_base = from.data();  // the same address: nothing to copy
  exchange.receive_offset = {1};
  EXPECT_FALSE(self->all_to_all(exchange, purpose));
  self->all_to_all_failed(exchange, purpose);
  EXPECT_FALSE(self->all_to_all({nullptr, {0}, {0}, nullptr, {0}, {0}}, purpose));
}

TEST_F(Self, ReductionsAndGathersKeepTheValues) {
  std::array<float, 3> values{1, 2, 3}, out{};
  EXPECT_FALSE(self->all_reduce(values.data(), 3, Communicator::Op::sum, purpose));
  EXPECT_EQ(values, (std::array<float, 3>{1, 2, 3}));
  self->reduce_scatter(values.data(), out.data(), 3, Communicator::Op::max, purpose);
  EXPECT_EQ(out, values);
  out = {};
  self->all_gather(values.data(), 3, out.data(), purpose);
  EXPECT_EQ(out, values);
  self->all_reduce_failed(purpose);
  self->broadcast(reinterpret_cast<std::byte*>(values.data()), sizeof values, 0, purpose);
  std::array<double, 1> sum{2.5};
  self->agree_sum(sum, purpose);
  EXPECT_EQ(sum[0], 2.5);
}

TEST_F(Self, RefusesBitwiseOrOfFloats) {
  float value = 1;
  try {
    (void)self->all_reduce(&value, 1, Communicator::Op::bit_or, purpose);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MOEMESH_ERROR_INTERNAL);
  }
}

TEST_F(Self, GroupOfItself) {
  const std::array<int64_t, 1> ranks{0};
  const auto group = self->group(ranks, MOEMESH_AXIS_TP, 3);
  EXPECT_EQ(group->size(), 1);
  EXPECT_EQ(group->axes(), MOEMESH_AXIS_TP);
  EXPECT_EQ(group->nodes(), std::vector<int64_t>{0});
  const std::array<int64_t, 1> other{1};
  EXPECT_THROW(self->group(other, MOEMESH_AXIS_TP, 3), Error);
}

TEST_F(Self, ConfigurationThrowsTheOwnErrorOnly) {
  const std::array<Field, 1> fields{Field{"tp", 3}};
  agree_on_configuration(*self, "create", fields, MOEMESH_OK, "");
  try {
    agree_on_configuration(*self, "create", fields, MOEMESH_ERROR_MESH_SIZE, "tp is 3");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MOEMESH_ERROR_MESH_SIZE);
    EXPECT_STREQ(error.what(), "tp is 3");
  }
}

TEST_F(Self, UnknownKindOfCommunicator) {
  for (const int32_t kind : {-1, 6}) {
    try {
      (void)open_world(link, {.handle = 0, .kind = kind, .reserved = 0}, false);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), MOEMESH_ERROR_INVALID_ARGUMENT);
    }
  }
}

TEST(MpiLoader, NamesWhatCouldNotBeLoaded) {
  const char* const before = std::getenv("MOEMESH_MPI_MODULE");
  const std::string saved = before ? before : "";
  setenv("MOEMESH_MPI_MODULE", "/nonexistent/libmoemesh_mpi.so", 1);
  try {
    (void)mpi_transport();
    ADD_FAILURE() << "a module that does not exist was loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MOEMESH_ERROR_MPI_UNAVAILABLE);
    EXPECT_NE(std::string(error.what()).find("/nonexistent/libmoemesh_mpi.so"), std::string::npos) << error.what();
  }
  setenv("MOEMESH_MPI_MODULE", "libm.so.6", 1);  // loads, but is no module of ours
  try {
    (void)mpi_transport();
    ADD_FAILURE() << "a foreign library was taken for the module";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MOEMESH_ERROR_MPI_UNAVAILABLE);
    EXPECT_NE(std::string(error.what()).find("has no entry moemesh_mpi_transport"), std::string::npos) << error.what();
  }
  before ? setenv("MOEMESH_MPI_MODULE", saved.c_str(), 1) : unsetenv("MOEMESH_MPI_MODULE");
}

TEST(Ledger, AddsUpByKey) {
  Ledger ledger;
  const Ledger::Key a{1, 0, 2, 3}, b{1, 0, 2, 4};
  ledger.call(a);
  ledger.message(a, 10, false);
  ledger.message(a, 5, true);
  ledger.call(b);
  ASSERT_EQ(ledger.entries().size(), 2u);
  const Ledger::Counts& counts = ledger.entries().at(a);
  EXPECT_EQ(counts.calls, 1);
  EXPECT_EQ(counts.messages, 2);
  EXPECT_EQ(counts.bytes, 15);
  EXPECT_EQ(counts.bytes_internode, 5);
  ledger.reset();
  EXPECT_TRUE(ledger.entries().empty());
}

}  // namespace
}  // namespace moemesh
