// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Communicators: made, split, given up.
#include <gtest/gtest.h>

#include "impl/comm/nccl/symmetric_buffer.hpp"
#include "nccl_world.hpp"

namespace moemesh::test {
namespace {

void meet_again() {
  std::vector<int64_t> all(1, 0);
  world().agree_max(all, Purpose{});
}

float sum_over(NcclComm& comm, cudaStream_t compute, float mine) {
  DeviceArray<float> data(3);
  data.fill(compute, [mine](int64_t) { return mine; });
  Between order(compute);
  comm.all_reduce(data.data(), 3, order);
  order.join();
  return data.read(compute)[2];
}

// Even and odd ranks, and a group without rank 0: each sums its own, then all together.
TEST(Life, Groups) {
  OwnNccl nccl;
  ComputeStream compute;
  const int64_t rank = nccl.comm->rank(), size = nccl.comm->size();
  const auto half = nccl.comm->split(static_cast<int32_t>(rank % 2), Urgency::payload);
  const auto rest = nccl.comm->split(rank == 0 ? -1 : 5, Urgency::reduction);
  ASSERT_EQ(rest == nullptr, rank == 0);
  float of_half = 0, of_rest = 0, of_all = 0;
  for (int64_t r = 0; r < size; ++r) {
    const auto number = static_cast<float>(10 * r + 1);
    of_all += number;
    if (r % 2 == rank % 2) of_half += number;
    if (r != 0) of_rest += number;
  }
  const auto mine = static_cast<float>(10 * rank + 1);
  EXPECT_EQ(half->rank(), rank / 2);
  EXPECT_EQ(half->size(), (size + 1 - rank % 2) / 2);
  EXPECT_EQ(sum_over(*half, compute, mine), of_half);
  if (rest) {
    EXPECT_EQ(rest->rank(), rank - 1);
    EXPECT_EQ(sum_over(*rest, compute, mine), of_rest);
  }
  EXPECT_EQ(sum_over(*nccl.comm, compute, mine), of_all);
  half->close();
  if (rest) rest->close();
  nccl.close();
}

// Each has a stream of its own, so neither waits for the other.
TEST(Life, TwoCommunicatorsInAnotherOrderOnEachRank) {
  OwnNccl nccl;
  ComputeStream compute;
  const auto other = nccl.comm->split(0, Urgency::reduction);
  const int64_t rank = nccl.comm->rank(), size = nccl.comm->size();
  for (int64_t round = 0; round < 4; ++round) {
    DeviceArray<float> a(10), b(20);
    a.fill(compute, [=](int64_t i) { return static_cast<float>(rank + i + round); });
    b.fill(compute, [=](int64_t i) { return static_cast<float>(100 * rank + i); });
    Between of_a(compute), of_b(compute);
    const auto reduce_a = [&] { nccl.comm->all_reduce(a.data(), 10, of_a); };
    const auto reduce_b = [&] { other->all_reduce(b.data(), 20, of_b); };
    if ((rank + round) % 2) {
      reduce_a();
      reduce_b();
      of_a.join();
      of_b.join();
    } else {
      reduce_b();
      reduce_a();
      of_b.join();
      of_a.join();
    }
    const auto sum_a = a.read(compute), sum_b = b.read(compute);
    for (int64_t i = 0; i < 10; ++i)
      ASSERT_EQ(sum_a[i], static_cast<float>(size * (size - 1) / 2 + size * (i + round)));
    for (int64_t i = 0; i < 20; ++i) ASSERT_EQ(sum_b[i], static_cast<float>(100 * size * (size - 1) / 2 + size * i));
  }
  other->close();
  nccl.close();
}

TEST(Life, RefusesAfterClose) {
  OwnNccl nccl;
  nccl.comm->close();
  nccl.comm->close();  // again does nothing
  EXPECT_TRUE(nccl.comm->closed());
  const Outcome outcome = outcome_of([&] { nccl.comm->all_reduce(nullptr, 0, {}); });
  EXPECT_EQ(outcome.status, MOEMESH_ERROR_INVALID_STATE) << outcome.text;
  nccl.own.world->close();
}

// Nobody hangs: the others hear of it before they wait for that rank inside NCCL.
void one_rank_fails(const std::string& call, int64_t which, int32_t status) {
  Own own = open_own(10);
  if (own.world->rank() == which) fake::fail_next(call);
  const Outcome outcome = outcome_of([&] { (void)NcclComm::over(*own.world, own.link, Urgency::payload); });
  EXPECT_EQ(outcome.status, status) << call << ": " << outcome.text;
  EXPECT_FALSE(own.link->broken);
  auto again = NcclComm::over(*own.world, own.link, Urgency::payload);
  again->close();
  own.world->close();
}

TEST(Life, OneRankHasNoStream) {
  one_rank_fails("cudaStreamCreateWithPriority", world().size() - 1, MOEMESH_ERROR_OUT_OF_MEMORY);
}
TEST(Life, NoIdCanBeMade) { one_rank_fails("ncclGetUniqueId", 0, MOEMESH_ERROR_COMMUNICATION); }
TEST(Life, OneRanksNcclFails) {
  one_rank_fails("ncclCommInitRankConfig", world().size() - 1, MOEMESH_ERROR_COMMUNICATION);
}

// Without MPI's help the id is all that ranks have; the last one never comes.
TEST(Life, DeadlineWhereARankIsNeverThere) {
  const int64_t size = world().size(), rank = world().rank();
  if (size == 1) GTEST_SKIP();
  ncclUniqueId id = NcclComm::unique_id();
  world().broadcast(reinterpret_cast<std::byte*>(&id), sizeof id, 0, Purpose{});
  const auto link = std::make_shared<Link>();
  link->timeout_seconds = 0.5;
  if (rank != size - 1) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = outcome_of([&] { NcclComm(link, id, rank, size, Urgency::payload); });
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_TIMEOUT) << outcome.text;
    EXPECT_GE(waited.count(), 0.5);
    EXPECT_LT(waited.count(), 20);
    EXPECT_TRUE(link->broken);
  }
  meet_again();
}

