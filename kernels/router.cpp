// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/router.hpp"

#include "kernels/detail.hpp"
#include "kernels/score.hpp"

// How scores are compared: finite logits only, by the fp32 score, equal scores by index. For softmax the number
// compared is exp(logit - max): its divisor is common to the row. fp32 scores can be equal where logits are not
// (sigmoid from about 17 up is 1, exp below about -104 is 0): then the index decides, as the rule says.
namespace moemesh::kernels {
namespace {

constexpr float kInfinity = Kokkos::Experimental::infinity_v<float>;

using detail::Alone;
using detail::Lanes;
using detail::log_sigmoid;
using detail::sigmoid;

struct RowScan {
  float peak = -kInfinity;
  int64_t finite = 0;
  bool bad = false;  // has NaN or +inf
};

[[maybe_unused]] KOKKOS_INLINE_FUNCTION RowScan scan_row(const Alone&, int64_t experts, const float* logits) {
  RowScan scan;
  for (int64_t e = 0; e < experts; ++e) {
    if (!(logits[e] < kInfinity)) scan.bad = true;
    if (logits[e] > -kInfinity) ++scan.finite;
    if (logits[e] > scan.peak) scan.peak = logits[e];
  }
  return scan;
}

[[maybe_unused]] KOKKOS_INLINE_FUNCTION RowScan scan_row(const detail::Together& lanes, int64_t experts,
                                                         const float* logits) {
  RowScan scan;
  scan.peak = lanes.most(experts, [&](int64_t e) { return logits[e] < kInfinity ? logits[e] : kInfinity; });
  scan.finite = lanes.sum(experts, [&](int64_t e) { return int64_t{logits[e] > -kInfinity}; });
  scan.bad = scan.peak == kInfinity;
  return scan;
}

KOKKOS_INLINE_FUNCTION float compared_score(Score score, float logit, float peak) {
  return score == Score::softmax ? Kokkos::exp(logit - peak) : sigmoid(logit);
}

// Puts an expert among the best seen so far, `held` of them, in order; `scores` holds their compared scores.
[[maybe_unused]] KOKKOS_INLINE_FUNCTION void insert_choice(int32_t top_k, int64_t expert, float score, int32_t& held,
                                                           int32_t* chosen, float* scores) {
  const bool full = held == top_k;
  if (full && score <= scores[held - 1]) return;
  int32_t place = full ? held - 1 : held++;
  for (; place > 0 && scores[place - 1] < score; --place) {
    chosen[place] = chosen[place - 1];
    scores[place] = scores[place - 1];
  }
  chosen[place] = static_cast<int32_t>(expert);
  scores[place] = score;
}

template <class L>
KOKKOS_INLINE_FUNCTION float softmax_sum(const L& lanes, int64_t experts, const float* logits, float peak) {
  return lanes.sum(experts, [&](int64_t e) { return Kokkos::exp(logits[e] - peak); });
}

// What the scores of a row are divided by. A bias is added to the full score: that a row's scores have a common divisor no
// longer leaves their order.
template <class L>
KOKKOS_INLINE_FUNCTION float full_sum(const L& lanes, const RouterConfig& config, const float* logits, float peak) {
  return config.score == Score::softmax ? softmax_sum(lanes, config.experts, logits, peak) : 1;
}

// The choose functions leave the compared scores of the chosen, without a bias, in `scores`.

// Scores grow with logits, so most experts are turned away by a look at their logit.
[[maybe_unused]] KOKKOS_INLINE_FUNCTION void choose_unbiased(const RouterConfig& config, const float* logits,
                                                             float peak, int32_t* chosen, float* scores) {
  int32_t held = 0;
  for (int64_t e = 0; e < config.experts; ++e) {
    const bool full = held == config.top_k;
    if (logits[e] == -kInfinity || (full && logits[e] <= logits[chosen[held - 1]])) continue;
    insert_choice(config.top_k, e, compared_score(config.score, logits[e], peak), held, chosen, scores);
  }
}

[[maybe_unused]] KOKKOS_INLINE_FUNCTION void choose_experts(const Alone& alone, const RouterConfig& config,
                                                            const float* logits, float peak, int32_t* chosen,
                                                            float* scores) {
  if (config.bias == nullptr) return choose_unbiased(config, logits, peak, chosen, scores);
  const float sum = full_sum(alone, config, logits, peak);
  int32_t held = 0;
  for (int64_t e = 0; e < config.experts; ++e) {
    if (logits[e] == -kInfinity) continue;
    const float score = compared_score(config.score, logits[e], peak) / sum + config.bias[e];
    insert_choice(config.top_k, e, score, held, chosen, scores);
  }
  for (int32_t j = 0; j < config.top_k; ++j) scores[j] = compared_score(config.score, logits[chosen[j]], peak);
}

// A number for each expert, larger for a larger score, of equal ones for the lower index. 0 stands for none.
KOKKOS_INLINE_FUNCTION uint64_t rank_key(float score, int64_t expert) {
  const uint32_t bits = Kokkos::bit_cast<uint32_t>(score + 0.0f);  // -0 and +0 are one
  const uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  return uint64_t{ordered} << 32 | (UINT32_MAX - static_cast<uint32_t>(expert));
}

// The best one, then the best of those behind it, and so on: the row is read from a cache k times.
[[maybe_unused]] KOKKOS_INLINE_FUNCTION void choose_experts(const detail::Together& lanes, const RouterConfig& config,
                                                            const float* logits, float peak, int32_t* chosen,
                                                            float* scores) {
  const float* bias = config.bias;
  const float sum = bias != nullptr ? full_sum(lanes, config, logits, peak) : 1;
  uint64_t last = UINT64_MAX;
  for (int32_t j = 0; j < config.top_k; ++j) {
    last = lanes.most(config.experts, [&](int64_t e) {
      if (logits[e] == -kInfinity) return uint64_t{0};
      const float score = compared_score(config.score, logits[e], peak);
      const uint64_t key = rank_key(bias == nullptr ? score : score / sum + bias[e], e);
      return key < last ? key : uint64_t{0};
    });
    lanes.once([&] {
      chosen[j] = static_cast<int32_t>(UINT32_MAX - static_cast<uint32_t>(last));
      scores[j] = compared_score(config.score, logits[chosen[j]], peak);
    });
  }
}

// Normalised gates are the softmax of these over the chosen: p/sum(p) = softmax(log p). For softmax scores log p is the
// logit but for a constant. In logarithms no sum of scores can be 0.
KOKKOS_INLINE_FUNCTION float gate_exponent(const RouterConfig& config, float logit) {
  return config.gate == Gate::renorm && config.score == Score::sigmoid ? log_sigmoid(logit) : logit;
}

struct ChosenSoftmax {
  float peak, sum;
};

KOKKOS_INLINE_FUNCTION ChosenSoftmax chosen_softmax(const Lanes& lanes, const RouterConfig& config, const float* logits,
                                                    const int32_t* chosen) {
  const auto exponent = [&](int64_t j) { return gate_exponent(config, logits[chosen[j]]); };
  const float peak = lanes.most(config.top_k, exponent);
  return {peak, lanes.sum(config.top_k, [&](int64_t j) { return Kokkos::exp(exponent(j) - peak); })};
}

KOKKOS_INLINE_FUNCTION float normalised_gate(const RouterConfig& config, const ChosenSoftmax& s, float logit) {
  return Kokkos::exp(gate_exponent(config, logit) - s.peak) / s.sum;
}

// gates: in: compared scores, out: gates.
KOKKOS_INLINE_FUNCTION void write_gates(const Lanes& lanes, const RouterConfig& config, const float* logits, float peak,
                                        const int32_t* chosen, float* gates) {
  if (config.gate == Gate::raw) {
    const float sum = full_sum(lanes, config, logits, peak);
    return lanes.each(config.top_k, [&](int64_t j) { gates[j] = gates[j] / sum * config.gate_scale; });
  }
  const ChosenSoftmax s = chosen_softmax(lanes, config, logits, chosen);
  lanes.each(config.top_k,
             [&](int64_t j) { gates[j] = normalised_gate(config, s, logits[chosen[j]]) * config.gate_scale; });
}

KOKKOS_INLINE_FUNCTION void choose_none(const Lanes& lanes, int32_t top_k, int32_t* chosen, float* gates) {
  lanes.each(top_k, [&](int64_t j) {
    chosen[j] = -1;
    gates[j] = 0;
  });
}

KOKKOS_INLINE_FUNCTION void route_row(const Lanes& lanes, const RouterConfig& config, const float* logits,
                                      int32_t* chosen, float* gates) {
  const RowScan scan = scan_row(lanes, config.experts, logits);
  if (scan.bad || scan.finite < config.top_k) return choose_none(lanes, config.top_k, chosen, gates);
  choose_experts(lanes, config, logits, scan.peak, chosen, gates);
  write_gates(lanes, config, logits, scan.peak, chosen, gates);
}

// The backward functions fill a row of dlogits, given the gradient of the gates.

// p (dp - <dp, p>) over all experts, where dp is 0 but at the chosen.
KOKKOS_INLINE_FUNCTION void raw_softmax_backward(const Lanes& lanes, const RouterConfig& config, const float* logits,
                                                 const int32_t* chosen, const float* dgates, float* dlogits) {
  const float peak = lanes.most(config.experts, [&](int64_t e) { return logits[e]; });
  const float sum = softmax_sum(lanes, config.experts, logits, peak);
  const auto p = [&](int64_t e) { return Kokkos::exp(logits[e] - peak) / sum; };
  const float mean = lanes.sum(config.top_k, [&](int64_t j) { return dgates[j] * p(chosen[j]); });
  const float others = -mean * config.gate_scale;
  lanes.each(config.experts, [&](int64_t e) { dlogits[e] = p(e) * others; });
  lanes.each(config.top_k,
             [&](int64_t j) { dlogits[chosen[j]] = p(chosen[j]) * (dgates[j] - mean) * config.gate_scale; });
}

// The rest touch chosen logits only.
KOKKOS_INLINE_FUNCTION void raw_sigmoid_backward(const Lanes& lanes, const RouterConfig& config, const float* logits,
                                                 const int32_t* chosen, const float* dgates, float* dlogits) {
  lanes.each(config.top_k, [&](int64_t j) {
    const float logit = logits[chosen[j]];
    dlogits[chosen[j]] = dgates[j] * sigmoid(logit) * sigmoid(-logit) * config.gate_scale;
  });
}

KOKKOS_INLINE_FUNCTION void normalised_backward(const Lanes& lanes, const RouterConfig& config, const float* logits,
                                                const int32_t* chosen, const float* dgates, float* dlogits) {
  const ChosenSoftmax s = chosen_softmax(lanes, config, logits, chosen);
  const float mean =
      lanes.sum(config.top_k, [&](int64_t j) { return dgates[j] * normalised_gate(config, s, logits[chosen[j]]); });
  const bool from_sigmoid = config.gate == Gate::renorm && config.score == Score::sigmoid;
  lanes.each(config.top_k, [&](int64_t j) {
    const float logit = logits[chosen[j]];
    const float slope = from_sigmoid ? sigmoid(-logit) : 1;  // of gate_exponent
    dlogits[chosen[j]] = normalised_gate(config, s, logit) * (dgates[j] - mean) * slope * config.gate_scale;
  });
}

KOKKOS_INLINE_FUNCTION void backward_row(const Lanes& lanes, const RouterConfig& config, const float* logits,
                                         const int32_t* chosen, const float* dgates, float* dlogits) {
  const bool decided = chosen[0] >= 0;
  if (decided && config.gate == Gate::raw && config.score == Score::softmax)
    return raw_softmax_backward(lanes, config, logits, chosen, dgates, dlogits);
  lanes.each(config.experts, [&](int64_t e) { dlogits[e] = 0; });
  if (!decided) return;
  if (config.gate == Gate::raw)
    raw_sigmoid_backward(lanes, config, logits, chosen, dgates, dlogits);
  else
    normalised_backward(lanes, config, logits, chosen, dgates, dlogits);
}

}  // namespace

namespace {

KOKKOS_INLINE_FUNCTION bool is_masked(const uint8_t* mask, int64_t stride, int64_t token) {
  return mask != nullptr && mask[token * stride] == 0;
}

// By one thread, since Kokkos' reductions are allocations.
RouteSummary summarize_on_host(int64_t tokens, int32_t top_k, const uint8_t* mask, int64_t mask_stride,
                               const int32_t* chosen) {
  RouteSummary result;
  for (int64_t t = 0; t < tokens; ++t) {
    if (chosen[t * top_k] >= 0) {
      ++result.routed;
    } else if (!is_masked(mask, mask_stride, t)) {
      if (result.nonfinite++ == 0) result.first_nonfinite = t;
    }
  }
  return result;
}

RouteSummary summarize_on_device(int64_t tokens, int32_t top_k, const uint8_t* mask, int64_t mask_stride,
                                 const int32_t* chosen) {
  RouteSummary result;
  int64_t lowest = 0;
  const detail::Unlocked access;
  Kokkos::parallel_reduce(
      "moemesh::summarize_route", detail::range(tokens),
      KOKKOS_LAMBDA(int64_t t, int64_t & routed, int64_t & nonfinite, int64_t & first) {
        if (chosen[t * top_k] >= 0) {
          ++routed;
        } else if (!is_masked(mask, mask_stride, t)) {
          ++nonfinite;
          first = detail::smaller(first, t);
        }
      },
      result.routed, result.nonfinite, Kokkos::Min<int64_t>(lowest));
  if (result.nonfinite > 0) result.first_nonfinite = lowest;
  return result;
}

RouteSummary summarize(int64_t tokens, int32_t top_k, const uint8_t* mask, int64_t mask_stride, const int32_t* chosen) {
  if constexpr (detail::kOnHost) {
    return summarize_on_host(tokens, top_k, mask, mask_stride, chosen);
  } else {
    return summarize_on_device(tokens, top_k, mask, mask_stride, chosen);
  }
}

}  // namespace

// Reads 4 bytes of each logit and writes 8 of each choice: the minimum, since a row is read again from a cache alone.
RouteSummary route(const RouterConfig& config, int64_t tokens, const float* logits, int64_t ld, const uint8_t* mask,
                   int64_t mask_stride, int32_t* chosen, float* gates) {
  if (tokens <= 0) return {};
  const RouterConfig rule = config;
  detail::for_teams(
      "moemesh::route", tokens, KOKKOS_LAMBDA(int64_t t, const Lanes& lanes) {
        int32_t* row_chosen = chosen + t * rule.top_k;
        float* row_gates = gates + t * rule.top_k;
        if (is_masked(mask, mask_stride, t))
          choose_none(lanes, rule.top_k, row_chosen, row_gates);
        else
          route_row(lanes, rule, logits + t * ld, row_chosen, row_gates);
      });
  detail::finish();
  return summarize(tokens, config.top_k, mask, mask_stride, chosen);
}

// Writes 4 bytes of each logit and reads 8 of each choice, its logit, and all of them for raw softmax gates: the minimum.
void route_backward(const RouterConfig& config, int64_t tokens, const float* logits, int64_t ld, const int32_t* chosen,
                    const float* dgates, float* dlogits) {
  const RouterConfig rule = config;
  detail::for_teams(
      "moemesh::route_backward", tokens, KOKKOS_LAMBDA(int64_t t, const Lanes& lanes) {
        backward_row(lanes, rule, logits + t * ld, chosen + t * rule.top_k, dgates + t * rule.top_k,
                     dlogits + t * rule.experts);
      });
}

void count_experts(int64_t n, const int32_t* chosen, int64_t experts, int64_t* counts) {
  detail::for_each(
      "moemesh::count_experts", experts, KOKKOS_LAMBDA(int64_t e) { counts[e] = 0; });
  detail::for_each(
      "moemesh::count_experts", n, KOKKOS_LAMBDA(int64_t i) {
        if (chosen[i] >= 0) Kokkos::atomic_inc(&counts[chosen[i]]);
      });
  detail::finish();
}

}  // namespace moemesh::kernels
