// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// small.c, which explains the problem, in C++17 with moemesh.hpp. It prints the same.
#include <cstdio>
#include <cstring>
#include <moemesh.hpp>
#include <vector>

constexpr int64_t tokens = 64, hidden = 8, experts = 4, sequences = 4;

static moemesh::layer moe(const moemesh::mesh& mesh, const moemesh::family& shared, const moemesh::family& expert) {
  auto params = moemesh::params<moemesh_layer_params>();
  params.name = "moe";
  params.hidden = hidden;
  params.ffn = 16;
  params.experts = experts;
  params.top_k = 2;
  params.init_std_router = params.init_std_in = params.init_std_out = 0.4;
  params.aux_coefficient = 0.01;
  params.aux_scope = MOEMESH_AUX_SEQUENCE;
  return {mesh, shared, expert, params};
}

static void train(const moemesh::context& context, const moemesh::mesh& mesh) {
  const moemesh::family shared(mesh, MOEMESH_SHARED), expert(mesh, MOEMESH_EXPERT);
  const moemesh::layer layer = moe(mesh, shared, expert);
  shared.commit();
  expert.commit();
  auto adamw = moemesh::params<moemesh_optimizer_params>();
  adamw.learning_rate = 0.02;
  const moemesh::optimizer optimizer(mesh, shared, expert, adamw);

  const int64_t n = tokens / context.size(), first = context.rank() * n;
  std::vector<float> x(n * hidden), y(x.size()), dy(x.size()), dx(x.size());
  for (int64_t t = first; t < first + n; ++t)
    for (int64_t h = 0; h < hidden; ++h) x[(t - first) * hidden + h] = float((7 * t + (3 + t) * h) % 11 - 5) / 4;
  const auto x_view = moemesh::view(x, n, hidden), y_view = moemesh::view(y, n, hidden);
  auto forward = moemesh::params<moemesh_forward_params>();
  forward.x = &x_view;
  forward.y = &y_view;
  forward.sequences = sequences / context.size();
  for (int step = 1; step <= 40; ++step) {
    optimizer.begin();
    moemesh::tape tape = layer.forward(forward);
    double loss = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const float error = y[i] - x[i] * x[i ^ 7];
      loss += double(error) * error / (tokens * hidden);
      dy[i] = 2 * error / float(n * hidden);
    }
    tape.backward(moemesh::view(dy, n, hidden), moemesh::view(dx, n, hidden));
    optimizer.step();
    mesh.all_reduce(moemesh::view(&loss, 1));
    if (context.rank() == 0 && (step == 1 || step % 10 == 0)) std::printf("step %2d  loss %.6f\n", step, loss);
  }
  std::vector<int64_t> rows(experts);
  layer.rows(moemesh::view(rows));
  mesh.all_reduce(moemesh::view(rows));
  if (context.rank() == 0)
    std::printf("rows per expert%4d%4d%4d%4d\n", int(rows[0]), int(rows[1]), int(rows[2]), int(rows[3]));
}

int main(int argc, char** argv) try {
  const bool mpi = argc > 1 && std::strcmp(argv[1], "mpi") == 0;
  auto context = mpi ? moemesh::context::mpi_world() : moemesh::context::alone();
  auto params = moemesh::params<moemesh_mesh_params>();
  params.ep = int32_t(context.size());
  moemesh::mesh mesh(context, params);
  train(context, mesh);
  mesh.finalize();
  context.finalize();
  mesh.reset();
  context.reset();
  moemesh::shutdown();
} catch (const moemesh::error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
