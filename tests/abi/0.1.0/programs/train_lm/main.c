/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * train_lm: a byte-level language model with mixture-of-experts layers, trained through moemesh's C API alone. */
#include <stdio.h>

#include "check.h"
#include "plan.h"
#include "report.h"
#include "timeline.h"

static void print_tables(const Trainer* trainer) {
  report_groups(trainer->session);
  report_pipeline(trainer);
  report_reductions(trainer);
  report_traffic(trainer);
  report_optimizer(trainer);
  report_memory(trainer);
  report_rows(trainer);
}

static void train(const Session* session, const Options* options, const Corpus* corpus) {
  Trainer trainer;
  trainer_create(&trainer, session, options, corpus);
  report_header(session, options, corpus, &trainer.model);
  const BigramResult bigram = bigram_score(corpus);
  report_bigram(session, &bigram);
  timeline_start(session, options);
  const double loss = trainer_run(&trainer, bigram.loss);
  report_result(&trainer, loss, bigram.loss);
  timeline_finish(session, options);
  print_tables(&trainer);
  report_losses(&trainer, loss);
  trainer_destroy(&trainer);
}

int main(int argc, char** argv) {
  const Options options = options_parse(argc, argv);
  plan_check(&options);
  if (options.check) return 0;
  Session session;
  Corpus corpus;
  session_open(&session, &options);
  corpus_load(&corpus, options.files, options.file_count);
  session_require_same(&session, corpus_hash(&corpus), "text");
  outputs_check(&session, &options);
  train(&session, &options, &corpus);
  corpus_free(&corpus);
  session_close(&session);
  return 0;
}
