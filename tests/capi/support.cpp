// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#ifdef MOEMESH_TEST_CUDA
#include <cuda_runtime_api.h>
#endif

namespace capi_test {

std::string last_error(moemesh_context context) {
  int64_t length = 0;
  EXPECT_EQ(moemesh_last_error(context, nullptr, 0, &length), MOEMESH_OK);
  std::string text(static_cast<size_t>(length) + 1, '?');
  EXPECT_EQ(moemesh_last_error(context, text.data(), length + 1, nullptr), MOEMESH_OK);
  text.resize(static_cast<size_t>(length));
  return text;
}

moemesh_view dense(int32_t dtype, std::initializer_list<int64_t> extents, void* data) {
  moemesh_view view{};
  EXPECT_EQ(moemesh_view_init(&view, dtype, static_cast<int32_t>(extents.size()), extents.begin(), data), MOEMESH_OK);
  return view;
}

moemesh_view rows_of(float* data, int64_t rows, int64_t width, int64_t row_stride) {
  moemesh_view view = dense(MOEMESH_FLOAT32, {rows, width}, data);
  if (row_stride != 0) view.strides[0] = row_stride;
  return view;
}

#ifdef MOEMESH_TEST_CUDA
Lent::Lent(std::initializer_list<float> values) : size_(values.size()) {
  void* place = nullptr;
  EXPECT_EQ(cudaHostAlloc(&place, size_ * sizeof(float), cudaHostAllocPortable), cudaSuccess);
  data_ = static_cast<float*>(place);
  std::copy(values.begin(), values.end(), data_);
}
Lent::~Lent() { EXPECT_EQ(cudaFreeHost(data_), cudaSuccess); }
std::vector<float> Lent::values() const {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return {data_, data_ + size_};
}
#else
Lent::Lent(std::initializer_list<float> values) : data_(new float[values.size()]), size_(values.size()) {
  std::copy(values.begin(), values.end(), data_);
}
Lent::~Lent() { delete[] data_; }
std::vector<float> Lent::values() const { return {data_, data_ + size_}; }
#endif

float element(const moemesh_view& vector, size_t index) {
  std::vector<float> here(static_cast<size_t>(vector.extents[0]));
  const moemesh_view view = dense(MOEMESH_FLOAT32, {vector.extents[0]}, here.data());
  EXPECT_EQ(moemesh_view_copy(&vector, &view), MOEMESH_OK) << last_error();
  return here.at(index);
}

Model::Model(const Options& given) : options(given) { fill_inputs(); }

Model::~Model() { destroy(); }

// Token t goes to expert t mod E with a gate of 1.
void Model::fill_inputs() {
  const int64_t H = options.hidden, E = options.experts, T = 5;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t i = 0; i < T * H; ++i) x.push_back(static_cast<float>(i + 1));
  for (int64_t i = 0; i < T * E; ++i) logits.push_back(i / E % E == i % E ? 4.0F : 0.0F);
  y.assign(x.size(), nan);
  dx.assign(x.size(), nan);
  dy.assign(x.size(), 1.0F);
  dlogits.assign(logits.size(), nan);
}

int32_t Model::create() {
  int32_t status = create_context();
  if (status == MOEMESH_OK) status = create_families();
  if (status == MOEMESH_OK) status = create_layer();
  if (status == MOEMESH_OK) status = moemesh_family_commit(shared);
  if (status == MOEMESH_OK) status = moemesh_family_commit(expert);
  if (status == MOEMESH_OK) status = write_scales();
  if (status != MOEMESH_OK) return status;
  auto params = defaults(moemesh_optimizer_params_init);
  params.kind = options.kind;
  params.learning_rate = 0;  // steps leave the weights, so that every step has the same right results
  return moemesh_optimizer_create(mesh, shared, expert, &params, &optimizer);
}

int32_t Model::create_context() {
  auto params = defaults(moemesh_context_params_init);
  params.log = options.log;
  params.log_user = params.allocator_user = options.user;
  params.log_level = MOEMESH_LOG_DEBUG;
  params.allocate = options.allocate;
  params.free = options.free;
  const int32_t status = moemesh_context_create(&params, &context);
  if (status != MOEMESH_OK) return status;
  const auto mesh_params = defaults(moemesh_mesh_params_init);
  return moemesh_mesh_create(context, &mesh_params, &mesh);
}

