/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#define _GNU_SOURCE
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Under mpirun standard output tells nothing: Open MPI gives ranks a pseudo-terminal even where its own output is a
 * file. Who starts mpirun knows, and says so by --progress. */
static int wants_bar(const Options* options) {
  if (options->progress == PROGRESS_AUTO) return !options->mpi && isatty(STDOUT_FILENO);
  return options->progress == PROGRESS_BAR;
}

static void mark(Progress* progress, int64_t step) {
  progress->marked_step = step;
  progress->marked_time = seconds_now();
}

void progress_start(Progress* progress, const Options* options, int silent) {
  *progress = (Progress){.silent = silent, .bar = wants_bar(options), .steps = options->steps};
  progress->with_aux = options->aux > 0;
  progress->with_z = options->z > 0;
  progress->with_drops = options->capacity > 0;
  progress->log_every = options->log_every;
  progress->step_tokens = options->pieces * options->sequences * options->sequence;
  mark(progress, 0);
}

static double speed(const Progress* progress, int64_t step) {
  const double seconds = seconds_now() - progress->marked_time;
  return seconds > 0 ? (double)((step - progress->marked_step) * progress->step_tokens) / seconds : 0;
}

static void draw_bar(Progress* progress, const StepReport* report) {
  const int full = (int)(report->step * BAR_WIDTH / progress->steps);
  printf("\r[%.*s%*s] %" PRId64 "/%" PRId64 "  loss %.4f  %.1fk tokens/s ", full, "##############################",
         BAR_WIDTH - full, "", report->step, progress->steps, report->loss, 1e-3 * speed(progress, report->step));
  if (report->step == progress->steps) putchar('\n');
  fflush(stdout);
}

static void print_line(Progress* progress, const StepReport* report) {
  printf("step %5" PRId64 "/%" PRId64 "  loss %.7f", report->step, progress->steps, report->loss);
  if (progress->with_aux) printf("  aux %.5f", report->aux);
  if (progress->with_z) printf("  z %.5f", report->z);
  if (progress->with_drops) printf("  dropped %.2f%%", 1e2 * report->dropped);
  printf("  norm %.4f  lr %.2e  %.1fk tokens/s%s\n", report->norm, report->learning_rate,
         1e-3 * speed(progress, report->step), report->skipped ? "  SKIPPED: a gradient was not finite" : "");
  fflush(stdout);
  mark(progress, report->step);
}

void progress_step(Progress* progress, const StepReport* report) {
  if (progress->silent) return;
  if (progress->bar)
    draw_bar(progress, report);
  else if (report->step == 1 || report->step % progress->log_every == 0 || report->step == progress->steps)
    print_line(progress, report);
}

void progress_held_out(Progress* progress, int64_t step, double loss, double bigram) {
  if (!progress->silent) {
    if (progress->bar && step < progress->steps) putchar('\n');
    printf("held-out loss after %" PRId64 " steps: %.5f nats per byte, bigram %.5f, difference %+.5f\n", step, loss,
           bigram, loss - bigram);
    fflush(stdout);
  }
  mark(progress, step);
}
