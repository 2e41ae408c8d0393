// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "bench/device/layer.hpp"

#include "kernels/flat.hpp"
#include "kernels/memory.hpp"

namespace bench {
namespace {

namespace kernels = moemesh::kernels;
using moemesh::params;

// Normal numbers, made where they are wanted.
void fill(const Array& array, int64_t n, Element element, uint64_t key, double deviation = 1) {
  const kernels::Slice whole{1, n, 1, 0, n};
  if (element == Element::bfloat16)
    kernels::initialize_bfloat16(kernels::Distribution::normal, deviation, key, whole, array.as<uint16_t>());
  else
    kernels::initialize(kernels::Distribution::normal, deviation, key, whole, array.as<float>());
  kernels::finish();
}

moemesh_layer_params layer_of(const Shape& shape) {
  auto p = params<moemesh_layer_params>();
  p.name = "moe";
  p.hidden = shape.hidden;
  p.ffn = shape.ffn;
  p.experts = shape.experts;
  p.top_k = shape.top_k;
  return p;
}

// All handles and arrays of one case. A mesh of its own, so that its scratch memory goes with it.
class Layer {
 public:
  Layer(const moemesh::context& context, const Case& what)
      : what_(what),
        memory_(context.info().memory),
        mesh_(context, params<moemesh_mesh_params>()),
        shared_(mesh_, MOEMESH_SHARED, dtype()),
        expert_(mesh_, MOEMESH_EXPERT, dtype()),
        layer_(mesh_, shared_, expert_, layer_of(what.shape)),
        x_(token_bytes()),
        y_(token_bytes()),
        dy_(token_bytes()),
        dx_(token_bytes()) {
    shared_.commit();
    expert_.commit();
    auto p = params<moemesh_optimizer_params>();
    p.kind = MOEMESH_SGD;
    optimizer_ = moemesh::optimizer(mesh_, shared_, expert_, p);
    fill(x_, what.tokens * what.shape.hidden, what.element, 1);
    fill(dy_, what.tokens * what.shape.hidden, what.element, 2);
  }
  ~Layer() {
    optimizer_.reset();
    layer_.reset();
    expert_.reset();
    shared_.reset();
    moemesh_mesh_finalize(mesh_.get());
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  void begin(int32_t microbatches) {
    auto p = params<moemesh_step_params>();
    p.microbatches = microbatches;
    optimizer_.begin(p);
  }
  void end() { optimizer_.end(false); }
  moemesh::tape forward(int32_t microbatch) { return layer_.forward(view(x_), view(y_), microbatch); }
  void backward(moemesh::tape& tape) { tape.backward(view(dy_), view(dx_)); }

 private:
  int32_t dtype() const { return what_.element == Element::bfloat16 ? MOEMESH_BFLOAT16 : MOEMESH_FLOAT32; }
  int64_t token_bytes() const { return what_.tokens * what_.shape.hidden * kernels::bytes_of(what_.element); }
  moemesh_view view(const Array& array) const {
    moemesh_view v = moemesh::view_of(dtype(), array.as<void>(), what_.tokens, what_.shape.hidden);
    v.memory = memory_;
    return v;
  }

  Case what_;
  int32_t memory_;
  moemesh::mesh mesh_;
  moemesh::family shared_, expert_;
  moemesh::layer layer_;
  moemesh::optimizer optimizer_;
  Array x_, y_, dy_, dx_;
};

// Of one matrix [n, k] with rows: forward, the gradient of its input, and of itself.
std::vector<Product> products_of(int64_t rows, int64_t n, int64_t k) {
  return {{false, true, rows, n, k}, {false, false, rows, k, n}, {true, false, n, k, rows}};
}

}  // namespace

LayerTimes measure_layer(const moemesh::context& context, const Case& what, double limit, int most) {
  Layer layer(context, what);
  LayerTimes times;
  Timer timer;
  const auto once = [&](int32_t microbatch, bool counts) {
    timer.start();
    moemesh::tape tape = layer.forward(microbatch);
    const double forward = timer.stop();
    timer.start();
    layer.backward(tape);
    const double backward = timer.stop();
    if (counts) {
      times.forward.seconds.push_back(forward);
      times.backward.seconds.push_back(backward);
      times.both.seconds.push_back(forward + backward);
    }
    return forward + backward;
  };
  layer.begin(most + 2);
  once(0, false);  // the first one allocates
  const double second = once(1, false);
  const int steps = std::clamp(static_cast<int>(std::min(limit / std::max(second, 1e-6), 1e6)), 3, most);
  for (int i = 0; i < steps; ++i) once(i + 2, true);
  layer.end();
  return times;
}

Spread measure_dense(const Case& what, double limit, int most) {
  if (!multiplies(what.element)) return {};
  const int64_t rows = what.rows(), H = what.shape.hidden, F = what.shape.ffn, size = kernels::bytes_of(what.element);
  const Array wide(rows * F * size), narrow(rows * H * size), matrix(H * F * size);
  {
    const kernels::DeviceScope here;
    const kernels::StreamScope stream(nullptr);
    fill(wide, rows * F, what.element, 3);  // zeros would be faster
    fill(narrow, rows * H, what.element, 4);
    fill(matrix, H * F, what.element, 5, 0.02);
  }
  const auto by_matrix = [&](const Product& p, bool from_narrow) {
    if (p.transpose_a)
      multiply(p, what.element, from_narrow ? wide : narrow, from_narrow ? narrow : wide, matrix);
    else if (p.transpose_b)
      multiply(p, what.element, from_narrow ? narrow : wide, matrix, from_narrow ? wide : narrow);
    else
      multiply(p, what.element, from_narrow ? wide : narrow, matrix, from_narrow ? narrow : wide);
  };
  return repeat(limit, most, [&] {
    for (int twice = 0; twice < 2; ++twice)  // W1 and Wg
      for (const Product& p : products_of(rows, F, H)) by_matrix(p, true);
    for (const Product& p : products_of(rows, H, F)) by_matrix(p, false);
  });
}

}  // namespace bench
