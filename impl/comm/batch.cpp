// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/batch.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/comm/transport_error.hpp"

namespace moemesh {

namespace {

constexpr int64_t unheard = INT64_MIN;

bool is_stamped(const Purpose& purpose) {
  if (purpose.phase == MOEMESH_PHASE_SETUP) return false;
  switch (purpose.collective) {
    case MOEMESH_COLLECTIVE_ALL_TO_ALL:
    case MOEMESH_COLLECTIVE_COUNT_EXCHANGE:
    case MOEMESH_COLLECTIVE_ALL_REDUCE:
    case MOEMESH_COLLECTIVE_ALL_GATHER:
    case MOEMESH_COLLECTIVE_REDUCE_SCATTER:
      return true;
    default:
      return false;
  }
}

}  // namespace

Communicator::Batch::Batch(Communicator& owner, const Purpose& purpose, int32_t tag,
                           const std::shared_ptr<Recording>& recording)
    : owner_(owner), purpose_(purpose), tag_(tag) {
  if (!recording || !is_stamped(purpose)) return;
  recording_ = recording;
  posts_.assign(static_cast<size_t>(owner.size_), unheard);
  operation_.purpose = purpose;
  operation_.axes = owner.axes_;
  const bool in_layer = purpose.phase == MOEMESH_PHASE_FORWARD || purpose.phase == MOEMESH_PHASE_BACKWARD ||
                        purpose.phase == MOEMESH_PHASE_RECOMPUTE;
  if (in_layer) operation_.place = recording_->place();  // others are begun by whoever comes by
  operation_.posted = recording_->now();
}

void Communicator::Batch::post(Pending::Kind kind, void* data, int64_t bytes, int64_t peer, int32_t tag) {
  void* const place = bytes > 0 ? data : spare_;
  const int64_t capacity = bytes > 0 ? bytes : static_cast<int64_t>(sizeof spare_);
  void* request = nullptr;
  check(owner_.link_->transport->receive(owner_.comm_, place, capacity, peer, tag, &request), "receive", peer);
  pending_.push_back({kind, peer, bytes, request, nullptr});
}

void Communicator::Batch::receive(void* data, int64_t bytes, int64_t peer) {
  post(Pending::receiving, data, bytes, peer, tag_);
  receive_stamp(peer);
}

void Communicator::Batch::drain(int64_t peer) {
  pending_.push_back({Pending::draining, peer, 0, nullptr, nullptr});
  receive_stamp(peer);
}

void Communicator::Batch::receive_stamp(int64_t peer) {
  constexpr auto bytes = static_cast<int64_t>(sizeof(int64_t));
  if (stamped()) post(Pending::receiving, &posts_[static_cast<size_t>(peer)], bytes, peer, tag_ + operation_tags);
}

void Communicator::Batch::send(const void* data, int64_t bytes, int64_t peer, int32_t* open) {
  send_on(tag_, purpose_, data, bytes, peer, open);
  operation_.bytes += bytes;
  send_stamp(peer);
}

void Communicator::Batch::send_as(int32_t collective, const void* data, int64_t bytes, int64_t peer, int32_t* open) {
  send_on(tag_, {purpose_.family, purpose_.phase, collective}, data, bytes, peer, open);
}

void Communicator::Batch::send_header(int32_t collective, const void* data, int64_t bytes, int64_t peer) {
  goes_on_ = true;
  send_as(collective, data, bytes, peer, nullptr);
  send_stamp(peer);
}

void Communicator::Batch::end_here(int64_t blocked_since) {
  goes_on_ = false;
  if (!stamped()) return;
  complete();
  operation_.ended = recording_->now();
  operation_.blocked = operation_.ended - blocked_since;
  record();
}

void Communicator::Batch::send_stamp(int64_t peer) {
  if (!stamped()) return;
  const Purpose purpose{purpose_.family, purpose_.phase, MOEMESH_COLLECTIVE_CLOCK};
  send_on(tag_ + operation_tags, purpose, &operation_.posted, static_cast<int64_t>(sizeof operation_.posted), peer,
          nullptr);
}

void Communicator::Batch::send_on(int32_t tag, const Purpose& purpose, const void* data, int64_t bytes, int64_t peer,
                                  int32_t* open) {
  void* request = nullptr;
  check(owner_.link_->transport->send(owner_.comm_, data, bytes, peer, tag, &request), "send", peer);
  pending_.push_back({Pending::sending, peer, bytes, request, open});
  if (open) change_open(open, 1);
  if (owner_.ledger_)
    owner_.ledger_->message(owner_.key(purpose), bytes, owner_.node_[peer] != owner_.node_[owner_.rank_]);
}

// The one place where this library waits for another rank.
bool Communicator::Batch::wait() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const int64_t blocked_since = stamped() ? recording_->now() : 0;
  auto moved_at = start;
  while (!pending_.empty()) {
    bool moved = sweep();
    moved |= owner_.link_->progress.poll();
    const auto now = Clock::now();
    if (moved) {
      moved_at = now;
      continue;
    }
    const double waited = std::chrono::duration<double>(now - start).count();
    if (owner_.link_->timeout_seconds > 0 && waited > owner_.link_->timeout_seconds) expire(waited);
    pause(now - moved_at);
  }
  if (stamped()) operation_.blocked += recording_->now() - blocked_since;
  record();
  return short_message_;
}

