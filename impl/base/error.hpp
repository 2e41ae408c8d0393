// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "impl/base/format.hpp"
#include "moemesh.h"

namespace moemesh {

// "MOEMESH_ERROR_...", for texts.
constexpr const char* status_name(int64_t status) {
#define MOEMESH_STATUS_CASE(name, value, text) \
  if (status == value) return "MOEMESH_" #name;
  MOEMESH_STATUS_LIST(MOEMESH_STATUS_CASE)
#undef MOEMESH_STATUS_CASE
  return "MOEMESH_UNKNOWN";
}

// What every internal function throws; capi/ turns it into a status and the last-error text.
class Error : public std::runtime_error {
 public:
  Error(int32_t status, const std::string& text) : std::runtime_error(text), status_(status) {}
  int32_t status() const noexcept { return status_; }

 private:
  int32_t status_;
};

template <class... Args>
[[noreturn]] void fail(int32_t status, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(status, format_message(text, std::forward<Args>(args)...));
}

template <class... Args>
void require(bool condition, int32_t status, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw Error(status, format_message(text, std::forward<Args>(args)...));
}

// What one rank found wrong by itself, kept until it can be told to the others.
struct Finding {
  int32_t status = MOEMESH_OK;
  std::string text;
  explicit operator bool() const { return status != MOEMESH_OK; }
};

template <class F>
Finding attempt(F&& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return {error.status(), error.what()};
  } catch (const std::bad_alloc&) {
    return {MOEMESH_ERROR_OUT_OF_MEMORY, "out of memory"};
  }
}

}  // namespace moemesh
