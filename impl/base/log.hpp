// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <string>
#include <utility>

#include "impl/base/format.hpp"
#include "moemesh.h"

namespace moemesh {

// The host's log callback; silent without one.
class Logger {
 public:
  Logger() = default;
  Logger(moemesh_log_function sink, void* user, int32_t level) : sink_(sink), user_(user), level_(level) {}

  template <class... Args>
  void write(int32_t level, fmt::format_string<Args...> text, Args&&... args) const {
    if (sink_ && level <= level_) sink_(user_, level, format_message(text, std::forward<Args>(args)...).c_str());
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> text, Args&&... args) const {
    write(MOEMESH_LOG_WARNING, text, std::forward<Args>(args)...);
  }

 private:
  moemesh_log_function sink_ = nullptr;
  void* user_ = nullptr;
  int32_t level_ = MOEMESH_LOG_WARNING;
};

}  // namespace moemesh
