// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <unordered_set>

#include "impl/comm/sockets/code.hpp"
#include "impl/comm/sockets/descriptor.hpp"
#include "impl/comm/sockets/message.hpp"

namespace moemesh::sockets {

// The messages between this rank and one other. Those that came before somebody asked for them are kept, in memory: nothing
// is held back, so that a message that is asked for can't be stuck behind one that is not.
class Connection {
 public:
  // No socket: to the own rank.
  Connection(int64_t rank, Descriptor socket) : rank_(rank), socket_(std::move(socket)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  int64_t rank() const { return rank_; }
  int get() const { return socket_.get(); }
  bool open() const { return socket_.open(); }
  bool writing() const { return !out_.empty(); }
  bool said_goodbye() const { return goodbye_; }

  // Both may do it at once, and never wait.
  void send(Send* message);
  void receive(Receive* wanted);
  // One whole message that came; false: it is not there. bytes: its size.
  bool drop(uint64_t comm, int32_t tag, int64_t& bytes);
  // The user's memory is not touched after it; what is on its way still goes. A code: it can't, for want of memory.
  int32_t give_up(Send* message);
  void give_up(Receive* wanted);
  void forget(uint64_t comm);  // what came for it; more may come and is dropped, see read()

  // What the socket is good for now, up to a limit. moved: whether anything was. closed: communicators whose messages are
  // dropped. A code: the connection is of no use any more.
  int32_t read(std::span<char> stage, const std::unordered_set<uint64_t>& closed, bool& moved);
  int32_t write(bool& moved);
  // Ends it; everything that waits for it fails with the code.
  void end(int32_t code);
  int32_t code() const { return code_; }

 private:
  struct Arrival {
    Frame frame;
    Bytes data;
    bool whole = false;
  };
  using Arrivals = std::list<Arrival, RecyclingAllocator<Arrival>>;

  int32_t take(const char* data, int64_t bytes, const std::unordered_set<uint64_t>& closed);
  int32_t begin(const std::unordered_set<uint64_t>& closed);
  void begin_message(bool wanted_here);
  void finish();
  void advance(int64_t bytes);
  Receive* take_posted(const Frame& frame);
  Arrivals::iterator find(uint64_t comm, int32_t tag);
  void loop(Send* message);
  void fail_posted(int32_t code);
  void written(Send& message);

  const int64_t rank_;
  Descriptor socket_;
  int32_t code_ = 0;
  bool goodbye_ = false;

  std::deque<Send*, RecyclingAllocator<Send*>> out_;  // the first is being written
  std::list<Receive*, RecyclingAllocator<Receive*>> posted_;
  Arrivals arrived_;

  // The message that comes in: its frame so far, then where its data goes (null: nowhere) and how much is left of it.
  Frame frame_;
  size_t head_ = 0;
  char* into_ = nullptr;
  int64_t left_ = 0;
  Receive* filling_ = nullptr;
  Arrival* storing_ = nullptr;
};

}  // namespace moemesh::sockets
