// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "impl/comm/communicator.hpp"

// Messages between the devices of ranks that have one each. All arrays are of device memory. Operations go into streams: the
// calls wait for other ranks' hosts at most, never for a device. impl/comm/nccl has the implementation.
namespace moemesh {

// Operations that all ranks of a group have agreed on, so that none of them stays away: a stream with an order of its own, into
// which they are put in the same order on all ranks.
class DeviceWire {
 public:
  virtual ~DeviceWire() = default;  // local; wait() first, or what is in it is given up

  virtual void* stream() const = 0;
  virtual void follow() = 0;                  // what comes into it from now on is behind this thread's kernels so far
  virtual void join() = 0;                    // and this thread's kernels from now on are behind all that is in it
  virtual void mark(size_t number) = 0;       // all that is in it by now
  virtual void join_mark(size_t number) = 0;  // as join, up to there
  // How long the device took for what came between the two, of each such pair that it is through with since the last look.
  virtual void begin_time() = 0;
  virtual void end_time() = 0;
  virtual Recycled<double> take_times() = 0;  // seconds
  virtual void wait() = 0;                    // the host too
  virtual void all_to_all(const Exchange& exchange) = 0;
  // This rank's part becomes the sum of all ranks' of it, added in whatever order.
  virtual void reduce_parts(float* base, std::span<const int64_t> offset, std::span<const int64_t> count) = 0;
  virtual void all_gather_parts(std::byte* base, std::span<const int64_t> offset, std::span<const int64_t> bytes) = 0;
  // Lasting memory that what comes is made of: made known to all ranks' devices where that is offered. Collective, the same
  // bytes on all ranks; it must stay until the wire's end.
  virtual void offer(void* data, int64_t bytes) = 0;
};

// What an exchange between devices begins with, to each peer.
inline constexpr int64_t device_header_bytes = 32;

// The devices of a communicator's ranks. Failures are told by the communicator, and so survived: see Communicator.
class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;

  // Communicator::start_all_to_all and its failing twin: behind this thread's kernels so far. What they do after
  // Flight::wait() is behind the exchange.
  virtual std::unique_ptr<Communicator::Flight> start(const Exchange& exchange, const Purpose& purpose,
                                                      bool failed) = 0;
  // data becomes the sum over the ranks: Link::deterministic says in which order. True: a peer failed, it is unspecified.
  [[nodiscard]] virtual bool sum(float* data, int64_t count, const Purpose& purpose) = 0;
  virtual void sum_failed(int64_t count, const Purpose& purpose) = 0;
  virtual void reserve_sum(int64_t count) = 0;  // its memory
  // For reductions, beside what goes on here. Collective.
  virtual std::unique_ptr<DeviceWire> wire() = 0;
  virtual void close() = 0;  // collective
};

// All devices of a context.
class DeviceWorld {
 public:
  virtual ~DeviceWorld() = default;

  // Of the ranks that give the same colour, those of `control`; null for a rank alone, which gives -1. Collective over the
  // world. control must outlive it.
  virtual std::unique_ptr<DeviceGroup> group(Communicator& control, int32_t colour) = 0;
  virtual void close() = 0;  // collective
};

// Null where the build has no such messages: they go through memory of the host. Collective over the world.
std::unique_ptr<DeviceWorld> open_device_world(Communicator& world, std::shared_ptr<Link> link);

}  // namespace moemesh
