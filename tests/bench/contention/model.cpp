// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "model.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

extern "C" {
#include "matmul.h"
}

namespace contention {
namespace {

std::vector<float> random_array(int64_t count, uint64_t seed, float most) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> numbers(-most, most);
  std::vector<float> array(static_cast<size_t>(count));
  for (float& value : array) value = numbers(engine);
  return array;
}

class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), begin_(now()) {}
  ~Stopwatch() { sum_ += now() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  double begin_;
};

}  // namespace

std::vector<Policy> policies_of(const std::vector<std::string>& names) {
  const Policy known[] = {{"none", false, 0, false},
                          {"after", true, MOEMESH_OVERLAP_AFTER, false},
                          {"eager", true, MOEMESH_OVERLAP_EAGER, true},
                          {"pieces", true, MOEMESH_OVERLAP_EAGER, false},
                          {"gaps", true, MOEMESH_OVERLAP_GAPS, false}};
  std::vector<Policy> policies;
  for (const std::string& name : names) {
    const auto* found = std::find_if(std::begin(known), std::end(known), [&](const auto& p) { return p.name == name; });
    if (found == std::end(known)) {
      std::fprintf(stderr, "contention_bench: no policy %s\n", name.c_str());
      std::exit(2);
    }
    policies.push_back(*found);
  }
  return policies;
}

// A matrix of a dense part: a parameter, or with the policy 'none' an array that nobody else knows.
struct Model::Dense {
  int64_t rows = 0, columns = 0;
  moemesh_parameter parameter = nullptr;
  std::vector<float> values, gradient;

  int64_t count() const { return rows * columns; }
};

struct Model::Block {
  Dense in, out;  // [hidden, dense], [dense, hidden]
  moemesh_layer layer = nullptr;
  moemesh_tape tape = nullptr;
  std::vector<float> logits;
  const std::vector<float>* input = nullptr;
  std::vector<float> activation;  // [tokens, dense]
  std::vector<float> middle;      // between the dense part and the layer
};

Model::Model(const Job& job, const Options& options, const Policy& policy)
    : job_(job), options_(options), policy_(policy) {
  create_families();
  for (int64_t i = 0; i < options.layers; ++i) create_block(i);
  CHECK(moemesh_family_commit(shared_));
  CHECK(moemesh_family_commit(expert_));
  auto params = defaults(moemesh_optimizer_params_init);
  params.kind = MOEMESH_SGD;
  params.learning_rate = 1e-4;
  params.shared_stage = params.expert_stage = static_cast<int32_t>(options.stage);
  if (policy.reduces) params.overlap = policy.overlap;
  const int64_t layer_bytes = 2 * options.hidden * options.dense * static_cast<int64_t>(sizeof(float));
  params.bucket_bytes = options.bucket_bytes > 0 ? options.bucket_bytes : layer_bytes;
  params.chunk_bytes = options.chunk_bytes;
  if (policy.whole) params.chunk_bytes = params.bucket_bytes;
  params.prefetch = static_cast<int32_t>(options.prefetch);
  CHECK(moemesh_optimizer_create(job.mesh(), shared_, expert_, &params, &optimizer_));
  const auto rows = static_cast<size_t>(options.tokens * options.hidden);
  streams_.assign(blocks_.size() + 1, std::vector<float>(rows));
  streams_[0] = random_array(options.tokens * options.hidden, static_cast<uint64_t>(job.rank()) + 1, 1);
  loss_gradient_ = random_array(options.tokens * options.hidden, static_cast<uint64_t>(job.rank()) + 1000, 1);
  dx_.resize(rows);
  dlogits_.resize(static_cast<size_t>(options.tokens * options.experts));
  transposed_.resize(static_cast<size_t>(options.hidden * options.dense));
  hidden_gradient_.resize(static_cast<size_t>(options.tokens * options.dense));
}

Model::~Model() {
  moemesh_optimizer_destroy(&optimizer_);
  for (auto& block : blocks_) moemesh_layer_destroy(&block->layer);
  moemesh_family_destroy(&expert_);
  moemesh_family_destroy(&shared_);
}

