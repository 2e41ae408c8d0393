// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/sockets/world.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <new>
#include <numeric>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"
#include "impl/comm/sockets/address.hpp"

namespace moemesh::sockets {
namespace {

constexpr size_t stage_bytes = 64 << 10;
constexpr std::chrono::seconds grace{2};
constexpr uint64_t first_id = 1;

uint64_t number_of(uint64_t parent, std::span<const int64_t> ranks, int32_t tag, int64_t how_often) {
  const std::array<int64_t, 3> rest{static_cast<int64_t>(parent), tag, how_often};
  return hash_bytes(ranks.data(), static_cast<int64_t>(ranks.size_bytes()), hash_bytes(rest.data(), sizeof rest, 0));
}

}  // namespace

World::World(int64_t rank, std::vector<uint64_t> hosts, std::vector<Descriptor> sockets, double timeout_seconds)
    : hosts_(std::move(hosts)),
      timeout_seconds_(timeout_seconds),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      written_to_(hosts_.size()),
      stage_(stage_bytes) {
  require(events_.open(), MOEMESH_ERROR_COMMUNICATION, "sockets can't be watched: {}", error_of(errno));
  std::vector<int64_t> all(hosts_.size());
  std::iota(all.begin(), all.end(), 0);
  for (size_t peer = 0; peer < sockets.size(); ++peer)
    connections_.emplace_back(static_cast<int64_t>(peer), std::move(sockets[peer]));
  for (Connection& one : connections_)
    if (one.open()) watch(one, true);
  comms_.push_back({*this, first_id, rank, std::move(all)});
}

World::~World() {
  try {
    say_goodbye();
    (void)progress();                // what is unread when a socket is closed makes the system drop what was written
  } catch (const std::bad_alloc&) {  // then this rank counts as lost
  }
}

Comm& World::group(Comm& parent, std::span<const int64_t> ranks, int32_t tag) {
  const std::lock_guard lock(mutex_);
  Comm made{*this};
  for (const int64_t rank : ranks) made.ranks.push_back(parent.ranks[static_cast<size_t>(rank)]);
  made.rank = std::find(ranks.begin(), ranks.end(), parent.rank) - ranks.begin();
  int64_t& count = parent.made[number_of(parent.id, made.ranks, tag, -1)];
  made.id = number_of(parent.id, made.ranks, tag, count++);
  return comms_.emplace_back(std::move(made));
}

int64_t World::node_leader(const Comm& comm) const {
  const auto host = [&](int64_t rank) { return hosts_[static_cast<size_t>(comm.ranks[static_cast<size_t>(rank)])]; };
  int64_t leader = 0;
  while (host(leader) != host(comm.rank)) ++leader;
  return leader;
}

Request* World::send(Comm& comm, const void* data, int64_t bytes, int64_t peer, int32_t tag) {
  const std::lock_guard lock(mutex_);
  Connection& to = connection(comm, peer);
  auto made = std::make_unique<Send>(*this, to, Frame{.comm = comm.id, .bytes = bytes, .tag = tag}, data);
  to.send(made.get());
  settle(to, 0);
  return made.release();
}

Request* World::receive(Comm& comm, void* data, int64_t capacity, int64_t peer, int32_t tag) {
  const std::lock_guard lock(mutex_);
  Connection& from = connection(comm, peer);
  auto made = std::make_unique<Receive>(*this, from, Frame{.comm = comm.id, .bytes = capacity, .tag = tag}, data);
  from.receive(made.get());
  return made.release();
}

int32_t World::test(Request& request, bool& done, int64_t& bytes) {
  const std::lock_guard lock(mutex_);
  if (!request.done && request.code == 0)
    if (const int32_t code = progress(); code != 0) return code;
  done = request.done;
  bytes = request.frame.bytes;
  if (done) return 0;
  return request.code != 0 ? request.code : verdict(request.connection);
}

int32_t World::drain(Comm& comm, int64_t peer, int32_t tag, bool& done, int64_t& bytes) {
  const std::lock_guard lock(mutex_);
  Connection& from = connection(comm, peer);
  done = from.drop(comm.id, tag, bytes);
  if (done) return 0;
  if (const int32_t code = progress(); code != 0) return code;
  done = from.drop(comm.id, tag, bytes);
  if (done) return 0;
  return from.said_goodbye() ? code_of(Failure::left, from.rank()) : verdict(from);
}

void World::release(Request& request) {
  if (request.kind == Request::sending)
    delete &static_cast<Send&>(request);
  else
    delete &static_cast<Receive&>(request);
}

void World::give_up(Request& request) {
  const std::lock_guard lock(mutex_);
  Connection& connection = request.connection;
  if (request.kind == Request::receiving) return connection.give_up(&static_cast<Receive&>(request));
  settle(connection, connection.give_up(&static_cast<Send&>(request)));
}

// 0, or why something that waits for this connection will wait in vain.
int32_t World::verdict(const Connection& connection) const {
  if (connection.code() != 0) return connection.code();
  return lost_ != 0 && Clock::now() - lost_at_ > grace ? lost_ : 0;
}

// All that the sockets are good for now; waits so long for the first of it.
int32_t World::progress(int milliseconds) {
  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), milliseconds);
  if (count < 0 && errno != EINTR) return code_of(Failure::lost, whole().rank, errno);
  for (int i = 0; i < count; ++i)
    serve(connections_[static_cast<size_t>(ready[static_cast<size_t>(i)].data.u64)],
          ready[static_cast<size_t>(i)].events);
  return 0;
}

