// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Exchanges between devices of which each rank may fail, in any order of arrival.
#include <gtest/gtest.h>

#include <thread>

#include "impl/comm/nccl/device_exchange.hpp"
#include "nccl_world.hpp"

namespace moemesh::test {
namespace {

using Exchanges = Communicator::DeviceExchanges;

int64_t uneven(int64_t round, int64_t from, int64_t to) {
  return (from + 2 * to + round) % 3 == 0 ? 0 : 64 * ((3 * from + 5 * to + round) % 7) + from + 1;
}
int64_t equal(int64_t, int64_t, int64_t) { return 96; }
std::byte value(int64_t round, int64_t from, int64_t to, int64_t i) {
  return static_cast<std::byte>(31 * from + 17 * to + 7 * round + i % 251);
}
using Sizes = int64_t (*)(int64_t round, int64_t from, int64_t to);

// One exchange of one rank: filled by a kernel, started behind it.
struct Parts {
  const int64_t round, rank, size;
  const Sizes sizes;
  Exchange exchange;
  std::unique_ptr<DeviceArray<std::byte>> send, receive;
  std::unique_ptr<Communicator::DeviceExchange> flight;

  Parts(const NcclComm& comm, int64_t round, Sizes sizes)
      : round(round), rank(comm.rank()), size(comm.size()), sizes(sizes) {
    int64_t out = 0, in = 0;
    for (int64_t peer = 0; peer < size; ++peer) {
      exchange.send_offset.push_back(out);
      exchange.send_bytes.push_back(sizes(round, rank, peer));
      exchange.receive_offset.push_back(in);
      exchange.receive_bytes.push_back(sizes(round, peer, rank));
      out += exchange.send_bytes.back();
      in += exchange.receive_bytes.back();
    }
    send = std::make_unique<DeviceArray<std::byte>>(out);
    receive = std::make_unique<DeviceArray<std::byte>>(in);
    exchange.send_base = send->data();
    exchange.receive_base = receive->data();
  }

  void fill(cudaStream_t stream) {
    std::vector<std::byte> values;
    for (int64_t peer = 0; peer < size; ++peer)
      for (int64_t i = 0; i < sizes(round, rank, peer); ++i) values.push_back(value(round, rank, peer, i));
    send->fill(stream, [values](int64_t i) { return values[i]; });
    receive->fill(stream, [](int64_t) { return std::byte{0xee}; });
  }
  void start(Exchanges& exchanges, cudaStream_t stream) {
    fill(stream);
    flight = exchanges.start(exchange, payload, stream);
  }
  // absent: of whom nothing came.
  int64_t wrong(cudaStream_t stream, const std::function<bool(int64_t)>& absent = nullptr) const {
    int64_t count = 0;
    const auto result = receive->read(stream);
    for (int64_t peer = 0; peer < size; ++peer)
      for (int64_t i = 0; i < exchange.receive_bytes[peer]; ++i) {
        const bool came = !absent || peer == rank || !absent(peer);
        count += result[exchange.receive_offset[peer] + i] != (came ? value(round, peer, rank, i) : std::byte{0xee});
      }
    return count;
  }
};

struct DeviceExchangeTest : ::testing::Test {
  OwnNccl nccl;
  ComputeStream compute;
  NcclComm& comm = *nccl.comm;
  std::unique_ptr<Exchanges> exchanges = std::make_unique<Exchanges>(*nccl.own.world, comm);
  const int64_t rank = comm.rank(), size = comm.size();

  void TearDown() override {
    exchanges.reset();
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    nccl.close();
  }

