// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "communicator.hpp"

#include <algorithm>
#include <cstring>
#include <set>

void ncclComm::fail(ncclResult_t code, const std::string& why) {
  if (dead()) return;
  error = code;
  text = why;
  fake::Engine::get().complain(why);
}

void ncclComm::forget(fake::GroupWork* work) { std::erase(waiting, work); }

namespace fake {

std::vector<int> everyone(const ncclComm& comm) {
  std::vector<int> all;
  for (int rank = 0; rank < comm.size; ++rank) all.push_back(rank);
  return all;
}

Meeting::Meeting(ncclComm& comm, const std::vector<int>& others) : comm_(comm) {
  for (const int other : others) numbers_[other] = comm.next[static_cast<size_t>(other)]++;
}

void Meeting::start(std::map<int, Talk> talks) {
  started_ = true;
  talks_ = std::move(talks);
  for (auto& [other, talk] : talks_) {
    const Message message{Message::part, comm_.id, comm_.rank, numbers_.at(other), talk.tells, std::move(talk.data)};
    Post::get().send(static_cast<int>(comm_.world[static_cast<size_t>(other)]), message);
  }
}

bool Meeting::somebody_came() const {
  return std::any_of(numbers_.begin(), numbers_.end(), [&](const auto& number) {
    return Post::get().find(comm_.id, number.first, number.second) != nullptr;
  });
}

bool Meeting::over() {
  for (const auto& [other, number] : numbers_) {
    if (comm_.dead()) return true;
    const Message* const message = came_.count(other) ? nullptr : Post::get().find(comm_.id, other, number);
    if (!message) continue;
    if (message->text != talks_.at(other).expects)
      comm_.fail(ncclInvalidUsage, "operation " + std::to_string(number) + " between ranks " +
                                       std::to_string(comm_.rank) + " and " + std::to_string(other) +
                                       ": the latter is at {" + message->text + "} instead of {" +
                                       talks_.at(other).expects + "}");
    came_[other] = *message;
    Post::get().drop(comm_.id, other, number);
  }
  return comm_.dead() || came_.size() == numbers_.size();
}

Communicators& Communicators::get() {
  static Communicators& instance = *new Communicators;  // of the whole program
  return instance;
}

Communicators::Communicators() {
  Engine::get().add_watcher([this] { return poll(); });
}

ncclComm& Communicators::make() { return *all_.emplace_back(std::make_unique<ncclComm>()); }

ncclComm* Communicators::use(ncclComm_t comm, const char* call, bool finalized_too) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& own) { return own.get() == comm; });
  const char* wrong = nullptr;
  if (found == all_.end())
    wrong = "on what is no communicator";
  else if (comm->life == ncclComm::destroyed)
    wrong = "after ncclCommDestroy";
  else if (comm->life == ncclComm::aborted)
    wrong = "after ncclCommAbort";
  else if (comm->life == ncclComm::finalized && !finalized_too)
    wrong = "after ncclCommFinalize";
  if (wrong) Engine::get().complain(std::string(call) + " " + wrong);
  return wrong ? nullptr : comm;
}

bool Communicators::poll() {
  for (const auto& comm : all_)
    for (GroupWork* const work : comm->waiting) work->look();
  return answer_joins();
}

// When all that were announced for an id are here, each is told where all are.
bool Communicators::answer_joins() {
  std::list<Message>& joins = Post::get().joins;
  std::map<uint64_t, std::map<int64_t, int64_t>> of;
  std::map<uint64_t, int64_t> sizes;
  for (const Message& join : joins) {
    int64_t words[2];
    std::memcpy(words, join.data.data(), sizeof words);
    of[join.comm][join.from] = words[0];
    sizes[join.comm] = words[1];
  }
  bool moved = false;
  for (const auto& [comm, ranks] : of) {
    if (static_cast<int64_t>(ranks.size()) < sizes[comm]) continue;
    Message table{Message::table, comm, 0, 0, {}, {}};
    table.data.resize(ranks.size() * sizeof(int64_t));
    for (const auto& [rank, place] : ranks)
      std::memcpy(table.data.data() + rank * static_cast<int64_t>(sizeof place), &place, sizeof place);
    for (const auto& [rank, place] : ranks) Post::get().send(static_cast<int>(place), table);
    joins.remove_if([&](const Message& join) { return join.comm == comm; });
    moved = true;
  }
  return moved;
}

void complain_of_launch_under_way(const CUstream_st* stream, const char* call) {
  for (const auto& comm : Communicators::get().all())
    if (comm->life == ncclComm::open && std::count(comm->launching.begin(), comm->launching.end(), stream) > 0)
      Engine::get().complain(std::string(call) +
                             " while NCCL is still putting work into the stream: wait until "
                             "ncclCommGetAsyncError no longer says ncclInProgress");
}

}  // namespace fake
