// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/permute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::dev;

struct Sorted {
  std::vector<int64_t> position, offsets;
};

Sorted sorted(const std::vector<int32_t>& key, int64_t buckets) {
  const int64_t n = static_cast<int64_t>(key.size());
  Sorted s{std::vector<int64_t>(n, -77), std::vector<int64_t>(buckets + 1, -77)};
  std::vector<int64_t> workspace(sort_workspace(n, buckets) + 1, -77);
  stable_sort(n, dev(key), buckets, dev(s.position), dev(s.offsets), dev(workspace));
  EXPECT_EQ(workspace.back(), -77);
  return s;
}

Sorted expected_sort(const std::vector<int32_t>& key, int64_t buckets) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i] >= 0) order.push_back(static_cast<int64_t>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key[a] < key[b]; });
  Sorted s{std::vector<int64_t>(key.size(), -1), std::vector<int64_t>(buckets + 1, 0)};
  for (size_t p = 0; p < order.size(); ++p) s.position[order[p]] = static_cast<int64_t>(p);
  for (int32_t k : key) {
    if (k >= 0) ++s.offsets[k + 1];
  }
  std::partial_sum(s.offsets.begin(), s.offsets.end(), s.offsets.begin());
  return s;
}

// A stable sort has one right answer, so equality with the standard one on sizes of many blocks shows that neither blocks
// nor threads matter.
TEST(KernelsPermute, SortIsTheStableSort) {
  for (const auto& [n, buckets] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 3}, {0, 0}, {1, 1}, {7, 3}, {1023, 2}, {1024, 5}, {1025, 5}, {20000, 64}, {5000, 3000}, {9000, 1}}) {
    std::vector<int32_t> key(n);
    std::mt19937 engine(static_cast<uint32_t>(n + buckets));
    for (auto& k : key) k = static_cast<int32_t>(engine() % (buckets + 1)) - 1;
    const Sorted got = sorted(key, buckets), want = expected_sort(key, buckets);
    EXPECT_EQ(got.position, want.position) << n << " " << buckets;
    EXPECT_EQ(got.offsets, want.offsets) << n << " " << buckets;
  }
}

