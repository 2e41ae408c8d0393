// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Messages between ranks that are alive: order, sizes, groups, threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "raw.hpp"

namespace moemesh::test {
namespace {

struct Transport : ::testing::Test {
  Own own = open_own(60);
  Raw raw{*own.link, *own.world};
  const int64_t rank = own_rank(), size = ranks();

  void TearDown() override { own.world->close(); }
};

TEST_F(Transport, ManyMessagesInFlight) {
  constexpr int64_t each = 1000, tags = 7;
  const auto bytes_of = [](int64_t i) { return 13 * i % 1999; };
  const auto value = [](int64_t from, int64_t to, int64_t i) { return static_cast<char>(31 * from + 7 * to + i); };
  std::vector<std::vector<char>> sent, received;
  std::vector<void*> requests;
  for (int64_t i = 0; i < each; ++i)
    for (int64_t peer = 0; peer < size; ++peer) {
      sent.emplace_back(bytes_of(i), value(rank, peer, i));
      requests.push_back(raw.send(sent.back().data(), bytes_of(i), peer, static_cast<int32_t>(i % tags)));
    }
  // The tags the other way round, and the own messages too; within a tag it is the order of the sends.
  std::vector<std::pair<int64_t, int64_t>> wanted;
  for (int64_t tag = tags - 1; tag >= 0; --tag)
    for (int64_t i = tag; i < each; i += tags)
      for (int64_t peer = size - 1; peer >= 0; --peer) {
        received.emplace_back(2000, '?');
        wanted.emplace_back(peer, i);
        requests.push_back(raw.receive(received.back().data(), 2000, peer, static_cast<int32_t>(tag)));
      }
  const std::vector<int64_t> sizes = raw.wait(requests);
  for (size_t j = 0; j < wanted.size(); ++j) {
    const auto [peer, i] = wanted[j];
    ASSERT_EQ(sizes[sent.size() + j], bytes_of(i));
    received[j].resize(bytes_of(i));
    ASSERT_EQ(received[j], std::vector<char>(bytes_of(i), value(peer, rank, i)));
  }
}

TEST_F(Transport, LargeBothWaysAtOnce) {
  const int64_t peer = rank ^ 1, bytes = int64_t{64} << 20;
  if (peer < size) {
    const auto word = [](int64_t from, int64_t i) { return 0x9e3779b97f4a7c15 * static_cast<uint64_t>(i + 1) + from; };
    std::vector<uint64_t> out(bytes / 8), in(bytes / 8);
    for (int64_t i = 0; i < std::ssize(out); ++i) out[i] = word(rank, i);
    raw.wait({raw.send(out.data(), bytes, peer, 3), raw.receive(in.data(), bytes, peer, 3)});
    int64_t wrong = 0;
    for (int64_t i = 0; i < std::ssize(in); ++i) wrong += in[i] != word(peer, i);
    EXPECT_EQ(wrong, 0);
  }
}

// Nobody asks for the large one yet, and what comes behind it is not stuck.
TEST_F(Transport, UnexpectedMessagesHoldNothingUp) {
  const int64_t to = (rank + 1) % size, from = (rank + size - 1) % size, bytes = int64_t{16} << 20;
  std::vector<char> large(bytes, static_cast<char>(rank)), got(bytes);
  const std::vector<int64_t> small{rank, 5};
  std::vector<int64_t> word(2);
  std::vector<void*> sends{raw.send(large.data(), bytes, to, 1), raw.send(nullptr, 0, to, 2),
                           raw.send(small.data(), 16, to, 3), raw.send(nullptr, 0, to, 3)};
  EXPECT_EQ(raw.wait({raw.receive(word.data(), 16, from, 3)}), (std::vector<int64_t>{16}));
  EXPECT_EQ(word, (std::vector<int64_t>{from, 5}));
  EXPECT_EQ(raw.wait({raw.receive(word.data(), 16, from, 3)}), (std::vector<int64_t>{0}));
  EXPECT_EQ(raw.drain(from, 2), 0);
  EXPECT_EQ(raw.wait({raw.receive(got.data(), bytes, from, 1)}), (std::vector<int64_t>{bytes}));
  EXPECT_EQ(got, std::vector<char>(bytes, static_cast<char>(from)));
  raw.wait(sends);
}

TEST_F(Transport, DrainTakesOneMessageOfAnySize) {
  const int64_t to = (rank + 1) % size, from = (rank + size - 1) % size;
  const std::vector<char> data(300000, 'x');
  std::vector<void*> sends;
  for (const int64_t bytes : {0, 300000, 1}) sends.push_back(raw.send(data.data(), bytes, to, 9));
  EXPECT_EQ(raw.drain(from, 9), 0);
  EXPECT_EQ(raw.drain(from, 9), 300000);
  char last = 0;
  raw.wait({raw.receive(&last, 1, from, 9)});
  EXPECT_EQ(last, 'x');
  raw.wait(sends);
}

TEST_F(Transport, LongerThanExpected) {
  const int64_t to = (rank + 1) % size, from = (rank + size - 1) % size;
  const std::vector<char> data(100000, 'y');
  char place[10], next = 0;
  for (const bool early : {true, false}) {
    void* wanted = early ? raw.receive(place, sizeof place, from, 4) : nullptr;
    meet();
    std::vector<void*> sends{raw.send(data.data(), std::ssize(data), to, 4), raw.send(data.data(), 1, to, 5)};
    raw.wait({raw.receive(&next, 1, from, 5)});  // so the long one is here
    if (!early) wanted = raw.receive(place, sizeof place, from, 4);
    EXPECT_NE(raw.text_of(raw.code_of(wanted)).find("longer than its receiver expects"), std::string::npos);
    raw.wait(sends);
  }
}

// The receiver's memory goes away while the message is coming in, and the sender's before it is out. Tags are none of the
// communicator's, which has another use for small ones.
TEST_F(Transport, GivenUp) {
  const int64_t to = (rank + 1) % size, from = (rank + size - 1) % size, bytes = int64_t{32} << 20;
  {
    auto out = std::make_unique<std::vector<char>>(bytes, static_cast<char>(rank + 1));
    auto in = std::make_unique<std::vector<char>>(bytes);
    void* wanted = raw.receive(in->data(), bytes, from, 1001);
    void* first = raw.send(out->data(), bytes, to, 1001);
    void* second = raw.send(out->data(), bytes, to, 1002);
    raw.transport->abandon(&wanted);
    raw.transport->abandon(&first);
    raw.transport->abandon(&second);
    EXPECT_EQ(second, nullptr);
  }
  std::vector<char> in(bytes);
  EXPECT_EQ(raw.wait({raw.receive(in.data(), bytes, from, 1002)}), (std::vector<int64_t>{bytes}));
  EXPECT_EQ(in, std::vector<char>(bytes, static_cast<char>(from + 1)));
  int64_t left = 0;
  void* early = raw.receive(&left, 8, from, 1007);
  raw.transport->abandon(&early);
  std::vector<int64_t> all{1};  // a meeting in which what is given up goes on
  own.world->agree_sum(std::span<int64_t>(all), Purpose{});
  const int64_t word = 10 * rank;
  void* out = raw.send(&word, 8, to, 1007);
  raw.wait({raw.receive(&left, 8, from, 1007), out});
  EXPECT_EQ(left, 10 * from);
}

// ---- groups

using Members = std::vector<int64_t>;
struct Plan {
  Members members;
  int32_t tag;
};

// All of two and more ranks, some more than once: of the same tag, which are told apart by their order, or of another.
std::vector<Plan> plans(int64_t size) {
  std::vector<Plan> all;
  for (int64_t set = 0; set < int64_t{1} << size; ++set) {
    Members members;
    for (int64_t r = 0; r < size; ++r)
      if (set >> r & 1) members.push_back(r);
    if (members.size() < 2) continue;
    for (const int32_t tag : {0, 7, 7}) all.push_back({members, tag});
  }
  return all;
}

// Each rank makes them in another order; only those of the same ranks and tag stay in order.
TEST_F(Transport, GroupsMadeInAnotherOrderOnEachRank) {
  if (size > 4) GTEST_SKIP() << "there are very many groups";
  const std::vector<Plan> all = plans(size);
  std::vector<std::unique_ptr<Communicator>> groups(all.size());
  std::vector<size_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t i = 0; i + 3 <= order.size(); i += 3)  // by threes, see plans()
    if ((rank + static_cast<int64_t>(i)) % 2)
      std::rotate(order.begin() + i, order.begin() + i + 1, order.begin() + i + 3);
  std::rotate(order.begin(), order.begin() + static_cast<int64_t>(order.size()) / 3 * rank / size * 3, order.end());
  for (const size_t i : order) {
    const Members& members = all[i].members;
    if (std::count(members.begin(), members.end(), rank) == 0) continue;
    groups[i] = own.world->group(members, 1, all[i].tag);
    // A message goes at once, whether the others have the group or not.
    raw.post(*groups[i], {static_cast<int64_t>(i), rank});
  }
  for (size_t i = 0; i < groups.size(); ++i)
    if (groups[i])
      for (int64_t peer = 0; peer < groups[i]->size(); ++peer)
        if (peer != groups[i]->rank())
          EXPECT_EQ(raw.take(*groups[i], peer), (Members{static_cast<int64_t>(i), all[i].members[peer]}));
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i]) continue;
    std::vector<int64_t> sum{1};
    groups[i]->agree_sum(std::span<int64_t>(sum), Purpose{});
    EXPECT_EQ(sum[0], std::ssize(all[i].members));
    groups[i]->close();
  }
}

