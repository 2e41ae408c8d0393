// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "impl/base/memory.hpp"
#include "impl/base/recycled.hpp"
#include "impl/comm/ledger.hpp"
#include "impl/comm/progress.hpp"
#include "impl/comm/recording.hpp"
#include "impl/comm/transport.h"
#include "kernels/memory.hpp"

namespace moemesh {

// Which exchange of tokens it is: of the layers of a model (whatever object stands for it), the how many-th, and which of its
// kinds (impl/moe/lanes.hpp).
struct ExchangePlace {
  const void* model = nullptr;
  int32_t layer = 0, kind = 0;
};

// Hears of the exchanges of tokens, between which other messages have the network for themselves. Called by the program's
// thread. place: of the one that ended last.
class ExchangeWatcher {
 public:
  virtual void exchanges_begin() = 0;  // the first one of those that overlap
  virtual void exchanges_ended(const ExchangePlace& place) = 0;

 protected:
  ~ExchangeWatcher() = default;
};

// The state that all communicators of one context share: the transport, the deadline of waits, and whether it broke.
struct Link : kernels::Waiter {
  const moemesh_transport* transport = nullptr;  // null: one rank
  std::shared_ptr<void> keeps = {};              // what the transport has for this link alone
  std::shared_ptr<const Allocator> allocator;
  double timeout_seconds = 0;   // 0: none
  bool deterministic = false;   // sums between devices have the same order as those of hosts
  bool oversubscribed = false;  // this node has more ranks than cores: a rank that waits leaves its core to others
  std::vector<ExchangeWatcher*> watchers = {};
  int64_t exchanges = 0;             // under way
  std::atomic<bool> broken = false;  // a wait timed out or the transport failed: everything but destroy is refused
  Progress progress = {};

  // Some want to know when an operation between devices began and ended: then the host waits for them.
  std::atomic<int32_t> wants_exact_times = 0;
  bool exact_times() const { return wants_exact_times > 0; }
  // Who waits for its device waits for other ranks' devices too.
  void look() override;

  void exchange_begins();
  void exchange_ended(const ExchangePlace& place);
};

// Sizes and places of an all-to-all, per peer, in bytes from send_base / receive_base. Both sides must know the sizes. A
// message is exchanged where its size is not 0; with every_peer also where it is, so that a failing rank is heard by all
// peers and not only by those that share data with it.
struct Exchange {
  const std::byte* send_base = nullptr;
  Recycled<int64_t> send_offset, send_bytes;
  std::byte* receive_base = nullptr;
  Recycled<int64_t> receive_offset, receive_bytes;
  bool every_peer = false;
  int32_t place = no_place;  // of an exchange of tokens: which of its kinds, see impl/moe/lanes.hpp
  static constexpr int32_t no_place = -1;
  const void* model = nullptr;  // with it: see ExchangePlace
  int32_t layer = 0;
  int64_t sum_of = -1;      // elements: it is the first half of a sum by owners, and counted as all of that
  bool of_kernels = false;  // kernels write and read it: both arrays are of message_memory
};

class DeviceGroup;

// One group of ranks. Everything blocks; every wait goes through Batch::wait in batch.cpp, which keeps the deadline.
// Nothing here depends on a clock or on which message came first. With one rank all operations are local.
//
// Failure without hanging: a rank that can't go on calls the *_failed twin of the operation that its peers run. It sends
// empty messages where they expect data; they see the short message, finish the operation, and get `true` ("a peer
// failed") back. They then run the *_failed twins of what follows.
class Communicator {
 public:
  // One rank.
  explicit Communicator(std::shared_ptr<Link> link);
  // `comm` is owned. axes: for the ledger; node: the node number of each member.
  Communicator(std::shared_ptr<Link> link, void* comm, int32_t axes, std::vector<int64_t> node);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();  // leaks the MPI communicator unless close() was called

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  int32_t axes() const { return axes_; }
  const std::vector<int64_t>& nodes() const { return node_; }
  bool closed() const { return comm_ == nullptr; }
  void* transport_comm() const { return comm_; }
  void set_ledger(std::shared_ptr<Ledger> ledger) { ledger_ = std::move(ledger); }
  void set_nodes(std::vector<int64_t> node) { node_ = std::move(node); }
  // While one is set, payload messages carry their sender's post time (see Batch). At the same place on every rank, with no
  // operation under way.
  void set_recording(std::shared_ptr<Recording> recording) { recording_ = std::move(recording); }
  const std::shared_ptr<Recording>& recording() const { return recording_; }
  // The rank of a member in the communicator that this group was made from.
  int64_t member(int64_t rank) const { return members_.empty() ? rank : members_[static_cast<size_t>(rank)]; }

