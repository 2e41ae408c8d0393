// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// MoE layers on every stage: training is the same as on one stage, and whoever fails where and when, nobody hangs, the step
// is dropped on all ranks, and the next one is right. Deadlines are short: a hang ends as ERROR_TIMEOUT, which nothing here
// accepts.
#include <set>

#include "failing_allocator.hpp"
#include "oracle/compare.hpp"
#include "pipeline_support.hpp"

namespace moemesh::test {
namespace {

constexpr double deadline = 20;
constexpr int64_t hidden = 6;
constexpr int32_t microbatches = 3;

// One rank gets something wrong in one action.
struct Fault {
  enum Kind { none, layer, own } kind = none;
  int64_t rank = 0;
  int32_t microbatch = 0;
  bool forward = true;
};

oracle::LayerConfig layer_config(const std::string& name) {
  oracle::LayerConfig config;
  config.name = name;
  config.hidden = hidden;
  config.ffn = 8;
  config.experts = 4;
  config.top_k = 2;
  config.shared_ffn = 4;
  return config;
}

oracle::Model reference_model(int64_t stages) {
  oracle::Model model;
  for (int64_t s = 0; s < stages; ++s) model.layers.push_back(layer_config("stage" + std::to_string(s)));
  return model;
}

ModelSpec stage_spec(double learning_rate) {
  ModelSpec spec;
  spec.layers = {layer_config("moe")};
  spec.optimizer = sgd(learning_rate);
  return spec;
}

// h += moe(h) on each stage; loss <target, h>, its mean over the piece's tokens. The oracle runs all stages' layers in a row.
class Stages {
 public:
  Stages(const Mesh& mesh, double learning_rate, int32_t schedule)
      : mesh_(mesh),
        here_(mesh.here()),
        last_(here_.pp + 1 == mesh.spec().pp),
        rate_(learning_rate),
        reference_(reference_model(mesh.spec().pp)),
        values_(oracle::zero_parameters(reference_)),
        model_(mesh, stage_spec(learning_rate)),
        pipe_(mesh, model_.optimizer(), hidden, {.schedule = schedule}) {
    oracle::draw_parameters(reference_, 5, 1.0, &values_);
    for_each_array(values_, [&](const std::string& name, int64_t expert, oracle::Array& values) {
      model_.write(name, to_floats(values), MOEMESH_VALUE, expert);
    });
  }

  void good_step() {
    run({});
    model_.update();
    auto expected = oracle::run_step(reference_, values_, pieces_, oracle::Objective::shard_mean);
    for_each_array(expected.gradients, [&](const std::string& name, int64_t expert, const oracle::Array& values) {
      const auto found = model_.read(name, MOEMESH_GRADIENT, expert);
      EXPECT_LE(oracle::relative_distance(found, values, 1e-3), 2e-5) << name << " " << expert;
    });
    const auto from = oracle::named_arrays(reference_, expected.gradients);
    const auto to = oracle::named_arrays(reference_, values_);
    for (size_t i = 0; i < to.size(); ++i)
      for (size_t j = 0; j < to[i].values->size(); ++j) (*to[i].values)[j] -= rate_ * (*from[i].values)[j];
  }

  void expect_values() {
    for_each_array(values_, [&](const std::string& name, int64_t expert, const oracle::Array& values) {
      EXPECT_LE(oracle::relative_distance(model_.read(name, MOEMESH_VALUE, expert), values), 2e-6) << name;
    });
  }

  void failed_step(const Fault& fault) {
    run(fault);
    auto result = sized<moemesh_update_result>();
    EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, moemesh_optimizer_step(model_.optimizer(), nullptr, &result));
  }

 private:
  struct Kept {
    Tape tape;
    Floats x;
  };

  // f(name on the stage, expert, array) for the arrays of this rank's stage.
  template <class F>
  void for_each_array(oracle::Parameters& parameters, F&& f) {
    const std::string prefix = "stage" + std::to_string(here_.pp) + ".";
    for (const auto& array : oracle::named_arrays(reference_, parameters))
      if (array.name.starts_with(prefix)) f("moe." + array.name.substr(prefix.size()), array.expert, *array.values);
  }

  const oracle::Piece& piece(int32_t microbatch) const {
    return pieces_.at(static_cast<size_t>(here_.data_shard * microbatches + microbatch));
  }

