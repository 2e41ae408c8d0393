/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"

enum { PATH_BYTES = 4096 };

static moemesh_report report; /* NULL: nothing is recorded */

void timeline_start(const Session* session, const Options* options) {
  if (options->timeline == NULL) return;
  if (session->rank == 0 && mkdir(options->timeline, 0777) != 0 && errno != EEXIST)
    fail("cannot make the folder %s: %s", options->timeline, strerror(errno));
  moemesh_report_params params;
  CHECK(moemesh_report_params_init(&params, sizeof params));
  if (options->steps > 0) params.steps = options->steps;
  CHECK(moemesh_report_create(session->mesh, &params, &report));
}

void timeline_begin(const char* name) {
  if (report != NULL) CHECK(moemesh_report_mark_begin(report, name));
}

void timeline_end(void) {
  if (report != NULL) CHECK(moemesh_report_mark_end(report));
}

static void write_output(const Options* options, int32_t output, const char* name) {
  char path[PATH_BYTES];
  if (snprintf(path, sizeof path, "%s/%s", options->timeline, name) >= PATH_BYTES) fail("--timeline: too long");
  CHECK(moemesh_report_write(report, output, -1, path));
}

static void print_late(const Options* options) {
  moemesh_report_summary summary = {.struct_size = sizeof summary};
  CHECK(moemesh_report_get_summary(report, &summary));
  printf("\ntimeline: ranks were idle for %.2f s, all together, because others came late", summary.idle_seconds);
  if (summary.late_rank >= 0)
    printf(" (%.2f s of it for rank %" PRId64 ")", summary.late_seconds, summary.late_rank);
  printf("; most/mean rows %.3f; clocks aligned to %.0f us\nwritten to %s\n", summary.rows_ratio,
         1e6 * summary.clock_error, options->timeline);
}

void timeline_finish(const Session* session, const Options* options) {
  if (report == NULL) return;
  CHECK(moemesh_report_collect(report));
  write_output(options, MOEMESH_REPORT_TABLE, "table.txt");
  write_output(options, MOEMESH_REPORT_TRACE, "trace.json");
  write_output(options, MOEMESH_REPORT_TIMELINE, "timeline.svg");
  write_output(options, MOEMESH_REPORT_SERIES, "series.csv");
  write_output(options, MOEMESH_REPORT_PLOT, "balance.svg");
  if (session->rank == 0) print_late(options);
  CHECK(moemesh_report_stop(report));
  moemesh_report_destroy(&report);
}
