// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/nccl/device_exchange.hpp"

#include <algorithm>
#include <utility>

#include "impl/base/error.hpp"
#include "kernels/memory.hpp"

namespace moemesh {
namespace {

Purpose header_purpose(const Purpose& of) { return {of.family, of.phase, MOEMESH_COLLECTIVE_COUNT_EXCHANGE}; }

// The sizes that a sum has in common with all.
Exchange exchange_of(const Communicator& control, int64_t count) {
  const auto bytes = count * static_cast<int64_t>(sizeof(float));
  Exchange exchange;
  exchange.send_offset.assign(static_cast<size_t>(control.size()), 0);
  exchange.send_bytes.assign(static_cast<size_t>(control.size()), bytes);
  exchange.receive_offset = exchange.send_offset;
  exchange.receive_bytes = exchange.send_bytes;
  return exchange;
}

// True while it lives.
class Flag {
 public:
  explicit Flag(bool& flag) : flag_(flag) { flag_ = true; }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;
  ~Flag() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace

Communicator::DeviceExchanges::DeviceExchanges(Communicator& control, NcclComm& comm) : control_(control), comm_(comm) {
  require(control.size() == comm.size() && control.rank() == comm.rank(), MOEMESH_ERROR_INTERNAL,
          "rank {} of {} is rank {} of {} in NCCL", control.rank(), control.size(), comm.rank(), comm.size());
  control_.link_->progress.add(this);
}

Communicator::DeviceExchanges::~DeviceExchanges() { control_.link_->progress.remove(this); }

std::unique_ptr<Communicator::DeviceExchange> Communicator::DeviceExchanges::start(const Exchange& exchange,
                                                                                   Purpose purpose,
                                                                                   cudaStream_t after) {
  return begin(std::unique_ptr<DeviceExchange>(new DeviceExchange(*this, exchange, purpose, false)), &after);
}

std::unique_ptr<Communicator::DeviceExchange> Communicator::DeviceExchanges::start_failed(const Exchange& exchange,
                                                                                          Purpose purpose) {
  return begin(std::unique_ptr<DeviceExchange>(new DeviceExchange(*this, exchange, purpose, true)), nullptr);
}

std::unique_ptr<Communicator::DeviceExchange> Communicator::DeviceExchanges::start_sum(float* data, int64_t count,
                                                                                       Purpose purpose,
                                                                                       cudaStream_t after) {
  std::unique_ptr<DeviceExchange> made(new DeviceExchange(*this, exchange_of(control_, count), purpose, false));
  made->sum_ = {data, count};
  return begin(std::move(made), &after);
}

std::unique_ptr<Communicator::DeviceExchange> Communicator::DeviceExchanges::start_sum_failed(int64_t count,
                                                                                              Purpose purpose) {
  std::unique_ptr<DeviceExchange> made(new DeviceExchange(*this, exchange_of(control_, count), purpose, true));
  made->sum_ = {nullptr, count};
  return begin(std::move(made), nullptr);
}

std::unique_ptr<Communicator::DeviceExchange> Communicator::DeviceExchanges::begin(std::unique_ptr<DeviceExchange> made,
                                                                                   const cudaStream_t* after) {
  control_.require_usable();
  comm_.check();
  const std::lock_guard lock(control_.link_->progress.mutex());
  if (after) made->ready_.record(*after);
  made->post();
  waiting_.push_back(made.get());
  (void)poll();  // alone there is nothing to wait for
  control_.link_->progress.wake();
  return made;
}

bool Communicator::DeviceExchanges::poll() {
  if (launching_ || control_.link_->broken) return false;
  bool moved = false;
  for (DeviceExchange* const exchange : waiting_) moved |= exchange->headers_.poll();
  while (!waiting_.empty() && waiting_.front()->headers_.idle()) {
    launch_first();
    moved = true;
  }
  return moved;
}

void Communicator::DeviceExchanges::launch_first() {
  const Flag flag(launching_);
  waiting_.front()->launch();
  waiting_.pop_front();
}

// What comes before goes first, and its headers are waited for in the one place that keeps the deadline.
void Communicator::DeviceExchanges::launch_through(const DeviceExchange* last) {
  while (!last->launched_) {
    {
      const Flag flag(launching_);
      if (waiting_.front()->headers_.wait()) control_.disagree("the headers of an exchange between devices");
    }
    launch_first();
  }
}

DeviceEvent Communicator::DeviceExchanges::take_event() {
  const kernels::DeviceScope device;
  if (events_.empty()) return DeviceEvent();
  DeviceEvent event = std::move(events_.back());
  events_.pop_back();
  return event;
}

Communicator::DeviceExchange::DeviceExchange(DeviceExchanges& queue, const Exchange& exchange, const Purpose& purpose,
                                             bool failed)
    : queue_(queue),
      exchange_(exchange),
      purpose_(purpose),
      headers_(queue.control_, purpose),
      ready_(queue.take_event()),
      done_(queue.take_event()),
      failed_(failed),
      exact_(queue.control_.link_->exact_times()) {}

Communicator::DeviceExchange::~DeviceExchange() {
  const std::lock_guard lock(queue_.control_.link_->progress.mutex());
  std::erase(queue_.waiting_, this);
  if (std::exchange(watched_, false))
    queue_.control_.link_->exchange_ended({exchange_.model, exchange_.layer, exchange_.place});
  queue_.give_event(std::move(ready_));
  queue_.give_event(std::move(done_));
}

void Communicator::DeviceExchange::post() {
  Communicator& control = queue_.control_;
  if (control.size_ > 1 && control.ledger_) {
    control.ledger_->call(control.key(header_purpose(purpose_)));
    control.ledger_->call(control.key(purpose_));
  }
  if (exchange_.place != Exchange::no_place) {
    watched_ = true;
    control.link_->exchange_begins();
  }
  headers_.tell_place(exchange_.place);
  const auto ranks = static_cast<size_t>(control.size_);
  out_.assign(ranks, Header{failed_ ? 1 : 0, 0, 0, uniform()});
  in_.assign(ranks, Header{});
  in_[static_cast<size_t>(control.rank_)] = out_[static_cast<size_t>(control.rank_)];
  control.for_each_peer([&](int64_t peer) { headers_.receive(&in_[peer], sizeof(Header), peer); });
  control.for_each_peer([&](int64_t peer) {
    out_[peer].sends = exchange_.send_bytes[peer];
    out_[peer].receives = exchange_.receive_bytes[peer];
    headers_.send_header(MOEMESH_COLLECTIVE_COUNT_EXCHANGE, &out_[peer], sizeof(Header), peer);
  });
}

int64_t Communicator::DeviceExchange::uniform() const {
  const int64_t part = exchange_.send_bytes[0];
  if (part == 0 || exchange_.send_base == exchange_.receive_base) return -1;
  for (int64_t rank = 0; rank < queue_.control_.size_; ++rank) {
    const bool equal = exchange_.send_bytes[rank] == part && exchange_.receive_bytes[rank] == part;
    const bool adjacent = exchange_.send_offset[rank] == rank * part && exchange_.receive_offset[rank] == rank * part;
    if (!equal || !adjacent) return -1;
  }
  return part;
}

bool Communicator::DeviceExchange::all_uniform() const {
  return std::all_of(in_.begin(), in_.end(), [&](const Header& header) {
    return header.failed == 0 && header.uniform > 0 && header.uniform == in_.front().uniform;
  });
}

void Communicator::DeviceExchange::leave_out(int64_t peer) {
  exchange_.send_bytes[peer] = 0;
  exchange_.receive_bytes[peer] = 0;
}

// Sizes that differ are seen by both sides of the pair, which is then left out by both: the others must not wait. A sum is of
// all or of none.
void Communicator::DeviceExchange::launch() {
  const bool equal = all_uniform();
  queue_.control_.for_each_peer([&](int64_t peer) {
    const Header &in = in_[peer], &out = out_[peer];
    peer_failed_ |= in.failed != 0;
    const bool agree = in.sends == out.receives && in.receives == out.sends;
    if (in.failed == 0 && !failed_ && !agree) disagrees_ = peer;
    if (in.failed != 0 || !agree) leave_out(peer);
  });
  const NcclOrder order{&ready_, &done_};
  if (sum_)
    launched_sum_ = launch_sum(order);
  else
    launch_exchange(equal, order);
  launched_ = true;  // not where that threw: whoever comes to finish() runs into it again
}

void Communicator::DeviceExchange::launch_exchange(bool equal, const NcclOrder& order) {
  if (equal)
    queue_.comm_.all_to_all_equal(exchange_.send_base, exchange_.receive_base, exchange_.send_bytes[0], order);
  else if (!failed_)
    queue_.comm_.all_to_all(exchange_, order);
}

// Ranks that hear of different failures, or sizes, are all of them told so by their peers: the next call finds it out.
bool Communicator::DeviceExchange::launch_sum(const NcclOrder& order) {
  const bool all = std::none_of(in_.begin(), in_.end(), [](const Header& header) { return header.failed != 0; });
  if (!all || failed_ || disagrees_ >= 0) return false;
  queue_.comm_.all_reduce(sum_->data, sum_->count, order);
  return true;
}

// What this rank sends, or would have to send for a sum that goes by owners.
void Communicator::DeviceExchange::count() {
  Communicator& control = queue_.control_;
  if (failed_) return;
  const auto key = control.key(purpose_);
  const auto message = [&](int64_t peer, int64_t bytes) {
    headers_.count_bytes(bytes);
    if (control.ledger_)
      control.ledger_->message(key, bytes, control.node_[peer] != control.node_[control.rank_]);
  };
  const int64_t n = sum_ ? sum_->count : exchange_.sum_of, part = (n + control.size_ - 1) / control.size_;
  const auto owned = [&](int64_t rank) {
    return (std::min(n, (rank + 1) * part) - std::min(n, rank * part)) * static_cast<int64_t>(sizeof(float));
  };
  control.for_each_peer([&](int64_t peer) {
    if (n >= 0) {
      message(peer, owned(peer));
      message(peer, owned(control.rank_));
    } else if (exchange_.send_bytes[peer] > 0 || exchange_.every_peer) {
      message(peer, exchange_.send_bytes[peer]);
    }
  });
}

void Communicator::DeviceExchange::complete() {
  Communicator& control = queue_.control_;
  try {
    const std::lock_guard lock(control.link_->progress.mutex());
    control.link_->progress.check();
    queue_.launch_through(this);
  } catch (...) {
    queue_.comm_.give_up();  // groups of before may wait for the same rank
    throw;
  }
  count();
}

void Communicator::DeviceExchange::ended(int64_t blocked_since) {
  Communicator& control = queue_.control_;
  headers_.end_here(blocked_since);
  if (std::exchange(watched_, false))
    control.link_->exchange_ended({exchange_.model, exchange_.layer, exchange_.place});
  if (disagrees_ >= 0) control.disagree("an exchange between devices");
}

bool Communicator::DeviceExchange::finish(cudaStream_t then) {
  const int64_t since = headers_.now();
  complete();
  if (launched_here()) done_.hold_back(then);
  if (launched_here() && exact_) queue_.comm_.wait(done_, "an exchange between devices");
  ended(since);
  return peer_failed_;
}

bool Communicator::DeviceExchange::wait() { return finish(static_cast<cudaStream_t>(kernels::stream())); }

bool Communicator::DeviceExchange::wait_for_device() {
  const int64_t since = headers_.now();
  complete();
  if (launched_here()) queue_.comm_.wait(done_, "an exchange between devices");
  ended(since);
  return peer_failed_;
}

}  // namespace moemesh
