// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The library's side of a run: the same training over one mesh, as a program would write it.

#include <algorithm>

#include "invariance_case.hpp"
#include "pipeline_support.hpp"

namespace moemesh::test {
namespace {

// One microbatch on its way forward and back. Inputs stay alive until the backward is through.
struct Flow {
  const oracle::Piece* piece = nullptr;
  int32_t microbatch = 0;
  std::vector<Floats> x, logits;  // of each layer
  Floats output;                  // of the last residual sum
  std::vector<Tape> tapes;
  PieceRecord record;
};

struct LossGradients {
  double sum = 0;
  int64_t tokens = 0;
  Floats dy, replica, sharded, partial;  // scaled; partial holds this tp rank's tokens only
};

// What a stage has of the model: some of its layers, and the last one the program's own parameters.
struct StagePart {
  ModelSpec spec;
  size_t first_layer = 0;
  bool last = true;
};
StagePart part_of(const Mesh& mesh, const Case& setting) {
  StagePart part{model_spec(setting)};
  const int64_t stages = mesh.spec().pp, stage = mesh.here().pp, layers = std::ssize(part.spec.layers);
  const auto begin = [&](int64_t s) {
    return (s * layers + stages - 1) / stages;
  };  // layer l is on stage l*stages/layers
  part.first_layer = static_cast<size_t>(begin(stage));
  part.spec.layers.erase(part.spec.layers.begin() + begin(stage + 1), part.spec.layers.end());
  part.spec.layers.erase(part.spec.layers.begin(), part.spec.layers.begin() + begin(stage));
  part.last = stage + 1 == stages;
  if (!part.last) part.spec.shared.clear();
  return part;
}

class Runner {
 public:
  Runner(const Mesh& mesh, const Expected& expected, const RunOptions& options)
      : mesh_(mesh),
        expected_(expected),
        options_(options),
        part_(part_of(mesh, expected.setting)),
        model_(mesh, part_.spec),
        here_(mesh.here()) {}

  RunRecord run();

 private:
  PhaseRecord run_phase(const ExpectedPhase& phase);
  StepRecord run_step(const ExpectedPhase& phase, const ExpectedStep& step);
  Flow start(const ExpectedStep& step, int32_t microbatch) const;
  void run_microbatches(const ExpectedStep& step, std::vector<Flow>* flows) const;
  void run_pipeline(const ExpectedStep& step, std::vector<Flow>* flows) const;
  void act(const Action& action, Flow* flow) const;
  void forward(Flow* flow) const;
  void forward_layer(Flow* flow, size_t layer) const;
  Floats backward_loss(Flow* flow) const;
  void backward(Flow* flow, Floats* dh) const;
  LossGradients loss(const Flow& flow) const;
  void hand_in(const LossGradients& gradients, int32_t microbatch) const;
  moemesh_optimizer_params optimizer_params(const oracle::OptimizerConfig& config) const;
  void expect_equal_everywhere(double value) const;
  Floats local_master(const std::string& name, int64_t expert) const;
  // part(array) for every array of the model; nothing for those of other stages.
  template <class T, class F>
  std::vector<T> local_list(F&& part) const {
    oracle::Parameters shapes = expected_.initial;
    std::vector<T> list;
    for (const auto& array : oracle::named_arrays(expected_.model, shapes))
      list.push_back(is_here(array.name) ? part(array) : T{});
    return list;
  }
  bool is_here(const std::string& name) const {
    for (const auto& layer : part_.spec.layers)
      if (name.starts_with(layer.name + ".")) return true;
    return part_.last && name.starts_with("loss.");
  }
  std::vector<Floats> whole_list(int32_t quantity) const {  // collective
    return local_list<Floats>([&](const auto& array) { return model_.read(array.name, quantity, array.expert); });
  }
  int32_t microbatches() const { return static_cast<int32_t>(pieces_of_batch / mesh_.data_shards()); }
  bool masked() const { return expected_.setting.padding > 0; }

