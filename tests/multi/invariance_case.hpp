// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// What the mesh-invariance tests run: a table of models and batches, what the oracle says about each, and the same
// training on the library over one mesh.
//
// The global batch of every step is eight pieces that do not depend on the mesh: dp*ep data shards run M = 8/(dp*ep)
// microbatches. A run trains some steps with SGD and then, on the same families, some with AdamW.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"

namespace moemesh::test {

inline constexpr int64_t pieces_of_batch = 8;

struct Case {
  std::string name;
  std::vector<oracle::LayerConfig> layers;
  std::vector<int64_t> tokens{5, 0, 3, 12, 7, 1, 4, 9};  // of each piece
  double padding = 0;                                    // share of masked rows; x holds NaN there
  bool to_one_expert = false;   // all rows of the first layer (caller's logits, k = 1) go to its last expert
  bool tapes_together = false;  // all microbatches go forward before the first goes backward, in another order
  double loss_scale = 1;
  int32_t dtype = MOEMESH_FLOAT32;  // of both families
  int32_t combine_dtype = 0;
  int32_t recompute = MOEMESH_RECOMPUTE_NONE, chunks = 1;
  oracle::Sequences sequences = {};                                   // of every piece
  oracle::Objective first_objective = oracle::Objective::shard_mean;  // with SGD; the other one with AdamW
};
std::vector<Case> invariance_cases();
const Case& case_of(const std::string& name);

// One optimizer with its steps.
struct Phase {
  oracle::OptimizerConfig optimizer;
  oracle::Objective objective;
  int steps = 3;
};

struct ExpectedStep {
  std::vector<oracle::Piece> pieces;
  oracle::StepResult result;
  oracle::UpdateResult update;
  oracle::Parameters values;          // after the update
  std::vector<oracle::Array> biases;  // of each layer, likewise; empty where it has none
};
struct ExpectedPhase {
  Phase phase;
  std::vector<ExpectedStep> steps;
  std::vector<oracle::Array> moment1, moment2;  // at the end, in the order of named_arrays
};
struct Expected {
  Case setting;
  oracle::Model model;
  oracle::Parameters initial;
  std::vector<ExpectedPhase> phases;
};

ModelSpec model_spec(const Case& setting);
// The library's initial weights, made on one rank without MPI, and the oracle's training from there.
Expected oracle_run(const Case& setting);

// ---- the library's run

struct PieceRecord {
  int64_t piece = 0;                   // of the global batch
  size_t first_layer = 0;              // of this rank's stage; the lists below are of its layers
  bool has_loss = true;                // only the last stage knows it
  double loss = 0;                     // without the loss scale
  std::vector<Floats> y, dx, dlogits;  // per layer
  std::vector<Routing> routing;
  std::vector<moemesh_layer_statistics> statistics;
};
struct StepRecord {
  std::vector<PieceRecord> pieces;  // of this rank's shard
  std::vector<Floats> values;       // this rank's parts, in the order of named_arrays
  std::vector<Floats> gradients;    // whole arrays, likewise; of the phase's last step only
  std::vector<Floats> biases;       // of the selection, of this rank's stage's layers
  moemesh_update_result update{};
};
struct PhaseRecord {
  std::vector<StepRecord> steps;
  std::vector<Floats> moment1, moment2;  // whole arrays; moment 2 of AdamW only
};
struct RunRecord {
  bool staged = false;                       // pp > 1: arrays of other stages are empty
  size_t first_layer = 0;                    // of this rank's stage
  std::vector<std::vector<int64_t>> places;  // in the unsplit arrays, of this rank's parts
  std::vector<PhaseRecord> phases;
};

struct RunOptions {
  int32_t shared_stage = 1, expert_stage = 1;
  int32_t schedule = MOEMESH_SCHEDULE_1F1B;
  bool extra_inference = false;  // forwards without training in between
  int32_t overlap = MOEMESH_OVERLAP_GAPS, prefetch = 0;
  int64_t bucket_bytes = 0, chunk_bytes = 1 << 18;
};
std::vector<Floats> read_list(const Model& model, int32_t quantity);  // whole arrays, as named_arrays; collective
RunRecord library_run(const Mesh& mesh, const Expected& expected, const RunOptions& options = {});

// One EXPECT for each array. tolerance: of relative norms.
void expect_agreement(const RunRecord& run, const Expected& expected, double tolerance);
// Everything that both have, bit by bit.
void expect_same_bits(const RunRecord& a, const RunRecord& b);

}  // namespace moemesh::test