void Model::create_families() {
  auto params = defaults(moemesh_family_params_init);
  params.kind = MOEMESH_SHARED;
  CHECK(moemesh_family_create(job_.mesh(), &params, &shared_));
  params.kind = MOEMESH_EXPERT;
  CHECK(moemesh_family_create(job_.mesh(), &params, &expert_));
}

void Model::create_block(int64_t index) {
  auto block = std::make_unique<Block>();
  const std::string name = "block" + std::to_string(index);
  block->in.rows = block->out.columns = options_.hidden;
  block->in.columns = block->out.rows = options_.dense;
  for (Dense* dense : {&block->in, &block->out}) {
    if (!policy_.reduces) {
      dense->values = random_array(dense->count(), static_cast<uint64_t>(index) + 7, 0.02F);
      dense->gradient.resize(static_cast<size_t>(dense->count()));
      continue;
    }
    auto params = defaults(moemesh_parameter_params_init);
    const std::string full = name + (dense == &block->in ? ".dense.in" : ".dense.out");
    params.name = full.c_str();
    params.rank = 2;
    params.extents[0] = dense->rows;
    params.extents[1] = dense->columns;
    params.init_kind = MOEMESH_INIT_UNIFORM;
    params.init_value = 0.02;
    CHECK(moemesh_parameter_register(shared_, &params, &dense->parameter));
  }
  auto params = defaults(moemesh_layer_params_init);
  params.name = name.c_str();
  params.hidden = options_.hidden;
  params.ffn = options_.ffn;
  params.experts = options_.experts;
  params.top_k = static_cast<int32_t>(options_.top_k);
  params.activation = MOEMESH_RELU;
  params.router = MOEMESH_ROUTER_CALLER;  // the same routing in every step
  CHECK(moemesh_layer_create(job_.mesh(), shared_, expert_, &params, &block->layer));
  block->logits =
      random_array(options_.tokens * options_.experts, static_cast<uint64_t>(index * 1000 + job_.rank()) + 50, 2);
  block->activation.resize(static_cast<size_t>(options_.tokens * options_.dense));
  block->middle.resize(static_cast<size_t>(options_.tokens * options_.hidden));
  blocks_.push_back(std::move(block));
}

moemesh_view Model::rows(std::vector<float>& array, int64_t width) const {
  const int64_t extents[] = {options_.tokens, width};
  moemesh_view view{};
  CHECK(moemesh_view_init(&view, MOEMESH_FLOAT32, 2, extents, array.data()));
  return view;
}

// ---- a dense matrix

const float* Model::acquire(Dense& dense) {
  if (!dense.parameter) return dense.values.data();
  const Stopwatch watch(times_.waiting);
  moemesh_view view{};
  CHECK(moemesh_parameter_acquire(dense.parameter, nullptr, &view));
  return static_cast<const float*>(view.data);
}

void Model::release(Dense& dense) {
  if (dense.parameter) CHECK(moemesh_parameter_release(dense.parameter));
}

float* Model::gradient_of(Dense& dense) {
  if (!dense.parameter) return dense.gradient.data();
  moemesh_view view{};
  CHECK(moemesh_parameter_get_gradient(dense.parameter, &view));
  return static_cast<float*>(view.data);
}

void Model::ready(Dense& dense) {
  if (dense.parameter) CHECK(moemesh_gradient_ready(dense.parameter, nullptr, nullptr));
}

// ---- one step

Times Model::step() {
  times_ = {};
  {
    const Stopwatch watch(times_.step);
    CHECK(moemesh_step_begin(optimizer_, nullptr));
    for (auto& block : blocks_)
      for (Dense* dense : {&block->in, &block->out}) std::fill(dense->gradient.begin(), dense->gradient.end(), 0.0F);
    for (size_t i = 0; i < blocks_.size(); ++i) forward(*blocks_[i], streams_[i], streams_[i + 1]);
    std::vector<float> gradient = loss_gradient_;
    for (size_t i = blocks_.size(); i-- > 0;) backward(*blocks_[i], gradient);
    const Stopwatch end(times_.end);
    CHECK(moemesh_optimizer_step(optimizer_, nullptr, nullptr));
  }
  return times_;
}

void Model::forward(Block& block, const std::vector<float>& in, std::vector<float>& out) {
  dense_forward(block, in);
  layer_forward(block, out);
  for (size_t i = 0; i < out.size(); ++i) out[i] += block.middle[i];
}