int32_t Model::create_families() {
  auto params = defaults(moemesh_family_params_init);
  params.kind = MOEMESH_SHARED;
  const int32_t status = moemesh_family_create(mesh, &params, &shared);
  if (status != MOEMESH_OK) return status;
  params.kind = MOEMESH_EXPERT;
  return moemesh_family_create(mesh, &params, &expert);
}

int32_t Model::create_layer() {
  auto params = defaults(moemesh_layer_params_init);
  params.name = "moe";
  params.hidden = params.ffn = options.hidden;
  params.experts = options.experts;
  params.top_k = options.top_k;
  params.activation = MOEMESH_IDENTITY;
  params.router = MOEMESH_ROUTER_CALLER;
  params.capacity_factor = options.capacity_factor;
  params.aux_coefficient = options.aux_coefficient;
  params.aux_scope = options.aux_scope;
  return moemesh_layer_create(mesh, shared, expert, &params, &layer);
}

int32_t Model::write_scales() {
  const int64_t H = options.hidden;
  int32_t status = moemesh_parameter_find(expert, "moe.w1", &w1);
  if (status == MOEMESH_OK) status = moemesh_parameter_find(expert, "moe.w2", &w2);
  std::vector<float> matrix(static_cast<size_t>(H * H), 0.0F);
  const moemesh_view view = dense(MOEMESH_FLOAT32, {H, H}, matrix.data());
  const auto write = [&](moemesh_parameter parameter, int64_t e, float scale) {
    for (int64_t h = 0; h < H; ++h) matrix[static_cast<size_t>(h * H + h)] = scale;
    if (status == MOEMESH_OK) status = moemesh_parameter_write(parameter, MOEMESH_VALUE, e, &view);
  };
  for (int64_t e = 0; e < options.experts; ++e) {
    write(w1, e, 1.0F);
    write(w2, e, static_cast<float>(e + 1));
  }
  return status;
}

void Model::destroy() {
  moemesh_optimizer_destroy(&optimizer);
  moemesh_layer_destroy(&layer);
  moemesh_family_destroy(&shared);
  moemesh_family_destroy(&expert);
  if (mesh) {
    EXPECT_EQ(moemesh_mesh_finalize(mesh), MOEMESH_OK);
  }
  moemesh_mesh_destroy(&mesh);
  if (context) {
    EXPECT_EQ(moemesh_context_finalize(context), MOEMESH_OK);
  }
  moemesh_context_destroy(&context);
}

int32_t Model::begin() { return moemesh_step_begin(optimizer, nullptr); }

int32_t Model::forward(moemesh_tape* tape) {
  const moemesh_view in = x_view(), out = y_view(), routing = logits_view();
  auto params = defaults(moemesh_forward_params_init);
  params.x = &in;
  params.y = &out;
  params.logits = &routing;
  return moemesh_layer_forward(layer, &params, tape);
}

int32_t Model::backward(moemesh_tape* tape) {
  const moemesh_view in = dy_view(), out = dx_view(), routing = dlogits_view();
  auto params = defaults(moemesh_backward_params_init);
  params.dy = &in;
  params.dx = &out;
  params.dlogits = &routing;
  return moemesh_layer_backward(tape, &params);
}

int32_t Model::update(moemesh_update_result* result) { return moemesh_optimizer_step(optimizer, nullptr, result); }

int32_t Model::step() {
  moemesh_tape tape = nullptr;
  std::fill(y.begin(), y.end(), -1.0F);
  std::fill(dx.begin(), dx.end(), -1.0F);
  int32_t status = begin();
  if (status == MOEMESH_OK) status = forward(&tape);
  if (status == MOEMESH_OK) status = backward(&tape);
  if (status == MOEMESH_OK) status = update();
  moemesh_tape_destroy(&tape);
  return status;
}

void Model::expect_right() const {
  for (size_t i = 0; i < x.size(); ++i) {
    const auto token = static_cast<int64_t>(i) / options.hidden;
    const auto scale = static_cast<float>(token % options.experts + 1);
    ASSERT_EQ(y[i], scale * x[i]) << "element " << i;
    ASSERT_EQ(dx[i], scale) << "element " << i;
  }
}

}  // namespace capi_test
