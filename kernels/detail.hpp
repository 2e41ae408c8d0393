// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include "kernels/bfloat16.hpp"
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

// Flat arrays are cut into tiles of this many elements, each walked like a row. On a device a lane has few of them, so that
// a small array too is work for all of it.
inline constexpr int64_t kTile = kOnHost ? 4096 : 1024;

KOKKOS_INLINE_FUNCTION constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
KOKKOS_INLINE_FUNCTION constexpr int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
KOKKOS_INLINE_FUNCTION constexpr int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

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

// n neighbouring elements: 16 bytes or a multiple of them, unless there is one alone.
template <class T, int32_t n>
struct alignas(n == 1 ? sizeof(T) : 16) Pack {
  T element[n];
  KOKKOS_INLINE_FUNCTION T& operator[](int32_t i) { return element[i]; }
  KOKKOS_INLINE_FUNCTION const T& operator[](int32_t i) const { return element[i]; }
};

// 16 bytes that are read and written at once. What a device writes is told outright: nvcc makes pieces of some of it.
#ifdef __CUDA_ARCH__
using Sixteen = uint4;
KOKKOS_INLINE_FUNCTION void put(const Sixteen& value, Sixteen* to) { __stwb(to, value); }
#else
struct alignas(16) [[gnu::may_alias]] Sixteen {
  uint32_t word[4];
};
KOKKOS_INLINE_FUNCTION void put(const Sixteen& value, Sixteen* to) { *to = value; }
#endif

// Where a pack lies in each of several arrays: their elements [first, first + n).
template <int32_t n>
struct Stretch {
  static constexpr int32_t size = n;
  int64_t first;

  template <class T>
  KOKKOS_INLINE_FUNCTION Pack<T, n> load(const T* array) const {
    Pack<T, n> pack;
    if constexpr (n == 1) {
      pack[0] = array[first];
    } else {
      const auto* from = reinterpret_cast<const Sixteen*>(array + first);
      for (size_t i = 0; i < sizeof pack / 16; ++i) reinterpret_cast<Sixteen*>(&pack)[i] = from[i];
    }
    return pack;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION void save(const Pack<T, n>& pack, T* array) const {
    if constexpr (n == 1) {
      array[first] = pack[0];
    } else {
      auto* to = reinterpret_cast<Sixteen*>(array + first);
      for (size_t i = 0; i < sizeof pack / 16; ++i) put(reinterpret_cast<const Sixteen*>(&pack)[i], to + i);
    }
  }
  // The same for numbers, fp32 or bf16.
  template <class T>
  KOKKOS_INLINE_FUNCTION Pack<float, n> read(const T* array) const {
    const Pack<T, n> from = load(array);
    Pack<float, n> numbers;
    for (int32_t i = 0; i < n; ++i) numbers[i] = to_float(from[i]);
    return numbers;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION void write(const Pack<float, n>& numbers, T* array) const {
    Pack<T, n> to;
    for (int32_t i = 0; i < n; ++i) store(numbers[i], &to[i]);
    save(to, array);
  }
};

KOKKOS_INLINE_FUNCTION int64_t bytes_past_boundary(const void* address) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(address) % 16);
}

// How many elements lie before an address of 16, in the array where they are most.
template <class... T>
KOKKOS_INLINE_FUNCTION int64_t before_boundary(const T*... addresses) {
  int64_t most = 0;
  ((most = larger(most, (16 - bytes_past_boundary(addresses)) % 16 / static_cast<int64_t>(sizeof(T)))), ...);
  return most;
}

// Elements of a pack that has 16 bytes of the smallest type and more of the others.
template <class... T>
constexpr int32_t elements_of_pack() {
  int64_t size = 16;
  ((size = smaller(size, static_cast<int64_t>(sizeof(T)))), ...);
  return static_cast<int32_t>(16 / size);
}

