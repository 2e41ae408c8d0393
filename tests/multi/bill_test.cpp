// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The communication bill against the ledger: real steps, whose routing is read from the tapes and handed to the bill. Every
// entry must be equal, and none may be missing on either side.

#include <algorithm>
#include <array>

#include "case_support.hpp"
#include "harness_params.hpp"
#include "pipeline_support.hpp"

namespace moemesh::test {
namespace {

constexpr int64_t hidden = 8;

struct Options {
  int32_t shared_stage = 1, expert_stage = 1;
  int32_t dtype = MOEMESH_FLOAT32, combine_dtype = 0;
  int32_t microbatches = 1, objective = MOEMESH_SHARD_MEAN;
  int32_t steps = 1;
  int64_t tokens = 7;  // of each shard
  int64_t uneven = 0;  // more of them for each shard number
  bool pipeline = false;
  bool routing = true;                     // handed to the bill
  bool every_expert = false;               // k = E: routing is certain
  double first_bias = 0, second_bias = 0;  // rates of the layers' selection biases
  int64_t large = 0;                       // elements of a parameter that takes several chunks
  int32_t recompute = MOEMESH_RECOMPUTE_NONE, chunks = 1;
  int32_t overlap = MOEMESH_OVERLAP_GAPS;
  int64_t bucket_bytes = 0, chunk_bytes = 0;  // 0: the defaults
};

std::ostream& operator<<(std::ostream& stream, const Options& o) {
  return stream << "stages " << o.shared_stage << " " << o.expert_stage << " dtype " << o.dtype << " combine "
                << o.combine_dtype << " M " << o.microbatches << " objective " << o.objective << " steps " << o.steps
                << " overlap " << o.overlap << " buckets " << o.bucket_bytes << " chunks " << o.chunk_bytes
                << " tokens " << o.tokens << "+" << o.uneven << "s pipeline " << o.pipeline << " biases "
                << o.first_bias << " " << o.second_bias
                << " recompute " << o.recompute << " layer chunks " << o.chunks;
}

// ---- the model: the same layers on every stage, other parameters on each

oracle::LayerConfig layer(const std::string& name, int64_t experts, const Options& options) {
  oracle::LayerConfig config;
  config.name = name;
  config.hidden = hidden;
  config.ffn = 24;
  config.experts = experts;
  config.top_k = options.every_expert ? experts : 2;
  return config;
}

std::vector<oracle::LayerConfig> layers(const Options& options) {
  auto first = layer("c", 6, options), second = layer("a", 5, options);
  first.shared_ffn = 24;
  second.caller_logits = true;
  second.activation = oracle::Activation::silu;
  first.bias_rate = options.first_bias;
  second.bias_rate = options.second_bias;
  return {first, second};
}

std::vector<ParameterSpec> shared_parameters(int64_t stage, int64_t stages, const Options& options) {
  std::vector<ParameterSpec> list{
      {.name = "replica", .extents = {3, 5 + stage}},
      {.name = "b.sharded", .extents = {5, 24, 2}, .tp_kind = MOEMESH_TP_SHARDED, .tp_dim = 1},
      {.name = "partial", .extents = {7, 3}, .tp_kind = MOEMESH_TP_PARTIAL}};
  if (stage == 0 || stage == stages - 1) {
    list.push_back({.name = "a.tied", .extents = {5, 3}, .tp_kind = MOEMESH_TP_PARTIAL, .tied = 1});
    list.push_back({.name = "tied", .extents = {24}, .tp_kind = MOEMESH_TP_SHARDED, .tied = 1});
  }
  if (options.large > 0) list.push_back({.name = "m.large", .extents = {options.large}});
  return list;
}

std::vector<ParameterSpec> expert_parameters() {
  return {{.name = "z", .extents = {5}, .experts = 3, .tp_kind = MOEMESH_TP_PARTIAL},
          {.name = "b", .extents = {24, 3}, .experts = 3, .tp_kind = MOEMESH_TP_SHARDED}};
}

ModelSpec model_spec(const Mesh& mesh, const Options& options) {
  ModelSpec spec;
  spec.layers = layers(options);
  spec.shared = shared_parameters(mesh.here().pp, mesh.spec().pp, options);
  spec.expert = expert_parameters();
  spec.dtype = options.dtype;
  spec.combine_dtype = options.combine_dtype;
  spec.recompute = options.recompute;
  spec.chunks = options.chunks;
  spec.optimizer = sgd(0);  // the routing stays as it is
  spec.optimizer->shared_stage = options.shared_stage;
  spec.optimizer->expert_stage = options.expert_stage;
  spec.optimizer->overlap = options.overlap;
  spec.optimizer->bucket_bytes = options.bucket_bytes;
  if (options.chunk_bytes > 0) spec.optimizer->chunk_bytes = options.chunk_bytes;
  return spec;
}

// ---- what the routing asks for

struct Sent {
  std::vector<int64_t> copies, rows;  // to each ep coordinate
};

// Of a token slice: with expert_tp < tp a rank sends its part of the shard's tokens.
Sent sent_by(const Mesh& mesh, const Routing& routing, const oracle::LayerConfig& config) {
  std::vector<int64_t> slices;
  for (const int64_t rank : mesh.members(MOEMESH_AXIS_TP))
    if (mesh.at(rank).expert_tp == mesh.here().expert_tp) slices.push_back(rank);
  const auto n = static_cast<int64_t>(slices.size());
  const int64_t own = std::find(slices.begin(), slices.end(), mesh.rank()) - slices.begin();
  const int64_t k = config.top_k, T = static_cast<int64_t>(routing.experts.size()) / k, ep = mesh.spec().ep;
  Sent sent{std::vector<int64_t>(static_cast<size_t>(ep)), std::vector<int64_t>(static_cast<size_t>(ep))};
  for (int64_t t = T * own / n; t < T * (own + 1) / n; ++t)
    for (int64_t owner = 0; owner < ep; ++owner) {
      const int64_t base = config.experts / ep, longer = config.experts % ep;
      const int64_t first = owner * base + std::min(owner, longer), end = first + base + (owner < longer ? 1 : 0);
      const auto begin = routing.experts.begin() + t * k;
      const int64_t rows = std::count_if(begin, begin + k, [&](int32_t e) { return e >= first && e < end; });
      sent.rows[static_cast<size_t>(owner)] += rows;
      sent.copies[static_cast<size_t>(owner)] += rows > 0 ? 1 : 0;
    }
  return sent;
}

void add(const Sent& sent, Sent* sum) {
  sum->copies.resize(sent.copies.size());
  sum->rows.resize(sent.rows.size());
  for (size_t p = 0; p < sent.copies.size(); ++p) {
    sum->copies[p] += sent.copies[p];
    sum->rows[p] += sent.rows[p];
  }
}

// ---- a real run

class Run {
 public:
  Run(const Place& place, const Options& options)
      : place_(place), mesh_(place.mesh), options_(options), model_(mesh_, model_spec(mesh_, options)) {
    if (options.pipeline)
      pipe_ = std::make_unique<Pipe>(mesh_, model_.optimizer(), hidden,
                                     Pipe::Options{.schedule = MOEMESH_SCHEDULE_1F1B, .dtype = options.dtype});
    const int64_t shard = mesh_.here().data_shard;
    oracle::Random random(static_cast<uint64_t>(shard + 10 * mesh_.here().pp) + 3);
    tokens_ = options.tokens + options.uneven * shard;
    for (int i = 0; i < 2; ++i) {  // of microbatches in turn: they route differently
      x_.push_back(to_floats(random.uniform_array(tokens_ * hidden, -1, 1)));
      logits_.push_back(to_floats(random.uniform_array(tokens_ * 5, -1, 1)));
    }
  }

