// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/balance.hpp"

#include <gtest/gtest.h>

#include "unit/kernels_util.hpp"

namespace moemesh::kernels {
namespace {

using test::both;
using test::dev;
using test::dev_if;
using test::Floats;
using test::kInf;

// Everything of one router: the decision, the counts, values and gradients.
struct Balanced {
  RouterConfig config;
  Sequences sequences;
  std::vector<float> logits;
  int64_t tokens;
  std::vector<int32_t> chosen;
  std::vector<int64_t> rows, real;
  BalanceLosses losses;

  Balanced(const RouterConfig& rule, const Sequences& cut, std::vector<float> values,
           const std::vector<uint8_t>& mask = {})
      : config(rule), sequences(cut), logits(std::move(values)) {
    tokens = static_cast<int64_t>(logits.size()) / config.experts;
    sequences.length = tokens / sequences.count;
    chosen.assign(static_cast<size_t>(tokens * config.top_k), -77);
    std::vector<float> gates(chosen.size());
    route(config, tokens, dev(logits), config.experts, dev_if(!mask.empty(), mask), 1, dev(chosen), dev(gates));
    rows.assign(static_cast<size_t>(sequences.count * config.experts), -77);
    real.assign(static_cast<size_t>(sequences.count), -77);
    count_sequences(config, sequences, tokens, dev(chosen), dev(rows), both(real));
    losses = values_of();
  }
  BalanceLosses values_of() const {
    std::vector<double> scratch(static_cast<size_t>(balance_workspace(tokens)), test::kNan);
    std::vector<double> sums(static_cast<size_t>(2 * sequences.count), test::kNan);
    return balance_losses(config, sequences, tokens, dev(logits), dev(chosen), dev(rows), both(real), dev(scratch),
                          both(sums));
  }
  // Added to zeros.
  std::vector<float> gradient(const std::vector<double>& aux_weights, double z_weight) const {
    std::vector<float> dlogits(logits.size(), 0.0F);
    balance_backward(config, sequences, tokens, dev(logits), dev(chosen), dev(rows),
                     dev_if(!aux_weights.empty(), aux_weights), z_weight, dev(dlogits));
    return dlogits;
  }
};

std::vector<float> random_logits(int64_t n, uint32_t seed) {
  const Floats f(n, seed, -3, 3);
  return std::vector<float>(f.data(), f.data() + n);
}

// One token's sum_e rows[e]*P_e and logsumexp^2, in fp64 by the definitions.
double overlap(Score score, const std::vector<double>& logits, const int64_t* rows) {
  double sum = 0, product = 0;
  for (size_t e = 0; e < logits.size(); ++e) {
    const double s = score == Score::softmax ? std::exp(logits[e]) : 1 / (1 + std::exp(-logits[e]));
    sum += s;
    product += s * static_cast<double>(rows[e]);
  }
  return product / sum;
}

double square(const std::vector<double>& logits) {
  double sum = 0;
  for (const double l : logits) sum += std::exp(l);
  return std::log(sum) * std::log(sum);
}

class KernelsBalance : public testing::TestWithParam<Score> {
 protected:
  RouterConfig config(int64_t experts, int32_t k) const { return {experts, k, GetParam(), Gate::raw, 1}; }
};

TEST_P(KernelsBalance, ValuesFollowTheDefinition) {
  for (const bool interleaved : {false, true}) {
    const int64_t E = 7, S = 3, T = 30;
    std::vector<uint8_t> mask(T, 1);
    for (int64_t t = 0; t < T; ++t) {
      const int64_t s = interleaved ? t % S : t / (T / S);
      mask[static_cast<size_t>(t)] = s != 1 && t % 5 != 4;  // one sequence has no token
    }
    const Balanced b(config(E, 2), {S, 0, interleaved}, random_logits(T * E, 3), mask);
    double aux = 0, z = 0;
    int64_t routed = 0;
    for (int64_t s = 0; s < S; ++s) {
      double sum = 0;
      int64_t n = 0;
      for (int64_t t = 0; t < T; ++t) {
        if ((interleaved ? t % S : t / (T / S)) != s || mask[static_cast<size_t>(t)] == 0) continue;
        const std::vector<double> row(b.logits.begin() + t * E, b.logits.begin() + (t + 1) * E);
        sum += overlap(GetParam(), row, b.rows.data() + s * E);
        z += square(row);
        ++n;
      }
      EXPECT_EQ(b.real[static_cast<size_t>(s)], n);
      routed += n;
      if (n > 0) aux += static_cast<double>(E) * sum / static_cast<double>(2 * n * n) / 2;  // 2 sequences have tokens
    }
    EXPECT_NEAR(b.losses.aux, aux, 1e-6 * aux);
    EXPECT_NEAR(b.losses.z, z / static_cast<double>(routed), 1e-6 * z);
  }
}

TEST_P(KernelsBalance, GradientsAgreeWithFiniteDifferences) {
  const int64_t E = 6, S = 2, T = 8;
  const Balanced b(config(E, 2), {S, 0, true}, random_logits(T * E, 4), {1, 1, 1, 0, 1, 1, 1, 1});
  const std::vector<double> weights{0.3, -0.7};
  const double z_weight = 0.2;
  const std::vector<float> found = b.gradient(weights, z_weight);
  for (int64_t i = 0; i < T * E; ++i) {
    const int64_t t = i / E, s = t % S;
    double loss[2];
    for (int side = 0; side < 2; ++side) {
      std::vector<double> row(b.logits.begin() + t * E, b.logits.begin() + (t + 1) * E);
      row[static_cast<size_t>(i % E)] += side == 0 ? -1e-5 : 1e-5;
      loss[side] =
          weights[static_cast<size_t>(s)] * overlap(GetParam(), row, b.rows.data() + s * E) + z_weight * square(row);
    }
    EXPECT_NEAR(found[static_cast<size_t>(i)], t == 3 ? 0.0 : (loss[1] - loss[0]) / 2e-5, 4e-6) << "element " << i;
  }
}

TEST_P(KernelsBalance, GradientsAreAdded) {
  const Balanced b(config(4, 1), {}, random_logits(20, 6));
  const std::vector<float> alone = b.gradient({0.5}, 0.25);
  std::vector<float> sum(20, 8.0F);
  const double weight = 0.5;
  balance_backward(b.config, b.sequences, 5, dev(b.logits), dev(b.chosen), dev(b.rows), dev(weight), 0.25, dev(sum));
  for (size_t i = 0; i < 20; ++i) EXPECT_NEAR(sum[i], 8 + alone[i], 2e-6);
  EXPECT_EQ(b.gradient({}, 0), std::vector<float>(20, 0.0F));
}

// Nothing is NaN or infinite where scores saturate, underflow or are 0.
TEST_P(KernelsBalance, ExtremeLogits) {
  const std::vector<float> logits{-kInf, 500,  -1e30F, -2000, 80,    80,    80,   80,
                                  -200,  -300, -250,   -kInf, -1e4F, -2e4F, 1e4F, 0};
  const Balanced b(config(4, 2), {}, logits);
  EXPECT_TRUE(std::isfinite(b.losses.aux));
  EXPECT_TRUE(std::isfinite(b.losses.z));
  for (const float g : b.gradient({1.0}, 1.0)) EXPECT_TRUE(std::isfinite(g));
  EXPECT_EQ(b.gradient({1.0}, 1.0)[0], 0.0F) << "the -inf logit of token 0";
  EXPECT_EQ(b.gradient({1.0}, 1.0)[11], 0.0F) << "the -inf logit of token 2";
}

TEST_P(KernelsBalance, NoTokens) {
  const Balanced masked(config(3, 1), {}, random_logits(6, 7), {0, 0});
  EXPECT_EQ(masked.losses.aux, 0.0);
  EXPECT_EQ(masked.losses.z, 0.0);
  EXPECT_EQ(masked.gradient({1.0}, 1.0), std::vector<float>(6, 0.0F));
  const Balanced empty(config(3, 1), {}, {});
  EXPECT_EQ(empty.losses.aux, 0.0);
  EXPECT_EQ(empty.losses.z, 0.0);
}

TEST_P(KernelsBalance, RepeatsBitByBit) {
  const Balanced b(config(32, 4), {5, 0, false}, random_logits(32 * 5000, 8));
  for (int run = 0; run < 20; ++run) {
    const BalanceLosses again = b.values_of();
    ASSERT_EQ(again.aux, b.losses.aux);
    ASSERT_EQ(again.z, b.losses.z);
  }
}

INSTANTIATE_TEST_SUITE_P(Scores, KernelsBalance, testing::Values(Score::softmax, Score::sigmoid));

}  // namespace
}  // namespace moemesh::kernels
