// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Pipelines: what goes from stage to stage, in which order, what it costs. (Failures: pipeline_failure_test.cpp.)
#include <algorithm>

#include "pipeline_support.hpp"
#include "pmpi.hpp"

namespace moemesh::test {
namespace {

constexpr int32_t both[] = {MOEMESH_SCHEDULE_1F1B, MOEMESH_SCHEDULE_GPIPE};

// ---- the cases

// Four stages that multiply by 2; x = 1, 2, ...; loss y.
void few_microbatches(const Mesh& mesh, int32_t schedule, int32_t microbatches) {
  SCOPED_TRACE("schedule " + std::to_string(schedule) + " M " + std::to_string(microbatches));
  ModelSpec spec;
  spec.shared = {{.name = "w", .extents = {1}, .init_value = 2}};
  spec.optimizer = sgd(0);
  const Model model(mesh, spec);
  const Pipe pipe(mesh, model.optimizer(), 1, {.schedule = schedule});
  const int64_t stage = mesh.here().pp;
  model.begin(microbatches);
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_ARGUMENT, pipe.begin({}, 1, true));
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_ARGUMENT, pipe.begin({}, 0, true));
  pipe.run(std::vector<int64_t>(static_cast<size_t>(microbatches), 1), [&](const Action& action) {
    const auto& input = action.kind == MOEMESH_ACTION_FORWARD ? action.in : action.saved;
    const float x = stage == 0 ? static_cast<float>(action.microbatch + 1) : floats(input)[0];
    if (action.kind == MOEMESH_ACTION_FORWARD) {
      if (stage < 3) floats(action.out)[0] = 2 * x;
      if (stage == 3) EXPECT_EQ(2 * x, 16.0F * static_cast<float>(action.microbatch + 1));
      return MOEMESH_OK;
    }
    const float dy = stage == 3 ? 1.0F : floats(action.in)[0];
    if (stage > 0) floats(action.out)[0] = 2 * dy;
    Floats dw{x * dy};
    const auto view = view_of(dw);
    OK(moemesh_gradient_ready(model.parameter("w"), &view, nullptr));
    return MOEMESH_OK;
  });
  model.update();
  EXPECT_EQ(model.read("w", MOEMESH_GRADIENT), Floats{static_cast<float>(4 + 4 * microbatches)});
}

TEST(Case, P30_few_microbatches) {
  CASE_RANKS(ranks, 4);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 1, 1, 4));
  for (const int32_t schedule : both)
    for (const int32_t microbatches : {1, 2, 3}) few_microbatches(mesh, schedule, microbatches);
}

TEST(Case, P31_last_microbatch) {
  CASE_RANKS(ranks, 4);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 1, 2, 2));
  for (const int32_t stage : {0, 1}) {
    ModelSpec spec;
    spec.shared = {{.name = "w", .extents = {1}}};
    spec.optimizer = sgd(0);
    spec.optimizer->shared_stage = stage;
    const Model model(mesh, spec);
    const Pipe pipe(mesh, model.optimizer(), 1);
    model.begin(3);
    pipe.run({1, 1, 1}, [&](const Action& action) {
      if (action.kind == MOEMESH_ACTION_BACKWARD) {
        Floats dw{static_cast<float>((action.microbatch + 1) * (mesh.here().dp == 0 ? 1 : 10))};
        const auto view = view_of(dw);
        OK(moemesh_gradient_ready(model.parameter("w"), &view, nullptr));
      }
      std::fill_n(floats(action.out), elements(action.out), 0.0F);
      return MOEMESH_OK;
    });
    model.update();
    expect_close(model.read("w", MOEMESH_GRADIENT), {11});
  }
}

