// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/nccl/nccl_group.hpp"

#include <algorithm>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/comm/nccl/symmetric_buffer.hpp"
#include "kernels/flat.hpp"
#include "kernels/memory.hpp"

namespace moemesh {
namespace {

cudaStream_t kernels_stream() { return static_cast<cudaStream_t>(kernels::stream()); }

int64_t part_of(int64_t count, int64_t ranks) { return (count + ranks - 1) / ranks; }

}  // namespace

void NcclWire::follow() {
  event_.record(kernels_stream());
  event_.hold_back(comm_->stream());
}

void NcclWire::join() {
  event_.record(comm_->stream());
  event_.hold_back(kernels_stream());
}

void NcclWire::mark(size_t number) {
  while (marks_.size() <= number) marks_.emplace_back();
  marks_[number].record(comm_->stream());
}

void NcclWire::join_mark(size_t number) {
  if (number < marks_.size()) marks_[number].hold_back(kernels_stream());
}

void NcclWire::begin_time() { times_.emplace_back(DeviceEvent::Times::yes).record(comm_->stream()); }
void NcclWire::end_time() { begin_time(); }

Recycled<double> NcclWire::take_times() {
  Recycled<double> seconds;
  for (size_t i = 0; i + 1 < times_.size(); i += 2)
    if (times_[i + 1].reached()) seconds.push_back(times_[i + 1].seconds_since(times_[i]));
  times_.clear();
  return seconds;
}

// Of a communicator that is given up nothing is registered any more.
void NcclWire::offer(void* data, int64_t bytes) { (void)register_memory(*comm_, data, bytes); }

void NcclWire::wait() {
  event_.record(comm_->stream());
  comm_->wait(event_, "a reduction");
}

std::unique_ptr<Communicator::Flight> NcclGroup::start(const Exchange& exchange, const Purpose& purpose, bool failed) {
  if (failed) return exchanges_.start_failed(exchange, purpose);
  if (link_->exact_times()) kernels::finish();  // so that it begins when it is told to have
  return exchanges_.start(exchange, purpose, kernels_stream());
}

// Element i belongs to rank i / part_of(count), which adds the contributions in rank order: Communicator::all_reduce.
struct NcclGroup::OrderedSum {
  Exchange scatter, gather;
  int64_t own = 0;  // elements of this rank's
  Recycled<const float*> parts;

  OrderedSum(float* data, int64_t count, float* contributions, int64_t rank, int64_t ranks) {
    constexpr auto element = static_cast<int64_t>(sizeof(float));
    const int64_t part = part_of(count, ranks);
    const auto begin = [&](int64_t owner) { return std::min(count, owner * part); };
    own = begin(rank + 1) - begin(rank);
    scatter.send_base = gather.send_base = gather.receive_base = reinterpret_cast<std::byte*>(data);
    scatter.receive_base = reinterpret_cast<std::byte*>(contributions);
    scatter.sum_of = count;
    for (int64_t peer = 0; peer < ranks; ++peer) {
      const int64_t theirs = (begin(peer + 1) - begin(peer)) * element, other = peer == rank ? 0 : 1;
      scatter.send_offset.push_back(begin(peer) * element);
      scatter.send_bytes.push_back(other * theirs);
      scatter.receive_offset.push_back(peer * own * element);
      scatter.receive_bytes.push_back(other * own * element);
      gather.send_offset.push_back(begin(rank) * element);
      gather.send_bytes.push_back(other * own * element);
      gather.receive_offset.push_back(begin(peer) * element);
      gather.receive_bytes.push_back(other * theirs);
      parts.push_back(contributions + peer * own);
    }
  }
};

void NcclGroup::reserve_sum(int64_t count) {
  if (link_->deterministic) contributions_.reserve(link_->allocator, part_of(count, comm_->size()) * comm_->size());
}

bool NcclGroup::sum(float* data, int64_t count, const Purpose& purpose) {
  if (link_->deterministic) return ordered_sum(data, count, purpose);
  if (link_->exact_times()) kernels::finish();
  return exchanges_.start_sum(data, count, purpose, kernels_stream())->wait();
}

void NcclGroup::sum_failed(int64_t count, const Purpose& purpose) {
  if (!link_->deterministic) return (void)exchanges_.start_sum_failed(count, purpose)->wait();
  const OrderedSum sum(nullptr, count, nullptr, comm_->rank(), comm_->size());
  (void)exchanges_.start_failed(sum.scatter, purpose)->wait();
}

bool NcclGroup::ordered_sum(float* data, int64_t count, const Purpose& purpose) {
  const Finding finding = attempt([&] { reserve_sum(count); });
  if (finding) {
    sum_failed(count, purpose);
    throw Error(finding.status, finding.text);
  }
  const OrderedSum sum(data, count, contributions_.data(), comm_->rank(), comm_->size());
  if (start(sum.scatter, purpose, false)->wait()) return true;
  constexpr auto element = static_cast<int64_t>(sizeof(float));
  float* const mine = data + sum.gather.send_offset.front() / element;
  kernels::copy_bytes(contributions_.data() + comm_->rank() * sum.own, mine, sum.own * element);
  if (sum.own > 0) kernels::ordered_sum(sum.own, static_cast<int32_t>(comm_->size()), sum.parts.data(), 1.0F, mine);
  gather_sums(sum.gather);
  return false;
}

// The first half told that all are well, and nothing was allocated since: no headers.
void NcclGroup::gather_sums(const Exchange& gather) {
  const std::lock_guard lock(link_->progress.mutex());
  before_.record(kernels_stream());
  comm_->all_to_all(gather, {&before_, &behind_});
  behind_.hold_back(kernels_stream());
}

std::unique_ptr<DeviceWire> NcclGroup::wire() {
  return std::make_unique<NcclWire>(comm_->split(0, Urgency::reduction));
}

std::unique_ptr<DeviceWorld> NcclWorld::over(Communicator& world, std::shared_ptr<Link> link) {
  auto comm = NcclComm::over(world, link, Urgency::payload);
  return std::make_unique<NcclWorld>(std::move(link), std::move(comm));
}

std::unique_ptr<DeviceGroup> NcclWorld::group(Communicator& control, int32_t colour) {
  auto comm = comm_->split(colour, Urgency::payload);
  if (!comm) return nullptr;
  return std::make_unique<NcclGroup>(control, link_, std::move(comm));
}

}  // namespace moemesh
