// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What the tests of the C API share: filled parameter structs, views, and one small model on one rank.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "moemesh.h"

namespace capi_test {

// A params struct with the library's defaults.
template <class P>
P defaults(int32_t (*init)(P*, int64_t)) {
  P params;
  EXPECT_EQ(init(&params, sizeof params), MOEMESH_OK);
  return params;
}

// A result struct ready to be filled.
template <class R>
R result_struct() {
  R result{};
  result.struct_size = sizeof result;
  return result;
}

// A build for devices: the caller's allocator is asked for the host's memory alone.
#ifdef MOEMESH_TEST_CUDA
inline constexpr bool on_device = true;
#else
inline constexpr bool on_device = false;
#endif

// An array that is lent to the library for its kernels, and that the host reads too: on a device the host's pinned memory.
class Lent {
 public:
  explicit Lent(std::initializer_list<float> values);
  ~Lent();
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  float* data() { return data_; }
  std::vector<float> values() const;  // after what the device has to do

 private:
  float* data_ = nullptr;
  size_t size_;
};

// One element of a vector, wherever it lies.
float element(const moemesh_view& vector, size_t index);

std::string last_error(moemesh_context context = nullptr);

moemesh_view dense(int32_t dtype, std::initializer_list<int64_t> extents, void* data);
moemesh_view rows_of(float* data, int64_t rows, int64_t width, int64_t row_stride = 0);

// A context of one rank without MPI, a mesh of one, both families, one layer whose logits the caller gives, committed.
// Expert e of the layer maps x to (e+1)*x.
class Model {
 public:
  struct Options {
    moemesh_log_function log = nullptr;
    void* user = nullptr;
    moemesh_allocate_function allocate = nullptr;
    moemesh_free_function free = nullptr;
    int64_t hidden = 2;
    int64_t experts = 2;
    int32_t top_k = 1;
    int32_t kind = MOEMESH_SGD;
    double capacity_factor = 0;
    double aux_coefficient = 0;
    int32_t aux_scope = MOEMESH_AUX_SHARD;
  };

  Model() : Model(Options{}) {}
  explicit Model(const Options& options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // One status for the whole: the first that is not OK.
  int32_t create();
  void destroy();

  moemesh_view x_view() { return rows_of(x.data(), tokens(), options.hidden); }
  moemesh_view y_view() { return rows_of(y.data(), tokens(), options.hidden); }
  moemesh_view dx_view() { return rows_of(dx.data(), tokens(), options.hidden); }
  moemesh_view dy_view() { return rows_of(dy.data(), tokens(), options.hidden); }
  moemesh_view logits_view() { return rows_of(logits.data(), tokens(), options.experts); }
  moemesh_view dlogits_view() { return rows_of(dlogits.data(), tokens(), options.experts); }
  int64_t tokens() const { return static_cast<int64_t>(x.size()) / options.hidden; }

  int32_t begin();
  int32_t forward(moemesh_tape* tape);
  int32_t backward(moemesh_tape* tape);
  int32_t update(moemesh_update_result* result = nullptr);
  // begin, forward, backward, update.
  int32_t step();
  // y and dx as scale experts give them.
  void expect_right() const;

  Options options;
  moemesh_context context = nullptr;
  moemesh_mesh mesh = nullptr;
  moemesh_family shared = nullptr;
  moemesh_family expert = nullptr;
  moemesh_layer layer = nullptr;
  moemesh_optimizer optimizer = nullptr;
  moemesh_parameter w1 = nullptr;
  moemesh_parameter w2 = nullptr;
  std::vector<float> x, y, dx, dy, logits, dlogits;

 private:
  int32_t create_context();
  int32_t create_families();
  int32_t create_layer();
  int32_t write_scales();
  void fill_inputs();
};

}  // namespace capi_test
