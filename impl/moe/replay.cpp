// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// A forward again, with the decision that is on the tape: for callers that keep nothing of a whole block but its input.
#include "impl/base/error.hpp"
#include "impl/moe/block.hpp"
#include "impl/moe/layer.hpp"
#include "impl/timeline/span.hpp"

namespace moemesh {

// The router does not run, and nothing is counted but bytes.
void Layer::replay(std::unique_ptr<Tape>& kept, const ReplayArguments& arguments, Finding problem) {
  if (problem && alone()) throw Error(problem.status, problem.text);
  auto tape = std::move(kept);
  const timeline::LayerScope place(mesh_->recorder(), number_, tape->microbatch);
  Outcome outcome(std::move(problem));
  constexpr auto phase = MOEMESH_PHASE_RECOMPUTE;
  TypedRows x, out;
  Rows<float> y;
  outcome.run([&] {
    tape->x = arguments.x;
    x = reachable_copy(Workspace::user_x, arguments.x);
    out = reachable(Workspace::user_y, arguments.y);
    y = output_rows(out);
    take_kept(*tape, true, true);
    reserve_forward(*tape);
  });
  meet_again(outcome, *tape, phase);
  if (!outcome.failed()) route_forward(outcome, *tape, x, y, phase, false);
  finish_forward(outcome, *tape, tape->decision.tokens, y, phase);
  if (outcome.failed()) {
    recycle(std::move(tape));
    raise(outcome.finding(), true);
  }
  store_output(y, out);
  give_back(out, arguments.y);
  count_bytes_of(*tape);
  kept = std::move(tape);
}

}  // namespace moemesh