TEST(Life, IdBroughtByTheCaller) {
  const int64_t size = world().size(), rank = world().rank();
  ncclUniqueId id = NcclComm::unique_id();
  world().broadcast(reinterpret_cast<std::byte*>(&id), sizeof id, 0, Purpose{});
  const auto link = std::make_shared<Link>();
  NcclComm comm(link, id, rank, size, Urgency::payload);
  ComputeStream compute;
  EXPECT_EQ(sum_over(comm, compute, 2), static_cast<float>(2 * size));
  comm.close();
}

// The last rank stays away from a sum of the others. find(nccl, order): how they find it out. Then the device is free again.
template <class Find>
void one_stays_away(const Find& find) {
  const int64_t size = world().size();
  if (size == 1) GTEST_SKIP();
  OwnNccl nccl;
  nccl.expect_soon(0.5);
  ComputeStream compute;
  if (nccl.comm->rank() != size - 1) {
    DeviceArray<float> data(100);
    data.fill(compute, [](int64_t) { return 1.0F; });
    Between order(compute);
    nccl.comm->all_reduce(data.data(), 100, order);
    find(nccl, order);
    EXPECT_TRUE(nccl.own.link->broken);
    EXPECT_TRUE(nccl.comm->closed());
    order.join();
    EXPECT_EQ(data.read(compute).size(), 100u);  // comes to its end
    const Outcome next = outcome_of([&] { nccl.comm->all_reduce(data.data(), 100, {}); });
    EXPECT_EQ(next.status, MOEMESH_ERROR_COMMUNICATION);
  }
  meet_again();
}

// Who waits for it gives up the communicator.
TEST(Life, DeadlineOfALostRank) {
  one_stays_away([](OwnNccl& nccl, Between& order) {
    const Outcome outcome = outcome_of([&] { nccl.comm->wait(order.done(), "a sum"); });
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_TIMEOUT);
    EXPECT_NE(outcome.text.find("for a sum"), std::string::npos) << outcome.text;
  });
}

// Where the host goes on, whoever comes by later does.
TEST(Life, DeadlineOfWhatNobodyWaitsFor) {
  one_stays_away([](OwnNccl& nccl, Between&) {
    const auto start = std::chrono::steady_clock::now();
    const auto waited = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    Outcome outcome;
    while (outcome.status == MOEMESH_OK && waited() < 20)
      outcome = outcome_of([&] { (void)nccl.own.link->progress.poll(); });
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_TIMEOUT) << outcome.text;
    EXPECT_NE(outcome.text.find("for an all-reduce"), std::string::npos) << outcome.text;
    EXPECT_GE(waited(), 0.5);
  });
}

TEST(Life, MemoryOfMessages) {
  OwnNccl nccl;
  ComputeStream compute;
  const int64_t rank = nccl.comm->rank(), size = nccl.comm->size();
  {
    SymmetricBuffer buffer(4096), empty(0);
    EXPECT_FALSE(buffer.registered());
    buffer.register_with(*nccl.comm);
    empty.register_with(*nccl.comm);
    EXPECT_TRUE(buffer.registered());
    auto* const data = reinterpret_cast<float*>(buffer.data());
    fake::launch(compute, [=] { std::fill_n(data, 1024, static_cast<float>(rank + 1)); });
    Between order(compute);
    nccl.comm->all_reduce(data, 1024, order);
    order.join();
    ASSERT_EQ(cudaStreamSynchronize(compute), cudaSuccess);
    EXPECT_EQ(data[1023], static_cast<float>(size * (size + 1) / 2));
    buffer.unregister();
    EXPECT_FALSE(buffer.registered());
    SymmetricBuffer another(8192);
    another.register_with(*nccl.comm);  // given back by its destructor
  }
  const Outcome outcome = outcome_of([] { SymmetricBuffer(int64_t{1} << 40); });
  EXPECT_EQ(outcome.status, MOEMESH_ERROR_OUT_OF_MEMORY) << outcome.text;
  nccl.close();
}

}  // namespace
}  // namespace moemesh::test
