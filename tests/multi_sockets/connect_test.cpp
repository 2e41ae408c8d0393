// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// How ranks find each other, and who else is at the door.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "impl/base/error.hpp"
#include "impl/comm/world.hpp"
#include "raw.hpp"

namespace moemesh::test {
namespace {

using sockets::Descriptor;

struct Outcome {
  int32_t status = MOEMESH_OK;
  std::string text;
};
Outcome outcome_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {};
}

// A client of nobody's, connected by its return.
Descriptor stranger(const sockets::Address& place) {
  Descriptor client(::socket(place.family(), SOCK_STREAM, 0));
  EXPECT_EQ(::connect(client.get(), place.get(), static_cast<socklen_t>(place.length)), 0);
  return client;
}

// What a rank says first, as connect.cpp writes it.
std::string hello(const Met& met, int64_t from, int64_t to) {
  std::string text("moemesh1");
  for (const int64_t word : {from, to, ranks()}) text.append(reinterpret_cast<const char*>(&word), sizeof word);
  text.append(reinterpret_cast<const char*>(met.secret.data()), met.secret.size());
  return text;
}

void say(const Descriptor& client, const std::string& text) {
  EXPECT_EQ(::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
}

// Nothing but the end comes.
bool sent_away(const Descriptor& client) {
  timeval limit{.tv_sec = 20, .tv_usec = 0};
  (void)::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  const ssize_t n = ::recv(client.get(), &byte, 1, 0);
  return n == 0 || (n < 0 && errno == ECONNRESET);
}

void expect_whole(std::shared_ptr<Link> link, void* comm) {
  const auto made = adopt_world(link, comm);
  std::vector<int64_t> sum{1};
  made->agree_sum(std::span<int64_t>(sum), Purpose{});
  EXPECT_EQ(sum[0], ranks());
  made->close();
}

// All that comes to rank 0 before the ranks do, and it does no harm.
TEST(Connect, Strangers) {
  if (ranks() == 1) GTEST_SKIP();
  Met met = meet_to_connect();
  const auto link = std::make_shared<Link>();
  std::vector<Descriptor> bad, mute;
  if (own_rank() == ranks() - 1) {
    const sockets::Address& place = met.peers[0].address;
    Met forged{.listener = {}, .peers = {}, .secret = met.secret};
    forged.secret[31] ^= std::byte{1};
    const std::string right = hello(met, own_rank(), 0);
    std::string other_size = right;
    other_size[24] ^= 1;
    for (const std::string& text :
         {std::string(64, 'x'),
          std::string("GET / HTTP/1.1\r\nHost: an.example.of.a.browser.that.is.lost\r\n\r\n") + std::string(20, ' '),
          hello(forged, own_rank(), 0), hello(met, 0, 0), hello(met, ranks(), 0), hello(met, -1, 0),
          hello(met, own_rank(), 1), other_size}) {
      bad.push_back(stranger(place));
      say(bad.back(), text);
    }
    for (const size_t length : {0, 1, 63}) {
      mute.push_back(stranger(place));
      say(mute.back(), right.substr(0, length));
    }
    stranger(place).close();
    for (int i = 0; i < 100; ++i) mute.push_back(stranger(place));
  }
  meet();
  void* const comm = sockets::open(*link, met.listener, own_rank(), met.peers, met.secret);
  for (const Descriptor& one : bad) EXPECT_TRUE(sent_away(one));
  for (const Descriptor& one : mute) EXPECT_TRUE(sent_away(one));  // when the listener went
  expect_whole(link, comm);
}

// Nobody listens once all are there.
TEST(Connect, TheDoorIsClosedAfterwards) {
  Met met = meet_to_connect();
  const auto link = std::make_shared<Link>();
  void* const comm = sockets::open(*link, met.listener, own_rank(), met.peers, met.secret);
  meet();
  const sockets::Address& place = met.peers[0].address;
  Descriptor client(::socket(place.family(), SOCK_STREAM, 0));
  EXPECT_NE(::connect(client.get(), place.get(), static_cast<socklen_t>(place.length)), 0);
  EXPECT_EQ(errno, ECONNREFUSED);
  meet();
  expect_whole(link, comm);
}

// The last rank comes with another secret: it is told so, and the others that it is missing.
TEST(Connect, WrongSecret) {
  if (ranks() == 1) GTEST_SKIP();
  const int64_t last = ranks() - 1;
  Met met = meet_to_connect();
  if (own_rank() == last) met.secret[0] ^= std::byte{64};
  Link link;
  link.timeout_seconds = 1.0;
  const Outcome outcome = outcome_of([&] { sockets::open(link, met.listener, own_rank(), met.peers, met.secret); });
  if (own_rank() == last) {
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_COMMUNICATION);
    EXPECT_NE(outcome.text.find("can't connect with rank "), std::string::npos) << outcome.text;
  } else {
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_TIMEOUT);
    EXPECT_TRUE(outcome.text.ends_with("with rank " + std::to_string(last))) << outcome.text;
  }
  meet();
}

