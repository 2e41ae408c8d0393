// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "capi/call.hpp"

using namespace moemesh;
using namespace moemesh::capi;

namespace {

constexpr moemesh_pipeline_params pipeline_defaults{sizeof(moemesh_pipeline_params), 0, MOEMESH_FLOAT32,
                                                    MOEMESH_SCHEDULE_1F1B};
constexpr moemesh_pipeline_run run_defaults{sizeof(moemesh_pipeline_run), nullptr, 1, 1};

using P = moemesh_pipeline_params;
static_assert(no_padding(&P::struct_size, &P::width, &P::dtype, &P::schedule));
using R = moemesh_pipeline_run;
static_assert(no_padding(&R::struct_size, &R::rows, &R::microbatches, &R::training));
using A = moemesh_pipeline_action;
static_assert(no_padding(&A::struct_size, &A::rows, &A::kind, &A::microbatch, &A::chunk, &A::reserved, &A::in, &A::out,
                         &A::saved));
using I = moemesh_pipeline_info;
static_assert(no_padding(&I::struct_size, &I::live, &I::peak, &I::bytes, &I::sends, &I::bytes_sent));

[[noreturn]] void missing() { fail(MOEMESH_ERROR_NOT_SUPPORTED, "pipelines are not supported yet"); }

}  // namespace

int32_t moemesh_pipeline_params_init(moemesh_pipeline_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, pipeline_defaults, sizeof pipeline_defaults, "pipeline_params");
}

int32_t moemesh_pipeline_run_init(moemesh_pipeline_run* run, int64_t struct_size) {
  return init_struct(run, struct_size, run_defaults, sizeof run_defaults, "pipeline_run");
}

int32_t moemesh_pipeline_create(moemesh_mesh, moemesh_optimizer, const moemesh_pipeline_params*, moemesh_pipeline*) {
  return guarded([](Call&) { missing(); });
}

void moemesh_pipeline_destroy(moemesh_pipeline*) {}

int32_t moemesh_pipeline_begin(moemesh_pipeline, const moemesh_pipeline_run*) {
  return guarded([](Call&) { missing(); });
}

int32_t moemesh_pipeline_next(moemesh_pipeline, moemesh_pipeline_action*) {
  return guarded([](Call&) { missing(); });
}

int32_t moemesh_pipeline_done(moemesh_pipeline, int32_t) {
  return guarded([](Call&) { missing(); });
}

int32_t moemesh_pipeline_execute(moemesh_pipeline, const moemesh_pipeline_run*, moemesh_pipeline_function, void*) {
  return guarded([](Call&) { missing(); });
}

int32_t moemesh_pipeline_get_info(moemesh_pipeline, moemesh_pipeline_info*) {
  return guarded([](Call&) { missing(); });
}
