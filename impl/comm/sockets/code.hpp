// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <string>

namespace moemesh::sockets {

// What a function of the table returns: 0, or which failure it is, with which rank of the world, and the system's error number.
enum class Failure : int32_t {
  none,
  out_of_memory,
  message_too_long,
  lost,       // its process ended, or it was cut off
  left,       // it closed its context
  garbled,    // what came from it is no message of ours
  late,       // it did not close in time
  no_handle,  // the table's way to open a communicator is not there
  bad_fake_nodes,
};

inline constexpr int64_t most_ranks = int64_t{1} << 20;

constexpr int32_t code_of(Failure failure, int64_t rank = 0, int error = 0) {
  return static_cast<int32_t>(failure) << 27 | static_cast<int32_t>(rank) << 7 | (error & 127);
}
std::string text_of(int32_t code);

}  // namespace moemesh::sockets
