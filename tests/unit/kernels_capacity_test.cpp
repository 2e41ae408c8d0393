// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/capacity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <tuple>

#include "impl/moe/capacity.hpp"
#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::dev;

using Chosen = std::vector<int32_t>;
using Gates = std::vector<float>;

struct Limited {
  Chosen kept;
  Gates gates;
  int64_t dropped = 0;
};

Limited limited(const Capacity& capacity, const Chosen& chosen, const Gates& gates) {
  const auto n = static_cast<int64_t>(chosen.size());
  Limited result{Chosen(chosen.size(), -77), gates, 0};
  std::vector<int64_t> workspace(static_cast<size_t>(limit_workspace(n, capacity.experts)) + 1, -99);
  result.dropped = limit_rows(capacity, n, dev(chosen), dev(result.gates), dev(result.kept), dev(workspace));
  EXPECT_EQ(workspace.back(), -99) << "more scratch was used than asked for";
  return result;
}

// The rule, by sorting each expert's rows.
Limited expected(const Capacity& capacity, const Chosen& chosen, const Gates& gates) {
  Limited result{chosen, gates, 0};
  for (int32_t e = 0; e < capacity.experts; ++e) {
    std::vector<size_t> rows;
    for (size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i] == e) rows.push_back(i);
    if (capacity.drop == Drop::by_gate)
      std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return gates[a] > gates[b]; });
    for (size_t i = static_cast<size_t>(capacity.slots); i < rows.size(); ++i) {
      result.kept[rows[i]] = -1;
      result.gates[rows[i]] = 0;
      ++result.dropped;
    }
  }
  return result;
}

void expect_equal(const Limited& found, const Limited& want) {
  EXPECT_EQ(found.kept, want.kept);
  EXPECT_EQ(found.gates, want.gates);
  EXPECT_EQ(found.dropped, want.dropped);
}

TEST(KernelsCapacity, ByPositionKeepsTheFirst) {
  expect_equal(limited({2, 2, Drop::by_position}, {0, 1, 0, -1, 0, 1}, {.1F, .2F, .3F, 0, .5F, .6F}),
               {{0, 1, 0, -1, -1, 1}, {.1F, .2F, .3F, 0, 0, .6F}, 1});
}

TEST(KernelsCapacity, ByGateKeepsTheLargestAndOfEqualOnesTheEarlier) {
  expect_equal(limited({2, 2, Drop::by_gate}, {0, 1, 0, -1, 0, 1, 0}, {.1F, .2F, .3F, 0, .3F, .6F, .3F}),
               {{-1, 1, 0, -1, 0, 1, -1}, {0, .2F, .3F, 0, .3F, .6F, 0}, 2});
}

// Negative gates (of a negative scale), both zeros, infinity.
TEST(KernelsCapacity, ByGateOrdersEverySign) {
  const Gates gates{-1, -2, -0.0F, 0.0F, test::kInf, 3, -0.5F};
  for (int64_t slots = 1; slots <= 7; ++slots) {
    const Capacity capacity{1, slots, Drop::by_gate};
    expect_equal(limited(capacity, Chosen(7, 0), gates), expected(capacity, Chosen(7, 0), gates));
  }
}

// Tokens of k distinct experts each, some without any; gates of few values, so that ties abound.
TEST(KernelsCapacity, AgreesWithSortingEachExpert) {
  std::mt19937 engine(5);
  for (const auto& [tokens, experts, k] :
       std::vector<std::tuple<int, int, int>>{{1, 1, 1}, {40, 7, 3}, {3000, 16, 4}}) {
    Chosen chosen;
    Gates gates;
    for (int t = 0; t < tokens; ++t) {
      std::vector<int32_t> order(static_cast<size_t>(experts));
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), engine);
      const bool none = engine() % 8 == 0;
      for (int j = 0; j < k; ++j) {
        chosen.push_back(none ? -1 : order[static_cast<size_t>(j)]);
        gates.push_back(none ? 0.0F : static_cast<float>(1 + engine() % 50) / 64);
      }
    }
    for (const auto drop : {Drop::by_position, Drop::by_gate})
      for (const int64_t slots : {1, 5, 400, 100000}) {
        const Capacity capacity{experts, slots, drop};
        expect_equal(limited(capacity, chosen, gates), expected(capacity, chosen, gates));
      }
  }
}

TEST(KernelsCapacity, NoRows) { expect_equal(limited({3, 1, Drop::by_gate}, {}, {}), {{}, {}, 0}); }

}  // namespace
}  // namespace moemesh::kernels

namespace moemesh {
namespace {

// P10's numbers, and sizes that no 64-bit product holds.
TEST(Case, P10_slots) {
  const auto slots = [](double factor, int32_t k, int64_t tokens, int64_t experts) {
    return slots_of(ten_thousandths(factor), k, tokens, experts);
  };
  EXPECT_EQ(slots(1.0, 1, 10, 4), 3);
  EXPECT_EQ(slots(1.0, 2, 7, 4), 4);
  EXPECT_EQ(slots(1.25, 2, 9, 4), 6);
  EXPECT_EQ(slots(1.1, 2, 50, 2), 55);
  EXPECT_EQ(slots(static_cast<double>(1.1F), 2, 50, 2), 55);
  EXPECT_EQ(slots(2.5, 2, 6, 4), 8);
  EXPECT_EQ(slots(1.0, 1, 3, 8), 1);
  EXPECT_EQ(slots(1.0, 1, 0, 8), 0);
  EXPECT_EQ(slots(1e12, 1000, int64_t{1} << 40, 1), INT64_MAX);
  EXPECT_EQ(slots(1e12, 1, 1000000, 1), 1000000000000000000);
  EXPECT_EQ(slots(1e-4, 1, int64_t{1} << 40, INT32_MAX), 1);
}

TEST(Capacity, WhatIsNoFactor) {
  for (const double factor : {0.0, -1.0, 4.9e-5, 1.01e12, 1e300, HUGE_VAL, -HUGE_VAL, std::nan("")})
    EXPECT_EQ(ten_thousandths(factor), 0) << factor;
  EXPECT_EQ(ten_thousandths(5e-5), 1);
}

}  // namespace
}  // namespace moemesh
