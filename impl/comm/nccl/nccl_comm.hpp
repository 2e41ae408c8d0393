// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <nccl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "impl/comm/communicator.hpp"
#include "impl/comm/nccl/device.hpp"
#include "impl/comm/progress.hpp"

namespace moemesh {

// Between what an operation on the device stands: it begins after `after` (null: whenever the communicator's stream comes to
// it) and `done` is recorded behind it (null: the stream alone knows).
struct NcclOrder {
  const DeviceEvent* after = nullptr;
  DeviceEvent* done = nullptr;
};

// A group of ranks with a device each, and the stream on which its messages go. Operations are put there in the order of the
// calls, which must be the same on all ranks; no call waits for the device. A call returns when NCCL has put its work into
// the stream, so that what is recorded there afterwards is behind it.
//
// A failure of NCCL, or a wait beyond the link's deadline, aborts the communicator, so that nothing of it keeps the device busy,
// and breaks the link: ERROR_COMMUNICATION, ERROR_TIMEOUT. There are no failing twins here: see device_exchange.hpp for how
// ranks that can't go on are left out.
class NcclComm : public Background {
 public:
  // Over the ranks of `control`, by which the id gets around and errors are agreed on; on this thread's current device.
  static std::unique_ptr<NcclComm> over(Communicator& control, std::shared_ptr<Link> link, Urgency urgency);
  // Of an id that unique_id() gave to one rank and that the caller brought to all. Collective over `size` ranks.
  NcclComm(std::shared_ptr<Link> link, const ncclUniqueId& id, int64_t rank, int64_t size, Urgency urgency);
  static ncclUniqueId unique_id();
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;
  ~NcclComm();  // aborts unless close() was called

  // The group of those that gave the same colour, in the order of their ranks here. colour < 0: in none, null. Collective.
  std::unique_ptr<NcclComm> split(int32_t colour, Urgency urgency);
  void close();  // collective: waits for what is under way, then gives everything back

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  bool closed() const { return comm_ == nullptr; }
  ncclComm_t get() const { return comm_; }
  cudaStream_t stream() const { return stream_.get(); }

  // All pointers are of device memory that stays in use until `done`. Sizes are those of Exchange: both sides know them;
  // pairs with nothing to say to each other say nothing. The own part is copied unless it is in place.
  void all_to_all(const Exchange& exchange, const NcclOrder& order);
  // Every rank sends every rank, itself too, `bytes`, which lie one after another by rank.
  void all_to_all_equal(const void* send, void* receive, int64_t bytes, const NcclOrder& order);
  // Sums are NCCL's: their order, and so the last bits, may differ from one number of ranks, size or release to another.
  void all_reduce(float* data, int64_t count, const NcclOrder& order);
  void reduce_scatter(const float* send, float* receive, int64_t count, const NcclOrder& order);
  // Parts of different sizes, in place: this rank's part becomes the sum of all ranks' of it; the others are kept.
  void reduce_parts(float* base, std::span<const int64_t> offset, std::span<const int64_t> count,
                    const NcclOrder& order);
  enum class Element { float32, bfloat16, byte };
  void all_gather(const void* mine, void* all, int64_t count, Element element, const NcclOrder& order);
  // Parts of different sizes, this rank's already in place; in bytes.
  void all_gather_parts(std::byte* base, std::span<const int64_t> offset, std::span<const int64_t> bytes,
                        const NcclOrder& order);
  void broadcast(void* data, int64_t bytes, int64_t root, const NcclOrder& order);

  // Where the link broke elsewhere: aborts, so that the device gets free. Local.
  void give_up() noexcept { break_link(); }
  // What NCCL found wrong since. Never waits.
  void check();
  // Looks after what the host does not wait for: whether NCCL found something wrong, and whether the device is at an operation
  // for longer than the deadline.
  bool poll() override;
  bool busy() const override { return !under_way_.empty(); }

  // The host waits for the device, up to the deadline.
  void wait(const DeviceEvent& done, const char* what);
  // Until NCCL is through with the host's part of a call of it that returned `code`.
  void settle(ncclResult_t code, const char* what);

 private:
  // Keeps the first error of several calls.
  struct Calls {
    ncclResult_t code = ncclSuccess;
    void operator()(ncclResult_t result) {
      if (code == ncclSuccess && result != ncclInProgress) code = result;
    }
  };

  using Clock = std::chrono::steady_clock;
  struct UnderWay {
    const char* what;
    DeviceEvent begun, done;
    bool issued = false;                     // done is recorded
    std::optional<Clock::time_point> since;  // it was seen to have begun
  };

  NcclComm(std::shared_ptr<Link> link, Urgency urgency);
  void watch_begin(const char* what);
  void watch_end();
  void expire_if_stuck();
  DeviceEvent take_event();
  ncclResult_t begin(const ncclUniqueId& id, int64_t rank, int64_t size);
  void require_usable();
  template <class F>
  void issue(const char* what, const NcclOrder& order, F&& calls);
  void copy_own(const Exchange& exchange);
  ncclResult_t state() const;
  // done() until it is true; progress of other messages goes on meanwhile.
  template <class F>
  void await(const char* what, F&& done);
  void abort() noexcept;
  void break_link() noexcept;
  [[noreturn]] void failed(ncclResult_t code, const char* what);
  [[noreturn]] void expire(std::chrono::duration<double> waited, const char* what);

  std::shared_ptr<Link> link_;
  DeviceStream stream_;
  ncclComm_t comm_ = nullptr;
  int64_t rank_ = 0, size_ = 1;
  std::deque<UnderWay> under_way_;  // with a deadline alone
  std::vector<DeviceEvent> events_;  // not in use
  Clock::time_point looked_;
};

}  // namespace moemesh
