/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "plan.h"

#include "block.h"
#include "check.h"
#include "run.h"
#include "session.h"

/* What does not go into 64 bits the library finds itself. */
static int64_t count_ranks(const Options* options) {
  const int64_t axes[] = {options->tp, options->ep, options->pp, options->dp};
  int64_t ranks = 1;
  for (int i = 0; i < 4; ++i) ranks = ranks > INT64_MAX / axes[i] ? INT64_MAX : ranks * axes[i];
  return ranks;
}

/* Nobody asks what is sent: a bill's calls check their arguments as those that make a layer and a pipeline do. */
static void check_parts(const Options* options, moemesh_bill bill) {
  moemesh_layer_params layer;
  block_describe_moe(&layer, options);
  layer.name = "moe";
  check_options(moemesh_bill_add_layer(bill, 0, &layer, NULL));
  moemesh_pipeline_params pipeline;
  run_describe_pipeline(&pipeline, options);
  check_options(moemesh_bill_set_pipeline(bill, &pipeline));
}

void plan_check(const Options* options) {
  moemesh_mesh_params mesh_params;
  moemesh_bill_params bill_params;
  moemesh_mesh mesh;
  moemesh_bill bill;
  session_describe_mesh(&mesh_params, options);
  check_options(moemesh_mesh_plan(NULL, count_ranks(options), &mesh_params, &mesh));
  CHECK(moemesh_bill_params_init(&bill_params, sizeof bill_params));
  bill_params.shared_stage = bill_params.expert_stage = (int32_t)options->stage;
  bill_params.shared_dtype = bill_params.expert_dtype = (int32_t)options->dtype;
  check_options(moemesh_bill_create(mesh, &bill_params, &bill));
  check_parts(options, bill);
  moemesh_bill_destroy(&bill);
  moemesh_mesh_destroy(&mesh);
}