  const Mesh& mesh_;
  const Expected& expected_;
  const RunOptions& options_;
  StagePart part_;
  Model model_;
  moemesh_coordinates here_;
  oracle::Objective objective_ = oracle::Objective::shard_mean;
  Floats replica_, sharded_, partial_;  // whole values during a step
};

Flow Runner::start(const ExpectedStep& step, int32_t microbatch) const {
  Flow flow;
  flow.record.piece = microbatch * mesh_.data_shards() + here_.data_shard;
  flow.piece = &step.pieces.at(static_cast<size_t>(flow.record.piece));
  flow.microbatch = microbatch;
  for (size_t l = 0; l < part_.spec.layers.size(); ++l) {
    flow.x.emplace_back();
    flow.logits.push_back(to_floats(flow.piece->logits.at(part_.first_layer + l)));
    flow.tapes.emplace_back();
    flow.record.dx.emplace_back();
    flow.record.dlogits.emplace_back();
  }
  flow.record.first_layer = part_.first_layer;
  flow.record.has_loss = part_.last;
  flow.output = to_floats(flow.piece->x);
  return flow;
}

void Runner::forward_layer(Flow* flow, size_t layer) const {
  ForwardOptions options;
  options.microbatch = flow->microbatch;
  options.sequences = flow->piece->sequences;
  if (masked()) options.mask = &flow->piece->mask;
  if (model_.spec().layers[layer].caller_logits) options.logits = &flow->logits[layer];
  Floats before;
  if (options_.extra_inference) {
    options.training = 0;
    before = model_.forward(layer, flow->x[layer], nullptr, options);
    options.training = 1;
  }
  Floats y = model_.forward(layer, flow->x[layer], &flow->tapes[layer], options);
  if (options_.extra_inference) {
    EXPECT_TRUE(same_bits(y, before)) << "training = 0 gives another y";
  }
  flow->record.routing.push_back(model_.routing(layer, flow->tapes[layer], flow->piece->tokens));
  flow->record.statistics.push_back(model_.statistics(layer));
  flow->record.y.push_back(std::move(y));
}

void Runner::forward(Flow* flow) const {
  for (size_t l = 0; l < flow->x.size(); ++l) {
    flow->x[l] = flow->output;
    forward_layer(flow, l);
    for (size_t i = 0; i < flow->output.size(); ++i) flow->output[i] += flow->record.y[l][i];
  }
}

Floats Runner::backward_loss(Flow* flow) const {
  const LossGradients gradients = loss(*flow);
  hand_in(gradients, flow->microbatch);
  flow->record.loss = gradients.sum;
  return gradients.dy;
}

// dh: in the gradient of the last layer's output here, out of the first one's input.
void Runner::backward(Flow* flow, Floats* dh) const {
  for (size_t l = flow->x.size(); l-- > 0;) {
    const bool caller = model_.spec().layers[l].caller_logits;
    Floats dx = model_.backward(l, &flow->tapes[l], *dh, caller ? &flow->record.dlogits[l] : nullptr);
    for (size_t i = 0; i < dh->size(); ++i) (*dh)[i] += dx[i];
    flow->record.dx[l] = std::move(dx);
  }
}

// One stage: in an order of the program's own.
void Runner::run_microbatches(const ExpectedStep& step, std::vector<Flow>* flows) const {
  const auto back = [&](Flow& flow) {
    Floats dh = backward_loss(&flow);
    backward(&flow, &dh);
  };
  for (int32_t m = 0; m < microbatches(); ++m) {
    flows->push_back(start(step, m));
    forward(&flows->back());
    if (!expected_.setting.tapes_together) back(flows->back());
  }
  // Neither the order of the forwards nor its reverse: begins in the middle.
  std::rotate(flows->begin(), flows->begin() + microbatches() / 2, flows->end());
  if (expected_.setting.tapes_together)
    for (Flow& flow : *flows) back(flow);
}

Floats rows_in(const moemesh_view& view) {
  const auto count = static_cast<size_t>(elements(view));
  if (view.dtype == MOEMESH_FLOAT32) return Floats(floats(view), floats(view) + count);
  const auto* halves = static_cast<const uint16_t*>(view.data);
  return to_floats(Halves(halves, halves + count));
}

void put_rows(const Floats& rows, const moemesh_view& view) {
  if (view.rank == 0) return;
  ASSERT_EQ(std::ssize(rows), elements(view));
  const Halves halves = to_halves(rows);
  if (view.dtype == MOEMESH_FLOAT32)
    std::copy(rows.begin(), rows.end(), floats(view));
  else
    std::copy(halves.begin(), halves.end(), static_cast<uint16_t*>(view.data));
}

void Runner::act(const Action& action, Flow* flow) const {
  if (action.kind == MOEMESH_ACTION_FORWARD) {
    if (action.in.rank != 0) flow->output = rows_in(action.in);
    forward(flow);
    put_rows(flow->output, action.out);
  } else {
    Floats dh = part_.last ? backward_loss(flow) : rows_in(action.in);
    backward(flow, &dh);
    put_rows(dh, action.out);
  }
}

void Runner::run_pipeline(const ExpectedStep& step, std::vector<Flow>* flows) const {
  const Pipe pipe(mesh_, model_.optimizer(), expected_.setting.layers[0].hidden,
                  {.schedule = options_.schedule, .dtype = expected_.setting.dtype});
  std::vector<int64_t> rows;
  for (int32_t m = 0; m < microbatches(); ++m) {
    flows->push_back(start(step, m));
    rows.push_back(flows->back().piece->tokens);
  }
  pipe.run(rows, [&](const Action& action) {
    act(action, &flows->at(static_cast<size_t>(action.microbatch)));
    return MOEMESH_OK;
  });
}

// The loss of invariance_case.cpp on the library's output.
LossGradients Runner::loss(const Flow& flow) const {
  const oracle::Piece& piece = *flow.piece;
  const size_t width = replica_.size();
  LossGradients g{0, 0, Floats(flow.output.size()), Floats(width), Floats(2 * width), Floats(width)};
  for (const uint8_t real : piece.mask) g.tokens += real;
  const bool mean = objective_ == oracle::Objective::shard_mean;
  const double weight = mean && g.tokens > 0 ? 1.0 / static_cast<double>(g.tokens) : 1.0;
  const double scale = weight * expected_.setting.loss_scale;
  for (size_t i = 0; i < flow.output.size(); ++i) {
    const size_t t = i / width, h = i % width;
    if (piece.mask[t] == 0) continue;
    const double y = flow.output[i], target = piece.target[i], x = piece.x[i];
    const double error = replica_[h] * y + sharded_[h] + sharded_[width + h] * target + partial_[h] * x - target;
    g.sum += weight * 0.5 * error * error;
    g.dy[i] = static_cast<float>(scale * error * replica_[h]);
    g.replica[h] += static_cast<float>(scale * error * y);
    g.sharded[h] += static_cast<float>(scale * error);
    g.sharded[width + h] += static_cast<float>(scale * error * target);
    if (static_cast<int64_t>(t) % mesh_.spec().tp == here_.tp) g.partial[h] += static_cast<float>(scale * error * x);
  }
  return g;
}

// Three ways: into the main gradient itself, as a strided part of a larger array, as a dense array. A microbatch
// without tokens hands in nothing, or at stage 2 NULL.
void Runner::hand_in(const LossGradients& g, int32_t microbatch) const {
  if (objective_ == oracle::Objective::token_mean) OK(moemesh_loss_tokens(model_.optimizer(), microbatch, g.tokens));
  if (g.tokens == 0) {
    if (options_.shared_stage == 2)  // its sum over the ranks waits for everyone
      for (const char* name : {"loss.replica", "loss.sharded", "loss.partial"})
        OK(moemesh_gradient_ready(model_.parameter(name), nullptr, nullptr));
    return;
  }
  const auto main_gradient = model_.local_gradient("loss.replica");
  for (size_t h = 0; h < g.replica.size(); ++h) main_gradient.as<float>()[h] += g.replica[h];
  main_gradient.store();
  OK(moemesh_gradient_ready(model_.parameter("loss.replica"), nullptr, nullptr));
  const auto width = static_cast<int64_t>(g.replica.size());
  const int64_t part = width / mesh_.spec().tp;
  auto columns = view_of(g.sharded, {2, width});
  columns.extents[1] = part;
  columns.data = static_cast<float*>(columns.data) + part * here_.tp;
  OK(moemesh_gradient_ready(model_.parameter("loss.sharded"), &columns, nullptr));
  const auto partial = view_of(g.partial, {width});
  OK(moemesh_gradient_ready(model_.parameter("loss.partial"), &partial, nullptr));
}

void Runner::expect_equal_everywhere(double value) const {
  double range[2] = {value, -value};
  const auto view = view_of(range, {2});
  OK(moemesh_all_reduce(mesh_.get(), MOEMESH_GROUP_WORLD, MOEMESH_MAX, &view));
  EXPECT_EQ(range[0], value);
  EXPECT_EQ(-range[1], value);
}

// fp32 parameters are their own masters. Collective.
Floats Runner::local_master(const std::string& name, int64_t expert) const {
  if (expected_.setting.dtype == MOEMESH_FLOAT32) return model_.local_matrix(name, expert);
  const Floats whole = model_.read(name, MOEMESH_MASTER, expert);
  Floats part;
  for (const int64_t place : model_.local_places(name, expert)) part.push_back(whole[static_cast<size_t>(place)]);
  EXPECT_EQ(model_.local_matrix(name, expert), rounded_to_half(part)) << name;
  return part;
}

StepRecord Runner::run_step(const ExpectedPhase& phase, const ExpectedStep& step) {
  if (part_.last) {
    replica_ = model_.read("loss.replica");
    sharded_ = model_.read("loss.sharded");
    partial_ = model_.read("loss.partial");
  }
  const bool mean = objective_ == oracle::Objective::shard_mean;
  model_.begin(microbatches(), mean ? MOEMESH_SHARD_MEAN : MOEMESH_TOKEN_MEAN, expected_.setting.loss_scale);
  std::vector<Flow> flows;
  if (mesh_.spec().pp == 1)
    run_microbatches(step, &flows);
  else
    run_pipeline(step, &flows);
  StepRecord record;
  for (Flow& flow : flows) record.pieces.push_back(std::move(flow.record));
  record.update = model_.update(phase.phase.optimizer.learning_rate);
  expect_equal_everywhere(record.update.coefficient);
  expect_equal_everywhere(record.update.norm);
  record.values = local_list<Floats>([&](const auto& array) { return local_master(array.name, array.expert); });
  for (size_t l = 0; l < part_.spec.layers.size(); ++l) record.biases.push_back(model_.bias(l));
  if (&step == &phase.steps.back()) record.gradients = whole_list(MOEMESH_GRADIENT);
  return record;
}

moemesh_optimizer_params Runner::optimizer_params(const oracle::OptimizerConfig& config) const {
  auto params = with_defaults(moemesh_optimizer_params_init);
  params.kind = config.kind == oracle::OptimizerKind::adamw ? MOEMESH_ADAMW : MOEMESH_SGD;
  params.learning_rate = 1e3;  // each step passes its own
  params.beta1 = config.beta1;
  params.beta2 = config.beta2;
  params.epsilon = config.epsilon;
  params.weight_decay = config.weight_decay;
  params.momentum = config.momentum;
  params.max_norm = config.max_norm;
  params.shared_stage = options_.shared_stage;
  params.expert_stage = options_.expert_stage;
  params.overlap = options_.overlap;
  params.prefetch = options_.prefetch;
  params.bucket_bytes = options_.bucket_bytes;
  params.chunk_bytes = options_.chunk_bytes;
  return params;
}

PhaseRecord Runner::run_phase(const ExpectedPhase& phase) {
  // The masters of bf16 parameters go with their optimizer: they are handed on.
  const bool hand_on = expected_.setting.dtype != MOEMESH_FLOAT32 && &phase != &expected_.phases.front();
  std::vector<Floats> masters;
  if (hand_on) masters = whole_list(MOEMESH_MASTER);
  model_.replace_optimizer(mesh_, optimizer_params(phase.phase.optimizer));
  auto next = masters.begin();
  if (hand_on)
    local_list<bool>([&](const auto& array) {
      while (next->empty()) ++next;
      model_.write(array.name, *next++, MOEMESH_MASTER, array.expert);
      return true;
    });
  objective_ = phase.phase.objective;
  PhaseRecord record;
  for (const ExpectedStep& step : phase.steps) record.steps.push_back(run_step(phase, step));
  record.moment1 = whole_list(MOEMESH_MOMENT1);
  if (phase.phase.optimizer.kind == oracle::OptimizerKind::adamw) record.moment2 = whole_list(MOEMESH_MOMENT2);
  return record;
}

RunRecord Runner::run() {
  RunRecord record;
  record.staged = mesh_.spec().pp > 1;
  record.first_layer = part_.first_layer;
  record.places = local_list<std::vector<int64_t>>(
      [&](const auto& array) { return model_.local_places(array.name, array.expert); });
  for (const ExpectedPhase& phase : expected_.phases) record.phases.push_back(run_phase(phase));
  return record;
}

}  // namespace

std::vector<Floats> read_list(const Model& model, int32_t quantity) {
  const oracle::Model described = model.oracle_model();
  oracle::Parameters parameters = model.read_all(quantity);
  std::vector<Floats> list;
  for (const auto& array : oracle::named_arrays(described, parameters)) list.push_back(to_floats(*array.values));
  return list;
}

RunRecord library_run(const Mesh& mesh, const Expected& expected, const RunOptions& options) {
  return Runner(mesh, expected, options).run();
}

}  // namespace moemesh::test
