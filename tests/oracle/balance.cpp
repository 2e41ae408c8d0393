// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "balance.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace oracle {
namespace {

using Tokens = std::vector<std::int64_t>;

bool is_routed(const LayerConfig& config, const LayerTape& tape, std::int64_t t) {
  return tape.chosen[t * config.top_k] >= 0;
}

// The routed tokens of each sequence that has any.
std::vector<Tokens> split(const LayerConfig& config, const LayerTape& tape) {
  const bool whole = config.aux_scope == AuxScope::shard;
  const std::int64_t count = whole ? 1 : tape.sequences.count;
  if (tape.tokens % count != 0) throw std::invalid_argument("oracle: the sequences do not divide the tokens");
  std::vector<Tokens> sequences(count);
  for (std::int64_t t = 0; t < tape.tokens; ++t) {
    const std::int64_t s = !whole && tape.sequences.interleaved ? t % count : t / (tape.tokens / count);
    if (is_routed(config, tape, t)) sequences[s].push_back(t);
  }
  sequences.erase(std::remove_if(sequences.begin(), sequences.end(), [](const Tokens& s) { return s.empty(); }),
                  sequences.end());
  return sequences;
}

// The share of all choices that each expert got.
Array fractions(const LayerConfig& config, const LayerTape& tape, const Tokens& tokens) {
  Array f(config.experts, 0.0);
  for (std::int64_t t : tokens) {
    for (std::int64_t j = 0; j < config.top_k; ++j) f[tape.chosen[t * config.top_k + j]] += 1.0;
  }
  for (double& value : f) value /= static_cast<double>(config.top_k * static_cast<std::int64_t>(tokens.size()));
  return f;
}

double sum_of(const Array& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum;
}

// sum_e f_e p_e of one token, p its scores divided by their sum; adds scale times its gradient to d_logits.
double overlap(Score score, const Array& logits, const Array& f, double scale, Array* d_logits) {
  Array p = full_scores(score, logits);
  const double sum = sum_of(p);
  const double value = dot(p, f) / sum;
  for (std::size_t e = 0; e < p.size(); ++e) {
    const double d_score = (f[e] - value) / sum;
    // softmax scores add up to 1 whatever the logits: what the sum's derivative contributes is 0 either way.
    const double slope = score == Score::softmax ? p[e] : p[e] * (1.0 - p[e]);
    (*d_logits)[e] += scale * d_score * slope;
  }
  return value;
}

void add_aux(const LayerConfig& config, const LayerTape& tape, const Tokens& tokens, double aux_scale,
             double gradient_scale, BalanceLoss* loss) {
  const Array f = fractions(config, tape, tokens);
  const double each = config.aux_coefficient * static_cast<double>(config.experts) / static_cast<double>(tokens.size());
  double aux = 0;
  for (std::int64_t t : tokens) {
    Array d_logits(config.experts, 0.0);
    aux += each * overlap(config.score, row_of(tape.logits, t, config.experts), f, each * gradient_scale, &d_logits);
    add_to_row(&loss->dlogits, t, d_logits);
  }
  loss->aux += aux * aux_scale;
  loss->scaled += aux * gradient_scale;
}

void add_z(const LayerConfig& config, const LayerTape& tape, const Tokens& tokens, double mean, double scale,
           BalanceLoss* loss) {
  for (std::int64_t t : tokens) {
    const Array logits = row_of(tape.logits, t, config.experts);
    const double peak = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (double logit : logits) sum += std::exp(logit - peak);
    const double lse = peak + std::log(sum);
    loss->z += config.z_coefficient * mean * lse * lse;
    loss->scaled += config.z_coefficient * scale * lse * lse;
    add_to_row(&loss->dlogits, t, full_scores(Score::softmax, logits), config.z_coefficient * scale * 2.0 * lse);
  }
}

}  // namespace

BalanceLoss balance_loss(const LayerConfig& config, const LayerTape& tape, Objective objective) {
  BalanceLoss loss;
  loss.dlogits.assign(tape.logits.size(), 0.0);
  const bool summed = objective == Objective::token_mean;
  if (tape.tokens == 0) return loss;
  const auto sequences = split(config, tape);
  double tokens = 0;
  for (const Tokens& sequence : sequences) tokens += static_cast<double>(sequence.size());
  for (const Tokens& sequence : sequences) {
    const double share = 1.0 / static_cast<double>(sequences.size());
    if (config.aux_coefficient != 0)
      add_aux(config, tape, sequence, share, summed ? static_cast<double>(sequence.size()) : share, &loss);
    if (config.z_coefficient != 0) add_z(config, tape, sequence, 1.0 / tokens, summed ? 1.0 : 1.0 / tokens, &loss);
  }
  return loss;
}

}  // namespace oracle
