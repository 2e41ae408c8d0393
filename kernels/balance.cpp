// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/balance.hpp"

#include "kernels/detail.hpp"
#include "kernels/score.hpp"

namespace moemesh::kernels {
namespace {

using detail::for_each;
using detail::for_teams;
using detail::Lanes;

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
KOKKOS_INLINE_FUNCTION Softmax softmax_of(const Lanes& lanes, Score score, int64_t experts, const float* logits) {
  Softmax softmax = {exponent(score, lanes.most(experts, [&](int64_t e) { return logits[e]; })), 0};
  softmax.sum =
      lanes.sum(experts, [&](int64_t e) { return static_cast<double>(numerator(score, softmax, logits[e])); });
  return softmax;
}

// sum_e rows[e] * P_e
KOKKOS_INLINE_FUNCTION double overlap(const Lanes& lanes, Score score, const Softmax& softmax, int64_t experts,
                                      const float* logits, const int64_t* rows) {
  const double sum = lanes.sum(experts, [&](int64_t e) {
    return static_cast<double>(rows[e]) * static_cast<double>(numerator(score, softmax, logits[e]));
  });
  return sum / softmax.sum;
}

KOKKOS_INLINE_FUNCTION double log_sum(const Softmax& softmax) {
  return static_cast<double>(softmax.peak) + Kokkos::log(softmax.sum);
}

KOKKOS_INLINE_FUNCTION void add_aux_gradient(const Lanes& lanes, Score score, int64_t experts, const float* logits,
                                             const int64_t* rows, double weight, float* dlogits) {
  const Softmax softmax = softmax_of(lanes, score, experts, logits);
  const double mean = overlap(lanes, score, softmax, experts, logits, rows);
  lanes.each(experts, [&](int64_t e) {
    const double p = static_cast<double>(numerator(score, softmax, logits[e])) / softmax.sum;
    const double gradient = weight * p * (static_cast<double>(rows[e]) - mean);
    dlogits[e] += static_cast<float>(gradient) * slope(score, logits[e]);
  });
}

KOKKOS_INLINE_FUNCTION void add_z_gradient(const Lanes& lanes, int64_t experts, const float* logits, double weight,
                                           float* dlogits) {
  const Softmax softmax = softmax_of(lanes, Score::softmax, experts, logits);
  const double factor = 2 * weight * log_sum(softmax) / softmax.sum;
  lanes.each(experts, [&](int64_t e) {
    dlogits[e] += static_cast<float>(factor * static_cast<double>(numerator(Score::softmax, softmax, logits[e])));
  });
}

// counts [n] = 0
void clear_counts(int64_t n, int64_t* counts) {
  for_each(
      "moemesh::count_sequences", n, KOKKOS_LAMBDA(int64_t i) { counts[i] = 0; });
}

// real[s] = the tokens that rows[s, :] counts.
void count_tokens(int64_t sequences, int64_t experts, int32_t top_k, const int64_t* rows, int64_t* real) {
  for_teams(
      "moemesh::count_sequences", sequences, KOKKOS_LAMBDA(int64_t s, const Lanes& lanes) {
        const int64_t sum = lanes.sum(experts, [&](int64_t e) { return rows[s * experts + e]; });
        lanes.once([&] { real[s] = sum / top_k; });
      });
}

// The two losses of each token.
void token_losses(const RouterConfig& config, const Sequences& sequences, int64_t tokens, const float* logits,
                  const int32_t* chosen, const int64_t* rows, double* aux, double* z) {
  const RouterConfig rule = config;
  const Sequences all = sequences;
  for_teams(
      "moemesh::balance_losses", tokens, KOKKOS_LAMBDA(int64_t t, const Lanes& lanes) {
        double token_aux = 0, token_z = 0;
        if (chosen[t * rule.top_k] >= 0) {
          const float* row = logits + t * rule.experts;
          const int64_t* counts = rows + sequence_of(all, t) * rule.experts;
          const Softmax scores = softmax_of(lanes, rule.score, rule.experts, row);
          token_aux = overlap(lanes, rule.score, scores, rule.experts, row, counts);
          const double sum =
              log_sum(rule.score == Score::softmax ? scores : softmax_of(lanes, Score::softmax, rule.experts, row));
          token_z = sum * sum;
        }
        lanes.once([&] {
          aux[t] = token_aux;
          z[t] = token_z;
        });
      });
}

// sums[i] = the sum of values[i, pieces]
void add_pieces(int64_t n, int64_t pieces, const double* values, double* sums) {
  for_teams(
      "moemesh::balance_losses", n, KOKKOS_LAMBDA(int64_t i, const Lanes& lanes) {
        const double sum = lanes.sum(pieces, [&](int64_t p) { return values[i * pieces + p]; });
        lanes.once([&] { sums[i] = sum; });
      });
}

// Tokens that a warp adds up: a sequence may be all tokens, and be the only one.
constexpr int64_t kPiece = 256;
int64_t pieces_of(const Sequences& sequences) { return detail::ceil_div(sequences.length, kPiece); }

// sums[s, p] = the losses of piece p of sequence s; then the same of z.
void add_tokens_of_pieces(const Sequences& sequences, const double* aux, const double* z, double* sums) {
  const Sequences all = sequences;
  const int64_t pieces = pieces_of(all), n = all.count * pieces;
  for_teams(
      "moemesh::balance_losses", n, KOKKOS_LAMBDA(int64_t i, const Lanes& lanes) {
        const int64_t s = i / pieces, first = i % pieces * kPiece;
        const int64_t count = detail::smaller(kPiece, all.length - first);
        const double aux_sum = lanes.sum(count, [&](int64_t c) { return aux[token_of(all, s, first + c)]; });
        const double z_sum = lanes.sum(count, [&](int64_t c) { return z[token_of(all, s, first + c)]; });
        lanes.once([&] {
          sums[i] = aux_sum;
          sums[n + i] = z_sum;
        });
      });
}

void add_tokens_on_host(const Sequences& sequences, const double* aux, const double* z, double* sums) {
  const Sequences all = sequences;
  double *aux_sums = sums, *z_sums = sums + all.count;
  for_each(
      "moemesh::balance_losses", all.count, KOKKOS_LAMBDA(int64_t s) {
        aux_sums[s] = z_sums[s] = 0;
        for (int64_t i = 0; i < all.length; ++i) {
          aux_sums[s] += aux[token_of(all, s, i)];
          z_sums[s] += z[token_of(all, s, i)];
        }
      });
}

// sums[s], sums[count + s] = the losses of sequence s, in an order that no number of threads changes.
void add_tokens(const Sequences& sequences, const double* aux, const double* z, double* scratch, double* sums) {
  if constexpr (detail::kOnHost) {
    add_tokens_on_host(sequences, aux, z, sums);
  } else {
    add_tokens_of_pieces(sequences, aux, z, scratch);
    add_pieces(2 * sequences.count, pieces_of(sequences), scratch, sums);
  }
}

}  // namespace

// Reads 4 bytes of each choice; its count is in a cache.
void count_sequences(const RouterConfig& config, const Sequences& sequences, int64_t tokens, const int32_t* chosen,
                     int64_t* rows, int64_t* real) {
  const int64_t experts = config.experts;
  const int32_t top_k = config.top_k;
  const Sequences all = sequences;
  clear_counts(all.count * experts, rows);
  for_each(
      "moemesh::count_sequences", tokens * top_k, KOKKOS_LAMBDA(int64_t i) {
        if (chosen[i] >= 0) Kokkos::atomic_inc(&rows[sequence_of(all, i / top_k) * experts + chosen[i]]);
      });
  count_tokens(all.count, experts, top_k, rows, real);
  detail::finish();
}

int64_t balance_workspace(int64_t tokens) { return detail::kOnHost ? 2 * tokens : 4 * tokens; }

// Reads 4 bytes of each logit, and of a token 4 more, and writes and reads 16: its two losses, that they are added in order.
BalanceLosses balance_losses(const RouterConfig& config, const Sequences& sequences, int64_t tokens,
                             const float* logits, const int32_t* chosen, const int64_t* rows, const int64_t* real,
                             double* workspace, double* sums) {
  double *aux = workspace, *z = aux + tokens, *aux_sums = sums, *z_sums = sums + sequences.count;
  const Sequences& all = sequences;
  token_losses(config, all, tokens, logits, chosen, rows, aux, z);
  add_tokens(all, aux, z, z + tokens, sums);
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

// Reads 8 bytes of each logit, itself and its gradient, and writes 4: the minimum.
void balance_backward(const RouterConfig& config, const Sequences& sequences, int64_t tokens, const float* logits,
                      const int32_t* chosen, const int64_t* rows, const double* aux_weights, double z_weight,
                      float* dlogits) {
  const RouterConfig rule = config;
  const Sequences all = sequences;
  for_teams(
      "moemesh::balance_backward", tokens, KOKKOS_LAMBDA(int64_t t, const Lanes& lanes) {
        if (chosen[t * rule.top_k] < 0) return;
        const float* row = logits + t * rule.experts;
        float* gradient = dlogits + t * rule.experts;
        const int64_t s = sequence_of(all, t);
        if (aux_weights != nullptr)
          add_aux_gradient(lanes, rule.score, rule.experts, row, rows + s * rule.experts, aux_weights[s], gradient);
        if (z_weight != 0) add_z_gradient(lanes, rule.experts, row, z_weight, gradient);
      });
}

}  // namespace moemesh::kernels
