// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Deterministic random inputs. Every number drawn is exactly a float, so that a library in single precision starts from
// the same bits. They depend on the seed and the model alone.
#pragma once

#include "step.hpp"

namespace oracle {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  double uniform(double low, double high);  // rounded to float
  Array uniform_array(std::int64_t elements, double low, double high);

 private:
  std::uint64_t state_;
};

// Fills every array of the model (uniform, in [-scale/sqrt(cols), scale/sqrt(cols)) for the layers' matrices), SHARED
// arrays of the program, which must be sized before, in [0.5, 1.5).
void draw_parameters(const Model& model, std::uint64_t seed, double scale, Parameters* parameters);

struct DrawOptions {
  std::uint64_t seed = 1;
  double margin = 1e-3;      // least LayerTape::margin of every layer
  double scale = 1.0;        // x in [-scale, scale)
  double logit_scale = 3.0;  // logits of caller_logits layers in [-logit_scale, logit_scale)
  double padding = 0.0;      // share of rows that the mask marks as padding
};

// One piece for each entry of `token_counts`, with targets in [-1, 1). A token that comes closer than `margin` to a tie
// in any layer with these parameters is drawn again, and so is a piece that comes too near with a capacity; throws
// std::runtime_error after 10000 tries. Weights that change move the scores: draw each step's pieces with the weights
// of that step, or check StepResult::margin.
std::vector<Piece> draw_pieces(const Model& model, const Parameters& parameters,
                               const std::vector<std::int64_t>& token_counts, const DrawOptions& options);

}  // namespace oracle
