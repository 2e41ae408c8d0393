// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "kernels/memory.hpp"

// Launching of kernels, shared by the .cpp files of this folder and by nothing else.
namespace moemesh::kernels::detail {

using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<int64_t>>;

// Whether kernels run where the program does, on its memory and before a launch returns.
inline constexpr bool kOnHost = !separate_memory;
static_assert(separate_memory || Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible);

// Work items that share a row: neighbours on a device read neighbouring elements; on a host one item walks the whole
// row, so that the compiler vectorizes its loop.
inline constexpr int64_t kLanes = kOnHost ? 1 : 32;

// Flat arrays are cut into tiles of this many elements, each walked like a row.
inline constexpr int64_t kTile = 4096;

KOKKOS_INLINE_FUNCTION constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
KOKKOS_INLINE_FUNCTION constexpr int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

#ifdef MOEMESH_FAKE_DEVICE
void enter_stream(std::function<void()> kernel);  // this thread's: it runs there, later
#endif

// What a launch would otherwise allocate: a new Space, of which copies are free, and the text of a warning, which Kokkos
// makes ready for each bound that a number converts to.
#ifdef MOEMESH_DEVICE_CUDA
const Space& space();  // on this thread's stream (StreamScope)
#else
inline const Space& host_space() {
  static const Space instance;
  return instance;
}
// Of the fake device: what is launched on it without for_each begins when all before it is through.
inline const Space& space() {
#ifdef MOEMESH_FAKE_DEVICE
  kernels::finish();
#endif
  return host_space();
}
#endif
struct Bound {
  int64_t value;
  operator int64_t() const { return value; }
};
inline Range range(int64_t n) { return Range(space(), Bound{0}, Bound{n}); }

// body(i) for i in [0, n)
template <class Body>
void for_each(const char* name, int64_t n, const Body& body) {
  static const std::string label(name);  // one for each Body; made anew in each call it would be an allocation
  if (n <= 0) return;
#ifdef MOEMESH_FAKE_DEVICE
  enter_stream([body, n] { Kokkos::parallel_for(label, Range(host_space(), Bound{0}, Bound{n}), body); });
#else
  const Unlocked access;
  Kokkos::parallel_for(label, range(n), body);
#endif
}

template <class Body>
struct LaneBody {
  Body body;
  KOKKOS_FUNCTION void operator()(int64_t i) const { body(i / kLanes, i % kLanes); }
};

// body(row, lane): the lane's columns are lane, lane + kLanes, ...
template <class Body>
void for_rows(const char* name, int64_t rows, const Body& body) {
  for_each(name, rows * kLanes, LaneBody<Body>{body});
}

template <class Body>
struct TileBody {
  Body body;
  int64_t n;
  KOKKOS_FUNCTION void operator()(int64_t tile, int64_t lane) const {
    body(tile * kTile + lane, smaller(n, (tile + 1) * kTile));
  }
};

// body(first, end): the elements first, first + kLanes, ... below end
template <class Body>
void for_tiles(const char* name, int64_t n, const Body& body) {
  for_rows(name, ceil_div(n, kTile), TileBody<Body>{body, n});
}

// For results that the caller reads on the host.
inline void finish() {
  static const std::string label("moemesh::finish");
  space().fence(label);
#if defined(MOEMESH_CHECKED_MEMORY) || defined(MOEMESH_FAKE_DEVICE)
  lock_device_memory();
#endif
}

}  // namespace moemesh::kernels::detail