// Experts on the second stage only; there the families get their parameters in an order that one rank reverses.
struct OneSidedModel {
  explicit OneSidedModel(const Mesh& mesh) : second(mesh.here().pp == 1) {
    auto params = with_defaults(moemesh_family_params_init);
    params.kind = MOEMESH_SHARED;
    OK(moemesh_family_create(mesh.get(), &params, &shared));
    params.kind = MOEMESH_EXPERT;
    OK(moemesh_family_create(mesh.get(), &params, &expert));
    const bool reversed = mesh.rank() == 3;
    if (second && !reversed) add(expert, "e", 2);
    add(shared, reversed ? "t" : "s", 0);
    add(shared, reversed ? "s" : "t", 0);
    if (second && reversed) add(expert, "e", 2);
    OK(moemesh_family_commit(shared));
    OK(moemesh_family_commit(expert));
    const auto optimizer_params = sgd(0);
    OK(moemesh_optimizer_create(mesh.get(), shared, expert, &optimizer_params, &optimizer));
  }
  ~OneSidedModel() {
    moemesh_optimizer_destroy(&optimizer);
    moemesh_family_destroy(&shared);
    moemesh_family_destroy(&expert);
  }
  static void add(moemesh_family family, const char* name, int64_t experts) {
    auto params = with_defaults(moemesh_parameter_params_init);
    params.name = name;
    params.rank = 1;
    params.extents[0] = 1;
    params.experts = experts;
    moemesh_parameter parameter = nullptr;
    OK(moemesh_parameter_register(family, &params, &parameter));
  }
  static void ready(moemesh_family family, const char* name, const std::vector<int64_t>& shape, float value) {
    moemesh_parameter parameter = nullptr;
    OK(moemesh_parameter_find(family, name, &parameter));
    Floats gradient{value};
    const auto view = view_of(gradient, shape);
    OK(moemesh_gradient_ready(parameter, &view, nullptr));
  }

  bool second;
  moemesh_family shared = nullptr, expert = nullptr;
  moemesh_optimizer optimizer = nullptr;
};

TEST(Case, P32_experts_on_one_stage) {
  CASE_RANKS(ranks, 4);
  const Session session(ranks.comm(), 20);
  const Mesh mesh(session, case_mesh(1, 2, 1, 2));
  const OneSidedModel model(mesh);
  const Pipe pipe(mesh, model.optimizer, 1);
  for (int repeat = 0; repeat < 2; ++repeat) {
    OK(moemesh_step_begin(model.optimizer, nullptr));
    pipe.run({1}, [&](const Action& action) {
      std::fill_n(floats(action.out), elements(action.out), 0.0F);
      if (action.kind == MOEMESH_ACTION_FORWARD) return MOEMESH_OK;
      // Two data shards: the library divides both families' sums by 2. SHARED is summed over both ranks of the stage.
      OneSidedModel::ready(model.shared, "s", {1}, model.second ? 4.0F : 3.0F);
      if (model.second) OneSidedModel::ready(model.expert, "e", {1, 1}, 2.0F * (mesh.rank() == 2 ? 12.0F : 84.0F));
      return MOEMESH_OK;
    });
    auto result = sized<moemesh_update_result>();
    OK(moemesh_optimizer_step(model.optimizer, nullptr, &result));
    EXPECT_EQ(result.norm, 85.0);
  }
}

// ---- a chain of stages

int64_t uneven(int64_t shard, int64_t microbatch) { return (shard * 5 + microbatch * 3) % 8; }  // some are 0

const std::vector<MeshSpec>& staged_meshes() {
  static const std::vector<MeshSpec> meshes{
      {},
      {.pp = 2},
      {.pp = 4},
      {.pp = 8},
      {.pp = 2, .dp = 2},
      {.ep = 2, .pp = 2},
      {.tp = 2, .pp = 2},
      {.ep = 2, .pp = 2, .dp = 2},
      {.pp = 4, .dp = 2, .order = "dp-tp-pp-ep"},
      {.tp = 2, .pp = 4, .order = "pp-tp-ep-dp"},
  };
  return meshes;
}

TEST(Case, P02_rows_between_stages) {
  on_each_mesh(staged_meshes(), [](const Place& place) {
    for (const int32_t schedule : both) {
      Chain chain(place.mesh, 3, {.schedule = schedule});
      for (const int32_t microbatches : {1, 2, 3, 5, 9}) chain.step(microbatches, uneven);
    }
  });
}

TEST(Pipeline, NoMoreMicrobatchesAliveThanStagesBehind) {
  on_each_mesh(staged_meshes(), [](const Place& place) {
    const int64_t behind = place.mesh.spec().pp - place.mesh.here().pp;
    for (const int32_t schedule : both) {
      Chain chain(place.mesh, 2, {.schedule = schedule});
      for (const int32_t microbatches : {1, 3, 10}) {
        chain.step(microbatches, uneven);
        const auto info = chain.pipe().info();
        const int64_t most = schedule == MOEMESH_SCHEDULE_1F1B ? std::min<int64_t>(microbatches, behind) : microbatches;
        EXPECT_EQ(info.peak, most);
        EXPECT_EQ(info.live, 0);
      }
    }
  });
}

