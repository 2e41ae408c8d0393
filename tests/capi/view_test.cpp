// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The caller's arrays in layers: strides, alignment, gaps, overlap, and shapes that are refused.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "support.hpp"

namespace capi_test {
namespace {

constexpr float gap = -777.0F;
constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;

// A matrix with gaps between its rows, one element past an aligned address. Every cell that is not the matrix's holds -777.
class Strided {
 public:
  Strided(int64_t rows, int64_t width, int64_t stride) : rows_(rows), width_(width), stride_(stride) {
    cells_.assign(static_cast<size_t>(rows * stride + 32), gap);
    const auto misalignment = reinterpret_cast<uintptr_t>(cells_.data()) % 64 / sizeof(float);
    first_ = (misalignment == 0 ? 0 : 16 - misalignment) + 1;
  }
  float& at(int64_t row, int64_t column) { return cells_[first_ + static_cast<size_t>(row * stride_ + column)]; }
  moemesh_view view() { return rows_of(&at(0, 0), rows_, width_, stride_); }
  void fill(float value) {
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t c = 0; c < width_; ++c) at(r, c) = value;
  }
  std::vector<float> values() {
    std::vector<float> values;
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t c = 0; c < width_; ++c) values.push_back(at(r, c));
    return values;
  }
  const std::vector<float>& cells() const { return cells_; }
  int64_t gaps() {
    const auto all = std::count(cells_.begin(), cells_.end(), gap);
    const auto inside = values();
    return all - std::count(inside.begin(), inside.end(), gap);
  }
  int64_t expected_gaps() const { return static_cast<int64_t>(cells_.size()) - rows_ * width_; }

 private:
  int64_t rows_, width_, stride_;
  std::vector<float> cells_;
  size_t first_ = 0;
};

// The model of P37: T = 3, H = 4, two experts that scale by 1 and 2.
class Views : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(model.create(), MOEMESH_OK);
    for (int64_t t = 0; t < 3; ++t) {
      for (int64_t h = 0; h < 4; ++h) x.at(t, h) = static_cast<float>(10 * t + h);
      logits.at(t, 0) = t == 1 ? 4.0F : 0.0F;
      logits.at(t, 1) = t == 1 ? 0.0F : 4.0F;
    }
    dy.fill(1.0F);
    forward.x = &x_view;
    forward.y = &y_view;
    forward.logits = &logits_view;
    backward.dy = &dy_view;
    backward.dx = &dx_view;
    backward.dlogits = &dlogits_view;
    ASSERT_EQ(model.begin(), MOEMESH_OK);
  }
  int32_t run_forward() { return moemesh_layer_forward(model.layer, &forward, &tape); }
  int32_t run_backward() { return moemesh_layer_backward(&tape, &backward); }
  void TearDown() override { moemesh_tape_destroy(&tape); }

  Model model{Model::Options{.hidden = 4}};
  Strided x{3, 4, 7}, y{3, 4, 6}, logits{3, 2, 5}, dy{3, 4, 9}, dx{3, 4, 5}, dlogits{3, 2, 3};
  moemesh_view x_view = x.view(), y_view = y.view(), logits_view = logits.view(), dy_view = dy.view(),
               dx_view = dx.view(), dlogits_view = dlogits.view();
  moemesh_forward_params forward = defaults(moemesh_forward_params_init);
  moemesh_backward_params backward = defaults(moemesh_backward_params_init);
  moemesh_tape tape = nullptr;
};

