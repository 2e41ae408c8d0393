// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Values out of range: the status, the text (argument, expected, got), and outputs that stay as they were.
#include <cmath>
#include <functional>
#include <limits>

#include "support.hpp"

namespace capi_test {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
constexpr auto unsupported = MOEMESH_ERROR_NOT_SUPPORTED;

// The text has every one of `words`.
void expect_text(std::initializer_list<std::string> words) {
  for (const auto& word : words)
    EXPECT_NE(last_error().find(word), std::string::npos) << word << " in: " << last_error();
}

class Argument : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(model.create(), MOEMESH_OK); }

  int32_t make_layer(const std::function<void(moemesh_layer_params&)>& change) {
    moemesh_family families[2] = {nullptr, nullptr};
    auto family_params = defaults(moemesh_family_params_init);
    for (int i = 0; i < 2; ++i) {
      family_params.kind = i + 1;
      EXPECT_EQ(moemesh_family_create(model.mesh, &family_params, &families[i]), MOEMESH_OK);
    }
    auto params = defaults(moemesh_layer_params_init);
    params.name = "l";
    params.hidden = params.ffn = params.experts = 4;
    params.top_k = 2;
    change(params);
    auto layer = reinterpret_cast<moemesh_layer>(uintptr_t{7});
    const int32_t status = moemesh_layer_create(model.mesh, families[0], families[1], &params, &layer);
    if (status == MOEMESH_OK)
      moemesh_layer_destroy(&layer);
    else
      EXPECT_EQ(layer, reinterpret_cast<moemesh_layer>(uintptr_t{7})) << "an output was touched";
    for (auto& family : families) moemesh_family_destroy(&family);
    return status;
  }
  int32_t make_optimizer(const std::function<void(moemesh_optimizer_params&)>& change) {
    moemesh_optimizer_destroy(&model.optimizer);
    auto params = defaults(moemesh_optimizer_params_init);
    change(params);
    const int32_t status = moemesh_optimizer_create(model.mesh, model.shared, model.expert, &params, &model.optimizer);
    EXPECT_EQ(model.optimizer != nullptr, status == MOEMESH_OK);
    return status;
  }
  int32_t make_parameter(const std::function<void(moemesh_parameter_params&)>& change, int32_t kind = MOEMESH_SHARED) {
    auto family_params = defaults(moemesh_family_params_init);
    family_params.kind = kind;
    moemesh_family family = nullptr;
    EXPECT_EQ(moemesh_family_create(model.mesh, &family_params, &family), MOEMESH_OK);
    auto params = defaults(moemesh_parameter_params_init);
    params.name = "p";
    params.rank = 2;
    params.extents[0] = params.extents[1] = 4;
    params.experts = kind == MOEMESH_EXPERT ? 3 : 0;
    change(params);
    moemesh_parameter parameter = nullptr;
    const int32_t status = moemesh_parameter_register(family, &params, &parameter);
    EXPECT_EQ(parameter != nullptr, status == MOEMESH_OK);
    moemesh_family_destroy(&family);
    return status;
  }

  Model model;
};

TEST_F(Argument, EnumsOfLayers) {
  using P = moemesh_layer_params;
  const struct {
    const char* name;
    int32_t P::*member;
    int32_t most;
  } enums[] = {
      {"activation", &P::activation, MOEMESH_GEGLU},          {"score", &P::score, MOEMESH_SCORE_SIGMOID},
      {"gate", &P::gate, MOEMESH_GATE_SOFTMAX_TOPK},          {"router", &P::router, MOEMESH_ROUTER_CALLER},
      {"nonfinite", &P::nonfinite, MOEMESH_NONFINITE_DROP},   {"drop", &P::drop, MOEMESH_DROP_BY_GATE},
      {"aux_scope", &P::aux_scope, MOEMESH_AUX_GLOBAL},       {"recompute", &P::recompute, MOEMESH_RECOMPUTE_FULL},
      {"products", &P::products, MOEMESH_PRODUCTS_ROW_STABLE}};
  for (const auto& e : enums) {
    for (const int32_t value : {0, -1, e.most + 1, INT32_MAX, INT32_MIN}) {
      EXPECT_EQ(make_layer([&](P& p) { p.*e.member = value; }), bad) << e.name << " " << value;
      expect_text({e.name, std::to_string(value), std::to_string(e.most), "MOEMESH_ERROR_INVALID_ARGUMENT"});
    }
    for (int32_t value = 1; value <= e.most; ++value)
      EXPECT_EQ(make_layer([&](P& p) { p.*e.member = value; }),
                e.member == &P::aux_scope && value == MOEMESH_AUX_GLOBAL ? unsupported : MOEMESH_OK)
          << e.name << " " << value;
  }
}

