// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "step.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "balance.hpp"

namespace oracle {
namespace {

Array first_input(const Model& model, const Parameters& parameters, const Piece& piece) {
  return model.front.forward ? model.front.forward(piece.x, parameters.shared) : piece.x;
}

Array layer_logits(const Model& model, const Piece& piece, std::size_t layer) {
  return model.layers[layer].caller_logits ? piece.logits.at(layer) : Array();
}

}  // namespace

PieceResult run_forward(const Model& model, const Parameters& parameters, const Piece& piece) {
  PieceResult result;
  require_size(piece.x, piece.tokens * model.layers.at(0).hidden, "a piece's x");
  Array h = first_input(model, parameters, piece);
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    result.tapes.push_back(layer_forward(model.layers[l], parameters.layers.at(l), h, piece.mask,
                                         layer_logits(model, piece, l), piece.sequences));
    if (!model.residual) h.assign(h.size(), 0.0);
    add_to(&h, result.tapes.back().y);
  }
  result.y = h;
  return result;
}

namespace {

// dh: gradient of the last layer's output.
void backward_piece(const Model& model, const Parameters& parameters, const Piece& piece, Objective objective, Array dh,
                    Parameters* gradients, PieceResult* result) {
  const std::size_t layers = model.layers.size();
  result->dx.resize(layers);
  result->dy.resize(layers);
  result->dlogits.resize(layers);
  for (std::size_t l = layers; l-- > 0;) {
    result->dy[l] = dh;
    LayerBackward back =
        layer_backward(model.layers[l], parameters.layers[l], result->tapes[l], dh, &gradients->layers[l], objective);
    if (!model.residual) dh.assign(dh.size(), 0.0);
    add_to(&dh, back.dx);
    result->dx[l] = back.dx;
    result->dlogits[l] = back.dlogits;
  }
  if (model.front.backward) model.front.backward(piece.x, dh, parameters.shared, &gradients->shared);
  result->d_input = dh;
}

// From the sum's loss and gradients to those that the caller back-propagates.
void scale_loss(Loss* loss, double scale) {
  loss->sum *= scale;
  for (double& value : loss->dy) value *= scale;
  for (Array& array : loss->d_shared) {
    for (double& value : array) value *= scale;
  }
}

double caller_scale(Objective objective, std::int64_t tokens) {
  if (objective == Objective::token_mean) return 1.0;
  return tokens > 0 ? 1.0 / static_cast<double>(tokens) : 0.0;
}

void add_shared(const std::vector<Array>& values, std::vector<Array>* sums) {
  if (values.empty()) return;
  if (values.size() != sums->size()) throw std::invalid_argument("oracle: d_shared must be empty or complete");
  for (std::size_t s = 0; s < values.size(); ++s) add_to(&(*sums)[s], values[s]);
}

PieceResult run_piece(const Model& model, const Parameters& parameters, const Piece& piece, Objective objective,
                      Parameters* gradients) {
  PieceResult result = run_forward(model, parameters, piece);
  Loss loss = model.loss(piece, result.y, parameters.shared);
  scale_loss(&loss, caller_scale(objective, loss.tokens));
  result.loss = loss.sum;
  result.loss_tokens = loss.tokens;
  add_shared(loss.d_shared, &gradients->shared);
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    result.balance += balance_loss(model.layers[l], result.tapes[l], objective).scaled;
  }
  backward_piece(model, parameters, piece, objective, loss.dy, gradients, &result);
  return result;
}

double common_factor(Objective objective, std::size_t pieces, std::int64_t tokens) {
  const double divisor = static_cast<double>(objective == Objective::shard_mean ? pieces : tokens);
  return divisor > 0 ? 1.0 / divisor : 0.0;
}

void count_piece(const PieceResult& piece, StepResult* result) {
  result->loss += piece.loss;
  result->balance += piece.balance;
  result->tokens += piece.loss_tokens;
  for (const LayerTape& tape : piece.tapes) {
    result->nonfinite += static_cast<std::int64_t>(tape.nonfinite.size());
    result->dropped += tape.dropped;
    result->margin = std::min(result->margin, tape.margin);
  }
}

}  // namespace

StepResult run_step(const Model& model, const Parameters& parameters, const std::vector<Piece>& pieces,
                    Objective objective) {
  StepResult result;
  result.margin = std::numeric_limits<double>::infinity();
  result.gradients = zeros_like(parameters);
  for (const Piece& piece : pieces) {
    result.pieces.push_back(run_piece(model, parameters, piece, objective, &result.gradients));
    count_piece(result.pieces.back(), &result);
  }
  result.factor = common_factor(objective, pieces.size(), result.tokens);
  result.loss *= result.factor;
  result.balance *= result.factor;
  for (const NamedArray& gradient : named_arrays(model, result.gradients)) {
    for (double& value : *gradient.values) value *= result.factor;
  }
  return result;
}

void move_biases(const StepResult& step, Model* model) {
  for (std::size_t l = 0; l < model->layers.size(); ++l) {
    LayerConfig& layer = model->layers[l];
    if (layer.bias_rate == 0) continue;
    std::vector<std::int64_t> rows(layer.experts, 0);
    for (const PieceResult& piece : step.pieces) {
      const auto more = rows_per_expert(layer, piece.tapes.at(l));
      for (std::size_t e = 0; e < rows.size(); ++e) rows[e] += more[e];
    }
    move_bias(rows, &layer);
  }
}

}  // namespace oracle