  std::vector<moemesh_ledger_entry> steps() {
    mesh_.reset_ledger();
    for (int32_t i = 0; i < options_.steps; ++i) step();
    return mesh_.ledger();
  }
  // By each layer in one step, all microbatches together.
  const std::vector<Sent>& sent() const { return sent_; }

 private:
  void step() {
    model_.begin(options_.microbatches, options_.objective);
    tapes_.clear();
    tapes_.resize(static_cast<size_t>(options_.microbatches));
    sent_.assign(2, {});
    if (pipe_) {
      pipe_->run(std::vector<int64_t>(static_cast<size_t>(options_.microbatches), tokens_),
                 [&](const Action& action) { return act(action); });
    } else {
      for (int32_t m = 0; m < options_.microbatches; ++m) forward(m);
      for (int32_t m = 0; m < options_.microbatches; ++m) backward(m);
    }
    const bool last = mesh_.here().pp == mesh_.spec().pp - 1;
    for (int32_t m = 0; last && options_.objective == MOEMESH_TOKEN_MEAN && m < options_.microbatches; ++m)
      OK(moemesh_loss_tokens(model_.optimizer(), m, tokens_));
    EXPECT_EQ(model_.update().skipped, 0);
  }
  int32_t act(const Action& action) {
    if (action.out.rank == 2)
      std::fill_n(static_cast<char*>(action.out.data),
                  elements(action.out) * (options_.dtype == MOEMESH_FLOAT32 ? 4 : 2), char{0});
    action.kind == MOEMESH_ACTION_FORWARD ? forward(action.microbatch) : backward(action.microbatch);
    return MOEMESH_OK;
  }
  void forward(int32_t microbatch) {
    for (size_t i = 0; i < 2; ++i) {
      Tape& tape = tapes_[static_cast<size_t>(microbatch)][i];
      const auto turn = static_cast<size_t>(microbatch % 2);
      ForwardOptions forward{.logits = i == 1 ? &logits_[turn] : nullptr, .microbatch = microbatch};
      model_.forward(i, x_[turn], &tape, forward);
      add(sent_by(mesh_, model_.routing(i, tape, tokens_), model_.spec().layers[i]), &sent_[i]);
    }
  }
  void backward(int32_t microbatch) {
    for (const size_t i : {size_t{1}, size_t{0}}) {
      Floats dlogits;
      model_.backward(i, &tapes_[static_cast<size_t>(microbatch)][i], x_[0], i == 1 ? &dlogits : nullptr);
    }
    for (const auto* list : {&model_.spec().shared, &model_.spec().expert})
      for (const auto& parameter : *list)
        OK(moemesh_gradient_ready(model_.parameter(parameter.name), nullptr, nullptr));
  }