  // The devices of its ranks, where messages go between those.
  void attach(std::unique_ptr<DeviceGroup> devices);
  DeviceGroup* devices() const { return devices_.get(); }

  void close();  // collective; frees the MPI communicator
  // The group of `ranks` (ascending, this rank among them); collective over them.
  std::unique_ptr<Communicator> group(std::span<const int64_t> ranks, int32_t axes, int32_t tag) const;

  // The own part is copied unless send and receive places are the same address. Returns true if a peer sent short.
  [[nodiscard]] bool all_to_all(const Exchange& exchange, Purpose purpose);
  // exchange: the sizes this rank would have had; pointers may be null.
  void all_to_all_failed(const Exchange& exchange, Purpose purpose);
  // The same, but they return at once; Flight::wait (flight.hpp) finishes it. The memory of `exchange` stays in use until then.
  // Operations are started in the same order on all ranks and may be waited for in any.
  class Flight;
  class HostFlight;
  std::unique_ptr<Flight> start_all_to_all(const Exchange& exchange, Purpose purpose);
  std::unique_ptr<Flight> start_all_to_all_failed(const Exchange& exchange, Purpose purpose);

  // Every rank's `count` T's at position rank of `all` (size()*count).
  template <class T>
  void all_gather(const T* mine, int64_t count, T* all, Purpose purpose);
  // Parts of different sizes: part r lies at base + offset[r], bytes[r] long; this rank's is already in place.
  void all_gather_in_place(std::byte* base, std::span<const int64_t> offset, std::span<const int64_t> bytes,
                           Purpose purpose);

  enum class Op : int32_t { sum, max, min, bit_or };
  // Owner-ordered: element i belongs to rank i / ceil(n/size), which adds the contributions in rank order in the element's
  // own type; then all-gather (a ring's bytes in all). So the bits do not depend on how the array is cut into calls.
  // Always one message to each peer in both halves, empty ones included. True: a peer failed, `data` is unspecified.
  // Where its own scratch can't be had it runs the failed twin before it throws: do not call the twin again.
  template <class T>
  [[nodiscard]] bool all_reduce(T* data, int64_t count, Op op, Purpose purpose);
  // The size need not be known.
  void all_reduce_failed(Purpose purpose);
  // Takes the scratch of an all_reduce of that many bytes (elements of 4 or 8) now, where running out of memory can still be
  // agreed on.
  void reserve_all_reduce(int64_t bytes);
  // The same of what kernels write and read, in message_memory. The failing twin needs the size.
  [[nodiscard]] bool sum_of_kernels(float* data, int64_t count, Purpose purpose);
  void sum_of_kernels_failed(int64_t count, Purpose purpose);
  void reserve_sum_of_kernels(int64_t count);
  // Contributions for rank p are send[p*count .. ); the combined own part goes to receive (no overlap). A rank without
  // memory for it throws after it sent empty messages; its peers then throw ERROR_PEER_FAILED.
  template <class T>
  void reduce_scatter(const T* send, T* receive, int64_t count, Op op, Purpose purpose);

