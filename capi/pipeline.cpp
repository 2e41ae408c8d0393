// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/pipeline.hpp"
#include "capi/call.hpp"

using namespace moemesh;
using namespace moemesh::capi;

constexpr moemesh_pipeline_params capi::pipeline_defaults{sizeof(moemesh_pipeline_params), 0, MOEMESH_FLOAT32,
                                                          MOEMESH_SCHEDULE_1F1B};

namespace {

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

std::shared_ptr<Pipeline> pipeline_of(Call& call, moemesh_pipeline handle) {
  auto pipeline = object_of<Pipeline>(handle, "pipeline");
  call.in(pipeline->mesh());
  return pipeline;
}

moemesh_pipeline_run read_run(const moemesh_pipeline_run* run) {
  return read_struct(run, run_defaults, sizeof run_defaults, "pipeline_run");
}

}  // namespace

int32_t moemesh_pipeline_params_init(moemesh_pipeline_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, pipeline_defaults, sizeof pipeline_defaults, "pipeline_params");
}

int32_t moemesh_pipeline_run_init(moemesh_pipeline_run* run, int64_t struct_size) {
  return init_struct(run, struct_size, run_defaults, sizeof run_defaults, "pipeline_run");
}

int32_t moemesh_pipeline_create(moemesh_mesh mesh, moemesh_optimizer optimizer, const moemesh_pipeline_params* params,
                                moemesh_pipeline* pipeline) {
  return guarded([&](Call& call) {
    required(pipeline, "pipeline");
    const auto object = object_of<Mesh>(mesh, "mesh");
    call.in(*object);
    moemesh_pipeline_params p = pipeline_defaults;
    std::shared_ptr<Optimizer> steps;
    const Finding problem = attempt([&] {
      if (optimizer) steps = object_of<Optimizer>(optimizer, "optimizer");
      p = read_struct(params, pipeline_defaults, sizeof pipeline_defaults, "pipeline_params");
    });
    *pipeline = new_handle<moemesh_pipeline>(Pipeline::create(object, steps, p, problem));
  });
}

void moemesh_pipeline_destroy(moemesh_pipeline* pipeline) { destroy_handle<Pipeline>(pipeline); }

int32_t moemesh_pipeline_begin(moemesh_pipeline pipeline, const moemesh_pipeline_run* run) {
  return guarded([&](Call& call) { pipeline_of(call, pipeline)->begin(read_run(run)); });
}

int32_t moemesh_pipeline_next(moemesh_pipeline pipeline, moemesh_pipeline_action* action) {
  return guarded([&](Call& call) {
    const auto object = pipeline_of(call, pipeline);
    check_result_struct(action, sizeof *action, "action");
    write_struct(action, object->next());
  });
}

int32_t moemesh_pipeline_done(moemesh_pipeline pipeline, int32_t status) {
  return guarded([&](Call& call) { pipeline_of(call, pipeline)->done(status); });
}

int32_t moemesh_pipeline_execute(moemesh_pipeline pipeline, const moemesh_pipeline_run* run,
                                 moemesh_pipeline_function function, void* user) {
  return guarded([&](Call& call) {
    const auto object = pipeline_of(call, pipeline);
    required(function, "function");
    object->begin(read_run(run));
    for (;;) {
      const moemesh_pipeline_action action = object->next();
      if (action.kind == MOEMESH_ACTION_END) return;
      object->done(function(user, &action));
    }
  });
}

int32_t moemesh_pipeline_get_info(moemesh_pipeline pipeline, moemesh_pipeline_info* info) {
  return guarded([&](Call& call) {
    const auto object = pipeline_of(call, pipeline);
    check_result_struct(info, sizeof *info, "info");
    write_struct(info, object->info());
  });
}