TEST_F(Transport, GroupsOfGroups) {
  if (size < 3) GTEST_SKIP();
  Members rest;
  for (int64_t r = 1; r < size; ++r) rest.push_back(r);
  if (rank > 0) {
    const auto outer = own.world->group(rest, 1, 0);
    const Members ends{0, outer->size() - 1};
    if (outer->rank() == ends[0] || outer->rank() == ends[1]) {
      const auto inner = outer->group(ends, 2, 0);
      std::vector<int64_t> all(2);
      inner->all_gather(&rank, 1, all.data(), Purpose{});
      EXPECT_EQ(all, (Members{1, size - 1}));
      inner->close();
    }
    outer->close();
  }
}

// What nobody asked for goes when the group is closed, also if it comes later.
TEST_F(Transport, ClosedGroupsKeepNothing) {
  if (size == 1) GTEST_SKIP();
  Members all;
  for (int64_t r = 0; r < size; ++r) all.push_back(r);
  const auto first = own.world->group(all, 1, 0), second = own.world->group(all, 1, 0);
  raw.post(*first, {1, 1});
  if (rank == 0) second->close();
  meet();
  if (rank != 0) {
    raw.post(*second, {2, 2});
    second->close();
  }
  first->close();
  const auto third = own.world->group(all, 1, 0);
  raw.post(*third, {3, rank});
  for (int64_t peer = 0; peer < size; ++peer)
    if (peer != rank) EXPECT_EQ(raw.take(*third, peer), (Members{3, peer}));
  third->close();
}

