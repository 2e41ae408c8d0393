// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/mail.hpp"

#include <algorithm>

#include "impl/base/error.hpp"

namespace moemesh {

Communicator::Mail::Mail(Communicator& owner, const Purpose& forward_purpose, const Purpose& backward_purpose)
    : owner_(owner),
      channels_{Channel(owner, forward_purpose, first_tag + forward),
                Channel(owner, backward_purpose, first_tag + backward)} {
  owner_.link_->progress.add(this);
}

Communicator::Mail::~Mail() {
  owner_.link_->progress.remove(this);
  if (idle()) return;
  moemesh_transport_state state{};
  if (owner_.link_->transport->state(&state) == 0 && !state.finalized) return;  // the batches give their requests up
  for (Channel& channel : channels_) {
    channel.out.forget();
    channel.late.forget();
  }
}

int64_t Communicator::Mail::open_run() {
  const std::lock_guard lock(owner_.link_->progress.mutex());
  for (Channel& channel : channels_) {
    channel.late.take(channel.out);
    for (Waiting& waiting : channel.queue) waiting.late = true;
  }
  return ++owner_.mail_runs_;
}

void Communicator::Mail::send(Name name, int64_t peer, Part head, Part stamp, Part body, int32_t* open) {
  Channel& channel = channels_[name];
  const int32_t collective = channel.purpose.collective;
  owner_.begin(channel.purpose);
  const std::lock_guard lock(owner_.link_->progress.mutex());
  post(channel, head, collective, peer, open);
  if (stamp.bytes > 0) post(channel, stamp, MOEMESH_COLLECTIVE_CLOCK, peer, open);
  if (body.bytes > 0) post(channel, body, collective, peer, open);
  poll();
  owner_.link_->progress.wake();
}

void Communicator::Mail::post(Channel& channel, Part part, int32_t collective, int64_t peer, int32_t* open) {
  change_open(open, 1);
  channel.queue.push_back({part, peer, open, collective, false});
  channel.poll();
}

bool Communicator::Mail::Channel::poll() {
  bool moved = out.poll();
  moved |= late.poll();
  while (!queue.empty() && out.handed_over() && late.handed_over()) {
    const Waiting next = queue.front();
    queue.pop_front();
    (next.late ? late : out).send_as(next.collective, next.part.data, next.part.bytes, next.peer, next.open);
    change_open(next.open, -1);  // the batch counts it now
    moved = true;
  }
  return moved;
}

void Communicator::Mail::receive(Name name, int64_t peer, void* data, int64_t bytes) {
  owner_.require_usable();
  Batch batch(owner_, channels_[name].purpose, first_tag + name);
  batch.receive(data, bytes, peer);
  if (batch.wait()) owner_.disagree("a pipeline");
}

void Communicator::Mail::drop(Name name, int64_t peer) {
  owner_.require_usable();
  Batch batch(owner_, channels_[name].purpose, first_tag + name);
  batch.drain(peer);
  (void)batch.wait();  // any size is right
}

void Communicator::Mail::disagree(const std::string& text) {
  owner_.link_->broken = true;
  fail(MOEMESH_ERROR_COMMUNICATION, "{}", text);
}

bool Communicator::Mail::poll() {
  const std::lock_guard lock(owner_.link_->progress.mutex());
  bool moved = false;
  if (!usable()) return moved;
  for (Channel& channel : channels_) moved |= channel.poll();
  return moved;
}

void Communicator::Mail::flush(Name name) {
  const std::lock_guard lock(owner_.link_->progress.mutex());
  Channel& channel = channels_[name];
  for (channel.poll(); !channel.done(); channel.poll())
    (void)(channel.out.idle() ? channel.late : channel.out).wait();  // sends can't come short
}

bool Communicator::Mail::idle() const {
  return std::all_of(channels_.begin(), channels_.end(), [](const Channel& channel) { return channel.idle(); });
}

}  // namespace moemesh
