/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The command line. */
#ifndef TRAIN_LM_OPTIONS_H
#define TRAIN_LM_OPTIONS_H

#include <stdint.h>

typedef enum ProgressKind { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_LINES } ProgressKind;

typedef struct Options {
  int64_t mpi;   /* 1: the ranks of MPI's world; 0: one rank, without MPI */
  int64_t check; /* 1: only check the command line */
  int64_t tp;
  int64_t expert_tp; /* 0 = tp */
  int64_t ep;
  int64_t pp;
  int64_t dp;
  const char* order; /* NULL = the library's default */

  int64_t hidden;
  int64_t ffn;
  int64_t layers;
  int64_t heads;
  int64_t experts;
  int64_t top_k;
  int64_t shared_ffn;
  int64_t activation; /* moemesh_activation */
  int64_t gate;       /* moemesh_gate */
  int64_t dtype;      /* moemesh_dtype */
  int64_t tied;       /* 1: the head is the bytes' embedding */
  double capacity;    /* 0 = dropless */
  int64_t drop;       /* moemesh_drop */
  double aux;         /* coefficients; 0 = off */
  int64_t aux_scope;  /* moemesh_aux_scope */
  double z;
  double bias_rate;   /* of the selection; 0 = off */
  int64_t recompute; /* moemesh_recompute */
  int64_t chunks;    /* of an MoE layer's tokens */

  int64_t sequence;     /* bytes of one sequence */
  int64_t sequences;    /* of one piece */
  int64_t pieces;       /* of one step's global batch, whatever the mesh; set by microbatches where that is given */
  int64_t microbatches; /* of a step and data shard; 0 = as pieces say */
  int64_t schedule;     /* moemesh_schedule */
  int64_t steps;
  int64_t warmup; /* steps until the learning rate is whole */

  int64_t optimizer; /* moemesh_optimizer_kind */
  int64_t stage;     /* of both families */
  double learning_rate;
  double weight_decay;

  int64_t seed;
  int64_t threads;
  int64_t eval_every; /* steps; 0 = at the end only */
  int64_t log_every;  /* steps between plain lines */
  int64_t progress;   /* ProgressKind */
  const char* losses;   /* file that rank 0 writes all losses to; NULL = none */
  const char* timeline; /* folder for the timeline report; NULL = none */

  char** files;
  int64_t file_count; /* 0 = the licence texts of the system */
} Options;

/* Prints and exits itself on --help and on a wrong command line. */
Options options_parse(int argc, char** argv);

#endif