// Two threads on communicators of their own, and one that only looks.
TEST_F(Transport, Threads) {
  Members all;
  for (int64_t r = 0; r < size; ++r) all.push_back(r);
  std::vector<int64_t> sums(3);
  std::atomic<bool> over = false;
  const auto work = [&](int32_t which) {
    const auto group = own.world->group(all, 1, which);
    for (int64_t i = 0; i < 300; ++i) {
      std::vector<int64_t> sum{i + rank * which};
      if (size > 1) group->agree_sum(std::span<int64_t>(sum), Purpose{});
      sums[static_cast<size_t>(which)] += sum[0];
    }
    group->close();
  };
  void* never = raw.receive(nullptr, 0, 0, 99);
  std::thread looks([&] {
    int32_t done = 0;
    while (!over) {
      EXPECT_EQ(raw.transport->test(&never, &done, nullptr), 0);
      std::this_thread::yield();
    }
  });
  std::thread first([&] { work(1); }), second([&] { work(2); });
  first.join();
  second.join();
  over = true;
  looks.join();
  raw.transport->abandon(&never);
  meet();  // from a rank that closed it would be an error
  for (const int64_t which : {1, 2})
    EXPECT_EQ(sums[which], 300 * 299 / 2 * size + 300 * which * size * (size - 1) / 2) << which;
}

TEST_F(Transport, ProgressThread) {
  own.link->progress.start();
  for (int64_t round = 0; round < 20; ++round) {
    std::vector<float> data(10000, static_cast<float>(rank + round));
    EXPECT_FALSE(own.world->all_reduce(data.data(), std::ssize(data), Communicator::Op::sum, reduction));
    ASSERT_EQ(data.back(), static_cast<float>(size * (size - 1) / 2 + size * round));
  }
  own.link->progress.stop();
}

// What was sent before close is received after it, however late.
TEST_F(Transport, ClosingLosesNothing) {
  const int64_t bytes = int64_t{8} << 20;
  std::vector<char> data(bytes, static_cast<char>(rank)), got(bytes);
  void* const comm = own.world->transport_comm();
  if (rank == 0) {
    for (int64_t peer = 1; peer < size; ++peer) {
      void* request = raw.send(data.data(), bytes, peer, 1);
      raw.transport->abandon(&request);  // it goes on
    }
    return;  // and closes
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  void* request = nullptr;
  ASSERT_EQ(raw.transport->receive(comm, got.data(), bytes, 0, 1, &request), 0);
  EXPECT_EQ(raw.wait({request}), (std::vector<int64_t>{bytes}));
  EXPECT_EQ(got, std::vector<char>(bytes, 0));
  // From a rank that closed nothing comes any more.
  void* more = raw.receive(got.data(), 1, 0, 1);
  EXPECT_NE(raw.text_of(raw.code_of(more)).find("rank 0 of the world closed its context"), std::string::npos);
}

TEST_F(Transport, WhatItSaysOfItself) {
  moemesh_transport_state state{};
  EXPECT_EQ(raw.transport->state(&state), 0);
  EXPECT_EQ(state.initialized, 1);
  EXPECT_EQ(state.finalized, 0);
  EXPECT_EQ(state.thread_level, 3);
  EXPECT_EQ(raw.transport->kind, MOEMESH_COMM_NCCL);
  void* comm = nullptr;
  EXPECT_NE(raw.text_of(raw.transport->open(0, 1, &comm)).find("no handle"), std::string::npos);
  setenv("MOEMESH_FAKE_NODES", "two", 1);
  int64_t leader = 0;
  EXPECT_NE(raw.text_of(raw.transport->node_leader(own.world->transport_comm(), &leader)).find("MOEMESH_FAKE_NODES"),
            std::string::npos);
  unsetenv("MOEMESH_FAKE_NODES");
}

}  // namespace
}  // namespace moemesh::test
