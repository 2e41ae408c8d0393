// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
// The all-to-alls and sums of a layer; see impl/moe/step.cpp and block.cpp.
#include <algorithm>

#include "impl/base/view.hpp"
#include "impl/moe/lanes.hpp"
#include "impl/moe/layer.hpp"
#include "impl/moe/odds.hpp"
#include "impl/report/checked.hpp"
#include "impl/report/parts.hpp"

namespace moemesh {
namespace {

// Copies and rows between this rank and each member of its exchange group, in one direction.
template <class T>
struct Flow {
  std::vector<T> copies, rows;
};

template <class T>
struct Flows {
  Flow<T> out, in;
};

template <class T>
std::vector<T> bytes_of(const Flow<T>& flow, int64_t row_bytes, bool tagged) {
  std::vector<T> bytes;
  for (size_t p = 0; p < flow.copies.size(); ++p)
    bytes.push_back(plus(times(flow.copies[p], row_bytes), times(flow.rows[p], tagged ? tag_bytes : 0)));
  return bytes;
}

Flows<int64_t> described_flows(const Traffic& traffic, const RankGroup& exchange, const DescribedLayer& layer) {
  const auto ep = static_cast<size_t>(exchange.size());
  const auto row_of = [&](int64_t rank) {
    return static_cast<size_t>(traffic.layout().group_position(MOEMESH_GROUP_STAGE, rank)) * ep;
  };
  const size_t own = row_of(traffic.rank()), here = static_cast<size_t>(exchange.position);
  Flows<int64_t> flows;
  for (size_t p = 0; p < ep; ++p) {
    const size_t peer = row_of(exchange.ranks[p]);
    flows.out.copies.push_back(layer.copies[own + p]);
    flows.out.rows.push_back(layer.rows[own + p]);
    flows.in.copies.push_back(layer.copies[peer + here]);
    flows.in.rows.push_back(layer.rows[peer + here]);
  }
  return flows;
}

// Tokens of the slice that a rank has.
int64_t slice_tokens(const MeshLayout& layout, int64_t rank, int64_t tokens) {
  const auto slices = layout.slice_members(rank);
  const auto index = std::find(slices.begin(), slices.end(), rank) - slices.begin();
  (void)times(tokens, layout.slices());
  return token_slice(tokens, index, layout.slices()).count;
}

Flows<double> expected_flows(const Traffic& traffic, const RankGroup& exchange, const DescribedLayer& layer,
                             int64_t tokens) {
  const int64_t ep = exchange.size(), E = layer.params.experts, k = layer.params.top_k;
  const auto add = [&](Flow<double>& flow, int64_t source, int64_t owner) {
    const Odds chance = odds_of(E, experts_of(E, ep, owner).count, k);
    const auto n = static_cast<double>(slice_tokens(traffic.layout(), source, tokens));
    flow.copies.push_back(n * chance.copies);
    flow.rows.push_back(n * chance.rows);
  };
  Flows<double> flows;
  for (int64_t p = 0; p < ep; ++p) {
    add(flows.out, traffic.rank(), p);
    add(flows.in, exchange.ranks[static_cast<size_t>(p)], exchange.position);
  }
  return flows;
}

struct RowBytes {
  int64_t there, back;
};

RowBytes row_bytes(const DescribedLayer& layer, int32_t dtype) {
  const int32_t back = layer.params.combine_dtype == 0 ? dtype : layer.params.combine_dtype;
  return {times(layer.params.hidden, dtype_bytes(dtype)), times(layer.params.hidden, dtype_bytes(back))};
}

template <class T, class Send>
void add_payload(const Flows<T>& flows, const RowBytes& row, bool again, const Send& send) {
  send(bytes_of(flows.out, row.there, true), MOEMESH_PHASE_FORWARD);    // dispatch
  send(bytes_of(flows.in, row.back, false), MOEMESH_PHASE_FORWARD);     // combine
  send(bytes_of(flows.out, row.there, false), MOEMESH_PHASE_BACKWARD);  // combine's backward
  send(bytes_of(flows.in, row.back, true), MOEMESH_PHASE_BACKWARD);     // dispatch's backward
  if (again) send(bytes_of(flows.out, row.there, false), MOEMESH_PHASE_RECOMPUTE);
}

void add_exchange(Traffic& traffic, const DescribedLayer& layer, const Description& description) {
  const RankGroup group = traffic.group(MOEMESH_GROUP_EXPERT_EXCHANGE);
  const RowBytes row = row_bytes(layer, description.params.expert_dtype);
  const int64_t chunks = layer.params.chunks, calls = traffic.repeated();
  const bool again = layer.params.recompute == MOEMESH_RECOMPUTE_FULL;
  const auto purpose = [](int32_t phase) { return Purpose{MOEMESH_EXPERT, phase, MOEMESH_COLLECTIVE_ALL_TO_ALL}; };
  traffic.to_every_peer(group, count_bytes(chunks),
                        {MOEMESH_EXPERT, MOEMESH_PHASE_FORWARD, MOEMESH_COLLECTIVE_COUNT_EXCHANGE});
  traffic.to_every_peer(group, count_bytes(0),
                        {MOEMESH_EXPERT, MOEMESH_PHASE_BACKWARD, MOEMESH_COLLECTIVE_COUNT_EXCHANGE});
  traffic.repeat(times(calls, chunks));
  if (layer.copies.empty())
    add_payload(expected_flows(traffic, group, layer, description.params.tokens), row, again,
                [&](std::vector<double> bytes, int32_t phase) {
                  for (double& size : bytes) size /= static_cast<double>(chunks);
                  traffic.header(group, purpose(phase));
                  traffic.all_to_all(group, bytes, purpose(phase));
                });
  else
    add_payload(described_flows(traffic, group, layer), row, again, [&](std::vector<int64_t> bytes, int32_t phase) {
      for (int64_t& size : bytes) size = times(size, description.params.steps);
      traffic.header(group, purpose(phase));
      traffic.all_to_all_in_all(group, bytes, purpose(phase));
    });
  traffic.repeat(calls);
}

// Sums over tp and the gathering of slices. width: of a slice's row; backward also brings the gates' gradients.
void add_sums(Traffic& traffic, const DescribedLayer& layer, int64_t tokens, int32_t phase, int64_t width) {
  constexpr auto float_bytes = static_cast<int64_t>(sizeof(float));
  const int64_t part = times(slice_tokens(traffic.layout(), traffic.rank(), tokens), width);
  const RankGroup slices = traffic.slices();
  traffic.sum_of_kernels(traffic.group(MOEMESH_AXIS_EXPERT_TP), part,
                         {MOEMESH_EXPERT, phase, MOEMESH_COLLECTIVE_ALL_REDUCE});
  if (slices.size() > 1) {
    traffic.header(slices, {MOEMESH_EXPERT, phase, MOEMESH_COLLECTIVE_ALL_GATHER});
    traffic.to_every_peer(slices, times(part, float_bytes), {MOEMESH_EXPERT, phase, MOEMESH_COLLECTIVE_ALL_GATHER});
    if (layer.params.shared_ffn > 0)
      traffic.sum_of_kernels(traffic.group(MOEMESH_AXIS_TP), times(tokens, layer.params.hidden),
                             {MOEMESH_SHARED, phase, MOEMESH_COLLECTIVE_ALL_REDUCE});
  }
  if (must_tell_block(traffic.layout().axis_size(MOEMESH_AXIS_EXPERT_EP), slices.size()))
    traffic.agree(traffic.group(MOEMESH_AXIS_TP | MOEMESH_AXIS_EP), 1, {0, phase, MOEMESH_COLLECTIVE_AGREEMENT});
}

}  // namespace

void add_layer(Traffic& traffic, const DescribedLayer& layer, const Description& description) {
  const int64_t tokens = description.params.tokens, H = layer.params.hidden;
  add_exchange(traffic, layer, description);
  add_sums(traffic, layer, tokens, MOEMESH_PHASE_FORWARD, H);
  add_sums(traffic, layer, tokens, MOEMESH_PHASE_BACKWARD, plus(H, layer.params.top_k));
}

}  // namespace moemesh
