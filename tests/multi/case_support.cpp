// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "case_support.hpp"

#include <cmath>
#include <cstring>
#include <exception>

namespace moemesh::test {

Ranks::Ranks(int count) {
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() < count ? 0 : MPI_UNDEFINED, world_rank(), &comm_);
}

Ranks::~Ranks() {
  if (inside() && std::uncaught_exceptions() == 0) MPI_Comm_free(&comm_);
  MPI_Barrier(MPI_COMM_WORLD);
}

bool fits(const MeshSpec& spec) { return ranks_of(spec) <= world_size(); }

bool failed_anywhere(MPI_Comm comm) {
  int failed = ::testing::Test::HasFailure() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
  return failed == 1;
}

void on_each_mesh(const std::vector<MeshSpec>& meshes, const std::function<void(const Place&)>& f,
                  double timeout_seconds) {
  int fitting = 0;
  for (const MeshSpec& spec : meshes) {
    if (!fits(spec)) continue;
    ++fitting;
    const Ranks ranks(ranks_of(spec));
    if (!ranks.inside()) continue;
    SCOPED_TRACE(to_string(spec));
    try {
      const Session session(ranks.comm(), timeout_seconds);
      const Mesh mesh(session, spec);
      f({mesh, session, ranks.comm()});
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(fitting, 0);
}

moemesh_optimizer_params sgd(double learning_rate) {
  auto params = with_defaults(moemesh_optimizer_params_init);
  params.kind = MOEMESH_SGD;
  params.learning_rate = learning_rate;
  return params;
}

namespace {

ModelSpec scale_spec(const ScaleOptions& options) {
  oracle::LayerConfig config;
  config.name = "moe";
  config.hidden = config.ffn = options.hidden;
  config.experts = options.experts;
  config.top_k = options.top_k;
  config.activation = oracle::Activation::identity;
  config.score = options.score;
  config.gate = options.gate;
  config.caller_logits = true;
  config.capacity_factor = options.capacity_factor;
  config.drop = options.drop;
  config.aux_coefficient = options.aux_coefficient;
  config.aux_scope = options.aux_scope;
  config.z_coefficient = options.z_coefficient;
  config.bias_rate = options.bias_rate;
  ModelSpec spec;
  spec.layers = {config};
  spec.nonfinite = options.nonfinite;
  spec.recompute = options.recompute;
  spec.chunks = options.chunks;
  spec.dtype = options.dtype;
  spec.optimizer = options.optimizer;
  return spec;
}

}  // namespace

ScaleModel::ScaleModel(const Mesh& mesh, const ScaleOptions& options)
    : options_(options), model_(mesh, scale_spec(options)) {
  const int64_t hidden = options.hidden;
  for (int64_t e = 0; e < options.experts; ++e) {
    Floats one(static_cast<size_t>(hidden * hidden), 0.0F), scaled = one;
    for (int64_t h = 0; h < hidden; ++h) {
      const auto i = static_cast<size_t>(h * hidden + h);
      one[i] = 1.0F;
      scaled[i] = options.scales.empty() ? static_cast<float>(e + 1) : options.scales.at(static_cast<size_t>(e));
    }
    model_.write("moe.w1", one, MOEMESH_VALUE, e);
    model_.write("moe.w2", scaled, MOEMESH_VALUE, e);
  }
}

void ScaleModel::begin_tokens(int64_t tokens) {
  inputs_.clear();
  model_.begin(1, MOEMESH_TOKEN_MEAN);
  OK(moemesh_loss_tokens(model_.optimizer(), 0, tokens));
}

Floats ScaleModel::forward(const Floats& x, const Floats& logits, Tape* tape, int32_t microbatch) {
  return forward(x, logits, tape, {.microbatch = microbatch});
}

Floats ScaleModel::forward(const Floats& x, const Floats& logits, Tape* tape, const ForwardOptions& options) {
  inputs_.push_back(x);
  ForwardOptions with_logits = options;
  with_logits.logits = &logits;
  return model_.forward(0, inputs_.back(), tape, with_logits);
}

Floats ScaleModel::backward_ones(Tape* tape, int64_t tokens, Floats* dlogits) {
  Floats unwanted;
  return model_.backward(0, tape, Floats(static_cast<size_t>(tokens * options_.hidden), 1.0F),
                         dlogits ? dlogits : &unwanted);
}

std::pair<std::vector<int64_t>, std::vector<int64_t>> ScaleModel::rows() {
  std::vector<int64_t> chosen(static_cast<size_t>(options_.experts), -1), computed = chosen;
  const auto chosen_view = view_of(chosen), computed_view = view_of(computed);
  OK(moemesh_layer_get_rows(model_.layer(0), &chosen_view, &computed_view));
  return {chosen, computed};
}

void ScaleModel::expect_good_step() {
  const int64_t H = options_.hidden, E = options_.experts, T = 3;
  Floats x, logits;
  std::vector<double> y, dx;
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t e = 0; e < E; ++e)
      logits.push_back(e == t % E ? 2.0F : 2.0F - static_cast<float>(1 + (e - t % E + E) % E));
    for (int64_t h = 0; h < H; ++h) x.push_back(static_cast<float>(t + 1));
  }
  // The first choice of token t is expert t mod E, the next ones follow it; gates by the layer's rule in double precision.
  const oracle::RouterConfig router{oracle::Score::softmax, options_.gate, 1.0, options_.top_k};
  for (int64_t t = 0; t < T; ++t) {
    const oracle::Array row(logits.begin() + t * E, logits.begin() + (t + 1) * E);
    const auto chosen = oracle::choose_experts(row, options_.top_k);
    const auto gates = oracle::gates_forward(router, row, chosen);
    double scale = 0;
    for (size_t j = 0; j < chosen.size(); ++j) {
      const auto e = static_cast<size_t>(chosen[j]);
      scale += gates[j] * (options_.scales.empty() ? static_cast<double>(e + 1) : options_.scales.at(e));
    }
    y.insert(y.end(), static_cast<size_t>(H), scale * static_cast<double>(t + 1));
    dx.insert(dx.end(), static_cast<size_t>(H), scale);
  }
  Tape tape;
  begin_tokens(T);
  expect_close(forward(x, logits, &tape), y);
  expect_close(backward_ones(&tape, T), dx);
  const auto result = model_.update(0);  // a rate of 0 leaves the weights
  EXPECT_EQ(result.skipped, 0);
  EXPECT_GT(result.norm, 0.0);
}

Floats route(const std::vector<int64_t>& experts, int64_t count) {
  Floats logits(experts.size() * static_cast<size_t>(count), 0.0F);
  for (size_t t = 0; t < experts.size(); ++t)
    logits[t * static_cast<size_t>(count) + static_cast<size_t>(experts[t])] = 4.0F;
  return logits;
}

Floats logs(const std::vector<double>& probabilities) {
  Floats logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

void expect_close(const Floats& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(static_cast<double>(found[i]), expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << "element " << i;
}

bool equal_everywhere(MPI_Comm comm, const void* data, int64_t bytes) {
  std::vector<char> mine(static_cast<const char*>(data), static_cast<const char*>(data) + bytes), first = mine;
  MPI_Bcast(first.data(), static_cast<int>(bytes), MPI_BYTE, 0, comm);
  int equal = first == mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &equal, 1, MPI_INT, MPI_MIN, comm);
  return equal == 1;
}

}  // namespace moemesh::test