TEST_F(Argument, SizesOfLayers) {
  using P = moemesh_layer_params;
  EXPECT_EQ(make_layer([](P& p) { p.top_k = 5; }), bad);
  expect_text({"top_k", "1..4", "got 5"});
  for (const int32_t k : {0, -3}) EXPECT_EQ(make_layer([&](P& p) { p.top_k = k; }), bad);
  for (const int64_t size : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    EXPECT_EQ(make_layer([&](P& p) { p.hidden = size; }), bad);
    expect_text({"hidden", std::to_string(size)});
    EXPECT_EQ(make_layer([&](P& p) { p.ffn = size; }), bad);
    expect_text({"ffn"});
    EXPECT_EQ(make_layer([&](P& p) { p.experts = size; }), bad);
    expect_text({"experts"});
  }
  EXPECT_EQ(make_layer([](P& p) { p.shared_ffn = -1; }), bad);
  for (const int32_t chunks : {0, -1, 1025, INT32_MIN}) {
    EXPECT_EQ(make_layer([&](P& p) { p.chunks = chunks; }), bad);
    expect_text({"chunks", "1..1024", std::to_string(chunks)});
  }
  EXPECT_EQ(make_layer([](P& p) { p.name = ""; }), bad);
  EXPECT_EQ(make_layer([](P& p) { p.gate_scale = std::nan(""); }), bad);
  EXPECT_EQ(make_layer([](P& p) { p.init_std_in = -1; }), bad);
  const std::string name(201, 'x');
  EXPECT_EQ(make_layer([&](P& p) { p.name = name.c_str(); }), bad);
}

TEST_F(Argument, BiasOfLayers) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const double rate : {-1e-3, nan, infinity, 1e39}) {
    EXPECT_EQ(make_layer([&](moemesh_layer_params& p) { p.bias_rate = rate; }), bad) << rate;
    expect_text({"bias_rate", "got"});
  }
  for (const double rate : {0.0, 1e-3, 5.0})
    EXPECT_EQ(make_layer([&](moemesh_layer_params& p) { p.bias_rate = rate; }), MOEMESH_OK) << rate;
  std::vector<float> bias{0.5F, -1.0F}, read(2, -7.0F);
  moemesh_view in = dense(MOEMESH_FLOAT32, {2}, bias.data()), out = dense(MOEMESH_FLOAT32, {2}, read.data());
  EXPECT_EQ(moemesh_layer_get_bias(model.layer, &out), MOEMESH_OK);
  EXPECT_EQ(read, (std::vector<float>{0, 0}));
  EXPECT_EQ(moemesh_layer_set_bias(model.layer, &in), MOEMESH_OK);
  bias[1] = std::nanf("");
  EXPECT_EQ(moemesh_layer_set_bias(model.layer, &in), bad);
  expect_text({"bias[1]", "finite"});
  bias[1] = 3;
  ASSERT_EQ(model.begin(), MOEMESH_OK);
  EXPECT_EQ(moemesh_layer_set_bias(model.layer, &in), MOEMESH_ERROR_INVALID_STATE);
  EXPECT_EQ(moemesh_layer_get_bias(model.layer, &out), MOEMESH_OK);
  EXPECT_EQ(read, (std::vector<float>{0.5F, -1.0F})) << "refused calls changed it";
  in.extents[0] = out.extents[0] = 3;
  EXPECT_EQ(moemesh_layer_get_bias(model.layer, &out), bad);
  EXPECT_EQ(moemesh_layer_set_bias(model.layer, &in), bad);
  in = dense(MOEMESH_FLOAT64, {2}, bias.data());
  EXPECT_EQ(moemesh_layer_set_bias(model.layer, &in), bad);
  expect_text({"bias"});
}