TEST_F(Views, P37_strided_rows) {
  const std::vector<float> x_before = x.cells(), logits_before = logits.cells(), dy_before = dy.cells();
  ASSERT_EQ(run_forward(), MOEMESH_OK);
  EXPECT_EQ(y.values(), (std::vector<float>{0, 2, 4, 6, 10, 11, 12, 13, 40, 42, 44, 46}));
  EXPECT_EQ(y.gaps(), y.expected_gaps());
  ASSERT_EQ(run_backward(), MOEMESH_OK);
  EXPECT_EQ(dx.values(), (std::vector<float>{2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(dx.gaps(), dx.expected_gaps());
  EXPECT_EQ(dlogits.values(), std::vector<float>(6, 0.0F));  // one renormalised gate is 1 whatever the logit
  EXPECT_EQ(dlogits.gaps(), dlogits.expected_gaps());
  EXPECT_EQ(x.cells(), x_before);
  EXPECT_EQ(logits.cells(), logits_before);
  EXPECT_EQ(dy.cells(), dy_before);
}

// Weight gradients through strided inputs: the second matrix of expert 1 sees tokens 0 and 2.
TEST_F(Views, P37_weight_gradients) {
  ASSERT_EQ(run_forward(), MOEMESH_OK);
  ASSERT_EQ(run_backward(), MOEMESH_OK);
  ASSERT_EQ(moemesh_step_end(model.optimizer, 1), MOEMESH_OK);
  std::vector<float> gradient(16);
  const moemesh_view view = dense(MOEMESH_FLOAT32, {4, 4}, gradient.data());
  ASSERT_EQ(moemesh_parameter_read(model.w2, MOEMESH_GRADIENT, 1, &view), MOEMESH_OK);
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(gradient[i], static_cast<float>(20 + 2 * (i % 4))) << i;
}

// backward with x handed in again, from another place than forward's.
TEST_F(Views, P37_x_again) {
  ASSERT_EQ(run_forward(), MOEMESH_OK);
  Strided again{3, 4, 11};
  for (int64_t t = 0; t < 3; ++t)
    for (int64_t h = 0; h < 4; ++h) again.at(t, h) = x.at(t, h);
  x.fill(std::numeric_limits<float>::quiet_NaN());
  const moemesh_view view = again.view();
  backward.x = &view;
  ASSERT_EQ(run_backward(), MOEMESH_OK);
  ASSERT_EQ(moemesh_step_end(model.optimizer, 1), MOEMESH_OK);
  std::vector<float> gradient(16);
  const moemesh_view out = dense(MOEMESH_FLOAT32, {4, 4}, gradient.data());
  ASSERT_EQ(moemesh_parameter_read(model.w1, MOEMESH_GRADIENT, 0, &out), MOEMESH_OK);
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(gradient[i], static_cast<float>(10 + i % 4)) << i;
}

TEST_F(Views, P37_strided_mask) {
  std::vector<unsigned char> bytes{1, 9, 9, 0, 9, 9, 1};
  moemesh_view mask = dense(MOEMESH_UINT8, {3}, bytes.data());
  mask.strides[0] = 3;
  forward.mask = &mask;
  ASSERT_EQ(run_forward(), MOEMESH_OK);
  EXPECT_EQ(y.values(), (std::vector<float>{0, 2, 4, 6, 0, 0, 0, 0, 40, 42, 44, 46}));
  EXPECT_EQ(y.gaps(), y.expected_gaps());
  bytes.assign(7, 9);  // the mask is not needed after forward
  ASSERT_EQ(run_backward(), MOEMESH_OK);
  EXPECT_EQ(dx.values(), (std::vector<float>{2, 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 2}));
}

// Columns of one wider array: x and y share rows but no element.
TEST_F(Views, P37_columns_of_one_array) {
  std::vector<float> wide(3 * 9, gap);
  for (int64_t t = 0; t < 3; ++t)
    for (int64_t h = 0; h < 4; ++h) wide[static_cast<size_t>(t * 9 + h)] = static_cast<float>(10 * t + h);
  x_view = rows_of(wide.data(), 3, 4, 9);
  y_view = rows_of(wide.data() + 5, 3, 4, 9);
  ASSERT_EQ(run_forward(), MOEMESH_OK) << last_error();
  for (int64_t t = 0; t < 3; ++t) {
    const float scale = t == 1 ? 1.0F : 2.0F;
    for (int64_t h = 0; h < 4; ++h)
      EXPECT_EQ(wide[static_cast<size_t>(t * 9 + 5 + h)], scale * static_cast<float>(10 * t + h));
    EXPECT_EQ(wide[static_cast<size_t>(t * 9 + 4)], gap);
  }
}

TEST_F(Views, P37_overlap_is_refused) {
  std::vector<float> array(64, gap);
  x_view = rows_of(array.data(), 3, 4);
  for (const int64_t shift : {0, 1, 4, 11}) {
    y_view = rows_of(array.data() + shift, 3, 4);
    EXPECT_EQ(run_forward(), bad) << shift;
    EXPECT_NE(last_error().find("overlap"), std::string::npos) << last_error();
  }
  for (const float v : array) EXPECT_EQ(v, gap);
  y_view = rows_of(array.data() + 12, 3, 4);  // right behind
  ASSERT_EQ(run_forward(), MOEMESH_OK);
  backward.dx = &x_view;  // over x, which is still needed
  EXPECT_EQ(run_backward(), bad);
  EXPECT_NE(last_error().find("overlap"), std::string::npos) << last_error();
  dx_view = dy_view;
  backward.dx = &dx_view;
  EXPECT_EQ(run_backward(), bad);
  EXPECT_NE(last_error().find("overlap"), std::string::npos) << last_error();
}

TEST_F(Views, P37_unaligned_is_refused) {
  const std::vector<float> before = y.cells();
  for (moemesh_view* view : {&x_view, &y_view, &logits_view}) {
    const moemesh_view good = *view;
    for (const int shift : {1, 2, 3}) {
      view->data = static_cast<char*>(good.data) + shift;
      EXPECT_EQ(run_forward(), bad);
      EXPECT_NE(last_error().find("align"), std::string::npos) << last_error();
    }
    *view = good;
  }
  EXPECT_EQ(y.cells(), before);
  EXPECT_EQ(tape, nullptr);
}

TEST_F(Views, P37_wrong_views_are_refused) {
  const std::vector<float> before = y.cells();
  const auto refused = [&](moemesh_view& view, const char* word, auto change, int32_t status = bad) {
    const moemesh_view good = view;
    change(view);
    EXPECT_EQ(run_forward(), status) << word;
    EXPECT_NE(last_error().find(word), std::string::npos) << last_error();
    view = good;
  };
  refused(x_view, "x.dtype", [](auto& v) { v.dtype = 0; });
  refused(x_view, "x.dtype", [](auto& v) { v.dtype = 99; });
  refused(x_view, "x.dtype", [](auto& v) { v.dtype = MOEMESH_INT32; });
  refused(x_view, "x.dtype", [](auto& v) { v.dtype = MOEMESH_BFLOAT16; });
  refused(x_view, "x.memory", [](auto& v) { v.memory = 0; });
  auto info = result_struct<moemesh_context_info>();
  ASSERT_EQ(moemesh_context_get_info(model.context, &info), MOEMESH_OK);
  if (info.memory == MOEMESH_MEMORY_HOST)
    refused(
        x_view, "x.memory", [](auto& v) { v.memory = MOEMESH_MEMORY_CUDA; }, MOEMESH_ERROR_NOT_SUPPORTED);
  refused(x_view, "x.rank", [](auto& v) { v.rank = 3; });
  refused(x_view, "x.rank", [](auto& v) { v.rank = INT32_MIN; });
  refused(x_view, "x.reserved", [](auto& v) { v.reserved = 1; });
  refused(x_view, "x.extents", [](auto& v) { v.extents[1] = 5; });
  refused(x_view, "x.extents[0]", [](auto& v) { v.extents[0] = -1; });
  refused(x_view, "x.extents", [](auto& v) { v.extents[0] = INT64_MAX; });  // no size wraps
  refused(x_view, "x.strides[0]", [](auto& v) { v.strides[0] = 3; });
  refused(x_view, "x.strides[0]", [](auto& v) { v.strides[0] = -7; });
  refused(x_view, "strides", [](auto& v) { v.strides[0] = INT64_MAX / 2; });
  refused(x_view, "x.strides[1]", [](auto& v) { v.strides[1] = 2; });
  refused(x_view, "x.data", [](auto& v) { v.data = nullptr; });
  refused(y_view, "y.extents", [](auto& v) { v.extents[0] = 2; });
  refused(logits_view, "logits.extents", [](auto& v) { v.extents[1] = 3; });
  EXPECT_EQ(y.cells(), before);
  ASSERT_EQ(run_forward(), MOEMESH_OK);  // none of them has hurt the step
}

TEST_F(Views, StreamsAreNotSupportedOnAHost) {
  if (on_device) GTEST_SKIP() << "this is a device, where any address would be taken for a stream";
  int any = 0;
  moemesh_view view;
  forward.stream = &any;
  EXPECT_EQ(run_forward(), MOEMESH_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(moemesh_parameter_acquire(model.w1, &any, &view), MOEMESH_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(moemesh_gradient_ready(model.w1, nullptr, &any), MOEMESH_ERROR_NOT_SUPPORTED);
  forward.stream = nullptr;
  ASSERT_EQ(run_forward(), MOEMESH_OK);
  backward.stream = &any;
  EXPECT_EQ(run_backward(), MOEMESH_ERROR_NOT_SUPPORTED);
  auto update = defaults(moemesh_update_params_init);
  update.stream = &any;
  EXPECT_EQ(moemesh_optimizer_step(model.optimizer, &update, nullptr), MOEMESH_ERROR_NOT_SUPPORTED);
  auto step = defaults(moemesh_step_params_init);
  step.stream = &any;
  EXPECT_EQ(moemesh_step_begin(model.optimizer, &step), MOEMESH_ERROR_NOT_SUPPORTED);
}

// No tokens at all: data may be NULL.
// Beside an extent of 0 the others may be so large that their product leaves 64 bits: the sanitizers watch.
TEST_F(Views, HugeExtentsBesideNone) {
  float value = 7;
  moemesh_view view = dense(MOEMESH_FLOAT32, {1, 1, 1}, &value);
  for (const bool null : {false, true}) {
    if (null) view.data = nullptr;
    view.extents[0] = 2;
    view.extents[1] = INT64_MAX;
    view.extents[2] = 0;
    EXPECT_EQ(moemesh_parameter_write(model.w1, MOEMESH_VALUE, 0, &view), MOEMESH_ERROR_INVALID_ARGUMENT);
    view.extents[0] = 0;
    view.extents[1] = view.extents[2] = view.strides[1] = INT64_MAX;
    EXPECT_EQ(moemesh_all_reduce(model.mesh, MOEMESH_AXIS_DP, MOEMESH_SUM, &view), MOEMESH_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(moemesh_view_copy(&view, &view), MOEMESH_OK);
  }
}

TEST_F(Views, NoTokens) {
  x_view = y_view = rows_of(nullptr, 0, 4);
  logits_view = dlogits_view = rows_of(nullptr, 0, 2);
  dy_view = dx_view = x_view;
  ASSERT_EQ(run_forward(), MOEMESH_OK) << last_error();
  ASSERT_EQ(run_backward(), MOEMESH_OK) << last_error();
  auto result = result_struct<moemesh_update_result>();
  ASSERT_EQ(model.update(&result), MOEMESH_OK);
  EXPECT_EQ(result.norm, 0.0);
  EXPECT_EQ(result.coefficient, 1.0);
}

TEST_F(Views, Copy) {
  std::vector<float> from(12), to(20, -777.0F);
  std::iota(from.begin(), from.end(), 0.0F);
  const moemesh_view source = dense(MOEMESH_FLOAT32, {3, 2, 2}, from.data());
  moemesh_view target = dense(MOEMESH_FLOAT32, {3, 2, 2}, to.data());
  target.strides[0] = 7;
  ASSERT_EQ(moemesh_view_copy(&source, &target), MOEMESH_OK) << last_error();
  EXPECT_EQ(to,
            (std::vector<float>{0, 1, 2, 3, -777, -777, -777, 4, 5, 6, 7, -777, -777, -777, 8, 9, 10, 11, -777, -777}));
  const auto refused = [&](auto change) {
    moemesh_view other = target;
    change(other);
    return moemesh_view_copy(&source, &other);
  };
  EXPECT_EQ(refused([](auto& v) { v.dtype = MOEMESH_INT32; }), bad);
  EXPECT_EQ(refused([](auto& v) { v.extents[0] = 2; }), bad);
  EXPECT_EQ(refused([](auto& v) { v.rank = 2; }), bad);
  EXPECT_EQ(refused([](auto& v) { v.strides[1] = 3; }), bad);
  EXPECT_EQ(refused([](auto& v) { v.strides[0] = 3; }), bad);
  EXPECT_EQ(refused([](auto& v) { v.memory = 9; }), bad);
  EXPECT_EQ(moemesh_view_copy(nullptr, &target), bad);
  EXPECT_EQ(moemesh_view_copy(&source, nullptr), bad);
}

// gradient_ready takes any strides: here a transposed array.
TEST_F(Views, StridedGradient) {
  std::vector<float> gradient(2 * 4 * 4);
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(i);
  moemesh_view view = dense(MOEMESH_FLOAT32, {2, 4, 4}, gradient.data());
  std::swap(view.strides[1], view.strides[2]);
  ASSERT_EQ(moemesh_gradient_ready(model.w1, &view, nullptr), MOEMESH_OK);
  moemesh_view main;
  ASSERT_EQ(moemesh_parameter_get_gradient(model.w1, &main), MOEMESH_OK);
  std::vector<float> sums(2 * 4 * 4);
  const moemesh_view here = dense(MOEMESH_FLOAT32, {2, 4, 4}, sums.data());
  ASSERT_EQ(moemesh_view_copy(&main, &here), MOEMESH_OK);
  for (size_t e = 0; e < 2; ++e)
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < 4; ++j) EXPECT_EQ(sums[e * 16 + i * 4 + j], static_cast<float>(e * 16 + j * 4 + i));
  view.extents[0] = 1;
  EXPECT_EQ(moemesh_gradient_ready(model.w2, &view, nullptr), bad);
}

// Parameters and gradients that are the caller's arrays: written in place, kept at commit.
TEST_F(Views, BorrowedParameters) {
  Lent data{1, 2, 3}, gradient{7, 7, 7};
  std::vector<float> step{0.5F, 0.25F, -1.0F};
  auto family_params = defaults(moemesh_family_params_init);
  family_params.kind = MOEMESH_SHARED;
  moemesh_family family = nullptr;
  ASSERT_EQ(moemesh_family_create(model.mesh, &family_params, &family), MOEMESH_OK);
  auto params = defaults(moemesh_parameter_params_init);
  params.name = "borrowed";
  params.rank = 1;
  params.extents[0] = 3;
  params.data = data.data();
  params.gradient = gradient.data();
  params.init_value = 99;
  moemesh_parameter parameter = nullptr;
  auto odd = params;
  odd.data = reinterpret_cast<char*>(params.data) + 1;
  EXPECT_EQ(moemesh_parameter_register(family, &odd, &parameter), bad);
  EXPECT_NE(last_error().find("aligned"), std::string::npos) << last_error();
  odd = params;
  odd.gradient = reinterpret_cast<char*>(params.gradient) + 2;
  EXPECT_EQ(moemesh_parameter_register(family, &odd, &parameter), bad);
  ASSERT_EQ(moemesh_parameter_register(family, &params, &parameter), MOEMESH_OK);
  ASSERT_EQ(moemesh_family_commit(family), MOEMESH_OK);
  EXPECT_EQ(data.values(), (std::vector<float>{1, 2, 3}));
  auto sgd = defaults(moemesh_optimizer_params_init);
  sgd.kind = MOEMESH_SGD;
  sgd.learning_rate = 1;
  moemesh_optimizer optimizer = nullptr;
  moemesh_view main;
  EXPECT_EQ(moemesh_parameter_get_gradient(parameter, &main),
            MOEMESH_ERROR_INVALID_STATE);  // no optimizer, no gradient
  sgd.shared_stage = 2;
  EXPECT_EQ(moemesh_optimizer_create(model.mesh, family, nullptr, &sgd, &optimizer), MOEMESH_ERROR_NOT_SUPPORTED);
  EXPECT_NE(last_error().find("borrowed"), std::string::npos) << last_error();
  sgd.shared_stage = 1;
  ASSERT_EQ(moemesh_optimizer_create(model.mesh, family, nullptr, &sgd, &optimizer), MOEMESH_OK);
  ASSERT_EQ(moemesh_step_begin(optimizer, nullptr), MOEMESH_OK);
  EXPECT_EQ(gradient.values(), (std::vector<float>{0, 0, 0}));
  const moemesh_view view = dense(MOEMESH_FLOAT32, {3}, step.data());
  ASSERT_EQ(moemesh_gradient_ready(parameter, &view, nullptr), MOEMESH_OK);
  EXPECT_EQ(gradient.values(), step);
  ASSERT_EQ(moemesh_optimizer_step(optimizer, nullptr, nullptr), MOEMESH_OK);
  EXPECT_EQ(data.values(), (std::vector<float>{0.5F, 1.75F, 4.0F}));
  moemesh_optimizer_destroy(&optimizer);
  moemesh_family_destroy(&family);
}

}  // namespace
}  // namespace capi_test
