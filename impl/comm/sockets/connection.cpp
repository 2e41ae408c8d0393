// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/sockets/connection.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace moemesh::sockets {
namespace {

// At one go, so that a large message leaves room for the others.
constexpr int64_t most_at_once = 1 << 20;

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

void copy(char* to, const char* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace

Connection::~Connection() {
  for (Send* const message : out_)
    if (message->given_up) delete message;
}

// Where it can't be written, reading will tell what became of the peer.
void Connection::send(Send* message) {
  if (code_ != 0) {
    message->code = code_;
    return;
  }
  if (!open()) return loop(message);
  out_.push_back(message);
  message->queued = true;
  bool moved = false;
  if (out_.size() == 1) (void)write(moved);
}

// To the own rank.
void Connection::loop(Send* message) {
  frame_ = message->frame;
  begin_message(true);
  if (into_) copy(into_, message->data, left_);
  finish();
  message->done = true;
}

int32_t Connection::write(bool& moved) {
  for (int64_t room = most_at_once; room > 0 && writing();) {
    Send& message = *out_.front();
    const auto head = static_cast<int64_t>(sizeof(Frame));
    const int64_t of_frame = std::max<int64_t>(0, head - message.moved),
                  of_data = std::max<int64_t>(0, message.moved - head);
    iovec parts[2] = {{reinterpret_cast<char*>(&message.frame) + (head - of_frame), static_cast<size_t>(of_frame)},
                      {const_cast<char*>(message.data) + of_data,
                       static_cast<size_t>(std::min(room, message.frame.bytes - of_data))}};
    msghdr both{};
    both.msg_iov = parts;
    both.msg_iovlen = 2;
    const ssize_t n = ::sendmsg(get(), &both, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return would_wait(errno) ? 0 : code_of(Failure::lost, rank_, errno);
    moved = true;
    room -= n;
    message.moved += n;
    if (message.moved == head + message.frame.bytes) written(message);
  }
  return 0;
}

void Connection::written(Send& message) {
  out_.pop_front();
  message.queued = false;
  message.done = true;
  if (message.given_up) delete &message;
}

void Connection::receive(Receive* wanted) {
  const auto found = find(wanted->frame.comm, wanted->frame.tag);
  if (found == arrived_.end()) {
    wanted->code = goodbye_ ? code_of(Failure::left, rank_) : code_;
    if (wanted->code == 0) posted_.push_back(wanted);
    return;
  }
  const bool coming = storing_ == &*found, fits = found->frame.bytes <= wanted->frame.bytes;
  const int64_t here = coming ? found->frame.bytes - left_ : found->frame.bytes;
  if (fits) {
    copy(wanted->data, found->data.get(), here);
    wanted->frame.bytes = found->frame.bytes;
    wanted->done = !coming;
  } else {
    wanted->code = code_of(Failure::message_too_long, rank_);
  }
  if (coming) {  // the rest goes straight there, or nowhere
    storing_ = nullptr;
    filling_ = fits ? wanted : nullptr;
    into_ = fits ? wanted->data + here : nullptr;
  }
  arrived_.erase(found);
}

bool Connection::drop(uint64_t comm, int32_t tag, int64_t& bytes) {
  const auto found = find(comm, tag);
  if (found == arrived_.end() || !found->whole) return false;
  bytes = found->frame.bytes;
  arrived_.erase(found);
  return true;
}

int32_t Connection::give_up(Send* message) {
  if (!message->queued) {
    delete message;
    return 0;
  }
  message->given_up = true;
  try {
    message->copy = Bytes(message->frame.bytes);
  } catch (const std::bad_alloc&) {
    return code_of(Failure::out_of_memory);
  }
  copy(message->copy.get(), message->data, message->frame.bytes);
  message->data = message->copy.get();
  return 0;
}

void Connection::give_up(Receive* wanted) {
  posted_.remove(wanted);
  if (filling_ == wanted) {
    filling_ = nullptr;
    into_ = nullptr;
  }
  delete wanted;
}

void Connection::forget(uint64_t comm) {
  if (storing_ && storing_->frame.comm == comm) {
    storing_ = nullptr;
    into_ = nullptr;
  }
  arrived_.remove_if([&](const Arrival& arrival) { return arrival.frame.comm == comm; });
}

// Small ones by way of `stage`, several at a time; the data of large ones goes straight to where it belongs.
int32_t Connection::read(std::span<char> stage, const std::unordered_set<uint64_t>& closed, bool& moved) {
  for (int64_t room = most_at_once; room > 0;) {
    const bool straight = into_ && left_ >= std::ssize(stage);
    const auto asked = static_cast<size_t>(straight ? std::min(room, left_) : std::ssize(stage));
    const ssize_t n = ::recv(get(), straight ? into_ : stage.data(), asked, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return would_wait(errno) ? 0 : code_of(Failure::lost, rank_, errno);
    if (n == 0) return code_of(goodbye_ ? Failure::left : Failure::lost, rank_);
    moved = true;
    room -= n;
    if (straight)
      advance(n);
    else if (const int32_t code = take(stage.data(), n, closed); code != 0)
      return code;
    if (static_cast<size_t>(n) < asked) return 0;
  }
  return 0;
}

int32_t Connection::take(const char* data, int64_t bytes, const std::unordered_set<uint64_t>& closed) {
  while (bytes > 0) {
    int64_t part = std::min(bytes, left_);
    if (head_ < sizeof(Frame)) {
      part = std::min(bytes, static_cast<int64_t>(sizeof(Frame) - head_));
      copy(reinterpret_cast<char*>(&frame_) + head_, data, part);
      head_ += static_cast<size_t>(part);
      if (head_ == sizeof(Frame))
        if (const int32_t code = begin(closed); code != 0) return code;
    } else {
      if (into_) copy(into_, data, part);
      advance(part);
    }
    data += part;
    bytes -= part;
  }
  return 0;
}

int32_t Connection::begin(const std::unordered_set<uint64_t>& closed) {
  const bool known = frame_.kind == Frame::message || frame_.kind == Frame::goodbye;
  if (!known || frame_.bytes < 0 || goodbye_) return code_of(Failure::garbled, rank_);
  if (frame_.kind == Frame::goodbye) {
    goodbye_ = true;
    head_ = 0;
    fail_posted(code_of(Failure::left, rank_));
    return 0;
  }
  try {
    begin_message(!closed.contains(frame_.comm));
  } catch (const std::bad_alloc&) {
    return code_of(Failure::out_of_memory);
  }
  if (left_ == 0) finish();
  return 0;
}

void Connection::begin_message(bool wanted_here) {
  left_ = frame_.bytes;
  if (Receive* const posted = take_posted(frame_)) {
    const bool fits = frame_.bytes <= posted->frame.bytes;
    if (!fits) posted->code = code_of(Failure::message_too_long, rank_);
    if (!fits) return;
    posted->frame.bytes = frame_.bytes;
    filling_ = posted;
    into_ = posted->data;
  } else if (wanted_here) {
    arrived_.push_back({frame_, Bytes(frame_.bytes)});
    storing_ = &arrived_.back();
    into_ = storing_->data.get();
  }
}

void Connection::advance(int64_t bytes) {
  left_ -= bytes;
  if (into_) into_ += bytes;
  if (left_ == 0) finish();
}

void Connection::finish() {
  if (filling_) filling_->done = true;
  if (storing_) storing_->whole = true;
  filling_ = nullptr;
  storing_ = nullptr;
  into_ = nullptr;
  left_ = 0;
  head_ = 0;
}

Receive* Connection::take_posted(const Frame& frame) {
  const auto found = std::find_if(posted_.begin(), posted_.end(), [&](const Receive* one) {
    return one->frame.comm == frame.comm && one->frame.tag == frame.tag;
  });
  if (found == posted_.end()) return nullptr;
  Receive* const result = *found;
  posted_.erase(found);
  return result;
}

Connection::Arrivals::iterator Connection::find(uint64_t comm, int32_t tag) {
  return std::find_if(arrived_.begin(), arrived_.end(),
                      [&](const Arrival& one) { return one.frame.comm == comm && one.frame.tag == tag; });
}

void Connection::fail_posted(int32_t code) {
  for (Receive* const wanted : posted_) wanted->code = code;
  posted_.clear();
}

void Connection::end(int32_t code) {
  socket_.close();
  code_ = code;
  fail_posted(code);
  if (filling_) filling_->code = code;
  filling_ = nullptr;
  storing_ = nullptr;
  finish();
  arrived_.remove_if([](const Arrival& arrival) { return !arrival.whole; });
  for (Send* const message : out_) {
    message->code = code;
    message->queued = false;
    if (message->given_up) delete message;
  }
  out_.clear();
}

}  // namespace moemesh::sockets
