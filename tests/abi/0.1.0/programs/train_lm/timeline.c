/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { PATH_BYTES = 4096 };

typedef struct Output {
  int32_t output; /* moemesh_report_output */
  const char* name;
} Output;

static const Output outputs[] = {{MOEMESH_REPORT_TABLE, "table.txt"},
                                 {MOEMESH_REPORT_TRACE, "trace.json"},
                                 {MOEMESH_REPORT_TIMELINE, "timeline.svg"},
                                 {MOEMESH_REPORT_SERIES, "series.csv"},
                                 {MOEMESH_REPORT_PLOT, "balance.svg"}};
enum { OUTPUT_COUNT = sizeof outputs / sizeof *outputs };

static moemesh_report report; /* NULL: nothing is recorded */

/* Of one of the outputs; returns whether there is room. */
static int make_path(char path[PATH_BYTES], const Options* options, const Output* output) {
  return snprintf(path, PATH_BYTES, "%s/%s", options->timeline, output->name) < PATH_BYTES;
}

/* Opens a file as if to write it, but leaves it as it is; one that was not there is removed again. Returns errno's
 * number, or 0. */
static int try_file(const char* path) {
  const int is_new = access(path, F_OK) != 0;
  FILE* file = fopen(path, "ab");
  if (file == NULL) return errno;
  fclose(file);
  if (is_new) remove(path);
  return 0;
}

/* What keeps this rank from writing into the folder, as errno's number; 0: nothing. */
static int try_folder(const Options* options) {
  if (mkdir(options->timeline, 0777) != 0 && errno != EEXIST) return errno;
  for (int i = 0; i < OUTPUT_COUNT; ++i) {
    char path[PATH_BYTES];
    const int obstacle = make_path(path, options, &outputs[i]) ? try_file(path) : ENAMETOOLONG;
    if (obstacle != 0) return obstacle;
  }
  return 0;
}

void outputs_check(const Session* session, const Options* options) {
  int64_t own[] = {0, 0};
  if (session->rank == 0 && options->timeline != NULL) own[0] = try_folder(options);
  if (session->rank == 0 && options->losses != NULL) own[1] = try_file(options->losses);
  int64_t* obstacles = session_gather(session, own, 2);
  if (obstacles[0] != 0)
    fail_option("--timeline: %s: expected a folder that rank 0 can write into, got '%s'", strerror((int)obstacles[0]),
                options->timeline);
  if (obstacles[1] != 0)
    fail_option("--losses: %s: expected a file that rank 0 can write, got '%s'", strerror((int)obstacles[1]),
                options->losses);
  free(obstacles);
}

void timeline_start(const Session* session, const Options* options) {
  if (options->timeline == NULL) return;
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

static void write_output(const Options* options, const Output* output) {
  char path[PATH_BYTES];
  make_path(path, options, output); /* has room: outputs_check saw to it */
  CHECK(moemesh_report_write(report, output->output, -1, path));
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
  for (int i = 0; i < OUTPUT_COUNT; ++i) write_output(options, &outputs[i]);
  if (session->rank == 0) print_late(options);
  CHECK(moemesh_report_stop(report));
  moemesh_report_destroy(&report);
}
