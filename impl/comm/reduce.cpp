// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Reductions with an owner: every contribution goes to the rank that owns the element, which adds them in rank order.

#include <algorithm>
#include <array>
#include <type_traits>

#include "impl/base/error.hpp"
#include "impl/comm/batch.hpp"
#include "impl/comm/communicator.hpp"
#include "impl/comm/device_group.hpp"

namespace moemesh {
namespace {

template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;  // wraps instead of overflowing
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

// NaN wins, so that a bad value is never hidden by a reduction.
template <class T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}

template <class T>
void combine(Communicator::Op op, T* into, const T* from, int64_t count) {
  using Op = Communicator::Op;
  const auto apply = [&](auto f) {
    for (int64_t i = 0; i < count; ++i) into[i] = f(into[i], from[i]);
  };
  switch (op) {
    case Op::sum:
      return apply(add<T>);
    case Op::max:
      return apply(larger<T>);
    case Op::min:
      return apply(smaller<T>);
    case Op::bit_or:
      if constexpr (std::is_integral_v<T>) return apply([](T a, T b) { return static_cast<T>(a | b); });
  }
}

template <class T>
void require_op(Communicator::Op op) {
  require(std::is_integral_v<T> || op != Communicator::Op::bit_or, MOEMESH_ERROR_INTERNAL,
          "bitwise or of floating-point numbers");
}

// Which part of `count` elements each rank owns, in bytes.
struct Parts {
  Recycled<int64_t> offset, bytes;
  Parts(int64_t count, int64_t ranks, int64_t element) {
    const int64_t length = (count + ranks - 1) / ranks;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const int64_t begin = std::min(count, rank * length), end = std::min(count, begin + length);
      offset.push_back(begin * element);
      bytes.push_back((end - begin) * element);
    }
  }
};

}  // namespace

// Sends part p to rank p and receives every peer's contribution to the own part into scratch_, peers in rank order.
bool Communicator::scatter_contributions(const std::byte* base, std::span<const int64_t> offset,
                                         std::span<const int64_t> bytes, const Purpose& purpose) {
  Batch batch(*this, purpose);
  for_each_peer([&](int64_t peer) {
    const int64_t slot = peer < rank_ ? peer : peer - 1;
    batch.receive(scratch_.data() + slot * bytes[rank_], bytes[rank_], peer);
  });
  for_each_peer([&](int64_t peer) { batch.send(base + offset[peer], bytes[peer], peer); });
  return batch.wait();
}

// result may be `own`. Works through blocks that stay in the first-level cache.
template <class T>
void Communicator::combine_contributions(const T* own, int64_t count, Op op, T* result) const {
  const auto* const contributions = reinterpret_cast<const T*>(scratch_.data());
  std::array<T, 1024> sum;
  for (int64_t begin = 0; begin < count; begin += std::ssize(sum)) {
    const int64_t length = std::min<int64_t>(std::ssize(sum), count - begin);
    for (int64_t rank = 0; rank < size_; ++rank) {
      const T* from = (rank == rank_ ? own : contributions + (rank < rank_ ? rank : rank - 1) * count) + begin;
      if (rank == 0)
        std::copy_n(from, length, sum.data());
      else
        combine(op, sum.data(), from, length);
    }
    std::copy_n(sum.data(), length, result + begin);
  }
}

template <class T>
bool Communicator::all_reduce(T* data, int64_t count, Op op, Purpose purpose) {
  require_op<T>(op);
  if (size_ == 1) return false;
  const Parts parts(count, size_, sizeof(T));
  try {
    scratch_.reserve(link_->allocator, parts.bytes[rank_] * (size_ - 1));
  } catch (const Error&) {
    all_reduce_failed(purpose);
    throw;
  }
  begin(purpose);
  auto* const base = reinterpret_cast<std::byte*>(data);
  if (scatter_contributions(base, parts.offset, parts.bytes, purpose)) {
    send_failure_half(purpose);
    return true;
  }
  T* const own = data + parts.offset[rank_] / static_cast<int64_t>(sizeof(T));
  combine_contributions(own, parts.bytes[rank_] / static_cast<int64_t>(sizeof(T)), op, own);
  return gather_parts(base, parts.offset, parts.bytes, true, purpose);
}

void Communicator::reserve_all_reduce(int64_t bytes) {
  constexpr int64_t element = 8;
  if (size_ > 1) scratch_.reserve(link_->allocator, (bytes + element * size_ - 1) / size_ * (size_ - 1));
}

void Communicator::all_reduce_failed(Purpose purpose) {
  if (size_ == 1) return;
  begin(purpose);
  send_failure_half(purpose);
  send_failure_half(purpose);
}

bool Communicator::sum_of_kernels(float* data, int64_t count, Purpose purpose) {
  if (size_ == 1) return false;
  if (devices_) return devices_->sum(data, count, purpose);
  kernels::finish();
  return all_reduce(data, count, Op::sum, purpose);
}

void Communicator::sum_of_kernels_failed(int64_t count, Purpose purpose) {
  if (devices_)
    devices_->sum_failed(count, purpose);
  else
    all_reduce_failed(purpose);
}

void Communicator::reserve_sum_of_kernels(int64_t count) {
  if (devices_)
    devices_->reserve_sum(count);
  else
    reserve_all_reduce(count * static_cast<int64_t>(sizeof(float)));
}

void Communicator::send_failure_half(const Purpose& purpose) {
  Batch batch(*this, purpose);
  for_each_peer([&](int64_t peer) { batch.send(&failure_mark, 1, peer); });
  for_each_peer([&](int64_t peer) { batch.drain(peer); });
  (void)batch.wait();  // this rank knows of a failure already
}

template <class T>
void Communicator::reduce_scatter(const T* send, T* receive, int64_t count, Op op, Purpose purpose) {
  require_op<T>(op);
  if (size_ == 1) {
    std::copy_n(send, count, receive);
    return;
  }
  const int64_t part = count * static_cast<int64_t>(sizeof(T));
  begin(purpose);
  try {
    scratch_.reserve(link_->allocator, part * (size_ - 1));
  } catch (const Error&) {
    send_failure_half(purpose);
    throw;
  }
  Recycled<int64_t> offset(static_cast<size_t>(size_)), bytes(static_cast<size_t>(size_), part);
  for (int64_t peer = 0; peer < size_; ++peer) offset[peer] = peer * part;
  if (scatter_contributions(reinterpret_cast<const std::byte*>(send), offset, bytes, purpose))
    fail(MOEMESH_ERROR_PEER_FAILED, "another rank failed in a reduce_scatter over {} ranks", size_);
  combine_contributions(send + rank_ * count, count, op, receive);
}

#define MOEMESH_INSTANTIATE(T)                                      \
  template bool Communicator::all_reduce(T*, int64_t, Op, Purpose); \
  template void Communicator::reduce_scatter(const T*, T*, int64_t, Op, Purpose);
MOEMESH_INSTANTIATE(float)
MOEMESH_INSTANTIATE(double)
MOEMESH_INSTANTIATE(int32_t)
MOEMESH_INSTANTIATE(int64_t)
MOEMESH_INSTANTIATE(uint32_t)
#undef MOEMESH_INSTANTIATE

}  // namespace moemesh
