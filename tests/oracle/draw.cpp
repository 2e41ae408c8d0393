// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "draw.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace oracle {
namespace {

constexpr int max_tries = 10000;

Piece draw_token(const Model& model, const DrawOptions& options, Random* random) {
  Piece token;
  token.tokens = 1;
  const std::int64_t hidden = model.layers.at(0).hidden;
  token.x = random->uniform_array(hidden, -options.scale, options.scale);
  token.target = random->uniform_array(hidden, -1.0, 1.0);
  for (const LayerConfig& layer : model.layers) {
    const std::int64_t width = layer.caller_logits ? layer.experts : 0;
    token.logits.push_back(random->uniform_array(width, -options.logit_scale, options.logit_scale));
  }
  return token;
}

bool is_clear(const PieceResult& result, const DrawOptions& options) {
  return std::all_of(result.tapes.begin(), result.tapes.end(),
                     [&](const LayerTape& tape) { return tape.nonfinite.empty() && tape.margin >= options.margin; });
}

// Without a capacity tokens do not influence each other, so a token's margin can be found without its neighbours.
Piece draw_clear_token(const Model& model, const Parameters& parameters, const DrawOptions& options, Random* random) {
  for (int tries = 0; tries < max_tries; ++tries) {
    Piece token = draw_token(model, options, random);
    if (is_clear(run_forward(model, parameters, token), options)) return token;
  }
  throw std::runtime_error("oracle: no token keeps the router's margin");
}

void append(Array* array, const Array& values) { array->insert(array->end(), values.begin(), values.end()); }

void append_token(const Piece& token, bool real, Piece* piece) {
  ++piece->tokens;
  append(&piece->x, token.x);
  append(&piece->target, token.target);
  piece->logits.resize(token.logits.size());
  for (std::size_t l = 0; l < token.logits.size(); ++l) append(&piece->logits[l], token.logits[l]);
  piece->mask.push_back(real ? 1 : 0);
}

Piece draw_piece(const Model& model, const Parameters& parameters, std::int64_t tokens, const DrawOptions& options,
                 Random* random) {
  Piece piece;
  piece.logits.resize(model.layers.size());
  for (std::int64_t t = 0; t < tokens; ++t) {
    const bool real = random->uniform(0.0, 1.0) >= options.padding;
    append_token(draw_clear_token(model, parameters, options, random), real, &piece);
  }
  return piece;
}

// What a capacity drops depends on all tokens of a piece, and changes the next layer's input.
Piece draw_clear_piece(const Model& model, const Parameters& parameters, std::int64_t tokens,
                       const DrawOptions& options, Random* random) {
  for (int tries = 0; tries < max_tries; ++tries) {
    Piece piece = draw_piece(model, parameters, tokens, options, random);
    if (is_clear(run_forward(model, parameters, piece), options)) return piece;
  }
  throw std::runtime_error("oracle: no piece keeps the router's margin");
}

void draw_matrix(Array* matrix, std::int64_t cols, double scale, Random* random) {
  const double bound = scale / std::sqrt(static_cast<double>(cols));
  *matrix = random->uniform_array(static_cast<std::int64_t>(matrix->size()), -bound, bound);
}

void draw_layer(const LayerConfig& config, double scale, Random* random, LayerWeights* weights) {
  draw_matrix(&weights->router, config.hidden, scale, random);
  for (Array& matrix : weights->w1) draw_matrix(&matrix, config.hidden, scale, random);
  for (Array& matrix : weights->wg) draw_matrix(&matrix, config.hidden, scale, random);
  for (Array& matrix : weights->w2) draw_matrix(&matrix, config.ffn, scale, random);
  if (config.shared_ffn == 0) return;
  draw_matrix(&weights->shared_w1, config.hidden, scale, random);
  draw_matrix(&weights->shared_wg, config.hidden, scale, random);
  draw_matrix(&weights->shared_w2, config.shared_ffn, scale, random);
}

}  // namespace

// splitmix64: a counter run through a mixing function.
std::uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15ull;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

double Random::uniform(double low, double high) {
  const double unit = static_cast<double>(next() >> 11) * 0x1.0p-53;
  return static_cast<double>(static_cast<float>(low + (high - low) * unit));
}

Array Random::uniform_array(std::int64_t elements, double low, double high) {
  Array array;
  for (std::int64_t i = 0; i < elements; ++i) array.push_back(uniform(low, high));
  return array;
}

void draw_parameters(const Model& model, std::uint64_t seed, double scale, Parameters* parameters) {
  Random random(seed);
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    draw_layer(model.layers[l], scale, &random, &parameters->layers.at(l));
  }
  for (Array& array : parameters->shared) {
    array = random.uniform_array(static_cast<std::int64_t>(array.size()), 0.5, 1.5);
  }
}

std::vector<Piece> draw_pieces(const Model& model, const Parameters& parameters,
                               const std::vector<std::int64_t>& token_counts, const DrawOptions& options) {
  Random random(options.seed);
  std::vector<Piece> pieces;
  for (std::int64_t tokens : token_counts)
    pieces.push_back(draw_clear_piece(model, parameters, tokens, options, &random));
  return pieces;
}

}  // namespace oracle
