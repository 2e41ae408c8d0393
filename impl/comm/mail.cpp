// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/mail.hpp"

#include <algorithm>

#include "impl/base/error.hpp"

namespace moemesh {

Communicator::Mail::Mail(Communicator& owner, const Purpose& forward_purpose, const Purpose& backward_purpose)
    : owner_(owner),
      purposes_{forward_purpose, backward_purpose},
      out_{Batch(owner, forward_purpose, first_tag + forward), Batch(owner, backward_purpose, first_tag + backward)},
      late_(owner, forward_purpose, first_tag) {}

Communicator::Mail::~Mail() {
  if (idle()) return;
  moemesh_transport_state state{};
  if (owner_.link_->transport->state(&state) == 0 && !state.finalized) return;  // the batches give their requests up
  for (Batch* const batch : sends()) batch->forget();
}

int64_t Communicator::Mail::open_run() {
  for (Batch& batch : out_) late_.take(batch);
  return ++owner_.mail_runs_;
}

void Communicator::Mail::send(Channel channel, int64_t peer, Part head, Part body, int32_t* open) {
  owner_.begin(purposes_[channel]);
  out_[channel].send(head.data, head.bytes, peer, open);
  if (body.bytes > 0) out_[channel].send(body.data, body.bytes, peer, open);
  poll();
}

void Communicator::Mail::receive(Channel channel, int64_t peer, void* data, int64_t bytes) {
  owner_.require_usable();
  Batch batch(owner_, purposes_[channel], first_tag + channel);
  batch.receive(data, bytes, peer);
  if (batch.wait(sends())) owner_.disagree("a pipeline");
}

void Communicator::Mail::drop(Channel channel, int64_t peer) {
  owner_.require_usable();
  Batch batch(owner_, purposes_[channel], first_tag + channel);
  batch.drain(peer);
  (void)batch.wait(sends());  // any size is right
}

void Communicator::Mail::disagree(const std::string& text) {
  owner_.link_->broken = true;
  fail(MOEMESH_ERROR_COMMUNICATION, "{}", text);
}

void Communicator::Mail::poll() {
  for (Batch* const batch : sends()) batch->poll();
}

void Communicator::Mail::flush(Channel channel) {
  (void)out_[channel].wait(sends());  // sends can't come short
}

bool Communicator::Mail::idle() const {
  return late_.idle() && std::all_of(out_.begin(), out_.end(), [](const Batch& batch) { return batch.idle(); });
}

}  // namespace moemesh