// Messages far beyond what a send can leave without its receiver, in both directions between two ranks at once.
TEST(Pipeline, LargeRowsInBothDirections) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({{.pp = 2}, {.pp = 4}}, [](const Place& place) {
    constexpr int64_t width = 1024;
    for (const int32_t schedule : both) {
      Chain chain(place.mesh, width, {.schedule = schedule});
      chain.step(
          4, [](int64_t, int64_t m) { return 1024 + 256 * m; }, false);
    }
  });
}

// ---- what it costs

struct Transfers {
  int64_t count = 0, messages = 0, bytes = 0;
};
Transfers transfers(const std::vector<int64_t>& rows, int64_t row_bytes, bool any) {
  Transfers sum;
  for (const int64_t n : rows) {
    if (!any) continue;
    ++sum.count;
    sum.messages += n > 0 ? 2 : 1;
    sum.bytes += 32 + n * row_bytes;
  }
  return sum;
}

void expect_entry(const std::vector<moemesh_ledger_entry>& ledger, int32_t phase, const Transfers& expected) {
  const auto entry = total(ledger, {MOEMESH_AXIS_PP, 0, phase, MOEMESH_COLLECTIVE_PIPELINE});
  EXPECT_EQ(entry.calls, expected.count);
  EXPECT_EQ(entry.messages, expected.messages);
  EXPECT_EQ(entry.bytes, expected.bytes);
}

TEST(Pipeline, LedgerIsWhatMpiWasHanded) {
  on_each_mesh(staged_meshes(), [](const Place& place) {
    const Mesh& mesh = place.mesh;
    Chain chain(mesh, 3);
    const auto rows = chain.rows_of(5, uneven);
    chain.model().begin(5);
    MPI_Barrier(place.comm);
    mesh.reset_ledger();
    pmpi::reset();
    chain.pipe().run(rows, [&](const Action& action) { return chain.act(action); });
    const auto mpi = pmpi::counts();
    const auto ledger = mesh.ledger();
    const Transfers down = transfers(rows, 12, mesh.here().pp + 1 < mesh.spec().pp);
    const Transfers up = transfers(rows, 12, mesh.here().pp > 0);
    expect_entry(ledger, MOEMESH_PHASE_FORWARD, down);
    expect_entry(ledger, MOEMESH_PHASE_BACKWARD, up);
    EXPECT_EQ(total(ledger).messages, mpi.messages);
    EXPECT_EQ(total(ledger).bytes, mpi.bytes);
    EXPECT_EQ(mpi.collectives + mpi.communicators + mpi.own_messages, 0);
    const auto info = chain.pipe().info();
    EXPECT_EQ(info.sends, down.count + up.count);
    EXPECT_EQ(info.bytes_sent, down.bytes + up.bytes);
    chain.model().end(false);
  });
}

// Buffers are used again: after a while nothing grows any more. (When, depends on how long sends take.)
TEST(Pipeline, SteadyStepsAllocateNothing) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({{.pp = 2}, {.pp = 4}}, [](const Place& place) {
    Chain chain(place.mesh, 16);
    int64_t bytes = -1;
    int same = 0;  // steps since the last growth, of the rank that has the fewest
    for (int step = 0; step < 200 && same < 20; ++step) {
      chain.step(
          6, [](int64_t, int64_t m) { return 20 - m; }, false);
      same = chain.pipe().info().bytes == bytes ? same + 1 : 0;
      bytes = chain.pipe().info().bytes;
      MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, place.comm);
    }
    EXPECT_EQ(same, 20) << bytes;
    const int64_t most = 20 * 16 * 4 * (2 * int64_t{place.mesh.spec().pp} + 8);
    EXPECT_LE(bytes, most);
  });
}

// ---- the rest

TEST(Pipeline, ForwardsAlone) {
  on_each_mesh({{}, {.pp = 2}, {.pp = 4}, {.ep = 2, .pp = 2}}, [](const Place& place) {
    Chain chain(place.mesh, 3);
    const Pipe pipe(place.mesh, nullptr, 3, {.schedule = MOEMESH_SCHEDULE_GPIPE});
    for (int repeat = 0; repeat < 2; ++repeat) {
      int32_t next = 0;
      pipe.run(
          chain.rows_of(4, uneven),
          [&](const Action& action) {
            EXPECT_EQ(action.kind, MOEMESH_ACTION_FORWARD);
            EXPECT_EQ(action.microbatch, next++);
            EXPECT_EQ(pipe.info().live, 0);
            return chain.act(action);
          },
          0);
      EXPECT_EQ(next, 4);
    }
    EXPECT_STATUS(MOEMESH_ERROR_INVALID_STATE, pipe.begin({1}, 1, true));
    chain.step(2, uneven);  // a second pipeline, after the first one's runs
  });
}

