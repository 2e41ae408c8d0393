// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What the cases (tests named after the ids of the project's list of cases) share: a world of the size that a case wants,
// meshes in the cases' order tp-ep-dp-pp, and scale experts.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "harness.hpp"

namespace moemesh::test {

// The first `count` ranks of MPI_COMM_WORLD. The others wait at its end, at a barrier of all.
class Ranks {
 public:
  explicit Ranks(int count);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();
  MPI_Comm comm() const { return comm_; }
  bool inside() const { return comm_ != MPI_COMM_NULL; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// A case of `count` ranks: skipped in a smaller world, in a larger one the rest only wait.
#define CASE_RANKS(name, count)                                                                 \
  if (::moemesh::test::world_size() < (count)) GTEST_SKIP() << "needs " << (count) << " ranks"; \
  const ::moemesh::test::Ranks name(count);                                                     \
  if (!name.inside()) return

inline MeshSpec case_mesh(int32_t tp, int32_t ep, int32_t dp, int32_t pp = 1) {
  return {.tp = tp, .ep = ep, .pp = pp, .dp = dp, .order = "tp-ep-dp-pp"};
}
inline MeshSpec with_expert_tp(MeshSpec spec, int32_t expert_tp) {
  spec.expert_tp = expert_tp;
  return spec;
}
inline int ranks_of(const MeshSpec& spec) { return spec.tp * spec.ep * spec.pp * spec.dp; }

// f on each of `meshes` that fits into this world, the ranks beyond it waiting; fails if none does. An exception fails the test
// and the next mesh goes on, so that the ranks stay together.
struct Place {
  const Mesh& mesh;
  const Session& session;
  MPI_Comm comm;
};
void on_each_mesh(const std::vector<MeshSpec>& meshes, const std::function<void(const Place&)>& f,
                  double timeout_seconds = 60);
bool fits(const MeshSpec& spec);
// Whether the running test has failed on any rank. Collective.
bool failed_anywhere(MPI_Comm comm);

struct ScaleOptions {
  int64_t hidden = 1;
  int64_t experts = 4;
  int64_t top_k = 1;
  oracle::Score score = oracle::Score::softmax;
  oracle::Gate gate = oracle::Gate::renorm;
  int32_t nonfinite = MOEMESH_NONFINITE_ERROR;
  int32_t dtype = MOEMESH_FLOAT32;
  std::vector<float> scales = {};  // default e+1
  moemesh_optimizer_params optimizer = with_defaults(moemesh_optimizer_params_init);
  double capacity_factor = 0;
  oracle::Drop drop = oracle::Drop::position;
  double aux_coefficient = 0;
  oracle::AuxScope aux_scope = oracle::AuxScope::shard;
  double z_coefficient = 0;
  double bias_rate = 0;
  int32_t recompute = MOEMESH_RECOMPUTE_NONE, chunks = 1;
};

// SGD with the given rate.
moemesh_optimizer_params sgd(double learning_rate);

// A layer "moe" of scale experts: ffn = hidden, W1 = 1, W2 = s*1, identity activation, logits by the caller. tp must divide
// hidden.
class ScaleModel {
 public:
  ScaleModel(const Mesh& mesh, const ScaleOptions& options);

  Model& model() { return model_; }
  const ScaleOptions& options() const { return options_; }
  // Opens a TOKEN_MEAN step in which this shard has `tokens` loss tokens in its one microbatch.
  void begin_tokens(int64_t tokens);
  Floats forward(const Floats& x, const Floats& logits, Tape* tape, int32_t microbatch = 0);
  Floats forward(const Floats& x, const Floats& logits, Tape* tape, const ForwardOptions& options);
  // dL/dy = 1 everywhere.
  Floats backward_ones(Tape* tape, int64_t tokens, Floats* dlogits = nullptr);
  Floats read(const char* matrix, int32_t quantity, int64_t expert) {
    return model_.read(name(matrix), quantity, expert);
  }
  moemesh_layer_statistics statistics() const { return model_.statistics(0); }
  // Of the last training forward: rows that this rank chose each expert for, and rows that its experts computed.
  std::pair<std::vector<int64_t>, std::vector<int64_t>> rows();
  // A whole good step on whatever came before: outputs right and the update done on every rank.
  void expect_good_step();

 private:
  static std::string name(const char* matrix) { return std::string("moe.") + matrix; }

  ScaleOptions options_;
  Model model_;
  std::list<Floats> inputs_;  // of this step's forwards: the library borrows them until backward
};

// Logits of 4 for the expert of each token, 0 elsewhere.
Floats route(const std::vector<int64_t>& experts, int64_t count);
Floats logs(const std::vector<double>& probabilities);
void expect_close(const Floats& found, const std::vector<double>& expected, double tolerance = 2e-6);
// Whether every rank of the communicator has these bits.
bool equal_everywhere(MPI_Comm comm, const void* data, int64_t bytes);
inline bool equal_everywhere(MPI_Comm comm, const Floats& data) {
  return equal_everywhere(comm, data.data(), static_cast<int64_t>(data.size() * sizeof(float)));
}

}  // namespace moemesh::test
