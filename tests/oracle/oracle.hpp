// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The oracle: an independent model of the whole training step, dense, in double precision, on one rank.
//
// It shares no code with the library and includes none of its headers: it has its own enums and plain structs, and
// computes token by token with simple loops. Its gradients are checked by finite differences (test/), so that the
// library can be checked against it. There is no mesh here: every mesh must give what the oracle gives for the same
// pieces.
//
// Files: router (score, selection, gates), expert (W2 act(W1 x)), layer (one MoE layer), capacity (drops), balance
// (the layer's own losses), step (stack of layers, pieces, objectives, gradients), optimizer (norm, clipping, AdamW,
// SGD), draw (inputs that keep away from router ties), compare (relative norms).
//
// Use from tests/multi, on every rank (the oracle is deterministic, so all ranks hold the same numbers):
//
//   oracle::Model model;                              // 1. describe the model
//   model.layers = {config0, config1};                //    LayerConfig::name = the library layer's name
//   model.front = oracle::channel_scale(0);           //    optional: the program's own SHARED parameter
//   model.shared_names = {"scale"};
//   model.loss = oracle::squared_loss;                //    or dot_loss, or the test's own (it returns sums)
//
//   oracle::Parameters weights = oracle::zero_parameters(model);
//   weights.shared[0].resize(hidden);
//   for (auto& array : oracle::named_arrays(model, weights)) {   // 2. copy the library's initial fp32 weights in:
//     // array.name and array.expert are the library's own: moemesh_parameter_find in the family of array.family, then
//     // moemesh_parameter_read(.., MOEMESH_VALUE, array.expert, ..), and
//     array.values->assign(floats.begin(), floats.end());
//   }
//
//   // 3. S pieces that do not depend on the mesh. A mesh with dp*ep data shards runs M = S/(dp*ep) microbatches; any
//   //    fixed rule of which piece goes where will do, for example piece = shard*M + microbatch. Counts may be 0.
//   auto pieces = oracle::draw_pieces(model, weights, {5, 0, 3, 7}, options);
//
//   auto step = oracle::run_step(model, weights, pieces, oracle::Objective::shard_mean);
//   // 4. compare, with oracle::relative_distance(library, oracle, floor):
//   //    step.pieces[p].tapes[l].y (layer output), .tapes[l].kept, .tapes[l].gates, .dy[l] and .dx[l] (in and out of
//   //    the layer's backward, for the caller's own loss: mean or sum), .loss, step.loss, and
//   //    named_arrays(model, step.gradients) with MOEMESH_GRADIENT: reduced and divided, before clipping.
//
//   oracle::Optimizer optimizer(optimizer_config);    // 5. update and compare displacements of the masters
//   auto before = weights;
//   auto result = optimizer.update(oracle::named_arrays(model, weights), oracle::named_arrays(model, step.gradients));
//
// For several steps draw each step's pieces with the weights of that step (or check step.margin): updates move scores.
// A loss scale is not modelled: reduced gradients never contain it.
#pragma once

#include "balance.hpp"
#include "capacity.hpp"
#include "compare.hpp"
#include "draw.hpp"
#include "optimizer.hpp"