  const Place& place_;
  const Mesh& mesh_;
  Options options_;
  Model model_;
  std::unique_ptr<Pipe> pipe_;
  int64_t tokens_ = 0;
  std::vector<Floats> x_, logits_;
  std::vector<std::array<Tape, 2>> tapes_;
  std::vector<Sent> sent_;
};

// ---- the bill of the same

// Of one layer and stage, [ranks of the stage, ep] each, from what all ranks sent. Collective over the case's ranks.
std::vector<Sent> matrices(const Place& place, const Sent& mine) {
  const Mesh& mesh = place.mesh;
  const int ep = mesh.spec().ep, world = ranks_of(mesh.spec());
  std::vector<int64_t> copies(static_cast<size_t>(ep * world)), rows = copies;
  MPI_Allgather(mine.copies.data(), ep, MPI_INT64_T, copies.data(), ep, MPI_INT64_T, place.comm);
  MPI_Allgather(mine.rows.data(), ep, MPI_INT64_T, rows.data(), ep, MPI_INT64_T, place.comm);
  std::vector<Sent> stages(static_cast<size_t>(mesh.spec().pp));
  for (int rank = 0; rank < world; ++rank) {
    Sent& stage = stages[static_cast<size_t>(mesh.at(rank).pp)];
    stage.copies.insert(stage.copies.end(), copies.begin() + rank * ep, copies.begin() + (rank + 1) * ep);
    stage.rows.insert(stage.rows.end(), rows.begin() + rank * ep, rows.begin() + (rank + 1) * ep);
  }
  return stages;
}

class BillOf {
 public:
  BillOf(const Mesh& mesh, moemesh_mesh handle, const Options& options, const std::array<std::vector<Sent>, 2>& sent) {
    auto params = with_defaults(moemesh_bill_params_init);
    params.steps = options.steps;
    params.tokens = options.tokens;
    params.microbatches = options.microbatches;
    params.objective = options.objective;
    params.shared_stage = options.shared_stage;
    params.expert_stage = options.expert_stage;
    params.shared_dtype = params.expert_dtype = options.dtype;
    params.overlap = options.overlap;
    params.bucket_bytes = options.bucket_bytes;
    if (options.chunk_bytes > 0) params.chunk_bytes = options.chunk_bytes;
    OK(moemesh_bill_create(handle, &params, &bill_));
    if (options.pipeline) {
      auto pipeline = with_defaults(moemesh_pipeline_params_init);
      pipeline.width = hidden;
      pipeline.dtype = options.dtype;
      OK(moemesh_bill_set_pipeline(bill_, &pipeline));
    }
    for (int64_t stage = 0; stage < mesh.spec().pp; ++stage) describe(stage, mesh.spec().pp, options, sent);
  }
  BillOf(const BillOf&) = delete;
  BillOf& operator=(const BillOf&) = delete;
  ~BillOf() { moemesh_bill_destroy(&bill_); }

  std::vector<moemesh_ledger_entry> entries(int64_t rank) const {
    int64_t count = 0;
    OK(moemesh_bill_get_count(bill_, rank, &count));
    std::vector<moemesh_ledger_entry> entries(static_cast<size_t>(count), sized<moemesh_ledger_entry>());
    for (int64_t i = 0; i < count; ++i) OK(moemesh_bill_get_entry(bill_, rank, i, &entries[static_cast<size_t>(i)]));
    return entries;
  }

