// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P24, P36 and what else belongs to BFLOAT16 parameters: their fp32 masters, their gathering, the bytes of every stage.
#include <cmath>
#include <cstring>

#include "case_support.hpp"

namespace moemesh::test {
namespace {

uint16_t bits_of(float value) {  // to nearest, ties to even
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}
float float_of(uint16_t value) {
  const uint32_t bits = static_cast<uint32_t>(value) << 16;
  float result = 0;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}
Floats rounded(Floats values) {
  for (float& value : values) value = float_of(bits_of(value));
  return values;
}

ModelSpec bf16(const moemesh_optimizer_params& optimizer, double initial) {
  ModelSpec spec;
  spec.dtype = MOEMESH_BFLOAT16;
  spec.shared = {{.name = "shared", .extents = {3}, .init_value = initial}};
  spec.expert = {{.name = "expert", .extents = {3}, .experts = 2, .init_value = initial}};
  spec.optimizer = optimizer;
  return spec;
}
const char* const names[] = {"shared", "expert"};

void ready(const Model& model, const char* name, float value) {
  const auto about = model.info(name);
  Floats values(static_cast<size_t>(about.elements), value);
  std::vector<int64_t> extents(about.extents, about.extents + about.rank);
  if (about.family == MOEMESH_EXPERT) extents.insert(extents.begin(), about.local_experts);
  const auto view = view_of(values, extents);
  OK(moemesh_gradient_ready(model.parameter(name), &view, nullptr));
}

// How the weights are loaded: through the library, or written into the values with parameters_changed after.
void load(const Model& model, const char* name, float value, bool through_library) {
  if (through_library) {
    for (int64_t e = 0; e < (name == names[0] ? 1 : 2); ++e) model.write(name, Floats(3, value), MOEMESH_VALUE, e);
    return;
  }
  const auto array = model.local_values(name);
  ASSERT_EQ(array.view.dtype, MOEMESH_BFLOAT16);
  for (int64_t i = 0; i < model.info(name).elements; ++i) array.as<uint16_t>()[i] = bits_of(value);
  array.store();
}

void master_sync(const Place& place, int32_t stage, bool through_library) {
  auto optimizer = sgd(0.1);
  optimizer.momentum = 0.5;
  optimizer.shared_stage = optimizer.expert_stage = stage;
  const Model model(place.mesh, bf16(optimizer, 0.9));
  for (const char* name : names) {
    EXPECT_EQ(model.read(name), Floats(3, 0.8984375F));
    EXPECT_EQ(model.read(name, MOEMESH_MASTER), Floats(3, 0.9F)) << "masters begin with the exact initial values";
    load(model, name, 5.0F, through_library);
  }
  OK(moemesh_parameters_changed(model.shared()));
  OK(moemesh_parameters_changed(model.expert()));
  const auto& spec = place.mesh.spec();
  model.begin();
  // The mean over the shards is 1; an expert's own gradient has all shards of its ep group.
  ready(model, "shared", 1);
  ready(model, "expert", static_cast<float>(spec.ep));
  EXPECT_EQ(model.update().steps, 1);
  for (const char* name : names)
    for (int64_t e = 0; e < (name == names[0] ? 1 : 2); ++e) {
      const Floats value = model.read(name, MOEMESH_VALUE, e), master = model.read(name, MOEMESH_MASTER, e);
      EXPECT_EQ(master, Floats(3, 5.0F - 0.1F)) << name;
      EXPECT_EQ(value, Floats(3, 4.90625F)) << name;
      EXPECT_EQ(model.read(name, MOEMESH_MOMENT1, e), Floats(3, 1.0F));
      EXPECT_TRUE(equal_everywhere(place.comm, value));
    }
  for (int64_t i = 0; i < model.info("shared").elements; ++i)
    EXPECT_EQ(model.local_values("shared").as<uint16_t>()[i], bits_of(4.90625F));
  // A load leaves moments and counters.
  for (const char* name : names) load(model, name, 2.0F, through_library);
  OK(moemesh_parameters_changed(model.shared()));
  OK(moemesh_parameters_changed(model.expert()));
  EXPECT_EQ(model.read("expert", MOEMESH_MOMENT1, 1), Floats(3, 1.0F));
  EXPECT_EQ(model.read("expert", MOEMESH_MASTER, 1), Floats(3, 2.0F));
  auto counters = sized<moemesh_optimizer_counters>();
  OK(moemesh_optimizer_get_counters(model.optimizer(), &counters));
  EXPECT_EQ(counters.steps, 1);
}

TEST(Case, P24_master_sync) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 1, 2), case_mesh(1, 2, 1), case_mesh(1, 2, 2)},
               [](const Place& place) {
                 for (const int32_t stage : {0, 1, 2})
                   for (const bool through_library : {true, false}) {
                     SCOPED_TRACE("stage " + std::to_string(stage));
                     master_sync(place, stage, through_library);
                   }
               });
}