// Stamps are heard when all is through: which message came first says nothing.
void Communicator::Batch::complete() {
  if (!stamped() || operation_.ended != 0) return;
  operation_.ended = recording_->now();
  for (int64_t peer = 0; peer < owner_.size_; ++peer)
    if (posts_[static_cast<size_t>(peer)] != unheard)
      operation_.hear(owner_.member(peer), posts_[static_cast<size_t>(peer)]);
}

void Communicator::Batch::record() {
  if (!stamped() || goes_on_ || std::exchange(recorded_, true)) return;
  complete();
  recording_->keep(operation_);
}

// Yielding keeps the latency low, but hands an oversubscribed core from one waiting rank to the next; sleeping leaves it
// to whoever has work, other ranks or threads of the program. Where every rank seems to have a core it begins so late that
// a wait gets longer by a small part of itself alone.
void Communicator::Batch::pause(std::chrono::nanoseconds idle) const {
  using std::chrono::microseconds;
  const microseconds patience(owner_.link_->oversubscribed ? 20 : 1000), nap(50);
  if (idle > patience)
    std::this_thread::sleep_for(nap);
  else
    std::this_thread::yield();
}

bool Communicator::Batch::sweep() {
  // finished() may throw: erase only what is known to be through, so that abandon() finds the rest.
  const size_t before = pending_.size();
  for (size_t i = 0; i < pending_.size();) {
    if (finished(pending_[i])) {
      if (pending_[i].open) change_open(pending_[i].open, -1);
      pending_[i] = pending_.back();
      pending_.pop_back();
    } else {
      ++i;
    }
  }
  if (before > 0 && pending_.empty()) complete();
  return pending_.size() != before;
}

bool Communicator::Batch::finished(Pending& pending) {
  const moemesh_transport& transport = *owner_.link_->transport;
  int32_t done = 0;
  int64_t bytes = 0;
  const bool draining = pending.kind == Pending::draining;
  const int32_t code = draining ? transport.drain(owner_.comm_, pending.peer, tag_, &done, &bytes)
                                : transport.test(&pending.request, &done, &bytes);
  check(code, pending.kind == Pending::sending ? "send" : "receive", pending.peer);
  if (done && pending.kind == Pending::receiving && bytes != pending.bytes) short_message_ = true;
  return done != 0;
}

bool Communicator::Batch::handed_over() const {
  const moemesh_transport& transport = *owner_.link_->transport;
  return std::all_of(pending_.begin(), pending_.end(),
                     [&](const Pending& pending) { return transport.handed_over(pending.request) != 0; });
}

void Communicator::Batch::take(Batch& from) {
  pending_.insert(pending_.end(), from.pending_.begin(), from.pending_.end());
  from.pending_.clear();
}

void Communicator::Batch::expire(double seconds) {
  constexpr size_t most = 8;
  std::vector<int64_t> peers;
  for (const Pending& pending : pending_) peers.push_back(pending.peer);
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  std::string names;
  for (size_t i = 0; i < std::min(peers.size(), most); ++i) names += format_message("{}{}", i ? ", " : "", peers[i]);
  if (peers.size() > most) names += ", ...";
  owner_.link_->broken = true;
  fail(MOEMESH_ERROR_TIMEOUT, "rank {} of a group of {} (axes {}) waited {:.3f} s, deadline {:.3f} s, for rank {}",
       owner_.rank_, owner_.size_, owner_.axes_, seconds, owner_.link_->timeout_seconds, names);
}

void Communicator::Batch::check(int32_t code, const char* what, int64_t peer) {
  if (code == 0) return;
  const std::string place =
      format_message("{} between rank {} and peer {} of a group of {}", what, owner_.rank_, peer, owner_.size_);
  transport_failed(*owner_.link_, code, place.c_str());
}

void Communicator::Batch::abandon() {
  for (Pending& pending : pending_)
    if (pending.request) owner_.link_->transport->abandon(&pending.request);
  pending_.clear();
}

}  // namespace moemesh
