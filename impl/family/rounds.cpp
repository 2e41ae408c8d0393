// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/rounds.hpp"

#include <array>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"

namespace moemesh {

void StepState::fail(const Finding& finding) {
  if (failure) return;
  failure = finding;
  if (rounds) rounds->announce();
}

Rounds::Rounds(Mesh& mesh, std::vector<const Family*> families)
    : mesh_(mesh), families_(std::move(families)), group_(mesh.add_group(axes_of(mesh.layout().sizes()))) {}

int32_t Rounds::axes_of(const AxisSizes& sizes) {
  return sizes.expert_tp == sizes.tp ? MOEMESH_GROUP_SHARED_GRADIENT : MOEMESH_GROUP_STAGE;
}

Rounds::Header Rounds::header_of(const Parameter& parameter) {
  return {in_call, parameter.family->kind(), static_cast<int64_t>(hash_string(parameter.name)), parameter.ready + 1};
}

std::string Rounds::described(const Header& header) const {
  if (header.kind == failed) return "failed in this step";
  if (header.kind == at_end) return "is at the step's end";
  for (const Family* family : families_)
    for (const auto& parameter : family->parameters()) {
      const Header known = header_of(*parameter);
      if (known.family == header.family && known.name == header.name)
        return format_message("is in its gradient_ready({}) number {}", parameter->name, header.number);
    }
  return "is in a gradient_ready of an unknown parameter";
}

void Rounds::send(const Header& header) {
  mine_ = header;
  const std::array words{header.kind, header.family, header.name, header.number};
  round_ = std::make_unique<Communicator::Round>(
      group_, words,
      Purpose{static_cast<int32_t>(header.family), MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_COUNT_EXCHANGE});
}

Rounds::Verdict Rounds::judge() {
  const auto round = std::exchange(round_, nullptr);
  const auto words = round->all();
  Verdict verdict = Verdict::together;
  for (int64_t rank = 0; rank < group_.size() && verdict != Verdict::peer_failed; ++rank) {
    const int64_t* w = words.data() + rank * 4;
    const Header theirs{w[0], w[1], w[2], w[3]};
    if (theirs == mine_ || (verdict == Verdict::mismatch && theirs.kind != failed)) continue;
    verdict = theirs.kind == failed ? Verdict::peer_failed : Verdict::mismatch;
    text_ =
        format_message("rank {} {}, while rank {} {}", mesh_.layout().group_member(group_.axes(), mesh_.rank(), rank),
                       described(theirs), mesh_.rank(), described(mine_));
  }
  lost_ = verdict != Verdict::together || mine_.kind == failed;
  return verdict;
}

Rounds::Verdict Rounds::call(const Parameter& parameter) {
  if (lost_ || round_) return Verdict::peer_failed;
  send(header_of(parameter));
  return judge();
}

void Rounds::announce() {
  if (!lost_ && !round_ && group_.size() > 1) send({failed});
}

Finding Rounds::close(bool own_failure) {
  Verdict verdict = Verdict::together;
  if (group_.size() > 1 && !lost_) {
    if (!round_) send({own_failure ? failed : at_end});
    verdict = judge();
  }
  lost_ = false;
  if (verdict == Verdict::together) return {};
  return {MOEMESH_ERROR_PEER_FAILED, text_};
}

}  // namespace moemesh
