// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "impl/base/error.hpp"
#include "world.hpp"

namespace moemesh::test {
namespace {

constexpr Purpose agreement{};

TEST(Agreement, SumsAndMaxima) {
  const int64_t rank = world().rank(), size = world().size();
  std::vector<int64_t> sum{rank, 1}, most{rank, -rank};
  world().agree_sum(std::span<int64_t>(sum), agreement);
  EXPECT_EQ(sum, (std::vector<int64_t>{size * (size - 1) / 2, size}));
  world().agree_max(most, agreement);
  EXPECT_EQ(most, (std::vector<int64_t>{size - 1, 0}));
}

TEST(Agreement, DoublesHaveTheSameBitsEverywhere) {
  std::vector<double> values{std::sin(world().rank() + 1.0) * 1e10, std::exp(world().rank())};
  world().agree_sum(std::span<double>(values), agreement);
  std::vector<double> all(values.size() * world().size());
  world().all_gather(values.data(), std::ssize(values), all.data(), agreement);
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(std::bit_cast<int64_t>(all[i]), std::bit_cast<int64_t>(values[i % values.size()]));
}

// Status and text of what agree_on_configuration throws; {0, ""} if nothing.
std::pair<int32_t, std::string> outcome(const char* call, const std::vector<Field>& fields,
                                        int32_t error = MOEMESH_OK) {
  try {
    agree_on_configuration(world(), call, fields, error, "my own text");
  } catch (const Error& thrown) {
    return {thrown.status(), thrown.what()};
  }
  return {MOEMESH_OK, ""};
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Agreement, ConfigurationsThatAgree) {
  const std::vector<Field> fields(70, Field{"x", 5});
  EXPECT_EQ(outcome("create", fields).first, MOEMESH_OK);
  EXPECT_EQ(outcome("create", {}).first, MOEMESH_OK);
}

TEST(Agreement, NamesTheFieldThatDiffers) {
  const int64_t rank = world().rank(), size = world().size();
  for (int64_t odd = 0; odd < size && size > 1; ++odd) {
    const auto [status, text] = outcome("mesh_create", {{"tp", 2}, {"ep", rank == odd ? -7 : 4}, {"pp", rank}});
    EXPECT_EQ(status, MOEMESH_ERROR_MISMATCH);
    EXPECT_TRUE(says(text, "mesh_create: ep differs between the ranks: lowest -7, highest 4")) << text;
    EXPECT_TRUE(says(text, "rank " + std::to_string(rank) + " has " + (rank == odd ? "-7" : "4"))) << text;
  }
}

TEST(Agreement, OneRanksErrorReachesAll) {
  const int64_t rank = world().rank(), size = world().size();
  for (int64_t bad = 0; bad < size; ++bad)
    for (const int32_t code :
         {static_cast<int32_t>(MOEMESH_ERROR_MESH_SIZE), static_cast<int32_t>(MOEMESH_ERROR_INTERNAL)}) {
      const auto [status, text] = outcome("create", {{"x", rank}}, rank == bad ? code : MOEMESH_OK);
      EXPECT_EQ(status, code);
      if (rank == bad)
        EXPECT_EQ(text, "my own text");
      else
        EXPECT_TRUE(says(text, "create: rank " + std::to_string(bad) + " failed with MOEMESH_ERROR_")) << text;
    }
}

TEST(Agreement, TheLargestStatusIsReported) {
  if (world().size() < 3) GTEST_SKIP();
  const int32_t mine = world().rank() == 0 ? 0 : world().rank() == 1 ? MOEMESH_ERROR_NOT_FOUND : MOEMESH_ERROR_MISMATCH;
  const auto [status, text] = outcome("create", {}, mine);
  if (mine)
    EXPECT_EQ(status, mine);
  else
    EXPECT_TRUE(status == MOEMESH_ERROR_NOT_FOUND && says(text, "rank 1")) << text;
}

TEST(Agreement, RanksInDifferentCalls) {
  if (world().size() == 1) GTEST_SKIP();
  const bool first = world().rank() == 0;
  EXPECT_EQ(outcome(first ? "layer_create" : "family_create", {{"x", 1}}).first, MOEMESH_ERROR_MISMATCH);
  EXPECT_EQ(outcome("create", std::vector<Field>(first ? 1 : 9, Field{"x", 1})).first, MOEMESH_ERROR_MISMATCH);
  EXPECT_EQ(outcome("create", {{"x", 1}}).first, MOEMESH_OK);
}

}  // namespace
}  // namespace moemesh::test
