// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What NcclComm puts into its stream.
#include "impl/base/error.hpp"
#include "impl/comm/nccl/nccl_comm.hpp"
#include "kernels/memory.hpp"

namespace moemesh {
namespace {

constexpr ncclDataType_t type_of(NcclComm::Element element) {
  switch (element) {
    case NcclComm::Element::float32:
      return ncclFloat32;
    case NcclComm::Element::bfloat16:
      return ncclBfloat16;
    case NcclComm::Element::byte:
      break;
  }
  return ncclUint8;
}

// Closed whatever happens in it: an open group takes in all that follows.
template <class Calls>
class Group {
 public:
  explicit Group(Calls& calls) : calls_(calls) { calls_(ncclGroupStart()); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { calls_(ncclGroupEnd()); }

 private:
  Calls& calls_;
};

size_t size_of(int64_t count) { return static_cast<size_t>(count); }

}  // namespace

// Whatever goes wrong in the middle leaves the ranks' streams with different work, so it is the communicator's end.
template <class F>
void NcclComm::issue(const char* what, const NcclOrder& order, F&& calls) {
  check();
  const kernels::DeviceScope device;
  try {
    if (order.after) order.after->hold_back(stream());
    watch_begin(what);
    Calls all;
    {
      const Group open(all);
      calls(all);
    }
    settle(all.code, what);
    watch_end();
    if (order.done) order.done->record(stream());
  } catch (...) {
    break_link();
    throw;
  }
}

void NcclComm::copy_own(const Exchange& exchange) {
  const int64_t bytes = exchange.send_bytes[rank_];
  if (bytes == 0) return;
  const std::byte* const from = exchange.send_base + exchange.send_offset[rank_];
  std::byte* const to = exchange.receive_base + exchange.receive_offset[rank_];
  if (from != to)
    check_cuda(cudaMemcpyAsync(to, from, size_of(bytes), cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync");
}

// Beginning with the next rank, so that not all send to rank 0 first.
void NcclComm::all_to_all(const Exchange& exchange, const NcclOrder& order) {
  issue("an all-to-all", order, [&](Calls& calls) {
    copy_own(exchange);
    for (int64_t i = 1; i < size_; ++i) {
      const int64_t to = (rank_ + i) % size_, from = (rank_ - i + size_) % size_;
      if (exchange.send_bytes[to] > 0)
        calls(ncclSend(exchange.send_base + exchange.send_offset[to], size_of(exchange.send_bytes[to]), ncclUint8,
                       static_cast<int>(to), comm_, stream()));
      if (exchange.receive_bytes[from] > 0)
        calls(ncclRecv(exchange.receive_base + exchange.receive_offset[from], size_of(exchange.receive_bytes[from]),
                       ncclUint8, static_cast<int>(from), comm_, stream()));
    }
  });
}

void NcclComm::all_to_all_equal(const void* send, void* receive, int64_t bytes, const NcclOrder& order) {
  issue("an all-to-all of equal parts", order, [&](Calls& calls) {
    if (bytes == 0) return;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    calls(ncclAlltoAll(send, receive, size_of(bytes), ncclUint8, comm_, stream()));
#else
    for (int64_t i = 0; i < size_; ++i) {
      const int64_t to = (rank_ + i) % size_, from = (rank_ - i + size_) % size_;
      calls(ncclSend(static_cast<const std::byte*>(send) + to * bytes, size_of(bytes), ncclUint8, static_cast<int>(to),
                     comm_, stream()));
      calls(ncclRecv(static_cast<std::byte*>(receive) + from * bytes, size_of(bytes), ncclUint8, static_cast<int>(from),
                     comm_, stream()));
    }
#endif
  });
}

void NcclComm::all_reduce(float* data, int64_t count, const NcclOrder& order) {
  issue("an all-reduce", order, [&](Calls& calls) {
    if (count > 0) calls(ncclAllReduce(data, data, size_of(count), ncclFloat32, ncclSum, comm_, stream()));
  });
}

void NcclComm::reduce_scatter(const float* send, float* receive, int64_t count, const NcclOrder& order) {
  issue("a reduce-scatter", order, [&](Calls& calls) {
    if (count > 0) calls(ncclReduceScatter(send, receive, size_of(count), ncclFloat32, ncclSum, comm_, stream()));
  });
}

void NcclComm::reduce_parts(float* base, std::span<const int64_t> offset, std::span<const int64_t> count,
                            const NcclOrder& order) {
  issue("a reduce-scatter of uneven parts", order, [&](Calls& calls) {
    for (size_t root = 0; root < count.size(); ++root)
      if (float* const part = base + offset[root]; count[root] > 0)
        calls(ncclReduce(part, part, size_of(count[root]), ncclFloat32, ncclSum, static_cast<int>(root), comm_,
                         stream()));
  });
}

void NcclComm::all_gather(const void* mine, void* all, int64_t count, Element element, const NcclOrder& order) {
  issue("an all-gather", order, [&](Calls& calls) {
    if (count > 0) calls(ncclAllGather(mine, all, size_of(count), type_of(element), comm_, stream()));
  });
}

void NcclComm::all_gather_parts(std::byte* base, std::span<const int64_t> offset, std::span<const int64_t> bytes,
                                const NcclOrder& order) {
  issue("an all-gather of uneven parts", order, [&](Calls& calls) {
    for (size_t root = 0; root < bytes.size(); ++root)
      if (std::byte* const part = base + offset[root]; bytes[root] > 0)
        calls(ncclBroadcast(part, part, size_of(bytes[root]), ncclUint8, static_cast<int>(root), comm_, stream()));
  });
}

void NcclComm::broadcast(void* data, int64_t bytes, int64_t root, const NcclOrder& order) {
  issue("a broadcast", order, [&](Calls& calls) {
    if (bytes > 0) calls(ncclBroadcast(data, data, size_of(bytes), ncclUint8, static_cast<int>(root), comm_, stream()));
  });
}

}  // namespace moemesh