TEST_F(Argument, CapacityOfLayers) {
  using P = moemesh_layer_params;
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const double factor : {-1.0, -1e-9, 4.9e-5, 1e-300, 1e300, nan, infinity, -infinity}) {
    EXPECT_EQ(make_layer([&](P& p) { p.capacity_factor = factor; }), bad) << factor;
    expect_text({"capacity_factor", "got"});
  }
  for (const double factor : {0.0, 5e-5, 1e-4, 1.0, 1.25, 1e6})
    EXPECT_EQ(make_layer([&](P& p) { p.capacity_factor = factor; }), MOEMESH_OK) << factor;
  for (const double coefficient : {-1.0, nan, infinity}) {
    EXPECT_EQ(make_layer([&](P& p) { p.aux_coefficient = coefficient; }), bad) << coefficient;
    expect_text({"aux_coefficient"});
    EXPECT_EQ(make_layer([&](P& p) { p.z_coefficient = coefficient; }), bad) << coefficient;
    expect_text({"z_coefficient"});
  }
  EXPECT_EQ(make_layer([](P& p) { p.aux_coefficient = p.z_coefficient = 0.01; }), MOEMESH_OK);
  EXPECT_EQ(make_layer([](P& p) {
              p.aux_coefficient = 0.01;
              p.aux_scope = MOEMESH_AUX_GLOBAL;
            }),
            unsupported);
  expect_text({"AUX_GLOBAL"});
}

// S must divide T where sequences count; elsewhere only the range of the layout is looked at.
TEST_F(Argument, SequencesOfForward) {
  const auto forward = [](Model& m, int64_t sequences, int32_t layout) {
    const moemesh_view x = m.x_view(), y = m.y_view(), logits = m.logits_view();  // 5 tokens
    auto params = defaults(moemesh_forward_params_init);
    params.x = &x;
    params.y = &y;
    params.logits = &logits;
    params.sequences = sequences;
    params.sequence_layout = layout;
    params.training = 0;
    return moemesh_layer_forward(m.layer, &params, nullptr);
  };
  Model balanced(Model::Options{.aux_coefficient = 0.1, .aux_scope = MOEMESH_AUX_SEQUENCE});
  Model by_shard(Model::Options{.aux_coefficient = 0.1});
  Model without(Model::Options{.aux_scope = MOEMESH_AUX_SEQUENCE});
  for (Model* m : {&balanced, &by_shard, &without}) {
    ASSERT_EQ(m->create(), MOEMESH_OK);
    for (const int32_t layout : {0, 3, -1, INT32_MAX}) {
      EXPECT_EQ(forward(*m, 1, layout), bad);
      expect_text({"sequence_layout", "1..2", std::to_string(layout)});
    }
    for (const int64_t sequences : {int64_t{0}, int64_t{-1}, int64_t{2}, int64_t{10}, INT64_MAX, INT64_MIN}) {
      EXPECT_EQ(forward(*m, sequences, MOEMESH_SEQUENCE_MAJOR), m == &balanced ? bad : MOEMESH_OK) << sequences;
      if (m == &balanced) expect_text({"sequences", std::to_string(sequences)});
    }
    for (const int32_t layout : {MOEMESH_SEQUENCE_MAJOR, MOEMESH_POSITION_MAJOR})
      for (const int64_t sequences : {1, 5}) EXPECT_EQ(forward(*m, sequences, layout), MOEMESH_OK) << last_error();
  }
  // No tokens have any number of sequences.
  balanced.x.clear();
  balanced.y.clear();
  balanced.logits.clear();
  EXPECT_EQ(forward(balanced, INT64_MAX, MOEMESH_SEQUENCE_MAJOR), MOEMESH_OK) << last_error();
  EXPECT_EQ(forward(balanced, 0, MOEMESH_SEQUENCE_MAJOR), bad);
}