  void broadcast(std::byte* data, int64_t bytes, int64_t root, Purpose purpose);  // binomial tree

  // Small vectors up a binomial tree to rank 0 and down again: the same bits on every rank, O(log size) messages deep.
  // combine(into, from) merges a child's words.
  void agree(std::span<int64_t> words, const std::function<void(std::span<int64_t>, std::span<const int64_t>)>& combine,
             Purpose purpose);
  void agree_sum(std::span<double> values, Purpose purpose);
  void agree_sum(std::span<int64_t> values, Purpose purpose);
  void agree_max(std::span<int64_t> values, Purpose purpose);

  class Round;  // words from everyone to everyone whose sending and waiting are apart: round.hpp
  class Mail;   // messages to single peers that nobody waits for, see mail.hpp
  class Ping;   // words to one peer and back: ping.hpp
  class Batch;  // the messages of one operation, see batch.hpp
  class DeviceExchange;   // an all-to-all between devices, its failures told by this communicator,
  class DeviceExchanges;  // and the order of many: nccl/device_exchange.hpp

 private:
  void require_usable() const;         // neither broken nor closed
  void begin(const Purpose& purpose);  // refuses a broken or closed communicator; counts one call
  int32_t next_tag();
  Ledger::Key key(const Purpose& purpose) const;
  // fn(peer) for every other rank, beginning with the next one, so that not all send to rank 0 first.
  template <class F>
  void for_each_peer(F&& fn) const {
    for (int64_t i = 1; i < size_; ++i) fn((rank_ + i) % size_);
  }
  template <class F>
  std::unique_ptr<HostFlight> start(const Exchange& exchange, const Purpose& purpose, F&& post);
  [[nodiscard]] bool scatter_contributions(const std::byte* base, std::span<const int64_t> offset,
                                           std::span<const int64_t> bytes, const Purpose& purpose);
  [[nodiscard]] bool gather_parts(std::byte* base, std::span<const int64_t> offset, std::span<const int64_t> bytes,
                                  bool empty_ones, const Purpose& purpose);
  template <class T>
  void combine_contributions(const T* own, int64_t count, Op op, T* result) const;
  void send_failure_half(const Purpose& purpose);
  [[noreturn]] void disagree(const char* operation);  // a message of a size that no rank could have meant

  std::shared_ptr<Link> link_;
  void* comm_ = nullptr;
  int64_t rank_ = 0;
  int64_t size_ = 1;
  int32_t axes_ = 0;
  int64_t mail_runs_ = 0;
  int32_t sequence_ = 0;  // tag of the next operation, the same on every rank because operations are ordered
  std::vector<int64_t> node_;
  std::vector<int64_t> members_;  // empty: not a group of another communicator
  std::shared_ptr<Ledger> ledger_;
  std::shared_ptr<Recording> recording_;
  std::unique_ptr<DeviceGroup> devices_;
  HostBuffer<std::byte> scratch_;  // contributions of a reduction; grows only
};

// Compares configurations and agrees on errors at create calls.
// fields: named integers (hash strings, bit-cast doubles) that must be equal on all ranks, the same number on each.
// error/text: this rank's own finding (MOEMESH_OK if none). Throws the own error; or ERROR_PEER_FAILED... precisely: if some
// rank found an error, every other rank throws that rank's status with a text naming the rank; else if a field differs,
// all throw ERROR_MISMATCH naming the field, the lowest and highest value and the own one.
struct Field {
  enum Kind : int32_t { integer, real, hash };  // how the value is told: bits of a double, or a text's hash
  const char* name;
  int64_t value;
  Kind kind = integer;
};
int64_t agreement_words(int64_t fields);  // of 8 bytes, in one message
void agree_on_configuration(Communicator& world, const char* call, std::span<const Field> fields, int32_t error,
                            const std::string& text, int32_t phase = MOEMESH_PHASE_SETUP);

}  // namespace moemesh