TEST(Pipeline, Bfloat16RowsAreTwoBytes) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, {.pp = 2});
  const Pipe pipe(mesh, nullptr, 5, {.dtype = MOEMESH_BFLOAT16});
  pipe.run(
      {3, 0, 7},
      [&](const Action& action) {
        const auto& view = mesh.here().pp == 0 ? action.out : action.in;
        EXPECT_EQ(view.dtype, MOEMESH_BFLOAT16);
        auto* values = static_cast<uint16_t*>(view.data);
        for (int64_t i = 0; i < elements(view); ++i) {
          const auto value = static_cast<uint16_t>(1000 * action.microbatch + i);
          if (mesh.here().pp == 0)
            values[i] = value;
          else
            EXPECT_EQ(values[i], value);
        }
        return MOEMESH_OK;
      },
      0);
  EXPECT_EQ(pipe.info().bytes_sent, mesh.here().pp == 0 ? 3 * 32 + 10 * 10 : 0);
}

TEST(Pipeline, RowsMayBeGivenOnEveryStage) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({{.pp = 2}, {.pp = 4}}, [](const Place& place) {
    Chain chain(place.mesh, 2);
    chain.model().begin(3);
    OK(chain.pipe().begin({2, 0, 5}, 1, true));
    for (Action action = chain.pipe().next(); action.kind != MOEMESH_ACTION_END; action = chain.pipe().next())
      chain.pipe().done(chain.act(action));
    chain.model().update();
  });
}

// The caller's own collectives over the same ranks neither disturb a run nor are disturbed by it.
TEST(Pipeline, CollectivesOverTheSameRanksInBetween) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({{.pp = 2}, {.pp = 4}}, [](const Place& place) {
    Chain chain(place.mesh, 2);
    const auto sum = [&] {
      Floats one{1};
      const auto view = view_of(one);
      OK(moemesh_all_reduce(place.mesh.get(), MOEMESH_AXIS_PP, MOEMESH_SUM, &view));
      EXPECT_EQ(one[0], static_cast<float>(place.mesh.spec().pp));
    };
    chain.step(3, uneven);
    sum();
    chain.model().begin(1);
    OK(chain.pipe().begin(chain.rows_of(1, uneven)));
    sum();  // begun, and nothing sent
    Action action = chain.pipe().next();
    chain.pipe().done(chain.act(action));
    sum();  // one microbatch: every stage has done its forward, and the last one waits for nobody
    for (action = chain.pipe().next(); action.kind != MOEMESH_ACTION_END; action = chain.pipe().next())
      chain.pipe().done(chain.act(action));
    chain.model().update();
  });
}

int32_t act_on(void* user, const Action* action) { return static_cast<Chain*>(user)->act(*action); }

TEST(Pipeline, ExecuteIsTheLoop) {
  on_each_mesh({{}, {.pp = 2}, {.pp = 4}}, [](const Place& place) {
    Chain chain(place.mesh, 2);
    const auto rows = chain.rows_of(3, uneven);
    auto run = with_defaults(moemesh_pipeline_run_init);
    run.microbatches = 3;
    if (place.mesh.here().pp == 0) run.rows = rows.data();
    chain.model().begin(3);
    OK(moemesh_pipeline_execute(chain.pipe().get(), &run, act_on, &chain));
    EXPECT_EQ(chain.pipe().next().kind, MOEMESH_ACTION_END);
    chain.model().update();
    EXPECT_EQ(chain.pipe().next().kind, MOEMESH_ACTION_END);
  });
}

TEST(Pipeline, CreateComparesItsConfiguration) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm(), 20);
  const Mesh mesh(session, {.pp = 2});
  const bool other = mesh.rank() == 1;
  const auto create = [&](const moemesh_pipeline_params& params) {
    moemesh_pipeline pipeline = nullptr;
    const int32_t status = moemesh_pipeline_create(mesh.get(), nullptr, &params, &pipeline);
    moemesh_pipeline_destroy(&pipeline);
    return status;
  };
  auto good = with_defaults(moemesh_pipeline_params_init);
  good.width = 4;
  auto params = good;
  if (other) params.width = 5;
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, create(params));
  params = good;
  if (other) params.dtype = MOEMESH_BFLOAT16;
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, create(params));
  params = good;
  if (other) params.schedule = MOEMESH_SCHEDULE_GPIPE;
  EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, create(params));
  params = good;
  if (other) params.width = 0;
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_ARGUMENT, create(params));
  OK(create(good));
}

}  // namespace
}  // namespace moemesh::test
