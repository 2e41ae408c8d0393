// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <fmt/core.h>

#include <string>

namespace moemesh {

// The formatter itself is compiled once, in format.cpp: its headers would be half the compile time of every file.
std::string format_text(fmt::string_view format, fmt::format_args arguments);

template <class... Args>
std::string format_message(fmt::format_string<Args...> text, Args&&... args) {
  return format_text(text, fmt::make_format_args(args...));
}

}  // namespace moemesh
