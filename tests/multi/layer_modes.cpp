// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "layer_modes.hpp"

#include <cstring>

namespace moemesh::test {
namespace {

constexpr int64_t hidden = 24;

oracle::LayerConfig layer(const char* name, int64_t experts, int64_t top_k) {
  oracle::LayerConfig config;
  config.name = name;
  config.hidden = hidden;
  config.ffn = 40;
  config.experts = experts;
  config.top_k = top_k;
  return config;
}

ModelSpec spec_of(const ModeStep& step, const LayerMode& mode) {
  auto first = layer("a", 6, 3), second = layer("b", 5, 2);
  first.shared_ffn = 16;
  first.capacity_factor = 1.25;
  first.aux_coefficient = first.z_coefficient = 0.01;
  second.activation = oracle::Activation::gelu_erf;
  second.gate = oracle::Gate::raw;
  ModelSpec spec;
  spec.layers = {first, second};
  spec.dtype = step.dtype;
  spec.recompute = mode.recompute;
  spec.chunks = mode.chunks;
  spec.products = mode.products;
  spec.optimizer->shared_stage = spec.optimizer->expert_stage = 0;
  return spec;
}

Floats draw(int64_t tokens, uint64_t seed) {
  oracle::Random random(seed);
  return to_floats(random.uniform_array(tokens * hidden, -1, 1));
}

std::vector<uint8_t> mask_of(int64_t tokens) {
  std::vector<uint8_t> mask;
  for (int64_t t = 0; t < tokens; ++t) mask.push_back(t % 4 == 2 ? 0 : 1);
  return mask;
}

// What of a microbatch must live until its backward.
struct Microbatch {
  Floats x, middle, x_again, middle_again;
  std::vector<uint8_t> mask;
  Tape first, second;
};

class ModeRun {
 public:
  ModeRun(const Mesh& mesh, const ModeStep& step, const LayerMode& mode)
      : mesh_(mesh), step_(step), mode_(mode), model_(mesh, spec_of(step, mode)), parts_(step.tokens.size()) {}

  ModeRecord run() {
    model_.begin(static_cast<int32_t>(parts_.size()));
    for (size_t m = 0; m < parts_.size(); ++m) forward(m);
    for (size_t m = 0; m < parts_.size(); ++m) backward(parts_[m]);
    model_.end(true);
    for (const char* name : {"a.router", "a.shared.w1", "a.shared.wg", "a.shared.w2", "b.router"})
      record_.gradients.push_back(model_.read(name, MOEMESH_GRADIENT));
    for (const char* name : {"a.w1", "a.wg", "a.w2", "b.w1", "b.w2"})
      for (int64_t e = 0; e < (name[0] == 'a' ? 6 : 5); ++e)
        record_.gradients.push_back(model_.read(name, MOEMESH_GRADIENT, e));
    return std::move(record_);
  }

 private:
  void forward(size_t m) {
    Microbatch& part = parts_[m];
    const int64_t shard = mesh_.here().data_shard;
    const int64_t tokens = step_.tokens[m] > 0 ? step_.tokens[m] + step_.uneven * shard : 0;
    part.x = draw(tokens, 17 * m + static_cast<uint64_t>(shard) + 1);
    if (step_.masked) part.mask = mask_of(tokens);
    const ForwardOptions options{.mask = &part.mask, .microbatch = static_cast<int32_t>(m)};
    part.middle = model_.forward(0, part.x, &part.first, options);
    record_.statistics.push_back(model_.statistics(0));
    record_.y.push_back(part.middle);
    record_.y.push_back(model_.forward(1, part.middle, &part.second, options));
    record_.statistics.push_back(model_.statistics(1));
    record_.routing.push_back(model_.routing(0, part.first, tokens));
    record_.routing.push_back(model_.routing(1, part.second, tokens));
  }
  // The borrowed arrays are gone by then.
  void replay(Microbatch& part) {
    const moemesh_layer_statistics before = model_.statistics(0);
    part.x_again = part.x;
    part.x.assign(part.x.size(), -777.0F);
    const Floats middle = part.middle;
    part.middle_again = model_.replay(0, &part.first, part.x_again);
    EXPECT_TRUE(same_bits(part.middle_again, middle)) << "replayed y";
    part.middle.assign(part.middle.size(), -777.0F);
    (void)model_.replay(1, &part.second, part.middle_again);
    const moemesh_layer_statistics after = model_.statistics(0);
    EXPECT_EQ(std::memcmp(&before, &after, sizeof before), 0) << "a replay counted";
  }
  void backward(Microbatch& part) {
    if (mode_.replay) replay(part);
    const Floats dy = draw(static_cast<int64_t>(part.x.size()) / hidden, 99);
    record_.dx.push_back(model_.backward(1, &part.second, dy));
    record_.dx.push_back(model_.backward(0, &part.first, record_.dx.back()));
  }

  const Mesh& mesh_;
  ModeStep step_;
  LayerMode mode_;
  Model model_;
  std::vector<Microbatch> parts_;
  ModeRecord record_;
};

void expect_same_lists(const std::vector<Floats>& a, const std::vector<Floats>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(a[i], b[i])) << what << " " << i;
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const LayerMode& mode) {
  return stream << "recompute " << mode.recompute << " chunks " << mode.chunks << " products " << mode.products
                << (mode.replay ? " replayed" : "");
}

ModeRecord run_mode(const Mesh& mesh, const ModeStep& step, const LayerMode& mode) {
  return ModeRun(mesh, step, mode).run();
}

void expect_same(const ModeRecord& a, const ModeRecord& b) {
  expect_same_lists(a.y, b.y, "y");
  expect_same_lists(a.dx, b.dx, "dx");
  expect_same_lists(a.gradients, b.gradients, "gradient");
  ASSERT_EQ(a.statistics.size(), b.statistics.size());
  for (size_t i = 0; i < a.statistics.size(); ++i) {
    EXPECT_EQ(a.routing[i].experts, b.routing[i].experts);
    EXPECT_TRUE(same_bits(a.routing[i].gates, b.routing[i].gates));
    const auto one = a.statistics[i], other = b.statistics[i];
    EXPECT_EQ(std::memcmp(&one, &other, sizeof one), 0) << "statistics " << i;
  }
}

std::vector<MeshSpec> some_meshes() {
  if (world_size() < 8) return meshes_of(world_size());
  return {
      {.tp = 2, .ep = 2, .dp = 2}, {.ep = 8}, {.tp = 2, .ep = 4, .expert_tp = 1}, {.tp = 4, .ep = 2, .expert_tp = 2}};
}

}  // namespace moemesh::test
