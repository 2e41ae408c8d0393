/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "report.h"

enum { LISTED_RANKS = 16 };

typedef struct Name {
  int32_t value;
  const char* text;
} Name;

static const char* name_of(const Name* names, int32_t value) {
  for (; names->text != NULL; ++names)
    if (names->value == value) return names->text;
  return "?";
}

static const Name axes_names[] = {
    {MOEMESH_AXIS_TP, "tp"},
    {MOEMESH_AXIS_EP, "ep"},
    {MOEMESH_AXIS_PP, "pp"},
    {MOEMESH_AXIS_DP, "dp"},
    {MOEMESH_AXIS_EXPERT_TP, "expert tp"},
    {MOEMESH_GROUP_EXPERT_EXCHANGE, "expert ep"},
    {MOEMESH_GROUP_EXPERT_GRADIENT, "expert dp"},
    {MOEMESH_GROUP_SHARED_GRADIENT, "ep+dp"},
    {MOEMESH_GROUP_STAGE, "tp+ep+dp"},
    {MOEMESH_AXIS_TP + MOEMESH_AXIS_EP, "tp+ep"},
    {MOEMESH_AXIS_EXPERT_TP + MOEMESH_AXIS_EXPERT_EP, "expert tp+ep"},
    {MOEMESH_AXIS_EXPERT_TP + MOEMESH_AXIS_EXPERT_EP + MOEMESH_AXIS_EXPERT_DP, "stage"},
    {MOEMESH_GROUP_WORLD, "world"},
    {0, NULL},
};
static const Name family_names[] = {{0, "-"}, {MOEMESH_SHARED, "shared"}, {MOEMESH_EXPERT, "expert"}, {0, NULL}};
static const Name phase_names[] = {
    {MOEMESH_PHASE_SETUP, "setup"},
    {MOEMESH_PHASE_FORWARD, "forward"},
    {MOEMESH_PHASE_BACKWARD, "backward"},
    {MOEMESH_PHASE_REDUCTION, "reduction"},
    {MOEMESH_PHASE_UPDATE, "update"},
    {MOEMESH_PHASE_CALLER, "caller"},
    {0, NULL},
};
static const Name collective_names[] = {
    {MOEMESH_COLLECTIVE_ALL_TO_ALL, "all-to-all"},         {MOEMESH_COLLECTIVE_COUNT_EXCHANGE, "count exchange"},
    {MOEMESH_COLLECTIVE_ALL_REDUCE, "all-reduce"},         {MOEMESH_COLLECTIVE_ALL_GATHER, "all-gather"},
    {MOEMESH_COLLECTIVE_REDUCE_SCATTER, "reduce-scatter"}, {MOEMESH_COLLECTIVE_BROADCAST, "broadcast"},
    {MOEMESH_COLLECTIVE_AGREEMENT, "agreement"},           {0, NULL},
};

/* Steps to divide by: none made, nothing to divide. */
static double per_step(const Trainer* trainer, double total) {
  return trainer->steps > 0 ? total / (double)trainer->steps : 0;
}

static void print_members(const Session* session, int32_t axes, int64_t size) {
  for (int64_t position = 0; position < size && position < LISTED_RANKS; ++position) {
    int64_t member = 0;
    CHECK(moemesh_mesh_get_group_member(session->mesh, axes, 0, position, &member));
    printf("%s%" PRId64, position > 0 ? "," : "  ", member);
  }
  puts(size > LISTED_RANKS ? ",..." : "");
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
  printf("  %-26s %6" PRId64 " %7s %7" PRId64 " %8s", name, group.size, stride, group.groups,
         group.node_crossing ? "yes" : "no");
  print_members(session, axes, group.size);
}

void report_groups(const Session* session) {
  if (session->rank != 0) return;
  puts("\nGroups of the mesh");
  puts("  axis                         size  stride  groups  crosses  rank 0's group");
  puts("                                                      nodes");
  print_group(session, "tp", MOEMESH_AXIS_TP, 1);
  print_group(session, "ep (token exchange)", MOEMESH_AXIS_EP, 1);
  print_group(session, "pp", MOEMESH_AXIS_PP, 1);
  print_group(session, "dp", MOEMESH_AXIS_DP, 1);
  print_group(session, "ep+dp (shared gradients)", MOEMESH_GROUP_SHARED_GRADIENT, 0);
  print_group(session, "expert dp (gradients)", MOEMESH_GROUP_EXPERT_GRADIENT, 0);
}

static int64_t group_size(const Session* session, int32_t axes) {
  moemesh_group group = {.struct_size = sizeof group};
  CHECK(moemesh_mesh_get_group(session->mesh, axes, session->rank, &group));
  return group.size;
}

/* Mean over the ranks of the bytes that a family's reduction made each of them send in a step. */
static double mean_family_bytes(const Trainer* trainer, int32_t family) {
  const int64_t own = traffic_sum_family(&trainer->traffic, family);
  int64_t* all = session_gather(trainer->session, &own, 1);
  double sum = 0;
  for (int64_t rank = 0; rank < trainer->session->world; ++rank) sum += (double)all[rank];
  free(all);
  return per_step(trainer, sum) / (double)trainer->session->world;
}

static void print_reduction(const char* name, int64_t elements, int64_t ranks, double bytes) {
  printf("  %-32s %12" PRId64 " %6" PRId64 " %14.1f\n", name, elements, ranks, 1e-3 * bytes);
}

