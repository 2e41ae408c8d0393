// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Messages of any size over MPI's int counts. The rule that both sides know: a message is a run of full pieces, ended by
// one shorter piece, which may be empty. So n bytes are n/piece + 1 MPI messages of one tag, and neither the receiver's
// capacity nor a header is needed to find the end; below a piece (1 GiB) it is exactly one MPI message.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "impl/base/recycled.hpp"

namespace moemesh::mpi {

// Codes of our own, besides MPI's positive ones.
enum Code : int32_t {
  out_of_memory = -1,
  null_communicator = -2,
  inter_communicator = -3,
  message_too_long = -4,
  bad_fake_nodes = -5,
};

// Bytes of a full piece: 2^30, or the environment's MOEMESH_MPI_PIECE_BYTES (tests; equal on all ranks).
int64_t piece_bytes();

// Takes messages apart from their receivers' buffers, one at a time: while one is under way, the others wait.
struct Drain {
  bool active = false;
  int peer = 0, tag = 0;
  int64_t bytes = 0;
  std::unique_ptr<char[]> piece;
  MPI_Request request = MPI_REQUEST_NULL;

  int32_t step(MPI_Comm comm, int from, int with_tag, bool& done);

 private:
  int32_t match(MPI_Comm comm);
};

class Request : public RecycledObject {
 public:
  virtual ~Request() = default;
  virtual int32_t test(bool& done, int64_t& bytes) = 0;
  virtual void abandon() = 0;
  virtual bool handed_over() const { return true; }
};

// One piece is under way at a time: thousands of open sends are slow in Open MPI.
class Send : public Request {
 public:
  Send(MPI_Comm comm, const char* data, int64_t bytes, int peer, int tag)
      : comm_(comm), data_(data), bytes_(bytes), peer_(peer), tag_(tag) {}
  int32_t post();  // the next piece
  int32_t test(bool& done, int64_t& bytes) override;
  void abandon() override;
  bool handed_over() const override { return last_; }

 private:
  MPI_Comm comm_;
  const char* data_;
  int64_t bytes_, sent_ = 0;
  int peer_, tag_;
  bool last_ = false;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class Receive : public Request {
 public:
  Receive(MPI_Comm comm, char* data, int64_t capacity, int peer, int tag)
      : comm_(comm), data_(data), capacity_(capacity), peer_(peer), tag_(tag) {}
  int32_t post();  // the next piece
  int32_t test(bool& done, int64_t& bytes) override;
  void abandon() override;

 private:
  int32_t match();  // takes the next piece if it has come

  MPI_Comm comm_;
  char* data_;
  int64_t capacity_, received_ = 0;
  int peer_, tag_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace moemesh::mpi