// A changed value becomes its master; an unchanged one leaves the exact master.
TEST(Masters, KeepWhatTheirValuesStillSay) {
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 1, 2)}, [](const Place& place) {
    const Model model(place.mesh, bf16(sgd(0), 0.9));
    const auto values = model.local_values("shared");
    values.as<uint16_t>()[1] = bits_of(3.0F);
    values.store();
    OK(moemesh_parameters_changed(model.shared()));
    EXPECT_EQ(model.read("shared", MOEMESH_MASTER), (Floats{0.9F, 3.0F, 0.9F}));
    const Floats masters{1.00390625F, 2.003F, -4.01F};  // the first is half-way between two values
    model.write("shared", masters, MOEMESH_MASTER);
    EXPECT_EQ(model.read("shared", MOEMESH_MASTER), masters);
    EXPECT_EQ(model.read("shared"), rounded(masters));
  });
}

TEST(Masters, NeedAnOptimizer) {
  const Session alone(MPI_COMM_NULL);
  const Mesh one(alone, {});
  ModelSpec spec = bf16(sgd(0), 0.9);
  spec.optimizer.reset();
  const Model model(one, spec);
  Floats values(3, -777.0F);
  const auto view = view_of(values);
  EXPECT_STATUS(MOEMESH_ERROR_NOT_FOUND, moemesh_parameter_read(model.parameter("shared"), MOEMESH_MASTER, 0, &view));
  EXPECT_STATUS(MOEMESH_ERROR_NOT_FOUND, moemesh_parameter_write(model.parameter("shared"), MOEMESH_MASTER, 0, &view));
  EXPECT_EQ(values, Floats(3, -777.0F));
  model.write("shared", {1.001F, 2.003F, -4.01F});
  EXPECT_EQ(model.read("shared"), rounded({1.001F, 2.003F, -4.01F}));
}

// 301 microbatches into the main gradient itself; the reported tokens are one a rank.
void accumulation(const Place& place, int32_t stage, const Floats& gradients, float expected) {
  auto optimizer = sgd(1);
  optimizer.shared_stage = optimizer.expert_stage = stage;
  const Model model(place.mesh, bf16(optimizer, 0));
  const auto microbatches = static_cast<int32_t>(gradients.size());
  model.begin(microbatches, MOEMESH_TOKEN_MEAN);
  for (int32_t m = 0; m < microbatches; ++m) {
    OK(moemesh_loss_tokens(model.optimizer(), m, m == 0 ? 1 : 0));
    for (const char* name : names) {
      const auto main = model.local_gradient(name);
      ASSERT_EQ(main.view.dtype, MOEMESH_FLOAT32);
      for (int64_t i = 0; i < model.info(name).elements; ++i) main.as<float>()[i] += gradients[static_cast<size_t>(m)];
      main.store();
      OK(moemesh_gradient_ready(model.parameter(name), nullptr, nullptr));
    }
  }
  model.update();
  const auto shards = static_cast<float>(place.mesh.data_shards()), copies = static_cast<float>(place.mesh.spec().dp);
  EXPECT_EQ(model.read("shared", MOEMESH_GRADIENT), Floats(3, expected));
  EXPECT_EQ(model.read("expert", MOEMESH_GRADIENT, 1), Floats(3, expected * copies / shards));
  EXPECT_EQ(model.read("shared", MOEMESH_MASTER), Floats(3, -expected));
}

TEST(Case, P36_bf16_accum) {
  Floats small(301, 0x1p-8F);
  small[0] = 1.0F;
  on_each_mesh({case_mesh(1, 1, 1), case_mesh(1, 1, 2)}, [&](const Place& place) {
    for (const int32_t stage : {0, 1, 2}) {
      SCOPED_TRACE("stage " + std::to_string(stage));
      accumulation(place, stage, small, 2.171875F);
      accumulation(place, stage, {256.0F, 1.0F}, 257.0F);
    }
  });
}