  void run(const Fault& fault) {
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < mesh_.data_shards() * microbatches; ++i) tokens.push_back(i % 5 == 1 ? 0 : 2 + i % 3);
    oracle::DrawOptions options;
    options.seed = ++seed_;
    pieces_ = oracle::draw_pieces(reference_, values_, tokens, options);
    fault_ = fault;
    kept_.clear();
    backwards_.clear();
    std::vector<int64_t> rows;
    for (int32_t m = 0; m < microbatches; ++m) rows.push_back(piece(m).tokens);
    model_.begin(microbatches);
    pipe_.run(rows, [&](const Action& action) { return act(action); });
    expect_backwards();
  }

  bool fails_here(const Action& action) const {
    return fault_.kind != Fault::none && mesh_.rank() == fault_.rank && action.microbatch == fault_.microbatch &&
           (action.kind == MOEMESH_ACTION_FORWARD) == fault_.forward;
  }
  // Whether this rank is of the block that fails together, or, further on, gets what that block sends.
  bool touched(const Action& action) const {
    const auto there = mesh_.at(fault_.rank);
    const bool same_chain = fault_.kind == Fault::layer || (there.ep == here_.ep && there.tp == here_.tp);
    return fault_.kind != Fault::none && action.microbatch == fault_.microbatch && there.dp == here_.dp && same_chain;
  }
  bool lost_here(int32_t microbatch) const {
    const auto there = mesh_.at(fault_.rank);
    return fault_.kind == Fault::layer && fault_.forward && microbatch == fault_.microbatch && there.pp == here_.pp &&
           there.dp == here_.dp;
  }
  void expect_backwards() const {
    for (int32_t m = 0; m < microbatches; ++m) EXPECT_EQ(backwards_.count(m), lost_here(m) ? 0U : 1U) << m;
  }

  int32_t act(const Action& action) {
    return action.kind == MOEMESH_ACTION_FORWARD ? forward(action) : backward(action);
  }

  void expect_forward_view(const Action& action) const {
    const int64_t whole = piece(action.microbatch).tokens;
    const bool none = fault_.forward && touched(action) && here_.pp > mesh_.at(fault_.rank).pp;
    EXPECT_EQ(action.rows, none && mesh_.spec().tp == 1 ? 0 : whole);
    for (int64_t i = 0; none && i < elements(action.in); ++i) EXPECT_EQ(floats(action.in)[i], 0.0F);
  }

  void expect_backward_view(const Action& action) const {
    const bool zeros = touched(action) && (fault_.forward || here_.pp < mesh_.at(fault_.rank).pp);
    for (int64_t i = 0; zeros && i < elements(action.in); ++i) EXPECT_EQ(floats(action.in)[i], 0.0F);
  }

  int32_t forward(const Action& action) {
    expect_forward_view(action);
    Kept& kept = kept_[action.microbatch];
    kept.x = to_floats(piece(action.microbatch).x);
    Floats y = nans(action.rows * hidden);
    auto x_view = here_.pp == 0 ? view_of(kept.x, {action.rows, hidden}) : action.in;
    const auto y_view = view_of(y, {action.rows, hidden});
    const float* x = floats(x_view);
    if (fails_here(action) && fault_.kind == Fault::layer) x_view.strides[1] = 3;
    auto params = with_defaults(moemesh_forward_params_init);
    params.x = &x_view;
    params.y = &y_view;
    params.microbatch = action.microbatch;
    const int32_t status = moemesh_layer_forward(model_.layer(0), &params, kept.tape.out());
    if (status != MOEMESH_OK) return status;
    for (int64_t i = 0; i < elements(action.out); ++i) floats(action.out)[i] = x[i] + y[static_cast<size_t>(i)];
    return fails_here(action) ? 77 : MOEMESH_OK;
  }

  int32_t backward(const Action& action) {
    expect_backward_view(action);
    backwards_.insert(action.microbatch);
    Kept& kept = kept_[action.microbatch];
    EXPECT_NE(kept.tape.get(), nullptr) << "a backward without a forward";
    Floats own, dx = nans(action.rows * hidden);
    for (int64_t i = 0; last_ && i < action.rows * hidden; ++i)
      own.push_back(static_cast<float>(piece(action.microbatch).target[static_cast<size_t>(i)] /
                                       static_cast<double>(action.rows)));
    auto dy_view = last_ ? view_of(own, {action.rows, hidden}) : action.in;
    const auto dx_view = view_of(dx, {action.rows, hidden});
    const float* dy = floats(dy_view);
    if (fails_here(action) && fault_.kind == Fault::layer) dy_view.strides[1] = 3;
    auto params = with_defaults(moemesh_backward_params_init);
    params.dy = &dy_view;
    params.dx = &dx_view;
    const int32_t status = moemesh_layer_backward(kept.tape.out(), &params);
    if (status != MOEMESH_OK) return status;
    for (int64_t i = 0; i < elements(action.out); ++i) floats(action.out)[i] = dy[i] + dx[static_cast<size_t>(i)];
    return fails_here(action) ? -3 : MOEMESH_OK;
  }

