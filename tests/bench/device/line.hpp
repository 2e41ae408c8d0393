// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdio>

#include "bench/device/device.hpp"
#include "kernels/memory.hpp"

namespace bench {

inline constexpr double kLimit = 0.2;
inline constexpr int kMost = 20;

// One line: the bytes that can't be avoided, the rate, and its part of a plain copy's.
template <class Body>
void line(const Case& what, const char* kernel, double bytes, double rate, const Body& body) {
  const moemesh::kernels::DeviceScope here;
  const moemesh::kernels::StreamScope stream(nullptr);
  const Spread spread = repeat(kLimit, kMost, body);
  std::printf("kernel | %-8s | %s | %9ld | %-18s | %9.2f MB | %8.3f ms | %8.1f GB/s | %5.2f of a copy\n",
              what.shape.name.c_str(), what.dtype(), static_cast<long>(what.tokens), kernel, 1e-6 * bytes,
              1e3 * spread.median(), 1e-9 * bytes / spread.median(), bytes / spread.median() / rate);
  std::fflush(stdout);
}

}  // namespace bench
