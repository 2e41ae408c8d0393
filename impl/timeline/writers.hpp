// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <iosfwd>

#include "impl/timeline/analysis.hpp"

namespace moemesh::timeline {

void write_table(const Results& results, std::ostream& out);
void write_trace(const Results& results, int64_t step, std::ostream& out);     // -1: all
void write_timeline(const Results& results, int64_t step, std::ostream& out);  // -1: the last one that all ranks have
void write_series(const Results& results, std::ostream& out);
void write_plot(const Results& results, std::ostream& out);

// One of these (moemesh_report_output) to a file; throws ERROR_FILE.
void write_output(const Results& results, int32_t output, int64_t step, const char* path);

}  // namespace moemesh::timeline
