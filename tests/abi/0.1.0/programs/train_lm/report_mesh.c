/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "report.h"

static void print_members(const Session* session, int32_t axes, int64_t rank, int64_t size) {
  putchar('{');
  for (int64_t position = 0; position < size && position < LISTED_RANKS; ++position) {
    int64_t member = 0;
    CHECK(moemesh_mesh_get_group_member(session->mesh, axes, rank, position, &member));
    printf("%s%" PRId64, position > 0 ? "," : "", member);
  }
  printf(size > LISTED_RANKS ? ",...}" : "}");
}

/* Every group, at its first rank; of a large mesh those of the first ranks. */
static void print_all_members(const Session* session, int32_t axes) {
  const int64_t ranks = session->world < LISTED_RANKS ? session->world : LISTED_RANKS;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    moemesh_group group = {.struct_size = sizeof group};
    CHECK(moemesh_mesh_get_group(session->mesh, axes, rank, &group));
    if (group.position == 0) print_members(session, axes, rank, group.size);
  }
  puts(session->world > ranks ? "..." : "");
}

static void print_group(const Session* session, const char* name, int32_t axes, int is_axis) {
  moemesh_group group = {.struct_size = sizeof group};
  moemesh_axis_report axis = {.struct_size = sizeof axis};
  char stride[24] = "-";
  CHECK(moemesh_mesh_get_group(session->mesh, axes, 0, &group));
  if (is_axis) {
    CHECK(moemesh_mesh_get_axis_report(session->mesh, axes, &axis));
    snprintf(stride, sizeof stride, "%" PRId64, axis.stride);
  }
  printf("  %-26s %6" PRId64 " %7s %7" PRId64 " %8s  ", name, group.size, stride, group.groups,
         group.node_crossing ? "yes" : "no");
  print_all_members(session, axes);
}

void report_groups(const Session* session) {
  if (session->rank != 0) return;
  puts("\nGroups of the mesh");
  puts("  axis                         size  stride  groups  crosses  ranks");
  puts("                                                      nodes");
  print_group(session, "tp", MOEMESH_AXIS_TP, 1);
  print_group(session, "ep", MOEMESH_AXIS_EP, 1);
  print_group(session, "pp (stages)", MOEMESH_AXIS_PP, 1);
  print_group(session, "dp", MOEMESH_AXIS_DP, 1);
  print_group(session, "ep+dp (shared gradients)", MOEMESH_GROUP_SHARED_GRADIENT, 0);
  print_group(session, "expert tp", MOEMESH_AXIS_EXPERT_TP, 0);
  print_group(session, "expert ep (token exchange)", MOEMESH_GROUP_EXPERT_EXCHANGE, 0);
  print_group(session, "expert dp (gradients)", MOEMESH_GROUP_EXPERT_GRADIENT, 0);
}

/* Neighbour stages; forward: from each rank to the next stage's, else to the previous one's. */
static void print_pairs(const Session* session, const char* name, int forward) {
  const int64_t ranks = session->world < LISTED_RANKS ? session->world : LISTED_RANKS;
  const char* gap = "";
  printf("  %-12s ", name);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const int64_t stage = session_stage_of(session, rank);
    const int64_t other = forward ? stage + 1 : stage - 1;
    int64_t to = 0;
    if (other < 0 || other >= session->stages) continue;
    CHECK(moemesh_mesh_get_group_member(session->mesh, MOEMESH_AXIS_PP, rank, other, &to));
    printf("%s%" PRId64 "->%" PRId64, gap, rank, to);
    gap = ", ";
  }
  puts(session->world > ranks ? ", ..." : "");
}

/* use: that of each rank, in PipelineUse's order. */
static void print_loss_ranks(const Session* session, const PipelineUse* use) {
  const char* gap = "";
  printf("  %-12s ", "losses on");
  for (int64_t rank = 0; rank < session->world; ++rank) {
    if (use[rank].losses == 0) continue;
    printf("%s%" PRId64, gap, rank);
    gap = ", ";
  }
  puts("");
}

static int64_t largest(int64_t a, int64_t b) { return a > b ? a : b; }

static void print_stage(const Trainer* trainer, const PipelineUse* use, int64_t stage) {
  const Session* session = trainer->session;
  const double steps = trainer->steps > 0 ? (double)trainer->steps : 1;
  PipelineUse sum = {0};
  int64_t ranks = 0;
  for (int64_t rank = 0; rank < session->world; ++rank) {
    if (session_stage_of(session, rank) != stage) continue;
    ++ranks;
    sum.peak = largest(sum.peak, use[rank].peak);
    sum.bytes = largest(sum.bytes, use[rank].bytes);
    sum.sends += use[rank].sends;
    sum.bytes_sent += use[rank].bytes_sent;
  }
  const double each = steps * (double)ranks;
  printf("  %5" PRId64 " %12" PRId64 " %12.1f %12.2f %12.1f\n", stage, sum.peak, 1e-3 * (double)sum.bytes,
         (double)sum.sends / each, 1e-3 * (double)sum.bytes_sent / each);
}

static void print_pipeline(const Trainer* trainer, const PipelineUse* use) {
  const Session* session = trainer->session;
  printf("\nPipeline of %" PRId64 " stage%s\n", session->stages, session->stages == 1 ? "" : "s");
  if (session->stages > 1) print_pairs(session, "activations", 1);
  if (session->stages > 1) print_pairs(session, "gradients", 0);
  print_loss_ranks(session, use);
  if (session->stages == 1) return;
  puts("         microbatches   buffers of       sends           kB");
  puts("  stage  alive at once  a rank, kB   of a rank  and step");
  for (int64_t stage = 0; stage < session->stages; ++stage) print_stage(trainer, use, stage);
}

void report_pipeline(const Trainer* trainer) {
  const int64_t count = sizeof(PipelineUse) / sizeof(int64_t);
  int64_t* all = session_gather(trainer->session, &trainer->pipeline_use.peak, count);
  if (trainer->session->rank == 0) print_pipeline(trainer, (const PipelineUse*)all);
  free(all);
}
