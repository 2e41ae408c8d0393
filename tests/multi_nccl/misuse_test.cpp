// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What the fake must not let pass, else the other tests would show nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "nccl_world.hpp"

namespace moemesh::test {
namespace {

// A communicator that the test is free to ruin: aborted at its end.
struct Misuse : ::testing::Test {
  OwnNccl nccl = OwnNccl(10);
  NcclComm& comm = *nccl.comm;
  const int64_t rank = comm.rank(), size = comm.size();
  DeviceArray<float> data = DeviceArray<float>(100);

  void TearDown() override {
    std::vector<int64_t> all(1, 0);
    world().agree_max(all, Purpose{});  // nobody is gone while others still look
    nccl.comm.reset();
    fake::set_patience(60);
  }
  // Until the call before is through.
  ncclResult_t settle() const {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress)
      if (ncclCommGetAsyncError(comm.get(), &state) != ncclSuccess) return ncclSystemError;
    return state;
  }
  ncclResult_t sum(int64_t count) const {
    const ncclResult_t code =
        ncclAllReduce(data.data(), data.data(), count, ncclFloat32, ncclSum, comm.get(), comm.stream());
    return code == ncclInProgress ? settle() : code;
  }
  Outcome wait() const {
    DeviceEvent done;
    done.record(comm.stream());
    return outcome_of([&] { comm.wait(done, "misuse"); });
  }
};

TEST_F(Misuse, GroupThatIsNotClosed) {
  DeviceEvent event;
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  (void)ncclAllReduce(data.data(), data.data(), 1, ncclFloat32, ncclSum, comm.get(), comm.stream());
  event.record(comm.stream());
  expect_complaint("ncclGroupStart without ncclGroupEnd, and 1 operations");
  ASSERT_EQ(ncclGroupEnd(), ncclInProgress);
  EXPECT_EQ(settle(), ncclSuccess);
  EXPECT_EQ(wait().status, MOEMESH_OK);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  expect_complaint("ncclGroupEnd without ncclGroupStart");
}

TEST_F(Misuse, CountsThatDiffer) {
  if (size == 1) return;
  EXPECT_EQ(sum(rank == 0 ? 5 : 7), ncclSuccess);
  const Outcome outcome = wait();
  EXPECT_EQ(outcome.status, MOEMESH_ERROR_COMMUNICATION);
  if (rank == 0) {
    EXPECT_NE(outcome.text.find("{AllReduce(7 of type 7) } instead of {AllReduce(5 of type 7) }"), std::string::npos)
        << outcome.text;
  }
  fake::take_complaints();  // the text is the same
}

TEST_F(Misuse, SendOfAnotherCount) {
  if (size == 1) return;
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  if (rank == 0) (void)ncclSend(data.data(), 5, ncclFloat32, 1, comm.get(), comm.stream());
  if (rank == 1) (void)ncclRecv(data.data(), 7, ncclFloat32, 0, comm.get(), comm.stream());
  (void)ncclGroupEnd();
  EXPECT_EQ(settle(), ncclSuccess);
  EXPECT_EQ(wait().status, rank < 2 ? MOEMESH_ERROR_COMMUNICATION : MOEMESH_OK);
  if (rank == 0)
    expect_complaint("between ranks 0 and 1: the latter is at {Recv(7 of type 7)} instead of {Recv(5 of type 7)}");
  if (rank == 1)
    expect_complaint("between ranks 1 and 0: the latter is at {Send(5 of type 7) } instead of {Send(7 of type 7) }");
}

// Two groups that each rank begins in another order.
TEST_F(Misuse, OrderOfOperations) {
  if (size == 1) return;
  const auto broadcast = [&] {
    (void)ncclBroadcast(data.data(), data.data(), 5, ncclFloat32, 0, comm.get(), comm.stream());
    return settle();
  };
  if (rank == 0) {
    EXPECT_EQ(sum(5), ncclSuccess);
    (void)broadcast();  // the peers may have been heard of by now
  } else {
    EXPECT_EQ(broadcast(), ncclSuccess);
    (void)sum(5);
  }
  EXPECT_EQ(wait().status, MOEMESH_ERROR_COMMUNICATION);
  bool named = false;
  for (const std::string& complaint : fake::take_complaints())
    named |= complaint.find("Broadcast") != std::string::npos;
  EXPECT_TRUE(named);
}

TEST_F(Misuse, SendThatNobodyTakes) {
  if (size == 1) return;
  if (rank == 0) {
    (void)ncclSend(data.data(), 5, ncclFloat32, 1, comm.get(), comm.stream());
    EXPECT_EQ(settle(), ncclSuccess);
  }
  Outcome outcome;
  if (rank < 2) outcome = outcome_of([&] { nccl.comm->close(); });  // the others would wait for these two
  if (rank == 0) {
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_COMMUNICATION);
    expect_complaint("the latter is at {CommFinalize} instead of {Recv(5 of type 7)}");
  }
  if (rank == 1) {
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_COMMUNICATION);
    expect_complaint("the latter is at {Send(5 of type 7) } instead of {CommFinalize}");
  }
}

