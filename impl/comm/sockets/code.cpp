// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/sockets/code.hpp"

#include "impl/base/format.hpp"
#include "impl/comm/sockets/address.hpp"

namespace moemesh::sockets {

std::string text_of(int32_t code) {
  const auto failure = static_cast<Failure>(code >> 27);
  const int64_t rank = code >> 7 & (most_ranks - 1);
  const int error = code & 127;
  const std::string cause = error != 0 ? ": " + error_of(error) : "";
  switch (failure) {
    case Failure::out_of_memory:
      return "out of memory for messages";
    case Failure::message_too_long:
      return "a message is longer than its receiver expects: the ranks are in different calls, or tensor-parallel "
             "peers "
             "passed different numbers of tokens";
    case Failure::lost:
      return format_message("rank {} of the world is lost: its process ended or it was cut off{}", rank, cause);
    case Failure::left:
      return format_message("rank {} of the world closed its context", rank);
    case Failure::garbled:
      return format_message("what came from rank {} of the world is no message", rank);
    case Failure::late:
      return format_message("rank {} of the world did not close its context by the deadline", rank);
    case Failure::no_handle:
      return "a communicator over sockets has no handle to open it by";
    case Failure::bad_fake_nodes:
      return "MOEMESH_FAKE_NODES is not a positive number";
    case Failure::none:
      break;
  }
  return "unknown error";
}

}  // namespace moemesh::sockets
