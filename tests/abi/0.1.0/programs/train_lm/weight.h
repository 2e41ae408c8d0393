/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Weights of the dense parts: parameters of the SHARED family, owned by the library. */
#ifndef TRAIN_LM_WEIGHT_H
#define TRAIN_LM_WEIGHT_H

#include "moemesh.h"

typedef struct Weight {
  moemesh_parameter handle;
  float* value;    /* this rank's part; from acquire to release */
  float* gradient; /* of the same shape, to be added into; from acquire_with_gradient to release */
  float* widened;  /* of a bf16 parameter: room for its values as floats */
} Weight;

/* How a matrix lies over the tp ranks. */
typedef enum WeightSplit { WEIGHT_WHOLE = -1, WEIGHT_BY_ROWS = 0, WEIGHT_BY_COLUMNS = 1 } WeightSplit;

/* A matrix of normally distributed values. */
void weight_register_matrix(Weight* weight, moemesh_family family, const char* name, int64_t rows, int64_t columns,
                            double deviation, WeightSplit split);
/* The same for a matrix that the first and the last stage share: both register it, and it is one parameter. */
void weight_register_tied(Weight* weight, moemesh_family family, const char* name, int64_t rows, int64_t columns,
                          double deviation);
/* A norm's gain: ones, whole on every tp rank, without weight decay. */
void weight_register_gain(Weight* weight, moemesh_family family, const char* name, int64_t size);
void weight_free(Weight* weight);

/* Elements of the unsplit parameter. */
int64_t weight_count(moemesh_parameter handle);

void weight_acquire(Weight* weight);
/* Within a step only. */
void weight_acquire_with_gradient(Weight* weight);
void weight_release(Weight* weight);
/* This microbatch's gradient is complete. */
void weight_ready(Weight* weight);

#endif
