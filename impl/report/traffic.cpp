// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/report/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "impl/comm/device_group.hpp"
#include "impl/family/flat_view.hpp"
#include "impl/report/checked.hpp"

namespace moemesh {
namespace {

constexpr int64_t word_bytes = sizeof(int64_t);

Ledger::Key key_of(const RankGroup& group, const Purpose& purpose) {
  return {group.axes, purpose.family, purpose.phase, purpose.collective};
}

int64_t rounded(double bytes) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  require(bytes < limit, MOEMESH_ERROR_INVALID_ARGUMENT, "bill: {} expected bytes are more than 64 bits hold", bytes);
  return std::llround(bytes);
}

}  // namespace

Traffic::Traffic(const Mesh& mesh, int64_t rank) : mesh_(mesh), rank_(rank), here_(mesh.layout().coordinates(rank)) {}

RankGroup Traffic::group_of(std::vector<int64_t> ranks, int32_t axes) const {
  const auto place = std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin();
  return {axes, std::move(ranks), place};
}

RankGroup Traffic::group(int32_t axes) const {
  std::vector<int64_t> ranks(static_cast<size_t>(layout().group_size(axes)));
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = layout().group_member(axes, rank_, static_cast<int64_t>(i));
  return {axes, std::move(ranks), layout().group_position(axes, rank_)};
}

RankGroup Traffic::slices() const { return group_of(layout().slice_members(rank_), MOEMESH_AXIS_TP); }

RankGroup Traffic::ends() const {
  const RankGroup stages = group(MOEMESH_AXIS_PP);
  return group_of({stages.ranks.front(), stages.ranks.back()}, MOEMESH_AXIS_PP);
}

Ledger::Counts& Traffic::call(const RankGroup& group, const Purpose& purpose) {
  Ledger::Counts& counts = entries_[key_of(group, purpose)];
  counts.calls = plus(counts.calls, times_);
  return counts;
}

void Traffic::message(Ledger::Counts& counts, const RankGroup& group, int64_t peer, int64_t bytes) const {
  const int64_t all = times(bytes, times_);
  counts.messages = plus(counts.messages, times_);
  counts.bytes = plus(counts.bytes, all);
  if (leaves_node(group.ranks[static_cast<size_t>(peer)])) counts.bytes_internode = plus(counts.bytes_internode, all);
}

void Traffic::all_to_all(const RankGroup& group, const std::vector<int64_t>& bytes, bool every_peer,
                         const Purpose& purpose) {
  if (group.size() == 1) return;
  Ledger::Counts& counts = call(group, purpose);
  for_each_peer(group, [&](int64_t peer) {
    const int64_t size = bytes[static_cast<size_t>(peer)];
    if (every_peer || size > 0) message(counts, group, peer, size);
  });
}

void Traffic::all_to_all(const RankGroup& group, const std::vector<double>& bytes, const Purpose& purpose) {
  if (group.size() == 1) return;
  to_every_peer(group, 0, purpose);
  Expected& expected = expected_[key_of(group, purpose)];
  for_each_peer(group, [&](int64_t peer) {
    const double size = times(bytes[static_cast<size_t>(peer)], times_);
    expected.bytes += size;
    if (leaves_node(group.ranks[static_cast<size_t>(peer)])) expected.bytes_internode += size;
  });
}

void Traffic::all_to_all_in_all(const RankGroup& group, const std::vector<int64_t>& bytes, const Purpose& purpose) {
  if (group.size() == 1) return;
  to_every_peer(group, 0, purpose);
  Ledger::Counts& counts = entries_[key_of(group, purpose)];
  for_each_peer(group, [&](int64_t peer) {
    const auto p = static_cast<size_t>(peer);
    counts.bytes = plus(counts.bytes, bytes[p]);
    if (leaves_node(group.ranks[p])) counts.bytes_internode = plus(counts.bytes_internode, bytes[p]);
  });
}

void Traffic::to_every_peer(const RankGroup& group, int64_t bytes, const Purpose& purpose) {
  all_to_all(group, std::vector<int64_t>(group.ranks.size(), bytes), true, purpose);
}

// Every contribution to its owner, every owner's sum to all.
void Traffic::all_reduce(const RankGroup& group, int64_t elements, const Purpose& purpose, int64_t element_bytes) {
  if (group.size() == 1) return;
  (void)times(plus(elements, group.size()), element_bytes);  // what follows is less
  const Shards parts{elements, group.size()};
  const auto bytes = [&](int64_t owner) { return (parts.end(owner) - parts.begin(owner)) * element_bytes; };
  Ledger::Counts& counts = call(group, purpose);
  for_each_peer(group, [&](int64_t peer) {
    message(counts, group, peer, bytes(peer));
    message(counts, group, peer, bytes(group.position));
  });
}

void Traffic::sum_of_kernels(const RankGroup& group, int64_t elements, const Purpose& purpose) {
  header(group, purpose);
  all_reduce(group, elements, purpose);
}

void Traffic::header(const RankGroup& group, const Purpose& of) {
  if (message_memory == Memory::device)
    to_every_peer(group, device_header_bytes, {of.family, of.phase, MOEMESH_COLLECTIVE_COUNT_EXCHANGE});
}

void Traffic::all_gather(const RankGroup& group, int64_t own_bytes, const Purpose& purpose) {
  all_to_all(group, std::vector<int64_t>(group.ranks.size(), own_bytes), false, purpose);
}

// Up a binomial tree and down again: to the parent, which the lowest set bit leads to, and to all children.
void Traffic::agree(const RankGroup& group, int64_t words, const Purpose& purpose) {
  if (group.size() == 1) return;
  Ledger::Counts& counts = call(group, purpose);
  const int64_t bytes = times(words, word_bytes), own = group.position;
  int64_t bit = 1;
  for (; bit < group.size() && (own & bit) == 0; bit <<= 1)
    if (own + bit < group.size()) message(counts, group, own + bit, bytes);
  if (own != 0) message(counts, group, own - bit, bytes);
}

void Traffic::broadcast(const RankGroup& group, int64_t bytes, const Purpose& purpose) {
  if (group.size() == 1) return;
  Ledger::Counts& counts = call(group, purpose);
  for (int64_t bit = 1; bit < group.size() && (group.position & bit) == 0; bit <<= 1)
    if (group.position + bit < group.size()) message(counts, group, group.position + bit, bytes);
}

void Traffic::mail(const RankGroup& group, int64_t peer, int64_t head, int64_t body, const Purpose& purpose) {
  Ledger::Counts& counts = call(group, purpose);
  message(counts, group, peer, head);
  if (body > 0) message(counts, group, peer, body);
}

Traffic::Entries Traffic::entries() const {
  Entries entries = entries_;
  for (const auto& [key, expected] : expected_) {
    Ledger::Counts& counts = entries[key];
    counts.bytes = plus(counts.bytes, rounded(expected.bytes));
    counts.bytes_internode = plus(counts.bytes_internode, rounded(expected.bytes_internode));
  }
  return entries;
}

}  // namespace moemesh
