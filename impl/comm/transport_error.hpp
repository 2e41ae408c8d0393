// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstdint>

#include "impl/base/error.hpp"
#include "impl/comm/communicator.hpp"

namespace moemesh {

// A transport error leaves unknown which messages are through, so it breaks the link for good.
[[noreturn]] inline void transport_failed(Link& link, int32_t code, const char* what) {
  std::array<char, 512> text{};
  link.transport->error_text(code, text.data(), static_cast<int64_t>(text.size()));
  link.broken = true;
  fail(MOEMESH_ERROR_COMMUNICATION, "{} failed: {} (code {})", what, text.data(), code);
}

inline void check_transport(Link& link, int32_t code, const char* what) {
  if (code != 0) transport_failed(link, code, what);
}

}  // namespace moemesh
