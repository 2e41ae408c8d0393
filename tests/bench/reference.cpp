// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <omp.h>
#include <dnnl.hpp>

#include <algorithm>

#include "layer_bench.hpp"
#include "measure.hpp"

namespace bench {
namespace {

// The call that the library makes, row strides as dense as its own.
void product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
             bool accumulate, float* c) {
  const auto status = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1, a, transpose_a ? m : k,
                                 b, transpose_b ? k : n, accumulate ? 1 : 0, c, n);
  if (status != dnnl_success) fail("dnnl_sgemm failed");
}

void widen(const uint16_t* from, int64_t n, float* to) {
  auto* bits = reinterpret_cast<uint32_t*>(to);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) bits[i] = static_cast<uint32_t>(from[i]) << 16;
}

}  // namespace

Reference::Reference(const Shape& shape, const Layer& layer)
    : shape_(shape),
      counts_(layer.rows_per_expert()),
      w1_(layer.weights("moe.w1")),
      wg_(layer.weights("moe.wg")),
      w2_(layer.weights("moe.w2")),
      dw1_(layer.gradient("moe.w1")),
      dwg_(layer.gradient("moe.wg")),
      dw2_(layer.gradient("moe.w2")),
      x_(static_cast<size_t>(shape.rows() * shape.hidden), 0.5F),
      h_(static_cast<size_t>(shape.rows() * shape.ffn), 0.25F),
      hg_(h_.size(), 0.125F),
      out_(x_.size()),
      scratch_(static_cast<size_t>(shape.hidden * shape.ffn)) {
  omp_set_num_threads(kThreads);
}

const float* Reference::matrix(const moemesh_view& weights, int64_t expert) {
  const int64_t n = shape_.hidden * shape_.ffn;
  if (!shape_.bfloat16) return static_cast<const float*>(weights.data) + expert * n;
  widen(static_cast<const uint16_t*>(weights.data) + expert * n, n, scratch_.data());
  return scratch_.data();
}

void Reference::forward(int64_t e, int64_t first, int64_t rows) {
  const int64_t H = shape_.hidden, F = shape_.ffn;
  float *x = x_.data() + first * H, *h = h_.data() + first * F, *hg = hg_.data() + first * F;
  product(false, true, rows, F, H, x, matrix(w1_, e), false, h);
  product(false, true, rows, F, H, x, matrix(wg_, e), false, hg);
  product(false, true, rows, H, F, h, matrix(w2_, e), false, out_.data() + first * H);
}

void Reference::backward(int64_t e, int64_t first, int64_t rows) {
  const int64_t H = shape_.hidden, F = shape_.ffn;
  float *x = x_.data() + first * H, *h = h_.data() + first * F, *hg = hg_.data() + first * F;
  float* out = out_.data() + first * H;
  product(false, false, rows, F, H, x, matrix(w2_, e), false, h);
  product(true, false, H, F, rows, x, h, true, dw2_ + e * H * F);
  product(true, false, F, H, rows, h, x, true, dw1_ + e * H * F);
  product(true, false, F, H, rows, hg, x, true, dwg_ + e * H * F);
  product(false, false, rows, H, F, h, matrix(w1_, e), false, out);
  product(false, false, rows, H, F, hg, matrix(wg_, e), true, out);
}

void Reference::run() {
  int64_t first = 0;
  for (int64_t e = 0; e < shape_.experts; first += counts_[static_cast<size_t>(e++)])
    if (counts_[static_cast<size_t>(e)] > 0) forward(e, first, counts_[static_cast<size_t>(e)]);
  first = 0;
  for (int64_t e = 0; e < shape_.experts; first += counts_[static_cast<size_t>(e++)])
    if (counts_[static_cast<size_t>(e)] > 0) backward(e, first, counts_[static_cast<size_t>(e)]);
}

namespace {

// x [rows, H] times a weight stored [F, H], transposed; fp32 results. Throws where the CPU can't.
class NativeProduct {
 public:
  NativeProduct(int64_t rows, int64_t F, int64_t H)
      : from_({rows, H}, memory::data_type::bf16, memory::format_tag::ab),
        weights_({H, F}, memory::data_type::bf16, memory::format_tag::ba),
        to_({rows, F}, memory::data_type::f32, memory::format_tag::ab),
#if DNNL_VERSION_MAJOR >= 3
        multiply_(dnnl::matmul::primitive_desc(engine_, from_, weights_, to_)) {
#else
        multiply_(dnnl::matmul::primitive_desc(dnnl::matmul::desc(from_, weights_, to_), engine_)) {
#endif
  }
  void run(const uint16_t* x, const uint16_t* w, float* out) {
    memory a(from_, engine_, const_cast<uint16_t*>(x)), b(weights_, engine_, const_cast<uint16_t*>(w)),
        c(to_, engine_, out);
    multiply_.execute(stream_, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream_.wait();
  }

 private:
  using memory = dnnl::memory;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  memory::desc from_, weights_, to_;
  dnnl::matmul multiply_;
};

}  // namespace

void Reference::compare_bfloat16(double& widened, double& native) const {
  const int64_t H = shape_.hidden, F = shape_.ffn, rows = *std::max_element(counts_.begin(), counts_.end());
  std::vector<float> x(static_cast<size_t>(rows * H), 0.5F), out(static_cast<size_t>(rows * F)),
      scratch(static_cast<size_t>(F * H));
  const std::vector<uint16_t> x16(x.size(), 0x3f00), w16(scratch.size(), 0x3f00);
  Times first, second;
  for (int i = 0; i < 5; ++i) {
    first.add(seconds([&] {
      widen(w16.data(), F * H, scratch.data());
      product(false, true, rows, F, H, x.data(), scratch.data(), false, out.data());
    }));
  }
  widened = first.median();
  native = -1;
  try {
    NativeProduct multiply(rows, F, H);
    for (int i = 0; i < 5; ++i) second.add(seconds([&] { multiply.run(x16.data(), w16.data(), out.data()); }));
    native = second.median();
  } catch (const dnnl::error&) {
  }
}

}  // namespace bench
