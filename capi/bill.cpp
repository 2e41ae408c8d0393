// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/report/bill.hpp"
#include "capi/call.hpp"
#include "impl/family/buckets.hpp"

using namespace moemesh;
using namespace moemesh::capi;

namespace {

constexpr moemesh_bill_params bill_defaults{sizeof(moemesh_bill_params),
                                            1,
                                            0,
                                            0,
                                            default_chunk_bytes,
                                            1,
                                            MOEMESH_SHARD_MEAN,
                                            1,
                                            1,
                                            MOEMESH_FLOAT32,
                                            MOEMESH_FLOAT32,
                                            MOEMESH_OVERLAP_GAPS,
                                            0};
constexpr moemesh_bill_routing routing_defaults{sizeof(moemesh_bill_routing), nullptr, nullptr};

using P = moemesh_bill_params;
static_assert(no_padding(&P::struct_size, &P::steps, &P::tokens, &P::bucket_bytes, &P::chunk_bytes, &P::microbatches,
                         &P::objective, &P::shared_stage, &P::expert_stage, &P::shared_dtype, &P::expert_dtype,
                         &P::overlap, &P::reserved));
using R = moemesh_bill_routing;
static_assert(no_padding(&R::struct_size, &R::copies, &R::rows));

std::shared_ptr<Bill> bill_of(Call& call, moemesh_bill handle) {
  auto bill = object_of<Bill>(handle, "bill");
  call.in(bill->mesh());
  return bill;
}

}  // namespace

int32_t moemesh_bill_params_init(moemesh_bill_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, bill_defaults, sizeof bill_defaults, "bill_params");
}

int32_t moemesh_bill_create(moemesh_mesh mesh, const moemesh_bill_params* params, moemesh_bill* bill) {
  return guarded([&](Call& call) {
    auto object = object_of<Mesh>(mesh, "mesh");
    call.in(*object);
    required(bill, "bill");
    const auto p = read_struct(params, bill_defaults, sizeof bill_defaults, "bill_params");
    *bill = new_handle<moemesh_bill>(std::make_shared<Bill>(std::move(object), p));
  });
}

void moemesh_bill_destroy(moemesh_bill* bill) { destroy_handle<Bill>(bill); }

int32_t moemesh_bill_add_layer(moemesh_bill bill, int64_t stage, const moemesh_layer_params* params,
                               const moemesh_bill_routing* routing) {
  return guarded([&](Call& call) {
    const auto object = bill_of(call, bill);
    const auto layer = read_struct(params, layer_defaults, sizeof layer_defaults, "layer_params");
    moemesh_bill_routing matrices = routing_defaults;
    if (routing) matrices = read_struct(routing, routing_defaults, sizeof routing_defaults, "bill_routing");
    object->add_layer(stage, layer, matrices);
  });
}

int32_t moemesh_bill_add_parameter(moemesh_bill bill, int64_t stage, int32_t family,
                                   const moemesh_parameter_params* params) {
  return guarded([&](Call& call) {
    const auto object = bill_of(call, bill);
    object->add_parameter(stage, family,
                          read_struct(params, parameter_defaults, sizeof parameter_defaults, "parameter_params"));
  });
}

int32_t moemesh_bill_set_pipeline(moemesh_bill bill, const moemesh_pipeline_params* params) {
  return guarded([&](Call& call) {
    const auto object = bill_of(call, bill);
    object->set_pipeline(read_struct(params, pipeline_defaults, sizeof pipeline_defaults, "pipeline_params"));
  });
}

int32_t moemesh_bill_get_count(moemesh_bill bill, int64_t rank, int64_t* count) {
  return guarded([&](Call& call) {
    const auto object = bill_of(call, bill);
    required(count, "count");
    *count = static_cast<int64_t>(object->entries(rank).size());
  });
}

int32_t moemesh_bill_get_entry(moemesh_bill bill, int64_t rank, int64_t index, moemesh_ledger_entry* entry) {
  return guarded([&](Call& call) {
    const auto object = bill_of(call, bill);
    check_result_struct(entry, sizeof *entry, "entry");
    write_entry(object->entries(rank), index, entry);
  });
}