void World::serve(Connection& connection, uint32_t events) {
  bool moved = false;
  const int32_t at_writing = events & EPOLLOUT ? connection.write(moved) : 0;
  int32_t at_reading = 0;
  do {  // what a rank sent before it was lost is still there
    moved = false;
    at_reading = connection.read(stage_, closed_, moved);
  } while (at_writing != 0 && at_reading == 0 && moved);
  settle(connection, at_reading != 0 ? at_reading : at_writing);
}

// With a code: ends the connection.
void World::settle(Connection& connection, int32_t code) {
  if (code != 0 && connection.open()) {
    if (connection.said_goodbye()) {
      code = code_of(Failure::left, connection.rank());
    } else if (lost_ == 0) {
      lost_ = code;
      lost_at_ = Clock::now();
    }
    connection.end(code);
  }
  if (connection.open() && connection.writing() != written_to_[static_cast<size_t>(connection.rank())])
    watch(connection);
}

void World::watch(Connection& connection, bool first) {
  const auto place = static_cast<size_t>(connection.rank());
  written_to_[place] = connection.writing();
  epoll_event event{};
  event.events = connection.writing() ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = place;
  if (::epoll_ctl(events_.get(), first ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, connection.get(), &event) != 0)
    settle(connection, code_of(Failure::lost, connection.rank(), errno));
}

int32_t World::close(Comm& comm) {
  const std::lock_guard lock(mutex_);
  if (&comm == &whole()) return close_all();
  for (Connection& connection : connections_) connection.forget(comm.id);
  closed_.insert(comm.id);
  comms_.remove_if([&](const Comm& one) { return &one == &comm; });
  return 0;
}

// Whoever still sends to this rank can go on until it closes too; so nothing that was sent is lost.
int32_t World::close_all() {
  say_goodbye();
  const int32_t code = await_goodbyes();
  for (Connection& connection : connections_)
    if (connection.open()) connection.end(code_of(Failure::left, connection.rank()));
  return code;
}

void World::say_goodbye() {
  for (Connection& connection : connections_) {
    if (!connection.open()) continue;
    auto made = std::make_unique<Send>(*this, connection, Frame{.kind = Frame::goodbye}, nullptr);
    made->given_up = true;
    connection.send(made.get());
    (void)made.release();  // the connection's
    settle(connection, 0);
  }
}

int32_t World::await_goodbyes() {
  const auto start = Clock::now();
  const auto waits = [](const Connection& one) { return one.open() && (one.writing() || !one.said_goodbye()); };
  for (;;) {
    const auto slow = std::find_if(connections_.begin(), connections_.end(), waits);
    if (slow == connections_.end()) return lost_;
    if (lost_ != 0) return lost_;
    const std::chrono::duration<double> waited = Clock::now() - start;
    if (timeout_seconds_ > 0 && waited.count() > timeout_seconds_) return code_of(Failure::late, slow->rank());
    constexpr int milliseconds = 10;
    if (const int32_t code = progress(milliseconds); code != 0) return code;
  }
}

}  // namespace moemesh::sockets