  // Every rank fails once, then all but rank 0, then all. Whoever did not has the parts of those that did not.
  void fail_in_turn(Sizes sizes) {
    for (int64_t turn = 0; turn < size + 2; ++turn) {
      const auto fails = [=, size = size](int64_t r) { return turn < size ? r == turn : turn == size ? r != 0 : true; };
      bool somebody = false;
      for (int64_t peer = 0; peer < size; ++peer) somebody |= peer != rank && fails(peer);
      Parts parts(comm, turn, sizes);
      if (fails(rank)) {
        const auto flight = exchanges->start_failed(parts.exchange, payload);
        EXPECT_EQ(flight->finish(compute), somebody);
      } else {
        parts.start(*exchanges, compute);
        EXPECT_EQ(parts.flight->finish(compute), somebody) << "turn " << turn;
        EXPECT_EQ(parts.wrong(compute, fails), 0) << "turn " << turn;
      }
      Parts again(comm, turn + 1, sizes);
      again.start(*exchanges, compute);
      EXPECT_FALSE(again.flight->finish(compute));
      EXPECT_EQ(again.wrong(compute), 0) << "after turn " << turn;
    }
  }
};

TEST_F(DeviceExchangeTest, UnevenParts) {
  for (int64_t round = 0; round < 4; ++round) {
    Parts parts(comm, round, uneven);
    parts.start(*exchanges, compute);
    EXPECT_FALSE(round % 2 ? parts.flight->finish(compute) : parts.flight->wait_for_device());
    EXPECT_EQ(parts.wrong(compute), 0);
  }
}

TEST_F(DeviceExchangeTest, EqualPartsAreOneCall) {
  const int64_t before = fake::calls("ncclAlltoAll"), sends = fake::calls("ncclSend");
  Parts parts(comm, 0, equal);
  parts.start(*exchanges, compute);
  EXPECT_FALSE(parts.flight->finish(compute));
  EXPECT_EQ(parts.wrong(compute), 0);
  EXPECT_EQ(fake::calls("ncclAlltoAll") - before, 1);
  EXPECT_EQ(fake::calls("ncclSend") - sends, 0);
}

TEST_F(DeviceExchangeTest, RanksFailInTurn) { fail_in_turn(uneven); }
TEST_F(DeviceExchangeTest, RanksFailInTurnWithEqualParts) { fail_in_turn(equal); }

// Started in one order, finished in another one by each rank, while others come late: groups still meet.
TEST_F(DeviceExchangeTest, FinishedInAnyOrder) {
  constexpr int64_t count = 5;
  for (int64_t turn = 0; turn < size; ++turn) {
    std::vector<std::unique_ptr<Parts>> all;
    for (int64_t i = 0; i < count; ++i) {
      if (rank == turn) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      all.push_back(std::make_unique<Parts>(comm, i, i % 2 ? uneven : equal));
      all.back()->start(*exchanges, compute);
    }
    for (int64_t i = 0; i < count; ++i) {
      Parts& parts = *all[(i * 2 + rank + turn) % count];
      EXPECT_FALSE(parts.flight->finish(compute));
      EXPECT_EQ(parts.wrong(compute), 0);
    }
  }
}

// The thread that drives messages launches too.
TEST_F(DeviceExchangeTest, LaunchedByTheProgressThread) {
  Progress& progress = nccl.own.link->progress;
  progress.start();
  for (int64_t round = 0; round < 10; ++round) {
    Parts parts(comm, round, uneven);
    parts.start(*exchanges, compute);
    std::this_thread::sleep_for(std::chrono::milliseconds(rank == round % size ? 4 : 1));
    EXPECT_FALSE(parts.flight->finish(compute));
    EXPECT_EQ(parts.wrong(compute), 0);
  }
  progress.stop();
}

TEST_F(DeviceExchangeTest, Ledger) {
  const auto ledger = std::make_shared<Ledger>();
  nccl.own.world->set_ledger(ledger);
  Parts parts(comm, 0, uneven);
  parts.start(*exchanges, compute);
  EXPECT_FALSE(parts.flight->finish(compute));
  int64_t messages = 0, bytes = 0;
  for (int64_t peer = 0; peer < size; ++peer) {
    if (peer == rank || uneven(0, rank, peer) == 0) continue;
    ++messages;
    bytes += uneven(0, rank, peer);
  }
  Ledger::Counts of_payload, of_headers;
  for (const auto& [key, counts] : ledger->entries())
    (key.collective == MOEMESH_COLLECTIVE_ALL_TO_ALL ? of_payload : of_headers) = counts;
  EXPECT_EQ(of_payload.calls, size > 1);
  EXPECT_EQ(of_payload.messages, messages);
  EXPECT_EQ(of_payload.bytes, bytes);
  EXPECT_EQ(of_headers.calls, size > 1);
  EXPECT_EQ(of_headers.messages, size - 1);
  EXPECT_EQ(of_headers.bytes, 32 * (size - 1));
  EXPECT_EQ(parts.wrong(compute), 0);
}

// Both of a pair see it; the others get what is theirs.
TEST(DeviceExchange, SizesThatDisagree) {
  if (world().size() < 2) GTEST_SKIP();
  OwnNccl nccl(10);
  ComputeStream compute;
  Exchanges exchanges(*nccl.own.world, *nccl.comm);
  const int64_t rank = nccl.comm->rank(), size = nccl.comm->size();
  Parts parts(*nccl.comm, 0, equal);
  if (rank == 0) parts.exchange.send_bytes[1] -= 1;
  parts.start(exchanges, compute);
  const Outcome outcome = outcome_of([&] { EXPECT_FALSE(parts.flight->finish(compute)); });
  EXPECT_EQ(outcome.status, rank < 2 ? MOEMESH_ERROR_COMMUNICATION : MOEMESH_OK) << outcome.text;
  EXPECT_EQ(nccl.own.link->broken, rank < 2);
  if (rank >= 2 && size > 2) {
    EXPECT_EQ(parts.wrong(compute), 0);
  }
  std::vector<int64_t> all(1, 0);
  world().agree_max(all, Purpose{});  // nobody gives up before all have got theirs
}

// A rank that never starts: headers are waited for until the deadline, here and where groups were started before.
TEST(DeviceExchange, DeadlineOfALostRank) {
  const int64_t size = world().size();
  if (size == 1) GTEST_SKIP();
  OwnNccl nccl;
  nccl.expect_soon(0.5);
  ComputeStream compute;
  {
    Exchanges exchanges(*nccl.own.world, *nccl.comm);
    if (nccl.comm->rank() != size - 1) {
      Parts parts(*nccl.comm, 0, uneven);
      parts.start(exchanges, compute);
      const Outcome outcome = outcome_of([&] { (void)parts.flight->finish(compute); });
      EXPECT_EQ(outcome.status, MOEMESH_ERROR_TIMEOUT) << outcome.text;
      const Outcome next = outcome_of([&] { (void)exchanges.start(parts.exchange, payload, compute); });
      EXPECT_EQ(next.status, MOEMESH_ERROR_COMMUNICATION) << next.text;
      EXPECT_TRUE(nccl.comm->closed());  // nothing of it keeps the device busy
    }
  }
  std::vector<int64_t> all(1, 0);
  world().agree_max(all, Purpose{});
}

// One rank's NCCL refuses the group after the headers: its context breaks at once, those of its peers at their deadline.
TEST(DeviceExchange, NcclFailsBehindTheHeaders) {
  OwnNccl nccl;
  nccl.expect_soon(1.5);
  ComputeStream compute;
  {
    Exchanges exchanges(*nccl.own.world, *nccl.comm);
    Parts parts(*nccl.comm, 0, equal);
    if (nccl.comm->rank() == 0) fake::fail_next("ncclGroupEnd");
    const Outcome outcome = outcome_of([&] {
      parts.start(exchanges, compute);
      (void)parts.flight->wait_for_device();
    });
    EXPECT_EQ(outcome.status, nccl.comm->rank() == 0 ? MOEMESH_ERROR_COMMUNICATION : MOEMESH_ERROR_TIMEOUT)
        << outcome.text;
    EXPECT_TRUE(nccl.own.link->broken);
    EXPECT_TRUE(nccl.comm->closed());
  }
  std::vector<int64_t> all(1, 0);
  world().agree_max(all, Purpose{});
}

}  // namespace
}  // namespace moemesh::test