 private:
  // In another order than the real one: names alone decide.
  void describe(int64_t stage, int64_t stages, const Options& options, const std::array<std::vector<Sent>, 2>& sent) {
    for (const auto& spec : expert_parameters()) add(stage, MOEMESH_EXPERT, spec);
    const auto configs = layers(options);
    ModelSpec model;
    model.combine_dtype = options.combine_dtype;
    model.recompute = options.recompute;
    model.chunks = options.chunks;
    for (const size_t i : {size_t{1}, size_t{0}}) {
      const auto params = layer_params(model, configs[i]);
      const Sent& matrix = sent[i][static_cast<size_t>(stage)];
      auto routing = sized<moemesh_bill_routing>();
      routing.copies = matrix.copies.data();
      routing.rows = matrix.rows.data();
      OK(moemesh_bill_add_layer(bill_, stage, &params, options.routing ? &routing : nullptr));
    }
    auto shared = shared_parameters(stage, stages, options);
    std::reverse(shared.begin(), shared.end());
    for (const auto& spec : shared) add(stage, MOEMESH_SHARED, spec);
  }
  void add(int64_t stage, int32_t family, const ParameterSpec& spec) {
    const auto params = parameter_params(spec);
    OK(moemesh_bill_add_parameter(bill_, stage, family, &params));
  }

