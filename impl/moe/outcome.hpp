// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/comm/communicator.hpp"
#include "impl/comm/flight.hpp"

namespace moemesh {

using Flight = std::unique_ptr<Communicator::Flight>;

// How one forward or backward goes on this rank. A rank that failed, or heard of a failure, still takes part in every
// exchange of its groups by the failing twin of the operation, so that no peer waits for ever.
class Outcome {
 public:
  explicit Outcome(Finding problem) : own_(std::move(problem)) {}

  bool failed() const { return static_cast<bool>(own_) || peer_status_ != MOEMESH_OK; }
  int32_t own_status() const { return own_.status; }

  // Local work; skipped after a failure.
  template <class F>
  void run(F&& work) {
    if (!failed()) own_ = attempt(std::forward<F>(work));
  }
  void hear(int64_t peer, int32_t status) {
    if (status != MOEMESH_OK && peer_status_ == MOEMESH_OK) std::tie(peer_, peer_status_) = std::pair(peer, status);
  }
  void all_to_all(Communicator& comm, const Exchange& exchange, Purpose purpose) {
    if (failed()) return comm.all_to_all_failed(exchange, purpose);
    if (comm.all_to_all(exchange, purpose)) hear(-1, MOEMESH_ERROR_PEER_FAILED);
  }
  // The same in two halves; `flight` (null in a group of one) must be finished, whatever happens in between.
  Flight start(Communicator& comm, const Exchange& exchange, Purpose purpose) {
    if (failed()) return comm.start_all_to_all_failed(exchange, purpose);
    return comm.start_all_to_all(exchange, purpose);
  }
  void finish(Flight& flight) {
    const Flight landed = std::move(flight);
    if (landed && landed->wait()) hear(-1, MOEMESH_ERROR_PEER_FAILED);
  }
  void sum(Communicator& comm, float* data, int64_t count, Purpose purpose) {
    if (comm.size() == 1) return;
    if (failed()) return comm.sum_of_kernels_failed(count, purpose);
    bool peer_failed = false;
    // Where it finds no memory, it has told its peers before it throws.
    own_ = attempt([&] { peer_failed = comm.sum_of_kernels(data, count, purpose); });
    if (own_.status < 0) throw Error(own_.status, own_.text);
    if (peer_failed) hear(-1, MOEMESH_ERROR_PEER_FAILED);
  }

  // For groups through whose exchanges a failure would not reach everyone: the ranks tell each other at the end.
  void agree(Communicator& comm, Purpose purpose) {
    int64_t anyone = failed() ? 1 : 0;
    comm.agree_max(std::span(&anyone, 1), purpose);
    if (anyone != 0) hear(-1, MOEMESH_ERROR_PEER_FAILED);
  }

  // What the call returns on this rank: the own error, or the peers'.
  Finding finding() const {
    if (own_ || peer_status_ == MOEMESH_OK) return own_;
    if (peer_ < 0)
      return {MOEMESH_ERROR_PEER_FAILED, "another rank of the expert and tensor-parallel block failed in this call"};
    if (peer_status_ == MOEMESH_ERROR_MISMATCH)
      return {peer_status_,
              format_message("rank {} is in a call of another kind, layer, microbatch, training mode or tape", peer_)};
    const int32_t status = peer_status_ == MOEMESH_ERROR_NONFINITE_ROUTER ? peer_status_ : MOEMESH_ERROR_PEER_FAILED;
    return {status, format_message("rank {} failed in this call with {}", peer_, status_name(peer_status_))};
  }

 private:
  Finding own_;
  int64_t peer_ = -1;
  int32_t peer_status_ = MOEMESH_OK;
};

}  // namespace moemesh