TEST_F(Argument, Families) {
  for (const int32_t kind : {0, 3, -1}) {
    auto params = defaults(moemesh_family_params_init);
    params.kind = kind;
    moemesh_family family = nullptr;
    EXPECT_EQ(moemesh_family_create(model.mesh, &params, &family), bad);
    expect_text({"kind", std::to_string(kind)});
    EXPECT_EQ(family, nullptr);
  }
  for (const int32_t dtype : {0, 2, 7, -1}) {
    auto params = defaults(moemesh_family_params_init);
    params.kind = MOEMESH_SHARED;
    params.dtype = dtype;
    moemesh_family family = nullptr;
    EXPECT_EQ(moemesh_family_create(model.mesh, &params, &family), bad) << dtype;
    EXPECT_EQ(family, nullptr);
  }
}

TEST_F(Argument, Parameters) {
  using P = moemesh_parameter_params;
  for (const int32_t kind : {0, 4, -1}) {
    EXPECT_EQ(make_parameter([&](P& p) { p.tp_kind = kind; }), bad);
    expect_text({"tp_kind", std::to_string(kind)});
    EXPECT_EQ(make_parameter([&](P& p) { p.init_kind = kind; }), bad);
    expect_text({"init_kind", std::to_string(kind)});
  }
  for (const int32_t rank : {0, 5}) EXPECT_EQ(make_parameter([&](P& p) { p.rank = rank; }), bad);
  EXPECT_EQ(make_parameter([](P& p) {
              p.rank = 4;
              p.extents[2] = p.extents[3] = 1;
            }),
            MOEMESH_OK);
  EXPECT_EQ(make_parameter(
                [](P& p) {
                  p.rank = 4;
                  p.extents[2] = p.extents[3] = 1;
                },
                MOEMESH_EXPERT),
            bad);
  EXPECT_EQ(make_parameter([](P& p) { p.extents[1] = 0; }), bad);
  expect_text({"extents[1]", "got 0"});
  EXPECT_EQ(make_parameter([](P& p) { p.experts = 1; }), bad);
  EXPECT_EQ(make_parameter([](P& p) { p.experts = 0; }, MOEMESH_EXPERT), bad);
  EXPECT_EQ(make_parameter([](P& p) { p.dtype = MOEMESH_BFLOAT16; }), unsupported);
  EXPECT_EQ(make_parameter([](P& p) { p.dtype = MOEMESH_INT32; }), bad);
  EXPECT_EQ(make_parameter([](P& p) { p.tp_kind = MOEMESH_TP_SHARDED, p.tp_dim = 2; }), bad);
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const double value : {-1.0, nan, infinity}) {
    EXPECT_EQ(make_parameter([&](P& p) { p.decay_scale = value; }), bad) << value;
    EXPECT_EQ(make_parameter([&](P& p) { p.learning_rate_scale = value; }), bad) << value;
  }
  for (const double value : {nan, infinity, -infinity}) {
    EXPECT_EQ(make_parameter([&](P& p) { p.init_value = value; }), bad) << value;
    expect_text({"init_value"});
  }
  EXPECT_EQ(make_parameter([](P& p) { p.tied = 2; }), bad);
  EXPECT_EQ(make_parameter([](P& p) { p.tied = 1; }), MOEMESH_OK);
  EXPECT_EQ(make_parameter([](P& p) { p.tied = 1; }, MOEMESH_EXPERT), bad);
  expect_text({"tied"});
  const std::string name(256, 'x');
  EXPECT_EQ(make_parameter([&](P& p) { p.name = name.c_str(); }), bad);
}

