// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <algorithm>

#include "capi/call.hpp"
#include "impl/base/view.hpp"
#include "impl/comm/nccl_world.hpp"
#include "kernels/runtime.hpp"

using namespace moemesh;
using namespace moemesh::capi;

namespace {

constexpr moemesh_context_params defaults{sizeof(moemesh_context_params),
                                          {0, MOEMESH_COMM_NONE, 0},
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          0.0,
                                          MOEMESH_LOG_WARNING,
                                          0,
                                          0,
                                          0,
                                          -1,
                                          0,
                                          0,
                                          0};
constexpr int64_t first_size = offsetof(moemesh_context_params, deterministic);  // in 0.1.0

using P = moemesh_context_params;
static_assert(no_padding(&P::struct_size, &P::comm, &P::log, &P::log_user, &P::allocate, &P::free, &P::allocator_user,
                         &P::clock, &P::clock_user, &P::timeout_seconds, &P::log_level, &P::mpi_init, &P::threads,
                         &P::progress, &P::device, &P::reserved, &P::deterministic, &P::reserved2));
constexpr moemesh_nccl_comm nccl_defaults{sizeof(moemesh_nccl_comm), 0, 0, {}};
using N = moemesh_nccl_comm;
static_assert(no_padding(&N::struct_size, &N::rank, &N::size, &N::id));
static_assert(sizeof(moemesh_comm) == 16 && sizeof(moemesh_view) == 16 + 2 * 32 + 8);

// What the handle of MOEMESH_COMM_NCCL is the address of.
moemesh_nccl_comm read_nccl_comm(int64_t handle) {
  require_nccl();
  require(handle != 0 && handle % alignof(moemesh_nccl_comm) == 0, MOEMESH_ERROR_INVALID_ARGUMENT,
          "comm.handle: expected the address of a moemesh_nccl_comm, got {}", handle);
  return read_struct(reinterpret_cast<const moemesh_nccl_comm*>(handle), nccl_defaults, sizeof nccl_defaults,
                     "comm.handle");
}

}  // namespace

int32_t moemesh_context_params_init(moemesh_context_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, defaults, first_size, "context_params");
}

int32_t moemesh_context_create(const moemesh_context_params* params, moemesh_context* context) {
  return guarded([&](Call&) {
    required(context, "context");
    auto p = params ? read_struct(params, defaults, first_size, "context_params") : defaults;
    const bool by_nccl = p.comm.kind == MOEMESH_COMM_NCCL;
    const auto nccl = by_nccl ? read_nccl_comm(p.comm.handle) : nccl_defaults;
    if (by_nccl) p.comm.handle = reinterpret_cast<intptr_t>(&nccl);
    *context = new_handle<moemesh_context>(std::make_shared<Context>(p));
  });
}

int32_t moemesh_context_get_info(moemesh_context context, moemesh_context_info* info) {
  return guarded([&](Call& call) {
    const auto object = object_of<Context>(context, "context");
    call.in(object);
    check_result_struct(info, sizeof *info, "info");
    moemesh_context_info result{};
    const auto& world = object->world();
    result.rank = world.rank();
    result.size = world.size();
    const auto& nodes = world.nodes();
    result.node = nodes.empty() ? 0 : nodes[static_cast<size_t>(world.rank())];
    result.nodes = nodes.empty() ? 1 : *std::max_element(nodes.begin(), nodes.end()) + 1;
    result.comm_kind = object->comm_kind();
    result.threads = kernels::runtime_threads();
    result.progress = object->progress();
    result.memory = library_memory;
    result.device = kernels::device();
    write_struct(info, result);
  });
}

int32_t moemesh_context_finalize(moemesh_context context) {
  return guarded([&](Call& call) {
    const auto object = object_of<Context>(context, "context");
    call.in(object);
    object->finalize();
  });
}

void moemesh_context_destroy(moemesh_context* context) { destroy_handle<Context>(context); }
