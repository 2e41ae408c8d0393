// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/mpi/message.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace moemesh::mpi {
namespace {

constexpr int64_t default_piece = int64_t{1} << 30;

int64_t read_piece_bytes() {
  const char* const text = std::getenv("MOEMESH_MPI_PIECE_BYTES");
  const int64_t value = text ? std::strtoll(text, nullptr, 10) : 0;
  return value >= 1 && value <= default_piece ? value : default_piece;
}

// MPICH reports an error of a posted receive to MPI_COMM_WORLD's handler, which by default ends the program. There a
// receive is posted only when the size of its message is known to fit, at the price of a copy of small messages.
#if defined(OPEN_MPI)
constexpr bool post_early = true;
#else
constexpr bool post_early = false;
#endif

bool is_truncation(int32_t code) {
  int error_class = MPI_SUCCESS;
  return code != MPI_SUCCESS && MPI_Error_class(code, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE;
}

}  // namespace

int64_t piece_bytes() {
  static const int64_t value = read_piece_bytes();
  return value;
}

int32_t Send::post() {
  const int count = static_cast<int>(std::min(piece_bytes(), bytes_ - sent_));
  const char* const from = count > 0 ? data_ + sent_ : nullptr;
  last_ = count < piece_bytes();
  sent_ += count;
  return MPI_Isend(from, count, MPI_BYTE, peer_, tag_, comm_, &request_);
}

int32_t Send::test(bool& done, int64_t& bytes) {
  bytes = bytes_;
  for (;;) {
    int flag = 0;
    int32_t code = MPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || !flag) return code;
    done = last_;
    if (done) return MPI_SUCCESS;
    code = post();
    if (code != MPI_SUCCESS) return code;
  }
}

void Send::abandon() {
  // A send can't be taken back in every MPI: a freed request still completes if the peer ever comes.
  if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
}

int32_t Receive::post() {
  if (!post_early) return MPI_SUCCESS;
  const int count = static_cast<int>(std::min(piece_bytes(), capacity_ - received_));
  return MPI_Irecv(count > 0 ? data_ + received_ : nullptr, count, MPI_BYTE, peer_, tag_, comm_, &request_);
}

int32_t Receive::match() {
  int flag = 0, count = 0;
  MPI_Message message;
  MPI_Status status;
  int32_t code = MPI_Improbe(peer_, tag_, comm_, &flag, &message, &status);
  if (code != MPI_SUCCESS || !flag) return code;
  code = MPI_Get_count(&status, MPI_BYTE, &count);
  if (code != MPI_SUCCESS) return code;
  if (count > capacity_ - received_) return message_too_long;
  return MPI_Imrecv(data_ + received_, count, MPI_BYTE, &message, &request_);
}

// Goes on as long as pieces are there: the caller may give up the core between two tests.
int32_t Receive::test(bool& done, int64_t& bytes) {
  while (!done) {
    int flag = 0, count = 0;
    MPI_Status status;
    int32_t code = request_ == MPI_REQUEST_NULL ? match() : MPI_SUCCESS;
    if (code != MPI_SUCCESS || request_ == MPI_REQUEST_NULL) return code;
    code = MPI_Test(&request_, &flag, &status);
    if (is_truncation(code)) return message_too_long;
    if (code != MPI_SUCCESS || !flag) return code;
    code = MPI_Get_count(&status, MPI_BYTE, &count);
    if (code != MPI_SUCCESS) return code;
    received_ += count;
    done = count < piece_bytes();
    if (!done) code = post();
    if (code != MPI_SUCCESS) return code;
  }
  bytes = received_;
  return MPI_SUCCESS;
}

void Receive::abandon() {
  if (request_ == MPI_REQUEST_NULL) return;
  int flag = 0;
  MPI_Cancel(&request_);
  MPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
  // One that could not be cancelled is in mid-transfer from a lost peer: let MPI finish it.
  if (!flag && request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
}

int32_t Drain::step(MPI_Comm comm, int from, int with_tag, bool& done) {
  done = false;
  if (active && (from != peer || with_tag != tag)) return MPI_SUCCESS;
  if (!active) bytes = 0;
  peer = from;
  tag = with_tag;
  while (!done) {
    int flag = 0, count = 0;
    MPI_Status status;
    int32_t code = request == MPI_REQUEST_NULL ? match(comm) : MPI_SUCCESS;
    if (code != MPI_SUCCESS || request == MPI_REQUEST_NULL) return code;
    code = MPI_Test(&request, &flag, &status);
    if (code != MPI_SUCCESS || !flag) return code;
    code = MPI_Get_count(&status, MPI_BYTE, &count);
    if (code != MPI_SUCCESS) return code;
    bytes += count;
    piece.reset();
    done = count < piece_bytes();
  }
  active = false;
  return MPI_SUCCESS;
}

// Starts to take the next piece if it has come.
int32_t Drain::match(MPI_Comm comm) {
  int flag = 0, count = 0;
  MPI_Message message;
  MPI_Status status;
  int32_t code = MPI_Improbe(peer, tag, comm, &flag, &message, &status);
  if (code != MPI_SUCCESS || !flag) return code;
  active = true;
  code = MPI_Get_count(&status, MPI_BYTE, &count);
  if (code != MPI_SUCCESS) return code;
  piece.reset(new (std::nothrow) char[static_cast<size_t>(count) + 1]);
  if (!piece) return out_of_memory;
  return MPI_Imrecv(piece.get(), count, MPI_BYTE, &message, &request);
}

}  // namespace moemesh::mpi
