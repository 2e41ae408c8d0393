// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/optimizer/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"
#include "impl/family/reduction.hpp"
#include "impl/family/rounds.hpp"
#include "impl/schedule/fabric.hpp"
#include "impl/timeline/step_end.hpp"

namespace moemesh {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;

void check_one_stage(const char* name, int32_t stage) {
  require(stage >= 0 && stage <= 3, bad, "{}: expected 0..3, got {}", name, stage);
  require(stage <= 2, MOEMESH_ERROR_NOT_SUPPORTED, "{}: 0, 1 and 2 are supported in this release, got {}", name, stage);
}

}  // namespace

void check_stages(int32_t shared, int32_t expert) {
  check_one_stage("shared_stage", shared);
  check_one_stage("expert_stage", expert);
}

void check_overlap(int32_t overlap, int64_t bucket_bytes, int64_t chunk_bytes) {
  require(overlap >= MOEMESH_OVERLAP_AFTER && overlap <= MOEMESH_OVERLAP_GAPS, bad,
          "overlap: expected 1..3 (moemesh_overlap), got {}", overlap);
  require(bucket_bytes >= 0, bad, "bucket_bytes: expected >= 0, got {}", bucket_bytes);
  require(chunk_bytes >= 4 && chunk_bytes <= most_chunk_bytes, bad, "chunk_bytes: expected 4..{}, got {}",
          most_chunk_bytes, chunk_bytes);
}

namespace {

// So that the sum over any number of shards and microbatches stays below 2^63.
constexpr int64_t most_tokens = int64_t{1} << 40;

void check_rate(double rate) {
  require(rate >= 0 && std::isfinite(rate), bad, "learning_rate: expected >= 0, got {}", rate);
}

void check(const moemesh_optimizer_params& p) {
  require(p.kind == MOEMESH_ADAMW || p.kind == MOEMESH_SGD, bad, "optimizer kind: expected 1 or 2, got {}", p.kind);
  check_stages(p.shared_stage, p.expert_stage);
  check_rate(p.learning_rate);
  require(p.beta1 >= 0 && p.beta1 < 1, bad, "beta1: expected in [0, 1), got {}", p.beta1);
  require(p.beta2 >= 0 && p.beta2 < 1, bad, "beta2: expected in [0, 1), got {}", p.beta2);
  require(p.epsilon >= 0 && std::isfinite(p.epsilon), bad, "epsilon: expected >= 0, got {}", p.epsilon);
  require(p.weight_decay >= 0 && std::isfinite(p.weight_decay), bad, "weight_decay: expected >= 0, got {}",
          p.weight_decay);
  require(p.momentum >= 0 && p.momentum < 1, bad, "momentum: expected in [0, 1), got {}", p.momentum);
  require(p.max_norm >= 0, bad, "max_norm: expected >= 0, got {}", p.max_norm);
  require(p.prefetch == 0 || p.prefetch == 1, bad, "prefetch: expected 0 or 1, got {}", p.prefetch);
  check_overlap(p.overlap, p.bucket_bytes, p.chunk_bytes);
  require(p.reserved == 0, bad, "reserved: expected 0, got {}", p.reserved);
}

void check_family(const Family* family, const Mesh& mesh, int32_t kind) {
  if (!family) return;
  require(family->kind() == kind, bad, "optimizer_create: expected a family of kind {}, got {}", kind, family->kind());
  require(&family->mesh() == &mesh, bad, "optimizer_create: the family belongs to another mesh");
  family->require_committed();
  require(!family->step, MOEMESH_ERROR_INVALID_STATE, "optimizer_create: the family belongs to an optimizer already");
}

std::vector<Field> fields_of(const moemesh_optimizer_params& p, bool shared, bool expert) {
  return {{"kind", p.kind},
          {"shared_stage", p.shared_stage},
          {"expert_stage", p.expert_stage},
          {"learning_rate", bits_of(p.learning_rate), Field::real},
          {"beta1", bits_of(p.beta1), Field::real},
          {"beta2", bits_of(p.beta2), Field::real},
          {"epsilon", bits_of(p.epsilon), Field::real},
          {"weight_decay", bits_of(p.weight_decay), Field::real},
          {"momentum", bits_of(p.momentum), Field::real},
          {"max_norm", bits_of(p.max_norm), Field::real},
          {"bucket_bytes", p.bucket_bytes},
          {"chunk_bytes", p.chunk_bytes},
          {"overlap", p.overlap},
          {"prefetch", p.prefetch},
          {"shared family given", shared},
          {"expert family given", expert}};
}

constexpr Purpose agreement{0, MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_AGREEMENT};

}  // namespace