  const Mesh& mesh_;
  moemesh_coordinates here_;
  bool last_;
  double rate_;
  oracle::Model reference_;
  oracle::Parameters values_;
  Model model_;
  Pipe pipe_;
  std::vector<oracle::Piece> pieces_;
  uint64_t seed_ = 10;
  Fault fault_;
  std::map<int32_t, Kept> kept_;
  std::set<int32_t> backwards_;
};

const std::vector<MeshSpec>& moe_meshes() {
  static const std::vector<MeshSpec> meshes{
      {.pp = 2}, {.ep = 2, .pp = 2}, {.ep = 2, .pp = 2, .dp = 2}, {.tp = 2, .pp = 2}, {.tp = 2, .ep = 2, .pp = 2},
      {.pp = 4}, {.ep = 2, .pp = 4}, {.pp = 2, .dp = 2},
  };
  return meshes;
}

constexpr int32_t both[] = {MOEMESH_SCHEDULE_1F1B, MOEMESH_SCHEDULE_GPIPE};

TEST(Pipeline, TrainingIsTheSameAsOnOneStage) {
  auto meshes = moe_meshes();
  meshes.push_back({});
  on_each_mesh(meshes, [](const Place& place) {
    for (const int32_t schedule : both) {
      Stages stages(place.mesh, 0.05, schedule);
      for (int step = 0; step < 3; ++step) stages.good_step();
      stages.expect_values();
    }
  });
}

void fail_everywhere(Fault::Kind kind, bool forward) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh(
      moe_meshes(),
      [&](const Place& place) {
        const int64_t world = ranks_of(place.mesh.spec());
        for (const int32_t schedule : both) {
          Stages stages(place.mesh, 0, schedule);
          for (const int64_t rank : {int64_t{0}, world / 2 - 1, world - 1})
            for (const int32_t microbatch : {0, microbatches - 1}) {
              SCOPED_TRACE("schedule " + std::to_string(schedule) + " rank " + std::to_string(rank) + " microbatch " +
                           std::to_string(microbatch));
              stages.failed_step({kind, rank, microbatch, forward});
              if (microbatch == 0) stages.good_step();
            }
          stages.good_step();
        }
      },
      deadline);
}

TEST(Case, P34_pipeline_layer_in_forward) { fail_everywhere(Fault::layer, true); }
TEST(Case, P34_pipeline_layer_in_backward) { fail_everywhere(Fault::layer, false); }
TEST(Case, P34_pipeline_caller_in_forward) { fail_everywhere(Fault::own, true); }
TEST(Case, P34_pipeline_caller_in_backward) { fail_everywhere(Fault::own, false); }

// ---- without layers

void fill_zeros(const Action& action) { std::fill_n(floats(action.out), elements(action.out), 0.0F); }

int32_t idle(const Action& action) {
  fill_zeros(action);
  return MOEMESH_OK;
}

TEST(Pipeline, OtherRowsThanGivenFailTheStep) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh(
      {{.pp = 2}, {.pp = 4}, {.tp = 2, .pp = 2}},
      [](const Place& place) {
        Chain chain(place.mesh, 2);
        const bool wrong = place.mesh.here().pp == 1;
        chain.model().begin(2);
        OK(chain.pipe().begin({3, wrong ? 4 : 2}, 1, true));
        for (Action action = chain.pipe().next(); action.kind != MOEMESH_ACTION_END; action = chain.pipe().next())
          chain.pipe().done(idle(action));
        EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, moemesh_optimizer_step(chain.model().optimizer(), nullptr, nullptr));
        if (wrong) {
          EXPECT_NE(last_error(place.session.get()).find("rows[1]: 4 was given, 2 came"), std::string::npos)
              << last_error(place.session.get());
        }
        chain.step(3, [](int64_t, int64_t m) { return m + 1; });
      },
      deadline);
}

