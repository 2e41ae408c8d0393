// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "impl/base/recycled.hpp"

namespace moemesh::sockets {

// What goes before each message of a connection.
struct Frame {
  enum Kind : int32_t { message = 0x4d4d, goodbye = 0x4742 };  // goodbye: no more will come
  uint64_t comm = 0;
  int64_t bytes = 0;
  int32_t tag = 0;
  int32_t kind = message;
};
static_assert(sizeof(Frame) == 24);

// Memory that is not initialized.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(int64_t bytes) : size_(static_cast<size_t>(bytes)) {
    if (size_ > 0) data_ = static_cast<char*>(Recycler::take(size_));
  }
  Bytes(Bytes&& from) noexcept : data_(std::exchange(from.data_, nullptr)), size_(from.size_) {}
  Bytes& operator=(Bytes&& from) noexcept {
    std::swap(data_, from.data_);
    std::swap(size_, from.size_);
    return *this;
  }
  ~Bytes() {
    if (data_) Recycler::give(data_, size_);
  }
  char* get() const { return data_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
};

class Connection;
class World;

// What the table's users hold. code: why it can't be done.
struct Request : RecycledObject {
  enum Kind { sending, receiving };
  Request(Kind its_kind, World& its_world, Connection& its_connection, const Frame& its_frame)
      : kind(its_kind), world(its_world), connection(its_connection), frame(its_frame) {}
  const Kind kind;
  World& world;
  Connection& connection;
  Frame frame;  // of a receive: bytes is the capacity, then the size
  bool done = false;
  int32_t code = 0;
};

struct Send : Request {
  Send(World& its_world, Connection& its_connection, const Frame& its_frame, const void* its_data)
      : Request(sending, its_world, its_connection, its_frame), data(static_cast<const char*>(its_data)) {}
  const char* data;
  int64_t moved = 0;    // of the frame and the data
  bool queued = false;  // the connection has it, and deletes it where nobody else does:
  bool given_up = false;
  Bytes copy;  // of data that may go away
};

struct Receive : Request {
  Receive(World& its_world, Connection& its_connection, const Frame& its_frame, void* its_data)
      : Request(receiving, its_world, its_connection, its_frame), data(static_cast<char*>(its_data)) {}
  char* data;
};

}  // namespace moemesh::sockets
