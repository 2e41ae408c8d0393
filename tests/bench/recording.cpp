// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What a timeline report costs: mpirun -n N recording_bench [BLOCKS]. Blocks of steps with and without a report in turn, in one
// process; prints the median step of both and their ratio. Two layers over ep = N, four microbatches a step; the first size is
// as small as the main job's, where messages are most of the work.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "moemesh.h"

namespace {

void ok(int32_t status) {
  if (status == MOEMESH_OK) return;
  char text[500];
  moemesh_last_error(nullptr, text, sizeof text, nullptr);
  std::fprintf(stderr, "%s\n", text);
  std::exit(1);
}

template <class P>
P defaults(int32_t (*init)(P*, int64_t)) {
  P params{};
  ok(init(&params, sizeof params));
  return params;
}

struct Size {
  int64_t tokens, hidden, ffn, experts;
};

class Bench {
 public:
  Bench(moemesh_mesh mesh, const Size& size) : mesh_(mesh), size_(size) {
    auto family = defaults(moemesh_family_params_init);
    family.kind = MOEMESH_SHARED;
    ok(moemesh_family_create(mesh, &family, &shared_));
    family.kind = MOEMESH_EXPERT;
    ok(moemesh_family_create(mesh, &family, &expert_));
    for (const char* name : {"a", "b"}) {
      auto layer = defaults(moemesh_layer_params_init);
      layer.name = name;
      layer.hidden = size.hidden;
      layer.ffn = size.ffn;
      layer.experts = size.experts;
      layer.top_k = 2;
      layers_.push_back(nullptr);
      ok(moemesh_layer_create(mesh, shared_, expert_, &layer, &layers_.back()));
    }
    ok(moemesh_family_commit(shared_));
    ok(moemesh_family_commit(expert_));
    const auto optimizer = defaults(moemesh_optimizer_params_init);
    ok(moemesh_optimizer_create(mesh, shared_, expert_, &optimizer, &optimizer_));
    for (int64_t i = 0; i < size.tokens * size.hidden; ++i)
      x_.push_back(static_cast<float>((i * 37 + i / 11) % 53) / 26.5F - 1);
    y_ = dx_ = x_;
  }
  ~Bench() {
    moemesh_optimizer_destroy(&optimizer_);
    for (auto& layer : layers_) moemesh_layer_destroy(&layer);
    moemesh_family_destroy(&shared_);
    moemesh_family_destroy(&expert_);
  }
  double step() {
    const auto start = std::chrono::steady_clock::now();
    auto params = defaults(moemesh_step_params_init);
    params.microbatches = 4;
    ok(moemesh_step_begin(optimizer_, &params));
    for (int32_t m = 0; m < params.microbatches; ++m)
      for (moemesh_layer layer : layers_) layer_pass(layer, m);
    ok(moemesh_optimizer_step(optimizer_, nullptr, nullptr));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  moemesh_mesh mesh() const { return mesh_; }

 private:
  moemesh_view view(std::vector<float>& data) const {
    moemesh_view view{};
    const int64_t extents[] = {size_.tokens, size_.hidden};
    ok(moemesh_view_init(&view, MOEMESH_FLOAT32, 2, extents, data.data()));
    return view;
  }
  void layer_pass(moemesh_layer layer, int32_t microbatch) {
    const moemesh_view x = view(x_), y = view(y_), dx = view(dx_);
    auto forward = defaults(moemesh_forward_params_init);
    forward.x = &x;
    forward.y = &y;
    forward.microbatch = microbatch;
    moemesh_tape tape = nullptr;
    ok(moemesh_layer_forward(layer, &forward, &tape));
    auto backward = defaults(moemesh_backward_params_init);
    backward.dy = &y;
    backward.dx = &dx;
    ok(moemesh_layer_backward(&tape, &backward));
  }

  moemesh_mesh mesh_;
  Size size_;
  moemesh_family shared_ = nullptr, expert_ = nullptr;
  std::vector<moemesh_layer> layers_;
  moemesh_optimizer optimizer_ = nullptr;
  std::vector<float> x_, y_, dx_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(moemesh_mesh mesh, const Size& size, int blocks, int64_t rank, int64_t ranks) {
  constexpr int steps = 10;
  Bench bench(mesh, size);
  for (int i = 0; i < steps; ++i) bench.step();
  std::vector<double> with, without;
  for (int block = 0; block < 2 * blocks; ++block) {
    const bool record = block % 2 == 1;
    moemesh_report report = nullptr;
    const auto params = defaults(moemesh_report_params_init);
    if (record) ok(moemesh_report_create(bench.mesh(), &params, &report));
    bench.step();
    std::vector<double> here;
    for (int i = 0; i < steps; ++i) here.push_back(bench.step());
    (record ? with : without).insert((record ? with : without).end(), here.begin(), here.end());
    if (record) ok(moemesh_report_stop(report));
    moemesh_report_destroy(&report);
  }
  if (rank == 0)
    std::printf("%lld ranks, T %lld hidden %lld ffn %lld experts %lld: step %.3f ms, recorded %.3f ms, ratio %.4f\n",
                static_cast<long long>(ranks), static_cast<long long>(size.tokens), static_cast<long long>(size.hidden),
                static_cast<long long>(size.ffn), static_cast<long long>(size.experts), 1e3 * median(without),
                1e3 * median(with), median(with) / median(without));
}

}  // namespace

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
  auto params = defaults(moemesh_context_params_init);
  params.comm.kind = MOEMESH_COMM_MPI_WORLD;
  params.mpi_init = 1;
  moemesh_context context = nullptr;
  ok(moemesh_context_create(&params, &context));
  moemesh_context_info info{};
  info.struct_size = sizeof info;
  ok(moemesh_context_get_info(context, &info));
  auto sizes = defaults(moemesh_mesh_params_init);
  sizes.ep = static_cast<int32_t>(info.size);
  moemesh_mesh mesh = nullptr;
  ok(moemesh_mesh_create(context, &sizes, &mesh));
  for (const Size& size : {Size{256, 64, 128, 8}, Size{256, 128, 256, 8}})
    compare(mesh, size, blocks, info.rank, info.size);
  ok(moemesh_mesh_finalize(mesh));
  moemesh_mesh_destroy(&mesh);
  ok(moemesh_context_finalize(context));
  moemesh_context_destroy(&context);
  ok(moemesh_shutdown());
  return 0;
}
