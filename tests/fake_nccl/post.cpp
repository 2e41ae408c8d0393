// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "post.hpp"

#include <mpi.h>

#include <cstring>

#include "engine.hpp"

namespace fake {
namespace {

constexpr int tag = 29000;

void append(std::vector<std::byte>& to, const void* from, size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

// Five words, the text, the data.
std::vector<std::byte> pack(const Message& message) {
  const int64_t words[] = {message.kind, static_cast<int64_t>(message.comm), message.from, message.sequence,
                           static_cast<int64_t>(message.text.size())};
  std::vector<std::byte> bytes;
  append(bytes, words, sizeof words);
  append(bytes, message.text.data(), message.text.size());
  append(bytes, message.data.data(), message.data.size());
  return bytes;
}

Message unpack(const std::vector<std::byte>& bytes) {
  int64_t words[5];
  std::memcpy(words, bytes.data(), sizeof words);
  const std::byte* const text = bytes.data() + sizeof words;
  Message message;
  message.kind = static_cast<Message::Kind>(words[0]);
  message.comm = static_cast<uint64_t>(words[1]);
  message.from = words[2];
  message.sequence = words[3];
  message.text.assign(reinterpret_cast<const char*>(text), static_cast<size_t>(words[4]));
  message.data.assign(text + words[4], bytes.data() + bytes.size());
  return message;
}

}  // namespace

Post& Post::get() {
  static Post& instance = *new Post;  // of the whole program
  return instance;
}

// The device's thread ends before MPI does, whoever ends it: what hangs at MPI_COMM_SELF is deleted first.
void Post::end_before_mpi() {
  const auto stop = [](MPI_Comm, int, void*, void*) {
    Engine::get().stop();
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, stop, &key, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

int Post::rank() {
  if (!started_) {
    int level = MPI_THREAD_SINGLE;
    if (PMPI_Query_thread(&level) != MPI_SUCCESS || level != MPI_THREAD_MULTIPLE)
      Engine::get().complain("the fake needs MPI at MPI_THREAD_MULTIPLE");
    started_ = true;
    end_before_mpi();
    Engine::get().add_watcher([this] { return poll(); });
  }
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void Post::send(int to, const Message& message) {
  if (to == rank()) return deliver(message);
  Outgoing& out = outgoing_.emplace_back(Outgoing{pack(message), nullptr});
  auto* const request = new MPI_Request;
  PMPI_Isend(out.bytes.data(), static_cast<int>(out.bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, request);
  out.request = request;
}

bool Post::poll() {
  bool moved = false;
  outgoing_.remove_if([](Outgoing& out) {
    auto* const request = static_cast<MPI_Request*>(out.request);
    int done = 0;
    PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) delete request;
    return done != 0;
  });
  for (;;) {
    int here = 0, count = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    PMPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &here, &handle, &status);
    if (!here) return moved;
    PMPI_Get_count(&status, MPI_BYTE, &count);
    std::vector<std::byte> bytes(static_cast<size_t>(count));
    PMPI_Mrecv(bytes.data(), count, MPI_BYTE, &handle, &status);
    deliver(unpack(bytes));
    moved = true;
  }
}

void Post::deliver(Message message) {
  if (message.kind == Message::join) {
    joins.push_back(std::move(message));
  } else if (message.kind == Message::table) {
    std::vector<int64_t> ranks(message.data.size() / sizeof(int64_t));
    if (!message.data.empty()) std::memcpy(ranks.data(), message.data.data(), message.data.size());
    tables[message.comm] = ranks;
  } else if (!forgotten_.count(message.comm)) {
    mail_[{message.comm, message.from, message.sequence}] = std::move(message);
  }
}

const Message* Post::find(uint64_t comm, int64_t from, int64_t sequence) const {
  const auto found = mail_.find({comm, from, sequence});
  return found == mail_.end() ? nullptr : &found->second;
}

void Post::drop(uint64_t comm, int64_t from, int64_t sequence) { mail_.erase({comm, from, sequence}); }

void Post::forget(uint64_t comm) {
  forgotten_[comm] = true;
  std::erase_if(mail_, [&](const auto& item) { return std::get<0>(item.first) == comm; });
}

std::vector<const Message*> Post::left(uint64_t comm) const {
  std::vector<const Message*> result;
  for (const auto& [place, message] : mail_)
    if (std::get<0>(place) == comm) result.push_back(&message);
  return result;
}

}  // namespace fake
