// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace fake {

struct Message {
  enum Kind : int64_t { join, table, part } kind = part;
  uint64_t comm = 0;
  int64_t from = 0;      // rank in the communicator
  int64_t sequence = 0;  // of the messages between these two ranks
  std::string text;      // what the sender is doing
  std::vector<std::byte> data;
};

// Messages between the processes of MPI_COMM_WORLD. Used by the device's thread and whoever has locked the engine.
class Post {
 public:
  static Post& get();
  int rank();  // in MPI_COMM_WORLD

  void send(int to, const Message& message);
  // Null: not here yet.
  const Message* find(uint64_t comm, int64_t from, int64_t sequence) const;
  void drop(uint64_t comm, int64_t from, int64_t sequence);
  void forget(uint64_t comm);  // what comes for it later too
  std::vector<const Message*> left(uint64_t comm) const;

  std::list<Message> joins;                         // for ids that this process made
  std::map<uint64_t, std::vector<int64_t>> tables;  // world ranks of communicators

 private:
  static void end_before_mpi();
  bool poll();
  void deliver(Message message);

  struct Outgoing {
    std::vector<std::byte> bytes;
    void* request;
  };
  using Place = std::tuple<uint64_t, int64_t, int64_t>;
  std::map<Place, Message> mail_;
  std::map<uint64_t, bool> forgotten_;
  std::list<Outgoing> outgoing_;
  bool started_ = false;
};

}  // namespace fake
