// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "capi/call.hpp"

using namespace moemesh;
using namespace moemesh::capi;

namespace {

constexpr moemesh_bill_params bill_defaults{
    sizeof(moemesh_bill_params), 1, 0, 1, MOEMESH_SHARD_MEAN, 1, 1, MOEMESH_FLOAT32, MOEMESH_FLOAT32};

using P = moemesh_bill_params;
static_assert(no_padding(&P::struct_size, &P::steps, &P::tokens, &P::microbatches, &P::objective, &P::shared_stage,
                         &P::expert_stage, &P::shared_dtype, &P::expert_dtype));
using R = moemesh_bill_routing;
static_assert(no_padding(&R::struct_size, &R::copies, &R::rows));

[[noreturn]] void missing() { fail(MOEMESH_ERROR_NOT_SUPPORTED, "the communication bill is not supported yet"); }

}  // namespace

int32_t moemesh_bill_params_init(moemesh_bill_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, bill_defaults, sizeof bill_defaults, "bill_params");
}

int32_t moemesh_bill_create(moemesh_mesh, const moemesh_bill_params*, moemesh_bill*) {
  return guarded([](Call&) { missing(); });
}

void moemesh_bill_destroy(moemesh_bill*) {}

int32_t moemesh_bill_add_layer(moemesh_bill, int64_t, const moemesh_layer_params*, const moemesh_bill_routing*) {
  return guarded([](Call&) { missing(); });
}

int32_t moemesh_bill_add_parameter(moemesh_bill, int64_t, int32_t, const moemesh_parameter_params*) {
  return guarded([](Call&) { missing(); });
}

int32_t moemesh_bill_set_pipeline(moemesh_bill, const moemesh_pipeline_params*) {
  return guarded([](Call&) { missing(); });
}

int32_t moemesh_bill_get_count(moemesh_bill, int64_t, int64_t*) {
  return guarded([](Call&) { missing(); });
}

int32_t moemesh_bill_get_entry(moemesh_bill, int64_t, int64_t, moemesh_ledger_entry*) {
  return guarded([](Call&) { missing(); });
}