std::shared_ptr<Optimizer> Optimizer::create(std::shared_ptr<Mesh> mesh, std::shared_ptr<Family> shared,
                                             std::shared_ptr<Family> expert, const moemesh_optimizer_params& params,
                                             const Finding& problem) {
  mesh->require_usable();
  auto optimizer = std::make_shared<Optimizer>(mesh, params);
  const Finding finding = problem ? problem : attempt([&] {
    require(shared || expert, bad, "optimizer_create: both families are NULL");
    check(params);
    check_family(shared.get(), *mesh, MOEMESH_SHARED);
    check_family(expert.get(), *mesh, MOEMESH_EXPERT);
    auto& states = optimizer->states_;
    if (shared) states.push_back(std::make_unique<FamilyState>(shared, params.shared_stage, params));
    if (expert) states.push_back(std::make_unique<FamilyState>(expert, params.expert_stage, params));
    optimizer->make_fabric();
  });
  agree_on_configuration(mesh->group(MOEMESH_GROUP_WORLD), "optimizer_create",
                         fields_of(params, shared != nullptr, expert != nullptr), finding.status, finding.text);
  optimizer->open_rounds();
  optimizer->step_->fabric->open();
  for (auto& state : optimizer->states_) state->attach(optimizer->step_);
  return optimizer;
}

Optimizer::Optimizer(std::shared_ptr<Mesh> mesh, const moemesh_optimizer_params& params)
    : mesh_(std::move(mesh)), params_(params) {}

// The families' states go after it: it works in their arrays.
Optimizer::~Optimizer() {
  if (step_->open) --mesh_->open_steps;
  step_->fabric.reset();
}

void Optimizer::make_fabric() {
  std::vector<Fabric::Member> members;
  for (const auto& state : states_) {
    reserve_reduction(state->family());
    state->family().biases.reserve(mesh_->group(MOEMESH_GROUP_SHARED_GRADIENT));
    members.push_back({&state->family(), state->gradients(), state->stage()});
  }
  step_->fabric = std::make_shared<Fabric>(*mesh_, members, FabricParams{params_.overlap, params_.chunk_bytes});
}

void Optimizer::open_rounds() {
  std::vector<const Family*> families;
  for (const auto& state : states_)
    if (state->stage() == 2 && state->family().group().size() > 1) families.push_back(&state->family());
  if (!families.empty()) step_->rounds = std::make_shared<Rounds>(*mesh_, std::move(families));
}

FamilyState& Optimizer::state(int32_t family_kind) {
  for (auto& state : states_)
    if (state->family().kind() == family_kind) return *state;
  fail(MOEMESH_ERROR_NOT_FOUND, "the optimizer has no family of kind {}", family_kind);
}

