/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What the MoE layers keep between forward and backward. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report.h"

/* Of one rank, all its layers and microbatches together; all int64, so that they can be gathered. */
enum { MEMORY_FIELDS = 8 };

/* Planned for experts that are chosen evenly, as often as the stage holds microbatches. */
static void take_memory(const Trainer* trainer, int64_t fields[MEMORY_FIELDS]) {
  const Model* model = &trainer->model;
  const int64_t tokens = trainer->options->sequences * trainer->options->sequence;
  memset(fields, 0, MEMORY_FIELDS * sizeof *fields);
  for (int64_t i = 0; i < model->count; ++i) {
    const moemesh_layer layer = model->blocks[i].moe;
    moemesh_layer_load load = {.struct_size = sizeof load};
    moemesh_tape_bytes bytes = {.struct_size = sizeof bytes};
    moemesh_layer_memory memory = {.struct_size = sizeof memory};
    CHECK(moemesh_layer_balanced_load(layer, tokens, &load));
    load.sequences = trainer->options->aux_scope == MOEMESH_AUX_SEQUENCE ? trainer->options->sequences : 1;
    CHECK(moemesh_layer_plan_bytes(layer, &load, 0, &bytes));
    CHECK(moemesh_layer_get_memory(layer, &memory));
    const int64_t planned[] = {bytes.decision, bytes.plans,         bytes.copies,
                               bytes.hidden,   bytes.shared_hidden, bytes.total};
    for (int field = 0; field < 6; ++field) fields[field] += model->slots * planned[field];
    fields[6] += memory.peak;
    fields[7] += memory.reserved;
  }
}

static const char* kind_of(const Options* options) {
  return options->recompute == MOEMESH_RECOMPUTE_FULL        ? "full"
         : options->recompute == MOEMESH_RECOMPUTE_SELECTIVE ? "selective"
                                                             : "none";
}

static void print_memory(const Trainer* trainer, const int64_t* all) {
  const Session* session = trainer->session;
  printf("\nActivations that the MoE layers keep (recompute %s), kB at the peak on a rank of each pipeline stage\n",
         kind_of(trainer->options));
  puts("  stage  rank  decision     plans    copies    hidden    shared   planned    actual  reserved");
  for (int64_t stage = 0; stage < session->stages && stage < LISTED_RANKS; ++stage) {
    const int64_t rank = first_rank_of(session, stage);
    printf("  %5" PRId64 " %5" PRId64, stage, rank);
    for (int field = 0; field < MEMORY_FIELDS; ++field)
      printf(" %9.1f", 1e-3 * (double)all[rank * MEMORY_FIELDS + field]);
    putchar('\n');
  }
  puts(
      "  Planned: for experts chosen evenly; actual: the sum of the layers' peaks; reserved: with what is kept for "
      "reuse.");
}

void report_memory(const Trainer* trainer) {
  int64_t own[MEMORY_FIELDS];
  take_memory(trainer, own);
  int64_t* all = session_gather(trainer->session, own, MEMORY_FIELDS);
  if (trainer->session->rank == 0) print_memory(trainer, all);
  free(all);
}
