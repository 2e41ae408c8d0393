/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * --timeline DIR: records the training and writes where its time went. */
#ifndef TRAIN_LM_TIMELINE_H
#define TRAIN_LM_TIMELINE_H

#include "options.h"
#include "session.h"

/* Stops the program if rank 0 can't write what --timeline (whose DIR is made) and --losses ask for: the files come after
 * the last step. Collective. */
void outputs_check(const Session* session, const Options* options);
/* Collective. Without --timeline this and all that follow do nothing. */
void timeline_start(const Session* session, const Options* options);
/* Writes table.txt, trace.json, timeline.svg, series.csv and balance.svg into DIR and prints who was late.
 * Collective. */
void timeline_finish(const Session* session, const Options* options);

/* What the program itself does between; they nest. */
void timeline_begin(const char* name);
void timeline_end(void);

#endif
