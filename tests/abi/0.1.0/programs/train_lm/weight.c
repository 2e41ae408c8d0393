/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "weight.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numbers.h"

static moemesh_parameter_params default_params(const char* name) {
  moemesh_parameter_params params;
  CHECK(moemesh_parameter_params_init(&params, sizeof params));
  params.name = name;
  return params;
}

static moemesh_parameter_params matrix_params(const char* name, int64_t rows, int64_t columns, double deviation) {
  moemesh_parameter_params params = default_params(name);
  params.rank = 2;
  params.extents[0] = rows;
  params.extents[1] = columns;
  params.init_kind = MOEMESH_INIT_NORMAL;
  params.init_value = deviation;
  return params;
}

void weight_register_matrix(Weight* weight, moemesh_family family, const char* name, int64_t rows, int64_t columns,
                            double deviation, WeightSplit split) {
  moemesh_parameter_params params = matrix_params(name, rows, columns, deviation);
  params.tp_kind = split == WEIGHT_WHOLE ? MOEMESH_TP_REPLICA : MOEMESH_TP_SHARDED;
  params.tp_dim = split == WEIGHT_WHOLE ? 0 : (int32_t)split;
  CHECK(moemesh_parameter_register(family, &params, &weight->handle));
}

void weight_register_tied(Weight* weight, moemesh_family family, const char* name, int64_t rows, int64_t columns,
                          double deviation) {
  moemesh_parameter_params params = matrix_params(name, rows, columns, deviation);
  params.tied = 1;
  CHECK(moemesh_parameter_register(family, &params, &weight->handle));
}

void weight_register_gain(Weight* weight, moemesh_family family, const char* name, int64_t size) {
  moemesh_parameter_params params = default_params(name);
  params.rank = 1;
  params.extents[0] = size;
  params.init_kind = MOEMESH_INIT_CONSTANT;
  params.init_value = 1;
  params.decay_scale = 0;
  CHECK(moemesh_parameter_register(family, &params, &weight->handle));
}

void weight_free(Weight* weight) {
  free(weight->widened);
  memset(weight, 0, sizeof *weight);
}

int64_t weight_count(moemesh_parameter handle) {
  moemesh_parameter_info info = {.struct_size = sizeof info};
  CHECK(moemesh_parameter_get_info(handle, &info));
  int64_t elements = info.experts > 0 ? info.experts : 1;
  for (int32_t i = 0; i < info.rank; ++i) elements *= info.extents[i];
  return elements;
}

static float* widen(Weight* weight, const moemesh_view* value) {
  int64_t count = 1;
  for (int32_t i = 0; i < value->rank; ++i) count *= value->extents[i];
  if (weight->widened == NULL) weight->widened = allocate(count, sizeof(float));
  numbers_widen(value->dtype, count, value->data, weight->widened);
  return weight->widened;
}

void weight_acquire(Weight* weight) {
  moemesh_view value;
  CHECK(moemesh_parameter_acquire(weight->handle, NULL, &value));
  weight->value = value.dtype == MOEMESH_FLOAT32 ? value.data : widen(weight, &value);
}

void weight_acquire_with_gradient(Weight* weight) {
  moemesh_view gradient;
  weight_acquire(weight);
  CHECK(moemesh_parameter_get_gradient(weight->handle, &gradient));
  weight->gradient = gradient.data;
}

void weight_release(Weight* weight) {
  CHECK(moemesh_parameter_release(weight->handle));
  weight->value = NULL;
  weight->gradient = NULL;
}

void weight_ready(Weight* weight) { CHECK(moemesh_gradient_ready(weight->handle, NULL, NULL)); }
