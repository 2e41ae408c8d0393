// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "recording.hpp"

#include <cmath>

namespace contention {

#ifdef CONTENTION_HAS_REPORT

Recording::Recording(const Job& job) : job_(job) {
  auto params = defaults(moemesh_report_params_init);
  params.events = 0;  // sums are wanted, no picture
  CHECK(moemesh_report_create(job.mesh(), &params, &report_));
}

Recording::~Recording() { moemesh_report_destroy(&report_); }

Operations Recording::end() {
  CHECK(moemesh_report_stop(report_));
  CHECK(moemesh_report_collect(report_));
  moemesh_report_summary summary{};
  summary.struct_size = sizeof summary;
  CHECK(moemesh_report_get_summary(report_, &summary));
  const auto ranks = static_cast<double>(job_.size());
  return {summary.transfer[MOEMESH_REPORT_EXCHANGE] / ranks, summary.wait[MOEMESH_REPORT_EXCHANGE] / ranks,
          summary.exposed[MOEMESH_REPORT_REDUCTION] / ranks};
}

#else

Recording::Recording(const Job& job) : job_(job) {}
Recording::~Recording() = default;
Operations Recording::end() { return {NAN, NAN, NAN}; }

#endif

}  // namespace contention