void Optimizer::begin(const moemesh_step_params& params) {
  mesh_->require_usable();
  require(!step_->open, MOEMESH_ERROR_INVALID_STATE, "step_begin: a step is open already");
  constexpr int32_t most_microbatches = 1 << 20;
  require(params.microbatches >= 1 && params.microbatches <= most_microbatches, bad,
          "microbatches: expected 1..{}, got {}", most_microbatches, params.microbatches);
  require(params.objective == MOEMESH_SHARD_MEAN || params.objective == MOEMESH_TOKEN_MEAN, bad,
          "objective: expected 1 or 2, got {}", params.objective);
  require(params.loss_scale > 0 && std::isfinite(params.loss_scale), bad, "loss_scale: expected > 0, got {}",
          params.loss_scale);
  for (auto& state : states_) state->family().biases.begin(params.microbatches);
  *step_ = StepState{true,
                     step_->serial + 1,
                     params.microbatches,
                     params.objective,
                     params.loss_scale,
                     Recycled<int64_t>(static_cast<size_t>(params.microbatches), -1),
                     {},
                     step_->rounds,
                     step_->fabric};
  for (auto& state : states_) state->family().zero_gradients();
  ++mesh_->open_steps;
  if (mesh_->recorder()) mesh_->recorder()->begin_step();
  const bool known = params.objective == MOEMESH_SHARD_MEAN && step_->fabric->early();
  step_->fabric->begin_step(known ? std::optional(factor(0)) : std::nullopt);
}

void Optimizer::loss_tokens(int32_t microbatch, int64_t tokens) {
  require(step_->open && step_->objective == MOEMESH_TOKEN_MEAN, MOEMESH_ERROR_INVALID_STATE,
          "loss_tokens: no TOKEN_MEAN step is open");
  require(microbatch >= 0 && microbatch < step_->microbatches, bad, "microbatch: expected 0..{}, got {}",
          step_->microbatches - 1, microbatch);
  require(tokens >= 0 && tokens <= most_tokens, bad, "tokens: expected 0..{}, got {}", most_tokens, tokens);
  int64_t& place = step_->loss_tokens[static_cast<size_t>(microbatch)];
  require(place < 0, MOEMESH_ERROR_INVALID_STATE, "loss_tokens: microbatch {} was reported already", microbatch);
  place = tokens;
}

// Everything that must be equal on all ranks, the tokens to add up, and every rank's failure, in one exchange of words.
Optimizer::Agreement Optimizer::agree(int32_t intent, double learning_rate, const Finding& problem) {
  Communicator& world = mesh_->group(MOEMESH_GROUP_WORLD);
  if (step_->rounds) {
    const Finding lost = step_->rounds->close(static_cast<bool>(step_->failure));
    if (lost && !step_->failure) step_->failure = lost;  // not fail(): there is nobody left to announce it to
  }
  Finding finding = step_->open ? problem : Finding{MOEMESH_ERROR_INVALID_STATE, "no step is open"};
  const bool was_open = std::exchange(step_->open, false);
  if (was_open) --mesh_->open_steps;
  if (!finding) finding = step_->failure;
  if (!finding && intent != 3 && step_->actions_left > 0)
    finding = {MOEMESH_ERROR_INVALID_STATE,
               format_message("the step's pipeline run has {} actions left", step_->actions_left)};
  const bool last_stage = mesh_->here().pp == mesh_->layout().sizes().pp - 1;
  int64_t tokens = 0;
  for (const int64_t reported : step_->loss_tokens) {
    tokens += std::min(std::max<int64_t>(reported, 0), INT64_MAX - tokens);
    if (reported < 0 && last_stage && step_->objective == MOEMESH_TOKEN_MEAN && !finding)
      finding = {MOEMESH_ERROR_INVALID_STATE, "loss_tokens was not called for every microbatch of a TOKEN_MEAN step"};
  }
  const Field fields[] = {{"call (1 update, 2 end with reduction, 3 end)", intent},
                          {"microbatches", step_->microbatches},
                          {"objective", step_->objective},
                          {"loss_scale", bits_of(step_->loss_scale), Field::real},
                          {"learning_rate", bits_of(learning_rate), Field::real},
                          {"steps", steps}};
  static_assert(std::size(fields) == step_fields);
  try {
    agree_on_configuration(world, "optimizer_step", fields, finding.status, finding.text, MOEMESH_PHASE_UPDATE);
  } catch (const Error& error) {
    if (error.status() < 0 || error.status() == MOEMESH_ERROR_MISMATCH || !was_open || problem) throw;
    fail(MOEMESH_ERROR_STEP_FAILED, "the step was dropped on every rank: {}", error.what());
  }
  Agreement result;
  if (step_->objective == MOEMESH_TOKEN_MEAN) {
    result.tokens = last_stage && mesh_->here().tp == 0 ? tokens : 0;
    world.agree_sum(std::span(&result.tokens, 1), agreement);
  }
  return result;
}

