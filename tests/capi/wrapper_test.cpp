// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// moemesh.hpp: who destroys what and when, what is thrown, and that each method calls what its name says.
#include "moemesh.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "support.hpp"

namespace capi_test {
namespace {

static_assert(std::is_nothrow_move_constructible_v<moemesh::mesh> && std::is_nothrow_move_assignable_v<moemesh::tape>);
static_assert(!std::is_copy_constructible_v<moemesh::context> && !std::is_copy_assignable_v<moemesh::layer>);
static_assert(!std::is_copy_constructible_v<moemesh::values> && std::is_copy_constructible_v<moemesh::parameter>);
static_assert(sizeof(moemesh::optimizer) == sizeof(moemesh_optimizer));

// The status of what `body` throws; OK if nothing.
template <class F>
int32_t thrown(F&& body) {
  try {
    body();
    return MOEMESH_OK;
  } catch (const moemesh::error& error) {
    EXPECT_EQ(std::string(error.what()).find(error.name()), 0u) << error.what();
    return error.status();
  }
}

bool alive(moemesh_context context) {
  auto info = moemesh::sized<moemesh_context_info>();
  return moemesh_context_get_info(context, &info) == MOEMESH_OK;
}

// One rank: a layer of two experts, one parameter of the caller's own.
struct Job {
  moemesh::context context = moemesh::context::alone();
  moemesh::mesh mesh{context, moemesh::params<moemesh_mesh_params>()};
  moemesh::family shared{mesh, MOEMESH_SHARED}, expert{mesh, MOEMESH_EXPERT, MOEMESH_FLOAT32, 7};
  moemesh::parameter own = shared.add(own_params());
  moemesh::layer layer{mesh, shared, expert, layer_params()};
  moemesh::optimizer optimizer = commit();
  std::vector<float> x = std::vector<float>(12, 0.5f), y = std::vector<float>(12), dy = x, dx = y;

