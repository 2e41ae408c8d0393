// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <cstring>

#include "capi/call.hpp"
#include "impl/base/view.hpp"

using namespace moemesh;
using namespace moemesh::capi;

namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
using Op = Communicator::Op;

Purpose caller(int32_t collective) { return {0, MOEMESH_PHASE_CALLER, collective}; }

Op op_of(int32_t op) {
  require(op == MOEMESH_SUM || op == MOEMESH_MAX, bad, "op: expected 1 (SUM) or 2 (MAX), got {}", op);
  return op == MOEMESH_SUM ? Op::sum : Op::max;
}

// f(pointer of the element type) for the dtypes that can be combined.
template <class F>
void with_type(const moemesh_view& view, F&& f) {
  switch (view.dtype) {
    case MOEMESH_FLOAT32:
      return f(static_cast<float*>(view.data));
    case MOEMESH_FLOAT64:
      return f(static_cast<double*>(view.data));
    case MOEMESH_INT32:
      return f(static_cast<int32_t*>(view.data));
    case MOEMESH_INT64:
      return f(static_cast<int64_t*>(view.data));
    default:
      fail(MOEMESH_ERROR_NOT_SUPPORTED, "dtype: collectives take FLOAT32, FLOAT64, INT32 and INT64, got {}",
           view.dtype);
  }
}

Communicator& group_of(Call& call, moemesh_mesh handle, int32_t axes) {
  const auto mesh = object_of<Mesh>(handle, "mesh");
  call.in(*mesh);
  mesh->require_usable();
  require(MeshLayout::valid_axes(axes), bad, "axes: expected axes of the dense grid, or of the expert grid, got {}",
          axes);
  return mesh->group(axes);
}

int64_t check_array(const moemesh_view* view, const char* name) {
  const int64_t count = check_dense(view, name);
  with_type(*view, [](auto*) {});
  return count;
}

// Where sizes differ or one rank's arguments are bad, every rank of the group learns it before anything moves.
void agree(Communicator& group, const char* name, int64_t count, int32_t dtype, int64_t extra, const Finding& problem) {
  const Field fields[] = {{"elements", count}, {"dtype", dtype}, {"op or root", extra}};
  agree_on_configuration(group, name, fields, problem.status, problem.text, MOEMESH_PHASE_CALLER);
}

}  // namespace

int32_t moemesh_all_reduce(moemesh_mesh mesh, int32_t axes, int32_t op, const moemesh_view* array) {
  return guarded([&](Call& call) {
    Communicator& group = group_of(call, mesh, axes);
    int64_t count = 0;
    const Finding problem = attempt([&] {
      count = check_array(array, "array");
      op_of(op);
      group.reserve_all_reduce(count * dtype_bytes(array->dtype));
    });
    agree(group, "all_reduce", count, problem ? 0 : array->dtype, op, problem);
    if (group.size() == 1) return;
    with_type(*array, [&](auto* data) {
      require(!group.all_reduce(data, count, op_of(op), caller(MOEMESH_COLLECTIVE_ALL_REDUCE)), MOEMESH_ERROR_INTERNAL,
              "all_reduce: a rank failed after the ranks had agreed");
    });
  });
}

int32_t moemesh_all_gather(moemesh_mesh mesh, int32_t axes, const moemesh_view* send, const moemesh_view* receive) {
  return guarded([&](Call& call) {
    Communicator& group = group_of(call, mesh, axes);
    int64_t count = 0;
    const Finding problem = attempt([&] {
      count = check_array(send, "send");
      const int64_t all = check_array(receive, "receive");
      require(send->dtype == receive->dtype, bad, "receive.dtype: expected {}, got {}", send->dtype, receive->dtype);
      require(all == count * group.size(), bad, "receive: expected {} elements, got {}", count * group.size(), all);
    });
    agree(group, "all_gather", count, problem ? 0 : send->dtype, 0, problem);
    with_type(*send, [&](auto* data) {
      group.all_gather(data, count, static_cast<decltype(data)>(receive->data), caller(MOEMESH_COLLECTIVE_ALL_GATHER));
    });
  });
}

int32_t moemesh_reduce_scatter(moemesh_mesh mesh, int32_t axes, int32_t op, const moemesh_view* send,
                               const moemesh_view* receive) {
  return guarded([&](Call& call) {
    Communicator& group = group_of(call, mesh, axes);
    int64_t count = 0;
    const Finding problem = attempt([&] {
      const int64_t all = check_array(send, "send");
      count = check_array(receive, "receive");
      op_of(op);
      require(send->dtype == receive->dtype, bad, "receive.dtype: expected {}, got {}", send->dtype, receive->dtype);
      require(all == count * group.size(), bad, "send: expected {} elements, got {}", count * group.size(), all);
    });
    agree(group, "reduce_scatter", count, problem ? 0 : send->dtype, op, problem);
    with_type(*send, [&](auto* data) {
      group.reduce_scatter(data, static_cast<decltype(data)>(receive->data), count, op_of(op),
                           caller(MOEMESH_COLLECTIVE_REDUCE_SCATTER));
    });
  });
}

int32_t moemesh_broadcast(moemesh_mesh mesh, int32_t axes, int64_t root, const moemesh_view* array) {
  return guarded([&](Call& call) {
    Communicator& group = group_of(call, mesh, axes);
    int64_t count = 0;
    const Finding problem = attempt([&] {
      count = check_array(array, "array");
      require(root >= 0 && root < group.size(), bad, "root: expected 0..{}, got {}", group.size() - 1, root);
    });
    agree(group, "broadcast", count, problem ? 0 : array->dtype, root, problem);
    group.broadcast(static_cast<std::byte*>(array->data), count * dtype_bytes(array->dtype), root,
                    caller(MOEMESH_COLLECTIVE_BROADCAST));
  });
}