// Forwards alone: the end tells, once, on the rank that failed and on those after it.
TEST(Pipeline, AFailedForwardAloneIsToldAtTheEnd) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh(
      {{.pp = 2}, {.pp = 4}},
      [](const Place& place) {
        const int64_t stage = place.mesh.here().pp;
        const Pipe pipe(place.mesh, nullptr, 2);
        for (const bool fault : {true, false, true}) {
          OK(pipe.begin({2, 2, 2}, 0));
          for (int32_t m = 0; m < 3; ++m) {
            const Action action = pipe.next();
            EXPECT_EQ(action.microbatch, m);
            EXPECT_EQ(action.rows, fault && m == 1 && stage > 1 ? 0 : 2);
            fill_zeros(action);
            pipe.done(fault && m == 1 && stage == 1 ? MOEMESH_ERROR_NOT_FOUND : MOEMESH_OK);
          }
          auto action = sized<Action>();
          const int32_t expected = !fault || stage < 1 ? MOEMESH_OK
                                   : stage == 1        ? MOEMESH_ERROR_NOT_FOUND
                                                       : MOEMESH_ERROR_PEER_FAILED;
          EXPECT_STATUS(expected, moemesh_pipeline_next(pipe.get(), &action));
          EXPECT_EQ(pipe.next().kind, MOEMESH_ACTION_END);
        }
      },
      deadline);
}

// All ranks break off in the middle, with large rows on their way in one or both directions, and end the step. What was sent
// is thrown away by the next run that comes across it.
TEST(Pipeline, ARunThatWasBrokenOff) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm(), deadline);
  const Mesh mesh(session, {.pp = 2});
  Chain chain(mesh, 512);
  const Pipe alone(mesh, nullptr, 512);
  const auto rows = [](int64_t, int64_t m) { return 700 + m; };
  for (const int taken : {0, 1, 2}) {
    for (const bool forwards_between : {false, true}) {
      chain.model().begin(4);
      OK(chain.pipe().begin(chain.rows_of(4, rows)));
      for (int i = 0; i < (mesh.here().pp == 0 ? 2 : taken); ++i) {
        const Action action = chain.pipe().next();
        chain.pipe().done(chain.act(action));
      }
      EXPECT_STATUS(MOEMESH_ERROR_INVALID_STATE, chain.pipe().begin({1}, 0));
      chain.model().end(false);
      auto action = sized<Action>();
      EXPECT_STATUS(MOEMESH_ERROR_INVALID_STATE, moemesh_pipeline_next(chain.pipe().get(), &action));
      if (forwards_between) alone.run({3, 800}, idle, 0);
      chain.step(4, rows, false);
    }
  }
}

// Gradients are missing where one stage leaves out an action: the step is dropped everywhere, not made from the rest.
TEST(Pipeline, AStepWithActionsLeftIsDropped) {
  on_each_mesh({{}, {.pp = 2}, {.pp = 2, .dp = 2}, {.pp = 4}}, [](const Place& place) {
    Chain chain(place.mesh, 4);
    const auto rows = [](int64_t, int64_t m) { return 3 + m; };
    for (int round = 0; round < 2; ++round) {
      chain.model().begin(3);
      OK(chain.pipe().begin(chain.rows_of(3, rows)));
      for (Action action = chain.pipe().next(); action.kind != MOEMESH_ACTION_END; action = chain.pipe().next()) {
        if (place.mesh.here().pp == 0 && action.kind == MOEMESH_ACTION_BACKWARD && action.microbatch == 2) break;
        chain.pipe().done(chain.act(action));
      }
      EXPECT_STATUS(MOEMESH_ERROR_STEP_FAILED, moemesh_optimizer_step(chain.model().optimizer(), nullptr, nullptr));
      chain.step(3, rows);
    }
  });
}

TEST(Pipeline, OneTrainingRunInAStep) {
  on_each_mesh({{}, {.pp = 2}}, [](const Place& place) {
    Chain chain(place.mesh, 4);
    const auto rows = [](int64_t, int64_t m) { return 2 + m; };
    chain.model().begin(2);
    OK(chain.pipe().begin(chain.rows_of(2, rows)));
    for (Action action = chain.pipe().next(); action.kind != MOEMESH_ACTION_END; action = chain.pipe().next())
      chain.pipe().done(chain.act(action));
    EXPECT_STATUS(MOEMESH_ERROR_INVALID_STATE, chain.pipe().begin(chain.rows_of(2, rows)));
    chain.model().update();
    chain.step(2, rows);
  });
}

TEST(Pipeline, DestroyedInTheMiddleOfARun) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm(), deadline);
  const Mesh mesh(session, {.pp = 2});
  {
    const Pipe pipe(mesh, nullptr, 1024);
    OK(pipe.begin({1000, 1000}, 0));
    if (mesh.here().pp == 0) {
      fill_zeros(pipe.next());
      pipe.done();
    }
  }
  Chain chain(mesh, 3);
  chain.step(4, [](int64_t, int64_t m) { return m; });
}