TEST_F(Argument, OneNameOnce) {
  auto family_params = defaults(moemesh_family_params_init);
  family_params.kind = MOEMESH_SHARED;
  moemesh_family family = nullptr;
  ASSERT_EQ(moemesh_family_create(model.mesh, &family_params, &family), MOEMESH_OK);
  auto params = defaults(moemesh_parameter_params_init);
  params.name = "twice";
  params.rank = 1;
  params.extents[0] = 2;
  moemesh_parameter first = nullptr, second = nullptr;
  ASSERT_EQ(moemesh_parameter_register(family, &params, &first), MOEMESH_OK);
  EXPECT_EQ(moemesh_parameter_register(family, &params, &second), bad);
  expect_text({"twice"});
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(moemesh_parameter_register(model.shared, &params, &second), MOEMESH_ERROR_INVALID_STATE);  // committed
  moemesh_family_destroy(&family);
}

TEST_F(Argument, Optimizers) {
  using P = moemesh_optimizer_params;
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const int32_t kind : {0, 3}) EXPECT_EQ(make_optimizer([&](P& p) { p.kind = kind; }), bad);
  EXPECT_EQ(make_optimizer([](P& p) { p.shared_stage = p.expert_stage = 2; }), MOEMESH_OK);
  EXPECT_EQ(make_optimizer([](P& p) { p.shared_stage = 3; }), unsupported);
  EXPECT_EQ(make_optimizer([](P& p) { p.expert_stage = 3; }), unsupported);
  expect_text({"stage", "got 3"});
  for (const int32_t stage : {-1, 4}) EXPECT_EQ(make_optimizer([&](P& p) { p.expert_stage = stage; }), bad);
  for (const double value : {-1.0, nan, infinity}) {
    EXPECT_EQ(make_optimizer([&](P& p) { p.learning_rate = value; }), bad) << value;
    expect_text({"learning_rate"});
    EXPECT_EQ(make_optimizer([&](P& p) { p.epsilon = value; }), bad) << value;
    EXPECT_EQ(make_optimizer([&](P& p) { p.weight_decay = value; }), bad) << value;
  }
  for (const double value : {-0.1, 1.0, nan}) {
    EXPECT_EQ(make_optimizer([&](P& p) { p.beta1 = value; }), bad) << value;
    EXPECT_EQ(make_optimizer([&](P& p) { p.beta2 = value; }), bad) << value;
    EXPECT_EQ(make_optimizer([&](P& p) { p.momentum = value; }), bad) << value;
  }
  for (const double value : {-1.0, nan}) EXPECT_EQ(make_optimizer([&](P& p) { p.max_norm = value; }), bad) << value;
  EXPECT_EQ(make_optimizer([](P& p) { p.reserved = 1; }), bad);
  EXPECT_EQ(make_optimizer([](P&) {}), MOEMESH_OK);
}