ModelSpec drawn(int32_t dtype) {
  ModelSpec spec;
  spec.dtype = dtype;
  spec.shared = {{.name = "s", .extents = {7, 5}, .init_kind = MOEMESH_INIT_NORMAL, .init_value = 0.5},
                 {.name = "t",
                  .extents = {4, 8},
                  .tp_kind = MOEMESH_TP_SHARDED,
                  .tp_dim = 1,
                  .init_kind = MOEMESH_INIT_UNIFORM,
                  .init_value = 2},
                 {.name = "p", .extents = {9}, .tp_kind = MOEMESH_TP_PARTIAL, .init_value = 0.3}};
  spec.expert = {{.name = "e", .extents = {3, 3}, .experts = 5, .init_kind = MOEMESH_INIT_NORMAL, .init_value = 1}};
  return spec;
}

Floats everything(const Model& model, int32_t quantity) {
  Floats all;
  for (const char* name : {"s", "t", "p"})
    for (const float value : model.read(name, quantity)) all.push_back(value);
  for (int64_t e = 0; e < 5; ++e)
    for (const float value : model.read("e", quantity, e)) all.push_back(value);
  return all;
}

void train(const Mesh& mesh, const Model& model) {
  oracle::Random random(static_cast<uint64_t>(mesh.here().data_shard) + 3);
  model.begin();
  for (const char* name : {"s", "t", "p", "e"}) {
    const auto about = model.info(name);
    std::vector<int64_t> extents(about.extents, about.extents + about.rank);
    if (about.tp_kind == MOEMESH_TP_SHARDED) extents[static_cast<size_t>(about.tp_dim)] /= mesh.spec().tp;
    if (about.family == MOEMESH_EXPERT) extents.insert(extents.begin(), about.local_experts);
    const Floats gradient = to_floats(random.uniform_array(about.elements, -1, 1));
    const auto view = view_of(gradient, extents);
    OK(moemesh_gradient_ready(model.parameter(name), &view, nullptr));
  }
  model.update();
}

const std::vector<MeshSpec>& meshes() {
  static const std::vector<MeshSpec> list{case_mesh(1, 1, 1), case_mesh(1, 2, 1), case_mesh(2, 1, 1),
                                          case_mesh(1, 1, 2), case_mesh(2, 1, 2), case_mesh(1, 2, 2),
                                          case_mesh(2, 2, 2), case_mesh(1, 1, 3)};
  return list;
}

// With one microbatch stage 2 adds the same numbers in the same order too, tp's partial sums apart.
TEST(Masters, BitsDoNotDependOnTheStage) {
  on_each_mesh(meshes(), [](const Place& place) {
    std::vector<Floats> values, masters;
    for (const int32_t stage : {0, 1, 2}) {
      ModelSpec spec = drawn(MOEMESH_BFLOAT16);
      if (place.mesh.spec().tp > 1) spec.shared[2].tp_kind = MOEMESH_TP_REPLICA;
      spec.optimizer->shared_stage = spec.optimizer->expert_stage = stage;
      spec.optimizer->learning_rate = 0.1;
      const Model model(place.mesh, spec);
      ModelSpec exact = drawn(MOEMESH_FLOAT32);
      const Model reference(place.mesh, exact);
      const Floats initial = everything(reference, MOEMESH_VALUE);
      EXPECT_TRUE(same_bits(everything(model, MOEMESH_MASTER), initial));
      EXPECT_TRUE(same_bits(everything(model, MOEMESH_VALUE), rounded(initial)));
      for (int i = 0; i < 3; ++i) train(place.mesh, model);
      values.push_back(everything(model, MOEMESH_VALUE));
      masters.push_back(everything(model, MOEMESH_MASTER));
      EXPECT_TRUE(same_bits(values.back(), rounded(masters.back())));
      EXPECT_FALSE(same_bits(values.back(), rounded(initial)));
      EXPECT_TRUE(same_bits(values.back(), values.front()));
      EXPECT_TRUE(same_bits(masters.back(), masters.front()));
    }
  });
}

