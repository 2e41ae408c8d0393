/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report.h"

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
    {MOEMESH_AXIS_EP + MOEMESH_AXIS_PP + MOEMESH_AXIS_DP, "ep+pp+dp"},
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
    {MOEMESH_PHASE_RECOMPUTE, "recompute"},
    {0, NULL},
};
static const Name collective_names[] = {
    {MOEMESH_COLLECTIVE_ALL_TO_ALL, "all-to-all"},
    {MOEMESH_COLLECTIVE_COUNT_EXCHANGE, "count exchange"},
    {MOEMESH_COLLECTIVE_ALL_REDUCE, "all-reduce"},
    {MOEMESH_COLLECTIVE_ALL_GATHER, "all-gather"},
    {MOEMESH_COLLECTIVE_REDUCE_SCATTER, "reduce-scatter"},
    {MOEMESH_COLLECTIVE_BROADCAST, "broadcast"},
    {MOEMESH_COLLECTIVE_AGREEMENT, "agreement"},
    {MOEMESH_COLLECTIVE_PIPELINE, "pipeline"},
    {MOEMESH_COLLECTIVE_CLOCK, "clock"},
    {0, NULL},
};

/* Steps to divide by: none made, nothing to divide. */
static double per_step(const Trainer* trainer, double total) {
  return trainer->steps > 0 ? total / (double)trainer->steps : 0;
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
  const int64_t shared = trainer->model.elements[MOEMESH_SHARED];
  const int64_t expert = trainer->model.elements[MOEMESH_EXPERT];
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
      "0:");
  puts(
      "  the sums, stages 1 and 2: updated parameters) comes back: 2(d-1)/d of the bytes that a rank holds, over d "
      "ranks;");
  puts("  stage 2 sends gradients in every microbatch.");
  puts(
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

/* Of one rank and family; all int64, so that they can be gathered. */
enum { BYTES_FIELDS = 9 };

static void take_bytes(const Trainer* trainer, int32_t family, int64_t fields[BYTES_FIELDS]) {
  moemesh_optimizer_bytes bytes = {.struct_size = sizeof bytes};
  CHECK(moemesh_optimizer_get_bytes(trainer->optimizer, family, &bytes));
  const int64_t all[BYTES_FIELDS] = {bytes.elements,  bytes.shard_width, bytes.parameters,
                                     bytes.gradients, bytes.masters,     bytes.moments,
                                     bytes.bucket,    bytes.planned,     bytes.actual};
  memcpy(fields, all, sizeof all);
}

static void print_optimizer_bytes(const char* name, int64_t rank, int64_t stage, const int64_t* fields) {
  printf("  %5" PRId64 " %5" PRId64 "  %-7s %8" PRId64 " %5" PRId64, stage, rank, name, fields[0], fields[1]);
  for (int i = 2; i < BYTES_FIELDS; ++i) printf(" %9.1f", 1e-3 * (double)fields[i]);
  putchar('\n');
}

int64_t first_rank_of(const Session* session, int64_t stage) {
  int64_t rank = 0;
  while (session_stage_of(session, rank) != stage) ++rank;
  return rank;
}

static void print_optimizer(const Trainer* trainer, const int64_t* all) {
  const Session* session = trainer->session;
  printf("\nParameters, gradients and optimizer state at optimizer stage %" PRId64
         ", kB on a rank of each pipeline stage\n",
         trainer->options->stage);
  puts("  stage  rank  family  elements width     value  gradient    master    moment    bucket   planned    actual");
  for (int64_t stage = 0; stage < session->stages && stage < LISTED_RANKS; ++stage) {
    const int64_t rank = first_rank_of(session, stage);
    print_optimizer_bytes("shared", rank, stage, all + 2 * rank * BYTES_FIELDS);
    print_optimizer_bytes("expert", rank, stage, all + (2 * rank + 1) * BYTES_FIELDS);
  }
}

void report_optimizer(const Trainer* trainer) {
  int64_t own[2 * BYTES_FIELDS];
  take_bytes(trainer, MOEMESH_SHARED, own);
  take_bytes(trainer, MOEMESH_EXPERT, own + BYTES_FIELDS);
  int64_t* all = session_gather(trainer->session, own, 2 * BYTES_FIELDS);
  if (trainer->session->rank == 0) print_optimizer(trainer, all);
  free(all);
}
