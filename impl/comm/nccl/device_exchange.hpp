// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "impl/comm/batch.hpp"
#include "impl/comm/communicator.hpp"
#include "impl/comm/device_group.hpp"
#include "impl/comm/flight.hpp"
#include "impl/comm/nccl/nccl_comm.hpp"

namespace moemesh {

// All-to-alls, and sums, of device memory over one NcclComm. NCCL has no short messages: a rank that expects one which never comes
// waits for ever. So each exchange begins with a header to each peer by the host's transport (this Communicator, of the same
// ranks), and its group is put into the stream when all headers are here, without the pairs of which one has failed.
// Groups go in the order in which their exchanges were started, the same on all ranks, whatever order headers come in.
class Communicator::DeviceExchanges : public Background {
 public:
  // Both must outlive it.
  DeviceExchanges(Communicator& control, NcclComm& comm);
  DeviceExchanges(const DeviceExchanges&) = delete;
  DeviceExchanges& operator=(const DeviceExchanges&) = delete;
  ~DeviceExchanges();

  // As Communicator::start_all_to_all, of device memory, after what `after` has in it by now. Collective. Messages of size 0
  // are never sent, and every peer hears of a failure whatever Exchange::every_peer says. Never null.
  std::unique_ptr<DeviceExchange> start(const Exchange& exchange, Purpose purpose, cudaStream_t after);
  std::unique_ptr<DeviceExchange> start_failed(const Exchange& exchange, Purpose purpose);
  // data becomes NCCL's sum over the ranks; nothing is summed where one of them failed.
  std::unique_ptr<DeviceExchange> start_sum(float* data, int64_t count, Purpose purpose, cudaStream_t after);
  std::unique_ptr<DeviceExchange> start_sum_failed(int64_t count, Purpose purpose);

  bool poll() override;  // launches what can be
  bool busy() const override { return !waiting_.empty(); }

 private:
  friend class DeviceExchange;

  // after: null for a rank that failed.
  std::unique_ptr<DeviceExchange> begin(std::unique_ptr<DeviceExchange> made, const cudaStream_t* after);
  void launch_through(const DeviceExchange* last);  // waits for headers as long as it takes
  void launch_first();
  DeviceEvent take_event();
  void give_event(DeviceEvent event) { events_.push_back(std::move(event)); }

  Communicator& control_;
  NcclComm& comm_;
  std::deque<DeviceExchange*> waiting_;  // for headers, their own or those of the ones before
  bool launching_ = false;               // NCCL is being waited for, which polls the background
  std::vector<DeviceEvent> events_;      // not in use: a step like the one before makes none
};

class Communicator::DeviceExchange final : public Flight {
 public:
  ~DeviceExchange() override;

  // Waits for the headers, never for the device: `then` goes on behind the exchange. True: a peer failed; what it would have
  // sent is not there. One of the three is to be called, once.
  [[nodiscard]] bool finish(cudaStream_t then);
  // This thread's kernels go on behind it. Where exact times are wanted the host waits for the device too.
  [[nodiscard]] bool wait() override;
  [[nodiscard]] bool wait_for_device();

 private:
  friend class DeviceExchanges;
  // What each rank tells each other. uniform: the bytes of every part, own ones too, where they are equal and lie one after
  // another; else -1. All ranks hear all, so all know whether it holds for all.
  struct Header {
    int64_t failed, sends, receives, uniform;
  };
  static_assert(sizeof(Header) == device_header_bytes);
  // A sum instead: as an exchange of as much with everyone.
  struct Sum {
    float* data = nullptr;
    int64_t count = 0;
  };

  DeviceExchange(DeviceExchanges& queue, const Exchange& exchange, const Purpose& purpose, bool failed);
  void post();
  void launch();  // all headers are here
  void launch_exchange(bool equal, const NcclOrder& order);
  bool launch_sum(const NcclOrder& order);
  bool launched_here() const { return sum_ ? launched_sum_ : !failed_; }  // done_ says when it is through
  void leave_out(int64_t peer);
  void complete();  // until launched; tells of disagreement
  void ended(int64_t blocked_since);
  void count();
  int64_t uniform() const;
  bool all_uniform() const;

  DeviceExchanges& queue_;
  Exchange exchange_;
  std::optional<Sum> sum_;
  Purpose purpose_;
  Batch headers_;
  Recycled<Header> out_, in_;
  DeviceEvent ready_, done_;
  bool failed_;
  bool launched_ = false;
  bool launched_sum_ = false;
  bool peer_failed_ = false;
  int64_t disagrees_ = -1;  // the last peer with other sizes
  bool exact_ = false;      // its end is to be waited for
  bool watched_ = false;    // of the exchanges that the link's watchers hear of
};

}  // namespace moemesh
