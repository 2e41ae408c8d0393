// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <cstring>
#include <random>

#include "layer_bench.hpp"

namespace bench {
namespace {

void check(int32_t status, const char* call) {
  if (status == MOEMESH_OK) return;
  std::string text(1000, 0);
  moemesh_last_error(nullptr, text.data(), static_cast<int64_t>(text.size()), nullptr);
  fail(std::string(call) + ": " + moemesh_status_name(status) + ": " + text.c_str());
}
#define CHECK(call) check(call, #call)

template <class P>
P defaults(int32_t (*init)(P*, int64_t)) {
  P params;
  check(init(&params, sizeof params), "init");
  return params;
}

std::vector<float> random_tokens(const Shape& shape, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(shape.tokens * shape.hidden));
  for (float& value : values) value = normal(generator);
  if (!shape.bfloat16) return values;
  for (size_t i = 0; i < values.size(); ++i) {  // in place: element i lies in the first half of what is read already
    uint32_t bits = 0;
    std::memcpy(&bits, &values[i], sizeof bits);
    const auto upper = static_cast<uint16_t>(bits >> 16);
    std::memcpy(reinterpret_cast<char*>(values.data()) + 2 * i, &upper, sizeof upper);
  }
  return values;
}

}  // namespace

Layer::Layer(const Shape& shape, int32_t most_repetitions)
    : shape_(shape),
      repetitions_(most_repetitions),
      x_(random_tokens(shape, 1)),
      y_(x_.size()),
      dy_(random_tokens(shape, 2)),
      dx_(x_.size()) {
  create();
}

void Layer::create() {
  auto context = defaults(moemesh_context_params_init);
  context.threads = kThreads;
  CHECK(moemesh_context_create(&context, &context_));
  const auto mesh = defaults(moemesh_mesh_params_init);
  CHECK(moemesh_mesh_create(context_, &mesh, &mesh_));
  auto family = defaults(moemesh_family_params_init);
  family.dtype = shape_.bfloat16 ? MOEMESH_BFLOAT16 : MOEMESH_FLOAT32;
  family.kind = MOEMESH_SHARED;
  CHECK(moemesh_family_create(mesh_, &family, &shared_));
  family.kind = MOEMESH_EXPERT;
  CHECK(moemesh_family_create(mesh_, &family, &expert_));
  auto layer = defaults(moemesh_layer_params_init);
  layer.name = "moe";
  layer.hidden = shape_.hidden;
  layer.ffn = shape_.ffn;
  layer.experts = shape_.experts;
  layer.top_k = shape_.top_k;
  CHECK(moemesh_layer_create(mesh_, shared_, expert_, &layer, &layer_));
  CHECK(moemesh_family_commit(shared_));
  CHECK(moemesh_family_commit(expert_));
  auto optimizer = defaults(moemesh_optimizer_params_init);
  optimizer.kind = MOEMESH_SGD;
  CHECK(moemesh_optimizer_create(mesh_, shared_, expert_, &optimizer, &optimizer_));
}

Layer::~Layer() {
  moemesh_optimizer_destroy(&optimizer_);
  moemesh_layer_destroy(&layer_);
  moemesh_family_destroy(&expert_);
  moemesh_family_destroy(&shared_);
  moemesh_mesh_finalize(mesh_);
  moemesh_mesh_destroy(&mesh_);
  moemesh_context_finalize(context_);
  moemesh_context_destroy(&context_);
}

moemesh_view Layer::tokens_view(std::vector<float>& floats) const {
  const int64_t extents[] = {shape_.tokens, shape_.hidden};
  moemesh_view view;
  CHECK(moemesh_view_init(&view, shape_.bfloat16 ? MOEMESH_BFLOAT16 : MOEMESH_FLOAT32, 2, extents, floats.data()));
  return view;
}

void Layer::begin() {
  auto step = defaults(moemesh_step_params_init);
  step.microbatches = repetitions_;
  CHECK(moemesh_step_begin(optimizer_, &step));
  next_ = 0;
}

void Layer::run() {
  const moemesh_view x = tokens_view(x_), y = tokens_view(y_), dy = tokens_view(dy_), dx = tokens_view(dx_);
  auto forward = defaults(moemesh_forward_params_init);
  forward.x = &x;
  forward.y = &y;
  forward.microbatch = next_++;
  moemesh_tape tape = nullptr;
  CHECK(moemesh_layer_forward(layer_, &forward, &tape));
  auto backward = defaults(moemesh_backward_params_init);
  backward.dy = &dy;
  backward.dx = &dx;
  CHECK(moemesh_layer_backward(&tape, &backward));
}

void Layer::end() { CHECK(moemesh_step_end(optimizer_, 0)); }

std::vector<int64_t> Layer::rows_per_expert() const {
  std::vector<int64_t> rows(static_cast<size_t>(shape_.experts));
  moemesh_view view;
  CHECK(moemesh_view_init(&view, MOEMESH_INT64, 1, &shape_.experts, rows.data()));
  CHECK(moemesh_layer_get_rows(layer_, &view, nullptr));
  return rows;
}

moemesh_parameter Layer::find(const char* name) const {
  moemesh_parameter parameter = nullptr;
  CHECK(moemesh_parameter_find(expert_, name, &parameter));
  return parameter;
}

moemesh_view Layer::weights(const char* name) const {
  moemesh_view view{};
  CHECK(moemesh_parameter_acquire(find(name), nullptr, &view));
  CHECK(moemesh_parameter_release(find(name)));
  return view;
}

float* Layer::gradient(const char* name) const {
  moemesh_view view{};
  CHECK(moemesh_parameter_get_gradient(find(name), &view));
  return static_cast<float*>(view.data);
}

}  // namespace bench
