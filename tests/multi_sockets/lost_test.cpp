// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Ranks that go away. No deadline is set: what the others wait for ends all the same, and names the one.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "impl/base/error.hpp"
#include "raw.hpp"

namespace moemesh::test {
namespace {

struct Outcome {
  int32_t status = MOEMESH_OK;
  std::string text;
  double seconds = 0;
};
Outcome outcome_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  Outcome result;
  try {
    call();
  } catch (const Error& error) {
    result = {error.status(), error.what()};
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void expect_lost(const Outcome& outcome, int64_t rank, const char* how = "is lost") {
  EXPECT_EQ(outcome.status, MOEMESH_ERROR_COMMUNICATION);
  const std::string named = "rank " + std::to_string(rank) + " of the world " + how;
  EXPECT_NE(outcome.text.find(named), std::string::npos) << outcome.text;
  EXPECT_LT(outcome.seconds, 30);
}

void sum_all(Communicator& comm) {
  int32_t one = 1;
  EXPECT_FALSE(comm.all_reduce(&one, 1, Communicator::Op::sum, reduction));
}

struct Lost : ::testing::Test {
  const int64_t rank = own_rank(), size = ranks(), last = size - 1;
  void SetUp() override {
    if (size == 1) GTEST_SKIP() << "nobody else is there";
  }
};

TEST_F(Lost, ARankThatExits) {
  const int status = play([&] {
    Own own = open_own(0);
    sum_all(*own.world);
    if (rank == last) _exit(7);
    expect_lost(outcome_of([&] { sum_all(*own.world); }), last);
    EXPECT_TRUE(own.link->broken);
    own.world->close();  // local
  });
  EXPECT_EQ(status, rank == last ? 7 : 0);
}

// It had sent half of a message.
TEST_F(Lost, ARankThatIsKilledWhileItSends) {
  const int status = play([&] {
    Own own = open_own(0);
    const Raw raw(*own.link, *own.world);
    std::vector<char> data(int64_t{64} << 20);
    if (rank == last) {
      for (int64_t peer = 0; peer < last; ++peer) (void)raw.send(data.data(), std::ssize(data), peer, 1);
      raise(SIGKILL);
    }
    const std::string text = raw.text_of(raw.code_of(raw.receive(data.data(), std::ssize(data), last, 1)));
    EXPECT_NE(text.find("rank " + std::to_string(last) + " of the world is lost"), std::string::npos) << text;
  });
  EXPECT_EQ(status, rank == last ? -SIGKILL : 0);
}

// Who waits for another rank than the lost one hears of it too, and of that one.
TEST_F(Lost, WhoWaitsForOthersHearsOfIt) {
  if (size < 3) GTEST_SKIP();
  const int status = play([&] {
    Own own = open_own(0);
    const Raw raw(*own.link, *own.world);
    sum_all(*own.world);
    if (rank == last) _exit(7);
    int64_t word = 0;
    const int64_t other = rank == 0 ? 1 : 0;
    const std::string text = raw.text_of(raw.code_of(raw.receive(&word, 8, other, 1)));
    EXPECT_NE(text.find("rank " + std::to_string(last) + " of the world is lost"), std::string::npos) << text;
    usleep(500000);  // nobody leaves before the others heard of it
  });
  EXPECT_EQ(status, rank == last ? 7 : 0);
}

// What it sent before its end still arrives, and what does not depend on it still works.
TEST_F(Lost, ItsLastMessagesArrive) {
  const int status = play([&] {
    Own own = open_own(0);
    const Raw raw(*own.link, *own.world);
    int64_t word = 10 + rank, got = 0;
    if (rank == last) {
      std::vector<void*> requests;
      for (int64_t peer = 0; peer < last; ++peer) requests.push_back(raw.send(&word, 8, peer, 1));
      raw.wait(requests);
      _exit(0);
    }
    usleep(100000);
    EXPECT_EQ(raw.wait({raw.receive(&got, 8, last, 1)}), (std::vector<int64_t>{8}));
    EXPECT_EQ(got, 10 + last);
    EXPECT_NE(raw.code_of(raw.receive(&got, 8, last, 1)), 0);
    EXPECT_NE(raw.code_of(raw.send(&word, 8, last, 1)), 0);
    int32_t done = 0;
    EXPECT_NE(raw.transport->drain(raw.comm, last, 1, &done, nullptr), 0);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Lost, WritingToItIsNoSignal) {
  const int status = play([&] {
    Own own = open_own(0);
    const Raw raw(*own.link, *own.world);
    if (rank == last) _exit(0);
    const std::vector<char> data(1 << 20);
    int32_t code = 0;
    for (int i = 0; i < 1000 && code == 0; ++i) {
      void* request = raw.send(data.data(), std::ssize(data), last, 1);
      code = raw.test_until(&request, nullptr);
      if (request) raw.transport->abandon(&request);
    }
    EXPECT_NE(raw.text_of(code).find("is lost"), std::string::npos) << raw.text_of(code);
  });
  EXPECT_EQ(status, 0);
}

// Its context is destroyed and nothing was wrong: a text of its own.
TEST_F(Lost, ARankThatClosesItsContext) {
  const int status = play([&] {
    Own own = open_own(0);
    sum_all(*own.world);
    if (rank == last) {
      own.world.reset();
      own.link.reset();
      return;
    }
    expect_lost(outcome_of([&] { sum_all(*own.world); }), last, "closed its context");
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Lost, WhileOthersClose) {
  const int status = play([&] {
    Own own = open_own(0);
    if (rank == last) _exit(0);
    expect_lost(outcome_of([&] { own.world->close(); }), last);
  });
  EXPECT_EQ(status, 0);
}

// It is there and does nothing: only a deadline helps.
TEST_F(Lost, ARankThatNeverCloses) {
  Own own = open_own(0.3);
  if (rank != last) {
    const Outcome outcome = outcome_of([&] { own.world->close(); });
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_COMMUNICATION);
    EXPECT_NE(outcome.text.find("did not close its context by the deadline"), std::string::npos) << outcome.text;
    EXPECT_GE(outcome.seconds, 0.3);
  }
  meet();
}

}  // namespace
}  // namespace moemesh::test
