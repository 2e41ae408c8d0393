// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/buckets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace moemesh {
namespace {

TEST(Buckets, NumbersInNamesAreNumbers) {
  std::vector<std::string> names{"b10.w", "b2.w", "b2", "a", "b02.w", "b2.x", "b010.w", "b1.w10", "b1.w9", "", "b"};
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return lies_before({.name = a}, {.name = b});
  });
  EXPECT_EQ(names, (std::vector<std::string>{"", "a", "b", "b1.w9", "b1.w10", "b2", "b02.w", "b2.w", "b2.x", "b010.w",
                                             "b10.w"}));
}

TEST(Buckets, KindsComeOneAfterTheOther) {
  EXPECT_TRUE(lies_before({"z", BucketKind::plain}, {"a", BucketKind::partial}));
  EXPECT_TRUE(lies_before({"z", BucketKind::partial}, {"a", BucketKind::tied}));
  EXPECT_FALSE(lies_before({"a", BucketKind::tied}, {"z", BucketKind::plain}));
}

TEST(Buckets, AreClosedByTheParameterThatReachesTheWeight) {
  const std::vector<BucketItem> items{{"a", BucketKind::plain, 3, 4}, {"b", BucketKind::plain, 5, 6},
                                      {"c", BucketKind::plain, 7, 1}, {"d", BucketKind::plain, 0, 20},
                                      {"e", BucketKind::partial, 2, 2}, {"f", BucketKind::tied, 9, 9}};
  const Buckets buckets = cut(items, 10, 4);
  EXPECT_EQ(buckets.of_item, (std::vector<size_t>{0, 0, 1, 1, 2, 3}));
  ASSERT_EQ(buckets.shards.size(), 4U);
  const std::vector<int64_t> firsts{0, 8, 15, 17}, sizes{8, 7, 2, 9};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(buckets.shards[i].first, firsts[i]);
    EXPECT_EQ(buckets.shards[i].size, sizes[i]);
    EXPECT_EQ(buckets.shards[i].owners, 4);
  }
  EXPECT_EQ(cut(items, 1, 4).shards.size(), 6U);
  EXPECT_EQ(cut(items, 1'000'000, 4).shards.size(), 3U);
  EXPECT_EQ(cut({}, 10, 4).shards.size(), 1U);
}

}  // namespace
}  // namespace moemesh