// ---- no memory

struct Handles {
  Handles(MPI_Comm comm, int32_t pp, Failing* failing) {
    const auto context_params = failing_context(comm, failing, deadline);
    auto mesh_params = with_defaults(moemesh_mesh_params_init);
    mesh_params.pp = pp;
    auto family_params = with_defaults(moemesh_family_params_init);
    family_params.kind = MOEMESH_SHARED;
    auto described = with_defaults(moemesh_parameter_params_init);
    described.name = "w";
    described.rank = 1;
    described.extents[0] = 1;
    const auto optimizer_params = sgd(0);
    moemesh_parameter parameter = nullptr;
    OK(moemesh_context_create(&context_params, &context));
    OK(moemesh_mesh_create(context, &mesh_params, &mesh));
    OK(moemesh_family_create(mesh, &family_params, &family));
    OK(moemesh_parameter_register(family, &described, &parameter));
    OK(moemesh_family_commit(family));
    OK(moemesh_optimizer_create(mesh, family, nullptr, &optimizer_params, &optimizer));
  }
  ~Handles() {
    moemesh_optimizer_destroy(&optimizer);
    moemesh_family_destroy(&family);
    moemesh_mesh_finalize(mesh);
    moemesh_mesh_destroy(&mesh);
    moemesh_context_finalize(context);
    moemesh_context_destroy(&context);
  }
  int32_t step(moemesh_pipeline pipeline, int64_t scale) const {
    const std::vector<int64_t> rows{scale, 3 * scale, 2 * scale, 4 * scale};
    auto step_params = with_defaults(moemesh_step_params_init);
    step_params.microbatches = 4;
    auto run = with_defaults(moemesh_pipeline_run_init);
    run.microbatches = 4;
    run.rows = rows.data();
    OK(moemesh_step_begin(optimizer, &step_params));
    OK(moemesh_pipeline_execute(
        pipeline, &run, [](void*, const Action* action) { return idle(*action); }, nullptr));
    return moemesh_optimizer_step(optimizer, nullptr, nullptr);
  }
  moemesh_context context = nullptr;
  moemesh_mesh mesh = nullptr;
  moemesh_family family = nullptr;
  moemesh_optimizer optimizer = nullptr;
};

// One rank's n-th allocation within a run fails, for every n.
void without_memory(MPI_Comm comm, int32_t pp, int64_t failing_stage, int32_t schedule) {
  Failing failing;
  const Handles handles(comm, pp, &failing);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  auto params = with_defaults(moemesh_pipeline_params_init);
  params.width = 8;
  params.schedule = schedule;
  int32_t failures = 0;
  for (int64_t n = 1; n < 100; ++n) {
    moemesh_pipeline pipeline = nullptr;
    OK(moemesh_pipeline_create(handles.mesh, handles.optimizer, &params, &pipeline));
    failing.calls = 0;
    failing.fail_at = rank == failing_stage ? n : 0;
    const int32_t status = handles.step(pipeline, 5);
    int hit = rank == failing_stage && failing.calls >= n ? 1 : 0;
    failing.fail_at = 0;
    MPI_Bcast(&hit, 1, MPI_INT, static_cast<int>(failing_stage), comm);
    // A backward that finds no second buffer waits for its first one: that is no failure.
    if (!hit || status != MOEMESH_OK) EXPECT_STATUS(hit ? MOEMESH_ERROR_STEP_FAILED : MOEMESH_OK, status);
    int statuses[2] = {status, -status};
    MPI_Allreduce(MPI_IN_PLACE, statuses, 2, MPI_INT, MPI_MAX, comm);
    EXPECT_EQ(statuses[0], -statuses[1]);
    failures += status != MOEMESH_OK ? 1 : 0;
    OK(handles.step(pipeline, 6));
    moemesh_pipeline_destroy(&pipeline);
    if (!hit) break;
  }
  EXPECT_GE(failures, 1);
}

TEST(Case, P34_pipeline_without_memory) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  for (const int pp : {2, 4}) {
    if (pp > world_size()) continue;
    const Ranks ranks(pp);
    if (!ranks.inside()) continue;
    for (int64_t stage = 0; stage < pp; ++stage)
      for (const int32_t schedule : both) without_memory(ranks.comm(), pp, stage, schedule);
  }
}

}  // namespace
}  // namespace moemesh::test