TEST_F(Misuse, AfterTheEnd) {
  const ncclComm_t handle = comm.get();
  comm.close();
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 1, ncclFloat32, ncclSum, handle, comm.stream()),
            ncclInvalidArgument);
  expect_complaint("ncclAllReduce after ncclCommDestroy");
  EXPECT_EQ(ncclCommAbort(handle), ncclInvalidArgument);
  expect_complaint("ncclCommAbort after ncclCommDestroy");
  ncclUniqueId id = NcclComm::unique_id();
  ncclComm_t own = nullptr;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(ncclCommInitRankConfig(&own, 1, id, 0, &config), ncclSuccess);
  EXPECT_EQ(ncclCommAbort(own), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(own), ncclInvalidArgument);
  expect_complaint("ncclCommDestroy after ncclCommAbort");
}

TEST_F(Misuse, StreamOfAnotherDevice) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ComputeStream there;
  DeviceArray<float> memory(4);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 1, ncclFloat32, ncclSum, comm.get(), there), ncclInvalidArgument);
  expect_complaint("a stream of device 1, the communicator is of device 0");
  EXPECT_EQ(ncclAllReduce(memory.data(), data.data(), 1, ncclFloat32, ncclSum, comm.get(), comm.stream()),
            ncclInvalidArgument);
  expect_complaint("memory of device 1, the communicator is of device 0");
  DeviceEvent here;
  EXPECT_EQ(cudaEventRecord(here.get(), there), cudaErrorInvalidResourceHandle);
  expect_complaint("an event of device 0 in a stream of device 1");
}

TEST_F(Misuse, MemoryThatIsNotTheDevices) {
  float host = 0;
  EXPECT_EQ(ncclAllReduce(&host, &host, 1, ncclFloat32, ncclSum, comm.get(), comm.stream()), ncclInvalidArgument);
  expect_complaint("not in the memory of a device");
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 101, ncclFloat32, ncclSum, comm.get(), comm.stream()),
            ncclInvalidArgument);
  expect_complaint("not in the memory of a device");
}

TEST_F(Misuse, CallThatIsNotThroughYet) {
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 1, ncclFloat32, ncclSum, comm.get(), comm.stream()),
            ncclInProgress);
  DeviceEvent early;
  early.record(comm.stream());
  expect_complaint("while NCCL is still putting work into the stream");
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 1, ncclFloat32, ncclSum, comm.get(), comm.stream()),
            ncclInvalidUsage);
  expect_complaint("while the call before is in progress");
  EXPECT_EQ(settle(), ncclSuccess);
  EXPECT_EQ(wait().status, MOEMESH_OK);
}

// Without the waits between streams results are those of before, on both sides of an operation.
TEST_F(Misuse, ForgottenWaits) {
  ComputeStream compute;
  const auto fill = [&](float value) { data.fill(compute, [value](int64_t) { return value; }); };
  fill(1);
  ASSERT_EQ(cudaStreamSynchronize(compute), cudaSuccess);
  fill(2);
  DeviceEvent done;
  comm.all_reduce(data.data(), 100, {nullptr, &done});
  EXPECT_EQ(data.read(compute)[0], 2);  // not yet a sum
  std::vector<int64_t> all(1, 0);
  world().agree_max(all, Purpose{});  // a rank that waits wants the others' devices to begin
  comm.wait(done, "the sum");
  world().agree_max(all, Purpose{});

  fill(3);  // the kernel is not waited for
  comm.all_reduce(data.data(), 100, {nullptr, &done});
  comm.wait(done, "the sum");
  EXPECT_EQ(data.data()[0], static_cast<float>(2 * size * size));
}

// A stream can do one thing at a time: two communicators in it, in another order on each rank, never end.
TEST_F(Misuse, TwoCommunicatorsInOneStream) {
  if (size == 1) return;
  const auto other = comm.split(0, Urgency::payload);
  DeviceArray<float> more(10);
  const auto first = [&] { EXPECT_EQ(sum(3), ncclSuccess); };
  const auto second = [&] {
    (void)ncclAllReduce(more.data(), more.data(), 3, ncclFloat32, ncclSum, other->get(), comm.stream());
    other->settle(ncclInProgress, "a sum");
  };
  if (rank == 0) {
    first();
    second();
  } else {
    second();
    first();
  }
  fake::set_patience(1);
  EXPECT_EQ(cudaStreamSynchronize(comm.stream()), cudaErrorLaunchFailure);
  expect_complaint("cudaStreamSynchronize never came to its end; first in the streams: [rank");
  std::vector<int64_t> all(1, 0);
  world().agree_max(all, Purpose{});
  nccl.own.link->broken = true;
  other->close();
  nccl.comm->close();
  fake::set_patience(60);
}

}  // namespace
}  // namespace moemesh::test