  static moemesh_parameter_params own_params() {
    auto p = moemesh::params<moemesh_parameter_params>();
    p.name = "own";
    p.rank = 1;
    p.extents[0] = 3;
    p.init_value = 2;
    return p;
  }
  static moemesh_layer_params layer_params() {
    auto p = moemesh::params<moemesh_layer_params>();
    p.name = "moe";
    p.hidden = 4;
    p.ffn = 4;
    p.experts = 2;
    p.top_k = 1;
    return p;
  }
  moemesh::optimizer commit() const {
    shared.commit();
    expert.commit();
    return {mesh, shared, expert, moemesh::params<moemesh_optimizer_params>()};
  }
  moemesh::tape forward() { return layer.forward(moemesh::view(x, 3, 4), moemesh::view(y, 3, 4)); }
  void backward(moemesh::tape& tape) { tape.backward(moemesh::view(dy, 3, 4), moemesh::view(dx, 3, 4)); }
};

TEST(Wrapper, MovesHandOver) {
  auto first = moemesh::context::alone();
  moemesh_context handle = first.get();
  moemesh::context second(std::move(first));
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
  EXPECT_EQ(second.get(), handle);
  moemesh::context third;
  EXPECT_FALSE(third);
  third = std::move(second);
  EXPECT_EQ(third.get(), handle);
  auto& same = third;
  third = std::move(same);
  EXPECT_EQ(third.get(), handle);
  EXPECT_TRUE(alive(handle));
  EXPECT_EQ(third.size(), 1);
}

TEST(Wrapper, WhatIsReplacedOrLeftIsDestroyed) {
  moemesh_context replaced = nullptr, left = nullptr;
  {
    auto context = moemesh::context::alone();
    replaced = context.get();
    context = moemesh::context::alone();
    left = context.get();
    EXPECT_FALSE(alive(replaced));
    EXPECT_TRUE(alive(left));
  }
  EXPECT_FALSE(alive(left));
  auto context = moemesh::context::alone();
  left = context.get();
  context.reset();
  EXPECT_FALSE(alive(left));
  context.reset(moemesh::context::alone().release());
  EXPECT_TRUE(alive(context.get()));
}

TEST(Wrapper, ErrorsTellStatusAndText) {
  try {
    auto p = moemesh::params<moemesh_mesh_params>();
    p.tp = 3;
    const auto context = moemesh::context::alone();
    const moemesh::mesh mesh(context, p);
    FAIL() << "a mesh of three ranks on one";
  } catch (const moemesh::error& error) {
    EXPECT_EQ(error.status(), MOEMESH_ERROR_MESH_SIZE);
    EXPECT_STREQ(error.name(), "MOEMESH_ERROR_MESH_SIZE");
    EXPECT_TRUE(error.usable());
    EXPECT_EQ(std::string(error.what()), moemesh::last_error());
    EXPECT_NE(std::string(error.what()).find("3"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(moemesh::error(MOEMESH_ERROR_TIMEOUT, "").usable());
  EXPECT_EQ(thrown([] { moemesh::context().info(); }), MOEMESH_ERROR_INVALID_HANDLE);
  EXPECT_EQ(thrown([] { moemesh::parameter().acquire(); }), MOEMESH_ERROR_INVALID_HANDLE);
}

// An exception in the middle of a step unwinds all handles: nothing is left alive, and a new job works.
TEST(Wrapper, AnExceptionUnwinds) {
  moemesh_context context = nullptr;
  try {
    Job job;
    context = job.context.get();
    job.optimizer.begin();
    const auto tape = job.forward();
    throw std::runtime_error("the program's own");
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the program's own");
  }
  EXPECT_FALSE(alive(context));
  Job job;
  job.optimizer.begin();
  auto tape = job.forward();
  job.backward(tape);
  EXPECT_EQ(job.optimizer.step().steps, 1);
}

TEST(Wrapper, Views) {
  std::vector<float> numbers(12);
  const std::vector<double> constant{1, 2, 3, 4};
  std::array<int64_t, 3> few{};
  float plain[6] = {};
  uint16_t words[8] = {};
  const auto matrix = moemesh::view(numbers, 3, 4);
  EXPECT_EQ(matrix.rank, 2);
  EXPECT_EQ(matrix.extents[1], 4);
  EXPECT_EQ(matrix.strides[0], 4);
  EXPECT_EQ(matrix.dtype, MOEMESH_FLOAT32);
  EXPECT_EQ(matrix.data, numbers.data());
  EXPECT_EQ(moemesh::view(constant).dtype, MOEMESH_FLOAT64);
  EXPECT_EQ(moemesh::view(few).extents[0], 3);
  EXPECT_EQ(moemesh::view(few).dtype, MOEMESH_INT64);
  EXPECT_EQ(moemesh::view(plain).extents[0], 6);
  EXPECT_EQ(moemesh::view(plain, 2, 3).extents[0], 2);
  EXPECT_EQ(moemesh::view(&plain[1], 5).data, &plain[1]);
  EXPECT_EQ(moemesh::view_of(MOEMESH_BFLOAT16, words, 2, 4).dtype, MOEMESH_BFLOAT16);
  EXPECT_EQ(moemesh::dtype_of<const int32_t>(), MOEMESH_INT32);
  EXPECT_EQ(moemesh::dtype_of<uint8_t>(), MOEMESH_UINT8);
  std::vector<double> copied(4);
  moemesh::copy(moemesh::view(constant), moemesh::view(copied));
  EXPECT_EQ(copied, constant);
  EXPECT_EQ(thrown([&] { moemesh::view(numbers, -1, 4); }), MOEMESH_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(thrown([&] { moemesh::view(numbers, 3, 5); }), MOEMESH_ERROR_INVALID_ARGUMENT) << "15 of 12 elements";
}

TEST(Wrapper, TapesAreConsumed) {
  Job job;
  job.optimizer.begin();
  auto tape = job.forward();
  ASSERT_TRUE(tape);
  EXPECT_GT(tape.bytes().total, 0);
  std::vector<int32_t> experts(3);
  std::vector<float> gates(3);
  tape.routing(moemesh::view(experts, 3, 1), moemesh::view(gates, 3, 1));
  EXPECT_EQ(gates[2], 1.0f) << "one expert a token, renormalized";
  job.backward(tape);
  EXPECT_FALSE(tape);
  EXPECT_EQ(thrown([&] { job.backward(tape); }), MOEMESH_ERROR_INVALID_HANDLE);
  job.optimizer.end(false);
  auto p = moemesh::params<moemesh_forward_params>();
  const auto x = moemesh::view(job.x, 3, 4), y = moemesh::view(job.y, 3, 4);
  p.x = &x;
  p.y = &y;
  p.training = 0;
  EXPECT_FALSE(job.layer.forward(p)) << "no tape without training";
}

TEST(Wrapper, ParametersAndOptimizer) {
  Job job;
  std::vector<float> gradient{1, 2, 2}, read(3);
  EXPECT_EQ(job.own.get(), job.shared.find("own").get());
  EXPECT_EQ(thrown([&] { job.shared.find("nobody"); }), MOEMESH_ERROR_NOT_FOUND);
  EXPECT_EQ(job.own.info().elements, 3);
  EXPECT_EQ(element(job.own.acquire().view(), 2), 2.0f);
  job.optimizer.begin();
  job.own.ready(moemesh::view(gradient));
  EXPECT_EQ(element(job.own.gradient(), 1), 2.0f);
  const auto result = job.optimizer.step(0.25);
  EXPECT_DOUBLE_EQ(result.norm, 3.0);
  job.own.read(MOEMESH_VALUE, moemesh::view(read));
  EXPECT_NEAR(read[0], 1.75, 1e-5) << "the first step of AdamW is the learning rate";
  job.own.write(MOEMESH_VALUE, moemesh::view(gradient));
  job.shared.changed();
  job.own.read(MOEMESH_MASTER, moemesh::view(read));
  EXPECT_EQ(read, gradient);
  EXPECT_EQ(job.optimizer.counters().steps, 1);
  auto counters = moemesh::sized<moemesh_optimizer_counters>();
  counters.steps = 5;
  job.optimizer.set_counters(counters);
  EXPECT_EQ(job.optimizer.counters().steps, 5);
  EXPECT_EQ(job.optimizer.bytes(MOEMESH_SHARED).elements, 3 + 2 * 4);
}

TEST(Wrapper, MeshAndCollectives) {
  Job job;
  std::vector<double> one{3}, other{0};
  job.mesh.all_reduce(moemesh::view(one));
  job.mesh.all_gather(moemesh::view(one), moemesh::view(other));
  EXPECT_EQ(other[0], 3.0);
  job.mesh.reduce_scatter(moemesh::view(one), moemesh::view(other));
  job.mesh.broadcast(moemesh::view(one));
  EXPECT_TRUE(job.mesh.ledger().empty()) << "groups of one rank";
  auto p = moemesh::params<moemesh_mesh_params>();
  p.tp = p.ep = p.dp = 8;
  const auto plan = moemesh::mesh::plan(512, p);
  EXPECT_EQ(plan.group(MOEMESH_GROUP_SHARED_GRADIENT, 0).size, 64);
  EXPECT_EQ(plan.coordinates(511).dp, 7);
  EXPECT_EQ(plan.experts(64, 8), std::make_pair(int64_t{8}, int64_t{8}));
  moemesh::bill bill(plan, moemesh::params<moemesh_bill_params>());
  bill.add(0, MOEMESH_SHARED, Job::own_params());
  EXPECT_FALSE(bill.entries(0).empty());
}

class WrapperPipeline : public testing::Test {
 protected:
  WrapperPipeline() {
    auto p = moemesh::params<moemesh_pipeline_params>();
    p.width = 4;
    pipeline = moemesh::pipeline(job.mesh, job.optimizer, p);
    run.rows = rows.data();
    run.microbatches = step.microbatches = 2;
  }

  Job job;
  moemesh::pipeline pipeline;
  std::vector<int64_t> rows{3, 3};
  moemesh_pipeline_run run = moemesh::params<moemesh_pipeline_run>();
  moemesh_step_params step = moemesh::params<moemesh_step_params>();
};

TEST_F(WrapperPipeline, ExecutesEveryAction) {
  job.optimizer.begin(step);
  std::string order;
  const auto failure = pipeline.execute(run, [&](const moemesh_pipeline_action& action) {
    order += action.kind == MOEMESH_ACTION_FORWARD ? "F" : "B";
    order += std::to_string(action.microbatch);
  });
  EXPECT_EQ(failure, nullptr);
  EXPECT_EQ(order, "F0B0F1B1");
  EXPECT_EQ(job.optimizer.step().steps, 1);
  EXPECT_EQ(pipeline.info().live, 0);
}

TEST_F(WrapperPipeline, TheFirstExceptionIsHandedBackAndTheStepIsDropped) {
  job.optimizer.begin(step);
  int actions = 0;
  const auto failure = pipeline.execute(run, [&](const moemesh_pipeline_action& action) {
    ++actions;
    if (action.kind == MOEMESH_ACTION_FORWARD) throw std::runtime_error("forward " + std::to_string(action.microbatch));
  });
  ASSERT_NE(failure, nullptr);
  EXPECT_GE(actions, 2);
  EXPECT_THROW(
      try { std::rethrow_exception(failure); } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "forward 0");
        throw;
      },
      std::runtime_error);
  EXPECT_EQ(thrown([&] { job.optimizer.step(); }), MOEMESH_ERROR_STEP_FAILED);
  job.optimizer.begin(step);
  pipeline.begin(run);
  for (auto action = pipeline.next(); action.kind != MOEMESH_ACTION_END; action = pipeline.next()) pipeline.done();
  EXPECT_EQ(job.optimizer.step().steps, 1) << "the next step is a good one";
}

TEST_F(WrapperPipeline, WhatIsWrongBeforeTheFirstActionIsThrown) {
  run.microbatches = 0;
  EXPECT_EQ(thrown([&] { (void)pipeline.execute(run, [](const moemesh_pipeline_action&) {}); }),
            MOEMESH_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace capi_test
