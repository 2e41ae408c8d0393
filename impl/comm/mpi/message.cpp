// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/mpi/message.hpp"

#include <algorithm>
#include <cstdlib>

namespace moemesh::mpi {
namespace {

constexpr int64_t default_piece = int64_t{1} << 30;

int64_t read_piece_bytes() {
  const char* const text = std::getenv("MOEMESH_MPI_PIECE_BYTES");
  const int64_t value = text ? std::strtoll(text, nullptr, 10) : 0;
  return value >= 1 && value <= default_piece ? value : default_piece;
}

bool is_truncation(int32_t code) {
  int error_class = MPI_SUCCESS;
  return code != MPI_SUCCESS && MPI_Error_class(code, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE;
}

}  // namespace

int64_t piece_bytes() {
  static const int64_t value = read_piece_bytes();
  return value;
}

int32_t Send::start(MPI_Comm comm, const char* data, int64_t bytes, int peer, int tag) {
  const int64_t piece = piece_bytes();
  bytes_ = bytes;
  pieces_.reserve(static_cast<size_t>(bytes / piece + 1));
  for (int64_t sent = 0; sent <= bytes; sent += piece) {
    const int count = static_cast<int>(std::min(piece, bytes - sent));
    MPI_Request request = MPI_REQUEST_NULL;
    const int32_t code = MPI_Isend(count > 0 ? data + sent : nullptr, count, MPI_BYTE, peer, tag, comm, &request);
    if (code != MPI_SUCCESS) return code;
    pieces_.push_back(request);
  }
  return MPI_SUCCESS;
}

int32_t Send::test(bool& done, int64_t& bytes) {
  int flag = 0;
  const int32_t code =
      pieces_.size() == 1
          ? MPI_Test(pieces_.data(), &flag, MPI_STATUS_IGNORE)
          : MPI_Testall(static_cast<int>(pieces_.size()), pieces_.data(), &flag, MPI_STATUSES_IGNORE);
  done = flag != 0;
  bytes = bytes_;
  return code;
}

void Send::abandon() {
  // Sends can't be taken back in every MPI: a freed request still completes if the peer ever comes.
  for (MPI_Request& request : pieces_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

int32_t Receive::post() {
  const int64_t room = capacity_ - received_;
  const int count = static_cast<int>(std::min(piece_bytes(), room));
  return MPI_Irecv(count > 0 ? data_ + received_ : nullptr, count, MPI_BYTE, peer_, tag_, comm_, &request_);
}

int32_t Receive::test(bool& done, int64_t& bytes) {
  int flag = 0, count = 0;
  MPI_Status status;
  int32_t code = MPI_Test(&request_, &flag, &status);
  if (is_truncation(code)) return message_too_long;
  if (code != MPI_SUCCESS || !flag) return code;
  code = MPI_Get_count(&status, MPI_BYTE, &count);
  if (code != MPI_SUCCESS) return code;
  received_ += count;
  bytes = received_;
  done = count < piece_bytes();
  return done ? MPI_SUCCESS : post();
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
  if (!active) {
    peer = from;
    tag = with_tag;
    bytes = 0;
  }
  if (request == MPI_REQUEST_NULL) {
    const int32_t code = match(comm);
    if (code != MPI_SUCCESS || request == MPI_REQUEST_NULL) return code;
  }
  int flag = 0, count = 0;
  MPI_Status status;
  int32_t code = MPI_Test(&request, &flag, &status);
  if (code != MPI_SUCCESS || !flag) return code;
  code = MPI_Get_count(&status, MPI_BYTE, &count);
  bytes += count;
  piece.reset();
  done = count < piece_bytes();
  if (done) active = false;
  return code;
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