TEST_F(Argument, Steps) {
  const auto begin = [&](const std::function<void(moemesh_step_params&)>& change) {
    auto params = defaults(moemesh_step_params_init);
    change(params);
    return moemesh_step_begin(model.optimizer, &params);
  };
  EXPECT_EQ(begin([](auto& p) { p.microbatches = 0; }), bad);
  expect_text({"microbatches", "got 0"});
  EXPECT_EQ(begin([](auto& p) { p.microbatches = -1; }), bad);
  EXPECT_EQ(begin([](auto& p) { p.microbatches = (1 << 20) + 1; }), bad);
  for (const int32_t objective : {0, 3}) EXPECT_EQ(begin([&](auto& p) { p.objective = objective; }), bad);
  for (const double scale : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(begin([&](auto& p) { p.loss_scale = scale; }), bad) << scale;
  EXPECT_EQ(moemesh_step_end(model.optimizer, 0), MOEMESH_ERROR_INVALID_STATE);  // none of them opened a step
  ASSERT_EQ(begin([](auto& p) {
              p.objective = MOEMESH_TOKEN_MEAN;
              p.microbatches = 2;
            }),
            MOEMESH_OK);
  for (const int32_t microbatch : {-1, 2}) EXPECT_EQ(moemesh_loss_tokens(model.optimizer, microbatch, 1), bad);
  for (const int64_t tokens : {int64_t{-1}, (int64_t{1} << 40) + 1, INT64_MAX})
    EXPECT_EQ(moemesh_loss_tokens(model.optimizer, 0, tokens), bad);
  EXPECT_EQ(moemesh_loss_tokens(model.optimizer, 0, 0), MOEMESH_OK);
  EXPECT_EQ(moemesh_loss_tokens(model.optimizer, 0, 0), MOEMESH_ERROR_INVALID_STATE);  // once
  // The report of microbatch 1 is missing.
  EXPECT_EQ(model.update(), MOEMESH_ERROR_STEP_FAILED);
  expect_text({"loss_tokens"});
  ASSERT_EQ(begin([](auto&) {}), MOEMESH_OK);
  EXPECT_EQ(moemesh_step_end(model.optimizer, 2), bad);
  expect_text({"reduce", "got 2"});
}

// A wrong argument of the call itself comes back as that, also where the step had failed before; the step is closed.
TEST_F(Argument, Updates) {
  auto params = defaults(moemesh_update_params_init);
  for (const double rate : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    params.learning_rate = rate;
    ASSERT_EQ(model.begin(), MOEMESH_OK);
    EXPECT_EQ(moemesh_optimizer_step(model.optimizer, &params, nullptr), bad) << rate;
    expect_text({"learning_rate"});
    EXPECT_EQ(moemesh_step_end(model.optimizer, 0), MOEMESH_ERROR_INVALID_STATE);
  }
  auto tokens = defaults(moemesh_step_params_init);
  tokens.objective = MOEMESH_TOKEN_MEAN;
  ASSERT_EQ(moemesh_step_begin(model.optimizer, &tokens), MOEMESH_OK);
  EXPECT_EQ(moemesh_optimizer_step(model.optimizer, &params, nullptr), bad);
  auto counters = result_struct<moemesh_optimizer_counters>();
  for (const int64_t count : {int64_t{-1}, (int64_t{1} << 62) + 1, INT64_MAX}) {
    counters.steps = count;
    EXPECT_EQ(moemesh_optimizer_set_counters(model.optimizer, &counters), bad) << count;
  }
  ASSERT_EQ(model.step(), MOEMESH_OK);
  model.expect_right();
}

TEST_F(Argument, Meshes) {
  const auto create = [&](const std::function<void(moemesh_mesh_params&)>& change) {
    auto params = defaults(moemesh_mesh_params_init);
    change(params);
    moemesh_mesh mesh = nullptr;
    const int32_t status = moemesh_mesh_create(model.context, &params, &mesh);
    EXPECT_EQ(mesh, nullptr);
    return status;
  };
  constexpr auto size = MOEMESH_ERROR_MESH_SIZE;
  for (const int32_t n : {0, -1, 2, INT32_MAX}) {
    EXPECT_EQ(create([&](auto& p) { p.tp = n; }), size) << n;
    EXPECT_EQ(create([&](auto& p) { p.ep = n; }), size) << n;
    EXPECT_EQ(create([&](auto& p) { p.pp = n; }), size) << n;
    EXPECT_EQ(create([&](auto& p) { p.dp = n; }), size) << n;
  }
  EXPECT_EQ(create([](auto& p) { p.tp = p.ep = p.pp = p.dp = INT32_MAX; }), size);  // the product does not overflow
  EXPECT_EQ(create([](auto& p) { p.expert_tp = 2; }), size);
  for (const char* order :
       {"", "tp", "tp-ep-pp", "tp-ep-pp-pp", "tp-ep-pp-dp-tp", "tp,ep,pp,dp", "TP-EP-PP-DP", "tp-ep-pp-dp "})
    EXPECT_NE(create([&](auto& p) { p.order = order; }), MOEMESH_OK) << order;
  EXPECT_EQ(create([](auto& p) { p.ranks_per_node = 4; }), bad);
}

TEST_F(Argument, MeshQueries) {
  auto group = result_struct<moemesh_group>();
  auto coordinates = result_struct<moemesh_coordinates>();
  auto report = result_struct<moemesh_axis_report>();
  int64_t first = -7, count = -7;
  for (const int64_t rank : {int64_t{-1}, int64_t{1}, INT64_MAX}) {
    EXPECT_EQ(moemesh_mesh_get_coordinates(model.mesh, rank, &coordinates), bad);
    EXPECT_EQ(moemesh_mesh_get_group(model.mesh, MOEMESH_AXIS_EP, rank, &group), bad);
    expect_text({"rank", "0..0", std::to_string(rank)});
    EXPECT_EQ(moemesh_mesh_get_experts(model.mesh, 4, rank, &first, &count), bad);
  }
  for (const int32_t axes : {0, -1, 128, int32_t{MOEMESH_AXIS_TP} | MOEMESH_AXIS_EXPERT_EP}) {
    EXPECT_EQ(moemesh_mesh_get_group(model.mesh, axes, 0, &group), bad) << axes;
    EXPECT_EQ(moemesh_mesh_get_group_member(model.mesh, axes, 0, 0, &first), bad) << axes;
  }
  for (const int32_t axis : {0, 3, 128, -1})
    EXPECT_EQ(moemesh_mesh_get_axis_report(model.mesh, axis, &report), bad) << axis;
  for (const int64_t position : {-1, 1})
    EXPECT_EQ(moemesh_mesh_get_group_member(model.mesh, MOEMESH_AXIS_EP, 0, position, &first), bad);
  for (const int64_t experts : {0, -1})
    EXPECT_EQ(moemesh_mesh_get_experts(model.mesh, experts, 0, &first, &count), bad);
  EXPECT_EQ(first, -7);
  EXPECT_EQ(count, -7);
  EXPECT_EQ(group.size, 0);
  EXPECT_EQ(coordinates.tp, 0);
}

TEST_F(Argument, ReadAndWrite) {
  std::vector<float> data(4, -777.0F);
  const moemesh_view view = dense(MOEMESH_FLOAT32, {2, 2}, data.data());
  const moemesh_view transposed_shape = dense(MOEMESH_FLOAT32, {4}, data.data());
  for (const int64_t expert : {-1, 2}) {
    EXPECT_EQ(moemesh_parameter_read(model.w1, MOEMESH_VALUE, expert, &view), bad);
    expect_text({"expert", "0..1", std::to_string(expert)});
    EXPECT_EQ(moemesh_parameter_write(model.w1, MOEMESH_VALUE, expert, &view), bad);
  }
  for (const int32_t quantity : {0, 6, -1}) {
    EXPECT_EQ(moemesh_parameter_read(model.w1, quantity, 0, &view), bad) << quantity;
    EXPECT_EQ(moemesh_parameter_write(model.w1, quantity, 0, &view), bad) << quantity;
  }
  EXPECT_EQ(moemesh_parameter_read(model.w1, MOEMESH_VALUE, 0, &transposed_shape), bad);
  expect_text({"[2, 2]", "[4]"});
  EXPECT_EQ(moemesh_parameter_read(model.w1, MOEMESH_MOMENT2, 0, &view), MOEMESH_ERROR_NOT_FOUND);  // SGD has none
  EXPECT_EQ(moemesh_parameter_write(model.w1, MOEMESH_GRADIENT, 0, &view), unsupported);
  for (const float v : data) EXPECT_EQ(v, -777.0F);
}

TEST_F(Argument, Collectives) {
  std::vector<float> data(4, 5.0F);
  std::vector<unsigned char> bytes(4);
  const moemesh_view view = dense(MOEMESH_FLOAT32, {4}, data.data());
  const moemesh_view mask = dense(MOEMESH_UINT8, {4}, bytes.data());
  const moemesh_view shorter = dense(MOEMESH_FLOAT32, {3}, data.data());
  moemesh_view strided = dense(MOEMESH_FLOAT32, {2}, data.data());
  strided.strides[0] = 2;
  constexpr int32_t dp = MOEMESH_AXIS_DP;
  for (const int32_t op : {0, 3}) EXPECT_EQ(moemesh_all_reduce(model.mesh, dp, op, &view), bad);
  EXPECT_EQ(moemesh_all_reduce(model.mesh, dp, MOEMESH_SUM, &mask), unsupported);
  EXPECT_EQ(moemesh_all_reduce(model.mesh, dp, MOEMESH_SUM, &strided), bad);
  EXPECT_EQ(moemesh_all_reduce(model.mesh, 0, MOEMESH_SUM, &view), bad);
  EXPECT_EQ(moemesh_all_gather(model.mesh, dp, &view, &shorter), bad);
  EXPECT_EQ(moemesh_reduce_scatter(model.mesh, dp, MOEMESH_SUM, &view, &shorter), bad);
  for (const int64_t root : {-1, 1}) EXPECT_EQ(moemesh_broadcast(model.mesh, dp, root, &view), bad);
  EXPECT_EQ(data, std::vector<float>(4, 5.0F));
  EXPECT_EQ(moemesh_all_reduce(model.mesh, dp, MOEMESH_SUM, &view), MOEMESH_OK);
  EXPECT_EQ(data, std::vector<float>(4, 5.0F));
}

TEST(ContextArgument, Refused) {
  const auto create = [](const std::function<void(moemesh_context_params&)>& change) {
    auto params = defaults(moemesh_context_params_init);
    change(params);
    moemesh_context context = nullptr;
    const int32_t status = moemesh_context_create(&params, &context);
    EXPECT_EQ(context, nullptr);
    return status;
  };
  EXPECT_EQ(create([](auto& p) { p.comm.kind = 6; }), bad);
  expect_text({"comm.kind", "got 6"});
  const int32_t by_nothing = create([](auto& p) { p.comm.kind = MOEMESH_COMM_NCCL; });
#ifdef MOEMESH_TEST_CUDA
  const bool nccl = by_nothing != unsupported;
#else
  constexpr bool nccl = false;
#endif
  EXPECT_EQ(by_nothing, nccl ? bad : unsupported);
  expect_text({nccl ? "comm.handle" : "without NCCL"});
  EXPECT_EQ(create([](auto& p) { p.device = 0; }), MOEMESH_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(create([](auto& p) { p.device = -2; }), bad);
  EXPECT_EQ(create([](auto& p) { p.reserved = 1; }), bad);
  EXPECT_EQ(create([](auto& p) { p.comm.kind = -1; }), bad);
  EXPECT_EQ(create([](auto& p) { p.comm.reserved = 1; }), bad);
  EXPECT_EQ(create([](auto& p) { p.log_level = 0; }), bad);
  EXPECT_EQ(create([](auto& p) { p.log_level = 5; }), bad);
  EXPECT_EQ(create([](auto& p) { p.mpi_init = 2; }), bad);
  EXPECT_EQ(create([](auto& p) { p.threads = -1; }), bad);
  EXPECT_EQ(create([](auto& p) { p.threads = 4097; }), bad);  // OpenMP ends the process where threads can't be had
  EXPECT_EQ(create([](auto& p) { p.threads = INT32_MAX; }), bad);
  EXPECT_EQ(create([](auto& p) { p.timeout_seconds = -1; }), bad);
  EXPECT_EQ(create([](auto& p) { p.timeout_seconds = std::nan(""); }), bad);
  EXPECT_EQ(create([](auto& p) { p.progress = 3; }), bad);
  EXPECT_EQ(create([](auto& p) { p.progress = -1; }), bad);
  EXPECT_EQ(create([](auto& p) { p.free = [](void*, void*, int64_t) {}; }), bad);
  EXPECT_EQ(create([](auto& p) { p.allocate = [](void*, int64_t, int64_t) -> void* { return nullptr; }; }), bad);
  expect_text({"allocate", "free"});
}

}  // namespace
}  // namespace capi_test
