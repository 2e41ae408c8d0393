// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Optimizer steps, norms and skips against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "../oracle.hpp"

namespace oracle {
namespace {

// Parameters "p0", "p1", ... with their gradients, without a model.
struct Group {
  std::vector<Array> values;
  std::vector<Array> gradients;

  static std::vector<NamedArray> name(std::vector<Array>* arrays) {
    std::vector<NamedArray> list;
    for (Array& array : *arrays)
      list.push_back({std::string("p").append(std::to_string(list.size())), Family::expert, 0, &array});
    return list;
  }
  UpdateResult update(Optimizer* optimizer, double rate = -1.0) {
    return optimizer->update(name(&values), name(&gradients), rate);
  }
};

double idle_step(double decay, Optimizer* optimizer) {
  Group group{{{1.0}}, {{0.0}}};
  optimizer->config.learning_rate = 0.01;
  optimizer->config.weight_decay = decay;
  optimizer->moment1 = {{0.1}};
  optimizer->moment2 = {{0.01}};
  optimizer->steps = 10;
  group.update(optimizer);
  return group.values[0][0];
}

TEST(Cases, P21IdleExpert) {
  Optimizer plain{{}};
  EXPECT_NEAR(idle_step(0.0, &plain), 0.9986271379, 1e-10);
  EXPECT_NEAR(plain.moment1[0][0], 0.09, 1e-15);
  EXPECT_NEAR(plain.moment2[0][0], 0.00999, 1e-15);
  EXPECT_EQ(plain.steps, 11);
  Optimizer decayed{{}};
  EXPECT_NEAR(idle_step(0.1, &decayed), 0.9976271379, 1e-10);
}

TEST(Cases, P19Norms) {
  OptimizerConfig config;
  config.kind = OptimizerKind::sgd;
  config.learning_rate = 1.0;
  config.max_norm = 6.5;
  Group group{{{0.0}, {0.0}, {0.0}}, {{3.0}, {4.0}, {12.0}}};
  Optimizer optimizer{config};
  const UpdateResult result = group.update(&optimizer);
  EXPECT_EQ(result.norm, 13.0);
  EXPECT_EQ(result.coefficient, 0.5);
  EXPECT_EQ(group.values, (std::vector<Array>{{-1.5}, {-2.0}, {-6.0}}));
  group.gradients[2] = {0.0};
  EXPECT_EQ(gradient_norm(Group::name(&group.gradients)), 5.0);
  EXPECT_EQ(group.update(&optimizer).coefficient, 1.0);
}

TEST(Cases, P23FirstAdamStep) {
  Group group{{{}}, {{}}};
  for (int i = 1; i <= 10; ++i) group.values[0].push_back(i);
  group.gradients = group.values;
  OptimizerConfig config;
  config.learning_rate = 0.1;
  Optimizer optimizer{config};
  EXPECT_NEAR(group.update(&optimizer).norm, 19.621417, 1e-6);
  for (int i = 1; i <= 10; ++i) EXPECT_NEAR(group.values[0][i - 1], i - 0.1, 1e-8);
}

// m = .05, v = .00025: a step of rate*(.5/.5); then m = .02, v = .00031225, divided by .19 and .001999.
TEST(Optimizer, TwoAdamSteps) {
  OptimizerConfig config;
  config.learning_rate = 0.1;
  config.epsilon = 1e-3;
  config.weight_decay = 0.01;
  Group group{{{1.0}}, {{0.5}}};
  Optimizer optimizer{config};
  group.update(&optimizer);
  const double first = 1.0 - 0.1 * 0.5 / 0.501 - 0.001;
  EXPECT_NEAR(group.values[0][0], first, 1e-14);
  group.gradients[0][0] = -0.25;
  group.update(&optimizer);
  EXPECT_NEAR(optimizer.moment1[0][0], 0.02, 1e-15);
  EXPECT_NEAR(optimizer.moment2[0][0], 0.00031225, 1e-15);
  const double direction = (0.02 / 0.19) / (std::sqrt(0.00031225 / 0.001999) + 1e-3);
  EXPECT_NEAR(group.values[0][0], first - 0.1 * direction - 0.001 * first, 1e-13);
}

// m = .5, p = 1 - .05 - .001; then m = .45 - .25 = .2, p -= .02 + .000949.
TEST(Optimizer, TwoSgdSteps) {
  OptimizerConfig config;
  config.kind = OptimizerKind::sgd;
  config.learning_rate = 0.1;
  config.momentum = 0.9;
  config.weight_decay = 0.01;
  Group group{{{1.0}}, {{0.5}}};
  Optimizer optimizer{config};
  group.update(&optimizer);
  EXPECT_NEAR(group.values[0][0], 0.949, 1e-15);
  group.gradients[0][0] = -0.25;
  group.update(&optimizer);
  EXPECT_NEAR(optimizer.moment1[0][0], 0.2, 1e-15);
  EXPECT_NEAR(group.values[0][0], 0.928051, 1e-15);
}

TEST(Optimizer, ScalesAndTheStepsOwnRate) {
  OptimizerConfig config;
  config.kind = OptimizerKind::sgd;
  config.learning_rate = 100.0;
  config.weight_decay = 0.5;
  config.scales = {{"p1", {0.0, 1.0}}, {"p2", {1.0, 3.0}}};
  Group group{{{1.0}, {1.0}, {1.0}}, {{1.0}, {1.0}, {1.0}}};
  Optimizer optimizer{config};
  group.update(&optimizer, 0.1);
  EXPECT_NEAR(group.values[0][0], 1 - 0.1 - 0.05, 1e-15);
  EXPECT_NEAR(group.values[1][0], 1 - 0.1, 1e-15);
  EXPECT_NEAR(group.values[2][0], 1 - 0.3 - 0.15, 1e-15);
}

TEST(Optimizer, NonfiniteGradientsSkip) {
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Group group{{{1.0}, {2.0}}, {{0.5}, {0.5}}};
    OptimizerConfig config;
    config.max_norm = 0.1;
    config.weight_decay = 0.1;
    Optimizer optimizer{config};
    group.update(&optimizer);
    const Group before = group;
    const auto moments = optimizer.moment1;
    group.gradients[1][0] = bad;
    EXPECT_TRUE(group.update(&optimizer).skipped);
    EXPECT_EQ(group.values, before.values);
    EXPECT_EQ(optimizer.moment1, moments);
    EXPECT_EQ(optimizer.steps, 1);
    EXPECT_EQ(optimizer.skips, 1);
    group.gradients[1][0] = 0.5;
    EXPECT_FALSE(group.update(&optimizer).skipped);
    EXPECT_EQ(optimizer.steps, 2);
  }
}

TEST(Optimizer, ListsMustGoTogether) {
  Group group{{{1.0}, {2.0}}, {{0.5}}};
  Optimizer optimizer{{}};
  EXPECT_THROW(group.update(&optimizer), std::invalid_argument);
}

}  // namespace
}  // namespace oracle
