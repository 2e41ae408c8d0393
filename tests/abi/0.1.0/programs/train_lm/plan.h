/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What the library says of the options, before anything is started. */
#ifndef TRAIN_LM_PLAN_H
#define TRAIN_LM_PLAN_H

#include "options.h"

/* Stops the program if the library would refuse the mesh, the layers or the pipeline. Local, and needs no other ranks. */
void plan_check(const Options* options);

#endif