// Rank 0 went away after it had said where it is.
TEST(Connect, NobodyListensThere) {
  if (ranks() == 1) GTEST_SKIP();
  Met met = meet_to_connect();
  if (own_rank() == 0) met.listener.close();
  meet();
  if (own_rank() != 0) {
    Link link;
    link.timeout_seconds = 20;
    const Outcome outcome = outcome_of([&] { sockets::open(link, met.listener, own_rank(), met.peers, met.secret); });
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_COMMUNICATION);
    EXPECT_NE(outcome.text.find("can't connect with rank 0 at " + met.peers[0].address.text() + ": Connection refused"),
              std::string::npos)
        << outcome.text;
  }
  meet();
}

TEST(Connect, ByIpVersion6) {
  Met met = meet_to_connect();
  sockaddr_in6 here{};
  here.sin6_family = AF_INET6;
  here.sin6_addr = in6addr_loopback;
  const Outcome none = outcome_of(
      [&] { met.listener = sockets::Listener(sockets::Address::of(reinterpret_cast<const sockaddr*>(&here))); });
  if (none.status != MOEMESH_OK) GTEST_SKIP() << none.text;
  met.peers = exchange(met.listener.address());
  EXPECT_EQ(met.listener.address().text().find("[::1]:"), 0u);
  const auto link = std::make_shared<Link>();
  expect_whole(link, sockets::open(*link, met.listener, own_rank(), met.peers, met.secret));
}

TEST(Connect, TooFewDescriptors) {
  const int status = play([] {
    const rlimit few{.rlim_cur = 40, .rlim_max = 40};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    EXPECT_EQ(outcome_of([] { sockets::check_descriptors(30); }).status, MOEMESH_OK);
    const Outcome outcome = outcome_of([] { sockets::check_descriptors(512); });
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_COMMUNICATION);
    EXPECT_NE(outcome.text.find("512 ranks need 511 sockets in each process, which may have 40 files open"),
              std::string::npos)
        << outcome.text;
  });
  EXPECT_EQ(status, 0);
}

// The system has no more of them in the midst of it. Ranks that hear nothing of this rank give up at the deadline.
TEST(Connect, DescriptorsRunOut) {
  if (ranks() == 1) GTEST_SKIP();
  const int status = play([] {
    Met met = meet_to_connect();
    Link link;
    link.timeout_seconds = 2;
    std::vector<Descriptor> all;
    if (own_rank() == 0) {
      const rlimit few{.rlim_cur = 60, .rlim_max = 60};
      ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
      do all.emplace_back(::dup(met.listener.get()));
      while (all.back().open());
    }
    const Outcome outcome = outcome_of([&] { sockets::open(link, met.listener, own_rank(), met.peers, met.secret); });
    EXPECT_NE(outcome.status, MOEMESH_OK);
    if (own_rank() == 0) EXPECT_NE(outcome.text.find("ulimit -n"), std::string::npos) << outcome.text;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace moemesh::test
