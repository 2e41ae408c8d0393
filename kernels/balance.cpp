// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/balance.hpp"

#include "kernels/detail.hpp"
#include "kernels/score.hpp"

namespace moemesh::kernels {
namespace {

using detail::for_each;

KOKKOS_INLINE_FUNCTION int64_t sequence_of(const Sequences& sequences, int64_t t) {
  return sequences.interleaved ? t % sequences.count : t / sequences.length;
}

// The i-th token of sequence s.
KOKKOS_INLINE_FUNCTION int64_t token_of(const Sequences& sequences, int64_t s, int64_t i) {
  return sequences.interleaved ? i * sequences.count + s : s * sequences.length + i;
}

// Full scores that add up to 1 are the softmax of these: a sigmoid divided by the row's sum is the softmax of its
// logarithm, which needs no sum that could be 0.
KOKKOS_INLINE_FUNCTION float exponent(Score score, float logit) {
  return score == Score::sigmoid ? detail::log_sigmoid(logit) : logit;
}

KOKKOS_INLINE_FUNCTION float slope(Score score, float logit) {
  return score == Score::sigmoid ? detail::sigmoid(-logit) : 1.0f;
}

struct Softmax {
  float peak;
  double sum;
};

KOKKOS_INLINE_FUNCTION float numerator(Score score, const Softmax& softmax, float logit) {
  return Kokkos::exp(exponent(score, logit) - softmax.peak);
}

// Softmax::peak is finite: a row that has a decision has a finite logit.
KOKKOS_INLINE_FUNCTION Softmax softmax_of(Score score, int64_t experts, const float* logits) {
  float highest = logits[0];
  for (int64_t e = 1; e < experts; ++e) highest = logits[e] > highest ? logits[e] : highest;
  Softmax softmax = {exponent(score, highest), 0};
  for (int64_t e = 0; e < experts; ++e) softmax.sum += static_cast<double>(numerator(score, softmax, logits[e]));
  return softmax;
}

// sum_e rows[e] * P_e
KOKKOS_INLINE_FUNCTION double overlap(Score score, const Softmax& softmax, int64_t experts, const float* logits,
                                      const int64_t* rows) {
  double sum = 0;
  for (int64_t e = 0; e < experts; ++e)
    sum += static_cast<double>(rows[e]) * static_cast<double>(numerator(score, softmax, logits[e]));
  return sum / softmax.sum;
}

KOKKOS_INLINE_FUNCTION double log_sum(const Softmax& softmax) {
  return static_cast<double>(softmax.peak) + Kokkos::log(softmax.sum);
}

KOKKOS_INLINE_FUNCTION void add_aux_gradient(Score score, int64_t experts, const float* logits, const int64_t* rows,
                                             double weight, float* dlogits) {
  const Softmax softmax = softmax_of(score, experts, logits);
  const double mean = overlap(score, softmax, experts, logits, rows);
  for (int64_t e = 0; e < experts; ++e) {
    const double p = static_cast<double>(numerator(score, softmax, logits[e])) / softmax.sum;
    const double gradient = weight * p * (static_cast<double>(rows[e]) - mean);
    dlogits[e] += static_cast<float>(gradient) * slope(score, logits[e]);
  }
}

KOKKOS_INLINE_FUNCTION void add_z_gradient(int64_t experts, const float* logits, double weight, float* dlogits) {
  const Softmax softmax = softmax_of(Score::softmax, experts, logits);
  const double factor = 2 * weight * log_sum(softmax) / softmax.sum;
  for (int64_t e = 0; e < experts; ++e)
    dlogits[e] += static_cast<float>(factor * static_cast<double>(numerator(Score::softmax, softmax, logits[e])));
}

}  // namespace

void count_sequences(const RouterConfig& config, const Sequences& sequences, int64_t tokens, const int32_t* chosen,
                     int64_t* rows, int64_t* real) {
  const int64_t experts = config.experts;
  const int32_t top_k = config.top_k;
  const Sequences all = sequences;
  for_each(
      "moemesh::count_sequences", all.count * experts, KOKKOS_LAMBDA(int64_t i) { rows[i] = 0; });
  for_each(
      "moemesh::count_sequences", tokens * top_k, KOKKOS_LAMBDA(int64_t i) {
        if (chosen[i] >= 0) Kokkos::atomic_inc(&rows[sequence_of(all, i / top_k) * experts + chosen[i]]);
      });
  for_each(
      "moemesh::count_sequences", all.count, KOKKOS_LAMBDA(int64_t s) {
        int64_t sum = 0;
        for (int64_t e = 0; e < experts; ++e) sum += rows[s * experts + e];
        real[s] = sum / top_k;
      });
  detail::finish();
}

int64_t balance_workspace(int64_t tokens) { return 2 * tokens; }

BalanceLosses balance_losses(const RouterConfig& config, const Sequences& sequences, int64_t tokens,
                             const float* logits, const int32_t* chosen, const int64_t* rows, const int64_t* real,
                             double* workspace, double* sums) {
  double *aux = workspace, *z = aux + tokens, *aux_sums = sums, *z_sums = sums + sequences.count;
  const RouterConfig rule = config;
  const Sequences all = sequences;
  for_each(
      "moemesh::balance_losses", tokens, KOKKOS_LAMBDA(int64_t t) {
        aux[t] = z[t] = 0;
        if (chosen[t * rule.top_k] < 0) return;
        const float* row = logits + t * rule.experts;
        const int64_t* counts = rows + sequence_of(all, t) * rule.experts;
        const Softmax scores = softmax_of(rule.score, rule.experts, row);
        aux[t] = overlap(rule.score, scores, rule.experts, row, counts);
        const double sum =
            log_sum(rule.score == Score::softmax ? scores : softmax_of(Score::softmax, rule.experts, row));
        z[t] = sum * sum;
      });
  for_each(
      "moemesh::balance_losses", all.count, KOKKOS_LAMBDA(int64_t s) {
        aux_sums[s] = z_sums[s] = 0;
        for (int64_t i = 0; i < all.length; ++i) {
          aux_sums[s] += aux[token_of(all, s, i)];
          z_sums[s] += z[token_of(all, s, i)];
        }
      });
  detail::finish();
  BalanceLosses losses;
  int64_t filled = 0, routed = 0;
  for (int64_t s = 0; s < all.count; ++s) {
    if (real[s] == 0) continue;
    const auto n = static_cast<double>(real[s]);
    losses.aux += static_cast<double>(config.experts) * aux_sums[s] / (n * n * config.top_k);
    losses.z += z_sums[s];
    routed += real[s];
    ++filled;
  }
  if (filled == 0) return {};
  return {losses.aux / static_cast<double>(filled), losses.z / static_cast<double>(routed)};
}

void balance_backward(const RouterConfig& config, const Sequences& sequences, int64_t tokens, const float* logits,
                      const int32_t* chosen, const int64_t* rows, const double* aux_weights, double z_weight,
                      float* dlogits) {
  const RouterConfig rule = config;
  const Sequences all = sequences;
  for_each(
      "moemesh::balance_backward", tokens, KOKKOS_LAMBDA(int64_t t) {
        if (chosen[t * rule.top_k] < 0) return;
        const float* row = logits + t * rule.experts;
        float* gradient = dlogits + t * rule.experts;
        const int64_t s = sequence_of(all, t);
        if (aux_weights != nullptr)
          add_aux_gradient(rule.score, rule.experts, row, rows + s * rule.experts, aux_weights[s], gradient);
        if (z_weight != 0) add_z_gradient(rule.experts, row, z_weight, gradient);
      });
}

}  // namespace moemesh::kernels
