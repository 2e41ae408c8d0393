// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <unordered_set>
#include <vector>

#include "impl/comm/sockets/connection.hpp"

namespace moemesh::sockets {

// What the table's functions are given: a group of ranks of a world.
struct Comm {
  World& world;
  uint64_t id = 0;
  int64_t rank = 0;
  std::vector<int64_t> ranks = {};        // of the world
  std::map<uint64_t, int64_t> made = {};  // how many groups of the same ranks and tag
};

// All connections of one context. Functions return codes, may be called by any thread, and never wait, but for close() of the
// world. Messages move whenever one of them is called.
//
// A lost rank is told to whoever waits for it, and after a moment, in which what does not depend on it can end, also to those
// that wait for others: these wait for it too, and it is its number that helps.
class World {
 public:
  // hosts: of all ranks, equal where they share memory. sockets: as of connect_all(). timeout_seconds: of close(), 0: none
  World(int64_t rank, std::vector<uint64_t> hosts, std::vector<Descriptor> sockets, double timeout_seconds);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();  // says goodbye where it can, and does not wait

  Comm& whole() { return comms_.front(); }
  // Says nothing to anybody: a group's number follows from its parent's, its ranks and tag, and how often that was.
  Comm& group(Comm& parent, std::span<const int64_t> ranks, int32_t tag);
  int32_t close(Comm& comm);
  int64_t node_leader(const Comm& comm) const;

  Request* send(Comm& comm, const void* data, int64_t bytes, int64_t peer, int32_t tag);
  Request* receive(Comm& comm, void* data, int64_t capacity, int64_t peer, int32_t tag);
  int32_t test(Request& request, bool& done, int64_t& bytes);
  int32_t drain(Comm& comm, int64_t peer, int32_t tag, bool& done, int64_t& bytes);
  void give_up(Request& request);  // and deletes it
  static void release(Request& request);

 private:
  using Clock = std::chrono::steady_clock;
  Connection& connection(const Comm& comm, int64_t peer) {
    return connections_[static_cast<size_t>(comm.ranks[static_cast<size_t>(peer)])];
  }
  int32_t progress(int milliseconds = 0);
  void serve(Connection& connection, uint32_t events);
  void settle(Connection& connection, int32_t code);
  void watch(Connection& connection, bool first = false);
  int32_t verdict(const Connection& connection) const;
  void say_goodbye();
  int32_t await_goodbyes();
  int32_t close_all();

  std::mutex mutex_;
  const std::vector<uint64_t> hosts_;
  const double timeout_seconds_;
  Descriptor events_;
  std::deque<Connection> connections_;  // by rank
  std::vector<bool> written_to_;        // those whose sockets are watched for room
  std::list<Comm> comms_;
  std::unordered_set<uint64_t> closed_;
  std::vector<char> stage_;
  int32_t lost_ = 0;  // the code of the first one
  Clock::time_point lost_at_;
};

}  // namespace moemesh::sockets
