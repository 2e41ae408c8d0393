// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <string>

namespace moemesh::test {

// Counts what libmoemesh and its MPI module ask the heap for, on this thread, while one lives. malloc and its kin and
// `operator new` are this program's own; a call counts where the innermost function on the stack, the C and C++ runtimes'
// left out, lies in a library of ours. So MPI's, oneDNN's and the program's own allocations do not count.
class AllocationCounter {
 public:
  static bool available();  // not under a sanitizer, which has its own malloc
  AllocationCounter();
  ~AllocationCounter();
  AllocationCounter(const AllocationCounter&) = delete;
  AllocationCounter& operator=(const AllocationCounter&) = delete;

  static int64_t count();
  static std::string first();  // where the first one came from: library and offsets, innermost first
};

}  // namespace moemesh::test