// The one divisor: the same factor for both families, whatever group each was summed over. (An expert's gradient already
// holds the tokens of its whole expert-parallel group.)
float Optimizer::factor(int64_t tokens) const {
  const double shards = static_cast<double>(mesh_->layout().data_shards()) * step_->microbatches;
  const double weight = step_->objective == MOEMESH_SHARD_MEAN ? shards : static_cast<double>(tokens);
  return weight == 0 ? 0.0F : static_cast<float>(1.0 / (weight * step_->loss_scale));
}

// Whatever happened to this rank in the step: others may have begun, so all end it before they tell each other.
void Optimizer::finish_early() {
  step_->fabric->finish_gathers();
  if (!step_->fabric->early()) return;
  for (auto& state : states_)
    if (state->stage() < 2) sum_partial(state->family());
  step_->fabric->finish_reductions(1);
}

void Optimizer::reduce(const Agreement& agreement) {
  const float factor = this->factor(agreement.tokens);
  Fabric& fabric = *step_->fabric;
  const bool early = fabric.early();
  for (auto& state : states_)
    if (!early || state->stage() == 2) sum_partial(state->family());
  if (!early) fabric.finish_reductions(factor);
  // Where the factor was not known when the sums began, they are multiplied now.
  const bool sums = early && step_->objective == MOEMESH_TOKEN_MEAN;
  for (auto& state : states_) {
    Family& family = state->family();
    scale(family, state->stage(), factor, sums);
    sum_tied(family);
    if (state->stage() == 0 && family.tied_bucket()) fabric.gather_gradients(family, *family.tied_bucket());
  }
  fabric.tune();
}

double Optimizer::norm() const {
  double sum = 0;
  for (const auto& state : states_) sum += state->sum_squares();
  mesh_->group(MOEMESH_GROUP_WORLD).agree_sum(std::span(&sum, 1), agreement);
  return std::sqrt(sum);
}

void Optimizer::update_families(double rate, float coefficient) {
  const timeline::Span span(mesh_->recorder(), timeline::Kind::update);
  for (auto& state : states_) {
    state->update(params_, rate, coefficient, steps);
    state->family().biases.update(mesh_->group(MOEMESH_GROUP_SHARED_GRADIENT));
  }
}

moemesh_update_result Optimizer::update(double learning_rate, const Finding& problem) {
  mesh_->require_usable();
  timeline::StepEnd end_of_step(*mesh_);
  const double rate = learning_rate < 0 ? params_.learning_rate : learning_rate;
  finish_early();
  const Agreement agreed = agree(1, rate, problem ? problem : attempt([&] { check_rate(rate); }));
  reduce(agreed);
  moemesh_update_result result{};
  result.norm = norm();
  result.skipped = std::isfinite(result.norm) ? 0 : 1;
  result.coefficient = result.skipped || params_.max_norm == 0 ? 1.0 : std::min(1.0, params_.max_norm / result.norm);
  result.tokens = agreed.tokens;
  if (result.skipped)
    ++skips;
  else
    ++steps;
  if (!result.skipped) {
    update_families(rate, static_cast<float>(result.coefficient));
    step_->fabric->gather_values(params_.prefetch == 0);
  }
  result.steps = steps;
  result.skips = skips;
  end_of_step.align();
  return result;
}

void Optimizer::end(bool reduce_first, const Finding& problem) {
  mesh_->require_usable();
  timeline::StepEnd end_of_step(*mesh_);
  finish_early();
  const Agreement agreed = agree(reduce_first ? 2 : 3, 0, problem);
  if (reduce_first) reduce(agreed);
  end_of_step.align();
}

}  // namespace moemesh