// The values that the update gathers have two bytes.
TEST(Masters, GatheringMovesHalfTheBytes) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  on_each_mesh({case_mesh(1, 1, 2), case_mesh(1, 2, 2)}, [](const Place& place) {
    int64_t bytes[2];
    for (const int32_t dtype : {MOEMESH_FLOAT32, MOEMESH_BFLOAT16}) {
      const Model model(place.mesh, drawn(dtype));
      place.mesh.reset_ledger();
      train(place.mesh, model);
      bytes[dtype == MOEMESH_BFLOAT16] =
          total(place.mesh.ledger(), {.phase = MOEMESH_PHASE_UPDATE, .collective = MOEMESH_COLLECTIVE_ALL_GATHER})
              .bytes;
    }
    EXPECT_GT(bytes[0], 0);
    EXPECT_EQ(bytes[0], 2 * bytes[1]);
  });
}

int64_t owned_of(int64_t elements, const moemesh_group& group) {
  const int64_t part = (elements + group.size - 1) / group.size;
  return std::max<int64_t>(0,
                           std::min(elements, (group.position + 1) * part) - std::min(elements, group.position * part));
}

// The table of the header: bytes an element that every rank has, and that are sharded.
void expect_bytes(const Mesh& mesh, int32_t dtype, int32_t stage, const moemesh_optimizer_params& optimizer,
                  int64_t whole, int64_t sharded) {
  ModelSpec spec = drawn(dtype);
  spec.optimizer = optimizer;
  spec.optimizer->shared_stage = spec.optimizer->expert_stage = stage;
  const Model model(mesh, spec);
  for (int i = 0; i < 2; ++i) train(mesh, model);
  for (const int32_t family : {MOEMESH_SHARED, MOEMESH_EXPERT}) {
    auto bytes = sized<moemesh_optimizer_bytes>();
    OK(moemesh_optimizer_get_bytes(model.optimizer(), family, &bytes));
    const auto group =
        mesh.group(family == MOEMESH_SHARED ? MOEMESH_GROUP_SHARED_GRADIENT : MOEMESH_GROUP_EXPERT_GRADIENT);
    const int64_t n = bytes.elements, d = group.size;
    // "p" is summed over tp first and has a bucket of its own.
    const int64_t apart = family == MOEMESH_SHARED && mesh.spec().tp > 1 ? model.info("p").elements : 0;
    const int64_t own = owned_of(n - apart, group) + owned_of(apart, group);
    EXPECT_EQ(bytes.shard_width, d);
    EXPECT_EQ(bytes.planned, n * whole + (n * sharded + d - 1) / d);
    // One parameter at a time was in the bucket, which grew to the largest.
    int64_t largest = 0;
    if (family == MOEMESH_EXPERT)
      largest = model.info("e").elements;
    else
      for (const char* name : {"s", "t", "p"}) largest = std::max(largest, model.info(name).elements);
    EXPECT_EQ(bytes.bucket, stage == 2 ? largest * 4 : 0);
    EXPECT_EQ(bytes.actual, n * whole + own * sharded + bytes.bucket) << "stage " << stage << " dtype " << dtype;
    EXPECT_EQ(bytes.actual, bytes.parameters + bytes.gradients + bytes.masters + bytes.moments + bytes.bucket);
  }
}

TEST(OptimizerBytes, AreThoseOfTheTable) {
  on_each_mesh(meshes(), [](const Place& place) {
    const auto adamw = with_defaults(moemesh_optimizer_params_init);
    auto momentum = sgd(0.1);
    momentum.momentum = 0.5;
    for (const auto& [optimizer, less] : {std::pair{adamw, 0}, std::pair{momentum, 4}, std::pair{sgd(0.1), 8}}) {
      expect_bytes(place.mesh, MOEMESH_FLOAT32, 0, optimizer, 16 - less, 0);
      expect_bytes(place.mesh, MOEMESH_FLOAT32, 1, optimizer, 8, 8 - less);
      expect_bytes(place.mesh, MOEMESH_FLOAT32, 2, optimizer, 4, 12 - less);
      expect_bytes(place.mesh, MOEMESH_BFLOAT16, 0, optimizer, 18 - less, 0);
      expect_bytes(place.mesh, MOEMESH_BFLOAT16, 1, optimizer, 6, 12 - less);
      expect_bytes(place.mesh, MOEMESH_BFLOAT16, 2, optimizer, 2, 16 - less);
    }
  });
}

}  // namespace
}  // namespace moemesh::test
