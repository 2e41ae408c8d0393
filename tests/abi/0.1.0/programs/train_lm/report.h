/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The tables before and after training. Collective; rank 0 prints. */
#ifndef TRAIN_LM_REPORT_H
#define TRAIN_LM_REPORT_H

#include "bigram.h"
#include "train.h"

/* Of a larger mesh the tables list the first ranks. */
enum { LISTED_RANKS = 16 };

void report_header(const Session* session, const Options* options, const Corpus* corpus, const Model* model);
void report_bigram(const Session* session, const BigramResult* bigram);
void report_result(const Trainer* trainer, double loss, double bigram);

void report_groups(const Session* session);
void report_pipeline(const Trainer* trainer);
void report_reductions(const Trainer* trainer);
void report_traffic(const Trainer* trainer);
void report_optimizer(const Trainer* trainer);
void report_memory(const Trainer* trainer);
void report_rows(const Trainer* trainer);

/* Position 0 of a stage's ranks. */
int64_t first_rank_of(const Session* session, int64_t stage);

/* For --losses: one line a step and one for the held-out loss, enough digits to compare bits. */
void report_losses(const Trainer* trainer, double held_out);

#endif
