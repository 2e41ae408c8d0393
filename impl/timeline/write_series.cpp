// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <ostream>

#include "impl/base/format.hpp"
#include "impl/timeline/writers.hpp"

namespace moemesh::timeline {

void write_series(const Results& results, std::ostream& out) {
  out << "step,seconds,rows_ratio,idle_seconds,idle_exchange,idle_tensor,idle_reduction,idle_pipeline,idle_caller,"
         "transfer,exposed,late_rank,late_seconds\n";
  int64_t number = results.summary.first_step;
  for (const auto& s : results.steps)
    out << format_message("{},{:.9f},{:.6f},{:.9f},{:.9f},{:.9f},{:.9f},{:.9f},{:.9f},{:.9f},{:.9f},{},{:.9f}\n",
                          number++, s.seconds, s.rows_ratio, s.idle_seconds, s.idle[MOEMESH_REPORT_EXCHANGE],
                          s.idle[MOEMESH_REPORT_TENSOR], s.idle[MOEMESH_REPORT_REDUCTION],
                          s.idle[MOEMESH_REPORT_PIPELINE], s.idle[MOEMESH_REPORT_CALLER], s.transfer, s.exposed,
                          s.late_rank, s.late_seconds);
}

}  // namespace moemesh::timeline