TEST(KernelsPermute, SortOfOneBucketAndOfNothingKept) {
  EXPECT_EQ(sorted(std::vector<int32_t>(3000, 2), 4).offsets, (std::vector<int64_t>{0, 0, 0, 3000, 3000}));
  const Sorted none = sorted(std::vector<int32_t>(5, -1), 2);
  EXPECT_EQ(none.offsets, (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(none.position, std::vector<int64_t>(5, -1));
}

TEST(KernelsPermute, ExclusiveSum) {
  for (int64_t n : {0, 1, 2, 5000}) {
    std::vector<int32_t> values(n);
    std::vector<int64_t> sums(n + 1, -77), want(n + 1, 0);
    for (int64_t i = 0; i < n; ++i) {
      values[i] = static_cast<int32_t>(1 << 30) - static_cast<int32_t>(i);  // the sums need 64 bits
      want[i + 1] = want[i] + values[i];
    }
    exclusive_sum(n, dev(values), dev(sums));
    EXPECT_EQ(sums, want);
  }
}

// The whole way from a decision to rows and back, checked against what each step means rather than how it is done.
class KernelsDispatch : public testing::TestWithParam<int> {
 protected:
  static constexpr int64_t kTokens = 300, kExperts = 10, kDestinations = 4;
  int32_t k() const { return GetParam(); }
  int64_t n() const { return kTokens * k(); }

  void SetUp() override {
    owner = {0, 0, 0, 1, 1, 1, 2, 2, 3, 3};
    std::mt19937 engine(5);
    std::vector<int32_t> experts(kExperts);
    std::iota(experts.begin(), experts.end(), 0);
    for (int64_t t = 0; t < kTokens; ++t) {
      std::shuffle(experts.begin(), experts.end(), engine);
      for (int32_t j = 0; j < k(); ++j) {
        chosen.push_back(t % 7 == 3 ? -1 : experts[j]);
        gates.push_back(static_cast<float>(t * k() + j) + 0.5f);
      }
    }
    send();
  }

  void send() {
    destination.assign(n(), -77);
    copy_destinations(kTokens, k(), dev(chosen), dev(owner), dev(destination));
    const Sorted s = sorted(destination, kDestinations);
    copy = s.position;
    copies = s.offsets.back();
    copy_token.assign(copies, -77);
    copy_rows.assign(copies, -77);
    describe_copies(kTokens, k(), dev(chosen), dev(owner), dev(copy), dev(copy_token), dev(copy_rows));
    first_tag.assign(copies + 1, -77);
    exclusive_sum(copies, dev(copy_rows), dev(first_tag));
    tags.assign(first_tag.back(), RowTag{-77, test::kNan});
    slot.assign(first_tag.back(), -77);
    write_tags(kTokens, k(), dev(chosen), dev(gates), dev(owner), dev(copy), dev(first_tag), dev(tags), dev(slot));
  }

  std::vector<int32_t> owner, chosen, destination, copy_token, copy_rows, slot;
  std::vector<float> gates;
  std::vector<int64_t> copy, first_tag;
  std::vector<RowTag> tags;
  int64_t copies = 0;
};

TEST_P(KernelsDispatch, OneCopyForEachTokenAndDestination) {
  std::map<std::pair<int32_t, int64_t>, std::vector<int64_t>> want;  // (destination, token) -> its assignments in order
  for (int64_t i = 0; i < n(); ++i) {
    if (chosen[i] >= 0) want[{owner[chosen[i]], i / k()}].push_back(i);
  }
  ASSERT_EQ(copies, static_cast<int64_t>(want.size()));
  int64_t c = 0, i = 0;
  for (const auto& [where, assignments] : want) {  // in order of destination, then token
    EXPECT_EQ(copy_token[c], where.second);
    EXPECT_EQ(copy_rows[c], static_cast<int32_t>(assignments.size()));
    EXPECT_EQ(first_tag[c], i);
    for (int64_t a : assignments) {
      const bool is_last = a == assignments.back();
      EXPECT_EQ(destination[a], a == assignments.front() ? where.first : -1);
      EXPECT_EQ(slot[i], a);
      EXPECT_EQ(tags[i].gate, gates[a]);
      EXPECT_EQ(tags[i].expert, is_last ? ~chosen[a] : chosen[a]);
      ++i;
    }
    ++c;
  }
  EXPECT_EQ(i, static_cast<int64_t>(tags.size()));
}

// All tags are read as if one rank owned experts 3..7.
TEST_P(KernelsDispatch, RowsAreSortedByExpertAndGateGradientsFindTheirWayBack) {
  const int64_t count = static_cast<int64_t>(tags.size()), first_expert = 3, local = 5;
  std::vector<int32_t> key(count, -77), last(count, -77);
  read_tags(count, dev(tags), first_expert, local, dev(key), dev(last));
  std::vector<int64_t> copy_of_tag(count + 1, -77);
  exclusive_sum(count, dev(last), dev(copy_of_tag));
  EXPECT_EQ(copy_of_tag.back(), copies);
  const Sorted s = sorted(key, local);
  std::vector<int32_t> row_copy(s.offsets.back(), -77);
  std::vector<float> row_gate(s.offsets.back(), test::kNan);
  std::vector<int64_t> first(copies + 1, -77);
  index_rows(count, dev(tags), dev(copy_of_tag), dev(s.position), copies, dev(row_copy), dev(row_gate), dev(first));
  EXPECT_EQ(first, first_tag);

  std::vector<float> row_dgate(s.offsets.back());
  for (int64_t i = 0; i < count; ++i) {
    const int32_t expert = chosen[slot[i]];
    const bool is_local = expert >= first_expert && expert < first_expert + local;
    ASSERT_EQ(key[i], is_local ? expert - first_expert : -1);
    if (!is_local) continue;
    const int64_t row = s.position[i];
    EXPECT_EQ(copy_token[row_copy[row]], slot[i] / k());
    EXPECT_EQ(row_gate[row], gates[slot[i]]);
    row_dgate[row] = -gates[slot[i]];
  }
  write_gate_gradients(count, dev(s.position), dev(row_dgate), dev(tags));
  std::vector<float> dgates(n(), 0.0f);
  read_gate_gradients(count, dev(slot), dev(tags), dev(dgates));
  for (int64_t i = 0; i < n(); ++i) {
    const bool is_local = chosen[i] >= first_expert && chosen[i] < first_expert + local;
    EXPECT_EQ(dgates[i], is_local ? -gates[i] : 0.0f);
  }
}

INSTANTIATE_TEST_SUITE_P(TopK, KernelsDispatch, testing::Values(1, 2, 4, 10));

TEST(KernelsPermute, NothingToDispatch) {
  std::vector<int64_t> first_tag(1, -77);
  index_rows(0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, dev(first_tag));
  EXPECT_EQ(first_tag[0], 0);
  copy_destinations(0, 2, nullptr, nullptr, nullptr);
  describe_copies(0, 2, nullptr, nullptr, nullptr, nullptr, nullptr);
  write_tags(0, 2, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  read_tags(0, nullptr, 0, 1, nullptr, nullptr);
}

}  // namespace
}  // namespace moemesh::kernels