// A lane's part of the elements [begin, end) of arrays of any types: body(Stretch<n>), neighbouring lanes neighbouring
// stretches. n is that of packs where all arrays have them at the same elements; it is 1 before and after those, and for
// arrays that lie differently. On a host it is 1 and the loop a plain one.
template <class Body, class... T>
KOKKOS_INLINE_FUNCTION void for_stretches(int64_t begin, int64_t end, int64_t lane, const Body& body, T*... arrays) {
  if constexpr (kOnHost) {
    for (int64_t i = begin; i < end; ++i) body(Stretch<1>{i});
  } else {
    constexpr int32_t n = elements_of_pack<T...>();
    const int64_t head = smaller(end - begin, before_boundary(arrays + begin...));
    const bool together = ((bytes_past_boundary(arrays + begin + head) == 0) && ...);
    const int64_t packed = together ? (end - begin - head) / n * n : 0;
    for (int64_t i = lane * n; i < packed; i += kLanes * n) body(Stretch<n>{begin + head + i});
    for (int64_t i = lane; i < end - begin - packed; i += kLanes) body(Stretch<1>{begin + (i < head ? i : i + packed)});
  }
}

template <class Body>
struct FlatBody {
  Body body;
  int64_t n;
  KOKKOS_FUNCTION void operator()(int64_t tile, int64_t lane) const {
    body(tile * kTile, smaller(n, (tile + 1) * kTile), lane);
  }
};

// body(begin, end, lane): as for_stretches wants them, for flat arrays of n elements.
template <class Body>
void for_flat(const char* name, int64_t n, const Body& body) {
  for_rows(name, ceil_div(n, kTile), FlatBody<Body>{body, n});
}

// Who works on a row whose results hang together: on a host one item, on a device the lanes of a warp. What sum and most
// return all lanes have; what one lane has written the others see after each and once.
struct Alone {
  template <class F>
  KOKKOS_INLINE_FUNCTION void each(int64_t n, const F& f) const {
    for (int64_t i = 0; i < n; ++i) f(i);
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION auto sum(int64_t n, const F& term) const {
    std::decay_t<decltype(term(n))> total = 0;
    for (int64_t i = 0; i < n; ++i) total += term(i);
    return total;
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION auto most(int64_t n, const F& value) const {
    auto best = Kokkos::reduction_identity<std::decay_t<decltype(value(n))>>::max();
    for (int64_t i = 0; i < n; ++i) {
      const auto here = value(i);
      if (here > best) best = here;
    }
    return best;
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void once(const F& f) const {
    f();
  }
};

using Teams = Kokkos::TeamPolicy<Space, Kokkos::IndexType<int64_t>>;

struct Together {
  const Teams::member_type& team;

  template <class F>
  KOKKOS_INLINE_FUNCTION void each(int64_t n, const F& f) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), f);
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION auto sum(int64_t n, const F& term) const {
    using Value = std::decay_t<decltype(term(n))>;
    Value total = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, n), [&](int64_t i, Value& partial) { partial += term(i); }, total);
    return total;
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION auto most(int64_t n, const F& value) const {
    using Value = std::decay_t<decltype(value(n))>;
    Value best = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, n),
        [&](int64_t i, Value& partial) {
          const Value here = value(i);
          if (here > partial) partial = here;
        },
        Kokkos::Max<Value>(best));
    return best;
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void once(const F& f) const {
    Kokkos::single(Kokkos::PerThread(team), f);
  }
};

using Lanes = std::conditional_t<kOnHost, Alone, Together>;

// Warps of one block. A host that stands in for a device has no more than one thread for sure.
#ifdef MOEMESH_DEVICE_CUDA
inline constexpr int kWarps = 4;
#else
inline constexpr int kWarps = 1;
#endif

template <class Body>
struct TeamBody {
  Body body;
  int64_t rows;
  KOKKOS_FUNCTION void operator()(const Teams::member_type& team) const {
    const int64_t row = int64_t{team.league_rank()} * kWarps + team.team_rank();
    if (row < rows) body(row, Together{team});
  }
};

template <class Body>
struct AloneBody {
  Body body;
  KOKKOS_FUNCTION void operator()(int64_t row) const { body(row, Alone{}); }
};

// body(row, lanes)
template <class Body>
void for_teams(const char* name, int64_t rows, const Body& body) {
  if constexpr (kOnHost) {
    for_each(name, rows, AloneBody<Body>{body});
  } else {
    static const std::string label(name);
    if (rows <= 0) return;
    const auto launch = [body, rows](const Space& on) {
      const auto blocks = static_cast<int>(ceil_div(rows, kWarps));
      Kokkos::parallel_for(label, Teams(on, blocks, kWarps, static_cast<int>(kLanes)), TeamBody<Body>{body, rows});
    };
#ifdef MOEMESH_FAKE_DEVICE
    enter_stream([launch] { launch(host_space()); });
#else
    const Unlocked access;
    launch(space());
#endif
  }
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
