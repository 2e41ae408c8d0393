// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P34 for memory: one rank's allocator fails at its n-th call, for every n. All ranks learn of it, none waits for ever, and
// the next valid step is right.
#include <limits>

#include "case_support.hpp"
#include "failing_allocator.hpp"

namespace moemesh::test {
namespace {

struct Mode {
  int32_t recompute = MOEMESH_RECOMPUTE_NONE, chunks = 1;
  bool replay = false;
};

// Two ranks, one layer of two scale experts (W = 1 and 2), AdamW; every call's status is compared over the ranks.
class Script {
 public:
  Script(MPI_Comm comm, int32_t axis, int32_t stage, const Mode& mode, Failing* failing)
      : comm_(comm), axis_(axis), stage_(stage), mode_(mode) {
    const auto params = failing_context(comm, failing, 20);
    OK(moemesh_context_create(&params, &context_));
  }
  ~Script() {
    moemesh_optimizer_destroy(&optimizer_);
    moemesh_layer_destroy(&layer_);
    for (auto& family : families_) moemesh_family_destroy(&family);
    if (mesh_) EXPECT_TRUE(together("mesh_finalize", moemesh_mesh_finalize(mesh_)));
    moemesh_mesh_destroy(&mesh_);
    EXPECT_TRUE(together("context_finalize", moemesh_context_finalize(context_)));
    moemesh_context_destroy(&context_);
  }

  // True if all ranks have succeeded. They succeed or fail together; a deadline is a failure of the test.
  bool together(const char* call, int32_t status) {
    int mine[2] = {status, -status}, most[2];
    MPI_Allreduce(mine, most, 2, MPI_INT, MPI_MAX, comm_);
    EXPECT_LE(most[1], 0) << call << ": " << moemesh_status_name(status) << " " << last_error();
    EXPECT_EQ(most[0] != 0, status != 0) << call << ": this rank has " << moemesh_status_name(status);
    return most[0] == 0 && most[1] == 0;
  }

  bool create() {
    auto mesh_params = with_defaults(moemesh_mesh_params_init);
    (axis_ == MOEMESH_AXIS_EP ? mesh_params.ep : axis_ == MOEMESH_AXIS_TP ? mesh_params.tp : mesh_params.dp) = 2;
    auto family_params = with_defaults(moemesh_family_params_init);
    const auto optimizer_params = optimizer();
    if (!together("mesh_create", moemesh_mesh_create(context_, &mesh_params, &mesh_))) return false;
    for (int i = 0; i < 2; ++i) {
      family_params.kind = i + 1;
      if (!together("family_create", moemesh_family_create(mesh_, &family_params, &families_[i]))) return false;
    }
    auto layer_params = with_defaults(moemesh_layer_params_init);
    layer_params.name = "moe";
    layer_params.hidden = 1;
    layer_params.ffn = 2;
    layer_params.experts = 2;
    layer_params.top_k = 1;
    layer_params.activation = MOEMESH_IDENTITY;
    layer_params.shared_ffn = 2;                                    // zeros: there, but without effect on the results
    layer_params.aux_coefficient = layer_params.z_coefficient = 1;  // no way to x through a router of zeros
    layer_params.bias_rate = 1e-30;                                 // lost beside a score of 0.5
    layer_params.init_std_router = layer_params.init_std_in = 0;
    layer_params.recompute = mode_.recompute;
    layer_params.chunks = mode_.chunks;
    if (!together("layer_create", moemesh_layer_create(mesh_, families_[0], families_[1], &layer_params, &layer_)))
      return false;
    for (auto* family : families_)
      if (!together("commit", moemesh_family_commit(family))) return false;
    return write_weights() && together("optimizer_create", moemesh_optimizer_create(mesh_, families_[0], families_[1],
                                                                                    &optimizer_params, &optimizer_));
  }

  // May fail, but never on some ranks only.
  void step_and_read() {
    const int outcome = step();
    EXPECT_NE(outcome, -1) << "a failure was lost";
    if (outcome == 0) read();
  }
  void expect_good_step() {
    EXPECT_EQ(step(), 0);
    EXPECT_TRUE(read());
  }

 private:
  // 0 if all went well on all ranks, 1 if all ranks know that it did not, -1 if they differ.
  int step() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Floats x{1, -2, 3, -4}, y(4, nan), dy(4, 1.0F), dx(4, nan);
    const auto in = view_of(x, {4, 1}), out = view_of(y, {4, 1}), gradient = view_of(dy, {4, 1}),
               result = view_of(dx, {4, 1});
    auto forward = with_defaults(moemesh_forward_params_init);
    forward.x = &in;
    forward.y = &out;
    auto backward = with_defaults(moemesh_backward_params_init);
    backward.dy = &gradient;
    backward.dx = &result;
    moemesh_tape tape = nullptr;
    OK(moemesh_step_begin(optimizer_, nullptr));
    bool fine = moemesh_layer_forward(layer_, &forward, &tape) == MOEMESH_OK;
    // With dp alone each rank is a block of its own: a forward that failed there can be made again in the same step.
    if (!fine && axis_ == MOEMESH_AXIS_DP) fine = moemesh_layer_forward(layer_, &forward, &tape) == MOEMESH_OK;
    // Else the others of the block have failed with it, and nobody has a tape.
    fine = same_on_all(fine);
    auto replay = with_defaults(moemesh_replay_params_init);
    replay.x = &in;
    replay.y = &out;
    if (fine && mode_.replay) fine = same_on_all(moemesh_layer_replay(&tape, &replay) == MOEMESH_OK);
    if (fine) fine = moemesh_layer_backward(&tape, &backward) == MOEMESH_OK;
    moemesh_tape_destroy(&tape);
    const bool updated = together("optimizer_step", moemesh_optimizer_step(optimizer_, nullptr, nullptr));
    int all = fine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_);
    if (updated && all == 0) return -1;
    if (!updated) return 1;
    // With a router of zeros every token goes to expert 0, which maps x to x.
    EXPECT_EQ(y, x);
    EXPECT_EQ(dx, dy);
    return 0;
  }