// gradient: of the block's output; afterwards of its input.
void Model::backward(Block& block, std::vector<float>& gradient) {
  layer_backward(block, gradient);
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] += dx_[i];
  dense_backward(block, gradient);
}

void Model::dense_forward(Block& block, const std::vector<float>& in) {
  block.input = &in;
  const float* w_in = acquire(block.in);
  const float* w_out = acquire(block.out);
  {
    const Stopwatch watch(times_.dense);
    dense_products(block, w_in, w_out);
  }
  release(block.in);
  release(block.out);
}

void Model::dense_products(Block& block, const float* w_in, const float* w_out) {
  const int64_t T = options_.tokens, H = options_.hidden, D = options_.dense;
  matmul(T, D, H, block.input->data(), H, w_in, D, block.activation.data(), D, 0);
  for (float& value : block.activation) value = std::max(value, 0.0F);
  block.middle = *block.input;
  matmul(T, H, D, block.activation.data(), D, w_out, H, block.middle.data(), H, 1);
}

// Each matrix is ready as soon as its gradient is.
void Model::dense_backward(Block& block, std::vector<float>& gradient) {
  const int64_t T = options_.tokens, H = options_.hidden, D = options_.dense;
  const float* w_in = acquire(block.in);
  const float* w_out = acquire(block.out);
  {
    const Stopwatch watch(times_.dense);
    if (options_.checkpoint > 0) dense_products(block, w_in, w_out);
    matmul_left_transposed(D, H, T, block.activation.data(), D, gradient.data(), H, gradient_of(block.out), H, 1);
  }
  ready(block.out);
  {
    const Stopwatch watch(times_.dense);
    transpose(D, H, w_out, H, transposed_.data());
    matmul(T, D, H, gradient.data(), H, transposed_.data(), D, hidden_gradient_.data(), D, 0);
    for (size_t i = 0; i < hidden_gradient_.size(); ++i)
      if (block.activation[i] <= 0) hidden_gradient_[i] = 0;
    matmul_left_transposed(H, D, T, block.input->data(), H, hidden_gradient_.data(), D, gradient_of(block.in), D, 1);
  }
  ready(block.in);
  {
    const Stopwatch watch(times_.dense);
    transpose(H, D, w_in, D, transposed_.data());
    matmul(T, H, D, hidden_gradient_.data(), D, transposed_.data(), H, gradient.data(), H, 1);
  }
  release(block.in);
  release(block.out);
}

void Model::layer_forward(Block& block, std::vector<float>& out) {
  const Stopwatch watch(times_.layers);
  const moemesh_view x = rows(block.middle, options_.hidden), y = rows(out, options_.hidden);
  const moemesh_view logits = rows(block.logits, options_.experts);
  auto params = defaults(moemesh_forward_params_init);
  params.x = &x;
  params.y = &y;
  params.logits = &logits;
  CHECK(moemesh_layer_forward(block.layer, &params, &block.tape));
}

void Model::layer_backward(Block& block, std::vector<float>& gradient) {
  const Stopwatch watch(times_.layers);
  const moemesh_view dy = rows(gradient, options_.hidden), dx = rows(dx_, options_.hidden);
  const moemesh_view dlogits = rows(dlogits_, options_.experts);
  auto params = defaults(moemesh_backward_params_init);
  params.dy = &dy;
  params.dx = &dx;
  params.dlogits = &dlogits;
  CHECK(moemesh_layer_backward(&block.tape, &params));
}

void Model::drain() {
  for (auto& block : blocks_)
    for (Dense* dense : {&block->in, &block->out}) {
      (void)acquire(*dense);
      release(*dense);
    }
}

double Model::fingerprint() {
  uint64_t hash = 1469598103934665603U;
  for (auto& block : blocks_)
    for (Dense* dense : {&block->in, &block->out}) {
      const float* values = acquire(*dense);
      for (int64_t i = 0; i < dense->count(); ++i) {
        uint32_t bits = 0;
        std::memcpy(&bits, values + i, sizeof bits);
        hash = (hash ^ bits) * 1099511628211U;
      }
      release(*dense);
    }
  return static_cast<double>(hash >> 12);
}

}  // namespace contention
