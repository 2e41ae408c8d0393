// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <algorithm>
#include <cstring>
#include <set>

#include "communicator.hpp"

namespace fake {
namespace {

const char* name_of(Entry::Kind kind) {
  constexpr const char* names[] = {"Send",      "Recv",          "Reduce",    "Broadcast",
                                   "AllReduce", "ReduceScatter", "AllGather", "AlltoAll"};
  return names[kind];
}

bool collective(const Entry& entry) { return entry.kind != Entry::send && entry.kind != Entry::receive; }

// What the two sides must say alike.
std::string amount(const Entry& entry) {
  std::string text = "(";
  text.append(std::to_string(entry.count)).append(" of type ").append(std::to_string(entry.type));
  const bool rooted = entry.kind == Entry::reduce || entry.kind == Entry::broadcast;
  if (rooted) text.append(", root ").append(std::to_string(entry.peer));
  return text.append(")");
}

// What of this rank's data is for `peer`.
std::vector<std::byte> part_for(const Entry& entry, int rank, int peer) {
  const size_t bytes = entry.count * size_of(entry.type);
  const auto* from = static_cast<const std::byte*>(entry.from);
  switch (entry.kind) {
    case Entry::receive:
      return {};
    case Entry::send:
      return peer == entry.peer ? std::vector(from, from + bytes) : std::vector<std::byte>();
    case Entry::broadcast:
      return rank == entry.peer ? std::vector(from, from + bytes) : std::vector<std::byte>();
    case Entry::reduce:
      return peer == entry.peer ? std::vector(from, from + bytes) : std::vector<std::byte>();
    case Entry::reduce_scatter:
    case Entry::all_to_all:
      from += static_cast<size_t>(peer) * bytes;
      break;
    case Entry::all_reduce:
    case Entry::all_gather:
      break;
  }
  return {from, from + bytes};
}

// How much of `peer`'s data is for this rank.
size_t bytes_from(const Entry& entry, int rank, int peer) {
  const bool any = entry.kind == Entry::send        ? false
                   : entry.kind == Entry::reduce    ? rank == entry.peer
                   : entry.kind == Entry::broadcast ? peer == entry.peer
                   : entry.kind == Entry::receive   ? peer == entry.peer
                                                    : true;
  return any ? entry.count * size_of(entry.type) : 0;
}

// In the order of the ranks.
void put(const Entry& entry, int peer, bool first, const std::byte* data, size_t bytes) {
  if (bytes == 0) return;
  auto* to = static_cast<std::byte*>(entry.to);
  const bool sums =
      entry.kind == Entry::all_reduce || entry.kind == Entry::reduce_scatter || entry.kind == Entry::reduce;
  if (entry.kind == Entry::all_gather || entry.kind == Entry::all_to_all) to += static_cast<size_t>(peer) * bytes;
  if (!sums || first) {
    std::memcpy(to, data, bytes);
    return;
  }
  for (size_t at = 0; at < bytes; at += sizeof(float)) {
    float sum = 0, more = 0;
    std::memcpy(&sum, to + at, sizeof sum);
    std::memcpy(&more, data + at, sizeof more);
    sum += more;
    std::memcpy(to + at, &sum, sizeof sum);
  }
}

}  // namespace

size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    default:
      return 8;
  }
}

GroupWork::GroupWork(ncclComm& comm, std::vector<Entry> entries, CUstream_st* stream)
    : stream(stream),
      comm_(comm),
      entries_(std::move(entries)),
      before_(comm.last_stream),
      before_place_(comm.last_place),
      meeting_(comm, others()) {
  place = stream->entered + 1;
  comm.last_stream = stream;
  comm.last_place = place;
  comm.waiting.push_back(this);
}

std::vector<int> GroupWork::others() const {
  if (std::any_of(entries_.begin(), entries_.end(), collective)) return everyone(comm_);
  std::set<int> peers;
  for (const Entry& entry : entries_) peers.insert(entry.peer);
  return {peers.begin(), peers.end()};
}

// mirrored: as the peer is to describe it.
std::string GroupWork::describe(int peer, bool mirrored) const {
  std::string together, sends, receives;
  for (const Entry& entry : entries_) {
    if (collective(entry))
      together.append(name_of(entry.kind)).append(amount(entry)).append(" ");
    else if (entry.peer == peer)
      ((entry.kind == Entry::send) != mirrored ? sends : receives).append(amount(entry));
  }
  if (!sends.empty()) together.append("Send").append(sends).append(" ");
  if (!receives.empty()) together.append("Recv").append(receives);
  return together;
}

void GroupWork::start() {
  const Open open;
  std::map<int, Talk> talks;
  for (const int other : others()) {
    Talk& talk = talks[other];
    talk.tells = describe(other, false);
    talk.expects = describe(other, true);
    for (const Entry& entry : entries_) {
      const auto part = part_for(entry, comm_.rank, other);
      talk.data.insert(talk.data.end(), part.begin(), part.end());
    }
  }
  meeting_.start(std::move(talks));
}

// The text agrees, so each peer's data has the parts that are expected, in the order of the calls.
void GroupWork::finish() {
  const Open open;
  bool first = true;
  for (const auto& [peer, message] : meeting_.came()) {
    size_t at = 0;
    for (const Entry& entry : entries_) {
      const size_t bytes = bytes_from(entry, comm_.rank, peer);
      put(entry, peer, first, message.data.data() + at, bytes);
      at += bytes;
    }
    first = false;
  }
}

void GroupWork::look() {
  if (!meeting_.started() && meeting_.somebody_came()) Engine::want(stream, place);
}

// One after another on one communicator, whatever streams they are in.
bool GroupWork::step() {
  if (!comm_.dead() && before_ && before_->finished < before_place_) {
    Engine::want(before_, before_place_);
    return false;
  }
  if (!comm_.dead() && !meeting_.started()) start();
  if (!comm_.dead() && !meeting_.over()) return false;
  if (!comm_.dead()) finish();
  comm_.forget(this);
  return true;
}

std::string GroupWork::text() const {
  std::string text = "rank " + std::to_string(comm_.rank) + " of " + std::to_string(comm_.size) + ":";
  for (const int other : others()) text += " with " + std::to_string(other) + " {" + describe(other, false) + "}";
  return text;
}

}  // namespace fake
