/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What the library's ledger says that this rank sent, gathered over stretches of the run. */
#ifndef TRAIN_LM_TRAFFIC_H
#define TRAIN_LM_TRAFFIC_H

#include "moemesh.h"

enum { TRAFFIC_ENTRIES = 128 };

typedef struct Traffic {
  moemesh_ledger_entry entries[TRAFFIC_ENTRIES];
  int64_t count;
} Traffic;

/* Adds the ledger's entries and resets it. */
void traffic_take(Traffic* traffic, moemesh_mesh mesh);

/* Bytes that a family's gradients cost: their reduction and the gathering of what the owners made of them. */
int64_t traffic_sum_family(const Traffic* traffic, int32_t family);

#endif
