// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The ledger against what MPI saw. Linked only into the program that also has tests/multi/pmpi.cpp.
#include <gtest/gtest.h>

#include <cstdlib>

#include "multi/pmpi.hpp"
#include "world.hpp"

namespace moemesh::test {
namespace {

struct Counted : ::testing::Test {
  std::shared_ptr<Ledger> ledger = std::make_shared<Ledger>();

  void SetUp() override {
    if (std::getenv("MOEMESH_MPI_PIECE_BYTES")) GTEST_SKIP() << "cut messages are counted more than once by MPI";
    world().set_ledger(ledger);
    pmpi::reset();
  }
  void TearDown() override { world().set_ledger(nullptr); }

  Ledger::Counts total() const {
    Ledger::Counts sum;
    for (const auto& [key, counts] : ledger->entries()) {
      sum.calls += counts.calls;
      sum.messages += counts.messages;
      sum.bytes += counts.bytes;
      sum.bytes_internode += counts.bytes_internode;
    }
    return sum;
  }

  void expect(int64_t calls, int64_t messages, int64_t bytes) const {
    const Ledger::Counts counted = total();
    const pmpi::Counts seen = pmpi::counts();
    EXPECT_EQ(counted.calls, calls);
    EXPECT_EQ(counted.messages, messages);
    EXPECT_EQ(counted.bytes, bytes);
    EXPECT_EQ(seen.messages, messages);
    EXPECT_EQ(seen.bytes, bytes);
    EXPECT_EQ(seen.own_messages, 0);
    EXPECT_EQ(seen.collectives, 0);
  }
};

TEST_F(Counted, AllToAll) {
  const int64_t rank = world().rank(), size = world().size();
  Recycled<int64_t> offset(size, 0), out(size), in(size);
  int64_t bytes = 0, messages = 0;
  for (int64_t peer = 0; peer < size; ++peer) {
    out[peer] = 100 * ((rank + peer) % 3);
    in[peer] = 100 * ((peer + rank) % 3);
    if (peer == rank || out[peer] == 0) continue;
    bytes += out[peer];
    ++messages;
  }
  std::vector<std::byte> send(200), receive(200 * size);
  Recycled<int64_t> places(size);
  for (int64_t peer = 0; peer < size; ++peer) places[peer] = 200 * peer;
  EXPECT_FALSE(world().all_to_all({send.data(), offset, out, receive.data(), places, in}, payload));
  expect(size > 1, messages, bytes);
}

TEST_F(Counted, AllReduceIsOneCallOfTwoHalves) {
  const int64_t rank = world().rank(), size = world().size(), count = 1001;
  std::vector<float> data(count, 1);
  EXPECT_FALSE(world().all_reduce(data.data(), count, Communicator::Op::sum, reduction));
  const int64_t part = (count + size - 1) / size;
  const int64_t own = std::max<int64_t>(0, std::min(part, count - rank * part));
  expect(size > 1, 2 * (size - 1), size > 1 ? 4 * (count - own + own * (size - 1)) : 0);
  if (size > 1) {
    ASSERT_EQ(ledger->entries().size(), 1u);
    EXPECT_EQ(ledger->entries().begin()->first,
              (Ledger::Key{MOEMESH_GROUP_WORLD, reduction.family, reduction.phase, reduction.collective}));
  }
}

TEST_F(Counted, ReduceScatterAndAllGather) {
  const int64_t size = world().size(), count = 77;
  std::vector<double> all(count * size, 1), part(count);
  world().reduce_scatter(all.data(), part.data(), count, Communicator::Op::sum, reduction);
  world().all_gather(part.data(), count, all.data(), reduction);
  expect(size > 1 ? 2 : 0, 2 * (size - 1), 2 * (size - 1) * count * 8);
}

TEST_F(Counted, TreesSendEachRankOneMessageDown) {
  const int64_t size = world().size();
  std::vector<int64_t> words(3, 1);
  world().broadcast(reinterpret_cast<std::byte*>(words.data()), 24, 0, payload);
  world().agree_sum(std::span<int64_t>(words), Purpose{});
  EXPECT_EQ(words[0], size);
  const Ledger::Counts counted = total();
  const pmpi::Counts seen = pmpi::counts();
  EXPECT_EQ(counted.messages, seen.messages);
  EXPECT_EQ(counted.bytes, seen.bytes);
  world().set_ledger(nullptr);
  std::vector<int64_t> sum{seen.messages, seen.bytes};
  world().agree_sum(std::span<int64_t>(sum), Purpose{});
  EXPECT_EQ(sum[0], 3 * (size - 1));
  EXPECT_EQ(sum[1], 3 * (size - 1) * 24);
}

TEST_F(Counted, BytesBetweenNodes) {
  const int64_t rank = world().rank(), size = world().size();
  const std::vector<int64_t> before = world().nodes();
  std::vector<int64_t> halves(size);
  for (int64_t r = 0; r < size; ++r) halves[r] = r % 2;
  world().set_nodes(halves);
  std::vector<int64_t> all(size);
  world().all_gather(&rank, 1, all.data(), payload);
  world().set_nodes(before);
  const int64_t others = rank % 2 == 0 ? size / 2 : size - size / 2;
  EXPECT_EQ(total().bytes_internode, 8 * others);
  expect(size > 1, size - 1, 8 * (size - 1));
}

}  // namespace
}  // namespace moemesh::test
