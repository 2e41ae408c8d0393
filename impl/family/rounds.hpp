// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "impl/comm/round.hpp"
#include "impl/family/family.hpp"

namespace moemesh {

// Who goes into which sum, where families are at stage 2. Before each sum the ranks that share data shards' gradients tell
// each other in a round of small headers where they are: in gradient_ready of a parameter for the n-th time, at the
// step's end, or failed. All of them see the same headers, so all of them know in the same round
// - that they are in one call: the sum may begin, and nothing in it can fail any more;
// - or that they are not, or that one failed: then the step is lost, and there is no further round in it.
// Both families share one row of rounds, or two ranks could wait for each other in different ones. A rank that fails anywhere
// in its step sends the header of its next round at once and waits for none: nobody waits for it, however much of
// its program it leaves out. Every rank takes part in as many rounds of a step as every other; the last one is waited
// for at the step's end.
class Rounds {
 public:
  // Collective: makes a communicator of its own.
  Rounds(Mesh& mesh, std::vector<const Family*> families);

  enum class Verdict { together, peer_failed, mismatch };
  // This rank is about to give its part of the parameter's sum. After `mismatch` and `peer_failed` text() says why.
  Verdict call(const Parameter& parameter);
  // This rank has failed. Local.
  void announce();
  // The step's end: whatever the others are doing, they end their rounds with this one. Finding: why the step is lost.
  Finding close(bool failed);

  const std::string& text() const { return text_; }

  // The axes of the group that has the rounds: dp x ep holds the groups of both families unless expert_tp differs from tp.
  static int32_t axes_of(const AxisSizes& sizes);

  struct Header {
    int64_t kind = 0, family = 0, name = 0, number = 0;
    bool operator==(const Header&) const = default;
  };

 private:
  enum Kind : int64_t { in_call = 1, at_end = 2, failed = 3 };
  static Header header_of(const Parameter& parameter);
  void send(const Header& header);
  Verdict judge();  // waits for the round that was begun
  std::string described(const Header& header) const;

  Mesh& mesh_;
  std::vector<const Family*> families_;
  Communicator& group_;
  std::unique_ptr<Communicator::Round> round_;  // begun and not waited for
  Header mine_;
  bool lost_ = false;  // no more rounds in this step
  std::string text_;
};

}  // namespace moemesh
