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

using detail::log_sigmoid;
using detail::sigmoid;

struct RowScan {
  float peak = -kInfinity;
  int64_t finite = 0;
  bool bad = false;  // has NaN or +inf
};

KOKKOS_INLINE_FUNCTION RowScan scan_row(int64_t experts, const float* logits) {
  RowScan scan;
  for (int64_t e = 0; e < experts; ++e) {
    if (!(logits[e] < kInfinity)) scan.bad = true;
    if (logits[e] > -kInfinity) ++scan.finite;
    if (logits[e] > scan.peak) scan.peak = logits[e];
  }
  return scan;
}

KOKKOS_INLINE_FUNCTION float compared_score(Score score, float logit, float peak) {
  return score == Score::softmax ? Kokkos::exp(logit - peak) : sigmoid(logit);
}

// Puts an expert among the best seen so far, `held` of them, in order; `scores` holds their compared scores.
KOKKOS_INLINE_FUNCTION void insert_choice(int32_t top_k, int64_t expert, float score, int32_t& held, int32_t* chosen,
                                          float* scores) {
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

// Scores grow with logits, so most experts are turned away by a look at their logit.
KOKKOS_INLINE_FUNCTION void choose_experts(const RouterConfig& config, const float* logits, float peak, int32_t* chosen,
                                           float* scores) {
  int32_t held = 0;
  for (int64_t e = 0; e < config.experts; ++e) {
    const bool full = held == config.top_k;
    if (logits[e] == -kInfinity || (full && logits[e] <= logits[chosen[held - 1]])) continue;
    insert_choice(config.top_k, e, compared_score(config.score, logits[e], peak), held, chosen, scores);
  }
}

KOKKOS_INLINE_FUNCTION float softmax_sum(int64_t experts, const float* logits, float peak) {
  float sum = 0;
  for (int64_t e = 0; e < experts; ++e) sum += Kokkos::exp(logits[e] - peak);
  return sum;
}

// A bias is added to the full score: that a row's scores have a common divisor no longer leaves their order. Afterwards
// `scores` is what it is without a bias.
KOKKOS_INLINE_FUNCTION void choose_biased(const RouterConfig& config, const float* logits, float peak, int32_t* chosen,
                                          float* scores) {
  const float sum = config.score == Score::softmax ? softmax_sum(config.experts, logits, peak) : 1;
  int32_t held = 0;
  for (int64_t e = 0; e < config.experts; ++e) {
    if (logits[e] == -kInfinity) continue;
    const float score = compared_score(config.score, logits[e], peak) / sum + config.bias[e];
    insert_choice(config.top_k, e, score, held, chosen, scores);
  }
  for (int32_t j = 0; j < config.top_k; ++j) scores[j] = compared_score(config.score, logits[chosen[j]], peak);
}

// Normalised gates are the softmax of these over the chosen: p/sum(p) = softmax(log p). For softmax scores log p is the
// logit but for a constant. In logarithms no sum of scores can be 0.
KOKKOS_INLINE_FUNCTION float gate_exponent(const RouterConfig& config, float logit) {
  return config.gate == Gate::renorm && config.score == Score::sigmoid ? log_sigmoid(logit) : logit;
}

struct ChosenSoftmax {
  float peak, sum;
};

KOKKOS_INLINE_FUNCTION ChosenSoftmax chosen_softmax(const RouterConfig& config, const float* logits,
                                                    const int32_t* chosen) {
  ChosenSoftmax s = {-kInfinity, 0};
  for (int32_t j = 0; j < config.top_k; ++j) {
    const float x = gate_exponent(config, logits[chosen[j]]);
    if (x > s.peak) s.peak = x;
  }
  for (int32_t j = 0; j < config.top_k; ++j) {
    s.sum += Kokkos::exp(gate_exponent(config, logits[chosen[j]]) - s.peak);
  }
  return s;
}

KOKKOS_INLINE_FUNCTION float normalised_gate(const RouterConfig& config, const ChosenSoftmax& s, float logit) {
  return Kokkos::exp(gate_exponent(config, logit) - s.peak) / s.sum;
}

// gates: in: compared scores, out: gates.
KOKKOS_INLINE_FUNCTION void write_gates(const RouterConfig& config, const float* logits, float peak,
                                        const int32_t* chosen, float* gates) {
  if (config.gate == Gate::raw) {
    const float sum = config.score == Score::softmax ? softmax_sum(config.experts, logits, peak) : 1;
    for (int32_t j = 0; j < config.top_k; ++j) gates[j] = gates[j] / sum * config.gate_scale;
    return;
  }
  const ChosenSoftmax s = chosen_softmax(config, logits, chosen);
  for (int32_t j = 0; j < config.top_k; ++j) {
    gates[j] = normalised_gate(config, s, logits[chosen[j]]) * config.gate_scale;
  }
}

KOKKOS_INLINE_FUNCTION void choose_none(int32_t top_k, int32_t* chosen, float* gates) {
  for (int32_t j = 0; j < top_k; ++j) {
    chosen[j] = -1;
    gates[j] = 0;
  }
}

KOKKOS_INLINE_FUNCTION void route_row(const RouterConfig& config, const float* logits, int32_t* chosen, float* gates) {
  const RowScan scan = scan_row(config.experts, logits);
  if (scan.bad || scan.finite < config.top_k) {
    return choose_none(config.top_k, chosen, gates);
  }
  if (config.bias != nullptr)
    choose_biased(config, logits, scan.peak, chosen, gates);
  else
    choose_experts(config, logits, scan.peak, chosen, gates);
  write_gates(config, logits, scan.peak, chosen, gates);
}

// The backward functions fill a row of dlogits, given the gradient of the gates.

// p (dp - <dp, p>) over all experts, where dp is 0 but at the chosen.
KOKKOS_INLINE_FUNCTION void raw_softmax_backward(const RouterConfig& config, const float* logits, const int32_t* chosen,
                                                 const float* dgates, float* dlogits) {
  const float peak = scan_row(config.experts, logits).peak;
  const float sum = softmax_sum(config.experts, logits, peak);
  for (int64_t e = 0; e < config.experts; ++e) dlogits[e] = Kokkos::exp(logits[e] - peak) / sum;
  float mean = 0;
  for (int32_t j = 0; j < config.top_k; ++j) mean += dgates[j] * dlogits[chosen[j]];
  for (int64_t e = 0; e < config.experts; ++e) dlogits[e] *= -mean * config.gate_scale;
  for (int32_t j = 0; j < config.top_k; ++j) {
    const float p = Kokkos::exp(logits[chosen[j]] - peak) / sum;
    dlogits[chosen[j]] = p * (dgates[j] - mean) * config.gate_scale;
  }
}

// The rest touch chosen logits only.
KOKKOS_INLINE_FUNCTION void raw_sigmoid_backward(const RouterConfig& config, const float* logits, const int32_t* chosen,
                                                 const float* dgates, float* dlogits) {
  for (int32_t j = 0; j < config.top_k; ++j) {
    const float logit = logits[chosen[j]];
    dlogits[chosen[j]] = dgates[j] * sigmoid(logit) * sigmoid(-logit) * config.gate_scale;
  }
}

KOKKOS_INLINE_FUNCTION void normalised_backward(const RouterConfig& config, const float* logits, const int32_t* chosen,
                                                const float* dgates, float* dlogits) {
  const ChosenSoftmax s = chosen_softmax(config, logits, chosen);
  float mean = 0;
  for (int32_t j = 0; j < config.top_k; ++j) mean += dgates[j] * normalised_gate(config, s, logits[chosen[j]]);
  const bool from_sigmoid = config.gate == Gate::renorm && config.score == Score::sigmoid;
  for (int32_t j = 0; j < config.top_k; ++j) {
    const float logit = logits[chosen[j]];
    const float slope = from_sigmoid ? sigmoid(-logit) : 1;  // of gate_exponent
    dlogits[chosen[j]] = normalised_gate(config, s, logit) * (dgates[j] - mean) * slope * config.gate_scale;
  }
}

KOKKOS_INLINE_FUNCTION void zero_row(int64_t experts, float* dlogits) {
  for (int64_t e = 0; e < experts; ++e) dlogits[e] = 0;
}

KOKKOS_INLINE_FUNCTION void backward_row(const RouterConfig& config, const float* logits, const int32_t* chosen,
                                         const float* dgates, float* dlogits) {
  zero_row(config.experts, dlogits);
  if (chosen[0] < 0) return;
  if (config.gate != Gate::raw) {
    normalised_backward(config, logits, chosen, dgates, dlogits);
  } else if (config.score == Score::softmax) {
    raw_softmax_backward(config, logits, chosen, dgates, dlogits);
  } else {
    raw_sigmoid_backward(config, logits, chosen, dgates, dlogits);
  }
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

RouteSummary route(const RouterConfig& config, int64_t tokens, const float* logits, int64_t ld, const uint8_t* mask,
                   int64_t mask_stride, int32_t* chosen, float* gates) {
  if (tokens <= 0) return {};
  const RouterConfig rule = config;
  detail::for_each(
      "moemesh::route", tokens, KOKKOS_LAMBDA(int64_t t) {
        int32_t* row_chosen = chosen + t * rule.top_k;
        float* row_gates = gates + t * rule.top_k;
        if (is_masked(mask, mask_stride, t))
          choose_none(rule.top_k, row_chosen, row_gates);
        else
          route_row(rule, logits + t * ld, row_chosen, row_gates);
      });
  detail::finish();
  return summarize(tokens, config.top_k, mask, mask_stride, chosen);
}

void route_backward(const RouterConfig& config, int64_t tokens, const float* logits, int64_t ld, const int32_t* chosen,
                    const float* dgates, float* dlogits) {
  const RouterConfig rule = config;
  detail::for_each(
      "moemesh::route_backward", tokens, KOKKOS_LAMBDA(int64_t t) {
        backward_row(rule, logits + t * ld, chosen + t * rule.top_k, dgates + t * rule.top_k,
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
