// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <gtest/gtest.h>

#include "world.hpp"

namespace moemesh::test {
namespace {

// Uneven, some empty, unlike in the two directions. One pair is large enough for MPI's rendezvous.
int64_t bytes_between(int64_t from, int64_t to) {
  if ((from + 2 * to) % 3 == 0) return 0;
  return from == 1 && to == 0 ? 3000001 : 64 * ((3 * from + 5 * to) % 7) + from % 2;
}

std::byte value(int64_t from, int64_t to, int64_t i) { return static_cast<std::byte>(31 * from + 17 * to + i % 251); }

struct Buffers {
  std::vector<std::byte> send, receive;
  Exchange exchange;

  Buffers() {
    const int64_t rank = world().rank(), size = world().size();
    for (int64_t peer = 0; peer < size; ++peer) {
      exchange.send_offset.push_back(std::ssize(send));
      exchange.send_bytes.push_back(bytes_between(rank, peer));
      for (int64_t i = 0; i < exchange.send_bytes.back(); ++i) send.push_back(value(rank, peer, i));
      exchange.receive_offset.push_back(std::ssize(receive));
      exchange.receive_bytes.push_back(bytes_between(peer, rank));
      receive.resize(receive.size() + exchange.receive_bytes.back(), std::byte{0xee});
    }
    exchange.send_base = send.data();
    exchange.receive_base = receive.data();
  }

  int64_t wrong() const {
    int64_t count = 0;
    for (int64_t peer = 0; peer < world().size(); ++peer)
      for (int64_t i = 0; i < exchange.receive_bytes[peer]; ++i)
        count += receive[exchange.receive_offset[peer] + i] != value(peer, world().rank(), i);
    return count;
  }
};

TEST(Exchange, UnevenAndEmpty) {
  for (int round = 0; round < 3; ++round) {
    Buffers buffers;
    EXPECT_FALSE(world().all_to_all(buffers.exchange, payload));
    EXPECT_EQ(buffers.wrong(), 0);
  }
}

TEST(Exchange, NothingAtAll) {
  const Recycled<int64_t> none(world().size(), 0);
  EXPECT_FALSE(world().all_to_all({nullptr, none, none, nullptr, none, none}, payload));
}

// Every rank fails once, then all but one, then all. Who expects data from a failed rank is told (with every_peer: all are);
// the next call works.
void fail_in_turn(bool every_peer) {
  const int64_t rank = world().rank(), size = world().size();
  for (int64_t turn = 0; turn < size + 2; ++turn) {
    const auto fails = [&](int64_t r) { return turn < size ? r == turn : turn == size ? r != 0 : true; };
    Buffers buffers;
    buffers.exchange.every_peer = every_peer;
    if (fails(rank)) {
      buffers.exchange.send_base = nullptr;
      buffers.exchange.receive_base = nullptr;
      world().all_to_all_failed(buffers.exchange, payload);
    } else {
      bool expected = false;
      for (int64_t peer = 0; peer < size; ++peer)
        expected |= peer != rank && fails(peer) && (every_peer || bytes_between(peer, rank) > 0);
      EXPECT_EQ(world().all_to_all(buffers.exchange, payload), expected) << "turn " << turn;
    }
    Buffers again;
    again.exchange.every_peer = every_peer;
    EXPECT_FALSE(world().all_to_all(again.exchange, payload));
    EXPECT_EQ(again.wrong(), 0);
  }
}

TEST(Exchange, FailedTwin) { fail_in_turn(false); }
TEST(Exchange, FailedTwinIsHeardByAll) { fail_in_turn(true); }

TEST(Exchange, AllGather) {
  const int64_t rank = world().rank(), size = world().size();
  for (const int64_t count : {0, 1, 5, 1000}) {
    std::vector<double> mine(count), all(count * size, -1);
    for (int64_t i = 0; i < count; ++i) mine[i] = static_cast<double>(1000 * rank + i);
    world().all_gather(mine.data(), count, all.data(), payload);
    for (int64_t i = 0; i < count * size; ++i) ASSERT_EQ(all[i], static_cast<double>(1000 * (i / count) + i % count));
  }
}

TEST(Exchange, AllGatherOfUnevenParts) {
  const int64_t rank = world().rank(), size = world().size();
  std::vector<int64_t> offset, bytes;
  int64_t total = 0;
  for (int64_t peer = 0; peer < size; ++peer) {
    offset.push_back(total);
    bytes.push_back(peer % 3 * 10);
    total += bytes.back() + 1;  // gaps stay untouched
  }
  std::vector<std::byte> data(total, std::byte{0xee}), want = data;
  for (int64_t peer = 0; peer < size; ++peer)
    for (int64_t i = 0; i < bytes[peer]; ++i) {
      want[offset[peer] + i] = value(peer, 0, i);
      if (peer == rank) data[offset[peer] + i] = value(peer, 0, i);
    }
  world().all_gather_in_place(data.data(), offset, bytes, payload);
  EXPECT_EQ(data, want);
}

TEST(Exchange, BroadcastFromEveryRoot) {
  const int64_t rank = world().rank(), size = world().size();
  for (int64_t root = 0; root < size; ++root)
    for (const int64_t bytes : {0, 1, 64, 100000}) {
      std::vector<std::byte> data(bytes);
      for (int64_t i = 0; i < bytes; ++i) data[i] = rank == root ? value(root, 3, i) : std::byte{0};
      world().broadcast(data.data(), bytes, root, payload);
      for (int64_t i = 0; i < bytes; ++i) ASSERT_EQ(data[i], value(root, 3, i));
    }
}

TEST(Exchange, GroupsWorkSideBySide) {
  const int64_t rank = world().rank(), size = world().size();
  std::vector<int64_t> ranks;
  for (int64_t r = rank % 2; r < size; r += 2) ranks.push_back(r);
  const auto group = world().group(ranks, MOEMESH_AXIS_EP, static_cast<int32_t>(rank % 2));
  ASSERT_EQ(group->size(), std::ssize(ranks));
  EXPECT_EQ(ranks[group->rank()], rank);
  EXPECT_EQ(group->axes(), MOEMESH_AXIS_EP);
  std::vector<int64_t> all(ranks.size());
  group->all_gather(&rank, 1, all.data(), payload);
  EXPECT_EQ(all, ranks);
  group->close();
  EXPECT_TRUE(group->closed());
}

TEST(Exchange, MoreOperationsThanTags) {
  if (world().size() > 4) GTEST_SKIP() << "many small messages: two to four ranks are enough";
  int64_t value = 0;
  for (int i = 0; i < 40000; ++i) {
    value = world().rank() == 0 ? i : -1;
    world().broadcast(reinterpret_cast<std::byte*>(&value), sizeof value, 0, payload);
    if (value != i) break;
  }
  EXPECT_EQ(value, 39999);
}

}  // namespace
}  // namespace moemesh::test
