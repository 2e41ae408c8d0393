/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#include "rules.h"

#include <moemesh.h>

struct rule rules[] = {
    {"gradient_ready.gradient.strides[[]*[]]=max32", SKIPPED, "rows that far apart", 0},
    {"layer_*.params.*.strides[[]0[]]=max32", SKIPPED, "rows that far apart", 0},
};
const int rule_count = sizeof rules / sizeof rules[0];
