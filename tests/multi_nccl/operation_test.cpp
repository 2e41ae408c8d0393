// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Every operation of NcclComm against a plain computation. Inputs are written by a kernel and results read behind the
// operation, so that an order that was forgotten shows: the fake device does nothing before it must.
#include <gtest/gtest.h>

#include "nccl_world.hpp"

namespace moemesh::test {
namespace {

float number(int64_t rank, int64_t i) { return static_cast<float>(1000 * rank + i % 997 + 1); }
float sum_of_all(int64_t ranks, int64_t i) {
  float sum = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) sum += number(rank, i);
  return sum;
}

struct Operation : ::testing::Test {
  OwnNccl nccl;
  ComputeStream compute;
  NcclComm& comm = *nccl.comm;
  const int64_t rank = comm.rank(), size = comm.size();

  void TearDown() override {
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    nccl.close();
  }
};

int64_t bytes_between(int64_t from, int64_t to) {
  return (from + 2 * to) % 3 == 0 ? 0 : 64 * ((3 * from + 5 * to) % 7) + 3 * from + 1;
}
std::byte value(int64_t from, int64_t to, int64_t i) { return static_cast<std::byte>(31 * from + 17 * to + i % 251); }

TEST_F(Operation, AllToAllOfUnevenParts) {
  Exchange exchange;
  int64_t out = 0, in = 0;
  std::vector<std::byte> sent, wanted;
  for (int64_t peer = 0; peer < size; ++peer) {
    exchange.send_offset.push_back(out);
    exchange.send_bytes.push_back(bytes_between(rank, peer));
    exchange.receive_offset.push_back(in);
    exchange.receive_bytes.push_back(bytes_between(peer, rank));
    for (int64_t i = 0; i < bytes_between(rank, peer); ++i) sent.push_back(value(rank, peer, i));
    for (int64_t i = 0; i < bytes_between(peer, rank); ++i) wanted.push_back(value(peer, rank, i));
    out += exchange.send_bytes.back();
    in += exchange.receive_bytes.back();
  }
  DeviceArray<std::byte> send(out), receive(in);
  exchange.send_base = send.data();
  exchange.receive_base = receive.data();
  for (int round = 0; round < 3; ++round) {
    send.fill(compute, [&](int64_t i) { return sent[i]; });
    receive.fill(compute, [](int64_t) { return std::byte{0xee}; });
    Between order(compute);
    comm.all_to_all(exchange, order);
    order.join();
    send.fill(compute, [](int64_t) { return std::byte{0xdd}; });  // who reads it too late gets this
    EXPECT_EQ(receive.read(compute), wanted);
  }
}

TEST_F(Operation, AllToAllOfNothing) {
  const Recycled<int64_t> none(size, 0);
  Between order(compute);
  comm.all_to_all({nullptr, none, none, nullptr, none, none}, order);
  comm.wait(order.done(), "nothing");
}

TEST_F(Operation, AllToAllOfEqualParts) {
  for (const int64_t part : {0, 1, 5, 3000}) {
    DeviceArray<float> send(part * size), receive(part * size);
    send.fill(compute, [=, r = rank](int64_t i) { return number(r, 7 * (i / part) + i % part); });
    Between order(compute);
    comm.all_to_all_equal(send.data(), receive.data(), 4 * part, order);
    order.join();
    const auto result = receive.read(compute);
    for (int64_t i = 0; i < part * size; ++i) ASSERT_EQ(result[i], number(i / part, 7 * rank + i % part));
  }
}

TEST_F(Operation, AllReduce) {
  for (const int64_t count : {0, 1, 2, 1001, 50000}) {
    DeviceArray<float> data(count);
    data.fill(compute, [r = rank](int64_t i) { return number(r, i); });
    Between order(compute);
    comm.all_reduce(data.data(), count, order);
    order.join();
    const auto result = data.read(compute);
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(result[i], sum_of_all(size, i));
  }
}

TEST_F(Operation, ReduceScatter) {
  for (const int64_t count : {0, 1, 1000}) {
    DeviceArray<float> send(count * size), receive(count);
    send.fill(compute, [r = rank](int64_t i) { return number(r, i); });
    Between order(compute);
    comm.reduce_scatter(send.data(), receive.data(), count, order);
    order.join();
    const auto result = receive.read(compute);
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(result[i], sum_of_all(size, rank * count + i));
  }
}

TEST_F(Operation, UnevenPartsReducedAndGathered) {
  std::vector<int64_t> offset, count, byte_offset, bytes;
  int64_t total = 0;
  for (int64_t r = 0; r < size; ++r) {
    offset.push_back(total);
    count.push_back(r == 1 ? 0 : 13 * r + 5);
    byte_offset.push_back(4 * total);
    bytes.push_back(4 * count.back());
    total += count.back();
  }
  DeviceArray<float> data(total);
  data.fill(compute, [r = rank](int64_t i) { return number(r, i); });
  Between reduced(compute);
  comm.reduce_parts(data.data(), offset, count, reduced);
  reduced.join();
  const auto middle = data.read(compute);
  for (int64_t i = 0; i < total; ++i) {
    const bool mine = i >= offset[rank] && i < offset[rank] + count[rank];
    ASSERT_EQ(middle[i], mine ? sum_of_all(size, i) : number(rank, i));
  }
  Between gathered(compute);
  comm.all_gather_parts(data.bytes(), byte_offset, bytes, gathered);
  gathered.join();
  const auto result = data.read(compute);
  for (int64_t i = 0; i < total; ++i) ASSERT_EQ(result[i], sum_of_all(size, i));
}

// Of bf16 as of any two bytes, and in place.
TEST_F(Operation, AllGather) {
  const auto half = [](int64_t r, int64_t i) { return static_cast<uint16_t>(0x3f80 + 256 * r + i % 251); };
  for (const int64_t count : {0, 1, 1000}) {
    DeviceArray<uint16_t> mine(count), all(count * size);
    mine.fill(compute, [=, r = rank](int64_t i) { return half(r, i); });
    Between order(compute);
    comm.all_gather(mine.data(), all.data(), count, NcclComm::Element::bfloat16, order);
    order.join();
    const auto result = all.read(compute);
    for (int64_t i = 0; i < count * size; ++i) ASSERT_EQ(result[i], half(i / count, i % count));

    DeviceArray<float> place(count * size);
    place.fill(compute, [r = rank](int64_t i) { return number(r, i); });
    Between again(compute);
    comm.all_gather(place.data() + rank * count, place.data(), count, NcclComm::Element::float32, again);
    again.join();
    const auto filled = place.read(compute);
    for (int64_t i = 0; i < count * size; ++i) ASSERT_EQ(filled[i], number(i / count, i));
  }
}

TEST_F(Operation, BroadcastFromEveryRoot) {
  for (int64_t root = 0; root < size; ++root)
    for (const int64_t bytes : {0, 1, 100000}) {
      DeviceArray<std::byte> data(bytes);
      data.fill(compute, [r = rank](int64_t i) { return value(r, 3, i); });
      Between order(compute);
      comm.broadcast(data.data(), bytes, root, order);
      order.join();
      const auto result = data.read(compute);
      for (int64_t i = 0; i < bytes; ++i) ASSERT_EQ(result[i], value(root, 3, i));
    }
}

// The next one may be put in while the one before is still to come.
TEST_F(Operation, ManyBeforeTheFirstIsThrough) {
  const int64_t count = 100;
  DeviceArray<float> data(count);
  data.fill(compute, [](int64_t i) { return number(0, i); });
  Between first(compute), last(compute);
  comm.all_reduce(data.data(), count, first);
  for (int i = 0; i < 3; ++i) comm.all_reduce(data.data(), count, {});
  comm.all_reduce(data.data(), count, last);
  comm.wait(last.done(), "the last one");
  last.join();
  const auto result = data.read(compute);
  const auto power = static_cast<float>(size * size * size * size * size);
  for (int64_t i = 0; i < count; ++i) ASSERT_EQ(result[i], power * number(0, i));
}

TEST_F(Operation, PrioritiesOfStreams) {
  const auto low = comm.split(0, Urgency::reduction);
  int lowest = 0, highest = 0, payload_priority = 0, low_priority = 0;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&lowest, &highest), cudaSuccess);
  ASSERT_EQ(cudaStreamGetPriority(comm.stream(), &payload_priority), cudaSuccess);
  ASSERT_EQ(cudaStreamGetPriority(low->stream(), &low_priority), cudaSuccess);
  EXPECT_EQ(payload_priority, highest);
  EXPECT_EQ(low_priority, lowest);
  low->close();
}

}  // namespace
}  // namespace moemesh::test
