// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "router.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace oracle {
namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double log_sigmoid(double x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); }

Array softmax(const Array& logits) {
  const double peak = *std::max_element(logits.begin(), logits.end());
  Array p;
  for (double logit : logits) p.push_back(std::exp(logit - peak));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= sum;
  return p;
}

// dL/dp -> dL/dlogits for p = softmax(logits).
Array softmax_backward(const Array& p, const Array& dp) {
  const double mean = dot(p, dp);
  Array d(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) d[i] = p[i] * (dp[i] - mean);
  return d;
}

bool normalises_over_chosen(const RouterConfig& config) { return config.gate != Gate::raw; }

// Sigmoid scores divided by their sum are the softmax of their logarithms; all other normalised gates are the softmax
// of the chosen logits themselves.
bool normalises_sigmoids(const RouterConfig& config) {
  return config.gate == Gate::renorm && config.score == Score::sigmoid;
}

Array normalised_gates(const RouterConfig& config, const Array& logits, const std::vector<std::int64_t>& chosen) {
  Array exponents;
  for (std::int64_t e : chosen) exponents.push_back(normalises_sigmoids(config) ? log_sigmoid(logits[e]) : logits[e]);
  return softmax(exponents);
}

Array normalised_gates_backward(const RouterConfig& config, const Array& logits,
                                const std::vector<std::int64_t>& chosen, const Array& d_gates) {
  const Array d_exponents = softmax_backward(normalised_gates(config, logits, chosen), d_gates);
  Array d_logits(logits.size(), 0.0);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const double slope = normalises_sigmoids(config) ? 1.0 - sigmoid(logits[chosen[i]]) : 1.0;
    d_logits[chosen[i]] = d_exponents[i] * slope;
  }
  return d_logits;
}

Array raw_gates_backward(const RouterConfig& config, const Array& logits, const std::vector<std::int64_t>& chosen,
                         const Array& d_gates) {
  const Array p = full_scores(config.score, logits);
  Array dp(logits.size(), 0.0);
  for (std::size_t i = 0; i < chosen.size(); ++i) dp[chosen[i]] = d_gates[i];
  if (config.score == Score::softmax) return softmax_backward(p, dp);
  for (std::size_t e = 0; e < dp.size(); ++e) dp[e] *= p[e] * (1.0 - p[e]);
  return dp;
}

}  // namespace

bool is_routable(const Array& logits, std::int64_t top_k) {
  std::int64_t finite = 0;
  for (double logit : logits) {
    if (std::isnan(logit) || logit == std::numeric_limits<double>::infinity()) return false;
    if (std::isfinite(logit)) ++finite;
  }
  return finite >= top_k;
}

Array full_scores(Score score, const Array& logits) {
  if (score == Score::softmax) return softmax(logits);
  Array p;
  for (double logit : logits) p.push_back(sigmoid(logit));
  return p;
}

std::vector<std::int64_t> choose_experts(const Array& logits, std::int64_t top_k) {
  std::vector<std::int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return logits[a] > logits[b]; });
  order.resize(top_k);
  return order;
}

namespace {

// -inf for an expert that can't be chosen.
Array compared_scores(const RouterConfig& config, const Array& logits) {
  Array scores = full_scores(config.score, logits);
  for (std::size_t e = 0; e < scores.size(); ++e) {
    if (!config.bias.empty()) scores[e] += config.bias.at(e);
    if (std::isinf(logits[e])) scores[e] = logits[e];
  }
  return scores;
}

}  // namespace

std::vector<std::int64_t> choose_experts(const RouterConfig& config, const Array& logits) {
  return choose_experts(config.bias.empty() ? logits : compared_scores(config, logits), config.top_k);
}

double selection_margin(const RouterConfig& config, const Array& logits) {
  if (config.top_k == static_cast<std::int64_t>(logits.size())) return std::numeric_limits<double>::infinity();
  Array p = compared_scores(config, logits);
  std::sort(p.begin(), p.end(), std::greater<>());
  return p[config.top_k - 1] - p[config.top_k];
}

Array gates_forward(const RouterConfig& config, const Array& logits, const std::vector<std::int64_t>& chosen) {
  Array gates;
  if (normalises_over_chosen(config)) {
    gates = normalised_gates(config, logits, chosen);
  } else {
    const Array p = full_scores(config.score, logits);
    for (std::int64_t e : chosen) gates.push_back(p[e]);
  }
  for (double& gate : gates) gate *= config.gate_scale;
  return gates;
}

Array gates_backward(const RouterConfig& config, const Array& logits, const std::vector<std::int64_t>& chosen,
                     const Array& d_gates) {
  Array d = d_gates;
  for (double& value : d) value *= config.gate_scale;
  return normalises_over_chosen(config) ? normalised_gates_backward(config, logits, chosen, d)
                                        : raw_gates_backward(config, logits, chosen, d);
}

}  // namespace oracle