  moemesh_bill bill_ = nullptr;
};

void expect_equal(const std::vector<moemesh_ledger_entry>& bill, const std::vector<moemesh_ledger_entry>& ledger) {
  const auto texts = [](const std::vector<moemesh_ledger_entry>& entries) {
    std::vector<std::string> list;
    for (const auto& entry : entries)
      list.push_back(to_string(entry) + " internode " + std::to_string(entry.bytes_internode));
    return list;
  };
  EXPECT_EQ(texts(bill), texts(ledger)) << "the bill first, the ledger second";
}

void check(const Place& place, const Options& options) {
  std::ostringstream text;
  text << place.mesh.spec() << ": " << options;
  SCOPED_TRACE(text.str());
  Run run(place, options);
  const auto ledger = run.steps();
  const std::array<std::vector<Sent>, 2> sent{matrices(place, run.sent()[0]), matrices(place, run.sent()[1])};
  const Mesh& mesh = place.mesh;
  expect_equal(BillOf(mesh, mesh.get(), options, sent).entries(mesh.rank()), ledger);
  // A planned mesh of the same shape has the same bill.
  auto params = with_defaults(moemesh_mesh_params_init);
  params.tp = mesh.spec().tp;
  params.ep = mesh.spec().ep;
  params.pp = mesh.spec().pp;
  params.dp = mesh.spec().dp;
  params.expert_tp = mesh.spec().expert_tp;
  if (!mesh.spec().order.empty()) params.order = mesh.spec().order.c_str();
  moemesh_mesh planned = nullptr;
  OK(moemesh_mesh_plan(nullptr, ranks_of(mesh.spec()), &params, &planned));
  expect_equal(BillOf(mesh, planned, options, sent).entries(mesh.rank()), ledger);
  moemesh_mesh_destroy(&planned);
}

void check_all(const std::vector<MeshSpec>& meshes, const std::vector<Options>& options) {
  on_each_mesh(meshes, [&](const Place& place) {
    for (const Options& each : options) check(place, each);
  });
}

const std::vector<Options>& usual() {
  static const std::vector<Options> options{
      {.shared_stage = 0, .expert_stage = 0},
      {.shared_stage = 1,
       .expert_stage = 1,
       .dtype = MOEMESH_BFLOAT16,
       .microbatches = 3,
       .objective = MOEMESH_TOKEN_MEAN,
       .first_bias = 1e-30,
       .second_bias = 1e-30},
      {.shared_stage = 2, .expert_stage = 2, .microbatches = 3, .steps = 2, .first_bias = 1e-30},
      {.shared_stage = 2, .expert_stage = 1, .dtype = MOEMESH_BFLOAT16, .combine_dtype = MOEMESH_FLOAT32},
      {.shared_stage = 0, .expert_stage = 2, .dtype = MOEMESH_BFLOAT16, .objective = MOEMESH_TOKEN_MEAN},
      {.shared_stage = 0,
       .expert_stage = 1,
       .steps = 3,
       .overlap = MOEMESH_OVERLAP_EAGER,
       .bucket_bytes = 200,
       .chunk_bytes = 36},
      {.microbatches = 2, .overlap = MOEMESH_OVERLAP_AFTER, .bucket_bytes = 1},
      {.shared_stage = 1, .expert_stage = 0, .steps = 2, .bucket_bytes = 500, .chunk_bytes = 4},
  };
  return options;
}

std::vector<MeshSpec> pipelines() {
  return {{.pp = 2, .order = {}},
          {.ep = 2, .pp = 2, .order = "pp-ep-tp-dp"},
          {.tp = 2, .pp = 2, .order = {}},
          {.pp = 2, .dp = 2, .order = "dp-pp-tp-ep"},
          {.tp = 2, .pp = 2, .expert_tp = 1, .order = "tp-pp-ep-dp"},
          {.pp = 4, .order = {}},
          {.tp = 2, .ep = 2, .pp = 2, .order = "ep-pp-tp-dp"},
          {.ep = 2, .pp = 2, .dp = 2, .order = {}},
          {.tp = 2, .ep = 2, .pp = 2, .expert_tp = 1, .order = "pp-tp-ep-dp"}};
}

TEST(Bill, EqualsTheLedgerOnEveryMesh) { check_all(meshes_of(world_size()), usual()); }

TEST(Bill, EqualsTheLedgerInOtherOrders) {
  std::vector<MeshSpec> meshes{{.order = "dp-ep-tp-pp"}};
  for (const char* order : {"dp-ep-tp-pp", "ep-tp-dp-pp", "ep-dp-pp-tp"}) {
    meshes.push_back({.tp = 2, .ep = 2, .order = order});
    meshes.push_back({.ep = 2, .dp = 2, .order = order});
    meshes.push_back({.tp = 2, .dp = 2, .expert_tp = 1, .order = order});
    meshes.push_back({.tp = 4, .ep = 2, .expert_tp = 2, .order = order});
  }
  check_all(meshes, {usual()[1], usual()[2]});
}

TEST(Bill, EqualsTheLedgerOfPipelines) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  std::vector<Options> options = usual();
  for (Options& each : options) each.pipeline = true;
  options[0].microbatches = 3;
  options.push_back({.pipeline = false});  // stages without rows between them
  options.push_back({.tokens = 0, .pipeline = true});
  check_all(pipelines(), options);
}

// Groups of ep and of slices overlap: the ranks of a block tell each other how it went.
TEST(Bill, EqualsTheLedgerWhereBlocksAgree) {
  if (world_size() < 6) GTEST_SKIP() << "needs 6 ranks";
  check_all({{.tp = 3, .ep = 2, .expert_tp = 1, .order = {}}}, {usual()[0], usual()[2]});
}

// tp 1: nothing is sent that only `tokens` describes.
TEST(Bill, MatricesMakeUnevenShardsExact) {
  std::vector<MeshSpec> meshes = meshes_of(world_size());
  std::erase_if(meshes, [](const MeshSpec& spec) { return spec.tp != 1; });
  check_all(meshes, {{.tokens = 0, .uneven = 5}, {.microbatches = 2, .tokens = 2, .uneven = 3}});
}

// With k = E all is certain, so that expectations are the numbers themselves.
TEST(Bill, ExpectationsOfCertainRoutingAreExact) {
  check_all(meshes_of(world_size()), {{.microbatches = 3, .routing = false, .every_expert = true},
                                      {.dtype = MOEMESH_BFLOAT16, .routing = false, .every_expert = true}});
}

TEST(Bill, EqualsTheLedgerWithRecomputeAndChunks) {
  std::vector<Options> options{
      {.microbatches = 2, .recompute = MOEMESH_RECOMPUTE_SELECTIVE, .chunks = 2},
      {.dtype = MOEMESH_BFLOAT16, .microbatches = 2, .steps = 2, .recompute = MOEMESH_RECOMPUTE_FULL, .chunks = 3},
      {.recompute = MOEMESH_RECOMPUTE_FULL},
      {.chunks = 9},
      {.routing = false, .every_expert = true, .recompute = MOEMESH_RECOMPUTE_FULL, .chunks = 2}};
  check_all(meshes_of(world_size()), options);
  if (world_size() < 4) return;
  for (Options& each : options) each.pipeline = true;
  check_all({pipelines()[1], pipelines()[4]}, {options[1]});
}

TEST(Bill, EqualsTheLedgerWithSeveralChunks) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  constexpr int64_t large = (int64_t{1} << 20) + 13;
  check_all({{.dp = 2, .order = {}}, {.ep = 2, .order = {}}},
            {{.shared_stage = 1, .large = large}, {.shared_stage = 2, .large = large}});
}

}  // namespace
}  // namespace moemesh::test
