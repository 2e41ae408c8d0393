// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/optimizer/optimizer.hpp"
#include "capi/call.hpp"

using namespace moemesh;
using namespace moemesh::capi;

namespace {

constexpr moemesh_optimizer_params optimizer_defaults{sizeof(moemesh_optimizer_params),
                                                      1e-3,
                                                      0.9,
                                                      0.999,
                                                      1e-8,
                                                      0,
                                                      0,
                                                      0,
                                                      0,
                                                      default_chunk_bytes,
                                                      MOEMESH_ADAMW,
                                                      1,
                                                      1,
                                                      MOEMESH_OVERLAP_GAPS,
                                                      0,
                                                      0};
constexpr moemesh_step_params step_defaults{sizeof(moemesh_step_params), 1, 1, MOEMESH_SHARD_MEAN, nullptr};
constexpr moemesh_update_params update_defaults{sizeof(moemesh_update_params), -1, nullptr};

using O = moemesh_optimizer_params;
static_assert(no_padding(&O::struct_size, &O::learning_rate, &O::beta1, &O::beta2, &O::epsilon, &O::weight_decay,
                         &O::momentum, &O::max_norm, &O::bucket_bytes, &O::chunk_bytes, &O::kind, &O::shared_stage,
                         &O::expert_stage, &O::overlap, &O::prefetch, &O::reserved));
using R = moemesh_update_result;
static_assert(no_padding(&R::struct_size, &R::norm, &R::coefficient, &R::steps, &R::skips, &R::tokens, &R::skipped,
                         &R::reserved));

std::shared_ptr<Optimizer> optimizer_of(Call& call, moemesh_optimizer handle) {
  auto optimizer = object_of<Optimizer>(handle, "optimizer");
  call.in(optimizer->mesh());
  return optimizer;
}

}  // namespace

int32_t moemesh_optimizer_params_init(moemesh_optimizer_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, optimizer_defaults, sizeof optimizer_defaults, "optimizer_params");
}

int32_t moemesh_step_params_init(moemesh_step_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, step_defaults, sizeof step_defaults, "step_params");
}

int32_t moemesh_update_params_init(moemesh_update_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, update_defaults, sizeof update_defaults, "update_params");
}

int32_t moemesh_optimizer_create(moemesh_mesh mesh, moemesh_family shared, moemesh_family expert,
                                 const moemesh_optimizer_params* params, moemesh_optimizer* optimizer) {
  return guarded([&](Call& call) {
    required(optimizer, "optimizer");
    const auto object = object_of<Mesh>(mesh, "mesh");
    call.in(*object);
    moemesh_optimizer_params p = optimizer_defaults;
    std::shared_ptr<Family> shared_family, expert_family;
    const Finding problem = attempt([&] {
      if (shared) shared_family = object_of<Family>(shared, "shared");
      if (expert) expert_family = object_of<Family>(expert, "expert");
      p = read_struct(params, optimizer_defaults, sizeof optimizer_defaults, "optimizer_params");
    });
    *optimizer = new_handle<moemesh_optimizer>(Optimizer::create(object, shared_family, expert_family, p, problem));
  });
}

void moemesh_optimizer_destroy(moemesh_optimizer* optimizer) { destroy_handle<Optimizer>(optimizer); }

int32_t moemesh_step_begin(moemesh_optimizer optimizer, const moemesh_step_params* params) {
  return guarded([&](Call& call) {
    const auto object = optimizer_of(call, optimizer);
    const auto p = params ? read_struct(params, step_defaults, sizeof step_defaults, "step_params") : step_defaults;
    check_stream(p.stream);
    const kernels::StreamScope on(p.stream);
    object->begin(p);
  });
}

int32_t moemesh_loss_tokens(moemesh_optimizer optimizer, int32_t microbatch, int64_t tokens) {
  return guarded([&](Call& call) { optimizer_of(call, optimizer)->loss_tokens(microbatch, tokens); });
}

int32_t moemesh_optimizer_step(moemesh_optimizer optimizer, const moemesh_update_params* params,
                               moemesh_update_result* result) {
  return guarded([&](Call& call) {
    const auto object = optimizer_of(call, optimizer);
    moemesh_update_params p = update_defaults;
    const Finding problem = attempt([&] {
      if (params) p = read_struct(params, update_defaults, sizeof update_defaults, "update_params");
      check_stream(p.stream);
      if (result) check_result_struct(result, sizeof *result, "result");
    });
    const kernels::StreamScope on(p.stream);
    const moemesh_update_result made = object->update(p.learning_rate, problem);
    if (result) write_struct(result, made);
  });
}

int32_t moemesh_step_end(moemesh_optimizer optimizer, int32_t reduce) {
  return guarded([&](Call& call) {
    const auto object = optimizer_of(call, optimizer);
    const Finding problem = attempt([&] {
      require(reduce == 0 || reduce == 1, MOEMESH_ERROR_INVALID_ARGUMENT, "reduce: expected 0 or 1, got {}", reduce);
    });
    object->end(reduce == 1, problem);
  });
}

int32_t moemesh_optimizer_get_bytes(moemesh_optimizer optimizer, int32_t family, moemesh_optimizer_bytes* bytes) {
  return guarded([&](Call& call) {
    const auto object = optimizer_of(call, optimizer);
    check_result_struct(bytes, sizeof *bytes, "bytes");
    write_struct(bytes, object->state(family).bytes());
  });
}

int32_t moemesh_optimizer_get_counters(moemesh_optimizer optimizer, moemesh_optimizer_counters* counters) {
  return guarded([&](Call& call) {
    const auto object = optimizer_of(call, optimizer);
    check_result_struct(counters, sizeof *counters, "counters");
    write_struct(counters, moemesh_optimizer_counters{0, object->steps, object->skips});
  });
}

int32_t moemesh_optimizer_set_counters(moemesh_optimizer optimizer, const moemesh_optimizer_counters* counters) {
  return guarded([&](Call& call) {
    const auto object = optimizer_of(call, optimizer);
    const auto wanted = read_struct(counters, moemesh_optimizer_counters{}, sizeof *counters, "counters");
    require(!object->step_open(), MOEMESH_ERROR_INVALID_STATE, "optimizer_set_counters: a step is open");
    constexpr int64_t most = int64_t{1} << 62;  // they go on from there
    require(wanted.steps >= 0 && wanted.steps <= most && wanted.skips >= 0 && wanted.skips <= most,
            MOEMESH_ERROR_INVALID_ARGUMENT, "counters: expected 0..{}, got {}, {}", most, wanted.steps, wanted.skips);
    object->steps = wanted.steps;
    object->skips = wanted.skips;
  });
}
