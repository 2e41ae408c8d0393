// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/whole.hpp"

#include <algorithm>
#include <cstring>

#include "impl/base/error.hpp"
#include "kernels/flat.hpp"

namespace moemesh {
namespace {

// f(flat index, unsplit index, count) for the contiguous runs of one expert's matrix that are here and in [begin, end).
template <class F>
void for_each_run(const Parameter& parameter, int64_t expert, int64_t begin, int64_t end, F&& f) {
  const int64_t local = expert - parameter.experts.first;
  if (local < 0 || local >= parameter.experts.count) return;
  const auto& slice = parameter.slice;
  const int64_t run = slice.local * slice.inner;
  for (int64_t outer = 0; outer < slice.outer; ++outer) {
    const int64_t flat = parameter.offset + local * parameter.local_matrix() + outer * run;
    const int64_t unsplit = (outer * slice.dim + slice.first) * slice.inner;
    const int64_t from = std::max(flat, begin), to = std::min(flat + run, end);
    if (from < to) f(from, unsplit + (from - flat), to - from);
  }
}

void copy_out(const FlatQuantity& quantity, int64_t first, int64_t n, float* to) {
  const int64_t begin = first - quantity.begin;
  if (quantity.flat.element_bytes() == 4) return quantity.flat.copy_out(begin, begin + n, to);
  quantity.flat.for_each(begin, begin + n, [&](const std::byte* data, int64_t from, int64_t count) {
    kernels::widen_bfloat16(count, reinterpret_cast<const uint16_t*>(data), to + (from - begin));
  });
  kernels::finish();
}

void copy_in(const FlatQuantity& quantity, int64_t first, int64_t n, const float* from) {
  const int64_t begin = first - quantity.begin;
  if (quantity.flat.element_bytes() == 4) return quantity.flat.copy_in(begin, begin + n, from);
  SharedBuffer<float> copy;  // where kernels reach it
  if (kernels::separate_memory) {
    copy = SharedBuffer<float>(std::make_shared<Allocator>(), n);
    std::copy_n(from, n, copy.data());
  }
  const float* const values = copy ? copy.data() : from;
  quantity.flat.for_each(begin, begin + n, [&](std::byte* data, int64_t to, int64_t count) {
    kernels::round_to_bfloat16(count, values + (to - begin), reinterpret_cast<uint16_t*>(data));
  });
  kernels::finish();
}

// A parameter that tp peers hold whole is taken from tp 0.
bool contributes(const Parameter& parameter) {
  return parameter.params.tp_kind == MOEMESH_TP_SHARDED || parameter.family->tp_coordinate() == 0;
}

}  // namespace

void check_expert(const Parameter& parameter, int64_t expert) {
  const int64_t count = parameter.family->shared() ? 1 : parameter.params.experts;
  require(expert >= 0 && expert < count, MOEMESH_ERROR_INVALID_ARGUMENT, "{}: expert: expected 0..{}, got {}",
          parameter.name, count - 1, expert);
}

SharedBuffer<uint32_t> reserve_read(const Parameter& parameter) {
  Mesh& mesh = parameter.family->mesh();
  SharedBuffer<uint32_t> bits(mesh.allocator(), parameter.unsplit_matrix());
  mesh.group(MOEMESH_GROUP_STAGE).reserve_all_reduce(bits.bytes());
  return bits;
}

void read_whole(const Parameter& parameter, const FlatQuantity& quantity, int64_t expert,
                const SharedBuffer<uint32_t>& bits, float* whole) {
  const Family& family = *parameter.family;
  const Shards& shards = family.bucket_of(parameter);
  const int64_t owner = family.group().rank();
  const int64_t begin = std::max(quantity.begin, shards.begin(owner)), end = std::min(quantity.end, shards.end(owner));
  kernels::finish();  // whatever has written the elements
  std::fill_n(bits.data(), bits.size(), 0U);
  if (contributes(parameter))
    for_each_run(parameter, expert, begin, end, [&](int64_t flat, int64_t unsplit, int64_t n) {
      copy_out(quantity, flat, n, reinterpret_cast<float*>(bits.data() + unsplit));
    });
  const Purpose purpose{family.kind(), MOEMESH_PHASE_SETUP, MOEMESH_COLLECTIVE_ALL_REDUCE};
  const bool failed =
      family.mesh().group(MOEMESH_GROUP_STAGE).all_reduce(bits.data(), bits.size(), Communicator::Op::bit_or, purpose);
  require(!failed, MOEMESH_ERROR_COMMUNICATION, "parameter_read({}): a rank read another parameter", parameter.name);
  std::memcpy(whole, bits.data(), static_cast<size_t>(bits.bytes()));
}

void write_whole(const Parameter& parameter, const FlatQuantity& quantity, int64_t expert, const float* whole) {
  for_each_run(parameter, expert, quantity.begin, quantity.end,
               [&](int64_t flat, int64_t unsplit, int64_t n) { copy_in(quantity, flat, n, whole + unsplit); });
}

}  // namespace moemesh
