// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#define FMT_HEADER_ONLY 1
#include "impl/base/format.hpp"

#include <fmt/format.h>

namespace moemesh {

std::string format_text(fmt::string_view format, fmt::format_args arguments) { return fmt::vformat(format, arguments); }

}  // namespace moemesh
