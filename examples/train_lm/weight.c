/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "weight.h"

#include "check.h"

static moemesh_parameter_params default_params(const char* name) {
  moemesh_parameter_params params;
  CHECK(moemesh_parameter_params_init(&params, sizeof params));
  params.name = name;
  return params;
}

void weight_register_matrix(Weight* weight, moemesh_family family, const char* name, int64_t rows, int64_t columns,
                            double deviation, WeightSplit split) {
  moemesh_parameter_params params = default_params(name);
  params.rank = 2;
  params.extents[0] = rows;
  params.extents[1] = columns;
  params.init_kind = MOEMESH_INIT_NORMAL;
  params.init_value = deviation;
  params.tp_kind = split == WEIGHT_WHOLE ? MOEMESH_TP_REPLICA : MOEMESH_TP_SHARDED;
  params.tp_dim = split == WEIGHT_WHOLE ? 0 : (int32_t)split;
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

void weight_acquire(Weight* weight) {
  moemesh_view value;
  CHECK(moemesh_parameter_acquire(weight->handle, NULL, &value));
  weight->value = value.data;
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
