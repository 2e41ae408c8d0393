// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "impl/comm/communicator.hpp"
#include "impl/comm/recording.hpp"

namespace moemesh {

// What a failed rank sends where its peers expect whole elements, of which none is one byte long. An empty message would
// not do: it is also what a peer expects for an empty part.
inline constexpr std::byte failure_mark{1};

// Tags of operations: [0, operation_tags). The stamps of an operation have its tag plus operation_tags. Then those of mail.
inline constexpr int32_t operation_tags = 16383;

// How many messages still read an array: changed by whoever moves them, read by its owner.
inline void change_open(int32_t* open, int32_t by) { std::atomic_ref(*open).fetch_add(by); }

// The messages of one round of one operation: posted first, then waited for together.
//
// While a report records (Communicator::set_recording), each message of a payload collective, of the count exchange and of a
// reduction is accompanied by one of eight bytes, a stamp: when its sender made this batch, on the aligned clock. Stamps have
// tags of their own and are in the ledger as MOEMESH_COLLECTIVE_CLOCK. Whether there are any is decided when the batch is
// made, which every rank does at the same place in the program; the failing twins send and take as many.
class Communicator::Batch {
 public:
  Batch(Communicator& owner, const Purpose& purpose, int32_t tag) : Batch(owner, purpose, tag, owner.recording_) {}
  // With the recording of the place in the program that it belongs to, where batches are made at other moments on each rank.
  Batch(Communicator& owner, const Purpose& purpose, int32_t tag, const std::shared_ptr<Recording>& recording);
  Batch(Communicator& owner, const Purpose& purpose) : Batch(owner, purpose, owner.next_tag()) {}
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() { abandon(); }

  // Exactly `bytes` are expected; a shorter message, or a failure mark where nothing is expected, is a failed peer.
  void receive(void* data, int64_t bytes, int64_t peer);
  // Takes and drops one message of any size.
  void drain(int64_t peer);
  // open: if given, goes up by one now and down again once the message is out and `data` may change.
  void send(const void* data, int64_t bytes, int64_t peer, int32_t* open = nullptr);
  // A message of another collective than the batch's in the ledger.
  void send_as(int32_t collective, const void* data, int64_t bytes, int64_t peer, int32_t* open);

  // What says that there will be more, of other messages: it has the batch's stamp.
  void send_header(int32_t collective, const void* data, int64_t bytes, int64_t peer);
  // For the report: the bytes of those, and that all of it is through now, for which the caller waited since then. Only this
  // tells of it where there was a header.
  void count_bytes(int64_t bytes) { operation_.bytes += bytes; }
  int64_t now() const { return stamped() ? recording_->now() : 0; }
  void end_here(int64_t blocked_since);

  // For the report: Exchange::place.
  void tell_place(int32_t place) { operation_.exchange = place; }
  // Until everything is through. True: a peer failed.
  [[nodiscard]] bool wait();
  // Tells the report of it, once; all must be through. wait() does that itself.
  void record();
  // As far as it goes without waiting; true if something moved.
  bool poll() { return sweep(); }
  bool idle() const { return pending_.empty(); }
  bool handed_over() const;                     // MPI keeps the order of what is sent from now on
  void take(Batch& from);                       // what is still under way there
  void forget() noexcept { pending_.clear(); }  // without MPI, which is finalized

 private:
  struct Pending {
    enum Kind { receiving, sending, draining } kind;
    int64_t peer;
    int64_t bytes;
    void* request;
    int32_t* open;
  };

  bool stamped() const { return recording_ != nullptr; }
  void post(Pending::Kind kind, void* data, int64_t bytes, int64_t peer, int32_t tag);  // a receive
  void send_on(int32_t tag, const Purpose& purpose, const void* data, int64_t bytes, int64_t peer, int32_t* open);
  void send_stamp(int64_t peer);
  void receive_stamp(int64_t peer);
  void complete();                  // says when the last message was through
  bool finished(Pending& pending);  // tests one
  bool sweep();                     // tests all once; true if something moved
  void pause(std::chrono::nanoseconds idle) const;
  void expire(double seconds);  // throws ERROR_TIMEOUT
  void check(int32_t code, const char* what, int64_t peer);
  void abandon();

  Communicator& owner_;
  Purpose purpose_;
  int32_t tag_;
  Recycled<Pending> pending_;
  bool short_message_ = false;
  std::shared_ptr<Recording> recording_;  // null: no stamps
  Operation operation_;
  Recycled<int64_t> posts_;  // of each peer
  bool recorded_ = false;
  bool goes_on_ = false;  // behind its messages
  std::byte spare_[8];  // where a failure mark lands that comes in place of an empty message
};

}  // namespace moemesh