  bool read() {
    Floats value(2, -777.0F);
    const auto view = view_of(value, {1, 2});
    const bool fine = together("parameter_read", moemesh_parameter_read(w2_, MOEMESH_MOMENT1, 0, &view));
    EXPECT_EQ(value[0] == -777.0F, !fine);
    return fine;
  }

  moemesh_optimizer_params optimizer() const {
    auto params = with_defaults(moemesh_optimizer_params_init);
    params.learning_rate = 0;
    params.shared_stage = params.expert_stage = stage_;
    return params;
  }
  bool same_on_all(bool fine) {
    int all = fine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_);
    EXPECT_EQ(all == 1, fine) << "forward: the ranks differ";
    return all == 1;
  }
  bool write_weights() {
    moemesh_parameter w1 = nullptr;
    OK(moemesh_parameter_find(families_[1], "moe.w1", &w1));
    OK(moemesh_parameter_find(families_[1], "moe.w2", &w2_));
    for (int64_t e = 0; e < 2; ++e) {
      Floats one{1.0F, 0.0F}, scale{static_cast<float>(e + 1), 0.0F};
      const auto one_view = view_of(one, {2, 1}), scale_view = view_of(scale, {1, 2});
      OK(moemesh_parameter_write(w1, MOEMESH_VALUE, e, &one_view));
      OK(moemesh_parameter_write(w2_, MOEMESH_VALUE, e, &scale_view));
    }
    return true;
  }

  MPI_Comm comm_;
  int32_t axis_, stage_;
  Mode mode_;
  moemesh_context context_ = nullptr;
  moemesh_mesh mesh_ = nullptr;
  moemesh_family families_[2] = {nullptr, nullptr};
  moemesh_layer layer_ = nullptr;
  moemesh_optimizer optimizer_ = nullptr;
  moemesh_parameter w2_ = nullptr;
};

// Whether rank 0 got as far as its call number n.
bool failed_once(MPI_Comm comm, const Failing& failing) {
  int reached = failing.fail_at > 0 && failing.calls >= failing.fail_at ? 1 : 0;
  MPI_Bcast(&reached, 1, MPI_INT, 0, comm);
  return reached == 1;
}

void fail_every_call(MPI_Comm comm, int32_t axis, int32_t stage, const Mode& mode, bool while_creating) {
  const bool mine = world_rank() == 0;
  int64_t n = 1;
  for (bool reached = true; reached && n < 200; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n) + (while_creating ? " of create" : " of a step"));
    Failing failing;
    if (mine && while_creating) failing.fail_at = n;
    Script script(comm, axis, stage, mode, &failing);
    const bool created = script.create();
    EXPECT_TRUE(created || while_creating);
    if (mine && !while_creating) failing.fail_at = failing.calls + n;
    if (failed_anywhere(comm)) return;
    if (created) script.step_and_read();
    reached = failed_once(comm, failing);
    failing.fail_at = 0;
    if (created) script.expect_good_step();
    if (failed_anywhere(comm)) return;
  }
  EXPECT_GT(n, 5);
  EXPECT_LT(n, 200);
}

TEST(Case, P34_memory_of_one_rank) {
  CASE_RANKS(ranks, 2);
  for (const int32_t axis : {MOEMESH_AXIS_EP, MOEMESH_AXIS_TP, MOEMESH_AXIS_DP})
    for (const int32_t stage : {1, 2})
      for (const bool while_creating : {true, false}) {
        SCOPED_TRACE("two ranks along axis " + std::to_string(axis) + ", stage " + std::to_string(stage));
        fail_every_call(ranks.comm(), axis, stage, {}, while_creating);
      }
}

TEST(Case, P34_memory_of_one_rank_in_chunks) {
  CASE_RANKS(ranks, 2);
  for (const int32_t axis : {MOEMESH_AXIS_EP, MOEMESH_AXIS_TP})
    for (const Mode& mode : {Mode{.recompute = MOEMESH_RECOMPUTE_FULL, .chunks = 2},
                             Mode{.recompute = MOEMESH_RECOMPUTE_SELECTIVE, .chunks = 3, .replay = true},
                             Mode{.recompute = MOEMESH_RECOMPUTE_FULL, .replay = true}}) {
      SCOPED_TRACE("axis " + std::to_string(axis) + " recompute " + std::to_string(mode.recompute) + " chunks " +
                   std::to_string(mode.chunks));
      fail_every_call(ranks.comm(), axis, 1, mode, false);
    }
}

}  // namespace
}  // namespace moemesh::test