static void print_reductions(const Trainer* trainer, double shared_bytes, double expert_bytes) {
  const Session* session = trainer->session;
  const int64_t shared = model_count_elements(&trainer->model, MOEMESH_SHARED);
  const int64_t expert = model_count_elements(&trainer->model, MOEMESH_EXPERT);
  const double world = (double)session->world;
  puts("\nGradient reductions: kB that a rank sends in a step, mean over the ranks");
  puts("                                     parameters   over             kB");
  puts("                                   of the model  ranks");
  print_reduction("shared family", shared, group_size(session, MOEMESH_GROUP_SHARED_GRADIENT), shared_bytes);
  print_reduction("expert family", expert, group_size(session, MOEMESH_GROUP_EXPERT_GRADIENT), expert_bytes);
  printf("  %-32s %12" PRId64 " %6s %14.1f\n", "both families", shared + expert, "",
         1e-3 * (shared_bytes + expert_bytes));
  print_reduction("one reduction over all ranks", shared + expert, session->world,
                  2 * (world - 1) / world * (double)sizeof(float) * (double)(shared + expert));
  puts(
      "  Families: from the ledger. Gradients go to their owners in the group, and what the owners make of them (stage "
      "0:\n"
      "  the sums, stage 1: updated parameters) comes back: 2(d-1)/d of the bytes that a rank holds, over d ranks.\n"
      "  One reduction: the same formula for W ranks that each hold the whole model, 2(W-1)/W x 4 bytes x parameters.");
}

void report_reductions(const Trainer* trainer) {
  const double shared_bytes = mean_family_bytes(trainer, MOEMESH_SHARED);
  const double expert_bytes = mean_family_bytes(trainer, MOEMESH_EXPERT);
  if (trainer->session->rank == 0) print_reductions(trainer, shared_bytes, expert_bytes);
}

void report_traffic(const Trainer* trainer) {
  if (trainer->session->rank != 0) return;
  puts("\nWhat rank 0 sent in a step of training, from the ledger (groups of one rank send nothing)");
  puts("  axes          family   phase      collective           calls  messages             kB  kB between nodes");
  for (int64_t i = 0; i < trainer->traffic.count; ++i) {
    const moemesh_ledger_entry* entry = &trainer->traffic.entries[i];
    printf("  %-13s %-8s %-10s %-16s %9.2f %9.2f %14.2f %17.2f\n", name_of(axes_names, entry->axes),
           name_of(family_names, entry->family), name_of(phase_names, entry->phase),
           name_of(collective_names, entry->collective), per_step(trainer, (double)entry->calls),
           per_step(trainer, (double)entry->messages), 1e-3 * per_step(trainer, (double)entry->bytes),
           1e-3 * per_step(trainer, (double)entry->bytes_internode));
  }
}

/* fp32 value, gradient and the optimizer's state. */
static int64_t unsharded_bytes_per_element(const Options* options) {
  return options->optimizer == MOEMESH_ADAMW ? 16 : 12;
}

static void print_optimizer_bytes(const Trainer* trainer, const char* name, int32_t family) {
  moemesh_optimizer_bytes bytes = {.struct_size = sizeof bytes};
  CHECK(moemesh_optimizer_get_bytes(trainer->optimizer, family, &bytes));
  const double unsharded = (double)(bytes.elements * unsharded_bytes_per_element(trainer->options));
  printf("  %-8s %10" PRId64 " %6" PRId64 " %11.1f %11.1f %11.1f %11.1f %11.1f %11.1f\n", name, bytes.elements,
         bytes.shard_width, 1e-3 * (double)bytes.parameters, 1e-3 * (double)bytes.gradients,
         1e-3 * (double)bytes.moments, 1e-3 * (double)bytes.planned, 1e-3 * (double)bytes.actual, 1e-3 * unsharded);
}

void report_optimizer(const Trainer* trainer) {
  if (trainer->session->rank != 0) return;
  printf("\nParameters, gradients and optimizer state on rank 0 at stage %" PRId64 ", kB\n", trainer->options->stage);
  puts("  family     elements  width  parameters   gradients     moments     planned      actual   unsharded");
  print_optimizer_bytes(trainer, "shared", MOEMESH_SHARED);
  print_optimizer_bytes(trainer, "expert", MOEMESH_EXPERT);
}

static void print_layer_rows(const Trainer* trainer, const int64_t* all, int64_t layer) {
  const int64_t world = trainer->session->world;
  double sum = 0;
  double most = 0;
  for (int64_t rank = 0; rank < world; ++rank) {
    const double rows = per_step(trainer, (double)all[rank * trainer->model.layers + layer]);
    sum += rows;
    most = rows > most ? rows : most;
  }
  const double mean = sum / (double)world;
  printf("  %5" PRId64 " %9.1f %9.1f %9.3f  ", layer, mean, most, mean > 0 ? most / mean : 0);
  for (int64_t rank = 0; rank < world && rank < LISTED_RANKS; ++rank)
    printf(" %.0f", per_step(trainer, (double)all[rank * trainer->model.layers + layer]));
  puts(world > LISTED_RANKS ? " ..." : "");
}

void report_rows(const Trainer* trainer) {
  int64_t* all = session_gather(trainer->session, trainer->rows_received, trainer->model.layers);
  if (trainer->session->rank == 0) {
    puts("\nRows (token, expert) that each rank's experts computed in a step, mean over the steps");
    puts("  layer      mean      most most/mean   by rank");
    for (int64_t layer = 0; layer < trainer->model.layers; ++layer) print_layer_rows(trainer, all, layer);
    fflush(stdout);
  }
  free(all);
}
