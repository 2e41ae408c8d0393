/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "traffic.h"

#include "check.h"

static moemesh_ledger_entry* find_entry(Traffic* traffic, const moemesh_ledger_entry* like) {
  for (int64_t i = 0; i < traffic->count; ++i) {
    moemesh_ledger_entry* entry = &traffic->entries[i];
    if (entry->axes == like->axes && entry->family == like->family && entry->phase == like->phase &&
        entry->collective == like->collective)
      return entry;
  }
  if (traffic->count == TRAFFIC_ENTRIES) fail("the ledger has more than %d kinds of entries", TRAFFIC_ENTRIES);
  moemesh_ledger_entry* entry = &traffic->entries[traffic->count++];
  *entry = (moemesh_ledger_entry){.axes = like->axes, .family = like->family, .phase = like->phase};
  entry->collective = like->collective;
  return entry;
}

static void add_entry(Traffic* traffic, const moemesh_ledger_entry* more) {
  moemesh_ledger_entry* entry = find_entry(traffic, more);
  entry->calls += more->calls;
  entry->messages += more->messages;
  entry->bytes += more->bytes;
  entry->bytes_internode += more->bytes_internode;
}

void traffic_take(Traffic* traffic, moemesh_mesh mesh) {
  int64_t count = 0;
  CHECK(moemesh_ledger_get_count(mesh, &count));
  for (int64_t i = 0; i < count; ++i) {
    moemesh_ledger_entry entry = {.struct_size = sizeof entry};
    CHECK(moemesh_ledger_get_entry(mesh, i, &entry));
    add_entry(traffic, &entry);
  }
  CHECK(moemesh_ledger_reset(mesh));
}

int64_t traffic_sum_family(const Traffic* traffic, int32_t family) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < traffic->count; ++i) {
    const moemesh_ledger_entry* entry = &traffic->entries[i];
    const int gradients = entry->phase == MOEMESH_PHASE_REDUCTION || entry->phase == MOEMESH_PHASE_UPDATE;
    if (gradients && entry->family == family && entry->collective != MOEMESH_COLLECTIVE_AGREEMENT)
      bytes += entry->bytes;
  }
  return bytes;
}
