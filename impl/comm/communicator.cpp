// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/communicator.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "impl/base/error.hpp"
#include "impl/comm/batch.hpp"
#include "impl/comm/device_group.hpp"
#include "impl/comm/flight.hpp"
#include "impl/comm/mail.hpp"
#include "impl/comm/transport_error.hpp"

namespace moemesh {
namespace {

static_assert(2 * operation_tags <= Communicator::Mail::first_tag);

void copy_own(std::byte* to, const std::byte* from, int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace

void Link::look() {
  (void)progress.poll();
  require(!broken, MOEMESH_ERROR_COMMUNICATION, "the context is broken by a failure of communication");
}

void Link::exchange_begins() {
  if (exchanges++ > 0) return;
  for (ExchangeWatcher* watcher : watchers) watcher->exchanges_begin();
}

void Link::exchange_ended(const ExchangePlace& place) {
  if (--exchanges > 0) return;
  for (ExchangeWatcher* watcher : watchers) watcher->exchanges_ended(place);
}

Communicator::Communicator(std::shared_ptr<Link> link) : link_(std::move(link)), node_{0} {
  if (!link_->allocator) link_->allocator = std::make_shared<Allocator>();
}

Communicator::Communicator(std::shared_ptr<Link> link, void* comm, int32_t axes, std::vector<int64_t> node)
    : link_(std::move(link)), comm_(comm), axes_(axes), node_(std::move(node)) {
  if (!link_->allocator) link_->allocator = std::make_shared<Allocator>();
  check_transport(*link_, link_->transport->rank(comm_, &rank_, &size_), "asking for the rank");
  require(static_cast<int64_t>(node_.size()) == size_, MOEMESH_ERROR_INTERNAL, "{} node numbers for {} ranks",
          node_.size(), size_);
}

Communicator::~Communicator() {
  if (!link_->broken || !scratch_) return;
  // MPI may still write into it on behalf of an abandoned receive, whenever the program next calls MPI.
  static std::mutex mutex;
  static auto* const kept = new std::vector<HostBuffer<std::byte>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(scratch_));
}

void Communicator::attach(std::unique_ptr<DeviceGroup> devices) { devices_ = std::move(devices); }

void Communicator::close() {
  if (!comm_) return;
  if (devices_) devices_->close();
  void* const comm = std::exchange(comm_, nullptr);
  moemesh_transport_state state{};
  check_transport(*link_, link_->transport->state(&state), "asking for MPI's state");
  if (link_->broken || state.finalized) return;  // peers may be gone, or MPI is
  check_transport(*link_, link_->transport->close(comm), "freeing a communicator");
}

std::unique_ptr<Communicator> Communicator::group(std::span<const int64_t> ranks, int32_t axes, int32_t tag) const {
  require(!link_->broken, MOEMESH_ERROR_COMMUNICATION, "the context is broken by an earlier failure of communication");
  require(std::find(ranks.begin(), ranks.end(), rank_) != ranks.end(), MOEMESH_ERROR_INTERNAL,
          "rank {} asked for a group that it is not in", rank_);
  std::vector<int64_t> nodes;
  for (int64_t rank : ranks) nodes.push_back(node_[static_cast<size_t>(rank)]);
  if (ranks.size() == 1) {
    auto alone = std::make_unique<Communicator>(link_);
    alone->axes_ = axes;
    alone->members_.assign(ranks.begin(), ranks.end());
    alone->node_ = std::move(nodes);
    return alone;
  }
  require(comm_ != nullptr, MOEMESH_ERROR_INVALID_STATE, "the communicator is closed");
  void* sub = nullptr;
  const int32_t code = link_->transport->group(comm_, ranks.data(), static_cast<int64_t>(ranks.size()), tag, &sub);
  check_transport(*link_, code, "creating a group");
  auto made = std::make_unique<Communicator>(link_, sub, axes, std::move(nodes));
  made->members_.assign(ranks.begin(), ranks.end());
  return made;
}

void Communicator::require_usable() const {
  require(!link_->broken, MOEMESH_ERROR_COMMUNICATION, "the context is broken by an earlier failure of communication");
  require(comm_ != nullptr, MOEMESH_ERROR_INVALID_STATE, "the communicator is closed");
}

void Communicator::begin(const Purpose& purpose) {
  require_usable();
  if (ledger_) ledger_->call(key(purpose));
}

int32_t Communicator::next_tag() {
  const int32_t tag = sequence_;
  sequence_ = (sequence_ + 1) % operation_tags;
  return tag;
}

Ledger::Key Communicator::key(const Purpose& purpose) const {
  return {axes_, purpose.family, purpose.phase, purpose.collective};
}

void Communicator::disagree(const char* operation) {
  link_->broken = true;
  fail(MOEMESH_ERROR_COMMUNICATION,
       "rank {} of a group of {}: a message of unexpected size in {}: the ranks are in different calls", rank_, size_,
       operation);
}

bool Communicator::all_to_all(const Exchange& exchange, Purpose purpose) {
  const auto flight = start_all_to_all(exchange, purpose);
  return flight && flight->wait();
}

void Communicator::all_to_all_failed(const Exchange& exchange, Purpose purpose) {
  // Whether others failed too changes nothing here.
  if (const auto flight = start_all_to_all_failed(exchange, purpose)) (void)flight->wait();
}

// Null where there is nobody to wait for.
std::unique_ptr<Communicator::Flight> Communicator::start_all_to_all(const Exchange& exchange, Purpose purpose) {
  if (exchange.of_kernels && devices_) return devices_->start(exchange, purpose, false);
  if (exchange.of_kernels && size_ > 1) kernels::finish();  // what is sent is there, and nobody else writes what is received
  const auto own = static_cast<size_t>(rank_);
  if (exchange.send_bytes[own] > 0)
    copy_own(exchange.receive_base + exchange.receive_offset[own], exchange.send_base + exchange.send_offset[own],
             exchange.send_bytes[own]);
  return start(exchange, purpose, [&](Batch& batch) {
    for_each_peer([&](int64_t peer) {
      if (exchange.every_peer || exchange.receive_bytes[peer] > 0)
        batch.receive(exchange.receive_base + exchange.receive_offset[peer], exchange.receive_bytes[peer], peer);
    });
    for_each_peer([&](int64_t peer) {
      if (exchange.every_peer || exchange.send_bytes[peer] > 0)
        batch.send(exchange.send_base + exchange.send_offset[peer], exchange.send_bytes[peer], peer);
    });
  });
}

std::unique_ptr<Communicator::Flight> Communicator::start_all_to_all_failed(const Exchange& exchange, Purpose purpose) {
  if (exchange.of_kernels && devices_) return devices_->start(exchange, purpose, true);
  return start(exchange, purpose, [&](Batch& batch) {
    for_each_peer([&](int64_t peer) {
      if (exchange.send_bytes[peer] > 0)
        batch.send(nullptr, 0, peer);
      else if (exchange.every_peer)
        batch.send(&failure_mark, sizeof failure_mark, peer);
    });
    for_each_peer([&](int64_t peer) {
      if (exchange.every_peer || exchange.receive_bytes[peer] > 0) batch.drain(peer);
    });
  });
}

template <class F>
std::unique_ptr<Communicator::HostFlight> Communicator::start(const Exchange& exchange, const Purpose& purpose,
                                                              F&& post) {
  if (size_ == 1) return nullptr;
  begin(purpose);
  auto flight = std::make_unique<HostFlight>(*this, purpose);
  if (exchange.place != Exchange::no_place) {
    flight->watched_ = true;
    flight->place_ = {exchange.model, exchange.layer, exchange.place};
    link_->exchange_begins();
  }
  flight->batch_.tell_place(exchange.place);
  flight->launched_ = true;  // from here on its end is told
  const std::lock_guard lock(link_->progress.mutex());
  post(flight->batch_);
  flight->launch();
  return flight;
}

template <class T>
void Communicator::all_gather(const T* mine, int64_t count, T* all, Purpose purpose) {
  const int64_t part = count * static_cast<int64_t>(sizeof(T));
  auto* const base = reinterpret_cast<std::byte*>(all);
  copy_own(base + rank_ * part, reinterpret_cast<const std::byte*>(mine), part);
  Recycled<int64_t> offset(static_cast<size_t>(size_)), bytes(static_cast<size_t>(size_), part);
  for (int64_t peer = 0; peer < size_; ++peer) offset[peer] = peer * part;
  all_gather_in_place(base, offset, bytes, purpose);
}

void Communicator::all_gather_in_place(std::byte* base, std::span<const int64_t> offset, std::span<const int64_t> bytes,
                                       Purpose purpose) {
  if (size_ == 1) return;
  begin(purpose);
  if (gather_parts(base, offset, bytes, false, purpose)) disagree("all_gather");
}

bool Communicator::gather_parts(std::byte* base, std::span<const int64_t> offset, std::span<const int64_t> bytes,
                                bool empty_ones, const Purpose& purpose) {
  Batch batch(*this, purpose);
  for_each_peer([&](int64_t peer) {
    if (empty_ones || bytes[peer] > 0) batch.receive(base + offset[peer], bytes[peer], peer);
  });
  for_each_peer([&](int64_t peer) {
    if (empty_ones || bytes[rank_] > 0) batch.send(base + offset[rank_], bytes[rank_], peer);
  });
  return batch.wait();
}

void Communicator::broadcast(std::byte* data, int64_t bytes, int64_t root, Purpose purpose) {
  if (size_ == 1) return;
  begin(purpose);
  const int32_t tag = next_tag();
  if (bytes == 0) return;
  // Ranks counted from the root; the lowest set bit of such a number is the distance to its parent.
  const int64_t self = (rank_ - root + size_) % size_;
  const auto peer = [&](int64_t relative) { return (relative + root) % size_; };
  int64_t bit = 1;
  while (bit < size_ && (self & bit) == 0) bit <<= 1;
  if (self != 0) {
    Batch batch(*this, purpose, tag);
    batch.receive(data, bytes, peer(self - bit));
    if (batch.wait()) disagree("broadcast");
  }
  Batch batch(*this, purpose, tag);
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (self + bit < size_) batch.send(data, bytes, peer(self + bit));
  (void)batch.wait();  // sends alone can't come short
}

template void Communicator::all_gather(const float*, int64_t, float*, Purpose);
template void Communicator::all_gather(const double*, int64_t, double*, Purpose);
template void Communicator::all_gather(const int32_t*, int64_t, int32_t*, Purpose);
template void Communicator::all_gather(const int64_t*, int64_t, int64_t*, Purpose);
template void Communicator::all_gather(const uint32_t*, int64_t, uint32_t*, Purpose);

}  // namespace moemesh
