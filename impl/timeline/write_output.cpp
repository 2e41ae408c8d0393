// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <cerrno>
#include <cstring>
#include <fstream>

#include "impl/base/error.hpp"
#include "impl/timeline/writers.hpp"

namespace moemesh::timeline {
namespace {

void write(const Results& results, int32_t output, int64_t step, std::ostream& out) {
  switch (output) {
    case MOEMESH_REPORT_TABLE:
      return write_table(results, out);
    case MOEMESH_REPORT_TRACE:
      return write_trace(results, step, out);
    case MOEMESH_REPORT_TIMELINE:
      return write_timeline(results, step, out);
    case MOEMESH_REPORT_SERIES:
      return write_series(results, out);
    default:
      return write_plot(results, out);
  }
}

[[noreturn]] void failed(const char* path) {
  fail(MOEMESH_ERROR_FILE, "cannot write \"{}\": {}", path, errno != 0 ? std::strerror(errno) : "unknown cause");
}

}  // namespace

void write_output(const Results& results, int32_t output, int64_t step, const char* path) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) failed(path);
  write(results, output, step, file);
  file.close();
  if (!file) failed(path);
}

}  // namespace moemesh::timeline
