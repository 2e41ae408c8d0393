// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "impl/base/error.hpp"
#include "world.hpp"

namespace moemesh::test {
namespace {

using Op = Communicator::Op;

// Mixed magnitudes, so that another order of adding gives other bits.
float contribution(int64_t rank, int64_t i) {
  return std::sin(static_cast<float>(13 * rank + 7 * i + 1)) * std::exp2(static_cast<float>((5 * rank + i) % 13 - 6));
}

std::vector<float> contributions(int64_t rank, int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = contribution(rank, i);
  return values;
}

std::vector<uint32_t> bits(const std::vector<float>& values) {
  std::vector<uint32_t> result;
  for (const float v : values) result.push_back(std::bit_cast<uint32_t>(v));
  return result;
}

std::vector<float> in_rank_order(int64_t count) {
  std::vector<float> sum = contributions(0, count);
  for (int64_t rank = 1; rank < world().size(); ++rank)
    for (int64_t i = 0; i < count; ++i) sum[i] += contribution(rank, i);
  return sum;
}

TEST(Reduce, AddsInRankOrderHoweverItIsCut) {
  const int64_t count = 2500;
  const std::vector<uint32_t> want = bits(in_rank_order(count));
  for (const int64_t cut : {int64_t{1}, int64_t{7}, int64_t{333}, count}) {
    if (cut < 7 && world().size() > 4) continue;
    const int64_t length = cut == 1 ? 100 : count;
    std::vector<float> data = contributions(world().rank(), count);
    for (int64_t begin = 0; begin < length; begin += cut)
      ASSERT_FALSE(world().all_reduce(data.data() + begin, std::min(cut, length - begin), Op::sum, reduction));
    data.resize(length);
    EXPECT_EQ(bits(data), std::vector<uint32_t>(want.begin(), want.begin() + length)) << "cut " << cut;
  }
}

TEST(Reduce, OrderMattersForTheseNumbers) {  // or the test above would show nothing
  const int64_t count = 2500, size = world().size();
  if (size < 3) GTEST_SKIP() << "two numbers have one sum";
  std::vector<float> backwards = contributions(size - 1, count);
  for (int64_t rank = size - 2; rank >= 0; --rank)
    for (int64_t i = 0; i < count; ++i) backwards[i] += contribution(rank, i);
  EXPECT_NE(bits(backwards), bits(in_rank_order(count)));
}

TEST(Reduce, ScatterGivesTheSameBits) {
  const int64_t count = 131, rank = world().rank(), size = world().size();
  const std::vector<float> send = contributions(rank, count * size), sum = in_rank_order(count * size);
  std::vector<float> receive(count);
  world().reduce_scatter(send.data(), receive.data(), count, Op::sum, reduction);
  EXPECT_EQ(bits(receive), bits({sum.begin() + rank * count, sum.begin() + (rank + 1) * count}));
  world().reduce_scatter(send.data(), receive.data(), 0, Op::sum, reduction);
}

template <class T>
void every_op_on_integers() {
  const int64_t rank = world().rank(), size = world().size();
  const auto top = static_cast<T>(size - 1);
  for (const int64_t count : {int64_t{0}, int64_t{1}, size - 1, size, 5 * size + 3}) {
    const auto check = [&](Op op, T mine, T want) {
      std::vector<T> data(count, mine);
      EXPECT_FALSE(world().all_reduce(data.data(), count, op, reduction));
      EXPECT_EQ(data, std::vector<T>(count, want)) << "op " << static_cast<int>(op) << " count " << count;
    };
    check(Op::sum, static_cast<T>(rank + 1), static_cast<T>(size * (size + 1) / 2));
    check(Op::max, static_cast<T>(rank), top);
    check(Op::min, static_cast<T>(rank + 5), T{5});
    check(Op::bit_or, static_cast<T>(T{1} << rank), static_cast<T>((T{1} << size) - 1));
    check(Op::sum, rank == 0 ? std::numeric_limits<T>::max() : T{0}, std::numeric_limits<T>::max());
  }
}

TEST(Reduce, Int32) { every_op_on_integers<int32_t>(); }
TEST(Reduce, Int64) { every_op_on_integers<int64_t>(); }
TEST(Reduce, Uint32) { every_op_on_integers<uint32_t>(); }

TEST(Reduce, NanIsNotHidden) {
  for (const Op op : {Op::sum, Op::max, Op::min})
    for (int64_t where = 0; where < world().size(); ++where) {
      double value = world().rank() == where ? std::numeric_limits<double>::quiet_NaN() : 1.0;
      EXPECT_FALSE(world().all_reduce(&value, 1, op, reduction));
      EXPECT_TRUE(std::isnan(value)) << "op " << static_cast<int>(op) << " rank " << where;
    }
}

// The failing rank knows no size; all others are told, whatever the size, zero included. The next call works.
TEST(Reduce, FailedTwinOfUnknownSize) {
  const int64_t rank = world().rank(), size = world().size();
  for (int64_t turn = 0; turn < size + 2; ++turn)
    for (const int64_t count : {0, 1, 3, 100000}) {
      const auto fails = [&](int64_t r) { return turn < size ? r == turn : turn == size ? r != 0 : true; };
      std::vector<float> data = contributions(rank, count);
      if (fails(rank))
        world().all_reduce_failed(reduction);
      else
        EXPECT_EQ(world().all_reduce(data.data(), count, Op::sum, reduction), size > 1) << turn << " " << count;
      int32_t one = 1;
      EXPECT_FALSE(world().all_reduce(&one, 1, Op::sum, reduction));
      EXPECT_EQ(one, size);
    }
}

// One rank's allocator gives nothing: it throws, its peers learn, nobody hangs, the communicator stays usable.
TEST(Reduce, NoMemoryForScratchOnOneRank) {
  if (world().size() == 1) GTEST_SKIP();
  Own own = open_own(20);
  const int64_t rank = own.world->rank(), size = own.world->size();
  const auto none = [](void*, int64_t, int64_t) -> void* { return nullptr; };
  const auto keep = [](void*, void*, int64_t) {};
  const auto working = own.link->allocator;
  if (rank == size - 1) own.link->allocator = std::make_shared<Allocator>(none, keep, nullptr);
  std::vector<float> data(1000, 1), part(1000);
  int32_t status = 0;
  bool told = false;
  try {
    told = own.world->all_reduce(data.data(), 1000, Op::sum, reduction);
  } catch (const Error& error) {
    status = error.status();
  }
  EXPECT_EQ(told, rank != size - 1);
  EXPECT_EQ(status, rank == size - 1 ? MOEMESH_ERROR_OUT_OF_MEMORY : MOEMESH_OK);
  data.resize(1000 * size, 1);
  try {
    own.world->reduce_scatter(data.data(), part.data(), 1000, Op::sum, reduction);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), rank == size - 1 ? MOEMESH_ERROR_OUT_OF_MEMORY : MOEMESH_ERROR_PEER_FAILED);
  }
  own.link->allocator = working;
  EXPECT_FALSE(own.world->all_reduce(part.data(), 1000, Op::sum, reduction));
  own.world->close();
}

}  // namespace
}  // namespace moemesh::test
