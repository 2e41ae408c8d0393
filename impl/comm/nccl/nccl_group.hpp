// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "impl/base/memory.hpp"
#include "impl/comm/device_group.hpp"
#include "impl/comm/nccl/device_exchange.hpp"
#include "impl/comm/nccl/nccl_comm.hpp"

// What the rest of the library sees of NCCL.
namespace moemesh {

class NcclWire final : public DeviceWire {
 public:
  explicit NcclWire(std::unique_ptr<NcclComm> comm) : comm_(std::move(comm)) {}

  void* stream() const override { return comm_->stream(); }
  void follow() override;
  void join() override;
  void wait() override;
  void mark(size_t number) override;
  void join_mark(size_t number) override;
  void begin_time() override;
  void end_time() override;
  Recycled<double> take_times() override;
  void all_to_all(const Exchange& exchange) override { comm_->all_to_all(exchange, {}); }
  void reduce_parts(float* base, std::span<const int64_t> offset, std::span<const int64_t> count) override {
    comm_->reduce_parts(base, offset, count, {});
  }
  void all_gather_parts(std::byte* base, std::span<const int64_t> offset, std::span<const int64_t> bytes) override {
    comm_->all_gather_parts(base, offset, bytes, {});
  }
  void offer(void* data, int64_t bytes) override;

 private:
  std::unique_ptr<NcclComm> comm_;
  DeviceEvent event_;
  std::vector<DeviceEvent> marks_;
  std::vector<DeviceEvent> times_;  // begin, end, begin, ...
};

class NcclGroup final : public DeviceGroup {
 public:
  NcclGroup(Communicator& control, std::shared_ptr<Link> link, std::unique_ptr<NcclComm> comm)
      : link_(std::move(link)), control_(control), comm_(std::move(comm)), exchanges_(control, *comm_) {}

  std::unique_ptr<Communicator::Flight> start(const Exchange& exchange, const Purpose& purpose, bool failed) override;
  bool sum(float* data, int64_t count, const Purpose& purpose) override;
  void sum_failed(int64_t count, const Purpose& purpose) override;
  void reserve_sum(int64_t count) override;
  std::unique_ptr<DeviceWire> wire() override;
  void close() override { comm_->close(); }

 private:
  struct OrderedSum;
  bool ordered_sum(float* data, int64_t count, const Purpose& purpose);
  void gather_sums(const Exchange& gather);

  std::shared_ptr<Link> link_;
  Communicator& control_;
  std::unique_ptr<NcclComm> comm_;
  Communicator::DeviceExchanges exchanges_;
  Buffer<float> contributions_;  // grows only
  DeviceEvent before_, behind_;  // a gathering of sums
};

class NcclWorld final : public DeviceWorld {
 public:
  NcclWorld(std::shared_ptr<Link> link, std::unique_ptr<NcclComm> comm)
      : link_(std::move(link)), comm_(std::move(comm)) {}
  static std::unique_ptr<DeviceWorld> over(Communicator& world, std::shared_ptr<Link> link);

  std::unique_ptr<DeviceGroup> group(Communicator& control, int32_t colour) override;
  void close() override { comm_->close(); }

 private:
  std::shared_ptr<Link> link_;
  std::unique_ptr<NcclComm> comm_;
};

}  // namespace moemesh
