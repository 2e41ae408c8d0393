// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "impl/comm/ledger.hpp"
#include "impl/context/mesh.hpp"

namespace moemesh {

// A group of the mesh as one of its ranks sees it.
struct RankGroup {
  int32_t axes = 0;
  std::vector<int64_t> ranks;
  int64_t position = 0;

  int64_t size() const { return static_cast<int64_t>(ranks.size()); }
};

// What one rank sends, as its ledger would count it: the operations of Communicator as arithmetic. Groups of one rank do
// nothing. Everything is counted as often as repeat() said last.
class Traffic {
 public:
  using Entries = std::map<Ledger::Key, Ledger::Counts>;

  Traffic(const Mesh& mesh, int64_t rank);

  int64_t rank() const { return rank_; }
  const Coordinates& here() const { return here_; }
  const MeshLayout& layout() const { return mesh_.layout(); }
  RankGroup group(int32_t axes) const;
  RankGroup slices() const;  // Mesh::slices
  RankGroup ends() const;    // Mesh::ends; only on the end stages of a pipeline

  void repeat(int64_t times) { times_ = times; }
  int64_t repeated() const { return times_; }

  // bytes: to each member. Empty messages are sent only with every_peer.
  void all_to_all(const RankGroup& group, const std::vector<int64_t>& bytes, bool every_peer, const Purpose& purpose);
  // Expected bytes, a message to every peer.
  void all_to_all(const RankGroup& group, const std::vector<double>& bytes, const Purpose& purpose);
  // A message to every peer in each repetition, `bytes` in all of them together.
  void all_to_all_in_all(const RankGroup& group, const std::vector<int64_t>& bytes, const Purpose& purpose);
  void to_every_peer(const RankGroup& group, int64_t bytes, const Purpose& purpose);  // the same to each
  void all_reduce(const RankGroup& group, int64_t elements, const Purpose& purpose,
                  int64_t element_bytes = sizeof(float));
  // Of what kernels write and read: between devices with headers.
  void sum_of_kernels(const RankGroup& group, int64_t elements, const Purpose& purpose);
  void header(const RankGroup& group, const Purpose& of);
  void all_gather(const RankGroup& group, int64_t own_bytes, const Purpose& purpose);
  void agree(const RankGroup& group, int64_t words, const Purpose& purpose);
  void broadcast(const RankGroup& group, int64_t bytes, const Purpose& purpose);  // from position 0
  // One call of a head and, where it has bytes, a body.
  void mail(const RankGroup& group, int64_t peer, int64_t head, int64_t body, const Purpose& purpose);

  // Expectations are rounded here, to the nearest byte of an entry.
  Entries entries() const;

 private:
  struct Expected {
    double bytes = 0, bytes_internode = 0;
  };
  RankGroup group_of(std::vector<int64_t> ranks, int32_t axes) const;
  bool leaves_node(int64_t peer_rank) const { return mesh_.node(peer_rank) != mesh_.node(rank_); }
  Ledger::Counts& call(const RankGroup& group, const Purpose& purpose);
  void message(Ledger::Counts& counts, const RankGroup& group, int64_t peer, int64_t bytes) const;
  // f(position) of every other member.
  template <class F>
  static void for_each_peer(const RankGroup& group, F&& f) {
    for (int64_t peer = 0; peer < group.size(); ++peer)
      if (peer != group.position) f(peer);
  }

  const Mesh& mesh_;
  int64_t rank_;
  Coordinates here_;
  int64_t times_ = 1;
  Entries entries_;
  std::map<Ledger::Key, Expected> expected_;
};

}  // namespace moemesh
