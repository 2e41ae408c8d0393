// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// One optimizer step's loss and gradients: a stack of MoE layers over the global batch, cut into pieces.
#pragma once

#include <functional>

#include "layer.hpp"

namespace oracle {

// A piece is what one data shard feeds in for one microbatch. The oracle does not care which shard and which
// microbatch.
struct Piece {
  std::int64_t tokens = 0;    // T, padding included; 0 is an ordinary piece
  Array x;                    // [T, hidden]
  Mask mask;                  // [T], or empty: all real
  Array target;               // whatever the loss wants to have per piece; [T, hidden] for dot_loss and squared_loss
  std::vector<Array> logits;  // per layer [T, experts] where the layer has caller_logits; may be empty where none has
  Sequences sequences = {};   // of layers that balance each sequence
};

// All values of a model, or all their gradients.
struct Parameters {
  std::vector<LayerWeights> layers;
  std::vector<Array> shared;  // the program's own SHARED parameters, used by the front and by the loss
};

// The program's own part before the first layer, on rows of one piece: x -> the first layer's input. Empty functions =
// no such part. backward gets the piece's x and the gradient of the front's output, and adds to shared_gradients.
struct Front {
  std::function<Array(const Array& x, const std::vector<Array>& shared)> forward;
  std::function<void(const Array& x, const Array& d_output, const std::vector<Array>& shared,
                     std::vector<Array>* shared_gradients)>
      backward;
};

// Multiplies channel h by shared[index][h]: a SHARED parameter of `hidden` elements.
Front channel_scale(std::size_t index);

// What the loss function says about one piece: the SUM of its tokens' losses and that sum's gradients.
struct Loss {
  double sum = 0;
  std::int64_t tokens = 0;      // loss tokens: what the sum is divided by for a mean
  Array dy;                     // [T, hidden]; must be 0 in rows of padding
  std::vector<Array> d_shared;  // empty, or the sum's gradient with respect to every SHARED parameter of the program
};
using LossFunction = std::function<Loss(const Piece& piece, const Array& y, const std::vector<Array>& shared)>;

// Sum over real tokens of <target_t, y_t>, and of 0.5*|y_t - target_t|^2. Every real token is a loss token.
Loss dot_loss(const Piece& piece, const Array& y, const std::vector<Array>& shared);
Loss squared_loss(const Piece& piece, const Array& y, const std::vector<Array>& shared);

struct Model {
  std::vector<LayerConfig> layers;
  bool residual = true;  // h += layer(h), else h = layer(h)
  Front front;
  LossFunction loss = dot_loss;
  std::vector<std::string> shared_names;  // of Parameters::shared
};

// Layers with zero weights; `shared` has one empty array per name, for the caller to fill.
Parameters zero_parameters(const Model& model);
// Zeros in the shape of `parameters`.
Parameters zeros_like(const Parameters& parameters);

enum class Family { shared, expert };

// One parameter array and its name: "<layer>.router", ".w1", ".wg", ".w2" (one entry per expert), ".shared.w1",
// ".shared.wg", ".shared.w2", and the model's shared_names. Arrays without elements are left out.
struct NamedArray {
  std::string name;
  Family family;
  std::int64_t expert;  // global index; 0 for Family::shared
  Array* values;
};
// Always in the same order for the same model, so that lists of values and of gradients go together.
std::vector<NamedArray> named_arrays(const Model& model, Parameters& parameters);

struct PieceResult {
  double loss = 0;     // what the caller back-propagates: the piece's mean (shard_mean), or sum
  double balance = 0;  // the layers' own losses, scaled as they are minimized beside it
  std::int64_t loss_tokens = 0;
  std::vector<LayerTape> tapes;  // per layer
  Array y;                       // the last layer's output
  std::vector<Array> dx;         // per layer: gradient of `loss` with respect to the layer's input, without the
                                 // residual path: what layer_backward of the library returns
  std::vector<Array> dy;         // per layer: gradient of `loss` with respect to the layer's own output
  std::vector<Array> dlogits;    // per layer, of `loss`
  Array d_input;                 // of `loss` with respect to the first layer's input, residual path included
};

struct StepResult {
  double loss = 0;             // the objective, without the layers' own losses
  double balance = 0;          // what these add to it
  std::int64_t dropped = 0;    // rows of all pieces and layers beyond a capacity
  double factor = 0;           // 1/pieces (shard_mean) or 1/tokens (token_mean): already in `gradients`
  std::int64_t tokens = 0;     // loss tokens of all pieces
  std::int64_t nonfinite = 0;  // rows of all pieces and layers that could not be routed
  double margin = 0;           // smallest margin of all rows and layers
  Parameters gradients;        // reduced, divided, not clipped
  std::vector<PieceResult> pieces;
};

// The forward alone, without the loss: fills tapes and y.
PieceResult run_forward(const Model& model, const Parameters& parameters, const Piece& piece);

// After an update: each layer that has a rate moves its bias by what all pieces chose.
void move_biases(const StepResult& step, Model* model);

StepResult run_step(const Model& model, const Parameters& parameters, const std::vector<Piece>& pieces,
                    Objective objective);

}  // namespace oracle
